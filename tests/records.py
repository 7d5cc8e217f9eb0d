"""Records without a gateway: a log, a clock that is moved by hand, and rounds told by `tests.story`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from routecanary.adapters.store.memory import MemoryStore
from routecanary.clock import ScaledClock
from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.domain.round import Line, Round, RouteReport
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.domain.times import parse_duration
from routecanary.rounds.ports import Store
from routecanary.rounds.record import Decision, Ledger
from routecanary.rounds.records import Records
from tests.story import MODEL, START, a_round


class KeptSnapshot:
    """The snapshot as it was written last."""

    def __init__(self) -> None:
        self.document: Mapping[str, Json] = {}
        self.writes = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        yield

    def write(self, snapshot: Mapping[str, Json]) -> None:
        self.document = snapshot
        self.writes += 1


def some_records(store: Store | None = None, **settings: Any) -> Records:
    """Make records over a store, in memory unless one is given, with the clock at the story's start."""
    kept = store or MemoryStore()
    configured = Settings(
        store_path="store", snapshot_path="snapshot", models=(ModelSettings(model=MODEL),), **settings
    )
    return Records(
        settings=configured,
        ledger=Ledger(kept, configured.policy),
        store=kept,
        transcripts=kept,
        snapshot_file=KeptSnapshot(),
        builtin=(),
        clock=ScaledClock(start=START, rate=1.0),
    )


def wait_until(records: Records, since_start: str) -> None:
    """Move the clock to a time of the story."""
    assert isinstance(records.clock, ScaledClock)
    records.clock.advance(START + parse_duration(since_start) - records.clock.now())


def decide(records: Records, line: Line) -> Decision:
    """Decide on a line, with a listing of the routes that a round names."""
    listing = a_listing(line) if isinstance(line, Round) else None
    return records.ledger.decide(line.model, lambda _at, _acted: line, now=records.clock.now, listing=listing)


def tell_round(records: Records, at: str, routes: Mapping[str, str | RouteReport], **facts: Any) -> Decision:
    """Make a round at a time of the story; the clock goes there."""
    wait_until(records, at)
    return decide(records, a_round(at, routes, **facts))


def a_listing(line: Round) -> Listing:
    return Listing(
        model=line.model,
        at=line.at,
        routes=tuple(
            Route(tag=RouteId(tag), provider_names=frozenset({str(tag).title()}))
            for tag in sorted(line.routes)
        ),
        accepted_models=frozenset({line.model}),
    )
