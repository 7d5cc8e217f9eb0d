"""The counts of a labelled collection: what is a miss, what is a false fail, and how sure a share is."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, Locale
from routecanary.errors import CaseError
from routecanary.replay.report import ALL, HEALTHY, Line, Miss, Report, table_of
from routecanary.replay.texts import TextRow

STORY = (
    "The keeper counts the boats again, and this time one of them is missing from the harbour. "
    '"Who took it?" he asks, but the gulls above the wall have nothing to say about the matter.'
)
REFUSAL = "I'm sorry, but I can't help with that request."
LOOP = "The gulls turn over the harbour wall. " * 60


def row(text: str, locale: str = "en", **document: object) -> TextRow:
    said: dict[str, Any] = {"id": "x", "text": text, "locale": locale, **document}
    return TextRow(id="x", text=text, locale=Locale(locale), document=said)


def report_of(*rows: TextRow) -> tuple[Report, list[Miss]]:
    """Count some rows, by a clock that ticks once a reading."""
    ticks = count()
    report = Report(cpu=lambda: next(ticks) / 1_000)
    return report, [miss for each in rows for miss in report.add(each, "here")]


def line(report: Report, contract: str, what: str, locale: str = ALL) -> Line:
    (found,) = (
        each for each in report.lines() if (each.contract, each.what, each.locale) == (contract, what, locale)
    )
    return found


def test_a_refusal_that_is_found_and_one_that_is_not() -> None:
    """Recall by kind and locale; the text that was not failed is the miss."""
    report, misses = report_of(
        row(REFUSAL, label="refusal"), row(STORY, label="refusal"), row(REFUSAL, label="refusal")
    )
    found = line(report, FILTERING, "refusal", "en")
    assert (found.n, found.failed) == (3, 2)
    assert found.document()["recall"] == pytest.approx(2 / 3)
    assert [(miss.contract, miss.what, miss.verdict.kind.value) for miss in misses] == [
        (FILTERING, "refusal", "pass")
    ]
    assert report.false_fails == 0


def test_a_healthy_text_is_shown_to_integrity_too() -> None:
    """A loop that is called healthy is a false fail of `integrity`, and a miss."""
    report, misses = report_of(row(LOOP, expect="PASS"), row(STORY, expect="PASS"))
    assert line(report, INTEGRITY, HEALTHY).failed == 1
    assert line(report, LANGUAGE, HEALTHY).failed == 0
    assert report.false_fails == 1
    assert [(miss.contract, miss.verdict.code) for miss in misses] == [(INTEGRITY, "repetition")]


def test_what_models_said_plainly_is_not_held_against_integrity() -> None:
    """`comply` says of a text that it refuses nothing, not that it is whole."""
    report, _ = report_of(row(LOOP, label="comply"))
    assert {each.contract for each in report.lines()} == {FILTERING}


def test_bounds_are_exact_and_one_sided() -> None:
    """No failure in n: at most 1 - 0.05^(1/n) of them fail, with 95 % confidence (Clopper and Pearson)."""
    report, _ = report_of(*[row(STORY, expect="PASS")] * 20, *[row(REFUSAL, label="refusal")] * 10)
    assert line(report, LANGUAGE, HEALTHY).bound == pytest.approx(1 - 0.05 ** (1 / 20), rel=1e-3)
    assert line(report, FILTERING, "refusal").bound == pytest.approx(0.05 ** (1 / 10), rel=1e-3)


def test_locales_are_summed_up_and_faults_by_how_they_were_made() -> None:
    """A mix is counted with the language that was mixed in."""
    report, _ = report_of(
        row(REFUSAL, label="refusal", type="hard"),
        row("Lo siento, pero no puedo ayudarte con esa solicitud.", "es", label="refusal", type="soft"),
        row(STORY, label="refusal", type="soft", other="fr"),
    )
    told = [(each.what, each.locale, each.n, each.failed) for each in report.lines()]
    assert told == [
        ("refusal", "en", 1, 1),
        ("refusal", "en+fr", 1, 0),
        ("refusal", "es", 1, 1),
        ("refusal", ALL, 3, 2),
        ("refusal by hard", ALL, 1, 1),
        ("refusal by soft", ALL, 2, 1),
    ]


def test_damage_may_be_seen_by_either_contract() -> None:
    """Broken encoding counts as found whichever of the two looks for it."""
    report, misses = report_of(row(STORY + " \ufffd\ufffd" * 30, expect="FAIL-ENCODING"))
    assert line(report, LANGUAGE, "encoding").failed == 1
    assert misses == []


def test_what_may_have_any_verdict_is_left_out() -> None:
    """Neither recall nor false fails are counted of it."""
    report, misses = report_of(row(STORY, expect="EITHER"), row(REFUSAL, label="partial"))
    assert (report.uncounted, report.lines(), misses) == (2, (), [])


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "`expect` or `label`"),
        ({"expect": "GOOD"}, "FAIL-MIX"),
        ({"label": 5}, "in_character"),
    ],
)
def test_an_unlabelled_line_is_an_error(document: dict[str, object], says: str) -> None:
    """It names the place and what is allowed."""
    with pytest.raises(CaseError, match=says) as caught:
        list(Report(cpu=lambda: 0.0).add(row(STORY, **document), "file: row x"))
    assert "file: row x" in str(caught.value)


def test_the_cost_is_that_of_one_text() -> None:
    """The clock is read before and after each verdict."""
    report, _ = report_of(*[row(REFUSAL, label="refusal")] * 4)
    assert line(report, FILTERING, "refusal").us == pytest.approx(1_000)


def test_the_table_has_a_cell_for_each_head() -> None:
    """Shares are written with their bound, below for what is healthy, above for what is found."""
    report, _ = report_of(row(REFUSAL, label="refusal"), row(STORY, label="comply"))
    heads, healthy, *_, found = table_of(report.lines())
    assert {len(heads)} == {len(healthy), len(found)}
    assert healthy[5:7] == ("0.00%", "< 95.00%")
    assert found[5:7] == ("100.00%", "> 5.00%")
