"""How does a check read as JSON?"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from routecanary.cli.check_guardrail import guardrail_document
from routecanary.cli.check_policy import document as policy_change
from routecanary.cli.checked import Checked, ModelCheck, Unlisted
from routecanary.cli.output import instant
from routecanary.discover.withheld import Untold, Withheld
from routecanary.domain.account import KeyInfo
from routecanary.domain.probe import Json
from routecanary.rounds.spending import general_part, left_today
from routecanary.rounds.trial import Trial


def document(checked: Checked, found: Sequence[str]) -> Json:
    """Write everything as one JSON object."""
    looked, budget = checked.looked, checked.settings.budget
    known = {} if looked is None else {one.model.model: one for one in looked.models}
    return {
        "ok": not found,
        "findings": list(found),
        "key": None if looked is None else _key(looked.key),
        "account": None
        if looked is None
        else {"plugins": list(looked.plugins()), "response_cache": looked.cached()},
        "budget": {
            "per_day_usd": float(budget.per_day_usd),
            "recovery_usd": float(budget.per_day_usd - general_part(budget)),
            "spent_today_usd": _number(checked.committed),
            "left_today_usd": _number(left_today(budget, checked.committed)),
        },
        "cost": None
        if looked is None
        else {
            "expected_per_day_usd": _number(checked.a_day([one.estimate.expected for one in looked.listed])),
            "worst_per_day_usd": _number(checked.a_day([one.estimate.worst for one in looked.listed])),
        },
        "live": None if looked is None or looked.trials is None else [_trial(one) for one in looked.trials],
        "undivided": sorted(checked.undivided),
        "guardrail": None if looked is None else guardrail_document(looked.guardrail),
        "policy_change": policy_change(checked.policy),
        "models": {model.model: _facts(known.get(model.model), checked) for model in checked.settings.models},
    }


def _key(key: KeyInfo) -> Json:
    return {
        "limit_usd": _number(key.limit),
        "limit_remaining_usd": _number(key.limit_remaining),
        "limit_reset": key.limit_reset,
        "usage_today_usd": _number(key.usage_daily),
        "byok_usage_usd": _number(key.byok_usage),
        "free_tier": key.is_free_tier,
        "free_requests_remaining": key.free_requests_remaining,
        "expires_at": instant(key.expires_at),
    }


def _facts(one: ModelCheck | Unlisted | None, checked: Checked) -> Json:
    """State what a look at one model showed; None where nobody looked or the gateway does not list it."""
    if not isinstance(one, ModelCheck):
        return None
    cost = one.estimate
    return {
        "routes": sorted(one.listing.tags()),
        "admitted": sorted(one.admitted),
        "withheld": [
            {"when": when, "step": step, "routes": sorted(tags)}
            for when, each in one.preflights.items()
            if isinstance(each.told, Withheld)
            for step, tags in each.told.by_step.items()
        ],
        "withheld_unknown": [
            {"when": when, "why": each.told.why}
            for when, each in one.preflights.items()
            if isinstance(each.told, Untold)
        ],
        "probes_per_round": cost.probes,
        "expected_cost_per_round_usd": _number(cost.expected),
        "expected_cost_per_day_usd": _number(checked.a_day([cost.expected])),
        "expected_basis": cost.basis.value,
        "rounds_measured": cost.rounds,
        "worst_cost_per_round_usd": _number(cost.worst),
        "worst_cost_per_day_usd": _number(checked.a_day([cost.worst])),
        "routes_without_price": len(cost.unpriced),
        "notes": list(one.listing.notes),
    }


def _trial(trial: Trial) -> Json:
    return {
        "model": trial.model,
        "provider": trial.provider,
        "ignored": trial.ignored,
        "holds": trial.holds,
        "why": trial.why,
        "cost_usd": _number(trial.usd),
    }


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(round(amount, 6))
