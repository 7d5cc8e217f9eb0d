"""How does one request go through?

Taken from the client as it comes, edited if it is a chat request, sent on; the answer goes back read by read,
each as soon as it is there. No task, no queue and no copy stands between the two connections: whoever reads
slowly holds the other one's reading.

A request is sent again, once and on a fresh connection, only if its method is idempotent and a kept
connection ended before a byte of an answer: a chat request may have been served and billed (RFC 9110 §9.2.2).
"""

from __future__ import annotations

import asyncio
from time import monotonic, time
from typing import TYPE_CHECKING, Final, NamedTuple

from routecanary.client.canary import UNREAD_BODY
from routecanary.proxy.editing import Edited, Wish, edit, unedited, wish_of
from routecanary.proxy.failures import CLOSED, failure, reason_of
from routecanary.proxy.heads import CHUNKED, chunk, last_chunk, request_head, response_head
from routecanary.proxy.line import Line
from routecanary.web.http import Connection, Request
from routecanary.web.message import written_head

if TYPE_CHECKING:
    from routecanary.proxy.forwarder import Forwarder

_IDEMPOTENT: Final = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"))
_AT_ONCE: Final = 65_536  # bytes of a body that is sent in one piece even if nothing is edited
_BODILESS: Final = (204, 304)
_LENGTH: Final = b"content-length"
_CODING: Final = b"transfer-encoding"
_GENERATION: Final = b"x-generation-id"


class Sent(NamedTuple):
    """What is known of a chat request when it goes out, for the record of its answer."""

    edited: Edited
    wish: Wish
    started_at: float  # epoch seconds
    sent_at: float  # of the monotonic clock: the last byte


class Passage:
    """One request between a client's connection and a line to the upstream."""

    __slots__ = (
        *("_again", "_began", "_chunked", "_client", "_collecting", "_editable", "_forwarder", "_framed"),
        *("_held", "_line", "_over", "_pieces", "_request", "_size", "_task", "_whole"),
        *("arrived_at", "generation_id", "reader", "sent", "status"),
    )

    def __init__(self, forwarder: Forwarder, request: Request, client: Connection, *, editable: bool) -> None:
        self._forwarder = forwarder
        self._request = request
        self._client = client
        self._line: Line | None = None
        self._task: asyncio.Task[None] | None = None
        self._pieces: list[bytes] = []  # of the body, until they are sent
        self._size = 0
        self._whole = False  # the request has come whole
        self._again = False  # it was sent once already
        self._began = False  # the head of the answer has gone back
        self._chunked = False  # the answer goes back in chunks
        self._framed = True  # the answer says where it ends
        self._held = False  # the client reads slowly
        self._over = False
        self._editable = editable
        self.status: int | None = None
        self.generation_id: str | None = None  # as a header of the answer gives it
        self.reader = forwarder.new_reader() if editable else None
        self.sent: Sent | None = None
        self.arrived_at = time()
        length = request.head.length
        if editable:
            forwarder.count("chat_requests")
            coding = request.head.fields.get(b"content-encoding")
            if coding is not None and coding.lower() != b"identity":
                self._leave("encoded")
            elif length > forwarder.max_edit:
                self._leave("too_large")
        self._collecting = self._editable or 0 <= length <= _AT_ONCE
        if not self._collecting:
            client.hold_reading()
            self._dispatch()

    # Called by the client's connection.

    def body(self, data: bytes) -> None:
        if self._over:
            return
        self._size += len(data)
        if self._collecting:
            self._pieces.append(data)
            if self._size > self._forwarder.max_edit:
                self._leave("too_large")
                self._collecting = False
                self._client.hold_reading()
                self._dispatch()
        elif self._line is None:
            self._pieces.append(data)  # what was on its way when reading was held
        else:
            self._line.write(chunk(data) if self._request.head.is_chunked else data)

    def end(self) -> None:
        self._whole = True
        if self._over:
            return
        if self._collecting:
            self._dispatch()
        elif self._line is not None:
            self._end_upload(self._line)

    def gone(self) -> None:
        """Nobody waits any more: the upstream is told at once, so that it stops working and billing."""
        self._over = True
        if self._task is not None:
            self._task.cancel()
        if self._line is not None:
            line, self._line = self._line, None
            line.abort()
        self._forwarder.ended(self)

    def hold(self) -> None:
        self._held = True
        if self._line is not None:
            self._line.hold_reading()

    def go_on(self) -> None:
        self._held = False
        if self._line is not None:
            self._line.go_on_reading()

    # Called by the line.

    def answered(self, line: Line) -> None:
        """Pass on what one read of the answer brought."""
        out: list[bytes] = []
        if line.interim:
            if self._client.minor:
                out += line.interim
            line.interim.clear()
        if line.status and not self._began:
            out.append(self._begin(line))
        pieces = line.pieces
        taken: tuple[bytes, ...] = ()
        if pieces:
            taken = tuple(pieces)
            pieces.clear()
            data = taken[0] if len(taken) == 1 else b"".join(taken)
            out.append(chunk(data) if self._chunked else data)
        if line.complete and self._chunked:
            out.append(last_chunk(line.trailers))
        if out:
            self._client.write(out[0] if len(out) == 1 else b"".join(out))
        if self.reader is not None and taken:
            self._forwarder.tap(self, taken)
        if line.complete:
            self._finish(line)
        elif line.fault is not None:
            line.abort()
            self.lost(line)

    def lost(self, line: Line) -> None:
        """Let the client see the end of the answer as it was."""
        self._line = None
        if self._over:
            return
        if self._began:
            if self._framed or line.fault is not None or line.broken:
                self._forwarder.count("cut")
            self._end(keep_alive=False)
        elif (
            not line.status
            and line.fault is None
            and line.answers
            and not self._again
            and self._collecting
            and self._request.method in _IDEMPOTENT
        ):
            self._again = True
            self._forwarder.count("sent_again")
            self._connect()
        else:
            self._fail(line.fault or CLOSED, line.problem)

    def hold_upload(self) -> None:
        if not self._whole:
            self._client.hold_reading()

    def go_on_upload(self) -> None:
        if not self._whole:
            self._client.go_on_reading()

    # The way there.

    def _leave(self, why: str) -> None:
        """Let a chat request go out as it came."""
        if not self._editable:
            return
        self._editable = False
        self._forwarder.count(why)
        edited = unedited(self._forwarder.canary, b"", UNREAD_BODY)
        if self.reader is not None:
            self.sent = Sent(edited, wish_of(self._request.head), self.arrived_at, 0.0)

    def _dispatch(self) -> None:
        line = self._forwarder.upstream.take()
        if line is None:
            self._connect()
        else:
            self._send(line)

    def _connect(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._send_on_new_line())

    async def _send_on_new_line(self) -> None:
        try:
            line = await self._forwarder.upstream.connect()
        except Exception as error:  # whatever it is, the client is owed an answer
            self._task = None
            if not self._over:
                self._fail(reason_of(error), type(error).__name__)
            return
        self._task = None
        if self._over:
            line.abort()
        else:
            self._send(line)

    def _send(self, line: Line) -> None:
        """Send the request, or as much of it as has come."""
        request, forwarder = self._request, self._forwarder
        head = request.head
        body = b"".join(self._pieces)
        length: int | None = head.length
        if self._collecting:
            if not self._again:
                body = self._edited(body)
                self._pieces = [body] if body else []
            length = len(body) if body or head.length or _LENGTH in head.fields else None
        else:
            self._pieces.clear()
            if head.is_chunked and body:
                body = chunk(body)
        upstream = forwarder.upstream.base
        target = upstream.path + request.path[forwarder.prefix :]
        if request.query:
            target = f"{target}?{request.query}"
        written = request_head(head, target=target.encode(), host=upstream.authority, length=length)
        self._line = line
        line.send(self, written + body, is_head=request.method == "HEAD")
        if self._held:
            line.hold_reading()
        if self._collecting:
            self._note_sent()
        elif self._whole:
            self._end_upload(line)
        else:
            self._client.go_on_reading()

    def _edited(self, body: bytes) -> bytes:
        """Merge the exclusions in, or note why not."""
        if not self._editable:
            return body
        wish = wish_of(self._request.head)
        edited = edit(self._forwarder.adviser, body, wish.needs, wish.locale)
        if edited.body is not body:
            self._forwarder.count("edited")
        if self.reader is not None:
            self.sent = Sent(edited._replace(body=b""), wish, self.arrived_at, 0.0)
        return edited.body

    def _end_upload(self, line: Line) -> None:
        if self._request.head.length == CHUNKED:
            line.write(last_chunk())
        self._note_sent()

    def _note_sent(self) -> None:
        if self.sent is not None:
            self.sent = self.sent._replace(sent_at=monotonic())

    # The way back.

    def _begin(self, line: Line) -> bytes:
        """Write the head of the answer."""
        self._began = True
        status = self.status = line.status
        names = [name.lower() for name, _ in line.headers]
        if _CODING in names:
            self._chunked = bool(self._client.minor)
            self._framed = True
        else:
            self._framed = _LENGTH in names or status in _BODILESS
        if line.is_head or status in _BODILESS:
            self._chunked, self._framed = False, True
        if self.reader is not None and _GENERATION in names:
            self.generation_id = line.headers[names.index(_GENERATION)][1].decode("latin-1")
        return response_head(
            status,
            line.reason,
            line.headers,
            chunked=self._chunked or (line.is_head and _CODING in names),
            closing=not (self._framed and self._client.keep_alive),
        )

    def _finish(self, line: Line) -> None:
        """End an answer that came whole."""
        self._line = None
        if self._whole and not line.is_head:
            if self._held:
                line.go_on_reading()
            self._forwarder.upstream.keep(line)
        else:
            line.close()
        self._end(keep_alive=self._framed)

    def _end(self, *, keep_alive: bool) -> None:
        self._over = True
        self._forwarder.ended(self)
        self._client.finish(keep_alive=keep_alive)

    def _fail(self, reason: str, detail: str | None) -> None:
        """Answer in the gateway's place: nobody else can."""
        self._forwarder.failed(reason, detail)
        self.status = 502
        response, body = failure(reason)
        written = written_head(response, keep_alive=self._client.keep_alive, minor=self._client.minor)
        self._client.write(written if self._request.method == "HEAD" else written + body)
        self._end(keep_alive=True)
