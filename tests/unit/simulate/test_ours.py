"""Do policies of ours play by the real decision, and would a breach be seen?"""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from fractions import Fraction
from random import Random

import pytest

from routecanary.decide.step import Decision, decided
from routecanary.domain.event import Event
from routecanary.domain.names import FILTERING, STRUCTURED, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import Line
from routecanary.domain.state import ModelState
from routecanary.replay.printed import printed
from routecanary.replay.run import Accepted, replay_lines
from routecanary.simulate import ours
from routecanary.simulate.lines import line_of
from routecanary.simulate.ours import FLOOR_BREACHED, SHARE_BREACHED, PolicyPlayer
from routecanary.simulate.player import Begun
from routecanary.simulate.rounds import MODEL, rounds_of
from routecanary.simulate.shipped import shipped_names, shipped_scenario
from tests.unit.simulate.worlds import HOSTS, a_round, failing

BROKEN = failing(STRUCTURED, 2)


def test_two_failed_rounds_keep_a_host_away() -> None:
    """As docs/policy.md has it, and until it recovers."""
    player = PolicyPlayer(Policy())
    played = [player.play(a_round(number, {"h0": BROKEN} if number < 4 else {})) for number in range(1, 6)]
    assert [dict(each.away) for each in played] == [{}, {"h0": 1.0}, {"h0": 1.0}, {"h0": 1.0}, {}]
    assert played[1].begun == (Begun(RouteId("h0"), frozenset({STRUCTURED})),)
    assert played[4].noted == ("reinstated",)


def test_brakes_are_noted() -> None:
    """What was blocked, and why; a common cause; a model that refuses."""
    player = PolicyPlayer(Policy(max_suspended_share=Fraction(1, 10)))
    noted = [player.play(a_round(number, {"h0": BROKEN, "h1": BROKEN})).noted for number in (1, 2, 3)]
    assert noted == [(), ("blocked: share",), ("blocked: share",)]
    everybody = dict.fromkeys(HOSTS, BROKEN)
    assert PolicyPlayer(Policy()).play(a_round(1, everybody)).noted == ("common cause",)
    refusing = dict.fromkeys(HOSTS, failing(FILTERING, 1))
    assert PolicyPlayer(Policy()).play(a_round(1, refusing)).noted == ("host or weights",)


@pytest.mark.parametrize(
    ("loose", "strict", "breach"),
    [
        (
            Policy(floor=1, max_suspended_share=Fraction(1)),
            Policy(floor=10, max_suspended_share=Fraction(1)),
            FLOOR_BREACHED,
        ),
        (
            Policy(max_suspended_share=Fraction(1)),
            Policy(max_suspended_share=Fraction(1, 20)),
            SHARE_BREACHED,
        ),
    ],
    ids=["floor", "share"],
)
def test_a_breach_would_be_seen(
    monkeypatch: pytest.MonkeyPatch, loose: Policy, strict: Policy, breach: str
) -> None:
    """A decision that forgot the bound is found out by the check."""

    def forgetful(state: ModelState, line: Line, policy: Policy) -> Decision:
        return decided(state, line, loose)

    monkeypatch.setattr(ours, "decided", forgetful)
    player = PolicyPlayer(strict)
    noted = [player.play(a_round(number, {"h0": BROKEN})).noted for number in (1, 2)]
    assert noted == [(), (breach,)]


def replayed(lines: list[str], policy: Policy) -> list[object]:
    accepted = list(replay_lines(lines, policy))
    assert all(isinstance(each, Accepted) for each in accepted)
    return shown([event for each in accepted for event in each.events])  # type: ignore[union-attr]


def shown(events: list[Event]) -> list[object]:
    return [each for event in events if (each := printed(event)) is not None]


@pytest.mark.parametrize("name", shipped_names())
def test_simulated_events_are_those_of_a_replay(name: str) -> None:
    """The rounds, written as a trace and replayed, give the same events."""
    scenario = dataclasses.replace(shipped_scenario(name), life=timedelta(days=4))
    policy = Policy(trigger=Trigger.BOTH)
    state, events, lines = ModelState.empty(MODEL), [], []
    for told in rounds_of(scenario, Random(5)):
        lines.append(line_of(told.line))
        decision = decided(state, told.line, policy)
        events += decision.events
        state = decision.state
    assert replayed(lines, policy) == shown(events)
    assert len(lines) == 192
