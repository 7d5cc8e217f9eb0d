"""How long does the evidence trigger take, exactly? The chain that M follows, round by round.

A state is the logarithm of M on a grid, how many rounds with a fail it rests on (0, 1, 2 or more), and
whether the round at hand is counted among them. The distribution over the states is moved on attempt by
attempt, with the confirmations that each failed first attempt brings along.

Source: docs/policy.md, Evidence trigger; docs/simulation.md, The exact curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from routecanary.decide.evidence import MIN_ROUNDS, Scale
from routecanary.simulate.asking import CONFIRMATIONS

STEPS_OF_A_PASS: Final = 8  # grid steps that one pass takes M down

_State = tuple[int, bool]
_Chances = dict[_State, list[float]]
"""Rounds with a fail, whether this round is one of them → the chance of each grid step."""


def chances_to_fire(
    rate: float, firsts: int, scale: Scale, *, steps_of_a_pass: int = STEPS_OF_A_PASS
) -> Iterator[float]:
    """Yield the chance that evidence first asks for a suspension in round 1, 2, 3, …, from M = 1 on.

    Args:
        rate: Of all attempts, first ones and confirmations, that fail.
        firsts: First attempts of the contract in a round.
        scale: What a fail and a pass weigh, and the threshold.
        steps_of_a_pass: Of the grid; a fail is rounded to it.
    """
    step = scale.loss / steps_of_a_pass
    walk = _Walk(
        rate, round(scale.gain / step), steps_of_a_pass, alarm=max(1, round(scale.limit.log_m / step)),
        highest=firsts * (1 + CONFIRMATIONS),
    )  # fmt: skip
    chances: _Chances = {(0, False): walk.at_rest()}
    while True:
        fired = 0.0
        for _ in range(firsts):
            failed, gone = walk.fail(chances)
            chances = walk.passed(chances)
            fired += gone
            for _ in range(CONFIRMATIONS):
                again, gone = walk.fail(failed)
                failed = walk.together(walk.passed(failed), again)
                fired += gone
            chances = walk.together(chances, failed)
        chances = walk.next_round(chances)
        yield fired


def delay(rate: float, firsts: int, scale: Scale, share: float, *, most: int = 20_000) -> int | None:
    """Say in how many rounds such a share of equal faults is found; None: not in `most` rounds.

    Example: 0.5 gives the median.
    """
    found = 0.0
    for number, chance in enumerate(chances_to_fire(rate, firsts, scale), start=1):
        found += chance
        if found >= share:
            return number
        if number >= most:
            break
    return None


def hazard(rate: float, firsts: int, scale: Scale, *, steps_of_a_pass: int, rounds: int = 400) -> float:
    """Say how often a route that goes on and on fires, per round, once its beginning is forgotten."""
    left = 1.0
    last = 0.0
    for number, chance in enumerate(
        chances_to_fire(rate, firsts, scale, steps_of_a_pass=steps_of_a_pass), start=1
    ):
        last = chance / left
        left -= chance
        if number >= rounds:
            break
    return last


class _Walk:
    """One attempt, for all states at once."""

    def __init__(self, rate: float, up: int, down: int, *, alarm: int, highest: int) -> None:
        self._rate, self._up, self._down, self._alarm = rate, up, down, alarm
        self._size = (
            alarm + highest * up + 1
        )  # a ratio may stand above the alarm and wait for its second round

    def at_rest(self) -> list[float]:
        return [1.0] + [0.0] * (self._size - 1)

    def fail(self, chances: _Chances) -> tuple[_Chances, float]:
        """Move on by a fail; returns what goes on, and the chance that fires by it."""
        moved: _Chances = {}
        fired = 0.0
        for (rounds, counted), row in chances.items():
            now = min(MIN_ROUNDS, rounds + (not counted))
            gone = [0.0] * self._up + [self._rate * chance for chance in row[: -self._up]]
            if now >= MIN_ROUNDS:
                fired += sum(gone[self._alarm :])
                gone[self._alarm :] = [0.0] * (self._size - self._alarm)
            self._add(moved, (now, True), gone)
        return moved, fired

    def passed(self, chances: _Chances) -> _Chances:
        """Move on by a pass; at M = 1 all that was counted is forgotten."""
        moved: _Chances = {}
        well = 1.0 - self._rate
        for state, row in chances.items():
            down = self._down
            gone = [well * chance for chance in row[down:]] + [0.0] * down
            at_one = well * sum(row[: down + 1])
            gone[0] = 0.0
            self._add(moved, state, gone)
            self._add(moved, (0, False), [at_one] + [0.0] * (self._size - 1))
        return moved

    def next_round(self, chances: _Chances) -> _Chances:
        """Begin a round: it is not counted yet."""
        moved: _Chances = {}
        for (rounds, _), row in chances.items():
            self._add(moved, (rounds, False), row)
        return moved

    def together(self, one: _Chances, other: _Chances) -> _Chances:
        """Add up two distributions."""
        moved = dict(one)
        for state, row in other.items():
            self._add(moved, state, row)
        return moved

    @staticmethod
    def _add(chances: _Chances, state: _State, row: list[float]) -> None:
        known = chances.get(state)
        chances[state] = row if known is None else [a + b for a, b in zip(known, row, strict=True)]
