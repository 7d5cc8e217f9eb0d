"""Which routes may serve a request, and in which order are they tried?

The lab routes as the real gateway does, as far as is known, so that a pin or an exclusion list that works
here works there.

Source: openrouter-wire.md §1.4, §2.1, §4.4, §7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Final, Protocol

from routecanary.domain.probe import Json
from routecanary.lab.host import NO_RULES, LabModel, LabRoute, Rules
from routecanary.lab.presence import serving_routes
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.request import ChatRequest, Preferences
from routecanary.lab.restriction import Restriction, names, names_any

MILLION: Final = Decimal(1_000_000)
LEAST_PRICE: Final = 1e-9  # USD per token; keeps a free route's weight finite

_REFUSALS: Final = {
    "Filter by Allowed Providers": "No allowed providers are available for the selected model.",
    "Filter by Ignored Providers": "All providers have been ignored. To change your default ignored "
    "providers, see the account's settings.",
    "Filter by Data Policy": "No endpoints found matching your data policy.",
    "Filter by Tool Compatibility": "No endpoints found that support tool use.",
    "Filter by Parameters": "No endpoints found that can handle the requested parameters.",
    "Filter by Quantization": "No endpoints found with the requested quantizations.",
    "Filter by Max Price": "No endpoints found at or below the requested price.",
    "Filter by Guardrails": "No endpoints available matching your guardrail restrictions.",
}


class Candidates(Protocol):
    """The routing of one gateway: raises `RefusedError` when nobody may serve a request."""

    def __call__(
        self,
        model: LabModel,
        request: ChatRequest,
        elapsed: timedelta,
        rng: Random,
        rules: Rules = NO_RULES,
        *,
        restrictions: Sequence[Restriction] = (),
    ) -> tuple[LabRoute, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    name: str
    keeps: Callable[[LabRoute], bool]
    reason: str | None = None


def _is_ignored(route: LabRoute, entries: Sequence[str], rules: Rules) -> bool:
    """Say whether `provider.ignore` names a route; the rules may make it deaf to full tags."""
    heeded = [
        entry for entry in entries if rules.ignore_full_tags or entry != route.tag or entry == route.slug
    ]
    return names_any(heeded, route)


def candidates(
    model: LabModel,
    request: ChatRequest,
    elapsed: timedelta,
    rng: Random,
    rules: Rules = NO_RULES,
    *,
    restrictions: Sequence[Restriction] = (),
) -> tuple[LabRoute, ...]:
    """List the routes that will be tried, in order; without fallbacks only those that were asked for first.

    Args:
        rules: Of the account.
        restrictions: Of the guardrails that cover the key.
    Raises:
        RefusedError: With 404, the failing step and the funnel, when a step leaves no route.
    """
    wanted = request.preferences
    left = [route for route in serving_routes(model, elapsed) if _tier_admitted(route, request)]
    funnel: list[dict[str, Json]] = [{"step": "Initial Endpoints", "endpoint_count": _rows(left)}]
    removed: list[str] = []
    for step in _steps(request, rules, restrictions):
        kept = [route for route in left if step.keeps(route)]
        entry: dict[str, Json] = {"step": step.name, "endpoint_count": _rows(kept)}
        gone = sorted({route.tag for route in left} - {route.tag for route in kept})
        if gone and step.reason:
            entry["reason"] = step.reason
        if gone:
            why = f" ({step.reason})" if step.reason else ""
            removed.append(f"{step.name} removed {', '.join(gone)}{why}")
        funnel.append(entry)
        left = kept
        if not left:
            raise RefusedError(_refusal(model, wanted, step, funnel, removed))
    if not left:
        raise RefusedError(
            Refusal(status=404, message="No endpoints found.", metadata={"routing_funnel": funnel})
        )
    return _in_order(left, wanted, rng)


def _tier_admitted(route: LabRoute, request: ChatRequest) -> bool:
    """Service tiers are opt-in: by the tier's name, or by the full tag."""
    if route.service_tier is None:
        return True
    named = (*request.preferences.order, *(request.preferences.only or ()))
    return route.tag in named or request.service_tier == route.service_tier


def _steps(request: ChatRequest, rules: Rules, restrictions: Sequence[Restriction]) -> tuple[_Step, ...]:
    wanted = request.preferences
    only, most = wanted.only, request.max_tokens
    steps: list[_Step] = []

    def add(name: str, keeps: Callable[[LabRoute], bool], reason: str | None = None) -> None:
        steps.append(_Step(name=name, keeps=keeps, reason=reason))

    denied = wanted.deny_data_collection
    settings = Restriction(ignored=rules.withheld, reason="Provider not allowed (account settings)")
    standing = [each for each in (settings, *restrictions) if not each.is_empty]

    def eligible(route: LabRoute) -> bool:
        return all(each.admits(route) for each in standing)

    if standing and not denied:  # under "deny" the gateway names no guardrail: openrouter-wire.md §1.6
        add("Filter by Guardrails", eligible, standing[0].reason)
    add(
        "Filter by Data Policy",
        lambda route: (
            not (denied and (route.trains_on_data or not eligible(route)))
            and not (wanted.zero_retention and route.keeps_data)
        ),
    )
    if only:
        add("Filter by Allowed Providers", lambda route: names_any(only, route))
    if wanted.ignore:
        add("Filter by Ignored Providers", lambda route: not _is_ignored(route, wanted.ignore, rules))
    if most is not None:
        add(
            "Filter by Parameters",
            lambda route: route.max_completion_tokens is None or most <= route.max_completion_tokens,
            "max_tokens",
        )
    if wanted.require_parameters:
        add(
            "Filter by Parameters",
            lambda route: request.parameters <= _accepted(route, request.response_format),
            "require_parameters",
        )
    if "tools" in request.parameters:
        add("Filter by Tool Compatibility", lambda route: "tools" in route.parameters)
    if wanted.quantizations:
        add("Filter by Quantization", lambda route: (route.quantization or "unknown") in wanted.quantizations)
    if wanted.max_price_prompt is not None or wanted.max_price_completion is not None:
        add("Filter by Max Price", lambda route: _affordable(route, wanted))
    add("Apply Status Sorting", lambda _: True)
    add(
        "Filter by Fallback",
        lambda route: wanted.allow_fallbacks or not wanted.order or names_any(wanted.order, route),
    )
    return tuple(steps)


def _accepted(route: LabRoute, response_format: object) -> frozenset[str]:
    """A strict schema is accepted under either of its two names; max_tokens has two names as well."""
    accepted = set(route.parameters)
    if response_format is not None and "structured_outputs" in accepted:
        accepted.add("response_format")
    if "max_tokens" in accepted:
        accepted.add("max_completion_tokens")
    return frozenset(accepted)


def _affordable(route: LabRoute, wanted: Preferences) -> bool:
    return all(
        most is None or price * MILLION <= most
        for price, most in (
            (route.price_prompt, wanted.max_price_prompt),
            (route.price_completion, wanted.max_price_completion),
        )
    )


def _rows(routes: Sequence[LabRoute]) -> int:
    """The funnel counts listing rows, not tags."""
    return sum(route.rows for route in routes)


def _refusal(
    model: LabModel, wanted: Preferences, failed: _Step, funnel: list[dict[str, Json]], removed: list[str]
) -> Refusal:
    step = failed.name
    metadata: dict[str, Json] = {"failed_routing_step": step, "routing_funnel": funnel}
    if step == "Filter by Guardrails":
        count = funnel[-2]["endpoint_count"]
        metadata["ineligibility_reasons"] = [
            {"reason": failed.reason, "count": count, "configure_url": "/settings/privacy"}
        ]
    if step == "Filter by Allowed Providers":
        metadata["available_providers"] = list(model.slugs)
        metadata["requested_providers"] = list(wanted.only or ())
    if step == "Filter by Fallback":
        message = f"No endpoints found for {model.id}. Every candidate endpoint was removed during routing: "
        message += f"{'; '.join(removed)}."
    else:
        message = _REFUSALS[step]
    return Refusal(status=404, message=message, metadata=metadata)


def _in_order(routes: Sequence[LabRoute], wanted: Preferences, rng: Random) -> tuple[LabRoute, ...]:
    if wanted.order:
        first: dict[str, LabRoute] = {}
        for entry in wanted.order:
            for route in drawn([route for route in routes if names(entry, route)], rng):
                first.setdefault(route.tag, route)
        rest = [route for route in routes if route.tag not in first]
        return (*first.values(), *(drawn(rest, rng) if wanted.allow_fallbacks else ()))
    match wanted.sort:
        case "price":
            tried = sorted(routes, key=lambda route: (route.status != 0, price_of(route), route.tag))
        case "throughput":
            tried = sorted(
                routes, key=lambda route: (route.status != 0, -route.pace.tokens_per_second, route.tag)
            )
        case "latency":
            tried = sorted(
                routes, key=lambda route: (route.status != 0, route.pace.first_text_seconds, route.tag)
            )
        case _:
            tried = drawn(routes, rng)
    return tuple(tried) if wanted.allow_fallbacks else tuple(tried[:1])


def price_of(route: LabRoute) -> float:
    return max(LEAST_PRICE, float(route.price_prompt + route.price_completion) / 2)


def drawn(routes: Sequence[LabRoute], rng: Random) -> list[LabRoute]:
    """Draw an order without replacement, weighted by the inverse square of the price; degraded last."""
    # an exponential key per item gives the same order as drawing one after another by weight
    keyed = [
        (route.status != 0, rng.expovariate(price_of(route) ** -2), route.tag, route) for route in routes
    ]
    return [route for *_, route in sorted(keyed, key=lambda item: item[:3])]
