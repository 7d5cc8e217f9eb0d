"""What keeps traffic away from a route, and who says so?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from routecanary.domain.names import ContractName, ModelId


class Layer(StrEnum):
    BUILTIN = "built-in"
    RUNTIME = "runtime"
    CANARY = "canary"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinEntry:
    """A shipped or administrator-maintained exclusion, with the evidence that it rests on."""

    target: str  # a route's tag or a provider's slug
    models: frozenset[ModelId] | None  # None = all
    reason: str
    evidence: str
    reviewer: str
    date: str  # ISO date of the review
    control_for: frozenset[ContractName] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeEntry:
    """An exclusion that a person made, kept in the store."""

    target: str
    models: frozenset[ModelId] | None
    reason: str
    actor: str
    created: datetime
    expires: datetime | None = None

    def in_force(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires
