"""Do the rivals' rules do what their documentation says?"""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.domain.names import CONTRACT_NAMES, LANGUAGE, LATENCY, STRUCTURED
from routecanary.simulate.player import Played
from routecanary.simulate.rivals.envoy import EnvoyConsecutive, EnvoySuccessRate
from routecanary.simulate.rivals.litellm import LiteLlm
from routecanary.simulate.rivals.strikes import one_strike, two_rounds
from tests.unit.simulate.worlds import FAULTY, LOST, PERIOD, WELL, a_round, failing, requests

FIVE = (FAULTY,) * 5


def begun(played: Played) -> list[str]:
    return [each.host for each in played.begun]


@pytest.mark.parametrize(
    ("said", "trips"),
    [
        ((FAULTY, FAULTY, FAULTY, WELL, WELL), False),  # 60 %, but the fifth request is no error
        ((WELL, WELL, FAULTY, FAULTY, FAULTY), True),
        ((WELL, WELL, WELL, FAULTY, FAULTY, FAULTY), False),  # half is not more than half
        ((WELL, WELL, LOST, LOST, LOST), True),
        (FIVE[:4], False),  # too few to tell
        (FIVE, True),
    ],
)
def test_litellm_cools_down_above_half_of_five(said: tuple, trips: bool) -> None:
    """More than half of at least five requests of a minute, counted at each error."""
    played = LiteLlm(PERIOD).play(requests(1, {"h0": said}))
    assert begun(played) == (["h0"] if trips else [])
    assert dict(played.away) == ({"h0": pytest.approx(5 / 1800)} if trips else {})


def test_litellm_stretched_to_our_pace() -> None:
    """If a minute were a round, five seconds would be two and a half minutes."""
    played = LiteLlm(PERIOD, minute=PERIOD).play(requests(1, {"h0": FIVE}))
    assert dict(played.away) == {"h0": pytest.approx(150 / 1800)}


def test_envoy_ejects_at_the_fifth_error_in_a_row() -> None:
    """A success in between begins anew; errors of two rounds add up."""
    player = EnvoyConsecutive(PERIOD)
    assert begun(player.play(requests(1, {"h0": (FAULTY,) * 3, "h1": (FAULTY,) * 4}))) == []
    assert begun(player.play(requests(2, {"h0": (FAULTY, FAULTY, WELL), "h1": (WELL, FAULTY)}))) == ["h0"]


def test_envoy_ejects_for_longer_each_time_in_a_row_and_forgets_while_well() -> None:
    """Thirty seconds, then sixty; ten healthy seconds take one step back."""
    player = EnvoyConsecutive(timedelta(seconds=40))
    first = player.play(requests(1, {"h0": FIVE}, hosts=10))
    assert dict(first.away) == {"h0": pytest.approx(30 / 40)}
    slow = EnvoyConsecutive(PERIOD, interval=PERIOD)
    shares = [dict(slow.play(requests(number, {"h0": FIVE})).away) for number in range(1, 8)]
    assert shares == [{"h0": 1.0}] * 7  # three rounds, then, at once again, six
    ended = [number for number in range(8, 16) if not slow.play(requests(number, {})).away]
    assert ended[0] == 10  # the fourth round began the second ejection


def test_envoy_ejects_a_tenth_at_most_but_one_in_any_case() -> None:
    """Of ten hosts one; of five one as well."""
    for hosts in (10, 5):
        player = EnvoyConsecutive(PERIOD)
        assert begun(player.play(requests(1, {"h0": FIVE, "h1": FIVE}, hosts=hosts))) == ["h0"]


def test_envoy_success_rate_needs_a_hundred_requests_in_an_interval() -> None:
    """What a round brings is far too little; a day's requests are enough."""
    bad = (WELL, WELL, FAULTY)
    quick, slow = EnvoySuccessRate(PERIOD), EnvoySuccessRate(PERIOD, interval=timedelta(days=1))
    found: dict[int, list[str]] = {}
    for number in range(1, 49):
        told = requests(number, {"h0": bad})
        assert begun(quick.play(told)) == []
        played = slow.play(told)
        if played.begun:
            found[number] = begun(played)
    assert found == {48: ["h0"]}


def test_envoy_success_rate_compares_with_the_others() -> None:
    """All equally bad are no outliers; fewer than five hosts are not compared."""
    day = timedelta(days=1)
    everybody = {f"h{number}": (WELL, FAULTY) for number in range(10)}
    for said, hosts in ((everybody, 10), ({"h0": (FAULTY, FAULTY, FAULTY)}, 4)):
        player = EnvoySuccessRate(PERIOD, interval=day)
        for number in range(1, 97):
            told = requests(
                number, {host: each for host, each in said.items() if int(host[1:]) < hosts}, hosts
            )
            assert begun(player.play(told)) == []


def test_one_strike_is_one_failed_attempt() -> None:
    """Unconfirmed: an outvoted attempt is enough; confirmed: it is not."""
    outvoted = a_round(1, {"h0": failing(STRUCTURED, 2, again=False), "h1": failing(STRUCTURED, 2)})
    assert begun(one_strike(PERIOD).play(outvoted)) == ["h0", "h1"]
    assert begun(one_strike(PERIOD, confirmed=frozenset(CONTRACT_NAMES)).play(outvoted)) == ["h1"]


def test_a_strike_lasts_a_day() -> None:
    """Forty-eight rounds, whatever comes."""
    player = one_strike(PERIOD)
    away = [
        bool(player.play(a_round(n, {"h0": failing(LATENCY, 0)} if n == 1 else {})).away)
        for n in range(1, 51)
    ]
    assert away == [True] * 48 + [False] * 2


def test_two_rounds_in_a_row_with_language_alone_confirmed() -> None:
    """A chance fail of `structured` counts, one of `language` does not; a clean round begins anew."""
    broken, slipped = failing(STRUCTURED, 2, again=False), failing(LANGUAGE, 0, again=False)
    player = two_rounds(PERIOD)
    said = [{"h0": broken}, {}, {"h0": broken}, {"h0": slipped}, {"h0": broken}, {"h0": broken}]
    played = [player.play(a_round(number, each)) for number, each in enumerate(said, start=1)]
    assert [begun(each) for each in played] == [[], [], [], [], [], ["h0"]]
    assert played[-1].begun[0].contracts == {STRUCTURED}
