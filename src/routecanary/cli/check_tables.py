"""How does a check read for people?"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import assert_never

from routecanary.cli.check_guardrail import guardrail_lines
from routecanary.cli.check_policy import lines as lines_of_policy
from routecanary.cli.checked import WAYS, Checked, Looked, ModelCheck, usd
from routecanary.cli.output import instant, say, say_table
from routecanary.discover.withheld import Untold, Withheld
from routecanary.domain.account import KeyInfo
from routecanary.domain.money import NOTHING
from routecanary.rounds.estimate import Basis
from routecanary.rounds.spending import general_part, left_today


def show(checked: Checked) -> None:
    """Print everything for people, save the findings."""
    looked, budget = checked.looked, checked.settings.budget
    if looked is not None:
        _show_key(looked.key)
        if looked.listed:
            _show_models(looked, checked)
    reserve = budget.per_day_usd - general_part(budget)
    say(
        f"budget: {usd(budget.per_day_usd)} USD a UTC day, {usd(reserve)} of it for suspended routes; "
        f"today {usd(checked.committed)} spent or set aside, "
        f"{usd(left_today(budget, checked.committed))} left"
    )
    for line in () if checked.policy is None else lines_of_policy(checked.policy):
        say(line)
    for line in () if looked is None else guardrail_lines(looked.guardrail):
        say(line)
    for provider in sorted(checked.undivided):
        say(f"{provider}: provider.ignore does not heed its tags; it is asked and suspended as one route")
    for trial in () if looked is None else looked.trials or ():
        said = {True: "holds", False: "does not hold", None: "could not be told"}[trial.holds]
        if trial.ignored is None:
            say(
                f"{trial.provider}: asked a few words of {trial.model}"
                + (f": {trial.why}" if trial.why else "")
            )
        else:
            say(f"{trial.provider}: ignoring one of its tags {said}: {trial.why}")


def _show_key(key: KeyInfo) -> None:
    said = ["no limit" if key.limit_remaining is None else f"{usd(key.limit_remaining)} USD left"]
    if key.limit_reset is not None:
        said.append(f"reset {key.limit_reset}")
    if key.is_free_tier:
        said.append("free tier")
    if key.expires_at is not None:
        said.append(f"expires {instant(key.expires_at)}")
    say(f"key: accepted, {', '.join(said)}")


def _show_models(looked: Looked, checked: Checked) -> None:
    rows = [
        _row(
            one.model.model,
            [str(len(one.listing.routes)), str(len(one.admitted)), str(one.estimate.probes)],
            one.estimate.expected,
            one.estimate.worst,
            checked,
        )
        for one in looked.listed
    ]
    if len(rows) > 1:
        expected = sum((one.estimate.expected for one in looked.listed), NOTHING)
        worst = sum((one.estimate.worst for one in looked.listed), NOTHING)
        rows.append(_row("all", ["", "", ""], expected, worst, checked))
    say_table(
        ("model", "routes", "admitted", "probes", "USD a round", "at worst", "USD a day", "at worst"), rows
    )
    say("at worst: every answer as long as it may be, every probe asked again as often as it may be")
    for one in looked.listed:
        for line in _lines(one):
            say(f"{one.model.model}: {line}")


def _row(
    name: str, counts: list[str], expected: Decimal, worst: Decimal, checked: Checked
) -> tuple[str, ...]:
    days = (checked.a_day([expected]), checked.a_day([worst]))
    return (name, *counts, usd(expected), usd(worst), usd(days[0]), usd(days[1]))


def _lines(one: ModelCheck) -> Iterator[str]:
    cost = one.estimate
    match cost.basis:
        case Basis.MEASURED:
            yield f"expected by what the rounds so far have cost; measured: the last {cost.rounds}"
        case Basis.TEXTS:
            yield "expected by the usual length of an answer; no round was measured yet"
        case _:
            assert_never(cost.basis)
    if cost.unpriced:
        yield f"{len(cost.unpriced)} routes state no price and are counted at an assumed one"
    for when, each in one.preflights.items():
        match each.told:
            case Withheld():
                for step, tags in each.told.by_step.items():
                    yield f"withheld {WAYS[when]}: {', '.join(sorted(tags))} ({step})"
            case Untold():
                yield f"what is withheld {WAYS[when]} is unknown: {each.told.why}"
            case _:
                assert_never(each.told)
    yield from one.listing.notes
