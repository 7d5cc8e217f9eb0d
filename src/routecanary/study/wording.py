"""How are counts, shares and probabilities written for people?"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from routecanary.domain.interval import Interval
from routecanary.domain.names import ContractName
from routecanary.study.count import ANY, Count
from routecanary.study.quantile import Quantile
from routecanary.study.result import Against, Contrast, Result, Row
from routecanary.study.values import StudyRoute

CONFIDENCE: Final = 0.95
LEVEL: Final = 0.05  # of a corrected p-value that is worth a sentence

AGAINST: Final = {
    Against.REST: "all others",
    Against.PRECISION: "same precision",
    Against.OFFICIAL: "official host",
}


def counts(count: Count) -> str:
    """Example: `19/20`."""
    return f"{count.failed}/{count.judged}"


def interval(count: Count) -> str:
    """Example: `75.1 % to 99.9 %`; where nothing was judged, nothing."""
    return span_of(count.interval(CONFIDENCE)) if count.judged else ""


def span_of(of: Interval) -> str:
    return f"{of.low * 100:.1f} % to {of.high * 100:.1f} %"


def probability(p: float) -> str:
    """Example: `4.3e-16`, `0.0022`, `1`."""
    return f"{p:.2g}" if p else "below 1e-300"


def contrast(row: Row, against: Against) -> str:
    """Write a comparison of a route that failed; that one which never did fails no more often is no news."""
    found = row.contrasts.get(against)
    return compared(found) if found is not None and row.count.failed else ""


def compared(found: Contrast) -> str:
    """Example: `0/49, p 4.3e-16, corrected 1.9e-14`."""
    table = f"{found.failed}/{found.judged}"
    return f"{table}, p {probability(found.p)}, corrected {probability(found.p_holm)}"


def unjudged(count: Count) -> str:
    """Example: `1 inconclusive, 2 transport`."""
    return ", ".join(f"{number} {kind.value}" for kind, number in count.unjudged.items())


def codes(count: Count) -> str:
    """Example: `corrupt_start 18, repetition 1`."""
    return ", ".join(f"{code} {number}" for code, number in count.codes.items())


def milliseconds(of: Quantile | None) -> str:
    """Example: `412 ms`; a floor: `over 30000 ms`."""
    if of is None:
        return ""
    return f"over {of.ms} ms" if of.is_floor else f"{of.ms} ms"


def usd(amount: Decimal) -> str:
    """Example: `0.0312 USD`."""
    return f"{amount:.4f} USD"


def role(route: StudyRoute) -> str:
    """Name a route, with what it is to the study."""
    roles = [word for word, is_one in (("suspect", route.suspect), ("official", route.official)) if is_one]
    return f"{route.route} ({', '.join(roles)})" if roles else str(route.route)


def tables(result: Result) -> tuple[ContractName, ...]:
    """List the contracts worth a table: those that somebody failed; one alone is all together, too."""
    failed = tuple(name for name in result.contracts if result.totals[name].failed)
    return failed[:-1] if len(failed) == 2 else failed


def findings(result: Result) -> tuple[str, ...]:
    """Say in sentences who fails more often than others, as far as the corrected p-value is below 5 %."""
    said: list[str] = []
    for each in result.routes:
        for contract in result.contracts:
            if contract == ANY:
                continue
            row = each.rows[contract]
            against = [
                f"{AGAINST[name]} {compared(found)}"
                for name, found in row.contrasts.items()
                if found.p_holm < LEVEL and _is_worse(row, found)
            ]
            if against:
                said.append(
                    f"{each.route.route} fails {contract} in {counts(row.count)} ({interval(row.count)}; "
                    f"{codes(row.count)}); {'; '.join(against)}"
                )
    return tuple(said)


def _is_worse(row: Row, found: Contrast) -> bool:
    return row.count.failed * found.judged > found.failed * row.count.judged
