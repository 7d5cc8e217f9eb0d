"""What must callers of a model avoid, and why, as a document for programs in any language?

Its `ignore` is what the Python client would merge into a request without preferences of its own. The document
says nothing that changes while the list does not, so that its tag stays the same from one writing of the
snapshot to the next; how fresh the snapshot is stands in the headers.

Source: docs/serving.md, "The wire format"; schemas/exclusions.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from math import inf, isinf
from typing import Final

from routecanary.domain.probe import Json
from routecanary.routing.merge import EMPTYING, merge
from routecanary.routing.patch import PRESET, names_preset
from routecanary.routing.reading import Entry, Suspended
from routecanary.routing.scope import Scope
from routecanary.routing.view import NO_SNAPSHOT, InForce, Views

LAYERS: Final = {
    "built-in": "a reviewed file names it",
    "runtime": "an administrator keeps it away",
    "canary": "it failed its probes",
}
"""Who says so, in the order of the layers, and what is said of each entry; the snapshot holds no more."""


class Document:
    """One list as it is sent, good while `since <= now < until` under the views that it was made from."""

    __slots__ = ("body", "etag", "since", "until", "views")

    def __init__(self, content: Json, views: Views | None, *, since: float, until: float) -> None:
        self.body = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()
        self.etag = tag_of(self.body)
        self.views = views
        self.since = since
        self.until = until

    def holds(self, views: Views | None, now: float) -> bool:
        """Say whether it may still be sent."""
        return self.views is views and self.since <= now < self.until


def tag_of(body: bytes) -> str:
    """Make the strong entity tag of a body."""
    return f'"{sha256(body).hexdigest()[:32]}"'


def document_of(views: Views | None, model: str, now: float, scope: Scope | None) -> Document:
    """Lay down what callers of a model must avoid at `now`.

    Args:
        views: Of the last good snapshot; None = there was none yet.
        model: As the request names it.
        now: Epoch seconds.
        scope: What the caller needs; None = the whole list.
    """
    if names_preset(model):
        return Document(_content(model, doubt=PRESET), views, since=-inf, until=inf)
    if views is None:
        return Document(_content(model, doubt=NO_SNAPSHOT), None, since=-inf, until=inf)
    name, found, view = views.find_in_force(model, now, scope)
    counts = {EMPTYING: 0}
    merged = merge(view, None, counts) or {}
    emptied = counts[EMPTYING] > 0
    content = _content(
        name,
        doubt=found.doubt or (EMPTYING if emptied else None),
        until=_instant(found.changes),
        ignore=merged.get("ignore", []),
        exclusions=list(_told(found, emptied=emptied)),
    )
    return Document(content, views, since=found.since, until=found.until)


def _content(
    model: str, *, doubt: str | None, until: str | None = None, ignore: Json = (), exclusions: Json = ()
) -> dict[str, Json]:
    return {"model": model, "doubt": doubt, "until": until, "ignore": [*ignore], "exclusions": [*exclusions]}


def _told(found: InForce, *, emptied: bool) -> Iterator[dict[str, Json]]:
    """Tell of each entry once, by layer and then by name."""
    for layer, entries in (("built-in", found.builtin), ("runtime", found.runtime)):
        until = {entry.target: entry.expires for entry in sorted(entries, key=_lasting)}  # the last to end
        for target, expires in sorted(until.items()):
            yield _exclusion(target, layer, until=expires)
    for suspension in () if emptied else sorted(found.canary, key=lambda each: each.route):
        yield _exclusion(suspension.route, "canary", until=suspension.until, suspension=suspension)


def _exclusion(
    route: str, layer: str, *, until: float | None, suspension: Suspended | None = None
) -> dict[str, Json]:
    return {
        "route": route,
        "layer": layer,
        "reason": LAYERS[layer],
        "contracts": [] if suspension is None else sorted(suspension.contracts),
        "locales": [] if suspension is None else sorted(suspension.locales),
        "since": None if suspension is None else _instant(suspension.since),
        "until": _instant(until),
    }


def _lasting(entry: Entry) -> float:
    return inf if entry.expires is None else entry.expires


def _instant(epoch_seconds: float | None) -> str | None:
    """Write an instant as the snapshot does; None where there is none."""
    if epoch_seconds is None or isinf(epoch_seconds):
        return None
    return datetime.fromtimestamp(epoch_seconds, UTC).isoformat().replace("+00:00", "Z")
