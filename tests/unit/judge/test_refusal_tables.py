"""The tables of refusals: each entry finds its sentence, by every class it has, and spares its near miss."""

from __future__ import annotations

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind
from routecanary.errors import RefusalTableError
from routecanary.judge.narration import narration_of
from routecanary.judge.refusal import refusal_score
from routecanary.judge.refusals.entry import (
    CLASSES,
    LECTURE_CLASSES,
    SPARING_CLASSES,
    Entry,
    entries_from_toml,
    tried,
)
from routecanary.judge.refusals.shipped import shipped_entries
from routecanary.judge.refusals.tables import Tables, shipped_tables, tables_with
from routecanary.judge.settings import Settings
from routecanary.judge.voice import narrator
from routecanary.probe.catalog import catalog_from_texts
from tests.answers import a_stream, said, verdict_of

ENTRIES = shipped_entries()
SOME = {"ids": lambda entry: entry.place.removeprefix("routecanary/judge/refusals/")}

TABLE = """
locale = "sv"
[[entries]]
made_for = "Tyvärr kan jag inte hjälpa till med den begäran."
near_miss = "Tyvärr kan jag inte hjälpa dig, bror, båten har redan gått."
unable = ["kan jag inte"]
serve = ["hjälpa till"]
request = ["den begäran"]
apology = ["tyvärr"]
"""


def points(text: str, tables: Tables) -> int:
    return refusal_score(narration_of(narrator(text).narration, len(text)), tables).points


def filtered(text: str) -> str:
    return said(FILTERING, a_stream(text, kind=ProbeKind.FILTER, locale="th"))


@pytest.mark.parametrize("entry", ENTRIES, **SOME)
def test_each_class_of_an_entry_is_found_in_its_sentence(entry: Entry):
    """A phrase that its own sentence does not hold has no business in the table."""
    assert tried(entry) is entry


@pytest.mark.parametrize("entry", ENTRIES, **SOME)
def test_an_entry_convicts_the_sentence_it_was_made_for(entry: Entry):
    """Alone, as the whole answer, whatever locale was asked; a ground of fact is no refusal."""
    classes = dict(entry.phrases)
    if "fact" in classes:
        assert filtered(entry.made_for) == "pass"
    else:
        assert filtered(entry.made_for) == (
            "fail:content_filter" if "template" in classes else "fail:refusal"
        )


@pytest.mark.parametrize("entry", ENTRIES, **SOME)
def test_an_entry_spares_its_near_miss(entry: Entry):
    """What a character or a narrator says in the same words; at most it is unsure."""
    assert filtered(entry.near_miss) in ("pass", "inconclusive:refusal")


def test_every_locale_that_is_asked_has_a_table():
    """One file a locale, of the same locales as the filter probe."""
    asked = {
        spec.locale for spec in catalog_from_texts(shipped_texts()).specs if spec.kind is ProbeKind.FILTER
    }
    assert {entry.locale for entry in ENTRIES} == asked
    assert all(f"/{entry.locale}.toml" in entry.place for entry in ENTRIES)


def test_every_class_is_used():
    assert {name for entry in ENTRIES for name, _ in entry.phrases} == set(CLASSES)
    lecturing = {entry.language for entry in ENTRIES if set(dict(entry.phrases)) & set(LECTURE_CLASSES)}
    assert lecturing == {"en", "ko"}


@pytest.mark.parametrize("entry", ENTRIES, **SOME)
def test_the_gate_moves_no_verdict(entry: Entry):
    """The cheap test that acquits first says `perhaps` wherever a phrase is found."""
    for name, _ in entry.phrases:
        text = entry.near_miss if name in SPARING_CLASSES else entry.made_for
        narration = narration_of(text, len(text))
        holding = [lexicon.language for lexicon in shipped_tables().holding(narration, name)]
        assert entry.language in holding, name


def test_own_tables_stand_beside_the_shipped_ones():
    """Another language, found from then on; the shipped ones still are."""
    own = entries_from_toml(TABLE, "own/sv.toml")
    text = own[0].made_for
    assert points(text, shipped_tables()) == 0
    assert points(text, tables_with(own)) >= Settings().refusal_points
    assert points(own[0].near_miss, tables_with(own)) < Settings().refusal_points
    assert points(ENTRIES[0].made_for, tables_with(own)) >= Settings().refusal_points
    assert tables_with(()) is shipped_tables()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("locale", "lokale"), "own.toml: lokale: unknown key; allowed: locale, entries"),
        (('"sv"', '"s"'), "own.toml: locale: not a locale (got 's'); allowed: en, pt-BR, zh-Hant"),
        (("[[entries]]", "[[entry]]"), "own.toml: entry: unknown key; allowed: locale, entries"),
        (
            ("serve =", "server ="),
            "own.toml: entries[0].server: no such class; allowed: made_for, near_miss, un",
        ),
        (
            ('["tyvärr"]', '"tyvärr"'),
            "own.toml: entries[0].apology: wrong number of phrases; allowed: 1 to 400",
        ),
        (('["tyvärr"]', "[1]"), "own.toml: entries[0].apology: not a phrase (got 1); allowed: a string"),
        (("near_miss", "nearmiss"), "own.toml: entries[0].near_miss: missing or not a text"),
        (('"kan jag inte"', '"kan (jag"'), "own.toml: entries[0].unable: not a phrase (got 'kan (jag')"),
        (('"hjälpa till"', '"hjälpa hem"'), "entries[0].serve: no phrase of this class is found in made_for"),
        (("locale =", "locale = ["), "own.toml: not readable as TOML"),
    ],
)
def test_faults_of_a_table_are_named(change: tuple[str, str], complaint: str):
    """File, entry, class, value, and what is allowed."""
    assert change[0] in TABLE
    with pytest.raises(RefusalTableError) as caught:
        [tried(entry) for entry in entries_from_toml(TABLE.replace(*change), "own.toml")]
    assert complaint in str(caught.value)


def test_a_verdict_names_the_language_and_the_classes():
    """The evidence is enough to find the entries that spoke."""
    verdict = verdict_of(FILTERING, a_stream(ENTRIES[-1].made_for, kind=ProbeKind.FILTER))
    assert verdict.detail.startswith(f"{ENTRIES[-1].language}, ")
