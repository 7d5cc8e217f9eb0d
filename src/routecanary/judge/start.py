"""Is the start of the answer spoiled?

Judged against the opening that the probe asked for, and, without one, by the few starts that no text of
any kind has. A model that does not obey, and opens with a well-formed word, has not spoiled anything.

Source: product.md §1 (a), §2; docs/judges.md.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.first_mark import CLOSERS, FULLWIDTH, impossible_first
from routecanary.judge.required_text import lost_beginning
from routecanary.judge.vocabulary import words

_CODE: Final = "corrupt_start"
_LOOK: Final = 24  # characters before the asked opening that may be debris
_MAX_FRAGMENT: Final = 12  # letters of a piece of an unrelated token

_OPENING_QUOTES: Final = '"“«¡¿„「'
_MARKUP: Final = frozenset("-*#>_~—–…")  # what may stand before a text by design
# Debris before an asked opening: punctuation that opens nothing and marks up nothing.
_DEBRIS: Final = frozenset(CLOSERS + FULLWIDTH + ",.;:!?'’`%&=+/\\|^<@$·•¨´¸")


def spoiled_start(text: str, asked: Asked, locale: Locale | None) -> Finding | None:
    """Find debris at the start, or a start that was lost.

    Args:
        locale: The one asked for, by whose words a rest of a word is told from a word.
    """
    start = text.lstrip("\ufeff \t\r\n\u00a0\u200b\u3000")
    if not start or asked.last_role == "assistant":
        return None  # nothing there, or the continuation of a text that we do not have
    if asked.opening:
        if start.startswith(asked.opening):
            return None
        found = _before_opening(start, asked.opening) or _lost_opening(start, asked.opening)
        if found is not None:
            return found
    return lost_beginning(text, asked) or impossible_first(start, asked, locale)


def _before_opening(start: str, opening: str) -> Finding | None:
    """Look at what stands before the asked opening, if it follows within a few characters."""
    place = start.find(opening, 0, _LOOK + len(opening))
    if place <= 0:
        return None
    before, after = start[:place], start[place + len(opening) :]
    what = before.strip()
    detail = f"{what!r} before the asked {opening!r}: {excerpt(start)}"
    solid = "".join(c for c in what if c.isalnum())
    if not solid:
        if _is_debris(what):
            return fail(_CODE, detail)
        return None if set(what) <= _MARKUP or what in ("...", "....") else unsure(_CODE, detail)
    if any(c.isspace() for c in what) or len(solid) > _MAX_FRAGMENT or not _opens_properly(after):
        return None  # a text of its own, or `hey *waves*`: a word, then an action
    if _SOUND.fullmatch(what):
        return None
    glued = before == what
    if solid.isdigit():
        return fail(_CODE, detail) if glued else None
    lower = solid == solid.lower() and solid != solid.upper()
    marked = len(solid) < len(what) and lower
    other_script = _script(after) not in ("", _script(solid))
    if marked or other_script or (lower and (glued or _is_ending(solid))):
        return fail(_CODE, f"a piece of a token, {detail}")
    return None if what[0].isupper() else unsure(_CODE, detail)


def _lost_opening(start: str, opening: str) -> Finding | None:
    """Find an asked mark that closes and was never opened: the first token was swallowed.

    What stands in its place tells a swallowed token from a mark forgotten by the model.
    """
    if any(c.isalnum() for c in opening):
        return None
    paragraph = start.split("\n\n", 1)[0]
    place = paragraph.find(opening)
    end = place + len(opening)
    closes = place > 0 and not paragraph[place - 1].isspace() and not paragraph[end : end + 1].isalnum()
    if not closes or paragraph.count(opening) % 2 == 0:
        return None
    detail = f"{opening!r} closes and never opened: {excerpt(start)}"
    head = re.match(r"(\W*)(\w*)", start)
    marks, word = (head.group(1), head.group(2)) if head is not None else ("", "")
    if _is_debris(marks.strip()) or re.match(r"[^\W\d_A-ZÀ-ÞА-Я]{2,}[A-ZÀ-ÞА-Я]", word):
        return fail(_CODE, detail)
    if _is_ending(word) or (len(word) > 1 and _script(word[0]) not in ("", _script(word[-1]))):
        return fail(_CODE, detail)
    following = start[len(marks) + len(word) :].lstrip()
    if word.islower() and _script(following) not in ("", _script(word)):
        return fail(_CODE, detail)
    return unsure(_CODE, detail)


def _is_debris(text: str) -> bool:
    """Say whether a run of marks holds one that opens nothing, and no letter; an ellipsis may open a text."""
    if text in ("..", "...", "...."):
        return False
    return any(c in _DEBRIS for c in text) and all(c in _DEBRIS or c in '"“«(<[{' for c in text)


def _opens_properly(text: str) -> bool:
    """Say whether a text begins as a sentence does: a capital, a caseless letter, an opening quote."""
    first = text[:1]
    return first.isupper() or (first.isalpha() and first.lower() == first.upper()) or first in _OPENING_QUOTES


def _is_ending(word: str) -> bool:
    """Say whether a lower-case run of letters is the end of a word and no word."""
    if word in _ENDINGS:
        return True
    return (
        word.isascii() and word.islower() and not re.search(r"[aeiouy]", word) and not _SOUND.fullmatch(word)
    )


_SOUND: Final = re.compile(r"[hm]+|s+h+|p+s+t+|p+f+t*|t+s+k|b+r+|g+r+|z+|t+c+h+|p+h+")  # hmm, shh, psst, brr

# Pieces of tokens: endings that are no words of any language that a probe is asked in.
_ENDINGS: Final = words("""
    ing ed ly ion tion sion ment ness able ible ous ive ful ity ant ent ary ory ure ist ism ize ish
    ings tions ers ions ments ial ation ations ated ating ung ungen heit keit lich isch chen ción cion
    ciones ção ções mente ement eux zione zioni ость ение ий ого
""")


def _script(text: str) -> str:
    """Name the script of the first letter: the first word of its Unicode name."""
    for character in text[:40]:
        if character.isalpha():
            return unicodedata.name(character, "").split(" ", 1)[0]
    return ""
