"""What a host understands of a prompt."""

from __future__ import annotations

from random import Random

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.probe import ProbeKind, ProbeSpec, Scene
from routecanary.lab.phrases import book_for
from routecanary.lab.reading import asked_of
from routecanary.probe.catalog import catalog_from_texts
from routecanary.probe.pin import prompt_for
from tests.lab import SCENES, a_body, a_card_body, a_request

SPECS = catalog_from_texts(shipped_texts()).specs
SHIPPED = [
    pytest.param(spec, scene, id=f"{spec.kind}-{spec.locale}-{scene.id}")
    for spec in SPECS
    for scene in spec.scenes
]


@pytest.mark.parametrize(("spec", "scene"), SHIPPED)
def test_every_shipped_probe_is_understood(spec: ProbeSpec, scene: Scene) -> None:
    """Kind, language and, for scenes, characters, object and length are read from the wording alone."""
    rng = Random(scene.id)
    for _ in range(5):
        prompt = prompt_for(spec, scene, rng)
        structured = spec.kind is ProbeKind.STRUCTURED
        asked = asked_of(a_request(a_card_body(prompt) if structured else a_body(prompt)))
        assert asked.kind is spec.kind
        assert asked.locale == spec.locale
        if not structured:
            assert set(asked.wording.names) == set(scene.names)
            assert scene.object is not None
            assert scene.object in asked.wording.object
            if book_for(
                asked.locale
            ).reading.counts_letters:  # a round number of letters, and not fewer words
                assert 150 <= asked.wording.min_words <= 200
            else:
                assert asked.wording.min_words == scene.min_words == 150


@pytest.mark.parametrize(
    ("locale", "names", "thing"),
    [
        ("en", ("Silvan", "Petra"), "the rope"),
        ("pt-BR", ("Marta", "Álvaro"), "a corda"),
        ("th", ("มาลี", "สมชาย"), "เชือก"),
    ],
)
def test_the_one_who_opens_is_named_first(locale: str, names: tuple[str, str], thing: str) -> None:
    """The character last named before the asterisks acts first; the object keeps its article."""
    wording = asked_of(a_request(a_body(SCENES[locale]))).wording
    assert wording.names == names
    assert wording.object == thing


TASKS = {
    "de": (
        "Hanne hält die Uhr, und Jost sieht die Uhr an. Die Nacht und der Sturm nehmen zu.",
        "Schreibe in der dritten Person weiter. Hanne und Jost sprechen, die Uhr ist wichtig. 200 Wörter.",
        ({"Hanne", "Jost"}, "die Uhr", 200),
    ),
    "fr": (
        "Sur le toit, Ysée garde l’horloge. Bertin regarde l’horloge et se tait.",
        "Écris la suite à la troisième personne. Ysée et Bertin parlent, l’horloge compte. 120 mots.",
        ({"Ysée", "Bertin"}, "l’horloge", 120),
    ),
    "ja": (
        "塔の上で、千鶴は時計を見ていた。吾郎は黙って時計の針を押さえている。",
        "続きを日本語で、三人称で書いてください。千鶴と吾郎の二人が話し、時計は必ず使うこと。340字以上。",
        ({"千鶴", "吾郎"}, "時計", 200),
    ),
}
"""Locale → the story, the task, and what a host has to understand: characters, thing, words."""


@pytest.mark.parametrize("locale", TASKS)
def test_a_task_is_read_as_its_language_is_written(locale: str) -> None:
    """Nouns with capitals, elided articles, a number of letters, no spaces at all."""
    story, task, (names, thing, words) = TASKS[locale]
    wording = asked_of(a_request(a_body(f"{story}\n\n{task}"))).wording
    assert wording.locale == locale
    assert set(wording.names) == names
    assert wording.object == thing
    assert wording.min_words == words


@pytest.mark.parametrize(
    ("prompt", "locale"),
    [
        ("What is the capital of France?", "en"),
        ("Qual é a capital da França? Não sei o que dizer.", "pt-BR"),
        ("¿Cuál es la capital de Francia? No sé qué decir en el examen.", "es"),
        ("เมืองหลวงของฝรั่งเศสคือเมืองอะไร", "th"),
        ("Was ist die Hauptstadt von Frankreich? Ich weiß es nicht mehr.", "de"),
        ("Wat is de hoofdstad van Frankrijk? Ik weet het niet meer.", "nl"),
        ("Quelle est la capitale de la France ? Je ne sais pas.", "fr"),
        ("Qual è la capitale della Francia? Non lo so più.", "it"),
        ("Как называется столица Франции? Я забыл, что это за город.", "ru"),
        ("Як називається столиця Франції? Я забув, що це за місто.", "uk"),
        ("Apa ibu kota negara Prancis? Saya tidak tahu yang mana.", "id"),
        ("Ano ang kabisera ng Pransya? Hindi ko na maalala ito.", "tl"),
        ("Thủ đô của nước Pháp là thành phố nào?", "vi"),
        ("フランスの首都はどこですか。", "ja"),
        ("法国的首都是哪里?请说说这个城市。", "zh-Hans"),
        ("法國的首都是哪裡?請說說這個城市。", "zh-Hant"),
        ("프랑스의 수도는 어디입니까?", "ko"),
        ("फ़्रांस की राजधानी क्या है?", "hi"),
        ("ما هي عاصمة فرنسا؟", "ar"),
        ("", "en"),
        ("12345 !!!", "en"),
        ("\x00\ufeff{}{a}{b}", "en"),
    ],
)
def test_any_other_prompt_is_answered_in_its_language(prompt: str, locale: str) -> None:
    """A prompt that asks for no scene has a language, and the language's defaults for the rest."""
    asked = asked_of(a_request(a_body(prompt)))
    assert asked.kind is ProbeKind.ANY
    assert asked.locale == locale
    assert asked.wording.names == book_for(asked.locale).default_names


def test_a_scene_without_emphasis_is_a_filter_question() -> None:
    """What tells the two kinds of scene apart is the opening between asterisks."""
    plain = SCENES["en"].replace("single asterisks", "two candles")
    assert asked_of(a_request(a_body(plain))).kind is ProbeKind.FILTER


@pytest.mark.parametrize("filler", ["lorem ipsum ", "กับและ", "Ab and Cd ", "the rope ", "“*\n\n"])
def test_a_huge_prompt_is_read_in_part(filler: str) -> None:
    """The end of a prompt of a million characters decides, whatever stands before it."""
    asked = asked_of(a_request(a_body(filler * 100_000 + "\n\n" + SCENES["en"])))
    assert asked.kind is ProbeKind.CHAT
    assert asked_of(a_request(a_body(filler * 100_000))).kind is ProbeKind.ANY
