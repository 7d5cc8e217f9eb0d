"""Is a false suspension called false, and a delay as long as it was?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.domain.names import LANGUAGE, STRUCTURED, RouteId
from routecanary.simulate.figures import policy_figures, quantile
from routecanary.simulate.life import Illness
from routecanary.simulate.measures import Measures, Measuring
from routecanary.simulate.player import Begun, Played
from routecanary.simulate.run import Simulated
from routecanary.simulate.scenario import Traffic
from tests.unit.simulate.worlds import HOSTS, PERIOD, a_round, a_scenario, an_illness

H0 = HOSTS[0]
NOTHING = Played({})


def begun(*contracts: str, host: RouteId = H0) -> Played:
    return Played({host: 1.0}, (Begun(host, frozenset(contracts) or None),))  # type: ignore[arg-type]


def ill(illness: Illness, rate: float = 1.0) -> dict[str, tuple[Illness, float]]:
    return {illness.host: (illness, rate)}


def measured(
    *story: tuple[dict[str, tuple[Illness, float]], Played], traffic: Traffic = Traffic.EQUAL
) -> Measures:
    """Tell rounds: what is wrong in each, and what was done about it."""
    measures = Measures()
    measuring = Measuring(a_scenario(traffic=traffic), measures)
    for number, (wrong, played) in enumerate(story, start=1):
        measuring.take(a_round(number, ill=wrong), played)
    measuring.end()
    return measures


def test_suspension_of_a_sound_host_is_false() -> None:
    """Nothing was ever wrong with it."""
    assert measured(({}, begun("language"))).false_suspensions == 1


def test_suspension_for_what_is_wrong_is_not() -> None:
    """And the fault is found, in as many rounds as there were, and so long after it began."""
    illness = an_illness("h0", STRUCTURED, 0.5 * PERIOD, timedelta(days=1))
    found = measured((ill(illness), NOTHING), (ill(illness), begun("structured")))
    assert (found.suspensions, found.false_suspensions) == (1, 0)
    assert (found.delay_rounds, found.delay_hours, found.missed) == ([2], [0.75], 0)


def test_suspension_for_another_contract_or_of_another_host_is_false() -> None:
    """The right host for the wrong reason finds nothing."""
    illness = an_illness("h0", STRUCTURED, timedelta(), timedelta(days=1))
    found = measured((ill(illness), begun("language")), (ill(illness), begun("structured", host=HOSTS[1])))
    assert (found.false_suspensions, found.delay_rounds, found.missed) == (2, [], 1)
    both = measured((ill(illness), begun("language", "structured")))
    assert (both.false_suspensions, both.delay_rounds) == (0, [1])


@pytest.mark.parametrize(("rounds", "false"), [(12, 0), (13, 1)])
def test_what_was_wrong_six_hours_ago_still_excuses(rounds: int, false: int) -> None:
    """Twelve rounds of half an hour after the last ill one, and not one more."""
    illness = an_illness("h0", STRUCTURED, timedelta(), 1.5 * PERIOD)
    found = measured((ill(illness), NOTHING), *[({}, NOTHING)] * (rounds - 1), ({}, begun("structured")))
    assert found.false_suspensions == false
    assert (found.missed, found.delay_rounds) == (1, [])  # it was over before


def test_without_contracts_anything_that_is_wrong_excuses() -> None:
    """Also that the host was down."""
    illness = an_illness("h0", STRUCTURED, timedelta(), timedelta(days=1))
    assert measured((ill(illness), begun())).false_suspensions == 0
    measures = Measures()
    measuring = Measuring(a_scenario(), measures)
    measuring.take(a_round(1, down=frozenset({"h0"})), begun())
    measuring.take(a_round(2), begun(host=HOSTS[1]))
    assert measures.false_suspensions == 1


def test_fault_that_begins_while_its_host_is_away_is_counted_apart() -> None:
    """Nobody can find it sooner than at once."""
    illness = an_illness("h0", STRUCTURED, 1.5 * PERIOD, timedelta(days=1))
    found = measured(({}, begun("language")), (ill(illness), Played({H0: 1.0})), (ill(illness), NOTHING))
    assert (found.out_already, found.missed, found.delay_rounds) == (1, 0, [])


def test_rounds_in_which_the_host_was_down_do_not_count() -> None:
    """They could tell nothing."""
    illness = an_illness("h0", STRUCTURED, timedelta(), timedelta(days=1))
    measures = Measures()
    measuring = Measuring(a_scenario(), measures)
    measuring.take(a_round(1, ill=ill(illness), down=frozenset({"h0"})), NOTHING)
    measuring.take(a_round(2, ill=ill(illness)), begun("structured"))
    assert (measures.delay_rounds, measures.delay_hours) == ([1], [1.0])


def test_traffic_by_price_and_by_head() -> None:
    """A host of a third of the price draws nine times as much; half of its answers are bad."""
    illness = an_illness("h0", STRUCTURED, timedelta(), timedelta(days=1), rate=0.5)
    for traffic, share in ((Traffic.EQUAL, 0.1), (Traffic.PRICE, 0.5)):
        found = measured(
            (ill(illness, 0.5), NOTHING), (ill(illness, 0.5), Played({H0: 0.5})), traffic=traffic
        )
        left = share * 0.5 / (1 - share * 0.5)
        assert found.faulty_hosts_without == pytest.approx(2 * share)
        assert found.faulty_hosts_with == pytest.approx(share + left)
        assert found.faulty_answers_with == pytest.approx((share + left) / 2)


def test_who_keeps_everybody_away_keeps_nobody_away() -> None:
    """The users are served all the same."""
    illness = an_illness("h0", STRUCTURED, timedelta(), timedelta(days=1))
    found = measured((ill(illness), Played(dict.fromkeys(HOSTS, 1.0))))
    assert found.faulty_hosts_with == found.faulty_hosts_without == pytest.approx(0.1)


def test_healthy_hours_are_those_of_hosts_without_a_fault() -> None:
    """Half an hour for each whole host and round."""
    illness = an_illness("h0", STRUCTURED, timedelta(), timedelta(days=1))
    found = measured((ill(illness), Played({H0: 1.0, HOSTS[1]: 1.0, HOSTS[2]: 0.5})))
    assert found.healthy_hours_lost == pytest.approx(0.75)


def test_quantiles_count_what_was_never_found() -> None:
    """The third of four delays is the 75 % one; a missed fault is later than all."""
    assert quantile([4, 2, 9], 4, 0.5) == 4
    assert quantile([4, 2, 9], 4, 0.75) == 9
    assert quantile([4, 2, 9], 4, 0.76) is None
    assert quantile([], 0, 0.5) is None


def test_figures_are_plain_and_have_their_intervals() -> None:
    """Two false suspensions in half a year: 4 a year, 0.48 to 14.45 by Garwood."""
    simulated = Simulated(scenario=a_scenario(), seed=1, lives=1, rounds=8_760)
    figures = policy_figures(simulated, Measures(rounds=8_760, suspensions=2, false_suspensions=2))
    false = figures["false_suspensions"]
    assert isinstance(false, dict)
    assert false == {
        "count": 2,
        "per_model_year": 4.0,
        "low": pytest.approx(0.484, abs=1e-3),
        "high": pytest.approx(14.45, abs=0.01),
    }
    assert figures["faults"] == {
        "found": 0,
        "missed": 0,
        "out_already": 0,
        "share": None,
        "low": None,
        "high": None,
    }
    assert figures["breaches"] == {"floor breached": 0, "share breached": 0}
    assert LANGUAGE not in figures
