"""What is answered when the gateway cannot be asked? Nobody else can answer then."""

from __future__ import annotations

import ssl
from socket import gaierror
from typing import Final

import msgspec

from routecanary.web.message import JSON, Response

ERROR_HEADER: Final = "x-routecanary-error"
"""Says that an answer is the proxy's own, and why."""

BAD_ANSWER: Final = "bad_answer"
CLOSED: Final = "closed"
SILENT: Final = "silent"

FAILURES: Final = {
    "resolve": "the gateway's name could not be resolved",
    "connect": "no connection to the gateway",
    "timeout": "no connection to the gateway in time",
    "tls": "the gateway's certificate or TLS was refused",
    CLOSED: "the gateway ended the connection without an answer",
    SILENT: "the gateway was silent for too long",
    BAD_ANSWER: "the gateway's answer could not be read",
}
"""Why the gateway was not reached, and how that is told."""


def failure(reason: str) -> tuple[Response, bytes]:
    """Make an answer of our own in the gateway's envelope, and its body."""
    message = f"routecanary proxy: {FAILURES[reason]}"
    metadata = {"error_type": "provider_unavailable", "source": "routecanary-proxy", "reason": reason}
    body = msgspec.json.encode({"error": {"code": 502, "message": message, "metadata": metadata}})
    return Response(502, body, [JSON, (ERROR_HEADER, reason)]), body


def reason_of(error: Exception) -> str:
    """Say why there was no connection."""
    match error:
        case gaierror() | UnicodeError():  # the latter from a name that cannot be asked for
            return "resolve"
        case ssl.SSLError():
            return "tls"
        case TimeoutError():
            return "timeout"
        case _:
            return "connect"
