"""What may a program in any language ask of the daemon's snapshot?

Everything is answered from the last good snapshot, in memory: no store, no daemon, no gateway. While the file
is missing, spoiled or old, the answers say so, and what they hold ends on time.

Source: docs/serving.md, "The exclusions".
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

from routecanary.client.watch import Watch
from routecanary.domain.token import EVERYBODY
from routecanary.routing.view import Views
from routecanary.web.board import KEPT, Board, FullError
from routecanary.web.conditional import has_it
from routecanary.web.exclusions import Document, all_documents, document_of, snapshot_document, written
from routecanary.web.http import Request, Response, error_response, json_response
from routecanary.web.router import Answer, Call, Route
from routecanary.web.wish import Wish, parameters_of, read_wait, read_wish

KEEP_ALIVE: Final = 15.0  # seconds after which a stream without news says that it lives
KEPT_BYTES: Final = 16 * 1024 * 1024  # of documents
_LONGEST_KEPT: Final = 500  # characters of a question that is remembered as read
_RETRY: Final = b"retry: 1000\n\n"  # ms after which a stream's reader comes back
_STREAM: Final = "text/event-stream"
_SNAPSHOT: Final = "snapshot"


class Sidecar:
    """The applications' questions, over a watch on the snapshot."""

    def __init__(
        self, watch: Watch, now: Callable[[], float], *, beside: Callable[[], dict[str, object]] | None = None
    ) -> None:
        """Answer from a watch.

        Args:
            now: Wall time in epoch seconds, the same as the daemon's.
            beside: What health tells besides, of whatever else the process does.
        """
        self._watch = watch
        self._beside = beside
        self._now = now
        self._board = Board()
        self._wishes: dict[str, Wish] = {}
        self._documents: dict[object, Document] = {}  # of `_views`
        self._bytes = 0
        self._views: Views | None = None

    def routes(self) -> tuple[Route, ...]:
        """List what is served, for everybody: the snapshot file is readable by all on this machine."""
        rows = {
            "/v1/exclusions": self.exclusions,
            "/v1/snapshot": self.snapshot,
            "/v1/health": self.health,
            "/v1/ready": self.ready,
        }
        return tuple(
            Route(method="GET", path=path, roles=EVERYBODY, answer=answer, anonymous=True)
            for path, answer in rows.items()
        )

    def close(self) -> None:
        """Let everybody go who waits."""
        self._board.close()

    def exclusions(self, call: Call) -> Answer:
        """Answer with a list, now or when it changes, or with each list from now on."""
        request = call.request
        wish = self._wishes.get(request.query)
        if wish is None:
            wish = read_wish(parameters_of(request))
            if len(self._wishes) >= KEPT:
                self._wishes.clear()
            if len(request.query) <= _LONGEST_KEPT:
                self._wishes[request.query] = wish
        accept = request.headers.get("accept")
        if accept is not None and _STREAM in accept:
            return self._stream(request, wish)
        return self._answered(request, wish.key, partial(self._find, wish), wish.wait)

    def snapshot(self, call: Call) -> Answer:
        """Answer with the snapshot itself, likewise."""
        wait = read_wait(parameters_of(call.request))
        return self._answered(call.request, _SNAPSHOT, self._find_snapshot, wait)

    def health(self, call: Call) -> Response:
        """Say that we live, and how fresh the snapshot is."""
        del call
        beside = {} if self._beside is None else self._beside()
        return json_response({"alive": True, **self._freshness(), **beside}, headers=_UNCACHED)

    def ready(self, call: Call) -> Response:
        """Say whether the lists can be believed."""
        del call
        freshness = self._freshness()
        ready = freshness["doubt"] is None
        return json_response({"ready": ready, **freshness}, 200 if ready else 503, _UNCACHED)

    def _freshness(self) -> dict[str, object]:
        watch, views, now = self._watch, self._watch.views, self._now()
        age = None if views is None else round(now - views.snapshot.written_at, 3)
        return {
            "doubt": "no_snapshot" if views is None else views.doubt_at(now),
            "written_at": None if views is None else written(views.snapshot.written_at),
            "age_seconds": age,
            "fault": watch.fault,
        }

    def _find(self, wish: Wish) -> Document:
        """Find what is to be sent now, made before if it still holds."""
        views, now = self._watch.views, self._now()
        known = self._known(wish.key, views)
        if known is not None and known.holds(now):
            return known
        if wish.model is None:
            made = all_documents(views, now, wish.scope)
        else:
            made = document_of(views, wish.model, now, wish.scope)
        return self._kept(wish.key, made)

    def _find_snapshot(self) -> Document:
        views, content = self._watch.views, self._watch.content
        return self._known(_SNAPSHOT, views) or self._kept(_SNAPSHOT, snapshot_document(views, content))

    def _known(self, key: object, views: Views | None) -> Document | None:
        if views is not self._views:
            self._views = views
            self._forget()
        return self._documents.get(key)

    def _kept(self, key: object, document: Document) -> Document:
        if len(self._documents) >= KEPT or self._bytes > KEPT_BYTES:
            self._forget()
        self._documents[key] = document
        self._bytes += len(document.body)
        return document

    def _forget(self) -> None:
        self._documents.clear()
        self._bytes = 0

    def _answered(self, request: Request, key: object, find: Callable[[], Document], wait: float) -> Answer:
        document = find()
        if_none_match = request.headers.get("if-none-match")
        if document.is_missing:  # then there is nothing that anybody could have
            return self._waited(key, find, if_none_match, wait) if wait else document.response
        if not has_it(if_none_match, document.etag):
            return document.response
        return self._waited(key, find, if_none_match, wait) if wait else document.unchanged

    async def _waited(
        self, key: object, find: Callable[[], Document], if_none_match: str | None, wait: float
    ) -> Response:
        if self._board.is_full:
            return _full(FullError())
        with self._board.listening():
            await self._board.wait((key,), find, find().etag, wait)
        document = find()
        if document.is_missing or not has_it(if_none_match, document.etag):
            return document.response
        return document.unchanged

    def _stream(self, request: Request, wish: Wish) -> Response:
        if self._board.is_full:
            return _full(FullError())
        last = request.headers.get("last-event-id") or request.headers.get("if-none-match")
        headers = [("content-type", _STREAM), ("cache-control", "no-cache"), ("vary", "Accept")]
        return Response(200, self._events(wish, last), headers)

    async def _events(self, wish: Wish, last: str | None) -> AsyncIterator[bytes]:
        """Tell of each list once; a reader that is slow gets the newest when it is ready for one."""
        find = partial(self._find, wish)
        first = find()
        sent = first.etag if has_it(last, first.etag) else None
        yield _RETRY
        with self._board.listening():
            while not self._board.closed:
                document = find()
                if document.etag != sent:
                    sent = document.etag
                    yield b"event: exclusions\nid: %b\ndata: %b\n\n" % (sent.encode(), document.body)
                    continue
                await self._board.wait((wish.key,), find, sent, KEEP_ALIVE)
                if find().etag == sent:
                    yield b": keep-alive\n\n"


_UNCACHED: Final = (("cache-control", "no-store"),)


def _full(error: FullError) -> Response:
    return error_response(503, str(error), [("retry-after", "5")])
