"""How is a simulated round written as a line of a trace? A replay of it decides the same."""

from __future__ import annotations

import json

from routecanary.domain.round import Round
from routecanary.domain.times import format_instant


def line_of(told: Round) -> str:
    """Write a round as one line of a trace (docs/policy.md, Replay).

    Args:
        told: In whole seconds, without layers, controls or swallowed routes, as simulated rounds are.
    """
    routes = {
        route: {
            "verdicts": report.verdicts,
            "attempts": {contract: list(map(int, each)) for contract, each in report.attempts.items()},
        }
        for route, report in told.routes.items()
    }
    line = {"at": format_instant(told.at), "model": told.model, "kind": "round", "routes": routes}
    return json.dumps(line)
