"""A scenario, life after life, and every player on the same rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from random import Random
from typing import Final

from routecanary.domain.names import RouteId
from routecanary.simulate.measures import Measures, Measuring
from routecanary.simulate.player import Player
from routecanary.simulate.rounds import Told, dollars_of, rounds_of
from routecanary.simulate.scenario import Scenario

YEAR: Final = timedelta(days=365)


@dataclass(slots=True)
class Simulated:
    """What came of a scenario; what does not depend on who plays is counted once."""

    scenario: Scenario
    seed: int
    lives: int
    rounds: int = 0
    route_rounds: int = 0  # hosts that were asked, over all rounds
    probes: int = 0  # first askings and confirmations
    dollars: float = 0.0
    confirmed: int = 0  # confirmations of chance failures
    repeated: int = 0  # of them, those that failed again
    measures: dict[str, Measures] = field(default_factory=dict)  # by player

    @property
    def model_years(self) -> float:
        """Say how much time was simulated, of one model."""
        return self.rounds * self.scenario.period / YEAR


def simulate(
    scenario: Scenario,
    players: Mapping[str, Callable[[], Player]],
    *,
    years: float,
    seed: int,
    listen: Callable[[str, Told], None] | None = None,
) -> Simulated:
    """Tell so many lives that they are at least `years`, and let every player decide on the same rounds.

    Args:
        players: Name → makes the player of one life.
        seed: Of every draw. A life's chance depends on it and on the life's number alone: more years begin
            with the same lives, and who plays changes nothing.
        listen: Is told each life's name and each round.
    """
    lives = max(1, ceil(years * YEAR / scenario.life))
    result = Simulated(scenario=scenario, seed=seed, lives=lives)
    result.measures = {name: Measures() for name in players}
    dollars = {host.route: dollars_of(host, scenario) for host in scenario.hosts}
    for life in range(lives):
        playing = [
            (make(), Measuring(scenario, result.measures[name])) for name, make in sorted(players.items())
        ]
        for told in rounds_of(scenario, Random(f"{seed}/{life}")):  # noqa: S311 - chance to be repeated
            _count(result, told, dollars)
            for player, measuring in playing:
                measuring.take(told, player.play(told))
            if listen is not None:
                listen(f"life-{life}", told)
        for _, measuring in playing:
            measuring.end()
    return result


def _count(result: Simulated, told: Told, dollars: Mapping[RouteId, float]) -> None:
    result.rounds += 1
    result.route_rounds += len(told.requests)
    result.confirmed += told.confirmed
    result.repeated += told.repeated
    for route, requests in told.requests.items():
        result.probes += len(requests)
        result.dollars += dollars[route] * len(requests)
