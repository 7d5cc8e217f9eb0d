"""One model's rounds and acts told in order, with a clock: just before, at, just after an edge.

Times are durations since the story's start (`"1d30m"`); a route's verdicts are a short text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from routecanary.decide.evolve import evolve
from routecanary.decide.step import step
from routecanary.domain.event import Event, Exclusions, RoundClosed, RouteOutcome
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import (
    Lift,
    Line,
    Mode,
    Pause,
    Requalify,
    Resume,
    Round,
    RouteReport,
    SwitchMode,
)
from routecanary.domain.state import ModelState, RouteState
from routecanary.domain.times import parse_duration
from routecanary.domain.verdict import VerdictKind

START = datetime(2026, 1, 5, tzinfo=UTC)
MODEL = ModelId("acme/chat")
CONTRACTS = ("latency", "filtering", "structured", "language")

_Kind = TypeVar("_Kind")


def moment(since_start: str) -> datetime:
    return START + parse_duration(since_start)


def verdicts(text: str) -> dict[ContractName, VerdictKind]:
    """Read `ok`, `none`, one kind for all (`transport`), or what differs from ok (`language:fail`).

    After `only`, what is not said is not there.
    """
    if text == "none":
        return {}
    if text == "ok":
        text = "pass"
    if text in set(VerdictKind):
        return {ContractName(name): VerdictKind(text) for name in CONTRACTS}
    words = text.split()
    only = words[0] == "only"
    told = {} if only else {ContractName(name): VerdictKind.PASS for name in CONTRACTS}
    for word in words[only:]:
        contract, kind = word.split(":")
        told[ContractName(contract)] = VerdictKind(kind)
    return told


def a_report(
    text: str = "ok",
    *,
    swallows: Iterable[str] | None = None,
    control_for: Iterable[str] = (),
    admitted: bool = True,
    locale: str | None = None,
) -> RouteReport:
    return RouteReport(
        verdicts=verdicts(text),
        swallows=None if swallows is None else frozenset(map(RouteId, swallows)),
        control_for=frozenset(map(ContractName, control_for)),
        admitted=admitted,
        locale=None if locale is None else Locale(locale),
    )


def a_round(
    at: str,
    routes: Mapping[str, str | RouteReport],
    *,
    builtin: Iterable[str] = (),
    runtime: Iterable[str] = (),
    swallows: Mapping[str, Iterable[str]] | None = None,
    acted: Iterable[str] = (),
    locale: str | None = None,
    out_of_turn: bool = False,
) -> Round:
    return Round(
        at=moment(at),
        model=MODEL,
        routes={
            RouteId(name): told if isinstance(told, RouteReport) else a_report(told)
            for name, told in routes.items()
        },
        locale=None if locale is None else Locale(locale),
        builtin=frozenset(builtin),
        runtime=frozenset(runtime),
        swallows={name: frozenset(map(RouteId, below)) for name, below in (swallows or {}).items()},
        acted=frozenset(map(RouteId, acted)),
        out_of_turn=out_of_turn,
    )


@dataclass
class Told:
    """What followed from one line."""

    events: tuple[Event, ...]

    @property
    def ignore(self) -> tuple[str, ...]:
        last = self.events[-1]
        assert isinstance(last, Exclusions)
        return last.ignore

    def all(self, kind: type[_Kind]) -> list[_Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    def one(self, kind: type[_Kind]) -> _Kind:
        found = self.all(kind)
        assert len(found) == 1, f"{len(found)} × {kind.__name__}"
        return found[0]

    def routes(self, kind: type) -> list[str]:
        """Name the routes of all events of a kind, in their order."""
        return [event.route for event in self.all(kind)]

    def outcome(self, route: str) -> RouteOutcome:
        return self.one(RoundClosed).outcomes[RouteId(route)]


@dataclass
class Story:
    """A model's state, line by line; every event is kept in `log`."""

    policy: Policy = field(default_factory=Policy)
    state: ModelState = field(default_factory=lambda: ModelState.empty(MODEL))
    log: list[Event] = field(default_factory=list)

    def tell(self, line: Line) -> Told:
        events = step(self.state, line, self.policy)
        for event in events:
            self.state = evolve(self.state, event)
        self.log += events
        return Told(events)

    def round(self, at: str, routes: Mapping[str, str | RouteReport], **facts: object) -> Told:
        return self.tell(a_round(at, routes, **facts))  # type: ignore[arg-type]

    def lift(
        self, at: str, route: str, *, false_positive: bool = False, hold_until: str | None = None
    ) -> Told:
        return self.tell(
            Lift(
                at=moment(at),
                model=MODEL,
                route=RouteId(route),
                false_positive=false_positive,
                hold_until=None if hold_until is None else moment(hold_until),
            )
        )

    def mode(self, at: str, mode: str) -> Told:
        return self.tell(SwitchMode(at=moment(at), model=MODEL, mode=Mode(mode)))

    def pause(self, at: str, until: str | None = None) -> Told:
        return self.tell(Pause(at=moment(at), model=MODEL, until=None if until is None else moment(until)))

    def resume(self, at: str, *, scheduled: bool = False) -> Told:
        return self.tell(Resume(at=moment(at), model=MODEL, scheduled=scheduled))

    def requalify(self, at: str, *contracts: str) -> Told:
        return self.tell(
            Requalify(at=moment(at), model=MODEL, contracts=frozenset(map(ContractName, contracts)))
        )

    def route(self, name: str) -> RouteState:
        return self.state.routes[RouteId(name)]

    @property
    def suspended(self) -> list[str]:
        return list(self.state.suspensions())


HEALTHY = {"h1": "ok", "h2": "ok", "h3": "ok", "h4": "ok"}
"""Four healthy routes: enough company for floor, share and common cause to hold still."""


def a_story_with_suspended(
    *routes: str, policy: Policy | None = None, fault: str = "structured:fail"
) -> Story:
    """Begin with routes suspended one after another, one an hour from 30m on, beside four healthy ones."""
    story = Story(policy or Policy())
    minutes = 0
    done: dict[str, str] = {}
    for route in routes:
        for _ in range(2):
            story.round(f"{minutes}m", {**HEALTHY, **dict.fromkeys(done, fault), route: fault})
            minutes += 30
        done[route] = fault
    assert story.suspended == sorted(routes)
    return story
