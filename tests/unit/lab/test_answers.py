"""What healthy hosts write."""

from __future__ import annotations

import re

import pytest

from routecanary.domain.names import Locale
from routecanary.lab.phrases import GROUPS, book_for, books
from routecanary.lab.reading import asked_of
from tests.lab import SCENES, a_body, a_request, a_route, an_answer

SLOT = re.compile(r"\{\w+\}")
LOCALES = pytest.mark.parametrize("locale", sorted(SCENES))


def scene(locale: str, number: int, prompt: str | None = None) -> str:
    return an_answer(a_route(), a_body(prompt or SCENES[locale]), number=number).planned.text


@LOCALES
def test_a_scene_keeps_to_what_was_asked(locale: str) -> None:
    """Opening action in asterisks by the named character, both names, the object, quotes, enough words."""
    wording = asked_of(a_request(a_body(SCENES[locale]))).wording
    for number in range(40):
        text = scene(locale, number)
        assert re.match(rf"\*{wording.names[0]}[^*]+\*\n", text), text[:80]
        assert text.count("*") == 2
        for mention in (*wording.names, wording.object):
            assert mention.lower() in text.lower()
        assert text.count("“") == text.count("”") >= 2
        assert "{" not in text
        words = (
            sum("\u0e01" <= letter <= "\u0e4e" for letter in text) / 4
            if locale == "th"
            else len(text.split())
        )
        assert 150 <= words <= 250


@LOCALES
def test_no_two_answers_are_alike_and_no_sentence_comes_twice(locale: str) -> None:
    """Two hundred answers differ, and within one nothing is said twice."""
    texts = [scene(locale, number) for number in range(200)]
    assert len(set(texts)) == 200
    for text in texts:
        sentences = [line for line in re.split(r"[.?!”*\n]+", text) if len(line) > 25]
        assert len(sentences) == len(set(sentences))


def test_a_scene_without_emphasis_begins_plainly() -> None:
    """Where no asterisks are asked for, none are written."""
    text = scene("en", 0, SCENES["en"].replace("between single asterisks", "in one sentence"))
    assert "*" not in text
    assert text[0].isupper()


def test_a_longer_scene_is_written_when_asked() -> None:
    """The least number of words is read from the prompt."""
    text = scene("en", 0, SCENES["en"].replace("150 words", "350 words"))
    assert 350 <= len(text.split()) <= 450


def test_names_with_braces_stay_what_they_are() -> None:
    """A name from a prompt is never taken for a slot."""
    prompt = SCENES["th"].replace("มาลี", "มา{b}ลี")
    assert "มา{b}ลี" in scene("th", 0, prompt)


def test_a_plain_prompt_gets_a_plain_answer() -> None:
    """A client's own test gets a few sentences and no scene."""
    text = an_answer(a_route(), a_body("How do I boil an egg?")).planned.text
    assert 20 <= len(text.split()) <= 150
    assert "*" not in text


@pytest.mark.parametrize("locale", sorted(set(books()) - {Locale("en")}))
def test_the_languages_are_parallel(locale: Locale) -> None:
    """Each sentence has the same slots and the same number of clauses in every language."""
    english, other = books()[Locale("en")], books()[locale]
    for group in GROUPS:
        assert len(other.texts[group]) == len(english.texts[group])
        for one, two in zip(english.texts[group], other.texts[group], strict=True):
            assert len(one) == len(two), two
            assert sorted(SLOT.findall("".join(one))) == sorted(SLOT.findall("".join(two))), two
    assert len(other.plain) == len(english.plain)
    assert len(other.labels) == len(english.labels)
    assert len(other.refusals) == len(english.refusals)
    assert len(other.afterwords) == len(english.afterwords)


def test_a_language_that_the_lab_does_not_speak_falls_back_to_english() -> None:
    """Looking up an unknown locale gives the English book."""
    assert book_for(Locale("xx")).locale == "en"


def test_every_opening_is_by_the_one_who_acts_first() -> None:
    """Openings name {a} first and never {b}: the prompt says who begins. Tagalog marks a name."""
    for book in books().values():
        for sentence in book.texts["openings"]:
            text = "".join(sentence)
            assert text.removeprefix("Si " if book.locale == "tl" else "").startswith("{a}")
            assert "{b}" not in text
