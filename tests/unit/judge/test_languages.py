"""The tables of languages: folded, distinct, and known to each other."""

from __future__ import annotations

import pytest

from routecanary.judge.languages import CYRILLIC, LATIN
from routecanary.judge.languages.contrasts import PAIRS, contrast_of
from routecanary.judge.languages.names import asks_for
from routecanary.judge.languages.table import Language
from routecanary.judge.mixing import evidence

TABLES = [*LATIN, *CYRILLIC]
TABLE = {language.code: language for language in TABLES}


@pytest.mark.parametrize("language", TABLES, ids=lambda language: language.code)
def test_tables_are_folded_words_of_their_alphabet(language: Language):
    """Lower case, letters only, and none that the language itself calls foreign."""
    for word in language.words:
        assert word == word.lower()
        assert all(letter.isalpha() or letter in "'-" for letter in word)
        assert all(letter in language.letters or letter <= "\x7f" for letter in word), word
    assert len(language.words) >= (150 if language.home else 40)


def test_every_code_has_one_table():
    """No language is listed twice."""
    assert len(TABLE) == len(TABLES)


@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_contrasts_are_of_known_languages_and_turn_round(pair: tuple[str, str]):
    """Asked for the other way, the two shapes change places."""
    first, second = pair
    assert {first, second} <= TABLE.keys()
    straight, turned = contrast_of(first, second), contrast_of(second, first)
    assert straight is not None
    assert turned is not None
    assert (straight.first, straight.second) == (turned.second, turned.first)


@pytest.mark.parametrize(
    ("word", "expected", "other", "sign"),
    [
        ("oyó", "pt", "es", 1),
        ("ouviu", "pt", "es", -1),
        ("ciudad", "pt", "es", 1),
        ("construções", "pt", "es", -1),
        ("caballeros", "pt", "es", 1),
        ("casa", "pt", "es", 0),
        ("які", "ru", "uk", 1),
        ("было", "ru", "uk", -1),
        ("Straße".lower(), "nl", "de", 1),
        ("the", "de", "en", 1),
        ("river", "vi", "en", 1),
    ],
)
def test_words_speak_for_their_language(word: str, expected: str, other: str, sign: int):
    """Common words, foreign letters and shapes; what both have says nothing."""
    weight = evidence(word, TABLE[expected], TABLE[other])
    assert (weight > 0) - (weight < 0) == sign


@pytest.mark.parametrize(
    ("name", "prompt", "asked"),
    [
        ("en", "Podaj trzy angielskie słowa.", True),
        ("es", "Diga em espanhol.", True),
        ("Han", "How is it written in Chinese?", True),
        ("Greek", "Which letter stands for wavelength?", True),
        ("ru", "Translate this, please.", True),
        ("es", "Write a scene by the river.", False),
        ("Han", "Schreibe eine Szene.", False),
    ],
)
def test_prompts_name_languages_in_many_languages(name: str, prompt: str, asked: bool):
    """Requested content is not a fault."""
    assert asks_for(name, prompt) is asked
