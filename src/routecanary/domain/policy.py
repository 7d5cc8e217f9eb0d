"""Which numbers does the decision use?

Every number of docs/policy.md, with its default and unit, and the reading and writing of a `[policy]` table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from routecanary.domain.times import DURATION_FORM, format_duration, parse_duration
from routecanary.errors import InputError, PolicyError


class Trigger(StrEnum):
    """What asks for a suspension."""

    STREAK = "streak"  # failed rounds in a row
    EVIDENCE = "evidence"  # all attempts, weighed
    BOTH = "both"  # either


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Every number of the decision core.

    Shares are exact fractions: at a limit of 0.29, 29 routes of 100 are at it and not beyond it.
    """

    rounds_to_suspend: int = 2  # counted failed rounds in a row
    rounds_to_recover: tuple[int, ...] = (2,)  # counted clean rounds, by offence; the last for later ones
    streak_ttl: timedelta = timedelta(hours=6)  # an older fail streak is forgotten
    min_round_gap: timedelta = timedelta(minutes=20)  # between two rounds that count for a route
    ladder: tuple[timedelta, ...] = (timedelta(days=1), timedelta(days=3), timedelta(days=7))  # by offence
    forget_after: timedelta = timedelta(days=14)  # since the end of the last suspension
    floor: int = 2  # proven production routes of a model that must stay
    max_suspended_share: Fraction = Fraction(1, 2)  # of the routes that could be suspended
    stale_after: timedelta = timedelta(hours=6)  # since the last counted round of a proven route
    common_cause_min_routes: int = 4  # routes with a conclusive verdict
    common_cause_share: Fraction = Fraction(1, 2)  # of those routes; more than this must fail
    release_when_empty: bool = True  # leave the canary layer out when no production route is left
    trigger: Trigger = Trigger.STREAK
    # Of the evidence trigger:
    false_suspensions_per_year: float = 1.0  # declared budget, of one model
    round_period: timedelta = timedelta(minutes=30)  # of the schedule: how many attempts a year makes
    attempts_per_round: int = 7  # first attempts of all contracts, for one route
    p0_min: float = 0.005  # failure rate of a sound route, at least
    p0_window: timedelta = timedelta(days=7)  # of the peers' attempts that p0 is estimated from
    p0_prior: tuple[float, float] = (1.0, 99.0)  # fails and passes assumed before any attempt
    p1_min: float = 0.2  # failure rate worth finding, at least
    p1_ratio: float = 4.0  # or so many times p0
    evidence_to_recover: float = 20.0  # reverse likelihood ratio


def policy_from_mapping(table: Mapping[str, object], place: str) -> Policy:
    """Read a `[policy]` table; a name that is left out keeps its default.

    Args:
        table: As decoded from TOML: durations are strings, lists are lists.
        place: What to name in an error, e.g. the file and its table.
    Raises:
        PolicyError: A name is unknown, or a value has the wrong type or lies out of its range.
    """
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise PolicyError("unknown key", place=place, key=key, allowed=", ".join(sorted(_READERS)))
        try:
            values[key] = reader(value)
        except InputError as problem:
            raise PolicyError(
                problem.problem, place=place, key=key, value=problem.value, allowed=problem.allowed
            ) from problem
    return Policy(**values)


def policy_to_mapping(policy: Policy) -> dict[str, Any]:
    """Write a policy as the table that `policy_from_mapping` reads back: plain JSON values, every name.

    A policy that no table could state, with fractions of a second or a share without decimals, is rounded.
    """
    return {field.name: _written(getattr(policy, field.name)) for field in fields(policy)}


def changed_numbers(before: Mapping[str, Any], after: Policy) -> dict[str, tuple[Any, Any]]:
    """Find the names that another policy set otherwise, sorted: what they were, None where unknown, and are.

    Args:
        before: As `policy_to_mapping` wrote it, perhaps by an older version.
    """
    now = policy_to_mapping(after)
    return {name: (before.get(name), now[name]) for name in sorted(now) if before.get(name) != now[name]}


def _written(value: object) -> object:
    match value:
        case timedelta():
            return format_duration(value)
        case Fraction():
            return float(value)
        case tuple():
            return [_written(one) for one in value]
        case Trigger():
            return value.value
        case _:
            return value


def _whole(low: int, high: int = 10_000) -> Callable[[object], int]:
    def read(value: object) -> int:
        allowed = f"a whole number from {low} to {high}"
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError("not a whole number", value=_shown(value), allowed=allowed)
        if not low <= value <= high:
            raise InputError("out of range", value=_shown(value), allowed=allowed)
        return value

    return read


def _share(value: object) -> Fraction:
    allowed = "a number from 0 to 1"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError("not a number", value=_shown(value), allowed=allowed)
    if not 0 <= value <= 1:  # also refuses nan
        raise InputError("out of range", value=_shown(value), allowed=allowed)
    return Fraction(repr(value))  # what was written, not its nearest binary fraction


def _duration(shortest: timedelta) -> Callable[[object], timedelta]:
    def read(value: object) -> timedelta:
        if not isinstance(value, str):
            raise InputError("not a duration", value=_shown(value), allowed=DURATION_FORM)
        span = parse_duration(value)
        if span < shortest:
            raise InputError("too short", value=value, allowed=f"at least {format_duration(shortest)}")
        return span

    return read


def _span(shortest: timedelta, longest: timedelta) -> Callable[[object], timedelta]:
    least = _duration(shortest)

    def read(value: object) -> timedelta:
        span = least(value)
        if span > longest:
            raise InputError("too long", value=_shown(value), allowed=f"at most {format_duration(longest)}")
        return span

    return read


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError("not a switch", value=_shown(value), allowed="true or false")
    return value


def _steps(read_one: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise InputError(
                "not a list", value=_shown(value), allowed="a list with a value for each offence"
            )
        if not 1 <= len(value) <= _MOST_STEPS:
            raise InputError("wrong length", value=len(value), allowed=f"1 to {_MOST_STEPS} values")
        return tuple(read_one(one) for one in value)

    return read


def _shown(value: object) -> object:
    """Keep scalars for the message; of a nested value only its kind."""
    return value if isinstance(value, str | int | float) else type(value).__name__


def _number(low: float, high: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        allowed = f"a number from {low:g} to {high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError("not a number", value=_shown(value), allowed=allowed)
        if not low <= value <= high:  # also refuses nan
            raise InputError("out of range", value=_shown(value), allowed=allowed)
        return float(value)

    return read


def _prior(value: object) -> tuple[float, float]:
    allowed = "a list of two numbers, fails and passes, each from 0.001 to 1000000000"
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("not two numbers", value=_shown(value), allowed=allowed)
    read = _number(0.001, 1e9)
    return read(value[0]), read(value[1])


def _trigger(value: object) -> Trigger:
    allowed = ", ".join(Trigger)
    if not isinstance(value, str) or value not in tuple(Trigger):
        raise InputError("unknown word", value=_shown(value), allowed=allowed)
    return Trigger(value)


_MOST_STEPS = 100
_SECOND = timedelta(seconds=1)

_READERS: Final[Mapping[str, Callable[[object], Any]]] = {
    "rounds_to_suspend": _whole(1),
    "rounds_to_recover": _steps(_whole(1)),
    "streak_ttl": _duration(_SECOND),
    "min_round_gap": _duration(timedelta()),
    "ladder": _steps(_duration(_SECOND)),
    "forget_after": _duration(_SECOND),
    "floor": _whole(1),
    "max_suspended_share": _share,
    "stale_after": _duration(_SECOND),
    "common_cause_min_routes": _whole(1),
    "common_cause_share": _share,
    "release_when_empty": _switch,
    "trigger": _trigger,
    "false_suspensions_per_year": _number(0.001, 1_000),
    "round_period": _duration(_SECOND),
    "attempts_per_round": _whole(1),
    "p0_min": _number(0.0005, 0.5),
    "p0_window": _span(_SECOND, timedelta(days=30)),
    "p0_prior": _prior,
    "p1_min": _number(0.001, 0.99),
    "p1_ratio": _number(1.1, 1_000),
    "evidence_to_recover": _number(1, 1e9),
}
