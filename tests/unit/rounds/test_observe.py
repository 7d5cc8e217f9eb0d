"""What a round shows of the canary itself: just before, at and just after each edge, and once only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from routecanary.domain.names import ContractName, Locale, RouteId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import (
    AccountFault,
    AccountRestored,
    ControlAbsent,
    ControlPresent,
    JudgeCrashed,
    ListingBelieved,
    ListingShrunk,
    Operation,
    PinViolated,
    RoundOverdue,
    RoundReturned,
    RouteFresh,
    RouteStale,
)
from routecanary.domain.probe import Probe, ProbeKind, Scene
from routecanary.domain.route import Listing, Route
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.rounds.examine import Attempt
from routecanary.rounds.observe import Patience, Sight, doubted, observe
from tests.story import MODEL, Story, a_report, moment

PATIENCE = Patience(
    stale_after=timedelta(hours=6),
    control_max_age=timedelta(hours=24),
    contracts=frozenset({ContractName("filtering")}),
)
ANSWER = b'{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}], "provider": "Stranger"}'


def an_attempt(route: str, *said: str, answer: bytes = ANSWER) -> Attempt:
    """Make an asking and its verdicts, each written as `contract:kind` or `contract:kind:code`."""
    verdicts = {}
    for text in said:
        name, kind, *code = text.split(":")
        verdicts[ContractName(name)] = Verdict(
            contract=ContractName(name),
            kind=VerdictKind(kind),
            code=code[0] if code else None,
            detail=f"{text} of {route}",
        )
    probe = Probe(
        model=MODEL,
        route=RouteId(route),
        kind=ProbeKind.CHAT,
        locale=Locale("en"),
        scene=Scene(id="one", prompt="{place}"),
        spec_version=1,
        attempt=0,
        body={},
        provider_names=frozenset({"Pinned"}),
        accepted_models=frozenset(),
    )
    transcript = Transcript(
        model=MODEL,
        route=RouteId(route),
        kind=ProbeKind.CHAT,
        locale=Locale("en"),
        request={},
        status=200,
        headers=(),
        chunks=(Chunk(1.0, answer),),
        ending=Ending(kind=EndingKind.EOF, at_ms=2.0),
        provider_names=probe.provider_names,
    )
    return Attempt(probe=probe, transcript=transcript, verdicts=verdicts)


def seen(
    story: Story,
    at: str,
    *attempts: Attempt,
    known: Iterable[Operation] = (),
    expected: Iterable[str] | None = None,
    patience: Patience = PATIENCE,
) -> list[Operation]:
    """Observe the round that the story told last."""
    before = OperatingState()
    for operation in known:
        before = evolve_operating(before, operation)
    named = story.state.named if expected is None else frozenset(map(RouteId, expected))
    sight = Sight(model=MODEL, attempts=attempts, expected=named)
    return list(observe(sight, patience, at=moment(at), before=before, after=story.state))


def a_story(**routes: str) -> Story:
    story = Story()
    story.round("0m", routes or {"a": "ok", "b": "ok"})
    return story


def test_a_round_in_which_all_is_well_says_nothing() -> None:
    """No event for what is as it should be."""
    assert seen(a_story(), "0m", an_attempt("a", "latency:pass"), an_attempt("b", "latency:fail:slow")) == []


# The account


def test_the_most_frequent_fault_of_the_account_is_told_once_a_round() -> None:
    """Its code, and the words of the first that met it."""
    attempts = [
        an_attempt("a", "latency:account:key"),
        an_attempt("b", "latency:account:credit", "integrity:account:credit"),
    ]
    told = AccountFault(at=moment("0m"), model=MODEL, code="credit", detail="latency:account:credit of b")
    assert seen(a_story(), "0m", *attempts) == [told]
    assert seen(a_story(), "0m", *attempts, known=[told]) == [told]


@pytest.mark.parametrize(
    ("verdict", "restored"),
    [
        ("latency:pass", True),
        ("latency:fail:slow", True),
        ("latency:inconclusive:own_limit", True),
        ("latency:transport:rate_limit", False),
        ("latency:skipped", False),
    ],
)
def test_the_account_is_restored_by_an_answer_alone(verdict: str, restored: bool) -> None:
    """Where nothing answered, nothing is known of the account; and what was well is not restored."""
    fault = AccountFault(at=moment("0m"), model=MODEL, code="credit")
    told = [AccountRestored(at=moment("0m"), model=MODEL)] if restored else []
    assert seen(a_story(), "0m", an_attempt("a", verdict), known=[fault]) == told
    assert seen(a_story(), "0m", an_attempt("a", verdict)) == []


@pytest.mark.parametrize(
    ("beside", "blamed"), [("latency:pass", False), ("latency:transport:rate_limit", True)]
)
def test_a_fault_of_one_request_blames_the_account_where_nobody_answers(beside: str, blamed: bool) -> None:
    """One refused request beside answers to others is an oddity; the same of all is a fault."""
    attempts = [an_attempt("a", "latency:account:config"), an_attempt("b", beside)]
    told = seen(a_story(), "0m", *attempts)
    assert [type(each) for each in told] == [AccountFault] * blamed


# Pins and judges


def test_a_pin_that_was_not_kept_is_told_once_a_route_with_the_name_of_who_answered() -> None:
    """In the order of the routes; an answer out of a cache names nobody else."""
    mine = ANSWER.replace(b"Stranger", b"pinned")
    attempts = [
        an_attempt("b", "latency:inconclusive:cached", "integrity:inconclusive:cached", answer=mine),
        an_attempt("a", "latency:inconclusive:provider_mismatch"),
        an_attempt("a", "language:inconclusive:provider_mismatch", answer=mine),
    ]
    assert seen(a_story(), "0m", *attempts) == [
        PinViolated(at=moment("0m"), model=MODEL, route=RouteId("a"), served_by="Stranger"),
        PinViolated(at=moment("0m"), model=MODEL, route=RouteId("b"), served_by=None),
    ]


def test_a_judge_that_crashed_is_told_once_a_contract() -> None:
    """However many answers broke it."""
    attempts = [an_attempt(route, "language:inconclusive:judge_crashed") for route in ("a", "b")]
    assert seen(a_story(), "0m", *attempts) == [
        JudgeCrashed(
            at=moment("0m"),
            model=MODEL,
            contract=ContractName("language"),
            error="language:inconclusive:judge_crashed of a",
        )
    ]


# Controls

ABSENT = ControlAbsent(at=moment("0m"), model=MODEL, contract=ContractName("filtering"))


def a_control_story() -> Story:
    """The control fails as it should in the round at 0m, and is silent in the one at 24h."""
    story = Story()
    control = a_report("only latency:pass filtering:fail", control_for=["filtering"])
    story.round("0m", {"a": "ok", "c": control})
    story.round("24h", {"a": "ok", "c": a_report("only latency:pass", control_for=["filtering"])})
    return story


@pytest.mark.parametrize(("at", "absent"), [("24h", False), ("24h1s", True)])
def test_a_control_is_absent_beyond_its_age(at: str, absent: bool) -> None:
    """At 24 hours after its last fail it is not yet; it is said once, and taken back when one fails."""
    told = [replace(ABSENT, at=moment(at))] if absent else []
    assert seen(a_control_story(), at) == told
    assert seen(a_control_story(), at, known=[ABSENT]) == (
        [] if absent else [ControlPresent(at=moment(at), model=MODEL, contract=ContractName("filtering"))]
    )


@pytest.mark.parametrize(("at", "absent"), [("24h", False), ("24h1s", True)])
def test_where_no_control_ever_failed_the_time_runs_from_the_first_round(at: str, absent: bool) -> None:
    """A contract without any control is unproven after a day, and one that is switched off never."""
    story = a_story(a="ok")
    story.round("20h", {"a": "ok", "late": "ok"})
    told = [replace(ABSENT, at=moment(at))] if absent else []
    assert seen(story, at) == told
    assert seen(story, at, patience=replace(PATIENCE, contracts=frozenset())) == []


def test_a_control_that_passes_is_no_control() -> None:
    """Passing what it should fail, it shows nothing; the probe is weak besides."""
    story = Story()
    for at in ("0m", "25h"):
        story.round(
            at, {"a": "ok", "c": a_report("only latency:pass filtering:pass", control_for=["filtering"])}
        )
    assert seen(story, "25h") == [replace(ABSENT, at=moment("25h"))]


# Silence


def stale(route: str, at: str) -> RouteStale:
    return RouteStale(at=moment(at), model=MODEL, route=RouteId(route))


@pytest.mark.parametrize(("at", "silent"), [("6h", False), ("6h1s", True)])
def test_a_route_that_is_frozen_for_longer_than_is_borne_is_stale(at: str, silent: bool) -> None:
    """At six hours it is not yet; it is said once; it is fresh when it says anything, a fail too."""
    story = a_story()
    story.round("5h", {"a": "ok", "b": "transport"})
    assert seen(story, at) == ([stale("b", at)] if silent else [])
    assert seen(story, at, known=[stale("b", "0m")]) == (
        [] if silent else [RouteFresh(at=moment(at), model=MODEL, route=RouteId("b"))]
    )


def test_a_stale_route_is_fresh_when_it_fails() -> None:
    """A fail is evidence too."""
    story = a_story()
    story.round("7h", {"a": "ok", "b": "language:fail"})
    fresh = RouteFresh(at=moment("7h"), model=MODEL, route=RouteId("b"))
    assert seen(story, "7h", known=[stale("b", "6h30m")]) == [fresh]


@pytest.mark.parametrize(("at", "silent"), [("6h", False), ("6h1s", True)])
def test_a_route_that_never_said_anything_is_stale_too(at: str, silent: bool) -> None:
    """Counted from when it was first named."""
    story = a_story(a="ok", b="transport")
    story.round("5h", {"a": "ok", "b": "transport"})
    assert seen(story, at) == ([stale("b", at)] if silent else [])


def test_nobody_waits_for_a_route_that_is_never_asked() -> None:
    """A service tier is listed and carries `skipped` in every round."""
    story = a_story(a="ok", b="skipped")
    story.round("9h", {"a": "ok", "b": "skipped"})
    assert seen(story, "9h", expected=["a"]) == []


def test_a_route_that_vanished_is_stale_once_if_it_ever_said_anything() -> None:
    """Not listed for six hours after its last evidence; one that was never heard of is not missed."""
    story = a_story(a="ok", b="ok", never="transport")
    story.round("9h", {"a": "ok"})
    assert seen(story, "9h") == [stale("b", "9h")]
    assert seen(story, "9h", known=[stale("b", "7h")]) == []


# The round itself


def test_a_round_ends_what_only_its_absence_kept_open() -> None:
    """A doubted listing is believed, and an overdue model has returned."""
    known: list[Operation] = [
        ListingShrunk(at=moment("0m"), model=MODEL, before=5, after=0),
        RoundOverdue(at=moment("0m"), model=MODEL),
    ]
    assert seen(a_story(), "0m", known=known) == [
        ListingBelieved(at=moment("0m"), model=MODEL),
        RoundReturned(at=moment("0m"), model=MODEL),
    ]


def test_a_doubted_listing_is_told_again_only_when_it_has_changed() -> None:
    """The same loss is said once; another one is said again."""

    def listing(*tags: str) -> Listing:
        routes = tuple(Route(tag=RouteId(tag), provider_names=frozenset({tag})) for tag in tags)
        return Listing(model=MODEL, at=moment("0m"), routes=routes)

    believed = listing("a", "b", "c")
    before = OperatingState()
    (told,) = doubted(listing("a"), believed, at=moment("0m"), before=before)
    assert told == ListingShrunk(at=moment("0m"), model=MODEL, before=3, after=1)
    before = evolve_operating(before, told)
    assert doubted(listing("b"), believed, at=moment("30m"), before=before) == ()
    assert doubted(listing(), believed, at=moment("1h"), before=before) == (
        ListingShrunk(at=moment("1h"), model=MODEL, before=3, after=0),
    )
    assert doubted(listing(), None, at=moment("1h"), before=OperatingState()) == (
        ListingShrunk(at=moment("1h"), model=MODEL, before=0, after=0),
    )
