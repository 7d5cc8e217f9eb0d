"""What goes out in place of a chat request, and why, if it is the request itself?

On any doubt the request goes out as it came. Nothing that goes wrong in here is the caller's trouble.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from routecanary.client.advice import advise, pass_unchanged
from routecanary.client.canary import UNREAD_BODY, Canary
from routecanary.client.watch import FAILED
from routecanary.proxy.splice import BadBodyError, Peeked
from routecanary.web.http import Headers

LOG: Final = logging.getLogger("routecanary.proxy")

NEEDS_HEADER: Final = "x-routecanary-needs"
LOCALE_HEADER: Final = "x-routecanary-locale"
CONVERSATION_HEADER: Final = "x-routecanary-conversation"

EDITED_PATHS: Final = frozenset({"/chat/completions", "/responses", "/messages"})
"""What takes a `provider` object and is answered by a chat model, below the gateway's base address."""


class Wish(NamedTuple):
    """What a request says of itself in our own headers, which go no further."""

    needs: tuple[str, ...] | None
    locale: str | None
    conversation: str | None


class Edited(NamedTuple):
    """A body to be sent, and what is known of it."""

    body: bytes
    model: str | None  # as the request names it; None = it is not known, or only the answer can tell
    ignore: tuple[str, ...] | None  # the whole list that the request carries; None = it is not known
    unchanged: str | None  # why it carries less than the list, the name of a counter
    written_at: float | None  # of the list, epoch seconds


def wish_of(headers: Headers) -> Wish:
    """Read our own headers."""
    needs = headers.get(NEEDS_HEADER)
    return Wish(
        None if needs is None else tuple(word.strip() for word in needs.split(",") if word.strip()),
        headers.get(LOCALE_HEADER),
        headers.get(CONVERSATION_HEADER),
    )


def edit(canary: Canary, body: bytes, needs: Iterable[str] | None, locale: str | None) -> Edited:
    """Merge the exclusions into a body; never raises."""
    request: Mapping[str, object] = {}
    try:
        peeked = Peeked(body)
        request = peeked.request
        advice = advise(canary, request, needs=needs, locale=locale)
        edited = peeked.changed(advice.changes) if advice.changes else body
    except BadBodyError:
        return unedited(canary, body, UNREAD_BODY, _model(request))
    except Exception as error:
        LOG.error("request not edited error=%s", type(error).__name__)
        return unedited(canary, body, FAILED, _model(request))
    ignore = None if advice.ignore is None else tuple(advice.ignore)
    return Edited(edited, _model(request), ignore, advice.reason, advice.written_at)


def unedited(canary: Canary, body: bytes, reason: str, model: str | None = None) -> Edited:
    """Count why a body goes out as it came; a reason of the client's counters."""
    pass_unchanged(canary, reason)
    return Edited(body, model, None, reason, None)


def _model(request: Mapping[str, object]) -> str | None:
    model = request.get("model")
    return model if isinstance(model, str) and model and not request.get("models") else None
