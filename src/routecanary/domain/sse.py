"""How do bytes off the wire become the events of a stream?

A decoder that knows no socket: bytes in, events out, whatever the borders of the reads. It follows the
event-stream format of the HTML standard (§9.2.6), with two additions for witnesses: it counts comments,
and it keeps the lines that belong to no field, because hosts glue bare JSON errors to their streams.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_BOM: Final = b"\xef\xbb\xbf"
_FIELDS: Final = (b"id", b"retry")  # known and of no use here
_MAX_STRAY: Final = 65_536  # bytes kept of lines without a field


class SseEvent(NamedTuple):
    """One dispatched event: its `data` lines joined with a newline."""

    data: str
    valid_utf8: bool = True  # False: undecodable bytes became U+FFFD here, not on the host
    name: str = ""  # of its `event` field; "" = a message


class SseDecoder:
    """Decode one event stream.

    `comments` counts lines that start with a colon, `stray` holds lines of no known field. Once a line or
    an event is larger than its bound, `exceeded` is set and everything after it is ignored.

    Args:
        max_line: Bytes of one line.
        max_event: Bytes of the data of one event.
    """

    __slots__ = (
        "_data",
        "_max_event",
        "_max_line",
        "_name",
        "_size",
        "_skip_lf",
        "_started",
        "_stray",
        "_tail",
        "comments",
        "exceeded",
    )

    def __init__(self, *, max_line: int = 1_048_576, max_event: int = 4_194_304) -> None:
        self.comments = 0
        self.exceeded = False
        self._tail = bytearray()  # a line that has not ended yet
        self._data: list[bytes] = []  # data lines of the event that has not ended yet
        self._size = 0  # bytes in `_data`
        self._name = b""
        self._stray = bytearray()
        self._skip_lf = False  # the last read ended in CR: a LF that follows belongs to it
        self._started = False  # the place where a byte order mark may stand is behind us
        self._max_line = max_line
        self._max_event = max_event

    @property
    def at_border(self) -> bool:
        """Say whether an event begins with the next byte, and it is not too late to read one."""
        return self._started and not (
            self._tail or self._data or self._name or self._skip_lf or self.exceeded
        )

    @property
    def stray(self) -> str:
        """Lines that are no field and no comment, joined with newlines; at most 64 KiB."""
        return self._stray.decode("utf-8", "replace")

    def feed(self, data: bytes) -> list[SseEvent]:
        """Take the bytes of one read; return the events that they complete, in order."""
        if self.exceeded or not data:
            return []
        if self._skip_lf:
            self._skip_lf = False
            if data[:1] == b"\n":
                data = data[1:]
        if not self._started:
            data = self._drop_bom(data)
        if (
            not self._tail
            and not self._data
            and not self._name
            and data.endswith(b"\n\n")
            and b"\r" not in data
        ):
            return self._whole_blocks(data)
        return self._lines(data)

    def finish(self) -> list[SseEvent]:
        """Take the end of the connection; it completes a last line and a last event."""
        if self.exceeded:
            return []
        events: list[SseEvent] = []
        if not self._started and self._tail:  # fewer bytes than a byte order mark
            self._started = True
        if self._tail:
            self._line(bytes(self._tail), events)
            self._tail.clear()
        self._dispatch(events)
        return events

    def _drop_bom(self, data: bytes) -> bytes:
        head = bytes(self._tail) + data
        self._tail.clear()
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._tail += head
            return b""
        self._started = True
        return head.removeprefix(_BOM)

    def _whole_blocks(self, data: bytes) -> list[SseEvent]:
        """Decode a read that starts and ends at event borders: nearly every read of a healthy stream."""
        events: list[SseEvent] = []
        for block in data.split(b"\n\n"):
            if block[:6] == b"data: " and b"\n" not in block:
                if len(block) > self._max_line:
                    self.exceeded = True
                    break
                events.append(_event(block[6:]))
            elif block:
                for line in block.split(b"\n"):
                    self._line(line, events)
                self._dispatch(events)
            if self.exceeded:
                break
        return events

    def _lines(self, data: bytes) -> list[SseEvent]:
        events: list[SseEvent] = []
        if b"\n" not in data and b"\r" not in data:
            self._tail += data
            self.exceeded = len(self._tail) > self._max_line
            return events
        self._skip_lf = data.endswith(b"\r")
        for line in data.splitlines(keepends=True):
            if not line.endswith((b"\n", b"\r")):
                self._tail += line
                self.exceeded = len(self._tail) > self._max_line
            elif self._tail:
                whole = bytes(self._tail) + line
                self._tail.clear()
                self._line(whole.rstrip(b"\r\n"), events)
            else:
                self._line(line.rstrip(b"\r\n"), events)
            if self.exceeded:
                break
        return events

    def _line(self, line: bytes, events: list[SseEvent]) -> None:
        if not line:
            self._dispatch(events)
            return
        if len(line) > self._max_line:
            self.exceeded = True
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._size += len(value)
            self.exceeded = self._size > self._max_event
        elif not field:
            self.comments += 1
        elif field == b"event":
            self._name = value.strip()
        elif field not in _FIELDS and len(self._stray) + len(line) < _MAX_STRAY:
            self._stray += line + b"\n"

    def _dispatch(self, events: list[SseEvent]) -> None:
        if self._data:
            events.append(_event(b"\n".join(self._data), self._name))
            self._data = []
            self._size = 0
        self._name = b""


def _event(data: bytes, name: bytes = b"") -> SseEvent:
    called = name.decode("utf-8", "replace") if name else ""
    try:
        return SseEvent(data.decode(), name=called)
    except UnicodeDecodeError:
        return SseEvent(data.decode("utf-8", "replace"), valid_utf8=False, name=called)
