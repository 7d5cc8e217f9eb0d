"""What is written for an answer of known length, and what is told of a handler that failed?"""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Iterable
from typing import Final, cast

from routecanary.web.message import Request, Response, error_response, is_bodiless, written_head

LOG: Final = logging.getLogger("routecanary.web")

FAILED: Final = "an error of the server"
"""What a client is told of a mistake of ours."""


def written(request: Request, response: Response, *, keep_alive: bool, minor: int) -> bytes:
    """Write a whole response; to HEAD, its head alone.

    Raises:
        ValueError: A header holds what would end it.
    """
    raw = response.raw
    if raw is not None:
        return raw[: raw.index(b"\r\n\r\n") + 4] if request.method == "HEAD" else raw
    head = written_head(response, keep_alive=keep_alive, minor=minor)
    if request.method == "HEAD" or is_bodiless(response.status):
        return head
    return head + cast("bytes", response.body)


def refusal(status: int, message: str, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """Write an error that ends its connection."""
    response = error_response(status, message, headers)
    return written_head(response, keep_alive=False, minor=1) + cast("bytes", response.body)


def tell_of_failure(request: Request | None, error: Exception) -> None:
    """Log a mistake of ours in one line; its message may quote what is nobody's business."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"
    method, path = (request.method, request.path) if request is not None else ("", "")
    LOG.error("request failed method=%s path=%s error=%s at=%s", method, path, type(error).__name__, place)


def drop(answer: object) -> None:
    """Close what a cancelled task has never begun to await."""
    if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
        answer.close()
