"""Which script is a text in, and how many words does it hold?"""

from __future__ import annotations

import pytest

from routecanary.lab.script import SCRIPTS, script_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The lamp burned low.", "latin"),
        ("Лампа горела слабо, hello.", "cyrillic"),
        ("كان المصباح خافتاً.", "arabic"),
        ("दीये की लौ धीमी थी।", "devanagari"),
        ("โคมไฟหรี่แสงลง", "thai"),
        ("등불이 희미하게 타올랐다.", "hangul"),
        ("ランプの火は弱く、部屋は暗かった。", "kana"),
        ("山田太郎様、至急御返事下さい", "kana"),
        ("灯火昏暗，屋里没有人说话。", "han"),
        ("ตอบเป็น JSON ด้วยคีย์ title, mood, tension", "thai"),
        ("", "latin"),
        ("1234 !!!", "latin"),
    ],
)
def test_a_text_has_one_script(text: str, name: str) -> None:
    """The most frequent letters decide; Latin keys do not, and a little kana makes Han letters Japanese."""
    assert script_of(text).name == name


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("latin", "one two  three", 3),
        ("cyrillic", "раз два", 2),
        ("thai", "กกกก กกกก", 2),
        ("hangul", "가나다라마 바사아자차", 4),
        ("kana", "漢字とかな漢字とかな漢字とかなああ。", 10),
        ("han", "一二三四五六七八九十一二三四五六七，", 10),
    ],
)
def test_words_are_counted_as_the_script_parts_them(name: str, text: str, words: float) -> None:
    """By spaces, or by an amount of letters; marks of punctuation are no letters."""
    assert SCRIPTS[name].count_words(text) == words
