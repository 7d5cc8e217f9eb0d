"""What has the lab served?"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import Json, ProbeKind

KEPT: Final = 5_000  # served answers, the latest


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One answer of one route, as planned; `faults` names those that really struck."""

    id: str  # generation id
    at: datetime  # policy time of the request
    model: ModelId
    route: RouteId
    provider: str  # display name that the answer carries; empty = none
    kind: ProbeKind
    locale: Locale
    number: int  # of this route's answers of this kind, 0-based
    status: int  # HTTP
    faults: tuple[str, ...]
    planted: bool  # some of `faults` was planted, not chance
    usage: Mapping[str, Json]
    finish: str | None
    streamed: bool
    key: str | None = None  # name of the key that asked; None = unknown
    body: Mapping[str, Json] = field(repr=False)  # the request; empty where it was too long to keep


@dataclass(slots=True)
class Ledger:
    """The latest answers, looked up by generation id, and counts of all."""

    by_fault: Counter[tuple[RouteId, str]] = field(default_factory=Counter)
    by_route: Counter[RouteId] = field(default_factory=Counter)
    refused: Counter[int] = field(default_factory=Counter)  # by HTTP status, before any route was asked
    abandoned: int = 0  # streams that the client left
    open_streams: int = 0
    most_open_streams: int = 0
    _served: deque[Served] = field(default_factory=lambda: deque(maxlen=KEPT))
    _by_id: OrderedDict[str, Served] = field(default_factory=OrderedDict)

    def __iter__(self) -> Iterator[Served]:
        return iter(tuple(self._served))

    def __len__(self) -> int:
        return len(self._served)

    def add(self, served: Served) -> None:
        self._served.append(served)
        self._by_id[served.id] = served
        if len(self._by_id) > KEPT:
            self._by_id.popitem(last=False)
        self.by_route[served.route] += 1
        for fault in served.faults:
            self.by_fault[served.route, fault] += 1

    def find(self, generation: str) -> Served | None:
        return self._by_id.get(generation)

    def opened(self) -> None:
        self.open_streams += 1
        self.most_open_streams = max(self.most_open_streams, self.open_streams)

    def closed(self) -> None:
        self.open_streams -= 1

    def to_json(self) -> dict[str, Json]:
        """Show the counts, routes sorted."""
        return {
            "served": sum(self.by_route.values()),
            "open_streams": self.open_streams,
            "most_open_streams": self.most_open_streams,
            "abandoned": self.abandoned,
            "refused": {str(status): count for status, count in sorted(self.refused.items())},
            "routes": {
                route: {
                    "served": count,
                    "faults": {
                        fault: struck for (of, fault), struck in sorted(self.by_fault.items()) if of == route
                    },
                }
                for route, count in sorted(self.by_route.items())
            },
        }
