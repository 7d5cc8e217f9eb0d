"""How do changes enter a request's JSON, the caller's own bytes left as they are?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_encode: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode

MAX_BODY: Final = 8 * 1024 * 1024  # bytes; a larger request is not read


def read_body(body: bytes) -> dict[str, Any] | None:
    """Parse a chat request's body; None where it is no JSON object in UTF-8, or too large to look at."""
    if len(body) > MAX_BODY:
        return None
    try:
        request = json.loads(
            body.decode()
        )  # as UTF-8; of bytes it would guess, and we would write ASCII into it
    except (ValueError, RecursionError):
        return None
    return request if isinstance(request, dict) else None


def write_body(body: bytes, request: Mapping[str, Any], changes: Mapping[str, Any]) -> bytes | None:
    """Write a body with some of its top-level keys changed.

    New keys are put in front of the caller's own, whose bytes stay as they are. Where a key is there already
    the whole is written anew; None where that could not be read back as it was.

    Args:
        body: UTF-8, as `read_body` took it.
        request: What it says.
        changes: At least one key with its new value.
    """
    try:
        if changes.keys().isdisjoint(request):
            brace = body.index(b"{") + 1
            added = _encode(changes)[1:-1].encode()
            return b"".join((body[:brace], added, b"," if request else b"", body[brace:]))
        return _encode({**request, **changes}).encode()
    except (TypeError, ValueError, RecursionError):
        return None
