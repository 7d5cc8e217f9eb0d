"""What is one host of the lab: a route, its manners, and what is planned to go wrong with it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind

ParameterValue = float | str | tuple[str, ...]
"""A number, a word, or a list of words: all that a fault can be given."""


class Expectation(StrEnum):
    """What a canary should make of a planted fault."""

    SUSPENDED = "suspended"
    NOT_SUSPENDED = "not_suspended"
    EITHER = "either"  # a fault by chance: both outcomes are sound


class Account(StrEnum):
    """How the gateway stands to the key that asks."""

    OK = "ok"
    NO_CREDIT = "no_credit"  # 402, balance
    IN_FLIGHT = "in_flight"  # 402, too many paid requests at once, with Retry-After
    KEY_LIMIT = "key_limit"  # 403, the key's own cap
    RATE_LIMITED = "rate_limited"  # 429, the account's quota
    KEY_REVOKED = "key_revoked"  # 401
    BLOCKED = "blocked"  # 403, the account is suspended
    REGION = "region"  # 403, nothing is served where the caller is


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the gateway does to every request of the account, whatever the request asks for."""

    withheld: tuple[str, ...] = ()  # tags or slugs that the account's own settings remove
    plugins: tuple[str, ...] = ()  # that run, also where a request switches them off
    response_cache: bool = False
    ignore_full_tags: bool = True  # False: `provider.ignore` heeds slugs and display names only


NO_RULES: Final = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """When something holds, in policy time since the lab began.

    From `start` until before `end`; with `every`, only for the first `lasting` of each period of that
    length, counted from `start`.
    """

    start: timedelta = timedelta(0)
    end: timedelta | None = None  # None = for ever
    every: timedelta | None = None
    lasting: timedelta | None = None  # of each period; given if and only if `every` is

    def holds(self, elapsed: timedelta) -> bool:
        """Say whether the window is open after this much policy time."""
        if elapsed < self.start or (self.end is not None and elapsed >= self.end):
            return False
        if self.every is None or self.lasting is None:
            return True
        return (elapsed - self.start) % self.every < self.lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """One fault of one route: how often, when, and for which requests."""

    fault: str
    probability: float = 1.0  # that an answer within the window is struck
    window: Window = Window()
    locales: frozenset[Locale] = frozenset()  # empty = all
    probes: frozenset[ProbeKind] = frozenset()  # empty = wherever the fault itself strikes
    only_cold: bool = False  # only where the route has not seen how the prompt begins
    seed: int | None = None  # of this fault's own draws; None = the lab's
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    expect: Expectation | None = None  # None = nobody checks


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedListingFault:
    """One change of a route's place in the listing, and when."""

    fault: str
    window: Window = Window()
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    expect: Expectation | None = None  # None = nobody checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What goes wrong with healthy routes now and then, each answer by itself."""

    natural_failure: float = 0.01  # probability that a contract that applies fails by chance
    transport_errors: float = 0.02  # probability that the answer does not come whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a route answers; the first text comes log-normally around its median."""

    first_text_seconds: float = 0.4  # median, s
    first_text_spread: float = 0.25  # sigma of the logarithm
    tokens_per_second: float = 90.0
    answer_seconds: float | None = None  # exact time to the last byte, s; None = by tokens_per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRoute:
    """One endpoint of a lab model, as the listing shows it and as it behaves."""

    tag: RouteId
    provider: str  # display name, as listings and answers show it
    slug: str  # base slug of the provider
    parameters: tuple[str, ...]  # supported_parameters
    rows: int = 1  # listing rows that share the tag
    quantization: str | None = None
    price_prompt: Decimal = Decimal("0.0000002")  # USD per token
    price_completion: Decimal = Decimal("0.0000008")  # USD per token
    context_length: int = 131_072  # tokens
    max_completion_tokens: int | None = None  # tokens; None = no cap stated
    status: int = 0
    service_tier: str | None = None
    official: bool = False  # the model's own vendor
    trains_on_data: bool = False  # left out under data_collection = "deny"
    keeps_data: bool = False  # left out under zdr = true
    pace: Pace = Pace()
    noise: Noise = Noise()
    listed: Window = Window()
    faults: tuple[PlantedFault, ...] = ()
    listing_faults: tuple[PlantedListingFault, ...] = ()

    @property
    def healthy(self) -> bool:
        """Say whether nothing is planted here."""
        return not self.faults and not self.listing_faults

    @property
    def expectation(self) -> Expectation:
        """Fold what is expected of the planted faults: `suspended` if any of them should lead there."""
        expected = {fault.expect for fault in self.faults} | {fault.expect for fault in self.listing_faults}
        for strongest in (Expectation.SUSPENDED, Expectation.EITHER):
            if strongest in expected:
                return strongest
        return Expectation.EITHER if None in expected else Expectation.NOT_SUSPENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class LabModel:
    """One model and the routes that serve it, in listing order."""

    id: ModelId
    dated: str  # the dated slug that answers carry
    name: str
    routes: tuple[LabRoute, ...]

    @property
    def slugs(self) -> tuple[str, ...]:
        """List the base slugs that serve the model, sorted."""
        return tuple(sorted({route.slug for route in self.routes}))
