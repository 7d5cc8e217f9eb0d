"""What goes out in place of a chat request, and why, if it is the request itself?

On any doubt the request goes out as it came. Nothing that goes wrong in here is the caller's trouble.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from routecanary.client.canary import CALL_COUNTERS, Canary
from routecanary.client.watch import FAILED
from routecanary.proxy.splice import BAD_BODY, BadBodyError, Peeked
from routecanary.web.http import Headers

LOG: Final = logging.getLogger("routecanary.proxy")

TOO_LARGE: Final = "too_large"
"""The body is longer than `max_edit`: it goes on as it comes."""

ENCODED: Final = "encoded_body"
"""The body has a content coding."""

EDIT_COUNTERS: Final = (*CALL_COUNTERS, BAD_BODY, TOO_LARGE, ENCODED)
"""Why a request may go out without the list."""

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
    model: str | None  # the first choice, as the request names it
    ignore: tuple[str, ...]  # the whole list that the request carries
    unchanged: str | None  # why it carries less than the list, the name of a counter


def wish_of(headers: Headers) -> Wish:
    """Read our own headers."""
    needs = headers.get(NEEDS_HEADER)
    return Wish(
        None if needs is None else tuple(word.strip() for word in needs.split(",") if word.strip()),
        headers.get(LOCALE_HEADER),
        headers.get(CONVERSATION_HEADER),
    )


def edit(canary: Canary, body: bytes, needs: Iterable[str] | None, locale: str | None) -> Edited:
    """Merge the exclusions into a body; never raises.

    Not for two threads at once: what a call counts is how its reason is known.
    """
    counters = canary.counters
    before = dict(counters)
    try:
        peeked = Peeked(body)
    except BadBodyError:
        return Edited(body, None, (), BAD_BODY)
    except Exception as error:
        LOG.error("request not read error=%s", type(error).__name__)
        return Edited(body, None, (), FAILED)
    request = peeked.request
    try:
        changes = canary.changes(request, needs=needs, locale=locale)
        edited = peeked.changed(changes) if changes else body
    except BadBodyError:
        return Edited(body, _name(request), _ignored(request), BAD_BODY)
    except Exception as error:
        LOG.error("request not edited error=%s", type(error).__name__)
        return Edited(body, _name(request), _ignored(request), FAILED)
    unchanged = None
    if counters != before:
        unchanged = next((name for name in CALL_COUNTERS if counters[name] > before[name]), None)
    return Edited(edited, _name(request), _ignored(changes or request), unchanged)


def _name(request: Mapping[str, object]) -> str | None:
    model = request.get("model")
    if isinstance(model, str):
        return model
    models = request.get("models")
    first = models[0] if isinstance(models, list) and models else None
    return first if isinstance(first, str) else None


def _ignored(request: Mapping[str, object]) -> tuple[str, ...]:
    provider = request.get("provider")
    ignore = provider.get("ignore") if isinstance(provider, dict) else None
    return tuple(name for name in ignore if isinstance(name, str)) if isinstance(ignore, list) else ()
