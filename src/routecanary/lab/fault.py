"""What is a fault of the lab, and what does it take?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from routecanary.domain.names import ContractName
from routecanary.domain.probe import Json, ProbeKind
from routecanary.errors import InputError
from routecanary.lab.host import LabRoute, ParameterValue
from routecanary.lab.phrases import books
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.request import ChatRequest
from routecanary.lab.stream import Stream
from routecanary.lab.wire import Wire

TRIAGE: Final = "triage"
"""Who sees a fault that says nothing of quality: the pin, the transport, the account."""

DISCOVERY: Final = "discovery"
"""Who sees what changes in the listing."""

UNSEEN: Final = "unseen"
"""Nobody sees it, and nobody should: it is odd on the wire and harms no reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number that a fault takes."""

    default: float
    low: float
    high: float

    def read(self, value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
        ):
            raise InputError("not usable", value=value, allowed=f"{self.low:g} to {self.high:g}")
        return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few words."""

    default: str
    options: tuple[str, ...]

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise InputError("not usable", value=value, allowed=", ".join(self.options))
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """Any short text; empty = the fault chooses."""

    default: str = ""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 200:
            raise InputError("not usable", value=value, allowed="a text of at most 200 characters")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultNames:
    """A list of other faults."""

    default: tuple[str, ...]
    options: tuple[str, ...]

    def read(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or any(name not in self.options for name in value):
            raise InputError("not usable", value=value, allowed=f"a list of {', '.join(self.options)}")
        return tuple(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One of the languages that the lab speaks; empty = any that was not asked for."""

    default: str = ""

    def read(self, value: object) -> str:
        if value not in ("", *books()):
            raise InputError("not usable", value=value, allowed=", ".join(sorted(books())))
        return str(value)


Parameter = Amount | Choice | Name | FaultNames | Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """What a fault has in hand when it strikes."""

    rng: Random
    parameters: Mapping[str, Json]
    request: ChatRequest
    others: tuple[str, ...]  # display names of the model's other providers

    def amount(self, key: str) -> float:
        return float(self.parameters[key])

    def word(self, key: str) -> str:
        return str(self.parameters[key])

    def way(self, *ways: str) -> str:
        """Take the way that the parameter `with` names; where it is empty, any of them."""
        return self.word("with") or self.rng.choice(ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to misbehave: one of the three changes, or the parameter that lists faults to choose from."""

    name: str
    version: int
    seen_by: tuple[ContractName | str, ...]  # contracts, TRIAGE, or UNSEEN
    gives: tuple[str, ...]  # verdicts that show it, such as "fail:refusal", of whoever sees it
    does: str  # one sentence
    on_answer: Callable[[PlannedAnswer, Blow], PlannedAnswer] | None = None
    on_stream: Callable[[Stream, Blow], Stream] | None = None
    on_wire: Callable[[Wire, Blow], Wire] | None = None
    stands_for: str | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    probes: frozenset[ProbeKind] = frozenset()  # where it strikes unless told otherwise; empty = everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFault:
    """One way in which a route's place in the listing changes, for as long as its window is open.

    It strikes no answer: it has no probability and no filters, and nothing of it is entered in the ledger.
    """

    name: str
    version: int
    gives: tuple[str, ...]  # what discovery makes of it, as `discover/changes.py` says it
    does: str  # one sentence
    on_route: Callable[[LabRoute, Mapping[str, Json]], tuple[LabRoute, ...]]  # what stands in its place
    listed_only: bool = False  # requests still find the route as it was
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    seen_by: tuple[str, ...] = (DISCOVERY,)


def defaults(fault: Fault | ListingFault) -> dict[str, ParameterValue]:
    return {key: parameter.default for key, parameter in fault.parameters.items()}
