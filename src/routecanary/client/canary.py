"""How does an application ask, without ever waiting for Routecanary or failing by it?

A call merges from memory and does no I/O; a background thread looks at the file. Whatever is wrong with
Routecanary, the caller's preferences come back at least as they were, and `status()` counts why.

Source: policy.md §8.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping

from routecanary.client.file import SnapshotFile, default_path, is_url
from routecanary.client.watch import FAILED, LOOK_COUNTERS, Watch
from routecanary.routing.allow import changes_of, fallbacks_of
from routecanary.routing.merge import EMPTYING, merge
from routecanary.routing.patch import BAD_REQUEST, PRESET, models_of, names_preset
from routecanary.routing.scope import Scope
from routecanary.routing.view import (
    FROM_FUTURE,
    NO_SNAPSHOT,
    NOTHING_KNOWN,
    OPENROUTER,
    STALE,
    UNKNOWN_MODEL,
    VERCEL,
    View,
    Views,
)

TYPE_CHECKING = False  # importing typing would cost the application more than all of this
if TYPE_CHECKING:
    from typing import Any, Self

    from routecanary.client.watch import Source

BAD_EXISTING = "bad_existing"
BAD_SCOPE = "bad_scope"
OTHER_GATEWAY = "other_gateway"
UNREAD_BODY = "unread_body"
CALL_COUNTERS = (
    *(NO_SNAPSHOT, STALE, FROM_FUTURE, UNKNOWN_MODEL),
    *(EMPTYING, PRESET, BAD_EXISTING, BAD_REQUEST, BAD_SCOPE, OTHER_GATEWAY),
    *(UNREAD_BODY, FAILED),
)
"""What a call may count: the reasons why something else was merged than what was asked for."""


class Canary:
    """The exclusions in force, for as many threads as like to ask.

    Owns one daemon thread until `close()`; after a fork the child starts its own at the first call. It may be
    made before the daemon has ever run: until a snapshot appears, nothing is merged.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        token: str | None = None,
        interval: float = 0.5,
        clock: Callable[[], float] = time.time,
        thread: bool = True,
    ) -> None:
        """Read the snapshot once, then keep it fresh.

        Args:
            path: The daemon's snapshot file, or the address of a listener, `http://127.0.0.1:7450`; None =
                `default_path()`. A listener is asked once before this returns:
                2 seconds for connecting and for the answer's head.
            token: Shown to the listener; None = what `ROUTECANARY_TOKEN` says, if anything.
            interval: Seconds between two looks at the file, or two questions to the listener, which answers
                when something changes: an act is in effect after at most about that long.
            clock: Wall time in epoch seconds, the same as the daemon's.
            thread: False: no background thread; the application calls `refresh()` itself.
        Raises:
            ValueError: `interval` is not above 0, or the address is none.
        """
        if not interval > 0:
            raise ValueError(f"interval must be above 0 seconds, not {interval!r}")
        self.path = os.fspath(default_path() if path is None else path)
        self._clock = clock
        # `+= 1` on these is one uninterrupted step under the interpreter's lock, so threads lose no count.
        self._counts = dict.fromkeys((*CALL_COUNTERS, *LOOK_COUNTERS), 0)
        self._watch = Watch(
            _source(self.path, token), interval=interval, clock=clock, counts=self._counts, threaded=thread
        )
        self.refresh()

    def provider_preferences(
        self,
        model: str,
        existing: Mapping[str, Any] | None = None,
        *,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
    ) -> dict[str, Any]:
        """Merge the exclusions of a model into a copy of the caller's `provider` object.

        Args:
            model: As the request names it: id, dated slug, alias; with `:nitro`, `:floor` or `:exacto`.
            existing: The caller's own preferences; never changed.
            needs: What the answer must keep to, of latency, filtering, structured, language, integrity: a
                route that only breaks JSON is left to a caller that needs none. None = everything.
            locale: In which the answer is wanted, such as `th`: a route that fails `language` in other
                locales is left. None = any.
        Returns:
            A new dict, its lists new too. What is no JSON object comes back as it is, and so do preferences
            for a gateway that takes none: `provider_options` and `patch` serve that.
        """
        try:
            now = self._clock()
            if needs is not None or locale is not None:
                view = self._find_scoped(model, now, needs, locale)
                return _unchanged(existing) if view is None else self._merge(view, existing)
            view = self._watch.by_name.get(model)
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

    def provider_options(
        self,
        model: str,
        existing: Mapping[str, Any] | None = None,
        *,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
    ) -> dict[str, Any]:
        """Lay the exclusions of a model into a copy of the caller's `providerOptions`, as an allow-list.

        For the Vercel AI Gateway, which knows no `ignore`: `gateway.only` is narrowed, or made of the routes
        that are listed. For the models of another gateway the options come back as they are.

        Args:
            model: As the request names it.
            existing: The caller's own options; never changed.
            needs: As of `provider_preferences`.
            locale: Likewise.
        """
        try:
            self._watch.ensure_thread()
            views = self._watch.views
            given: object = model  # whatever its annotation says
            if views is None:
                self._counts[NO_SNAPSHOT] += 1
                return _unchanged(existing)
            if not isinstance(given, str):
                self._counts[BAD_REQUEST] += 1
                return _unchanged(existing)
            changes = self._options(views, (given,), {"providerOptions": existing}, needs, locale)
            return changes.get("providerOptions") or _unchanged(existing)
        except Exception:  # as above
            self._counts[FAILED] += 1
            return _unchanged(existing)

    def patch(
        self, request: Mapping[str, Any], *, needs: Iterable[str] | None = None, locale: str | None = None
    ) -> dict[str, Any]:
        """Merge the exclusions into a copy of a chat request, as the gateway of the snapshot wants them.

        Args:
            needs: As of `provider_preferences`.
            locale: Likewise.
        Returns:
            A new dict; every value but those of `changes` is shared with `request`, which is never changed. A
            request with a preset is copied as it is, and so is one that names no model.
        """
        given: object = request  # whatever its annotation says
        if not isinstance(given, Mapping):
            self._counts[BAD_REQUEST] += 1
            return _unchanged(given)
        try:
            patched = dict(given)
        except Exception:  # as above
            self._counts[FAILED] += 1
            return _unchanged(given)
        patched.update(self.changes(patched, needs=needs, locale=locale))
        return patched

    def changes(
        self, request: Mapping[str, Any], *, needs: Iterable[str] | None = None, locale: str | None = None
    ) -> dict[str, Any]:
        """Say which top-level keys of a chat request must read otherwise, and how.

        `patch` without the copy, for whoever holds a request as bytes. Read of it are `model`, `models`,
        `preset`, `provider` and `providerOptions`.

        Args:
            request: The request, or those keys of it; never changed.
            needs: As of `provider_preferences`.
            locale: Likewise.
        Returns:
            `provider`, or for the Vercel AI Gateway `providerOptions` (`provider` where the caller's own
            `only` stands there); empty: the request may go as it is.
        """
        try:
            models = models_of(request)
            if isinstance(models, str):
                self._counts[models] += 1
                return {}
            views = self._watch.views
            if views is not None and views.gateway != OPENROUTER:
                self._watch.ensure_thread()
                return self._options(views, models, request, needs, locale)
            existing = request.get("provider")
            if len(models) == 1:
                merged = self.provider_preferences(models[0], existing, needs=needs, locale=locale)
            else:
                merged = self._merge(self._find_common(models, self._scope(needs, locale)), existing)
            return {"provider": merged} if merged or existing is not None else {}
        except Exception:  # as above
            self._counts[FAILED] += 1
            return {}

    def refresh(self) -> bool:
        """Look at the snapshot now, and say whether a new snapshot was taken into use.

        Never raises for what is wrong with it: that is counted, and the last good snapshot stays.
        """
        taken = self._watch.look()
        self._watch.ensure_thread()
        return taken

    def status(self) -> dict[str, Any]:
        """Describe the state for a health check; all values are plain JSON.

        `ok` is true when a snapshot is in use, the canary layer is believed, and the last look found nothing
        amiss. `released` and `paused` list the models whose canary layer is left out of the merge on purpose:
        no route was left, or a person stopped it. `counters` holds every name of `CALL_COUNTERS` and
        `LOOK_COUNTERS`.
        """
        watch, views = self._watch, self._watch.views
        now = self._clock()
        doubt = NO_SNAPSHOT if views is None else views.doubt_at(now)
        models = {} if views is None else views.snapshot.models
        enforced = {name: facts for name, facts in models.items() if facts.enforced}
        return {
            "ok": doubt is None and watch.fault is None,
            "path": self.path,
            "loaded": views is not None,
            "gateway": None if views is None else views.gateway,
            "loads": watch.loads,
            "models": len(models),
            "written_at": None if views is None else views.snapshot.written_at,
            "age_seconds": None if views is None else now - views.snapshot.written_at,
            "stale": doubt == STALE,
            "from_future": doubt == FROM_FUTURE,
            "released": sorted(name for name, facts in enforced.items() if facts.released),
            "paused": sorted(name for name, facts in enforced.items() if facts.is_paused(now)),
            "fault": watch.fault,
            "problem": watch.problem,
            "watching": watch.alive,
            "counters": self._counts.copy(),
        }

    def close(self) -> None:
        """Stop the background thread. Calls go on with the last snapshot, until it is stale."""
        self._watch.close()

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

    def _options(
        self,
        views: Views,
        models: tuple[str, ...],
        request: Mapping[str, Any],
        needs: Iterable[str] | None,
        locale: str | None,
    ) -> dict[str, Any]:
        """Say what must change in a request to a gateway that knows no `ignore`."""
        fallbacks = fallbacks_of(request) if views.gateway == VERCEL else None
        if fallbacks is None:
            self._counts[BAD_EXISTING if views.gateway == VERCEL else OTHER_GATEWAY] += 1
            return {}
        now, scope = self._clock(), self._scope(needs, locale)
        found = [views.at(name, now, scope) for name in dict.fromkeys((*models, *fallbacks))]
        doubts = [view.doubt for view in found if view.doubt is not None]
        if doubts:
            self._counts[doubts[0]] += 1
        changes = changes_of(found, request, self._counts)
        if changes is None:
            self._counts[BAD_EXISTING] += 1
        return changes or {}

    def _find(self, model: object, now: float) -> View | None:
        """Take the long way to a view: after a fork, at the end of a view, for a name seen first."""
        self._watch.ensure_thread()
        if not isinstance(model, str):
            self._counts[BAD_REQUEST] += 1
            return None
        if names_preset(model):
            self._counts[PRESET] += 1
            return None
        views = self._watch.views
        if views is None:
            return NOTHING_KNOWN
        if views.gateway != OPENROUTER:
            self._counts[OTHER_GATEWAY] += 1
            return None
        return views.find(model, now)

    def _find_common(self, models: tuple[str, ...], scope: Scope | None) -> View:
        self._watch.ensure_thread()
        views = self._watch.views
        return NOTHING_KNOWN if views is None else views.find_common(models, self._clock(), scope)

    def _find_scoped(
        self, model: object, now: float, needs: Iterable[str] | None, locale: str | None
    ) -> View | None:
        scope, views = self._scope(needs, locale), self._watch.views
        if scope is None or views is None or not isinstance(model, str) or names_preset(model):
            return self._find(model, now)
        if views.gateway != OPENROUTER:
            return self._find(model, now)
        self._watch.ensure_thread()
        return views.find_scoped(model, now, scope)

    def _scope(self, needs: Iterable[str] | None, locale: str | None) -> Scope | None:
        """Read what a caller says that it needs; what cannot be read means the whole list, and is counted."""
        if needs is None and locale is None:
            return None
        try:
            return Scope(needs, locale)
        except (TypeError, ValueError):
            self._counts[BAD_SCOPE] += 1
            return None


def _source(place: str, token: str | None) -> Source:
    if not is_url(place):
        return SnapshotFile(place)
    from routecanary.client.url import SnapshotUrl  # noqa: PLC0415 - most applications read the file

    return SnapshotUrl(place, os.environ.get("ROUTECANARY_TOKEN") if token is None else token)


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
