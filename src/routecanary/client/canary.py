"""How does an application ask, without ever waiting for Routecanary or failing by it?

A call merges from memory and does no I/O; a background thread looks at the file. Whatever is wrong with
Routecanary, the caller's preferences come back at least as they were, and `status()` counts why.

Source: policy.md §8.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from weakref import WeakSet, ref

from routecanary.client.file import SnapshotFile, default_path
from routecanary.errors import SnapshotVersionError
from routecanary.routing.merge import EMPTYING, merge
from routecanary.routing.patch import BAD_REQUEST, PRESET, models_of, names_preset
from routecanary.routing.view import (
    FROM_FUTURE,
    NO_SNAPSHOT,
    NOTHING_KNOWN,
    STALE,
    UNKNOWN_MODEL,
    View,
    Views,
)

TYPE_CHECKING = False  # importing typing would cost the application more than all of this
if TYPE_CHECKING:
    from typing import Any, Self

    from routecanary.routing.reading import Snapshot

BAD_EXISTING = "bad_existing"
FAILED = "failed"
CALL_COUNTERS = (
    *(NO_SNAPSHOT, STALE, FROM_FUTURE, UNKNOWN_MODEL),
    *(EMPTYING, PRESET, BAD_EXISTING, BAD_REQUEST, FAILED),
)
"""What a call may count: the reasons why less was merged than the daemon's whole list."""

MISSING = "missing_file"
UNREADABLE = "unreadable"
MALFORMED = "malformed"
FUTURE_VERSION = "future_version"
LOOK_COUNTERS = (MISSING, UNREADABLE, MALFORMED, FUTURE_VERSION)
"""What a look at the file may count; the snapshot that was read before stays in use."""


_PATIENCE = 5.0  # seconds that closing waits for a look that hangs on its file system


class Canary:
    """The exclusions in force, for as many threads as like to ask.

    Owns one daemon thread until `close()`; after a fork the child starts its own at the first call. It may be
    made before the daemon has ever run: until a snapshot appears, nothing is merged.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        interval: float = 0.5,
        clock: Callable[[], float] = time.time,
        thread: bool = True,
    ) -> None:
        """Read the snapshot once, then keep it fresh.

        Args:
            path: The daemon's snapshot file; None = `default_path()`.
            interval: Seconds between two looks at the file: an act is in effect after at most that long.
            clock: Wall time in epoch seconds, the same as the daemon's.
            thread: False: no background thread; the application calls `refresh()` itself.
        Raises:
            ValueError: `interval` is not above 0.
        """
        if not interval > 0:
            raise ValueError(f"interval must be above 0 seconds, not {interval!r}")
        self.path = os.fspath(default_path() if path is None else path)
        self._clock = clock
        self._interval = interval
        # `+= 1` on these is one uninterrupted step under the interpreter's lock, so threads lose no count.
        self._counts = dict.fromkeys((*CALL_COUNTERS, *LOOK_COUNTERS), 0)
        self._views: Views | None = None
        self._by_name: dict[str, View] = {}  # of `_views`; empty while the long way has to be taken
        self._file = SnapshotFile(self.path)
        self._fault: str | None = None
        self._problem: str | None = None
        self._loads = 0
        self._looking = threading.Lock()
        self._starting = threading.Lock()
        self._watched = thread  # and not closed
        self._watcher: threading.Thread | None = None
        self._stop = threading.Event()
        _living.add(self)
        self.refresh()

    def provider_preferences(self, model: str, existing: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Merge the exclusions of a model into a copy of the caller's `provider` object.

        Args:
            model: As the request names it: id, dated slug, alias; with `:nitro`, `:floor` or `:exacto`.
            existing: The caller's own preferences; never changed.
        Returns:
            A new dict, its lists new too. What is no JSON object comes back as it is.
        """
        try:
            now = self._clock()
            view = self._by_name.get(model)
            if view is None or not view.since <= now < view.until:
                view = self._find(model, now)
                if view is None:
                    return _unchanged(existing)
            if type(existing) is dict and view.doubt is None:  # mostly; a detour would cost a tenth
                merged = merge(view, existing, self._counts)
                if merged is not None:
                    return merged
            return self._merge(view, existing)
        except Exception:  # our trouble is never the request's; the counter tells of it
            self._counts[FAILED] += 1
            return _unchanged(existing)

    def patch(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Merge the exclusions into a copy of a chat request, by its `model`, `models`, `preset`, `provider`.

        Returns:
            A new dict; every value but `provider` is shared with `request`, which is never changed. A request
            with a preset is copied as it is, and so is one that names no model.
        """
        try:
            given: object = request  # whatever its annotation says
            if not isinstance(given, Mapping):
                self._counts[BAD_REQUEST] += 1
                return _unchanged(given)
            patched = dict(given)
            models = models_of(patched)
            if isinstance(models, str):
                self._counts[models] += 1
                return patched
            existing = patched.get("provider")
            if len(models) == 1:
                merged = self.provider_preferences(models[0], existing)
            else:
                merged = self._merge(self._find_common(models), existing)
            if merged or existing is not None:
                patched["provider"] = merged
            return patched
        except Exception:  # as above
            self._counts[FAILED] += 1
            return _unchanged(request)

    def refresh(self) -> bool:
        """Look at the file now, and say whether a new snapshot was taken into use.

        Never raises for what is wrong with the file: that is counted, and the last good snapshot stays.
        """
        taken = self._look()
        if self._watched and self._watcher is None:
            self._start()
        return taken

    def status(self) -> dict[str, Any]:
        """Describe the state for a health check; all values are plain JSON.

        `ok` is true when a snapshot is in use, the canary layer is believed, and the last look found nothing
        amiss. `counters` holds every name of `CALL_COUNTERS` and `LOOK_COUNTERS`.
        """
        views = self._views
        now = self._clock()
        doubt = NO_SNAPSHOT if views is None else views.doubt_at(now)
        return {
            "ok": doubt is None and self._fault is None,
            "path": self.path,
            "loaded": views is not None,
            "loads": self._loads,
            "models": 0 if views is None else len(views.snapshot.models),
            "written_at": None if views is None else views.snapshot.written_at,
            "age_seconds": None if views is None else now - views.snapshot.written_at,
            "stale": doubt == STALE,
            "from_future": doubt == FROM_FUTURE,
            "fault": self._fault,
            "problem": self._problem,
            "watching": self._watcher is not None and self._watcher.is_alive(),
            "counters": self._counts.copy(),
        }

    def close(self) -> None:
        """Stop the background thread. Calls go on with the last snapshot, until it is stale."""
        self._watched = False
        self._stop.set()
        watcher = self._watcher
        if watcher is not None and watcher is not threading.current_thread():
            watcher.join(timeout=_PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _merge(self, view: View, existing: object) -> dict[str, Any]:
        counts = self._counts
        if view.doubt is not None:
            counts[view.doubt] += 1
        if type(existing) is dict or existing is None:
            merged = merge(view, existing, counts)
        elif isinstance(existing, Mapping):
            merged = merge(view, dict(existing), counts)
        else:
            merged = None
        if merged is not None:
            return merged
        counts[BAD_EXISTING] += 1
        return _unchanged(existing)

    def _find(self, model: object, now: float) -> View | None:
        """Take the long way to a view: after a fork, at the end of a view, for a name seen first."""
        if self._watched and self._watcher is None:
            self._start()
        if not isinstance(model, str):
            self._counts[BAD_REQUEST] += 1
            return None
        if names_preset(model):
            self._counts[PRESET] += 1
            return None
        return NOTHING_KNOWN if self._views is None else self._views.find(model, now)

    def _find_common(self, models: tuple[str, ...]) -> View:
        if self._watched and self._watcher is None:
            self._start()
        return NOTHING_KNOWN if self._views is None else self._views.find_common(models, self._clock())

    def _look(self) -> bool:
        with self._looking:
            try:
                content = self._file.read_if_changed()
                if content is None:
                    if self._fault is not None:
                        self._counts[self._fault] += 1
                    return False
                views = Views(_read(content), self._clock())
            except Exception as error:  # the thread must live on, and so must the application
                self._fault = _fault_of(error)
                self._problem = f"{type(error).__name__}: {error}"
                self._counts[self._fault] += 1
                return False
            self._fault = self._problem = None
            self._views = views
            if not self._watched or self._watcher is not None:
                self._by_name = views.by_name
            self._loads += 1
            return True

    def _start(self) -> None:
        """Start the thread that this process lacks; where none can be started, a later call tries again."""
        if self._starting.acquire(blocking=False):
            try:
                if self._watcher is None:
                    arguments = (ref(self), self._stop, self._interval)
                    watcher = threading.Thread(target=_watch, args=arguments, name="routecanary", daemon=True)
                    watcher.start()
                    self._watcher = watcher
                    if self._fault is None:
                        self._problem = None
                if self._views is not None:
                    self._by_name = self._views.by_name
            except RuntimeError as error:  # no room for a thread, or the interpreter is going down
                self._problem = f"no background thread: {error}"
            finally:
                self._starting.release()

    def _after_fork(self) -> None:
        """Forget what a forked child has not got: the thread, and locks that some thread held."""
        self._looking = threading.Lock()
        self._starting = threading.Lock()
        self._stop = threading.Event()
        self._watcher = None
        self._file = SnapshotFile(self.path)  # the thread may have been half through a reading
        if self._watched:
            self._by_name = {}  # the next call takes the long way, where a thread is started


def _watch(canary_ref: Callable[[], Canary | None], stop: threading.Event, interval: float) -> None:
    """Look again and again, until the canary is closed or nobody has it any more."""
    while not stop.wait(interval):
        canary = canary_ref()
        if canary is None:
            return
        canary._look()
        del canary


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
        case _:
            return MALFORMED


def _unchanged(existing: object) -> dict[str, Any]:
    """Copy what the caller gave, as it is."""
    if existing is None:
        return {}
    try:
        if isinstance(existing, Mapping):
            return {name: value.copy() if type(value) is list else value for name, value in existing.items()}
    except Exception:  # noqa: S110 - a mapping that cannot be read is the caller's own affair
        pass
    return existing  # type: ignore[return-value]  # for the gateway to refuse


def _after_fork() -> None:
    for canary in tuple(_living):
        canary._after_fork()


_living: WeakSet[Canary] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
