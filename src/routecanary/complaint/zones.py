"""Does a stated time fit the clocks of those who speak the language, and what else may have been meant?

A support tool writes 21:10 in its own zone, a user meant theirs: hours apart, and nobody notices. Only
languages whose speakers share a few neighbouring zones are looked at; English, Spanish and French are spoken
around the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from routecanary.domain.names import Locale


class UsualZone(NamedTuple):
    """Where most of a locale's speakers live: one zone's name, and the hours ahead of UTC of all of them."""

    name: str
    lowest: float
    highest: float


USUAL_ZONES: Final[Mapping[Locale, UsualZone]] = {
    Locale("cs"): UsualZone("Europe/Prague", 1, 2),
    Locale("da"): UsualZone("Europe/Copenhagen", 1, 2),
    Locale("de"): UsualZone("Europe/Berlin", 1, 2),
    Locale("el"): UsualZone("Europe/Athens", 2, 3),
    Locale("fi"): UsualZone("Europe/Helsinki", 2, 3),
    Locale("he"): UsualZone("Asia/Jerusalem", 2, 3),
    Locale("hi"): UsualZone("Asia/Kolkata", 5.5, 5.5),
    Locale("hu"): UsualZone("Europe/Budapest", 1, 2),
    Locale("id"): UsualZone("Asia/Jakarta", 7, 9),
    Locale("it"): UsualZone("Europe/Rome", 1, 2),
    Locale("ja"): UsualZone("Asia/Tokyo", 9, 9),
    Locale("ko"): UsualZone("Asia/Seoul", 9, 9),
    Locale("nl"): UsualZone("Europe/Amsterdam", 1, 2),
    Locale("pl"): UsualZone("Europe/Warsaw", 1, 2),
    Locale("pt-BR"): UsualZone("America/Sao_Paulo", -5, -2),
    Locale("ro"): UsualZone("Europe/Bucharest", 2, 3),
    Locale("ru"): UsualZone("Europe/Moscow", 2, 12),
    Locale("sv"): UsualZone("Europe/Stockholm", 1, 2),
    Locale("th"): UsualZone("Asia/Bangkok", 7, 7),
    Locale("tl"): UsualZone("Asia/Manila", 8, 8),
    Locale("tr"): UsualZone("Europe/Istanbul", 3, 3),
    Locale("uk"): UsualZone("Europe/Kyiv", 2, 3),
    Locale("vi"): UsualZone("Asia/Ho_Chi_Minh", 7, 7),
    Locale("zh-Hans"): UsualZone("Asia/Shanghai", 8, 8),
    Locale("zh-Hant"): UsualZone("Asia/Taipei", 8, 8),
}

NEIGHBOURING: Final = 1.5
"""Hours beyond a locale's usual zones that surprise nobody."""


def doubtful_zone(locale: Locale | None, offset_hours: float) -> UsualZone | None:
    """Return the zone that may have been meant, where the stated one is hours from the locale's usual ones.

    Example: Thai at +00:00 gives Asia/Bangkok; Thai at +08:00, or English anywhere, gives None.
    """
    usual = None if locale is None else USUAL_ZONES.get(locale)
    if usual is None or usual.lowest - NEIGHBOURING <= offset_hours <= usual.highest + NEIGHBOURING:
        return None
    return usual
