"""The languages that share a script with others; those that are told by their script need no table."""

from __future__ import annotations

from typing import Final

from routecanary.judge.languages.germanic import DANISH, DUTCH, ENGLISH, GERMAN, SWEDISH
from routecanary.judge.languages.others import (
    FINNISH,
    HUNGARIAN,
    INDONESIAN,
    TAGALOG,
    TURKISH,
    VIETNAMESE,
)
from routecanary.judge.languages.romance import FRENCH, ITALIAN, PORTUGUESE, ROMANIAN, SPANISH
from routecanary.judge.languages.slavic import BULGARIAN, CZECH, POLISH, RUSSIAN, UKRAINIAN
from routecanary.judge.languages.table import Language

LATIN: Final[tuple[Language, ...]] = (
    ENGLISH,
    SPANISH,
    PORTUGUESE,
    FRENCH,
    GERMAN,
    ITALIAN,
    DUTCH,
    POLISH,
    TURKISH,
    VIETNAMESE,
    INDONESIAN,
    TAGALOG,
    ROMANIAN,
    SWEDISH,
    DANISH,
    CZECH,
    FINNISH,
    HUNGARIAN,
)
CYRILLIC: Final[tuple[Language, ...]] = (RUSSIAN, UKRAINIAN, BULGARIAN)
