"""The words of refusals, one lexicon a language; all are used at once, since models fall back to another."""

from __future__ import annotations

from typing import Final

from routecanary.judge.refusals.asian import ARABIC, HINDI, INDONESIAN, TAGALOG, THAI, TURKISH, VIETNAMESE
from routecanary.judge.refusals.cjk import CHINESE, JAPANESE, KOREAN
from routecanary.judge.refusals.germanic import DUTCH, ENGLISH, GERMAN
from routecanary.judge.refusals.lexicon import Lexicon
from routecanary.judge.refusals.romance import FRENCH, ITALIAN, PORTUGUESE, SPANISH
from routecanary.judge.refusals.slavic import POLISH, RUSSIAN, UKRAINIAN

LEXICONS: Final[tuple[Lexicon, ...]] = (
    ENGLISH,
    GERMAN,
    DUTCH,
    PORTUGUESE,
    SPANISH,
    FRENCH,
    ITALIAN,
    POLISH,
    RUSSIAN,
    UKRAINIAN,
    TURKISH,
    VIETNAMESE,
    INDONESIAN,
    TAGALOG,
    THAI,
    HINDI,
    ARABIC,
    JAPANESE,
    KOREAN,
    CHINESE,
)
