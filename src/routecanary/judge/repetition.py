"""Does the text run in a loop?

Loops compress: one pass of zlib keeps the search away from healthy text. What the request asked to be
repeated is no loop.

Source: product.md §2 (degenerate repetition); docs/judges.md for the numbers.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, fail, unsure
from routecanary.judge.wishes import is_brief, quoted_in

_RUN: Final = re.compile(r"(\S)\1{39,}")
_RULE_MARKS: Final = "-=_*─━═.·~#|+…•—–┄┈╌﹏＿　"
_FLOOD: Final = re.compile(r"\s{200,}")
_MAX_UNITS: Final = 3_000  # words or letters, the last ones: a loop that nothing stopped is there
_MAX_PERIOD_WORDS: Final = 120
_MAX_PERIOD_LETTERS: Final = 80
_KEY: Final = 19  # characters: two of them lie in two thirds of the lightest loop
_HEAVILY_COMPRESSED: Final = 0.30  # of its size; healthy prose of 200 words keeps 0.45 or more
_CUT_COMPRESSED: Final = 0.40  # of its size, where a limit ended it
# A wish for the same thing many times, in the languages of the probes.
_REPEAT_ASKED: Final = re.compile(
    r"\brepeat|\btimes\b|over and over|again and again|\bloop|chorus|refrain|\btwice\b|\bin a row\b"
    r"|\brow of\b|\bdozen|same word|\bx ?\d|\d ?x\b"
    r"|wiederhol|hintereinander|\w{3}(?:n|ig|ert|nd)mal\b|\d ?mal\b"
    r"|\b(?:zwei|drei|vier|fünf|sechs|acht|zwölf) ?mal\b|repit|repet|\bveces\b|\bvezes\b|répèt|répét"
    r"|\bfois\b|ripet|\bvolte\b|herhaal|\bkeer\b|\bmaal\b|powtórz|powtarz|\brazy\b|повтор|\bраз\b|\bразів\b"
    r"|ulang|\bkali\b|\bulit|\bbeses\b|tekrar|\bkez\b|\bkere\b|\bdefa\b|lặp|\blần\b|ซ้ำ|ครั้ง|दोहरा|बार\b"
    r"|كرر|مرات|\bgånger\b|\bgange\b|\bnegyszer\b|krát\b"
    r"|重复|重複|[\d一二三四五六七八九十百两兩几幾]\s*[遍次回]|次数|繰り返|くり返|(?:\d|[한두세네열섯곱덟홉백])\s?[회번]|반복|되풀이",
    re.IGNORECASE,
)
_AROUND: Final = " .,!?;:\"'“”„«»*。，！"
_COUNTED: Final = re.compile(r"\d+")
_MANY: Final = 12  # turns of a loop whose numbers count on


def looped(text: str, asked: Asked, *, cut: bool) -> Finding | None:
    """Find a run of one character, of one word or phrase, or a flood of white space.

    Args:
        cut: The answer ended at a limit: a loop that nothing stopped.
    """
    if len(text) < 40:
        return None
    run = _RUN.search(text) if _may_run(text) else None
    if run is not None:
        found = _one_character(text, run, asked, cut=cut)
        if found is not None:
            return found
    if cut and _FLOOD.search(text):
        return fail("repetition", "a flood of white space up to the limit")
    raw = text.encode("utf-8", "replace")
    small = _CUT_COMPRESSED if cut else _HEAVILY_COMPRESSED
    if len(text) < 80 or len(zlib.compress(raw, 1)) > len(raw) * small:
        return None
    return _phrase_loop(text, asked, cut=cut)


def _may_run(text: str) -> bool:
    """Acquit cheaply: a run of forty fills four places of every twenty that lie in it."""
    return any(
        a == b == c == d
        for a, b, c, d in zip(text[::20], text[6::20], text[13::20], text[19::20], strict=False)
    )


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
    if not cut and not _recurs((" " if spaced else "").join(units)):
        return None
    longest = _MAX_PERIOD_WORDS if spaced else _MAX_PERIOD_LETTERS
    period, start, length = _longest_loop(units, longest)
    if period == 0 and cut and spaced:
        return _counting_loop(units, asked)
    if period == 0:
        return None
    times = length // period
    share = length / len(units)
    joiner = " " if spaced else ""
    phrase = joiner.join(units[start : start + period])
    shown = f"{phrase[:80]!r} {times} times in a row, {share:.0%} of the text"
    if _requested(phrase, asked) or not (cut or any(c.isalnum() for c in phrase)):
        return None
    to_the_end = cut and start + length >= len(units) - period
    weight = len(joiner.join(units[start : start + length]))
    enough = times >= (8 if period == 1 else 6 if period <= 4 else 4 if period < 12 else 3)
    if enough and weight >= 80 and (share >= 0.5 or to_the_end) and (times >= 10 or period > 1):
        return fail("repetition", shown)
    if enough and weight >= 60:
        return unsure("repetition", shown)
    return None


def _recurs(text: str) -> bool:
    """Acquit cheaply: of a loop of 60 characters and three turns, what stands at a nineteenth comes again."""
    return any(
        text.find(text[place : place + _KEY], place + 1) >= 0 for place in range(0, len(text) - _KEY, _KEY)
    )


def _counting_loop(units: list[str], asked: Asked) -> Finding | None:
    """Find a line that only its number tells apart, over and over up to the limit: `7. Apple 8. Apple`."""
    period, start, length = _longest_loop([_COUNTED.sub("#", unit) for unit in units], _MAX_PERIOD_WORDS)
    if period < 2 or length < _MANY * period or length < 0.5 * len(units):
        return None
    phrase = " ".join(units[start : start + period])
    spelled = [part for part in phrase.split() if sum(c.isalpha() for c in part) >= 3]
    if not spelled or start + length < len(units) - period or _requested(" ".join(spelled), asked):
        return None
    if all(part.strip(_AROUND).lower() in asked.prompt.lower() for part in spelled):
        return unsure("repetition", f"{phrase[:80]!r} and so on {length // period} times")
    return fail("repetition", f"{phrase[:80]!r} and so on {length // period} times, up to the limit")


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
    period, start, length = best
    while period and start + length < total and units[start + length] == units[start + length - period]:
        length += 1  # a better find was noted in steps
    return period, start, length


def repeat_asked(asked: Asked) -> bool:
    """Say whether a short request wishes for something many times."""
    return _REPEAT_ASKED.search(asked.prompt) is not None and is_brief(asked)


def _requested(phrase: str, asked: Asked) -> bool:
    """Say whether the request asked for this to be repeated: a long one names it between quotation marks."""
    if not _REPEAT_ASKED.search(asked.prompt):
        return False
    said = asked.prompt.lower() if is_brief(asked) else quoted_in(asked)
    parts = [part.strip(_AROUND) for part in phrase.lower().split()]  # a loop may be seen from its middle
    return any(parts) and all(part in said for part in parts)
