"""What does an administrator's program read of what users were served?

The same as on the command line: `leaks --json` and `traffic --json`.

Source: docs/traffic.md; docs/serving.md, "The administrators' listener".
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.domain.times import DURATION_FORM, parse_duration
from routecanary.domain.token import READERS
from routecanary.errors import InputError
from routecanary.rounds.leak_report import asked_about, leak_document, leak_report
from routecanary.rounds.records import Records
from routecanary.rounds.traffic_report import traffic_document, traffic_report
from routecanary.web.desk import Desk
from routecanary.web.http import Response, json_response
from routecanary.web.router import Call, Route
from routecanary.web.wish import parameters_of, single_values

_UNCACHED: Final = (("cache-control", "no-store"),)
_DAY: Final = timedelta(days=1)
_Describe = Callable[[Records, ModelId, timedelta], Json]


class Traffic:
    """The leak audit and the table of traffic."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> tuple[Route, ...]:
        """List the rows; both take `model` and `since`, a duration back from now."""
        return (
            Route(method="GET", path="/api/v1/leaks", roles=READERS, answer=self.leaks),
            Route(method="GET", path="/api/v1/traffic", roles=READERS, answer=self.traffic),
        )

    async def leaks(self, call: Call) -> Response:
        """Tell what `leaks --json` prints."""
        return await self._described(call, _leaks, _DAY)

    async def traffic(self, call: Call) -> Response:
        """Tell what `traffic --json` prints."""
        return await self._described(call, _traffic, self._desk.settings.traffic.window)

    async def _described(self, call: Call, describe: _Describe, length: timedelta) -> Response:
        values = single_values(parameters_of(call.request), {"model", "since"})
        if "since" in values:
            length = _length(values["since"])

        def look(records: Records) -> Json:
            models = asked_about(records, values.get("model"))
            return [describe(records, model, length) for model in models]

        return json_response(await self._desk.look(look), headers=_UNCACHED)


def _leaks(records: Records, model: ModelId, length: timedelta) -> Json:
    until = records.clock.now()
    return leak_document(leak_report(records, model, since=until - length, until=until))


def _traffic(records: Records, model: ModelId, length: timedelta) -> Json:
    return traffic_document(traffic_report(records, model, length=length))


def _length(given: str) -> timedelta:
    try:
        length = parse_duration(given)
    except InputError as error:
        raise InputError(error.problem, key="since", value=error.value, allowed=error.allowed) from None
    if not length or length > timedelta(days=36_500):
        raise InputError("no time at all", key="since", value=given, allowed=DURATION_FORM)
    return length
