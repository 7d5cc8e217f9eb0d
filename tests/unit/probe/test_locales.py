"""The shipped texts of all languages together: whole, each of its own, and some of them with a stop word."""

from __future__ import annotations

import re
from itertools import combinations
from random import Random

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.names import LOCALE_ALIASES, Locale
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.settings import DEFAULT_LOCALES
from routecanary.lab.phrases import books
from routecanary.probe.catalog import catalog_from_texts
from routecanary.probe.pin import prompt_for
from tests.lab import a_body, a_route, an_answer

LOCALES = (
    "ar", "de", "en", "es", "fr", "hi", "id", "it", "ja", "ko", "nl", "pl", "pt-BR", "ru", "th", "tl", "tr",
    "uk", "vi", "zh-Hans", "zh-Hant",
)  # fmt: skip
SHIPPED = catalog_from_texts(shipped_texts())
EVERY_LOCALE = pytest.mark.parametrize("locale", LOCALES)

ALIKE = 24  # letters that two stories of one language may have in common in a row


def scenes(locale: str, *kinds: ProbeKind) -> list[Scene]:
    found = [spec for spec in SHIPPED.specs if spec.locale == locale and spec.kind in kinds]
    return [scene for spec in found for scene in spec.scenes]


def story(scene: Scene) -> str:
    """The part of a prompt that tells what has happened, without its characters' names."""
    told = scene.prompt.split("\n\n")[1]
    for name in scene.names:
        told = told.replace(name, "")
    return re.sub(r"\W+", " ", told)


def test_the_shipped_languages_are_known() -> None:
    """The lab speaks the languages that have texts, and no other; every alias leads to one of them."""
    assert SHIPPED.locales() == LOCALES
    assert sorted(books()) == list(LOCALES)
    assert set(LOCALE_ALIASES.values()) <= set(LOCALES)


def test_the_default_rotation_is_the_products() -> None:
    """Seventeen languages, each of them once. Source: product.md §2."""
    assert " ".join(DEFAULT_LOCALES) == "en es pt-BR fr de it nl pl ru tr vi th id tl ja ko zh-Hans"


@EVERY_LOCALE
def test_a_locale_has_enough_scenes(locale: str) -> None:
    """Three of each kind that is judged by its wording: two confirmations ask two other scenes."""
    assert len(scenes(locale, ProbeKind.CHAT)) >= 3
    assert len(scenes(locale, ProbeKind.FILTER)) >= 3


@EVERY_LOCALE
def test_no_two_scenes_of_a_locale_are_alike(locale: str) -> None:
    """Other characters, another object, another story."""
    found = scenes(locale, ProbeKind.CHAT, ProbeKind.FILTER)
    names = [name for scene in found for name in scene.names]
    assert len(set(names)) == len(names)
    for kind in (ProbeKind.CHAT, ProbeKind.FILTER):
        objects = [scene.object for scene in scenes(locale, kind)]
        assert len(set(objects)) == len(objects)
    for one, other in combinations(map(story, found), 2):
        runs = {one[place : place + ALIKE] for place in range(len(one) - ALIKE)}
        assert not any(other[place : place + ALIKE] in runs for place in range(len(other) - ALIKE))


def test_one_scene_in_twelve_wants_a_stop_word() -> None:
    """Enough to see a host that runs past one, few enough to leave the other wishes alone."""
    every = [(spec.kind, scene) for spec in SHIPPED.specs for scene in spec.scenes]
    stopping = [kind for kind, scene in every if scene.stop is not None]
    assert 1 / 14 <= len(stopping) / len(every) <= 1 / 10
    assert set(stopping) == {ProbeKind.CHAT}


@EVERY_LOCALE
def test_a_stop_word_ends_a_sound_answer(locale: str) -> None:
    """The task names it, no scene holds it, and what comes before it is the whole scene."""
    spec = SHIPPED.find(ProbeKind.CHAT, Locale(locale))
    assert spec is not None
    for scene in spec.scenes:
        if scene.stop is None:
            continue
        *before, task = scene.prompt.split("\n\n")
        assert scene.stop in task
        assert scene.stop not in "".join(before)
        body = a_body(prompt_for(spec, scene, Random(1)))
        for number in range(5):
            free = an_answer(a_route(), body, number=number).planned.text
            held = an_answer(a_route(), {**body, "stop": [scene.stop]}, number=number).planned.text
            assert scene.stop not in free
            assert held.rstrip() == free
