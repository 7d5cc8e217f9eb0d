"""Which requests pass through, and what is counted of them?"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Final

from routecanary.client.advice import ENDPOINTS, Adviser
from routecanary.client.answer import AnswerReader
from routecanary.proxy.passage import Passage
from routecanary.proxy.upstream import Upstream
from routecanary.web.head import RefusedError
from routecanary.web.http import Connection, Request

LOG: Final = logging.getLogger("routecanary.proxy")

PREFIX: Final = "/v1"
"""Below it everything goes on: `/v1/models` to the base address and `/models`."""

_MAX_UNREAD: Final = 100_000  # reads that wait for being looked at

Record = Callable[[Passage, AnswerReader, float], None]
"""Takes a passage, what its answer said, and when it ended (of the monotonic clock)."""


class Forwarder:
    """What all passages share: the list, the upstream, the counters, and who is told of an answer."""

    prefix: Final = len(PREFIX)

    def __init__(
        self,
        adviser: Adviser,
        upstream: Upstream,
        *,
        max_edit: int,
        record: Record | None = None,
    ) -> None:
        """Prepare.

        Args:
            adviser: Asked for each chat request.
            upstream: The only one that is ever contacted.
            max_edit: Bytes of a body above which it is not edited.
            record: Told of every chat request whose answer has ended; None = nobody wants to know.
        """
        self.adviser = adviser
        self.canary = adviser.canary
        self.upstream = upstream
        self.max_edit = max_edit
        self._record = record
        self.counts: Counter[str] = Counter()
        self._unread: list[tuple[Passage, tuple[bytes, ...] | None, float]] = []

    def open(self, request: Request, client: Connection) -> Passage | None:
        """Take a request that is to pass through; the opener of the proxy's listener.

        Raises:
            RefusedError: It asks for a tunnel.
        """
        path = request.path
        if not path.startswith("/v1/"):
            return None
        upgrade = request.head.fields.get(b"upgrade")
        if upgrade is not None and b"websocket" in upgrade.lower():
            raise RefusedError(501, "no WebSocket passes through")
        self.counts["requests"] += 1
        editable = request.method == "POST" and path[self.prefix + 1 :].rstrip("/") in ENDPOINTS
        return Passage(self, request, client, editable=editable)

    def new_reader(self) -> AnswerReader | None:
        """Make what reads an answer; None where nobody wants to know."""
        return None if self._record is None else AnswerReader()

    def count(self, name: str) -> None:
        self.counts[name] += 1

    def failed(self, reason: str, detail: str | None) -> None:
        """Count and tell that the gateway could not answer."""
        self.counts["failed"] += 1
        LOG.warning("no answer upstream=%s reason=%s detail=%s", self.upstream.base, reason, detail)

    # What an answer says is read when everything that has come has been passed on.

    def tap(self, passage: Passage, pieces: tuple[bytes, ...]) -> None:
        """Look into a read of an answer, after it has gone out."""
        self._later(passage, pieces)

    def ended(self, passage: Passage) -> None:
        """Take the end of a passage, whatever ended it."""
        if passage.reader is not None:
            self._later(passage, None)

    def _later(self, passage: Passage, pieces: tuple[bytes, ...] | None) -> None:
        if not self._unread:
            asyncio.get_running_loop().call_soon(self._read)
        if len(self._unread) < _MAX_UNREAD:
            self._unread.append((passage, pieces, monotonic()))
        else:
            self.counts["unread"] += 1

    def _read(self) -> None:
        unread, self._unread = self._unread, []
        for passage, pieces, at in unread:
            reader = passage.reader
            if reader is None:
                continue
            try:
                if pieces is not None:
                    for piece in pieces:
                        reader.feed(piece, at)
                else:
                    reader.finish()
                    passage.reader = None
                    if self._record is not None:
                        self._record(passage, reader, at)
            except Exception as error:
                passage.reader = None
                self.counts["unread"] += 1
                LOG.error("answer not read error=%s", type(error).__name__)
