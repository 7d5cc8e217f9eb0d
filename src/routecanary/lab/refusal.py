"""How does the gateway itself say no, before any route has answered?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from routecanary.domain.probe import Json
from routecanary.errors import RoutecanaryError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An HTTP status with the gateway's error envelope.

    Source: openrouter-wire.md §4.1.
    """

    status: int
    message: str
    metadata: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    router: Mapping[str, Json] | None = None  # router metadata, for those who ask for it
    page: str | None = None  # an HTML page of the network's edge in place of the envelope

    def body(self) -> dict[str, Json]:
        error: dict[str, Json] = {"code": self.status, "message": self.message}
        if self.metadata:
            error["metadata"] = dict(self.metadata)
        return (
            {"error": error} if self.router is None else {"error": error, "openrouter_metadata": self.router}
        )


class RefusedError(RoutecanaryError):
    """The lab gateway refuses a request; `refusal` is what it answers."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.message)


def bad_request(message: str) -> RefusedError:
    """Make the refusal of a body that is not a chat request."""
    return RefusedError(Refusal(status=400, message=message, metadata={"error_type": "invalid_request"}))
