"""What is known at the end of a check?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from routecanary.cli.check_guardrail import GuardrailLook
from routecanary.cli.check_policy import PolicyChange
from routecanary.domain.account import KeyInfo
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.money import NOTHING
from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.rounds.estimate import Estimate
from routecanary.rounds.preflight import Preflight
from routecanary.rounds.trial import Trial

_DAY: Final = timedelta(days=1)

WAYS: Final = {
    "always": "whatever a request asks for",
    "deny": 'under data_collection = "deny"',
    "zdr": "under zdr = true",
}
"""In which way a refusal was provoked → how that is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What a look at one model showed."""

    model: ModelSettings
    named: Listing  # as the gateway names the routes
    listing: Listing  # as rounds take them
    preflights: Mapping[str, Preflight]  # by the words of `WAYS`
    admitted: frozenset[RouteId]
    estimate: Estimate
    known_through: GatewayKind | None = None  # whose routes the store knows; None = of none yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlisted:
    """A model whose routes the gateway does not tell."""

    model: ModelSettings
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the gateway showed."""

    key: KeyInfo
    models: tuple[ModelCheck | Unlisted, ...]  # in the order of the file
    trials: tuple[Trial, ...] | None  # None: nobody was asked
    guardrail: GuardrailLook = None

    @property
    def listed(self) -> tuple[ModelCheck, ...]:
        return tuple(one for one in self.models if isinstance(one, ModelCheck))

    def plugins(self) -> tuple[str, ...]:
        """List what the gateway does to requests that switch it off, by every answer that told."""
        told = [one.routing for each in self.listed for one in each.preflights.values()]
        told += [trial.routing for trial in self.trials or ()]
        return tuple(dict.fromkeys(name for routing in told if routing for name in routing.pipeline))

    def cached(self) -> bool | None:
        """Say whether a response cache is on; None where no answer told."""
        told = [trial.cached for trial in self.trials or () if trial.cached is not None]
        return any(told) if told else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Everything that is known at the end of a check."""

    settings: Settings
    now: datetime
    committed: Decimal  # USD of today's budget
    undivided: frozenset[str]  # providers that can only be ignored as a whole
    looked: Looked | None  # None: the gateway was left alone
    policy: PolicyChange | None = None  # None: the one that decided last, if any did

    @property
    def rounds_a_day(self) -> Decimal:
        return Decimal(_DAY / self.settings.schedule.period)

    def a_day(self, costs: Sequence[Decimal]) -> Decimal:
        """Work out what rounds of these costs come to in a day, in USD."""
        return sum(costs, NOTHING) * self.rounds_a_day


def usd(amount: Decimal) -> str:
    """Write an amount for people: cents, or four digits where it is less than one."""
    return f"{amount:.2f}" if amount >= 1 or not amount else f"{amount:.4f}"
