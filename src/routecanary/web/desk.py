"""What do the administrators' acts and listings work with?

The log, as the command line does: opened for each call, in a thread of its own, so that a slow store keeps no
other request waiting; at most so many at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, TypeVar

import msgspec

from routecanary.clock import Clock
from routecanary.domain.probe import Json
from routecanary.domain.settings import Settings
from routecanary.domain.times import DURATION_FORM, parse_duration
from routecanary.errors import InputError, StoreError
from routecanary.rounds.records import Records
from routecanary.web.http import Request
from routecanary.wiring import offline_records

AT_ONCE: Final = 4  # calls that use the store
PATIENCE: Final = 10.0  # seconds that a call waits for its turn

_Result = TypeVar("_Result")


class Desk:
    """The configuration, the clock, and the store when it is needed."""

    def __init__(self, settings: Settings, clock: Clock, describe: Callable[[Records], Json]) -> None:
        """Hold what is configured.

        Args:
            describe: How the canary stands, as `status --json` prints it.
        """
        self.settings = settings
        self.clock = clock
        self.describe = describe
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def look(self, do: Callable[[Records], _Result]) -> _Result:
        """Read the log; where there is no store, none is made.

        Raises:
            StoreError: It cannot be read.
        """
        return await self._with_records(do, to_act=False)

    async def act(self, do: Callable[[Records], _Result]) -> _Result:
        """Carry out an act.

        Raises:
            StoreError: It could not be kept; nothing is changed.
        """
        return await self._with_records(do, to_act=True)

    async def _with_records(self, do: Callable[[Records], _Result], *, to_act: bool) -> _Result:
        def done() -> _Result:
            with offline_records(self.settings, self.clock, to_act=to_act) as records:
                return do(records)

        try:
            async with asyncio.timeout(PATIENCE):
                await self._turns.acquire()
        except TimeoutError:
            raise StoreError("the store is busy with other calls") from None
        try:
            return await asyncio.shield(asyncio.to_thread(done))  # an act that was begun is ended
        finally:
            self._turns.release()


def json_body(request: Request, known: frozenset[str]) -> dict[str, Any]:
    """Read a request's body, a JSON object with no other keys than these.

    Raises:
        InputError: It is none.
    """
    try:
        document = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InputError("not JSON", key="body", allowed="a JSON object") from None
    if not isinstance(document, dict):
        raise InputError("not an object", key="body", allowed="a JSON object")
    for key in document:
        if key not in known:
            raise InputError("unknown key", key=key[:80], allowed=", ".join(sorted(known)))
    return document


def text_of(document: dict[str, Any], key: str) -> str | None:
    """Read a text of a body; None where there is none.

    Raises:
        InputError: It is something else.
    """
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError("not a text", key=key, allowed="a text, or null")
    return value


def length_of(document: dict[str, Any], key: str) -> timedelta | None:
    """Read a length of time above zero; None where there is none.

    Raises:
        InputError: It is something else.
    """
    text = text_of(document, key)
    if text is None:
        return None
    try:
        length = parse_duration(text)
    except InputError as error:
        raise InputError(error.problem, key=key, value=error.value, allowed=error.allowed) from None
    if not length:
        raise InputError("no time at all", key=key, value=text, allowed=DURATION_FORM)
    return length


def required_text(document: dict[str, Any], key: str) -> str:
    """Read a text that must be there; raises as `text_of`."""
    value = text_of(document, key)
    if value is None:
        raise InputError("missing", key=key, allowed="a text")
    return value
