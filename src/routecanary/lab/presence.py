"""Which routes of a model are there now: which does the listing name, and which can be asked?"""

from __future__ import annotations

from datetime import timedelta

from routecanary.lab.fault import defaults
from routecanary.lab.faults import LISTING_FAULT_NAMED
from routecanary.lab.host import LabModel, LabRoute


def listed_routes(model: LabModel, elapsed: timedelta) -> tuple[LabRoute, ...]:
    """List the routes that the listing names after so much policy time, in its order."""
    return _present(model, elapsed, asked=False)


def serving_routes(model: LabModel, elapsed: timedelta) -> tuple[LabRoute, ...]:
    """List the routes that can be asked after so much policy time, in listing order."""
    return _present(model, elapsed, asked=True)


def _present(model: LabModel, elapsed: timedelta, *, asked: bool) -> tuple[LabRoute, ...]:
    found: list[LabRoute] = []
    for route in model.routes:
        if not route.listed.holds(elapsed):
            continue
        found += _changed(route, elapsed, asked=asked) if route.listing_faults else (route,)
    return tuple(found)


def _changed(route: LabRoute, elapsed: timedelta, *, asked: bool) -> tuple[LabRoute, ...]:
    """Let the planted changes whose window is open happen, one after another."""
    standing: tuple[LabRoute, ...] = (route,)
    for planted in route.listing_faults:
        fault = LISTING_FAULT_NAMED[planted.fault]
        if planted.window.holds(elapsed) and not (asked and fault.listed_only):
            parameters = {**defaults(fault), **planted.parameters}
            standing = tuple(changed for each in standing for changed in fault.on_route(each, parameters))
    return standing
