"""How is a phrase written in a table, what does it match, and what must a text hold for that?

A restricted syntax, so that anybody's table is matched in linear time: nothing repeats without a bound,
nothing is nested.

    content polic*          words in this order; `*` stands for any further letters of the word
    (cannot|can not) help   one of several
    (very )?sorry           a part that may be missing, with its space
    kann ich ~6 nicht       up to six words between; letters, where words are not parted by spaces

Phrases are folded as texts are: case, apostrophes, hyphens and the shape of letters do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from routecanary.errors import InputError
from routecanary.judge.folding import folded

MAX_PHRASE: Final = 400  # characters
MAX_GAP: Final = 20
MAX_GAPS: Final = 2  # of one phrase
SYNTAX: Final = "words, * in a word, (a|b), (a )? and at most two gaps such as ~3"

_STAR: Final = "ǂ"  # stands for `*` while a phrase is folded: a letter that no language of ours has
_LETTERS: Final = "[^ \n]{0,30}"
_WORD: Final = "[^ \n]{1,40} "
_PART: Final = re.compile(r"~(\d{1,2})|\(([^()~]*)\)(\?)?|([^()~?]+)")
_AS_SPACE: Final = re.compile(r"[\s,;:/-]+")


class PhraseError(InputError):
    """A phrase has not the form of one."""


class Need(NamedTuple):
    """One of these must stand in a text: as a whole word, or anywhere."""

    words: frozenset[str]
    pieces: tuple[str, ...]


class _Part(NamedTuple):
    """A piece of a phrase: folded texts of which one stands there, or a gap of so many words."""

    texts: tuple[str, ...] = ()
    gap: int = 0
    maybe: bool = False
    choice: bool = False


def matcher(phrases: Sequence[str], *, spaced: bool) -> re.Pattern[str]:
    """Compile phrases into one pattern over folded text, which has a space before and after it.

    Args:
        spaced: Words are parted by spaces; otherwise the text is `folding.joined`, and a phrase may begin
            anywhere.
    Raises:
        PhraseError: One of them is malformed.
    """
    if not phrases:
        return re.compile(r"(?!)")
    choice = "|".join(
        dict.fromkeys(_source(_parts(phrase, spaced=spaced), spaced=spaced) for phrase in phrases)
    )
    return re.compile(f"[ \n](?:{choice})(?=[ \n])" if spaced else choice)


def needs_of(phrase: str, *, spaced: bool) -> tuple[Need, ...]:
    """Say what any text must hold in which a phrase is found, the rarest first.

    Raises:
        PhraseError: It is malformed.
    """
    found: list[Need] = []
    for part in _parts(phrase, spaced=spaced):
        if not part.gap and not part.maybe:
            texts = part.texts if part.choice or not spaced else tuple(part.texts[0].split())
            found += (
                [_need(texts, spaced=spaced)]
                if part.choice
                else [_need((text,), spaced=spaced) for text in texts]
            )
    return tuple(sorted(found, key=lambda need: -min(map(len, (*need.words, *need.pieces)))))


def _need(texts: Sequence[str], *, spaced: bool) -> Need:
    """Take of each text its longest word, or its longest piece where no word is whole."""
    words, pieces = set(), []
    for text in texts:
        whole = [word for word in text.split() if _STAR not in word] if spaced else []
        if whole:
            words.add(max(whole, key=len))
        else:
            pieces.append(max(re.split(f"[ {_STAR}]", text), key=len))
    return Need(frozenset(words), tuple(pieces))


def _parts(phrase: str, *, spaced: bool) -> tuple[_Part, ...]:
    if not 0 < len(phrase) <= MAX_PHRASE:
        raise PhraseError("wrong length", value=phrase, allowed=f"1 to {MAX_PHRASE} characters")
    parts = tuple(_read(phrase, spaced=spaced))
    solid = [part for part in parts if not part.gap and any(text.strip() for text in part.texts)]
    gaps = [part.gap for part in parts if part.gap]
    firm = [part for part in parts if part.gap or part in solid]
    sound = (
        any(not part.maybe and all(text.strip(f" {_STAR}") for text in part.texts) for part in solid)
        and not firm[0].gap
        and not firm[-1].gap
        and not any(left.gap and right.gap for left, right in pairwise(firm))
        and len(gaps) <= MAX_GAPS
        and all(gap <= MAX_GAP for gap in gaps)
        and not (spaced and any(_within_word(*pair) for pair in pairwise(parts)))
    )
    if not sound:
        raise PhraseError("not a phrase", value=phrase, allowed=SYNTAX)
    return parts


def _read(phrase: str, *, spaced: bool) -> Iterator[_Part]:
    place = 0
    for match in _PART.finditer(phrase):
        if match.start() != place:
            break
        place = match.end()
        gap, group, maybe, plain = match.groups()
        if gap is not None:
            yield _Part(gap=int(gap) or MAX_GAP + 1)
        else:
            texts = tuple(
                _words(text, spaced=spaced) for text in ([plain] if group is None else group.split("|"))
            )
            if group is not None and not all(text.strip() for text in texts):
                raise PhraseError("an empty choice", value=phrase, allowed=SYNTAX)
            yield _Part(texts=texts, maybe=bool(maybe), choice=group is not None)
    if place != len(phrase):
        raise PhraseError("not a phrase", value=phrase, allowed=SYNTAX)


def _within_word(left: _Part, right: _Part) -> bool:
    """Say whether two parts would meet inside of a word."""
    if left.gap or right.gap:
        return not left.gap and not all(text.endswith(" ") for text in left.texts)
    return not (all(t.endswith(" ") for t in left.texts) or all(t.startswith(" ") for t in right.texts))


def _source(parts: Sequence[_Part], *, spaced: bool) -> str:
    found, after_gap = "", False
    for part in parts:
        if part.gap:
            found += f"(?:{_WORD}){{0,{part.gap}}}" if spaced else f"[^\n]{{0,{part.gap}}}"
        else:
            texts = [re.escape(text).replace("\\ ", " ").replace(_STAR, _LETTERS) for text in part.texts]
            source = f"(?:{'|'.join(texts)})" if part.choice else texts[0]
            found += source.removeprefix(" ") if after_gap else source  # the gap has taken the space
            found += "?" if part.maybe else ""
        after_gap = bool(part.gap)
    return found


def _words(text: str, *, spaced: bool) -> str:
    """Fold a part of a phrase; its outer spaces are part of it."""
    text = _AS_SPACE.sub(" ", text)
    inner = folded(text.replace("*", _STAR))
    if "\n" in inner:
        raise PhraseError("the end of a sentence in it", value=text, allowed=SYNTAX)
    if not spaced:
        return inner.replace(" ", "")
    return " " * text.startswith(" ") + inner + " " * (text.endswith(" ") and bool(inner))
