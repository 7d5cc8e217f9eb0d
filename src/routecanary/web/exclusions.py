"""What must callers of a model avoid, and why, as a document for programs in any language?

Its `ignore` is what the Python client would merge into a request without preferences of its own. The document
says nothing that changes while the list does not, so that its tag stays the same from one writing of the
snapshot to the next; how fresh the snapshot is stands in the headers.

Source: docs/serving.md, "The exclusions"; schemas/exclusions.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from math import inf, isinf
from typing import Final

from routecanary.client.canary import OTHER_GATEWAY
from routecanary.domain.probe import Json
from routecanary.routing.allow import allow
from routecanary.routing.merge import EMPTYING, merge
from routecanary.routing.patch import PRESET, names_preset
from routecanary.routing.reading import Entry, Suspended
from routecanary.routing.scope import Scope
from routecanary.routing.view import NO_SNAPSHOT, OPENROUTER, VERCEL, InForce, Views
from routecanary.web.http import Response
from routecanary.web.message import JSON

_LAST_INSTANT: Final = 253_402_300_799.0  # the end of the year 9999, in epoch seconds

LAYERS: Final = {
    "built-in": "a reviewed file names it",
    "runtime": "an administrator keeps it away",
    "canary": "it failed its probes",
}
"""Who says so, in the order of the layers, and what is said of each entry; the snapshot holds no more."""


class Document:
    """What is sent, good while `since <= now < until`."""

    __slots__ = ("body", "etag", "is_missing", "response", "since", "unchanged", "until")

    def __init__(
        self,
        body: bytes,
        views: Views | None,
        *,
        since: float = -inf,
        until: float = inf,
        status: int = 200,
    ) -> None:
        self.body = body
        self.etag = f'"{sha256(body).hexdigest()[:32]}"'
        self.since = since
        self.until = until
        headers = (
            ("etag", self.etag),
            ("cache-control", "no-cache"),
            ("vary", "Accept"),
            *_freshness(views),
        )
        self.response = Response(status, body, (JSON, *headers))
        self.unchanged = Response(304, b"", headers)  # for whoever has it
        self.is_missing = status != 200

    def holds(self, now: float) -> bool:
        """Say whether it may still be sent, under the same views."""
        return self.since <= now < self.until


def document_of(views: Views | None, model: str, now: float, scope: Scope | None) -> Document:
    """Lay down what callers of a model must avoid at `now`.

    Args:
        views: Of the last good snapshot; None = there was none yet.
        model: As the request names it.
        now: Epoch seconds.
        scope: What the caller needs; None = the whole list.
    """
    content, since, until = _listed(views, model, now, scope)
    return Document(_json(content), views, since=since, until=until)


def all_documents(views: Views | None, now: float, scope: Scope | None) -> Document:
    """Lay down the same for every model that is watched, by its name."""
    models = () if views is None else sorted(views.snapshot.models)
    listed = [_listed(views, model, now, scope) for model in models]
    return Document(
        _json({"models": {model: content for model, (content, _, _) in zip(models, listed, strict=True)}}),
        views,
        since=max((since for _, since, _ in listed), default=-inf),
        until=min((until for _, _, until in listed), default=inf),
    )


def snapshot_document(views: Views | None, content: bytes) -> Document:
    """Lay down the snapshot as the daemon wrote it; before the first one, that there is none."""
    if views is None:
        missing = {"error": {"code": 503, "message": "no snapshot yet: has the daemon run?"}}
        return Document(_json(missing), None, status=503)
    return Document(content, views)


def _listed(
    views: Views | None, model: str, now: float, scope: Scope | None
) -> tuple[dict[str, Json], float, float]:
    """Lay down one model's list, and from when until when it holds."""
    if names_preset(model):
        return _content(model, doubt=PRESET), -inf, inf
    if views is None:
        return _content(model, doubt=NO_SNAPSHOT), -inf, inf
    name, found, view = views.find_in_force(model, now, scope)
    counts = {EMPTYING: 0}
    mergeable = views.gateway == OPENROUTER
    only = allow([view], (), counts) if views.gateway == VERCEL else None
    merged = (merge(view, None, counts) or {}) if mergeable else {}
    emptied = counts[EMPTYING] > 0
    content = _content(
        name,
        doubt=found.doubt or (EMPTYING if emptied else None if mergeable else OTHER_GATEWAY),
        until=_instant(found.changes),
        ignore=merged.get("ignore", []),
        exclusions=list(_told(found, emptied=emptied)),
    )
    if views.gateway == VERCEL:
        content["only"] = only
    return content, found.since, found.until


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


def written(epoch_seconds: float) -> str:
    """Write an instant as the snapshot does; one beyond all calendars as the last that there is."""
    return datetime.fromtimestamp(min(epoch_seconds, _LAST_INSTANT), UTC).isoformat().replace("+00:00", "Z")


def _freshness(views: Views | None) -> Iterator[tuple[str, str]]:
    """Say in headers what changes while the list does not: how old the snapshot is, how long it counts."""
    if views is not None:
        snapshot = views.snapshot
        yield "routecanary-written-at", written(snapshot.written_at)
        yield "routecanary-trusted-until", written(snapshot.written_at + snapshot.max_age)


def _json(content: Json) -> bytes:
    return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()


def _lasting(entry: Entry) -> float:
    return inf if entry.expires is None else entry.expires


def _instant(epoch_seconds: float | None) -> str | None:
    """Write an instant as the snapshot does; None where there is none."""
    return None if epoch_seconds is None or isinf(epoch_seconds) else written(epoch_seconds)
