"""Has the listener a new snapshot for us?

One connection waits, `GET …/v1/snapshot?wait=25`, until the snapshot changes; looks made on purpose use
another. The answer is hostile until it is parsed: its size and the time that each part may take are bounded,
and a redirect is not followed.

Imported only when an application names an address.

Source: docs/serving.md, "In Python".
"""

from __future__ import annotations

import socket
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from random import random
from time import monotonic
from urllib.parse import urlsplit

from routecanary.client.file import MAX_BYTES
from routecanary.errors import SnapshotError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PATH = "/v1/snapshot"
WAIT = 25.0  # seconds that the listener is asked to wait for a change
CONNECT = 2.0  # seconds for a connection, and for the head of an answer that need not wait
BODY = 30.0  # seconds for the rest of an answer
LONGEST_PAUSE = 10.0  # seconds between two tries while it fails

_CHUNK = 1 << 16
_MAX_TOKEN = 1_000  # characters


class SnapshotUrl:
    """One address, and the tag of what was last read there."""

    waits = True

    def __init__(self, url: str, token: str | None = None) -> None:
        """Take an address; nothing is asked yet.

        Raises:
            ValueError: It is none, or the token is no text of one line. Neither is shown.
        """
        parts = urlsplit(url)
        if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
            raise ValueError("the snapshot's address must be http(s)://host[:port][/path], nothing more")
        if token is not None and not (token.isascii() and token.isprintable() and len(token) <= _MAX_TOKEN):
            raise ValueError("the token must be printable ASCII on one line")
        self.url = url
        self._token = token
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port or (443 if self._secure else 80)
        path = parts.path.rstrip("/")
        self._path = path if path.endswith(PATH) else path + PATH
        self._tag: str | None = None
        self._waiting: HTTPConnection | None = None
        self._asked_at = 0.0  # monotonic
        self._failures = 0
        self._is_waiting = False
        self._closed = False

    def read_if_changed(self) -> bytes | None:
        """Ask now.

        Raises:
            OSError: There is no listener, or none that answers as it should.
            FileNotFoundError: The listener has no snapshot yet.
            SnapshotError: The answer is cut, or too large.
        """
        connection: HTTPConnection | None = None
        try:
            connection = self._connect(CONNECT)
            return self._ask(connection, self._path, CONNECT)
        except BaseException:
            self._tag = None  # an answer that all is as before must not hide what was wrong
            raise
        finally:
            if connection is not None:
                connection.close()

    def wait(self) -> bytes | None:
        """Ask, and let the listener wait for a change; raises as `read_if_changed`."""
        self._asked_at = monotonic()
        self._is_waiting = True
        try:
            if self._waiting is None or self._waiting.sock is None:  # the listener may have closed it
                self._waiting = self._connect(CONNECT)
            if self._closed:
                return None
            return self._ask(self._waiting, f"{self._path}?wait={WAIT:.0f}", WAIT + CONNECT)
        except BaseException:
            self._tag = None  # as above
            self._drop()
            raise
        finally:
            self._is_waiting = False
            if self._closed:
                self._drop()

    def pause(self, interval: float, *, failed: bool) -> float:
        """Ask again at once, where the last answer took its time; while it fails ever later, up to 10 s."""
        self._failures = self._failures + 1 if failed else 0
        if failed:
            longest = min(interval * 2.0 ** min(self._failures, 10), LONGEST_PAUSE)
            return longest * (0.5 + 0.5 * random())  # noqa: S311 - so that a thousand do not come at once
        return max(0.0, self._asked_at + interval - monotonic())

    def forget(self) -> None:
        self._tag = None

    def after_fork(self) -> SnapshotUrl:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting.sock is not None:
            # The child's end only, for the parent goes on. Nothing but the socket: its thread may have held
            # the lock of a reader at the fork, and nobody here would ever give that back.
            waiting.sock.close()
        return SnapshotUrl(self.url, self._token)

    def close(self) -> None:
        """End the connection, and with it a question that waits for its answer in another thread."""
        self._closed = True
        waiting = self._waiting
        if not self._is_waiting:
            self._drop()
        elif waiting is not None and waiting.sock is not None:
            try:
                waiting.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended by itself

    def _ask(self, connection: HTTPConnection, path: str, seconds: float) -> bytes | None:
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if self._tag is not None:
            headers["If-None-Match"] = self._tag
        timed: _Timed = connection.sock  # type: ignore[assignment]  # `_connect` put it there
        timed.give(seconds)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            timed.give(BODY)
            content = _body(response)
        except OSError:
            raise
        except HTTPException as error:
            raise SnapshotError(f"the answer is cut or malformed: {type(error).__name__}") from None
        if response.status == 304 and self._tag is not None:
            return None
        if response.status == 200:
            self._tag = response.getheader("ETag")
            return content
        if response.status == 503 and b"no snapshot" in content[:200]:
            raise FileNotFoundError("the listener has no snapshot yet")
        raise OSError(f"the listener answered with status {response.status}")

    def _connect(self, seconds: float) -> HTTPConnection:
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=seconds)
        connection.connect()
        connection.auto_open = False
        connection.sock = _Timed(connection.sock)
        return connection

    def _drop(self) -> None:
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None


class _Timed:
    """A socket of which everything has to be done by a deadline, however slowly its other end drips."""

    def __init__(self, plain: Any) -> None:  # noqa: ANN401 - a socket, plain or with TLS
        self._plain = plain
        self.deadline = 0.0
        self.sendall: Callable[[bytes], None] = plain.sendall
        self.shutdown: Callable[[int], None] = plain.shutdown
        self.settimeout: Callable[[float], None] = plain.settimeout
        self.close: Callable[[], None] = plain.close

    def give(self, seconds: float) -> None:
        """Allow so long from now on."""
        self.deadline = monotonic() + seconds
        self.settimeout(seconds)

    def makefile(self, mode: str) -> BufferedReader:
        # A file of the socket's own holds it open until the answer is read, also where `close` came before:
        # the connection is closed at once when the listener says that it will not keep it.
        return BufferedReader(_TimedReader(self._plain.makefile(mode, buffering=0), self))


class _TimedReader(RawIOBase):
    def __init__(self, raw: RawIOBase, timed: _Timed) -> None:
        self._raw = raw
        self._timed = timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - whatever the reader has
        left = self._timed.deadline - monotonic()
        if left <= 0:
            raise TimeoutError("the answer did not come in time")
        self._timed.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _body(response: HTTPResponse) -> bytes:
    """Read an answer to its end.

    Raises:
        SnapshotError: It is larger than any snapshot, or ends before its time.
    """
    pieces, size = [], 0
    while piece := response.read(_CHUNK):
        size += len(piece)
        if size > MAX_BYTES:
            raise SnapshotError(f"too large; allowed: {MAX_BYTES} bytes")
        pieces.append(piece)
    if response.length:  # what is still owed
        raise SnapshotError(f"cut: {response.length} bytes are missing")
    return b"".join(pieces)
