"""What do the rounds of a route add up to?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from routecanary.domain.names import LANGUAGE, ContractName, Locale
from routecanary.domain.policy import Policy
from routecanary.domain.round import RoundClass
from routecanary.domain.state import Streak
from routecanary.domain.verdict import VerdictKind


class Advanced(NamedTuple):
    """A streak after a round, and whether that round counted for it."""

    streak: Streak
    counted: bool


def aged(streak: Streak, at: datetime, policy: Policy) -> Streak:
    """Forget a fail streak whose last counted failed round is older than `streak_ttl`."""
    if streak.failed and streak.last_at is not None and at - streak.last_at > policy.streak_ttl:
        return replace(streak, failed=0, suspicion=frozenset(), retry_locale=None, locales=frozenset())
    return streak


def cleared(streak: Streak, contracts: frozenset[ContractName]) -> Streak:
    """Take contracts out of the suspicion; a fail streak that no other contract supports ends.

    Example: two failed rounds, both of `language`: without it no streak is left. Had `structured` failed in
        one of them, the streak would stay at two, under suspicion of `structured` alone.
    Source: docs/policy.md, Per contract.
    """
    suspicion = streak.suspicion - contracts
    if suspicion:
        if LANGUAGE in contracts:
            return replace(streak, suspicion=suspicion, retry_locale=None, locales=frozenset())
        return replace(streak, suspicion=suspicion)
    return replace(streak, failed=0, suspicion=suspicion, retry_locale=None, locales=frozenset())


def advance(
    streak: Streak,
    round_class: RoundClass,
    verdicts: Mapping[ContractName, VerdictKind],
    *,
    at: datetime,
    locale: Locale | None,
    policy: Policy,
) -> Advanced:
    """Add one classified round to an aged streak.

    Args:
        verdicts: Those that were classified.
        locale: In which the route was asked.
    Returns:
        The same streak for a frozen round and for one too soon after the last that counted, save that a
        failed one ends a clean streak even then.
    Source: docs/policy.md, Streaks and Locale rotation.
    """
    if round_class is RoundClass.FROZEN:
        return Advanced(streak, counted=False)
    if streak.last_at is not None and at - streak.last_at < policy.min_round_gap:
        too_soon = replace(streak, clean=0) if round_class is RoundClass.FAILED else streak
        return Advanced(too_soon, counted=False)
    if round_class is RoundClass.CLEAN:
        return Advanced(
            Streak(clean=streak.clean + 1, last_at=at, last_class=round_class, was_clean=True), counted=True
        )
    failing = {contract for contract, kind in verdicts.items() if kind is VerdictKind.FAIL}
    failed = replace(
        streak,
        failed=streak.failed + 1,
        clean=0,
        suspicion=streak.suspicion | failing,
        last_at=at,
        last_class=round_class,
        retry_locale=_retry_locale(streak, verdicts.get(LANGUAGE), locale),
        locales=streak.locales | _failing_locale(verdicts, locale),
    )
    return Advanced(failed, counted=True)


def _failing_locale(verdicts: Mapping[ContractName, VerdictKind], locale: Locale | None) -> frozenset[Locale]:
    if locale is None or verdicts.get(LANGUAGE) is not VerdictKind.FAIL:
        return frozenset()
    return frozenset({locale})


def _retry_locale(streak: Streak, language: VerdictKind | None, locale: Locale | None) -> Locale | None:
    """Hold on to a locale that failed until that locale passes."""
    if language is VerdictKind.FAIL:
        return locale
    if language is VerdictKind.PASS and locale == streak.retry_locale:
        return None
    return streak.retry_locale
