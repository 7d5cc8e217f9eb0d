"""What is a simulated world? Hosts, what is wrong with them and when, and what chance adds.

All times are spans since the beginning of a *life*, the stretch that is simulated anew, from an empty state,
again and again. Which host falls ill may be drawn in each life.

Source: docs/simulation.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from routecanary.domain.names import (
    CONTRACT_NAMES,
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    RouteId,
)

PROBES: Final[tuple[tuple[ContractName, ...], ...]] = (
    (LATENCY, LANGUAGE, INTEGRITY),  # chat
    (FILTERING, INTEGRITY),  # filter
    (STRUCTURED, INTEGRITY),  # structured
)
"""The contracts that judge each probe of a round: seven first attempts, three of them of `integrity`."""

NATURAL: Final = 0.01  # of the attempts on a healthy host fail all the same


class Traffic(StrEnum):
    """How users are spread over the hosts that are left."""

    PRICE = "price"  # by the inverse square of the price, as the gateway does
    EQUAL = "equal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One route of the simulated model."""

    route: RouteId
    price_prompt: float  # USD per million tokens
    price_completion: float  # likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with some hosts, and when.

    The rate is the share of attempts of the named contracts that fail for it. It may change in a straight
    line until the end (`drift_to`) or go between nothing and itself once a day (`peak`).
    """

    contracts: frozenset[ContractName]
    rate: float
    hosts: tuple[RouteId, ...] = ()  # empty: drawn anew in each life
    drawn: int = 0  # how many are drawn
    start: timedelta = timedelta()
    end: timedelta | None = None  # None: to the end of the life
    drift_to: float | None = None
    peak: timedelta | None = None  # time of day; None: the same all day
    faulty_for: timedelta | None = None  # mean of exponential spells; None: without a break
    healthy_for: timedelta | None = None  # between them
    together: bool = False  # one set of spells for all of its hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A judge of ours that goes wrong: a share of all answers fails its contract, on every host."""

    contract: ContractName
    rate: float
    start: timedelta
    lasting: timedelta
    together: bool = False  # the same question trips it on every host, or on none


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """Transport: what keeps an answer from coming whole, and says nothing of a host's quality."""

    transport: float = 0.0  # share of askings
    outage_every: timedelta | None = None  # of the gateway, mean; None: never
    outage_lasting: timedelta = timedelta(hours=1)  # mean
    host_outage_every: timedelta | None = None  # of each host by itself
    host_outage_lasting: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """Discovery: each host is listed and absent in turn, for exponential times."""

    listed_for: timedelta
    absent_for: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One simulated world."""

    name: str
    about: str
    hosts: tuple[Host, ...]
    life: timedelta
    period: timedelta = timedelta(minutes=30)  # between two rounds
    natural: Mapping[ContractName, float] = field(
        default_factory=lambda: dict.fromkeys(CONTRACT_NAMES, NATURAL)
    )
    repeat: float = 0.0  # a confirmation of a chance failure fails at least so often
    faults: tuple[Fault, ...] = ()
    regressions: tuple[Regression, ...] = ()
    weather: Weather = Weather()
    churn: Churn | None = None
    traffic: Traffic = Traffic.PRICE
    prompt_tokens: int = 400  # of one asking
    completion_tokens: int = 300  # likewise

    @property
    def rounds(self) -> int:
        """Count the rounds of one life."""
        return self.life // self.period
