"""Cooldowns of the LiteLLM router.

A deployment cools down when more than half of its requests of the current minute failed, of at least five;
it is asked again after five seconds. An error counts as soon as it comes.

Source: https://docs.litellm.ai/docs/router/learn/reliability ("Cooldowns", page of 2026-11-05), with the
numbers of `litellm/constants.py`: DEFAULT_FAILURE_THRESHOLD_PERCENT 0.5,
DEFAULT_FAILURE_THRESHOLD_MINIMUM_REQUESTS 5, DEFAULT_COOLDOWN_TIME_SECONDS 5. `allowed_fails` is not set, as
by default. A 429 cools down at once; lost answers here stand for every kind of transport error, so they
count as plain errors.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from routecanary.simulate.asking import Signal
from routecanary.simulate.player import Begun, Played
from routecanary.simulate.rivals.ejections import Ejections
from routecanary.simulate.rounds import Told

MINUTE: Final = timedelta(minutes=1)
COOLDOWN: Final = timedelta(seconds=5)
MOST_FAILING: Final = 0.5  # of the requests of a minute
FEWEST_REQUESTS: Final = 5


class LiteLlm:
    """One router's cooldowns; a round's requests fall into one of its minutes."""

    def __init__(self, period: timedelta, *, minute: timedelta = MINUTE) -> None:
        """Set its pace.

        Args:
            period: Between two rounds.
            minute: How long what it calls a minute lasts; the cooldown stretches with it.
        """
        self._period = period
        self._cooldown = COOLDOWN * (minute / MINUTE)
        self._cooling = Ejections()

    def play(self, told: Told) -> Played:
        begun = []
        for host, requests in told.requests.items():
            if any(requests) and _trips(requests) and not self._cooling.holds(host, told.since):
                self._cooling.put(host, told.since + self._cooldown)
                begun.append(Begun(host, None))
        return Played(self._cooling.away(told.since, self._period), tuple(begun))


def _trips(requests: tuple[Signal, ...]) -> bool:
    errors = 0
    for number, signal in enumerate(requests, start=1):
        errors += signal is not Signal.WELL
        if signal is not Signal.WELL and number >= FEWEST_REQUESTS and errors > MOST_FAILING * number:
            return True
    return False
