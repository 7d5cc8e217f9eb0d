"""What becomes of this one request, and why?

`Canary.changes` with what hooks have to report besides: which list the request carried, or why it carried
none. Each reason is counted in the canary too, as if the application had called it itself.

Source: docs/hooks.md, "What is told of an answer".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from routecanary.client.canary import BAD_SCOPE, CALL_COUNTERS, Canary
from routecanary.routing.allow import left_out
from routecanary.routing.view import VERCEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from routecanary.client.watch import Watch
    from routecanary.routing.view import Views

ENDPOINTS = frozenset({"chat/completions", "responses", "messages"})
"""Below the gateway's address, what takes `provider` and is answered by a chat model."""


class Advice:
    """What to change in a request, and what there is to say of it.

    `changes` are top-level keys with their new values; empty: it may go as it is. `ignore` is the whole list
    that it then carries (of an allow-list, whom it leaves out), None when that cannot be known. `reason` is
    the counter that says why it goes without the list, or with less of it. `written_at` dates the list, in
    epoch seconds.
    """

    __slots__ = ("changes", "ignore", "reason", "written_at")

    def __init__(
        self,
        changes: dict[str, Any],
        ignore: list[str] | None,
        reason: str | None,
        written_at: float | None,
    ) -> None:
        self.changes = changes
        self.ignore = ignore
        self.reason = reason
        self.written_at = written_at


class Adviser:
    """Asks one canary about one request after the other. Not for two threads at once."""

    def __init__(self, canary: Canary) -> None:
        self.canary = canary
        self._asking = Canary.__new__(Canary)  # the same canary, with counters of one call
        self._asking.__dict__.update(canary.__dict__)
        self._asking._counts = self._counts = dict.fromkeys(canary._counts, 0)

    @property
    def watch(self) -> Watch:
        """What keeps the last good snapshot, for whoever has to know more than the list."""
        return self.canary._watch

    def advise(
        self, request: Mapping[str, Any], *, needs: Iterable[str] | None = None, locale: str | None = None
    ) -> Advice:
        """Ask about one request; never raises.

        Args:
            request: A chat request; never changed.
            needs: As of `Canary.provider_preferences`.
            locale: Likewise.
        """
        views = self.canary._watch.views  # before the merge: the list may be newer than we say, never older
        changes = self._asking.changes(request, needs=needs, locale=locale)
        return Advice(
            changes,
            _carried(self.canary, views, {**request, **changes}),
            self._reason() if any(self._counts.values()) else None,
            None if views is None else views.snapshot.written_at,
        )

    def _reason(self) -> str | None:
        """Find out what the call counted, and count it in the canary."""
        reason = None
        for name, count in self._counts.items():
            if count:
                self._counts[name] = 0
                self.canary._counts[name] += count
                if name != BAD_SCOPE and name in CALL_COUNTERS:  # an unread scope means the whole list
                    reason = name
        return reason


def advise(
    canary: Canary,
    request: Mapping[str, Any],
    *,
    needs: Iterable[str] | None = None,
    locale: str | None = None,
) -> Advice:
    """Ask a canary about one request, from any thread; as `Adviser.advise`."""
    return Adviser(canary).advise(request, needs=needs, locale=locale)


def _carried(canary: Canary, views: Views | None, request: Mapping[str, Any]) -> list[str]:
    """List whom a request keeps away as it goes out."""
    if views is not None and views.gateway == VERCEL:
        return left_out(views, request, canary._clock())
    provider = request.get("provider")
    ignore = provider.get("ignore") if isinstance(provider, Mapping) else None
    return [name for name in ignore if isinstance(name, str)] if isinstance(ignore, (list, tuple)) else []


def pass_unchanged(canary: Canary, reason: str) -> Advice:
    """Count why a request goes as it is, unread; a reason of `CALL_COUNTERS`."""
    canary._counts[reason] += 1
    return Advice({}, None, reason, None)
