"""Do words run together, or do pieces of words stand apart, by what a language's words are?

Two pieces that make one word which is far commoner than the two side by side were one word; a word that
nobody uses and that falls into small common words was several. Measured on healthy text of fourteen
languages: docs/judges.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

from routecanary.judge.languages.lexicon import Lexicon, fold

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_INNER_CAPITAL: Final = re.compile(r"[a-zà-ÿß][A-ZÀ-Þ]")  # of a name in a program, `getUserById`
_MAX_WORDS: Final = 1_500  # of a text that are looked at

# Pieces. A level is a decimal logarithm.
_MOST_PIECES: Final = 4  # of one word
_LONGEST: Final = 24  # letters of a word made of pieces
_LIKELIER: Final = 3.5  # the word, than its pieces by chance
_RARE: Final = -5.9  # a word that is rarer proves nothing

# Runs. `of` and `the` are above -2, `children` is about -3.6.
_LONG: Final = 18  # letters from which several words are looked for
_MAX_RUN: Final = 400
_MAX_PART: Final = 16  # letters of one of them
_COMMON: Final = -2.9  # a word that holds sentences together
_COMMON_SHARE: Final = 0.22  # of the parts of a run; compounds and numerals have fewer
_VERY_COMMON: Final = -2.4
_USUAL: Final = -4.3
_SHORTEST: Final = {1: -2.3, 2: -3.2, 3: -4.4}  # level that a part of so many letters must have
_GAP: Final = -8.0  # what a stretch of unknown letters costs, and each of its letters
_GAP_LETTER: Final = -1.0
_NEVER: Final = float("-inf")


class Joints(NamedTuple):
    """What the words of a text give away."""

    words: int
    pieces: int  # different words that stand there in pieces
    in_pieces: float  # share of all that are such pieces
    runs: tuple[str, ...]  # long runs that are several words
    in_runs: float  # share of the letters that stand in such runs
    pairs: tuple[str, ...]  # different short words that are two
    in_pairs: float  # share of all words that are such


def joints_of(text: str, lexicon: Lexicon) -> Joints:
    """Look for words that are several, and for several that are one."""
    spelled = _WORD.findall(normalize("NFC", text))[:_MAX_WORDS]
    found = [fold(word) for word in spelled if not _INNER_CAPITAL.search(word)]
    count = max(1, len(found))
    letters = max(1, sum(map(len, found)))
    pieces, used = _rejoined(found, lexicon)
    unknown = [word for word in found if word not in lexicon.levels]
    runs = [word for word in unknown if len(word) >= _LONG and _is_run(word, lexicon)]
    pairs = [word for word in unknown if 4 <= len(word) < _LONG and _is_pair(word, lexicon)]
    return Joints(
        words=len(found),
        pieces=pieces,
        in_pieces=used / count,
        runs=tuple(runs),
        in_runs=sum(map(len, runs)) / letters,
        pairs=tuple(dict.fromkeys(pairs)),
        in_pairs=len(pairs) / count,
    )


def _rejoined(found: Sequence[str], lexicon: Lexicon) -> tuple[int, int]:
    """Count the different words that stand in pieces, and the pieces."""
    levels = [lexicon.level(word) for word in found]
    words: set[str] = set()
    pieces = place = 0
    while place < len(found):
        for size in range(min(_MOST_PIECES, len(found) - place), 1, -1):
            whole = "".join(found[place : place + size])
            level = lexicon.levels.get(whole, _RARE) if 4 <= len(whole) <= _LONGEST else _RARE
            if level > _RARE and level - sum(levels[place : place + size]) >= _LIKELIER:
                words.add(whole)
                pieces, place = pieces + size, place + size
                break
        else:
            place += 1
    return len(words), pieces


def _is_pair(word: str, lexicon: Lexicon) -> bool:
    """Say whether a word is a very common one and a usual one, run together: `ofthe`, `andchildren`."""
    for place in range(2, len(word) - 1):
        one, other = lexicon.levels.get(word[:place]), lexicon.levels.get(word[place:])
        if one is not None and other is not None:
            low, high = sorted((one, other))
            if high >= _VERY_COMMON and low >= _USUAL:
                return True
    return False


def _is_run(word: str, lexicon: Lexicon) -> bool:
    """Say whether a long word is a stretch of text: mostly known words, many of them small and common."""
    word = word.replace("'", "").replace("-", "")[:_MAX_RUN]
    parts = _parted(word, lexicon)
    known = [(part, level) for part, level in parts if level is not None]
    common = sum(level >= _COMMON and len(part) > 1 for part, level in known)
    covered = sum(len(part) for part, _ in known)
    return (
        len(known) >= 3
        and common >= 2
        and common >= _COMMON_SHARE * len(parts)
        and covered >= 0.7 * len(word)
    )


def _parted(word: str, lexicon: Lexicon) -> list[tuple[str, float | None]]:
    """Find the likeliest parts of a word, with their levels; None for a stretch that is no word."""
    total = len(word)
    best: list[tuple[float, int, float | None]] = [
        (0.0, 0, None)
    ]  # cost so far, start of the last part, its level
    for end in range(1, total + 1):
        found: tuple[float, int, float | None] = (_NEVER, 0, None)
        for start in range(max(0, end - _MAX_PART), end):
            size = end - start
            level = lexicon.levels.get(word[start:end])
            if level is not None and level < _SHORTEST.get(size, level):
                level = None
            cost = best[start][0] + (_GAP + _GAP_LETTER * size if level is None else level)
            if cost > found[0]:
                found = (cost, start, level)
        best.append(found)
    parts: list[tuple[str, float | None]] = []
    end = total
    while end:
        _, start, level = best[end]
        parts.append((word[start:end], level))
        end = start
    return parts[::-1]
