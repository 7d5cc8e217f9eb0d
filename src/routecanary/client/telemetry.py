"""How does what was served get back to Routecanary, without a request ever waiting for it?

Records wait in a bounded queue; one daemon thread posts them in batches. Whatever is wrong with the receiver,
the application goes on: what does not fit is dropped, the oldest first, and `status()` counts it.

Source: docs/hooks.md, "Telling what was served"; docs/telemetry.md.
"""

from __future__ import annotations

import atexit
import http.client
import json
import os
import random
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakSet, ref

PATH: Final = "/v1/telemetry"
MAX_RECORDS: Final = 500  # of one request; the receiver takes 1,000
MAX_BYTES: Final = 512 * 1024  # of one request; the receiver takes 1 MiB
COUNTERS: Final = ("sent", "dropped", "refused", "attempts_failed")

_FIRST_PAUSE: Final = 1.0  # seconds after a failed attempt, doubled each time
_LONGEST_PAUSE: Final = 60.0  # seconds
_LONGEST_RETRY_AFTER: Final = 300.0  # seconds that a receiver may ask for
_MAX_REPLY: Final = 65_536  # bytes
_TRY_AGAIN: Final = (408, 429)  # besides 5xx
_SPLIT: Final = (400, 413, 422)  # one record of a batch may be at fault


class Sender:
    """Post records to a Routecanary listener; for as many threads as like to put.

    Owns one daemon thread until `close()`. After a fork the child starts empty, with a thread of its own at
    its first record: what the parent had is the parent's to send.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        interval: float = 1.0,
        limit: int = 10_000,
        timeout: float = 5.0,
    ) -> None:
        """Start with an empty queue; nothing is sent before there is something to say.

        Args:
            url: Of the applications' listener, such as `http://127.0.0.1:7450`.
            token: Of the role `app`; it is in no status and no error.
            interval: Seconds between two batches.
            limit: Records that may wait.
            timeout: Seconds that connecting, sending and each wait for the reply may take.
        Raises:
            ValueError: An argument is not what it should be.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise ValueError(
                "url must be http://host[:port] or https://host[:port], without a query or a user"
            )
        if not interval > 0 or not timeout > 0 or limit < 1:
            raise ValueError("interval and timeout must be above 0 seconds, limit at least 1")
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._path = parts.path.rstrip("/") + PATH
        self._headers = {"Content-Type": "application/json", "User-Agent": "routecanary"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._interval, self._limit, self._timeout = interval, limit, timeout
        self._chance = random.Random()  # noqa: S311 - spreads attempts, hides nothing
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._problem: str | None = None
        self._closed = False
        self._begin_anew()
        _living.add(self)

    def put(self, record: Mapping[str, Any]) -> None:
        """Queue one record. Takes no lock, so it may be called from anywhere, a finaliser too."""
        if self._closed:
            self._counts["dropped"] += 1
            return
        waiting = self._waiting
        waiting.append(record)
        if len(waiting) > self._limit:
            self._drop_oldest()
        if self._thread is None:
            self._start()

    def flush(self, timeout: float = 2.0) -> bool:
        """Wait until all that was put is sent or given up; False when the time was too short."""
        if self._thread is None:
            return not self._waiting
        reached = threading.Event()
        self._waited_for.append(reached)
        self._wake.set()
        return reached.wait(timeout) and not self._waiting

    def close(self, timeout: float = 2.0) -> None:
        """Send what waits, for at most so long, and end the thread. Later records are dropped."""
        if self._closed:
            return
        self.flush(timeout)
        self._closed = True
        self._wake.set()
        self._counts["dropped"] += len(self._waiting)
        self._waiting.clear()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def status(self) -> dict[str, Any]:
        """Describe the state for a health check; all values are plain JSON.

        `sent`, `dropped` (no room, or closed) and `refused` (by the receiver: not sent again) count records,
        `attempts_failed` counts requests. `problem` says what the last attempt met.
        """
        return {"waiting": len(self._waiting), "problem": self._problem, **self._counts}

    def __del__(self) -> None:
        self._drop_connection()

    def __repr__(self) -> str:
        return f"<Sender {self._host}{self._path}, {len(self._waiting)} waiting>"

    def _begin_anew(self) -> None:
        self._waiting: deque[Mapping[str, Any] | bytes] = deque()
        self._waited_for: deque[threading.Event] = deque()
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._connection: http.client.HTTPConnection | None = None
        self._failures = 0  # attempts in a row
        self._not_before = 0.0  # of time.monotonic: when the next attempt may be made

    def _drop_oldest(self) -> None:
        try:
            self._waiting.popleft()
        except IndexError:  # the thread took it
            return
        self._counts["dropped"] += 1

    def _start(self) -> None:
        if not self._starting.acquire(blocking=False):
            return
        try:
            if self._thread is None:
                thread = threading.Thread(
                    target=_send_on, args=(ref(self), self._wake), name="routecanary-telemetry", daemon=True
                )
                thread.start()
                self._thread = thread
        except RuntimeError as error:  # no room for a thread, or the interpreter is going down
            self._problem = f"no background thread: {error}"
        finally:
            self._starting.release()

    def _send_all(self) -> None:
        """Send what waits, batch by batch, until nothing waits or an attempt fails."""
        waited_for = [self._waited_for.popleft() for _ in range(len(self._waited_for))]
        while self._waiting and not self._closed and time.monotonic() >= self._not_before:
            batch = self._take()
            if batch and not self._deliver(batch):
                break
        for event in waited_for:
            event.set()

    def _take(self) -> list[bytes]:
        """Take a batch off the queue; what cannot be written down is refused."""
        batch: list[bytes] = []
        size = 0
        while self._waiting and len(batch) < MAX_RECORDS and size < MAX_BYTES:
            try:
                record = self._waiting.popleft()
            except IndexError:  # a put dropped it
                break
            written = record if isinstance(record, bytes) else _written(record)
            if 0 < len(written) < MAX_BYTES:
                batch.append(written)
                size += len(written)
            else:
                self._counts["refused"] += 1
        return batch

    def _deliver(self, batch: list[bytes]) -> bool:
        """Post a batch; False when it has to wait for a better time."""
        try:
            status, retry_after = self._post(b'{"generations":[' + b",".join(batch) + b"]}")
        except Exception as error:  # of a socket, of TLS, of a reply that is none
            self._drop_connection()
            return self._postpone(batch, f"{type(error).__name__}: {error}", None)
        if 200 <= status < 300:
            self._counts["sent"] += len(batch)
            self._problem = None
            self._failures = 0
            return True
        self._problem = f"the receiver answered {status}"
        if status >= 500 or status in _TRY_AGAIN:
            return self._postpone(batch, self._problem, retry_after)
        if status in _SPLIT and len(batch) > 1:
            middle = len(batch) // 2
            return self._deliver(batch[:middle]) & self._deliver(batch[middle:])
        self._counts["refused"] += len(batch)
        return True

    def _postpone(self, batch: list[bytes], problem: str, retry_after: float | None) -> bool:
        self._counts["attempts_failed"] += 1
        self._problem = problem
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(self._failures, 10))
        self._failures += 1
        pause *= self._chance.uniform(0.5, 1.5)
        self._not_before = time.monotonic() + max(pause, retry_after or 0.0)
        room = max(0, self._limit - len(self._waiting))
        kept = batch[-room:] if room else []
        self._waiting.extendleft(reversed(kept))
        self._counts["dropped"] += len(batch) - len(kept)
        return False

    def _post(self, body: bytes) -> tuple[int, float | None]:
        connection = self._connection
        if connection is None:
            if self._secure:
                context = ssl.create_default_context()
                connection = http.client.HTTPSConnection(
                    self._host, self._port, timeout=self._timeout, context=context
                )
            else:
                connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
            self._connection = connection
        connection.request("POST", self._path, body, self._headers)
        reply = connection.getresponse()
        rest = reply.read(_MAX_REPLY)
        if len(rest) == _MAX_REPLY or reply.will_close:
            self._drop_connection()
        return reply.status, _seconds(reply.getheader("Retry-After"))

    def _drop_connection(self) -> None:
        connection, self._connection = getattr(self, "_connection", None), None
        if connection is not None:
            connection.close()


def _send_on(sender_ref: ref[Sender], wake: threading.Event) -> None:
    """Send until the sender is closed or gone."""
    pause = 0.0
    while True:
        wake.wait(pause)
        wake.clear()
        sender = sender_ref()
        if sender is None:
            return
        try:
            sender._send_all()
        except Exception as error:  # the thread must live on
            sender._problem = f"{type(error).__name__}: {error}"
        pause = max(sender._interval, sender._not_before - time.monotonic())
        if sender._closed:
            sender._drop_connection()
            return
        del sender


def _written(record: Mapping[str, Any]) -> bytes:
    """Write one record down; empty where that cannot be done."""
    try:
        return json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return b""


def _seconds(text: str | None) -> float | None:
    if text is None or not text.strip().isdecimal():
        return None
    return min(float(text), _LONGEST_RETRY_AFTER)


def _forget_parents() -> None:
    for sender in tuple(_living):
        if sender._connection is not None:
            _parents.append(sender._connection)
        sender._begin_anew()


def _close_all() -> None:
    for sender in tuple(_living):
        sender.close()


_living: WeakSet[Sender] = WeakSet()
# A child neither uses nor closes them: a thread that is the parent's alone may hold their locks for ever.
_parents: list[http.client.HTTPConnection] = []
atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
