"""What of a check should a person look at before leaving the daemon alone?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Final, assert_never

from routecanary.cli.check_guardrail import guardrail_findings
from routecanary.cli.checked import Checked, Looked, ModelCheck, Unlisted, usd
from routecanary.cli.output import instant, span
from routecanary.discover.withheld import Withheld
from routecanary.domain.account import KeyInfo
from routecanary.domain.money import NOTHING
from routecanary.domain.policy import Policy
from routecanary.domain.settings import Settings
from routecanary.domain.times import format_duration
from routecanary.rounds.spending import general_part
from routecanary.rounds.trial import Trial

SOON: Final = timedelta(days=7)
"""A key that expires within this time is told of."""


def findings(checked: Checked) -> list[str]:
    """List what a person should look at before leaving the daemon alone, a sentence each."""
    looked = checked.looked
    found = [] if checked.settings.models else ["no model is configured"]
    found += _of_rechecks(checked.settings)
    if looked is None:
        return found
    found += _of_key(looked.key, checked)
    found += _of_account(looked)
    for one in looked.models:
        found += _of_model(one, checked)
    found += _of_money(looked, checked)
    found += guardrail_findings(looked.guardrail, checked.settings)
    found += [_deaf(trial) for trial in looked.trials or () if trial.holds is False]
    return found


def _of_rechecks(settings: Settings) -> Iterator[str]:
    """Say what asking twice within minutes is worth, and that it was chosen."""
    schedule, gap = settings.schedule, settings.policy.min_round_gap
    after, least = format_duration(schedule.recheck_after), format_duration(gap)
    if not schedule.recheck:
        return
    if gap > schedule.recheck_after:
        yield (
            f"schedule.recheck asks again after {after}, and policy.min_round_gap is {least}: such a round "
            "costs money and never counts; lower the gap to it, or switch rechecks off"
        )
    elif gap < Policy().min_round_gap:
        yield (
            f"policy.min_round_gap is {least}: two failed rounds {after} apart suspend a route, and trouble "
            "that passes within minutes counts as reproduced"
        )


def _of_key(key: KeyInfo, checked: Checked) -> Iterator[str]:
    left = key.limit_remaining
    looked = checked.looked
    expected = checked.a_day([one.estimate.expected for one in looked.listed]) if looked else NOTHING
    if left is not None and left <= 0:
        yield "the key's limit is used up"
    elif left is not None and left < expected:
        yield f"the key's limit leaves {usd(left)} USD, and a day is expected to cost {usd(expected)}"
    if key.expires_at is not None and key.expires_at <= checked.now:
        yield f"the key expired at {instant(key.expires_at)}"
    elif key.expires_at is not None and key.expires_at - checked.now <= SOON:
        yield f"the key expires in {span(key.expires_at - checked.now)}, at {instant(key.expires_at)}"
    if key.is_management_key:
        yield "the key is a management key: it asks no model, and can do too much"
    if key.is_free_tier and expected:
        yield "the key is of the free tier: it may send few requests a day, and asks free models only"
    if key.byok_usage:
        yield (
            f"{usd(key.byok_usage)} USD were spent through keys of your own at providers (BYOK): such "
            "routes are tried first, whatever is pinned; give the canary a key without them"
        )


def _of_account(looked: Looked) -> Iterator[str]:
    faults = [one.fault for each in looked.listed for one in each.preflights.values() if one.fault]
    for fault in dict.fromkeys(faults):
        yield f"the account cannot be used: {fault}"
    if plugins := looked.plugins():
        yield (
            f"the account runs plugins that requests switch off: {', '.join(plugins)}; they may repair or "
            "change what a host answered"
        )
    if looked.cached():
        yield "a response cache is on: an answer out of it says nothing of a host"


def _of_model(one: ModelCheck | Unlisted, checked: Checked) -> Iterator[str]:
    name, floor = one.model.model, checked.settings.policy.floor
    match one:
        case Unlisted():
            yield f"{name}: {one.problem}"
            return
        case ModelCheck():
            pass
        case _:
            assert_never(one)
    if not one.named.routes:
        yield f"{name}: the gateway lists no route"
        return
    if one.known_through not in (None, one.named.gateway):
        yield (
            f"{name}: the store knows its routes through {one.known_through}, and "
            f"{one.named.gateway} is asked now: what is known of one gateway's routes says nothing of the "
            "other's; give this one a store of its own"
        )
    if len(one.admitted) <= floor:
        yield (
            f"{name}: {len(one.admitted)} admitted routes, and the floor is {floor}: "
            "nothing could ever be suspended"
        )
    told = one.preflights["always"].told
    for step, tags in told.by_step.items() if isinstance(told, Withheld) else ():
        yield (
            f"{name}: the canary's own account withholds {', '.join(sorted(tags))} ({step}): they cannot be "
            "asked; give the canary a key without guardrail"
        )


def _of_money(looked: Looked, checked: Checked) -> Iterator[str]:
    """Say what the budget will not cover, and what is skipped then."""
    budget = checked.settings.budget
    general, reserve = general_part(budget), budget.per_day_usd - general_part(budget)
    expected = checked.a_day([one.estimate.expected for one in looked.listed])
    worst = checked.a_day([one.estimate.worst for one in looked.listed])
    for one in looked.listed:
        name, model = one.model.model, one.estimate
        if model.dearest > general:
            yield (
                f"{name}: {model.dearest_route} may cost {usd(model.dearest)} USD a round, and the budget "
                f"has {usd(general)} for routes that are not suspended: it is never asked"
            )
        elif model.worst > general:
            yield (
                f"{name}: one round may cost {usd(model.worst)} USD, and the budget has {usd(general)} for "
                "routes that are not suspended: some of them are left out of every round, in turn"
            )
    kept = "all routes are skipped until midnight UTC"
    if reserve:
        kept += f", save suspended ones, who may cost {usd(reserve)} USD more"
    if expected > budget.per_day_usd:
        yield (
            f"a day is expected to cost {usd(expected)} USD, and the budget is {usd(budget.per_day_usd)}: "
            f"from about {_clock(general, expected)} UTC on {kept}"
        )
    elif worst > budget.per_day_usd:
        yield (
            f"a day costs {usd(worst)} USD at worst, and the budget is {usd(budget.per_day_usd)}: on such "
            f"a day, from about {_clock(general, worst)} UTC on, {kept}"
        )


def _clock(general: Decimal, day: Decimal) -> str:
    """Say when a day's general part is used up if it is spent evenly: `14:10`."""
    minutes = int(general / day * 1440)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _deaf(trial: Trial) -> str:
    return (
        f"provider.ignore does not heed the tags of {trial.provider} ({trial.why}): from now on its "
        f"endpoints are asked, judged and suspended as one route, {trial.provider}"
    )
