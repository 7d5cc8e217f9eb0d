"""What goes out in place of a chat request, and why, if it is the request itself?

On any doubt the request goes out as it came. Nothing that goes wrong in here is the caller's trouble.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from routecanary.client.advice import Adviser, pass_unchanged
from routecanary.client.canary import UNREAD_BODY, Canary
from routecanary.client.watch import FAILED
from routecanary.proxy.splice import BadBodyError, Peeked
from routecanary.web.head import Head

LOG: Final = logging.getLogger("routecanary.proxy")

NEEDS_HEADER: Final = b"x-routecanary-needs"
LOCALE_HEADER: Final = b"x-routecanary-locale"
CONVERSATION_HEADER: Final = b"x-routecanary-conversation"


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


def wish_of(head: Head) -> Wish:
    """Read our own headers."""
    needs = _text(head, NEEDS_HEADER)
    return Wish(
        None if needs is None else tuple(word.strip() for word in needs.split(",") if word.strip()),
        _text(head, LOCALE_HEADER),
        _text(head, CONVERSATION_HEADER),
    )


def _text(head: Head, name: bytes) -> str | None:
    value = head.fields.get(name)
    return None if value is None else value.decode("latin-1")


def edit(adviser: Adviser, body: bytes, needs: Iterable[str] | None, locale: str | None) -> Edited:
    """Merge the exclusions into a body; never raises."""
    request: Mapping[str, object] = {}
    try:
        peeked = Peeked(body)
        request = peeked.request
        advice = adviser.advise(request, needs=needs, locale=locale)
        edited = peeked.changed(advice.changes) if advice.changes else body
    except BadBodyError:
        return unedited(adviser.canary, body, UNREAD_BODY, _model(request))
    except Exception as error:
        LOG.error("request not edited error=%s", type(error).__name__)
        return unedited(adviser.canary, body, FAILED, _model(request))
    ignore = None if advice.ignore is None else tuple(advice.ignore)
    return Edited(edited, _model(request), ignore, advice.reason, advice.written_at)


def unedited(canary: Canary, body: bytes, reason: str, model: str | None = None) -> Edited:
    """Count why a body goes out as it came; a reason of the client's counters."""
    pass_unchanged(canary, reason)
    return Edited(body, model, None, reason, None)


def _model(request: Mapping[str, object]) -> str | None:
    model = request.get("model")
    return model if isinstance(model, str) and model and not request.get("models") else None
