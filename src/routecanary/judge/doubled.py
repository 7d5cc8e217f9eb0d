"""Does the text, or each of its pieces, stand there twice?

Source: product.md §2 (doubled tokens); docs/judges.md for the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.repetition import repeat_asked
from routecanary.judge.vocabulary import words

_CODE: Final = "doubled_tokens"
_HEAD: Final = 320  # characters: pieces that come twice do so from the start
_FEW: Final = 16  # characters; too few to tell
_PIECES: Final = 5  # different pieces that must stand twice
_COVERED: Final = 0.8  # of the head
_LONGEST: Final = 80  # characters of a piece
_FENCE_LINE: Final = re.compile(r"(?m)^```.*$")
_MAX_FIRST: Final = 24  # characters of the first piece of a text that is sent anew with each piece
_ANEW: Final = 60  # characters of a beginning that comes again
_MIN_HALF: Final = 14  # characters of a half that holds fewer than three words
_SALAD: Final = 0.15  # of the words stand twice in a row
# Different words twice in a row, and their share of all: healthy texts have two.
_MANY: Final = 6
_OFTEN: Final = 0.05
_REDUPLICATING: Final = words("id ms jv su")  # `anak anak` are children
_AROUND: Final = " \t.,;:!?…\"'“”„«»‹›‘’「」『』()[]{}*_~¡¿。，！？、।؟،—–-"
# Words that never stand twice in a row, save by a fault (`that that`, `had had`, `die die` can be right).
_NEVER_TWICE: Final = words("""
    the a an of and or for from with at if in to as but by we they he she you my your his its their our into
    import return def class const let var function print not is are was were be
    el los de y en con un una por para pero su
    um uma em do da dos das com não seu sua
    le les des du et dans avec pour sur une au
    und mit von zu im dem den ein eine einen auf für nicht
    il lo gli di che con per nel della e
    het een van met op voor
    w z na do oraz и в на с по для не та що до ve ile
    yang dan di ke dari untuk ang ng mga và của những trong في على إلى
    के का की में है और पर ने को से तो कि इस उस यह वह
""")


def doubled(text: str, asked: Asked, locale: Locale | None, *, cut: bool) -> Finding | None:
    """Find a text sent twice, pieces each sent twice, or words that stand twice in a row.

    Args:
        locale: The one asked for: some languages say a word twice to mean another.
        cut: The answer ended at a limit, perhaps within the second time.
    """
    whole = text.strip()
    half = _doubled_whole(whole)
    if half is not None and not repeat_asked(asked):
        return fail(_CODE, f"the whole text stands twice: {excerpt(half)}")
    head = _FENCE_LINE.sub("", whole[: _HEAD + 40]).strip()[:_HEAD]
    if _in_pairs(head) and not repeat_asked(asked):
        return fail(_CODE, f"every piece stands twice: {excerpt(whole)}")
    anew = _starts_anew(whole, cut=cut)
    if anew and not repeat_asked(asked):
        return fail(_CODE, f"the whole text begins again after {anew} characters: {excerpt(whole)}")
    turns = _growing(whole)
    if turns >= _PIECES and not repeat_asked(asked):
        return fail(_CODE, f"each of {turns} pieces says again all that came before it: {excerpt(whole)}")
    return _doubled_words(text, asked, locale)


def _starts_anew(text: str, *, cut: bool) -> int:
    """Find where a text begins again and goes on as before to the end, within its second time; 0 for nowhere.

    A poem may end as it began: more than that must come again, unless a limit cut it off.
    """
    place = text.find(text[:_ANEW], _ANEW)
    again = len(text) - place
    if place < 0 or again < (2 * _ANEW if cut else max(4 * _ANEW, place // 2)) or again > place:
        return 0
    return place if text.startswith(text[place:]) else 0


def _growing(text: str) -> int:
    """Count the turns in which a text is sent anew from its beginning, each time a little longer."""
    size = next((n for n in range(1, _MAX_FIRST) if text[:n] == text[n : 2 * n]), 0)
    if not size:
        return 0
    turns, place, before = 1, size, text[:size]
    while place < len(text) and text.startswith(before, place):
        after = text.find(before, place + len(before))
        after = len(text) if after < 0 else after
        if after - place <= len(before):
            return 0  # it comes again, and does not grow
        before, place, turns = text[place:after], after, turns + 1
    return turns if place >= len(text) else 0


def _in_pairs(head: str) -> bool:
    """Say whether a text consists of pieces that each stand twice."""
    if len(head) < _FEW:
        return False
    room = len(head) - _COVERED * len(head)  # characters that may stand once: a healthy text has them soon
    pieces: set[str] = set()
    place = 0
    while place < len(head):
        size = _twice_at(head, place)
        if size:
            pieces.add(head[place : place + size])
            place += 2 * size
        else:
            place += 1
            room -= 1
            if room < 0:
                return False
    return len(pieces) >= _PIECES


def _twice_at(head: str, place: int) -> int:
    """Measure the shortest piece that stands at a place and again right behind; 0 for none."""
    for size in (1, 2):
        if head.startswith(head[place : place + size], place + size) and place + 2 * size <= len(head):
            return size
    key, end = head[place : place + 3], place + _LONGEST + 3
    again = head.find(key, place + 3, end)
    while again >= 0:
        if head.startswith(head[place:again], again):
            return again - place
        again = head.find(key, again + 1, end)
    return 0


def _doubled_words(text: str, asked: Asked, locale: Locale | None) -> Finding | None:
    """Find words twice in a row: some that never stand so, or more different ones than anybody says so."""
    twice = [word.lower() for word in _twice(text)]
    if len(twice) < 2:
        return None
    shown = f"doubled words: {', '.join(f'{word} {word}' for word in dict.fromkeys(twice))}"[:200]
    faulty = [word for word in twice if word in _NEVER_TWICE]
    different, share = len(set(twice)), len(twice) / len(text.split())
    salad = bool(faulty) and different >= 4 and share >= _SALAD
    if (len(faulty) >= 3 and len(set(faulty)) >= 2) or salad:
        return fail(_CODE, shown)
    plain = (locale or "").split("-", 1)[0] not in _REDUPLICATING
    if plain and different >= _MANY and share >= _OFTEN and not repeat_asked(asked):
        return fail(_CODE, shown)
    return unsure(_CODE, shown) if len(faulty) == 2 else None


def _twice(text: str) -> Iterator[str]:
    """Give the words that stand twice in a row on one line, with nothing but space between."""
    for line in text.split("\n"):
        for one, other in pairwise(line.split()):
            if one[-1] in other and other[0] in one:
                word = one.lstrip(_AROUND)
                if word and word == other.rstrip(_AROUND) and word[0].isalpha():
                    yield word


def _doubled_whole(text: str) -> str | None:
    """Return the half of a text that is the same thing twice, with at most white space between."""
    if len(text) < 2 * _MIN_HALF and len(text) < 24:
        return None
    for gap in (0, 1, 2):
        if (len(text) - gap) % 2:
            continue
        size = (len(text) - gap) // 2
        if text[:size] == text[size + gap :] and not text[size : size + gap].strip():
            half = text[:size].strip()
            several = len(half.split()) >= 3 or len(half) >= _MIN_HALF
            return half if several and len(set(half)) > 6 and _doubled_whole(half) is None else None
    return None
