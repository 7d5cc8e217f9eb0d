"""Is an answer in Han letters Japanese, Chinese, or Chinese of the other variant?

Letters that one national standard encodes and the other does not tell them apart; no table is needed.

Source: language.md §4.3.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.scripts import Script

_KANA_SHARE: Final = 0.06  # of Japanese letters; with less it is no Japanese
_OWN_SHARE: Final = 0.35  # of kana and Han in an answer that is about Japanese at all
_CHINESE_UNITS, _CHINESE_SHARE = 8.0, 0.12  # in stretches without kana
_HAN_STRETCH: Final = re.compile(r"[\u3400-\u9fff][\u3400-\u9fff，、：；\d]{3,}[\u3400-\u9fff]")
_CHINESE_ONLY: Final = frozenset("这们说没吗呢哪她你很么吧让给着过还")
_VARIANT_LETTERS, _VARIANT_SHARE = 40, 0.9  # different ones of the other variant, and of those that tell
_DOUBTFUL_LETTERS, _DOUBTFUL_SHARE = 28, 0.85


class _Sets(NamedTuple):
    """Han letters that one standard has and another lacks."""

    simplified: frozenset[str]  # GB 2312, not Big5
    traditional: frozenset[str]  # Big5, not GB 2312
    chinese: frozenset[str]  # GB 2312, not the Japanese code page


def chinese_in_japanese(prose: str, units: dict[Script, float], total: float) -> Finding | None:
    """Judge a Japanese answer by its kana, and its stretches without any by their letters."""
    kana, han = units.get(Script.KANA, 0.0), units.get(Script.HAN, 0.0)
    if kana + han < 12 or kana + han < _OWN_SHARE * total:
        return None
    if kana < _KANA_SHARE * (kana + han):
        return fail("wrong_language", f"Han letters almost without kana: {excerpt(prose.lstrip())}")
    stretches = _HAN_STRETCH.findall(prose)
    letters = "".join(stretches)
    amount = len(letters) / 1.7
    if amount < _CHINESE_UNITS or amount < _CHINESE_SHARE * total:
        return None
    if sum(letter in _CHINESE_ONLY or letter in _sets().chinese for letter in letters) >= 3:
        return fail("language_mixing", f"{amount:.0f} words of Chinese: {stretches[0][:20]!r}")
    return None


def other_variant(prose: str, locale: Locale) -> Finding | None:
    """Judge whether Chinese came in the other variant: texts mix both, so only overwhelmingly."""
    if locale not in ("zh-Hans", "zh-Hant"):
        return None
    letters = frozenset(prose)  # each once: a name of the prompt comes again and again
    hans, hant = len(letters & _sets().simplified), len(letters & _sets().traditional)
    other = hant if locale == "zh-Hans" else hans
    detail = f"{other} of {hans + hant} letters that tell are of the other variant than {locale}"
    if other >= _VARIANT_LETTERS and other >= _VARIANT_SHARE * (hans + hant):
        return fail("wrong_language", f"{detail}: {excerpt(prose.lstrip())}")
    if other >= _DOUBTFUL_LETTERS and other >= _DOUBTFUL_SHARE * (hans + hant):
        return unsure("ambiguous", detail)
    return None


@lru_cache(maxsize=1)
def _sets() -> _Sets:
    gb2312, big5, japanese = _letters_of("gb2312"), _letters_of("big5"), _letters_of("cp932")
    return _Sets(simplified=gb2312 - big5, traditional=big5 - gb2312, chinese=gb2312 - japanese)


def _letters_of(codec: str) -> frozenset[str]:
    pairs = (bytes((high, low)) for high in range(0x81, 0xFF) for low in range(0x40, 0xFF))
    letters = (pair.decode(codec, "ignore") for pair in pairs)
    return frozenset(letter for letter in letters if "\u4e00" <= letter <= "\u9fff" and len(letter) == 1)
