"""The phrases of the tables: what they match, what they refuse to be, and that nothing makes them slow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routecanary.judge.folding import folded, joined
from routecanary.judge.refusals.phrase import MAX_GAP, PhraseError, matcher, needs_of


def found(phrase: str, text: str, *, spaced: bool = True) -> bool:
    text = folded(text)
    return matcher([phrase], spaced=spaced).search(f" {text} " if spaced else joined(text)) is not None


@pytest.mark.parametrize(
    ("phrase", "yes", "no"),
    [
        ("content polic*", "My Content-Policies say so.", "contents policy"),
        ("can't help", "I can’t  help", "I can. Help"),
        ("(cannot|can not) help", "I can not help", "I can help"),
        ("(very )?sorry", "sorry", "sorrow"),
        (
            "kann ich ~2 nicht",
            "Das kann ich dir leider nicht sagen",
            "Das kann ich dir heute leider nicht sagen",
        ),
        ("kann ich ~2 nicht", "Kann ich nicht.", "Kann ich. Nicht?"),
        ("*emem", "Yardım edemem.", "Yardım edememek"),
        ("isteğ*", "İSTEĞİNİZ", "istek"),
        ("ещё раз", "еще раз", "раз"),
        ("الإجابة", "الاجابه", "اجابه"),
    ],
)
def test_what_a_phrase_matches(phrase: str, yes: str, no: str):
    """Whole words in their order, within one sentence, whatever their case and marks."""
    assert found(phrase, yes)
    assert not found(phrase, no)


@pytest.mark.parametrize(
    ("phrase", "yes", "no"),
    [
        ("수 없습니다", "도울수 없습니다", "수 있습니다"),
        ("我(也)?(无法|不能)", "抱歉，我也不能。", "他们不能"),
        ("我 ~2 无法", "我真的无法", "我。无法"),
    ],
)
def test_what_a_phrase_matches_without_spaces(phrase: str, yes: str, no: str):
    """Anywhere, spaces or not, within one sentence."""
    assert found(phrase, yes, spaced=False)
    assert not found(phrase, no, spaced=False)


@pytest.mark.parametrize(
    "phrase",
    [
        *(
            "",
            " ",
            "*",
            "~3 help",
            "help ~3",
            "a ~2 ~3 b",
            f"a ~{MAX_GAP + 1} b",
            "a ~0 b",
            "a ~1 b ~1 c ~1 d",
        ),
        *(
            "(a|) b",
            "(a",
            "a)",
            "(a|(b|c))",
            "(a )?",
            "(a|b)?",
            "a? b",
            "one. two",
            "polic(y|ies)",
            "(* )?",
            "x" * 401,
        ),
    ],
)
def test_what_is_no_phrase(phrase: str):
    """Nothing nested, nothing without a bound, nothing that could match everything."""
    with pytest.raises(PhraseError):
        matcher([phrase], spaced=True)
    with pytest.raises(PhraseError):
        needs_of(phrase, spaced=True)


PIECES = st.sampled_from(
    ["help", "that ", "*", "(a|b)", "(c )?", "~2", " ", "kann ich", "~20", "(", "|", "?", "~"]
)


@given(phrase=st.lists(PIECES, max_size=8).map("".join), text=st.lists(PIECES, max_size=30).map("".join))
def test_needs_are_sure(phrase: str, text: str):
    """A text without what a phrase needs does not match it; and no pattern repeats without a bound."""
    try:
        pattern, needs = matcher([phrase], spaced=True), needs_of(phrase, spaced=True)
    except PhraseError:
        return
    assert re.search(r"[*+]|\{\d+,\}", pattern.pattern) is None
    form = folded(text)
    if pattern.search(f" {form} "):
        words = set(form.split())
        assert all(need.words & words or any(piece in form for piece in need.pieces) for need in needs)


@given(st.text(max_size=60))
def test_folding_leaves_words(text: str):
    """Single spaces, single line ends, none at either end."""
    assert re.search(r"  | ?\n ?\n|^[ \n]|[ \n]$| \n|\n ", folded(text)) is None
