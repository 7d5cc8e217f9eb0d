"""How does a study look in a terminal?"""

from __future__ import annotations

from routecanary.cli.output import say, say_table
from routecanary.domain.names import ContractName
from routecanary.study import wording
from routecanary.study.count import ANY
from routecanary.study.result import Against, Result
from routecanary.study.values import Study


def show(result: Result) -> None:
    """Print what a study came to: the findings, a table for each contract that somebody failed, the times."""
    study = result.study
    say(
        f"study {study.id}: {study.model}, {asked_what(study)}; {result.asked} of {study.planned} answers of "
        f"{len(study.routes)} routes, {wording.usd(result.usd)}"
    )
    for tag in study.unable:
        say(f"not asked, for it declares no way to answer this: {tag}")
    found = wording.findings(result)
    for sentence in found:
        say(sentence)
    if not found and result.asked:
        say("no route fails more often than the others, as far as so few answers can tell")
    for contract in wording.tables(result):
        _show_contract(result, contract)
    for contract in result.contracts:
        total = result.totals[contract]
        if not total.failed and contract != ANY:
            more = wording.unjudged(total)
            say(f"{contract}: {wording.counts(total)} failed" + (f"; besides {more}" if more else ""))
    _show_times(result)
    say("in a count: failed of judged; p: Fisher's exact test, two-sided, then corrected after Holm")


def asked_what(study: Study) -> str:
    """Say in a few words what is asked."""
    first = study.questions[0]
    if study.incident is not None:
        return f"the question of incident {study.incident}"
    if first.messages is not None:
        return "a prompt of your own" + ("" if first.locale is None else f" in {first.locale}")
    return f"{first.kind.value} in {first.locale}"


def _show_contract(result: Result, contract: ContractName) -> None:
    total = result.totals[contract]
    name = "any contract" if contract == ANY else contract
    columns = [
        against
        for against in Against
        if any(wording.contrast(each.rows[contract], against) for each in result.routes)
    ]
    say("")
    say_table(
        (
            "route",
            "precision",
            "failed",
            "95 % interval",
            "not judged",
            *(wording.AGAINST[each] for each in columns),
        ),
        [
            (
                wording.role(each.route),
                each.route.precision or "",
                wording.counts(each.rows[contract].count),
                wording.interval(each.rows[contract].count),
                wording.unjudged(each.rows[contract].count),
                *(wording.contrast(each.rows[contract], against) for against in columns),
            )
            for each in result.routes
        ],
        title=f"{name}: {wording.counts(total)} failed ({wording.codes(total)})",
    )


def _show_times(result: Result) -> None:
    say("")
    say_table(
        ("route", "answers", "first text: median", "9 in 10 within", "timed", "never came", "cost"),
        [
            (
                each.route.route,
                f"{each.asked}/{each.route.n}",
                wording.milliseconds(each.median),
                wording.milliseconds(each.slow),
                str(each.timed),
                str(each.censored),
                wording.usd(each.usd),
            )
            for each in result.routes
        ],
    )
