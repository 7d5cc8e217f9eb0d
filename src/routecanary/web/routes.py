"""What do the two listeners serve? Every row, and who may use it, is found from here.

The applications' listener has `/v1`, the administrators' `/api/v1`. A part that serves something makes its
rows in a file of its own and is named here once.
"""

from __future__ import annotations

from routecanary.web.administration import Administration
from routecanary.web.desk import Desk
from routecanary.web.reports import Reports
from routecanary.web.router import Route
from routecanary.web.sidecar import Sidecar
from routecanary.web.telemetry import Telemetry
from routecanary.web.traffic import Traffic


def application_routes(sidecar: Sidecar, telemetry: Telemetry, reports: Reports) -> tuple[Route, ...]:
    """List the rows of `/v1`."""
    return (*sidecar.routes(), *telemetry.routes(), *reports.application_routes())


def administrator_routes(desk: Desk, reports: Reports) -> tuple[Route, ...]:
    """List the rows of `/api/v1`."""
    return (
        *Administration(desk).routes(),
        *reports.administrator_routes(),
        *Traffic(desk).routes(),
    )
