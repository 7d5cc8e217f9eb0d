"""Does the text run in a loop, or come twice?

Loops compress: one pass of zlib keeps the search away from healthy text. What the request asked to be
repeated is no loop.

Source: product.md §2 (degenerate repetition, doubled tokens); docs/judges.md for the numbers.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.vocabulary import words

_RUN: Final = re.compile(r"(\S)\1{39,}")
_RULE_MARKS: Final = "-=_*─━═.·~#|+…•—–┄┈╌﹏＿　"
_FLOOD: Final = re.compile(r"\s{200,}")
_MAX_UNITS: Final = 3_000  # words or letters, the last ones: a loop that nothing stopped is there
_MAX_PERIOD_WORDS: Final = 120
_MAX_PERIOD_LETTERS: Final = 80
_HEAVILY_COMPRESSED: Final = 0.30  # of its size; healthy prose of 200 words keeps 0.45 or more
_HEAD: Final = 240  # characters: pieces that come twice do so from the start
_SQUARE: Final = re.compile(r"(\S[^\n]{0,23}?)\1")
_ADJACENT: Final = re.compile(r"(?<![\w'’-])([^\W\d_]+)[ \t]+\1(?![\w'’-])")
_REPEAT_ASKED: Final = re.compile(
    r"\brepeat|\btimes\b|over and over|again and again|\bloop|chorus|refrain|\btwice\b|wiederhol|\bmal\b"
    r"|repit|repet|\bveces\b|\bvezes\b|répèt|répét"
    r"|\bfois\b|ripet|\bvolte\b|powtórz|powtarz|\brazy\b|повтор|\bраз\b|ulang|\bkali\b"
    r"|tekrar|\bkez\b|lặp|\blần\b|ซ้ำ|ครั้ง"
    r"|重复|重複|\d遍|\d次|次数|繰り返|くり返|\d回|반복|되풀이|\d번|\bnegyszer\b|same word",
    re.IGNORECASE,
)
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
    w z na do oraz и в на с по для не
""")


def looped(text: str, asked: Asked, *, cut: bool) -> Finding | None:
    """Find a run of one character, of one word or phrase, or a flood of white space.

    Args:
        cut: The answer ended at a limit: a loop that nothing stopped.
    """
    if len(text) < 40:
        return None
    run = _RUN.search(text)
    if run is not None:
        found = _one_character(text, run, asked, cut=cut)
        if found is not None:
            return found
    if cut and _FLOOD.search(text):
        return fail("repetition", "a flood of white space up to the limit")
    if (
        len(text) < 80
        or len(zlib.compress(text.encode("utf-8", "replace"), 1))
        > len(text.encode("utf-8", "replace")) * _HEAVILY_COMPRESSED
    ):
        return None
    return _phrase_loop(text, asked, cut=cut)


def doubled(text: str, asked: Asked) -> Finding | None:
    """Find a text sent twice, pieces each sent twice, or words that never stand twice in a row."""
    whole = text.strip()
    half = _doubled_whole(whole)
    if half is not None and not _REPEAT_ASKED.search(asked.prompt):
        return fail("doubled_tokens", f"the whole text stands twice: {excerpt(half)}")
    head = whole[:_HEAD]
    if len(head) >= 16:
        squares = [match.group() for match in _SQUARE.finditer(head)]
        covered = sum(len(square) for square in squares)
        letters = {square[: len(square) // 2] for square in squares}
        if len(letters) >= 5 and covered >= 0.8 * len(head) and not _REPEAT_ASKED.search(asked.prompt):
            return fail("doubled_tokens", f"every piece stands twice: {excerpt(head)}")
    twice = [match.group(1).lower() for match in _ADJACENT.finditer(text)]
    faulty = [word for word in twice if word in _NEVER_TWICE]
    if len(faulty) >= 3 and len(set(faulty)) >= 2:
        shown = ", ".join(f"{word} {word}" for word in dict.fromkeys(faulty))
        return fail("doubled_tokens", f"doubled words: {shown}"[:200])
    if len(faulty) == 2:
        return unsure("doubled_tokens", f"doubled words: {faulty[0]}, {faulty[1]}")
    return None


def _one_character(text: str, run: re.Match[str], asked: Asked, *, cut: bool) -> Finding | None:
    mark, length = run.group(1), len(run.group())
    visible = len("".join(text.split()))
    share = length / visible
    shown = f"{mark!r} {length} times in a row, {share:.0%} of the text"
    if mark in _RULE_MARKS:
        return fail("repetition", shown) if share > 0.9 and (cut or length >= 200) else None
    if _requested(mark, asked):
        return None
    if share >= 0.5 or (cut and length >= 100):
        return fail("repetition", shown)
    return unsure("repetition", shown) if length >= 60 else None


def _phrase_loop(text: str, asked: Asked, *, cut: bool) -> Finding | None:
    spoken = text.split()
    spaced = len(spoken) * 12 > len(text)  # scripts without spaces are searched by letters
    units: list[str] = (spoken if spaced else list("".join(spoken)))[-_MAX_UNITS:]
    period, start, length = _longest_loop(units, _MAX_PERIOD_WORDS if spaced else _MAX_PERIOD_LETTERS)
    if period == 0:
        return None
    times = length // period
    share = length / len(units)
    joiner = " " if spaced else ""
    phrase = joiner.join(units[start : start + period])
    shown = f"{phrase[:80]!r} {times} times in a row, {share:.0%} of the text"
    if _requested(phrase, asked):
        return None
    to_the_end = cut and start + length >= len(units) - period
    weight = len(joiner.join(units[start : start + length]))
    enough = times >= (8 if period == 1 else 6 if period <= 4 else 4 if period < 12 else 3)
    if enough and weight >= 80 and (share >= 0.5 or to_the_end) and (times >= 10 or period > 1):
        return fail("repetition", shown)
    if enough and weight >= 60:
        return unsure("repetition", shown)
    return None


def _longest_loop(units: list[str], longest: int) -> tuple[int, int, int]:
    """Find the stretch of units that repeats with one period; (period, start, length), zeros for none."""
    best = (0, 0, 0)
    total = len(units)
    for period in range(1, min(longest, total // 3) + 1):
        run = 0
        for place in range(total - period):
            if units[place] == units[place + period]:
                run += 1
                if run >= 2 * period and run + period > best[2] * 1.05:
                    best = (period, place - run + 1, run + period)
            else:
                run = 0
        if best[0] and best[2] > 0.95 * total:
            break
    return best


def _doubled_whole(text: str) -> str | None:
    """Return the half of a text that is the same thing twice, with at most white space between."""
    if len(text) < 24:
        return None
    for gap in (0, 1, 2):
        if (len(text) - gap) % 2:
            continue
        size = (len(text) - gap) // 2
        if text[:size] == text[size + gap :] and not text[size : size + gap].strip():
            half = text[:size].strip()
            several = len(half.split()) >= 3 or len(half) >= 20
            return half if several and len(set(half)) > 6 and _doubled_whole(half) is None else None
    return None


def _requested(phrase: str, asked: Asked) -> bool:
    """Say whether the request asked for this to be repeated."""
    bare = phrase.strip(" .,!?;:\"'“”*").lower()
    named = bool(bare) and bare in asked.prompt.lower()
    return named and _REPEAT_ASKED.search(asked.prompt) is not None
