"""The shipped texts, and how scenes are chosen from them."""

from __future__ import annotations

import re
from itertools import pairwise

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.names import Locale
from routecanary.domain.probe import ProbeKind, ProbeSpec
from routecanary.domain.settings import DEFAULT_LOCALES, DEFAULT_MAX_TOKENS
from routecanary.errors import ConfigError, ProbeTextError
from routecanary.lab.phrases import books
from routecanary.lab.script import script_of
from routecanary.probe.catalog import catalog_from_texts, next_scene, scene_for_round

SHIPPED = catalog_from_texts(shipped_texts())
EVERY_SPEC = pytest.mark.parametrize("spec", SHIPPED.specs, ids=lambda spec: f"{spec.kind}-{spec.locale}")

TELLTALE = re.compile(
    r"canary|probe|benchmark|evalu|\btest(?:s|ed|ing|e|es|en)?\b|monitor|nonce|\bavalia|sonda|ทดสอบ|ประเมิน|ตรวจสอบ",
    re.IGNORECASE,
)
COUNTED_IN_LETTERS = ("ja", "zh-Hans", "zh-Hant")


def test_the_default_locales_have_texts() -> None:
    """Chat and filter probes are shipped in each locale of the default rotation, in the same ones."""
    assert set(DEFAULT_LOCALES) <= set(SHIPPED.locales(ProbeKind.CHAT))
    assert SHIPPED.locales(ProbeKind.CHAT) == SHIPPED.locales(ProbeKind.FILTER)


@EVERY_SPEC
def test_a_shipped_text_keeps_its_promises(spec: ProbeSpec) -> None:
    """Enough scenes, so that two confirmations ask two others in the chat, and plain marks to judge by."""
    assert len(spec.scenes) >= (2 if spec.kind is ProbeKind.FILTER else 3)
    assert spec.max_tokens == DEFAULT_MAX_TOKENS[spec.kind]
    assert min(len(spec.places), len(spec.dates), len(spec.people)) >= 24
    for scene in spec.scenes:
        assert all(mark in scene.prompt for mark in ("{place}", "{date}", "{name}"))
        assert (scene.opening == "*") is (spec.kind is ProbeKind.CHAT)
        if spec.kind is ProbeKind.STRUCTURED:  # a card names neither the characters nor the object
            assert (scene.names, scene.object, scene.min_words) == ((), None, None)
            continue
        assert len(scene.names) == 2
        assert not any(one in other for one in scene.names for other in spec.people)
        assert scene.object
        assert not any(scene.object in name or name in scene.object for name in scene.names)
        assert scene.min_words == 150
        numbers = [int(number) for number in re.findall(r"\d+", scene.prompt)]
        if spec.locale in COUNTED_IN_LETTERS:
            assert min(numbers) >= 150 * 1.7
        else:
            assert min(numbers) == 150


@EVERY_SPEC
def test_nothing_in_a_text_marks_it_as_a_probe(spec: ProbeSpec) -> None:
    """A recognisable probe would measure how probes are treated."""
    for scene in spec.scenes:
        assert not TELLTALE.search(scene.prompt)


@EVERY_SPEC
def test_a_text_is_written_in_its_locale(spec: ProbeSpec) -> None:
    """Each prompt is in the script of its locale; Portuguese ones have the letters that Spanish has not."""
    for scene in spec.scenes:
        prompt = re.sub(r'\{\w+\}|"\w+"', "", scene.prompt)
        assert script_of(prompt) is books()[spec.locale].script
        if spec.locale in ("es", "pt-BR"):
            assert bool(re.search(r"[ãõ]", prompt)) is (spec.locale == "pt-BR")


@EVERY_SPEC
def test_a_shipped_schema_is_a_schema(spec: ProbeSpec) -> None:
    """It is valid JSON Schema, has an enum, an integer range and a nested object, and refuses what is off."""
    if spec.kind is not ProbeKind.STRUCTURED:
        assert spec.schema is None
        return
    assert spec.schema is not None
    validator = jsonschema_rs.validator_for(dict(spec.schema))
    card = {
        "title": "A",
        "mood": "calm",
        "tension": 3,
        "setting": {"place": "B", "indoors": True, "hour": 23},
    }
    assert validator.is_valid(card)
    for wrong in (
        {"mood": "merry"},
        {"tension": 11},
        {"tension": 3.5},
        {"extra": 1},
        {"setting": {"place": "B", "indoors": True}},
        {"setting": {"place": "B", "indoors": True, "hour": 24}},
    ):
        assert not validator.is_valid(card | wrong)
    for scene in spec.scenes:
        names = (
            "title",
            "mood",
            "tension",
            "setting",
            "place",
            "indoors",
            "hour",
            "calm",
            "tense",
            "tender",
            "grim",
        )
        assert all(name in scene.prompt for name in names), "a host in JSON mode never sees the schema"


def test_scenes_rotate_within_a_locale_and_within_a_repeated_one() -> None:
    """Neither a locale's own rounds nor rounds in a row ask one scene twice running."""
    for spec in SHIPPED.specs:
        for locales in (1, 2, 3, 4, 17):
            own = [scene_for_round(spec, number, locales).id for number in range(0, 20 * locales, locales)]
            assert set(own) == {scene.id for scene in spec.scenes}
            assert all(one != other for one, other in pairwise(own))
            repeated = [scene_for_round(spec, number, locales).id for number in range(locales)]
            assert all(one != other for one, other in pairwise(repeated))


@given(number=st.integers(0, 10**9), locales=st.integers(0, 40))
def test_any_round_has_a_scene(number: int, locales: int) -> None:
    """No number of rounds or locales leaves the scenes."""
    spec = SHIPPED.specs[0]
    assert scene_for_round(spec, number, locales) in spec.scenes


def test_a_confirmation_walks_through_all_scenes() -> None:
    """The last is followed by the first, and so is one that the text no longer has."""
    spec = SHIPPED.specs[0]
    scene, seen = spec.scenes[0], []
    for _ in spec.scenes:
        scene = next_scene(spec, scene)
        seen.append(scene)
    assert seen == [*spec.scenes[1:], spec.scenes[0]]
    assert next_scene(spec, SHIPPED.specs[-1].scenes[-1]) == spec.scenes[0]


def test_a_locale_without_a_text_is_refused() -> None:
    """The message lists the locales that have one."""
    SHIPPED.require(DEFAULT_LOCALES)
    with pytest.raises(ConfigError) as caught:
        SHIPPED.require([Locale("th"), Locale("sv")], place="routecanary.toml")
    known = ", ".join(SHIPPED.locales())
    assert str(caught.value) == (
        f"routecanary.toml: probes.locales: no chat text for this locale (got 'sv'); allowed: {known}"
    )


def test_own_texts_replace_those_of_their_kind_and_locale() -> None:
    """One replaced text leaves the others as they were shipped."""
    text = next(text for place, text in shipped_texts().items() if place.endswith("chat.th.toml"))
    mine = catalog_from_texts(shipped_texts(), {"mine.toml": text.replace("version = 1", "version = 7")})
    shipped = {(spec.kind, spec.locale): spec for spec in SHIPPED.specs}
    changed = [spec for spec in mine.specs if spec != shipped[spec.kind, spec.locale]]
    assert [(spec.kind, spec.locale, spec.version) for spec in changed] == [(ProbeKind.CHAT, "th", 7)]
    assert mine.find(ProbeKind.CHAT, Locale("th")).version == 7
    new = catalog_from_texts(shipped_texts(), {"mine.toml": text.replace('locale = "th"', 'locale = "lo"')})
    assert Locale("lo") in new.locales()


def test_two_own_texts_for_one_locale_are_refused() -> None:
    """It would be chance which of them is asked."""
    text = next(text for place, text in shipped_texts().items() if place.endswith("chat.en.toml"))
    with pytest.raises(ProbeTextError, match=r"^b\.toml: a\.toml is already the chat text for en$"):
        catalog_from_texts({}, {"a.toml": text, "b.toml": text})


@pytest.mark.parametrize(
    ("kind", "locale", "found"),
    [
        (ProbeKind.FILTER, "th", "th"),
        (ProbeKind.FILTER, "sv", "en"),
        (ProbeKind.STRUCTURED, "sv", "en"),
        (ProbeKind.CHAT, "sv", None),
    ],
)
def test_only_the_chat_probe_needs_the_locale(kind: ProbeKind, locale: str, found: str | None) -> None:
    """The other probes fall back to English; the language contract judges the chat probe alone."""
    spec = SHIPPED.find_or_fallback(kind, Locale(locale))
    assert (spec.locale if spec else None) == found


def test_without_english_the_fallback_is_the_first_locale() -> None:
    """An administrator's own set need not hold an English text."""
    thai = {place: text for place, text in shipped_texts().items() if ".th." in place}
    catalog = catalog_from_texts(thai)
    assert catalog.find_or_fallback(ProbeKind.FILTER, Locale("sv")).locale == "th"
    assert catalog_from_texts({}).find_or_fallback(ProbeKind.FILTER, Locale("sv")) is None
