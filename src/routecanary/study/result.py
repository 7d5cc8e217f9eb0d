"""What does a study come to? Every route's counts, and how they compare with the others'.

Three comparisons, each by Fisher's exact test: with all other routes of the study, with those of the same
precision class, with the official host. Each kind of comparison is one family of tests over all routes and
contracts, corrected by Holm; all contracts together are a family of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Final

from routecanary.domain.money import NOTHING
from routecanary.domain.names import ContractName, RouteId
from routecanary.study.count import ANY, Count, counted, together
from routecanary.study.fisher import fisher_exact
from routecanary.study.holm import holm
from routecanary.study.kin import same_precision
from routecanary.study.quantile import Quantile, quantile
from routecanary.study.values import Study, StudyAnswer, StudyRoute

MEDIAN: Final = Fraction(1, 2)
SLOW: Final = Fraction(9, 10)


class Against(StrEnum):
    """With whom a route is compared."""

    REST = "rest"  # every other route of the study
    PRECISION = "precision"  # the others of its precision class
    OFFICIAL = "official"  # the model's own vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One comparison of a route with others, pooled."""

    failed: int  # of the others
    judged: int  # of the others
    p: float  # Fisher's, two-sided
    p_holm: float  # corrected over its family


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One route under one contract, or under all together."""

    count: Count
    contrasts: Mapping[Against, Contrast]  # none where either side has no judged answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResult:
    """One route of a study."""

    route: StudyRoute
    asked: int  # askings that are kept
    rows: Mapping[ContractName, Row]  # by contract, and `ANY`
    usd: Decimal
    timed: int  # answers whose first text was waited for
    censored: int  # those of them of which none was seen
    median: Quantile | None
    slow: Quantile | None  # nine in ten come within it


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What is known of a study so far."""

    study: Study
    contracts: tuple[ContractName, ...]  # that judged an answer, sorted, then `ANY`
    routes: tuple[RouteResult, ...]  # whoever fails most comes first
    answers: tuple[StudyAnswer, ...]  # by route and turn
    totals: Mapping[ContractName, Count]

    @property
    def asked(self) -> int:
        return len(self.answers)

    @property
    def complete(self) -> bool:
        return self.asked == self.study.planned

    @property
    def usd(self) -> Decimal:
        return sum((answer.usd for answer in self.answers), NOTHING)


def result_of(study: Study, answers: Sequence[StudyAnswer]) -> Result:
    """Count and compare.

    Args:
        answers: Of this study, in any order; of two for one turn, as two processes may ask, the first counts.
    """
    planned = {each.route: each.n for each in study.routes}
    kept: dict[tuple[RouteId, int], StudyAnswer] = {}
    for answer in sorted(answers, key=lambda answer: (answer.route, answer.turn, answer.at)):
        if answer.turn < planned.get(answer.route, 0):
            kept.setdefault((answer.route, answer.turn), answer)
    of_route: dict[RouteId, list[StudyAnswer]] = {each.route: [] for each in study.routes}
    for answer in kept.values():
        of_route[answer.route].append(answer)
    judged_by = sorted({name for answer in kept.values() for name in answer.verdicts})
    contracts = (*judged_by, ANY)
    counts = {
        (contract, route.route): counted(of_route[route.route], contract)
        for contract in contracts
        for route in study.routes
    }
    contrasts = _contrasts(study, contracts, counts)
    routes = [
        _route_result(
            route,
            of_route[route.route],
            {
                contract: Row(
                    count=counts[contract, route.route],
                    contrasts={
                        against: found
                        for against in Against
                        if (found := contrasts.get((against, contract, route.route))) is not None
                    },
                )
                for contract in contracts
            },
        )
        for route in study.routes
    ]
    return Result(
        study=study,
        contracts=contracts,
        routes=tuple(sorted(routes, key=_worst_first)),
        answers=tuple(kept[key] for key in sorted(kept)),
        totals={
            contract: together(counts[contract, route.route] for route in study.routes)
            for contract in contracts
        },
    )


def others(study: Study, one: StudyRoute, against: Against) -> tuple[StudyRoute, ...]:
    """List the routes that one is compared with."""
    rest = (each for each in study.routes if each.route != one.route)
    match against:
        case Against.REST:
            return tuple(rest)
        case Against.PRECISION:
            return tuple(each for each in rest if same_precision(one, each))
        case Against.OFFICIAL:
            return () if one.official else tuple(each for each in rest if each.official)


_Test = tuple[Against, ContractName, RouteId]


def _contrasts(
    study: Study, contracts: Sequence[ContractName], counts: Mapping[tuple[ContractName, RouteId], Count]
) -> dict[_Test, Contrast]:
    """Compare every route with every group of others; a comparison without answers on a side is none."""
    tables: dict[_Test, tuple[Count, Count]] = {}
    for against in Against:
        for route in study.routes:
            group = others(study, route, against)
            for contract in contracts:
                own = counts[contract, route.route]
                theirs = together(counts[contract, each.route] for each in group)
                if own.judged and theirs.judged:
                    tables[against, contract, route.route] = own, theirs
    p_values = {
        test: fisher_exact(own.failed, own.judged, theirs.failed, theirs.judged)
        for test, (own, theirs) in tables.items()
    }
    corrected: dict[_Test, float] = {}
    for against in Against:
        for alone in (True, False):
            corrected |= holm(
                {test: p for test, p in p_values.items() if test[0] is against and (test[1] == ANY) is alone}
            )
    return {
        test: Contrast(failed=theirs.failed, judged=theirs.judged, p=p_values[test], p_holm=corrected[test])
        for test, (_, theirs) in tables.items()
    }


def _route_result(
    route: StudyRoute, answers: Sequence[StudyAnswer], rows: Mapping[ContractName, Row]
) -> RouteResult:
    seen = [answer.first_text_ms for answer in answers if answer.first_text_ms is not None]
    unseen = [answer.unseen_ms for answer in answers if answer.unseen_ms is not None]
    return RouteResult(
        route=route,
        asked=len(answers),
        rows=rows,
        usd=sum((answer.usd for answer in answers), NOTHING),
        timed=len(seen) + len(unseen),
        censored=len(unseen),
        median=quantile(MEDIAN, seen, unseen),
        slow=quantile(SLOW, seen, unseen),
    )


def _worst_first(each: RouteResult) -> tuple[float, float, RouteId]:
    row = each.rows[ANY]
    rest = row.contrasts.get(Against.REST)
    return -(row.count.share or 0.0), 1.0 if rest is None else rest.p, each.route.route
