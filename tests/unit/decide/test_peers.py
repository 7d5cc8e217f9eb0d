"""How often do the others fail, as each route has them beside itself?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from routecanary.decide.peers import Peers
from routecanary.domain.evidence import Day
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Round, RouteReport
from routecanary.domain.state import ModelState, RouteState, Suspension
from routecanary.domain.verdict import VerdictKind
from tests.story import MODEL, START

C = ContractName("integrity")
POLICY = Policy(p0_min=0.005, p0_prior=(1.0, 99.0))


def known(
    attempts: int, fails: int, *, days_ago: float = 1, suspended_for: ContractName | None = None
) -> RouteState:
    day = Day(start=START - timedelta(days=days_ago), attempts={C: attempts}, fails={C: fails})
    held = (
        Suspension(start=START, until=START, contracts=frozenset({suspended_for}), offence=1)
        if suspended_for
        else None
    )
    return RouteState(days=(day,), suspension=held)


def rate(
    routes: Mapping[str, RouteState],
    now: Mapping[str, Sequence[bool]] | None = None,
    *,
    policy: Policy = POLICY,
    builtin: frozenset[str] = frozenset(),
) -> float:
    """What `a` has beside itself."""
    said = {name: tuple((now or {}).get(name, (False,) * 3)) for name in routes}
    line = Round(
        at=START,
        model=MODEL,
        routes={
            RouteId(name): RouteReport(
                verdicts={C: VerdictKind.FAIL if sum(each) * 2 > len(each) else VerdictKind.PASS},
                attempts={C: each},
            )
            for name, each in said.items()
        },
    )
    state = ModelState(
        model=MODEL,
        routes={RouteId(name): route for name, route in routes.items()},
        named=frozenset(map(RouteId, routes)),
        builtin=builtin,
    )
    return Peers(state, line, policy).rate_beside(RouteId("a"), C)


def test_rate_is_that_of_the_others_with_the_prior() -> None:
    """(9 + 1) of (900 + 100); what `a` itself did is left out."""
    others = {"b": known(400, 5), "c": known(500, 4)}
    assert rate({"a": known(1_000, 800), **others}) == pytest.approx(0.01)


def test_known_offenders_are_no_peers() -> None:
    """Suspended for this contract, or built-in; one suspended for another contract is a peer."""
    bad = known(900, 900, suspended_for=C)
    assert rate({"a": known(0, 0), "b": known(900, 9), "c": bad}) == pytest.approx(0.01)
    assert rate(
        {"a": known(0, 0), "b": known(900, 9), "c": known(900, 900)}, builtin=frozenset({"c"})
    ) == pytest.approx(0.01)
    other = known(900, 9, suspended_for=ContractName("language"))
    assert rate({"a": known(0, 0), "b": other}) == pytest.approx(0.01)


def test_an_offender_s_own_attempts_are_not_taken_away_twice() -> None:
    """It is not among the others in the first place."""
    assert rate({"a": known(5_000, 5_000, suspended_for=C), "b": known(900, 9)}) == pytest.approx(0.01)


@pytest.mark.parametrize(("days_ago", "expected"), [(7, 0.1), (7.01, 0.01)])
def test_only_the_window_counts(days_ago: float, expected: float) -> None:
    """Seven days, the edge included."""
    assert rate({"a": known(0, 0), "b": known(100, 19, days_ago=days_ago)}) == pytest.approx(expected)


def test_rate_is_never_below_its_least() -> None:
    """However well the others do."""
    assert rate({"a": known(0, 0), "b": known(100_000, 0)}) == 0.005


HEALTHY = {f"b{number}": known(1_000, 10) for number in range(20)}
A_BAD_ANSWER = (True, False, False, False, False)  # one probe failed, not again; two others passed


def failing(count: int, said: Sequence[bool] = A_BAD_ANSWER) -> dict[str, Sequence[bool]]:
    return {f"b{number}": said for number in range(count)}


@pytest.mark.parametrize(("count", "news"), [(1, False), (2, False), (3, True), (8, True)])
def test_a_round_in_which_many_others_fail_says_the_rate(count: int, news: bool) -> None:
    """Of twenty with three attempts at 1 %, three failing are news; the share is that of a first attempt."""
    found = rate({"a": known(0, 0), **HEALTHY}, failing(count))
    by_round = 1 - (1 - count / 20) ** (1 / 3)
    assert found == pytest.approx(by_round if news else 0.01, rel=0.02)


def test_one_that_always_fails_is_one() -> None:
    """Nine failed attempts of one route are no sign of what the others do."""
    assert rate({"a": known(0, 0), **HEALTHY}, failing(1, (True,) * 9)) == pytest.approx(0.01, rel=0.02)


def test_what_the_route_itself_does_is_no_news() -> None:
    """Nor what known offenders do."""
    assert rate({"a": known(0, 0), **HEALTHY}, {"a": (True,) * 9}) == pytest.approx(0.01, rel=0.02)
    offenders = {
        name: replace(route, suspension=known(0, 0, suspended_for=C).suspension)
        for name, route in HEALTHY.items()
    }
    some = {**HEALTHY, **{f"b{number}": offenders[f"b{number}"] for number in range(8)}}
    assert rate({"a": known(0, 0), **some}, failing(8, (True,) * 9)) == pytest.approx(0.01, rel=0.02)


def test_too_few_others_say_nothing_of_a_round() -> None:
    """Three are too few for a common cause, and so for this."""
    few = {"a": known(0, 0), **{f"b{number}": known(1_000, 10) for number in range(3)}}
    assert rate(few, failing(3)) == pytest.approx(0.01, rel=0.02)
    assert rate(few, failing(3), policy=replace(POLICY, common_cause_min_routes=3)) > 0.9
