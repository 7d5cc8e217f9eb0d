"""`routecanary check`: is everything ready, and what will it cost?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import assert_never

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import say, say_json, say_table
from routecanary.clock import Clock, SystemClock
from routecanary.discover.admission import is_admitted
from routecanary.domain.account import KeyInfo
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing, Route
from routecanary.domain.secret import Secret
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.errors import GatewayError
from routecanary.probe.catalog import Catalog
from routecanary.probe.pin import Users
from routecanary.probe.plan import plan_round
from routecanary.wiring import api_key_of, catalog_of, gateway_of, offline_records, settings_at

_BYTES_PER_TOKEN = 3  # of a prompt, low enough to overstate the tokens of most languages
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What a look at one model showed."""

    model: ModelSettings
    listing: Listing
    admitted: frozenset[str]
    probes: int  # of a round, confirmations aside
    worst_cost: Decimal  # USD a round, every answer as long as it may be, confirmations aside
    unpriced: int  # routes that state no price


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlisted:
    """A model whose routes the gateway does not tell."""

    model: ModelSettings
    problem: str


def check(*, config: Path | None = None, offline: bool = False, json: bool = False) -> int:
    """Check configuration, texts, store, key and models, and state the cost before anything is spent.

    Nothing is asked of any model. Exit code 1 when something is wrong that would make a round useless.

    Parameters
    ----------
    config
        The configuration file.
    offline
        Leave the gateway alone: check configuration, texts, built-in exclusions and store only.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    catalog = catalog_of(settings)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        builtin, states = len(records.builtin), len(records.ledger.states())
    account: KeyInfo | None = None
    checks: Sequence[ModelCheck | Unlisted] = ()
    if not offline:
        account, checks = run_async(_look(settings, api_key_of(settings), catalog, clock))
    findings = _findings(settings, account, checks)
    if json:
        say_json(_document(settings, account, checks, findings))
        return ExitCode.FINDING if findings else ExitCode.OK
    say(
        f"{settings.place}: fine; {len(catalog.specs)} probe texts, {builtin} built-in exclusions, "
        f"{states} models in the store"
    )
    if account is not None:
        _show(settings, account, checks)
    for finding in findings:
        say(f"problem: {finding}")
    return ExitCode.FINDING if findings else ExitCode.OK


async def _look(
    settings: Settings, key: Secret, catalog: Catalog, clock: Clock
) -> tuple[KeyInfo, tuple[ModelCheck | Unlisted, ...]]:
    async with gateway_of(settings, key, clock) as gateway:
        account = await gateway.key()
        checks: list[ModelCheck | Unlisted] = []
        for model in settings.models:
            try:
                listing = await gateway.listing(model.model)
            except GatewayError as error:
                checks.append(Unlisted(model=model, problem=str(error)))
            else:
                checks.append(_weighed(settings, model, listing, catalog))
        return account, tuple(checks)


def _weighed(settings: Settings, model: ModelSettings, listing: Listing, catalog: Catalog) -> ModelCheck:
    rng = Random(0)  # noqa: S311 - only lengths are looked at
    locale = settings.probes.locales[0]
    probes = plan_round(
        listing,
        catalog,
        number=0,
        locale_of={route.tag: locale for route in listing.routes},
        contracts_enabled=settings.enabled_contracts(),
        settings=settings.probes,
        asked=listing.tags(),
        users=Users.drawn(rng),
        rng=rng,
    )
    by_tag = {route.tag: route for route in listing.routes}
    return ModelCheck(
        model=model,
        listing=listing,
        admitted=frozenset(route.tag for route in listing.routes if is_admitted(route, model.production)),
        probes=len(probes),
        worst_cost=sum((_worst_cost(by_tag[probe.route], probe.body) for probe in probes), Decimal(0)),
        unpriced=sum(route.price_completion is None for route in listing.routes),
    )


def _worst_cost(route: Route, body: Json) -> Decimal:
    """Price one asking whose answer is as long as it may be, in USD."""
    prompt = sum(len(message["content"].encode()) for message in body["messages"]) // _BYTES_PER_TOKEN
    room = body.get("max_tokens") or body.get("max_completion_tokens") or 0
    return (
        (route.price_prompt or Decimal(0)) * prompt
        + (route.price_completion or Decimal(0)) * room
        + (route.price_request or Decimal(0))
    )


def _findings(
    settings: Settings, account: KeyInfo | None, checks: Sequence[ModelCheck | Unlisted]
) -> list[str]:
    findings = [] if settings.models else ["no model is configured"]
    if account is not None and account.limit_remaining is not None and account.limit_remaining <= 0:
        findings.append("the key's limit is used up")
    for one in checks:
        name = one.model.model
        match one:
            case Unlisted():
                findings.append(f"{name}: {one.problem}")
            case ModelCheck() if not one.listing.routes:
                findings.append(f"{name}: the gateway lists no route")
            case ModelCheck() if len(one.admitted) <= settings.policy.floor:
                findings.append(
                    f"{name}: {len(one.admitted)} admitted routes, and the floor is {settings.policy.floor}: "
                    "nothing could ever be suspended"
                )
            case ModelCheck():
                pass
            case _:
                assert_never(one)
    return findings


def _rounds_a_day(settings: Settings) -> Decimal:
    return Decimal(_DAY / settings.schedule.period)


def _document(
    settings: Settings,
    account: KeyInfo | None,
    checks: Sequence[ModelCheck | Unlisted],
    findings: list[str],
) -> Json:
    looked = {one.model.model: one for one in checks}
    return {
        "ok": not findings,
        "findings": findings,
        "key": None
        if account is None
        else {
            "limit_remaining_usd": None
            if account.limit_remaining is None
            else float(account.limit_remaining),
            "free_tier": account.is_free_tier,
        },
        "models": {model.model: _facts(settings, looked.get(model.model)) for model in settings.models},
    }


def _facts(settings: Settings, one: ModelCheck | Unlisted | None) -> Json:
    """State what a look at one model showed; None where nobody looked or the gateway does not list it."""
    if not isinstance(one, ModelCheck):
        return None
    return {
        "routes": sorted(one.listing.tags()),
        "admitted": sorted(one.admitted),
        "probes_per_round": one.probes,
        "worst_cost_per_round_usd": float(round(one.worst_cost, 6)),
        "worst_cost_per_day_usd": float(round(one.worst_cost * _rounds_a_day(settings), 4)),
        "routes_without_price": one.unpriced,
        "notes": list(one.listing.notes),
    }


def _show(settings: Settings, account: KeyInfo, checks: Sequence[ModelCheck | Unlisted]) -> None:
    left = "no limit" if account.limit_remaining is None else f"{account.limit_remaining} USD left"
    say(f"key: accepted, {left}")
    listed = [one for one in checks if isinstance(one, ModelCheck)]
    if not listed:
        return
    say_table(
        ("model", "routes", "admitted", "probes", "USD a round", "USD a day"),
        [
            (
                one.model.model,
                str(len(one.listing.routes)),
                str(len(one.admitted)),
                str(one.probes),
                f"{one.worst_cost:.4f}",
                f"{one.worst_cost * _rounds_a_day(settings):.2f}",
            )
            for one in listed
        ],
    )
    say("USD at most, every answer as long as it may be; confirmations of failed probes come on top")
    for one in listed:
        if one.unpriced:
            say(f"{one.model.model}: {one.unpriced} routes state no price and are counted as free")
        for note in one.listing.notes:
            say(f"{one.model.model}: {note}")
