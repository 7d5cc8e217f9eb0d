"""Which figures does a simulation come to?

Plain JSON values: the document of `routecanary simulate --json`, and what tables and pages show.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite

from routecanary.domain.interval import Interval, exact_count_interval, exact_interval
from routecanary.domain.probe import Json
from routecanary.simulate.measures import Measures
from routecanary.simulate.ours import BREACHES
from routecanary.simulate.run import Simulated

Document = dict[str, Json]


def document_of(simulated: Simulated, name: str) -> Document:
    """Write what came of a scenario under one policy."""
    return {**scenario_figures(simulated), **policy_figures(simulated, simulated.measures[name])}


def scenario_figures(simulated: Simulated) -> Document:
    """Write what does not depend on who played."""
    scenario = simulated.scenario
    return {
        "scenario": scenario.name,
        "about": scenario.about,
        "seed": simulated.seed,
        "lives": simulated.lives,
        "model_years": _short(simulated.model_years),
        "hosts": len(scenario.hosts),
        "rounds": simulated.rounds,
        "route_rounds": simulated.route_rounds,
        "probes": simulated.probes,
        "dollars": _short(simulated.dollars),
        "repeats": {
            "confirmations": simulated.confirmed,
            "failed_again": simulated.repeated,
            **_share(simulated.repeated, simulated.confirmed),
        },
    }


def policy_figures(simulated: Simulated, measures: Measures) -> Document:
    """Write what one player did to the hosts and to the users."""
    years, rounds = simulated.model_years, max(1, measures.rounds)
    found = len(measures.delay_rounds)
    delays = found + measures.missed
    return {
        "suspensions": measures.suspensions,
        "false_suspensions": {
            "count": measures.false_suspensions,
            **_interval(exact_count_interval(measures.false_suspensions), measures.false_suspensions, years),
        },
        "faults": {
            "found": found,
            "missed": measures.missed,
            "out_already": measures.out_already,
            **_share(found, delays),
        },
        "delay_rounds": _quantiles(measures.delay_rounds, delays),
        "delay_hours": _quantiles(measures.delay_hours, delays),
        "traffic_of_faulty_hosts": {
            "without": _short(measures.faulty_hosts_without / rounds),
            "with": _short(measures.faulty_hosts_with / rounds),
        },
        "faulty_answers": {
            "without": _short(measures.faulty_answers_without / rounds),
            "with": _short(measures.faulty_answers_with / rounds),
        },
        "healthy_host_hours_lost": {
            "sum": _short(measures.healthy_hours_lost),
            "per_model_year": _short(measures.healthy_hours_lost / years),
        },
        "breaches": {name: measures.noted[name] for name in BREACHES},
        "noted": {name: count for name, count in sorted(measures.noted.items()) if name not in BREACHES},
    }


def quantile(found: Sequence[float], of: int, share: float) -> float | None:
    """Look up by when such a share of all faults was found, those never found included; None: never.

    Args:
        found: Delays, in any order.
        of: How many faults there were.
    """
    place = max(1, ceil(share * of)) - 1
    return sorted(found)[place] if 0 <= place < len(found) else None


def _quantiles(found: Sequence[float], of: int) -> Document:
    return {"median": _rounded(quantile(found, of, 0.5)), "p95": _rounded(quantile(found, of, 0.95))}


def _rounded(value: float | None) -> float | None:
    return None if value is None else _short(value)


def _share(hits: int, trials: int) -> Document:
    if trials == 0:
        return {"share": None, "low": None, "high": None}
    low, high = exact_interval(hits, trials)
    return {"share": _short(hits / trials), "low": _short(low), "high": _short(high)}


def _interval(interval: Interval, count: int, years: float) -> Document:
    return {
        "per_model_year": _short(count / years),
        "low": _short(interval.low / years),
        "high": _short(interval.high / years),
    }


def _short(value: float) -> float:
    """Keep six digits: more would be chance."""
    return float(f"{value:.6g}") if isfinite(value) else 0.0
