"""What a fixed prompt counts: which differences are a change, and whose."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from routecanary.domain.answer import read_answer
from routecanary.domain.codec import from_json, to_json
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import Operation, PromptTokensChanged, PromptTokensShifted
from routecanary.domain.probe import Json
from routecanary.domain.prompts import FORGOTTEN, REMEMBERED, SHOWN, PromptReading
from routecanary.judge.settings import Settings
from routecanary.probe.extent import most_prompt_tokens
from routecanary.probe.pin import LEAST_ROOM
from routecanary.rounds.prompt_change import MOST_TOKENS, confirmed, count_of, odd_ones, told_of
from routecanary.rounds.tripwire import SPEC, is_due
from tests.answers import DONE, a_frame, a_transcript, as_event

MODEL = ModelId("acme/chat")
START = datetime(2026, 1, 5, 0, 2, tzinfo=UTC)
DAY = timedelta(days=1)


class Days:
    """Readings of one model, day after day, folded as the log is."""

    def __init__(self) -> None:
        self.state = OperatingState()
        self.day = 0

    @property
    def at(self) -> datetime:
        return START + self.day * DAY

    def pass_with(self, counts: Mapping[str, int], asked: str = "f0") -> list[Operation]:
        """Let a day pass with these readings; return what is told besides them."""
        self.day += 1
        told = told_of(MODEL, self.at, self.state.model(MODEL).prompts, readings(counts, asked))
        for operation in told:
            self.state = evolve_operating(self.state, operation)
        self.state = from_json(OperatingState, json.loads(json.dumps(to_json(self.state))))
        return list(told[1:])

    def changed(self, counts: Mapping[str, int], asked: str = "f0") -> dict[str, tuple[int, int]]:
        """The same; return only whose count changed, from what to what."""
        return {
            told.route: (told.was, told.now)
            for told in self.pass_with(counts, asked)
            if isinstance(told, PromptTokensChanged)
        }


def readings(counts: Mapping[str, int], asked: str = "f0") -> dict[RouteId, PromptReading]:
    return {RouteId(name): PromptReading(tokens=count, asked=asked) for name, count in counts.items()}


def test_a_count_that_stays_tells_nothing() -> None:
    """However long it goes on, and whoever comes later: a first reading is no change."""
    days = Days()
    for _ in range(10):
        assert days.pass_with({"a": 41, "b": 44, "c": 41}) == []
    assert days.pass_with({"a": 41, "b": 44, "c": 41, "newcomer": 900}) == []


def test_a_change_is_told_once_with_the_medians_of_the_others() -> None:
    """It is then what the route counts, and shown for a week."""
    days = Days()
    days.pass_with({"a": 41, "b": 44, "c": 40, "d": 41})
    (told,) = days.pass_with({"a": 441, "b": 44, "c": 40, "d": 41})
    assert told == PromptTokensChanged(
        at=days.at, model=MODEL, route=RouteId("a"), was=41, now=441, peers_were=41, peers=41
    )
    assert days.pass_with({"a": 441, "b": 44, "c": 40, "d": 41}) == []
    prompts = days.state.model(MODEL).prompts
    change = prompts.change_shown(RouteId("a"), days.at)
    assert change is not None
    assert (change.was, change.now) == (41, 441)
    assert prompts.change_shown(RouteId("a"), change.at + SHOWN) is None


@pytest.mark.parametrize(("other", "is_told"), [(43, False), (39, False), (44, True), (38, True)], ids=str)
def test_the_length_of_a_date_is_no_change(other: int, is_told: bool) -> None:
    """Two tokens more or less may be the day's date; three are not."""
    days = Days()
    days.pass_with({"a": 41, "b": 41, "c": 41})
    assert bool(days.changed({"a": other, "b": 41, "c": 41})) is is_told


def test_a_count_that_the_route_had_lately_is_no_change() -> None:
    """A route behind which two hosts answer in turns is told of once, not with every turn."""
    days = Days()
    days.pass_with({"a": 41, "b": 41, "c": 41})
    assert days.changed({"a": 60, "b": 41, "c": 41}) == {"a": (41, 60)}
    for _ in range(REMEMBERED):
        assert days.changed({"a": 41, "b": 41, "c": 41}) == {}
        assert days.changed({"a": 60, "b": 41, "c": 41}) == {}
    for _ in range(REMEMBERED):
        assert days.changed({"a": 60, "b": 41, "c": 41}) == {}
    assert days.changed({"a": 41, "b": 41, "c": 41}) == {"a": (60, 41)}, "it is long ago"


def test_another_request_begins_anew() -> None:
    """What we changed ourselves is no change of the route's."""
    days = Days()
    days.pass_with({"a": 41, "b": 41})
    assert days.pass_with({"a": 55, "b": 55}, "f1") == []
    assert days.changed({"a": 90, "b": 55}, "f1") == {"a": (55, 90)}


@pytest.mark.parametrize(
    ("changed", "of", "together"),
    [(1, 1, False), (1, 2, False), (2, 2, True), (2, 3, False), (3, 4, True), (3, 5, False), (4, 5, True)],
)
def test_a_change_of_most_names_nobody(changed: int, of: int, together: bool) -> None:
    """When most of a route's peers changed with it, one event tells of the model, and none of a route."""
    days = Days()
    names = [f"r{number}" for number in range(of)]
    days.pass_with(dict.fromkeys(names, 41))
    told = days.pass_with({name: 60 if place < changed else 41 for place, name in enumerate(names)})
    if together:
        routes = frozenset(RouteId(name) for name in names[:changed])
        assert told == [PromptTokensShifted(at=days.at, model=MODEL, routes=routes, of=of)]
    else:
        assert [type(each) for each in told] == [PromptTokensChanged] * changed


def test_whoever_is_late_in_what_the_others_did_is_not_named() -> None:
    """A route without a reading on the day of the shift; a change after it is its own."""
    days = Days()
    days.pass_with({"a": 41, "b": 41, "c": 41, "late": 41})
    assert [type(each) for each in days.pass_with({"a": 60, "b": 60, "c": 60})] == [PromptTokensShifted]
    assert days.pass_with({"a": 60, "b": 60, "c": 60, "late": 60}) == []
    assert days.changed({"a": 60, "b": 60, "c": 60, "late": 99}) == {"late": (60, 99)}


def test_a_route_that_was_silent_for_a_month_begins_anew() -> None:
    """What it counted then is forgotten, as are changes."""
    days = Days()
    days.pass_with({"a": 41, "b": 41, "c": 41})
    assert days.changed({"a": 60, "b": 41, "c": 41}) == {"a": (41, 60)}
    days.day += FORGOTTEN // DAY
    days.pass_with({"b": 41, "c": 41})
    prompts = days.state.model(MODEL).prompts
    assert (prompts.changed, sorted(prompts.past)) == ({}, ["b", "c"])
    assert days.pass_with({"a": 99, "b": 41, "c": 41}) == []


def test_one_odd_number_proves_nothing() -> None:
    """Only a second count that agrees is believed; without it the day has no reading of the route."""
    days = Days()
    days.pass_with({"a": 41, "b": 41, "c": 41, "d": 41, "e": 41})
    known = days.state.model(MODEL).prompts
    first = readings({"a": 41, "b": 60, "c": 60, "d": 60, "e": 41})
    odd = odd_ones(known, first)
    assert odd == {"b", "c", "d"}
    second = readings({"b": 61, "c": 41})
    assert confirmed(first, second, asked_again=odd) == readings({"a": 41, "b": 60, "e": 41})


def _answer(usage: Json, **more: Json) -> Mapping[str, Json]:
    reads = [
        as_event(a_frame({"content": "завтра"}, **more)),
        as_event(a_frame(finish="stop", **more)),
        as_event(a_frame(choices=[], usage=usage, **more)),
        DONE,
    ]
    return {"reads": reads}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 41, "completion_tokens": 2}, 41),
        ({"prompt_tokens": MOST_TOKENS}, MOST_TOKENS),
        ({"prompt_tokens": MOST_TOKENS + 1}, None),
        ({"prompt_tokens": 0}, None),
        ({"prompt_tokens": -3}, None),
        ({"prompt_tokens": "41"}, None),
        ({"prompt_tokens": 41.0}, None),
        ({"prompt_tokens": True}, None),
        ({"prompt_tokens": None}, None),
        ({"completion_tokens": 2}, None),
        (None, None),
        ("41", None),
    ],
)
def test_only_a_whole_number_is_a_reading(usage: Json, expected: int | None) -> None:
    """Anything else that stands in its place is none."""
    answer = read_answer(a_transcript(*_answer(usage)["reads"]))
    assert count_of(answer, Settings()) == expected


def test_an_answer_from_elsewhere_is_no_reading() -> None:
    """Nor is one that names nobody, one out of a cache, one that broke off, or a refusal of the gateway."""
    usage = {"prompt_tokens": 41, "completion_tokens": 2}
    reads = _answer(usage)["reads"]
    hit = (("content-type", "text/event-stream"), ("x-openrouter-cache-status", "HIT"))
    host = frozenset({"HostA"})
    for name, transcript, expected in (
        ("the pinned one", a_transcript(*reads, providers=host), 41),
        ("another", a_transcript(*reads, providers=frozenset({"HostB"})), None),
        ("nobody", a_transcript(*_answer(usage, provider=None)["reads"]), None),
        ("a cache", a_transcript(*reads, headers=hit), None),
        ("cut", a_transcript(reads[0], reads[2]), None),
        ("refused", a_transcript(*reads, status=429), None),
    ):
        assert count_of(read_answer(transcript), Settings()) == expected, name


@pytest.mark.parametrize(
    ("last", "now", "expected"),
    [
        (None, "2026-01-05T12:00", True),
        ("2026-01-05T00:02", "2026-01-05T23:59", False),
        ("2026-01-05T23:59", "2026-01-06T00:00", True),
        ("2026-01-09T00:00", "2026-01-06T00:00", True),
    ],
)
def test_it_is_asked_once_a_utc_day(last: str | None, now: str, expected: bool) -> None:
    """A reading from the future was dated by a clock that has been set back."""
    at = None if last is None else datetime.fromisoformat(f"{last}+00:00")
    assert is_due(at, datetime.fromisoformat(f"{now}+00:00"), DAY) is expected


def test_an_asking_is_small() -> None:
    """The documentation states this bound of prompt and answer together, in tokens."""
    assert most_prompt_tokens(SPEC) + LEAST_ROOM < 200
