"""Which suspended routes have shown that they are well again?"""

from __future__ import annotations

import pytest

from routecanary.decide.recovery import rounds_needed
from routecanary.domain.event import Reinstated
from routecanary.domain.policy import Policy
from tests.story import HEALTHY, Story, a_story_with_suspended, moment

FAIL = "structured:fail"

RECOVERIES = [
    ("one clean round", [("1h", "ok")], False),
    ("two clean rounds", [("1h", "ok"), ("90m", "ok")], True),
    ("second too soon", [("1h", "ok"), ("79m59s", "ok")], False),
    ("second at the gap", [("1h", "ok"), ("80m", "ok")], True),
    ("frozen in between", [("1h", "ok"), ("90m", "transport"), ("2h", "ok")], True),
    ("absent in between", [("1h", "ok"), ("90m", "absent"), ("2h", "ok")], True),
    ("failed in between", [("1h", "ok"), ("90m", FAIL), ("2h", "ok")], False),
    ("failed too soon to count in between", [("1h", "ok"), ("70m", FAIL), ("2h", "ok")], False),
    (
        "suspect unsure",
        [("1h", "ok"), ("90m", "structured:inconclusive"), ("2h", "structured:skipped")],
        False,
    ),
]


@pytest.mark.parametrize(
    ("rounds", "well"), [row[1:] for row in RECOVERIES], ids=[row[0] for row in RECOVERIES]
)
def test_two_clean_rounds_reinstate(rounds: list[tuple[str, str]], well: bool) -> None:
    """Counted clean rounds in a row, each with every contract of the suspension heard and passed."""
    story = a_story_with_suspended("a")
    for at, said in rounds:
        told = story.round(at, HEALTHY if said == "absent" else {"a": said, **HEALTHY})
    assert bool(told.all(Reinstated)) is well
    assert told.ignore == (() if well else ("a",))


@pytest.mark.parametrize(("offence", "needed"), [(1, 2), (2, 4), (3, 5), (4, 5), (9, 5)])
def test_rounds_needed_go_by_offence(offence: int, needed: int) -> None:
    """The last number of the list serves every later offence."""
    assert rounds_needed(offence, Policy(rounds_to_recover=(2, 4, 5))) == needed


def test_second_offence_takes_longer_to_recover() -> None:
    """With [1, 3] the first suspension ends after one clean round, the second after three."""
    story = a_story_with_suspended("a", policy=Policy(rounds_to_recover=(1, 3)))
    assert story.round("1h", {"a": "ok", **HEALTHY}).all(Reinstated)
    for at in ("2h", "3h"):
        story.round(at, {"a": FAIL, **HEALTHY})
    ended = [bool(story.round(at, {"a": "ok", **HEALTHY}).all(Reinstated)) for at in ("4h", "5h", "6h")]
    assert ended == [False, False, True]


def test_reinstated_route_has_ended_its_suspension_now() -> None:
    """The offence stays remembered from this time on."""
    story = a_story_with_suspended("a")
    story.round("1h", {"a": "ok", **HEALTHY})
    story.round("2h", {"a": "ok", **HEALTHY})
    route = story.route("a")
    assert (route.suspension, route.offences, route.ended_at) == (None, 1, moment("2h"))


def test_recovery_at_until_is_an_expiry() -> None:
    """What is due goes before what has recovered, in the fixed order."""
    story = a_story_with_suspended("a")
    story.round("1d", {"a": "ok", **HEALTHY})
    assert not story.round("1d30m", {"a": "ok", **HEALTHY}).all(Reinstated)


def test_acts_reinstate_nobody() -> None:
    """Only a round can show that a route is well."""
    story = Story()
    for at in ("0m", "30m"):
        story.round(at, {"a": FAIL, **HEALTHY})
    story.round("1h", {"a": "ok", **HEALTHY})
    assert not story.pause("2h").all(Reinstated)
