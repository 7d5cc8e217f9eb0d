"""Who decides on the rounds that are told, and what follows for the users?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from routecanary.domain.names import ContractName, RouteId
from routecanary.simulate.rounds import Told


class Begun(NamedTuple):
    """A host begins to be kept away."""

    host: RouteId
    contracts: frozenset[ContractName] | None  # for which; None: whoever decided does not know of contracts


class Played(NamedTuple):
    """What followed from one round."""

    away: Mapping[RouteId, float]  # the share of the time until the next round that a host is kept away
    begun: tuple[Begun, ...] = ()
    noted: tuple[str, ...] = ()  # brakes that held something back, and what else is counted


class Player(Protocol):
    """One who decides, from the beginning of a life on."""

    def play(self, told: Told) -> Played:
        """Take up one round; each comes after the last."""
