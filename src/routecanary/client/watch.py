"""What is the last good snapshot, and who looks for the next one?

A daemon thread looks at the file, or asks the listener, again and again. It holds its owner weakly, so that
it ends with it; after a fork, which takes no thread along, the child starts its own when it first asks.

Source: docs/routing.md, "What `status()` tells".
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from weakref import WeakSet, ref

from routecanary.errors import SnapshotError, SnapshotVersionError
from routecanary.routing.view import View, Views

TYPE_CHECKING = False  # importing typing would cost the application more than all of this
if TYPE_CHECKING:
    from typing import Protocol

    from routecanary.routing.reading import Snapshot

    class Source(Protocol):
        """Where snapshots come from; not for two threads at once, save that one may be in `wait`."""

        waits: bool  # whether it learns of a change by waiting for it

        def read_if_changed(self) -> bytes | None:
            """Return what is there if it is another than was returned last, None if it is the same."""

        def wait(self) -> bytes | None:
            """Do the same when it changes, or after a while."""

        def pause(self, interval: float, *, failed: bool) -> float:
            """Say how many seconds to leave before the next look."""

        def forget(self) -> None:
            """Read whatever is there at the next call."""

        def after_fork(self) -> Source:
            """Make another one for a child, which has read nothing yet and shares nothing with its parent."""

        def close(self) -> None:
            """Hold nothing open, and end a call that waits."""


MISSING = "missing_file"
UNREADABLE = "unreadable"
MALFORMED = "malformed"
FUTURE_VERSION = "future_version"
LOOK_COUNTERS = (MISSING, UNREADABLE, MALFORMED, FUTURE_VERSION)
"""What a look at the file may count; the snapshot that was read before stays in use."""

FAILED = "failed"
"""An error of our own, in a look or in a call."""

_PATIENCE = 5.0  # seconds that closing waits for a look that hangs on its file system


class Watch:
    """The views of the last good snapshot, kept fresh by a thread of their own.

    `by_name` is what may be merged of `views`, or empty while the long way has to be taken: before the first
    snapshot, and in a forked child until it has a thread. `fault` and `problem` say what the last look found
    amiss, as the name of a counter and as a sentence. `content` is what `views` were made of, as it came.
    """

    def __init__(
        self,
        source: Source,
        *,
        interval: float,
        clock: Callable[[], float],
        counts: dict[str, int],
        threaded: bool,
    ) -> None:
        self.source = source
        self.views: Views | None = None
        self.content = b""
        self.by_name: dict[str, View] = {}
        self.fault: str | None = None
        self.problem: str | None = None
        self.loads = 0
        self._interval = interval
        self._clock = clock
        self._counts = counts
        self._threaded = threaded  # and not closed
        self._looking = threading.Lock()
        self._starting = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        _living.add(self)

    @property
    def alive(self) -> bool:
        """Say whether the thread of this process runs."""
        return self._thread is not None and self._thread.is_alive()

    def look(self) -> bool:
        """Look now, and say whether a new snapshot was taken into use."""
        with self._looking:
            try:
                content = self.source.read_if_changed()
            except Exception as error:  # the thread must live on, and so must the application
                return self._failed(error)
            return self._take(content)

    def waited(self, content: bytes | None, error: Exception | None) -> bool:
        """Do the same with what the thread has waited for."""
        with self._looking:
            return self._take(content) if error is None else self._failed(error)

    def _take(self, content: bytes | None) -> bool:
        if content is None:
            if self.fault is not None:
                self._counts[self.fault] += 1
            return False
        try:
            views = Views(_read(content), self._clock())
        except Exception as error:  # as above
            return self._failed(error)
        self.fault = self.problem = None
        self.content = content
        self.views = views
        if not self._threaded or self._thread is not None:
            self.by_name = views.mergeable
        self.loads += 1
        return True

    def _failed(self, error: Exception) -> bool:
        self.fault = _fault_of(error)
        self.problem = f"{type(error).__name__}: {error}"
        self._counts[self.fault] += 1
        if self.fault == FAILED:
            self.source.forget()  # not the content's fault: it is read again
        return False

    def ensure_thread(self) -> None:
        """Start the thread that this process lacks; where none can be started, a later call tries again."""
        if not self._threaded or self._thread is not None or not self._starting.acquire(blocking=False):
            return
        try:
            if self._thread is None:
                arguments = (ref(self), self._stop, self._interval)
                thread = threading.Thread(target=_look_on, args=arguments, name="routecanary", daemon=True)
                thread.start()
                self._thread = thread
                if self.fault is None:
                    self.problem = None
            if self.views is not None:
                self.by_name = self.views.mergeable
        except RuntimeError as error:  # no room for a thread, or the interpreter is going down
            self.problem = f"no background thread: {error}"
        finally:
            self._starting.release()

    def close(self) -> None:
        """End the thread."""
        self._threaded = False
        self._stop.set()
        self.source.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=_PATIENCE)

    def forget_parent(self) -> None:
        """Drop what a forked child has not got: the thread, and the locks that some thread held."""
        self._looking = threading.Lock()
        self._starting = threading.Lock()
        self._stop = threading.Event()
        self._thread = None
        self.source = self.source.after_fork()  # the thread may have been half through a reading
        if self._threaded:
            self.by_name = {}  # the next call takes the long way, where a thread is started


def _look_on(watch_ref: Callable[[], Watch | None], stop: threading.Event, interval: float) -> None:
    pause = interval
    while not stop.wait(pause):
        watch = watch_ref()
        if watch is None:
            return
        source = watch.source
        if source.waits:
            del watch  # the application may let go of it while this waits
            content, problem = _waited(source)
            watch = watch_ref()
            if watch is None or stop.is_set():
                source.close()
                return
            watch.waited(content, problem)
        else:
            watch.look()
        pause = source.pause(interval, failed=watch.fault is not None)
        del watch


def _waited(source: Source) -> tuple[bytes | None, Exception | None]:
    try:
        return source.wait(), None
    except Exception as error:  # for the watch to count
        return None, error


def _read(content: bytes) -> Snapshot:
    # Imported when there is a file to read: json and datetime cost more than all the rest of this package.
    from json import loads  # noqa: PLC0415

    from routecanary.routing.reading import read_snapshot  # noqa: PLC0415

    return read_snapshot(loads(content.decode("utf-8")))


def _fault_of(error: Exception) -> str:
    match error:
        case FileNotFoundError():
            return MISSING
        case OSError():
            return UNREADABLE
        case SnapshotVersionError():
            return FUTURE_VERSION
        case SnapshotError() | ValueError() | RecursionError():
            return MALFORMED
        case _:
            return FAILED


def _forget_parents() -> None:
    for watch in tuple(_living):
        watch.forget_parent()


_living: WeakSet[Watch] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
