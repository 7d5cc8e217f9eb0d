"""`routecanary check`: is everything ready, and what will it cost?"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Protocol

from routecanary.cli.check_document import document
from routecanary.cli.check_findings import findings
from routecanary.cli.check_guardrail import look_at_guardrail
from routecanary.cli.check_policy import policy_change
from routecanary.cli.check_tables import show
from routecanary.cli.checked import Checked, Looked, ModelCheck, Unlisted
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import say, say_json
from routecanary.clock import SystemClock
from routecanary.discover.admission import is_admitted
from routecanary.discover.undivided import united
from routecanary.domain.account import KeyInfo
from routecanary.domain.names import RouteId
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import ModelSettings
from routecanary.errors import GatewayError, InputError
from routecanary.probe.catalog import Catalog
from routecanary.probe.pin import Users
from routecanary.rounds.estimate import ROUNDS_MEASURED, estimate
from routecanary.rounds.ports import Gateway
from routecanary.rounds.preflight import Preflight, preflight
from routecanary.rounds.records import Records
from routecanary.rounds.trial import Bench, Trial, subjects
from routecanary.wiring import (
    api_key_of,
    catalog_of,
    channels_of,
    gateway_of,
    offline_records,
    own_refusals_of,
    settings_at,
)


def check(
    *, config: Path | None = None, offline: bool = False, live: bool = False, json: bool = False
) -> int:
    """Check configuration, texts, store, key and models, and state the cost before anything is spent.

    Nothing is asked of any model, save with --live. What the account itself withholds is read from a refusal
    that costs nothing. Where the policy is not the one that decided last, it says what the new one would have
    done with the newest rounds. Exit code 1 when something is wrong that a person should look at first.

    Parameters
    ----------
    config
        The configuration file.
    offline
        Leave the gateway alone: check configuration, texts, built-in exclusions and store only.
    live
        Also ask a few words of each provider that has several tags, within the day's budget: does ignoring
        one of them leave the others? What is seen is remembered.
    json
        Print one JSON object.
    """
    if live and offline:
        raise InputError("asks the gateway", key="--live", allowed="without --offline")
    settings = settings_at(config)
    catalog = catalog_of(settings)
    own_refusals_of(settings)
    clock = SystemClock()
    looked: Looked | None = None
    with offline_records(settings, clock, to_act=live) as records:
        if not offline:
            channels_of(settings, clock)  # as the daemon will: a secret that is missing is said now
            looked = run_async(_look(records, api_key_of(settings), catalog, live=live))
        operating = records.ledger.operating()
        checked = Checked(
            settings=settings,
            now=clock.now(),
            committed=operating.committed(clock.now().date()),
            undivided=operating.undivided,
            looked=looked,
            policy=policy_change(records),
        )
        builtin, states = len(records.builtin), len(records.ledger.states())
    found = findings(checked)
    if json:
        say_json(document(checked, found))
        return ExitCode.FINDING if found else ExitCode.OK
    say(
        f"{settings.place}: fine; {len(catalog.specs)} probe texts, {builtin} built-in exclusions, "
        f"{states} models in the store"
    )
    show(checked)
    for finding in found:
        say(f"problem: {finding}")
    return ExitCode.FINDING if found else ExitCode.OK


async def _look(records: Records, key: Secret, catalog: Catalog, *, live: bool) -> Looked:
    async with gateway_of(records.settings, key, records.clock) as gateway:
        looked = await _Look(records, catalog, gateway).at_everything(live=live)
    return replace(looked, guardrail=await look_at_guardrail(records))


class AccountGateway(Gateway, Protocol):
    """The gateway, as somebody asks it who wants to know how we stand there. Raises `GatewayError`."""

    async def key(self) -> KeyInfo: ...

    async def providers(self) -> Mapping[str, str]: ...


class _Look:
    """Asks the gateway what can be asked for nothing, and with `live` for next to nothing."""

    def __init__(self, records: Records, catalog: Catalog, gateway: AccountGateway) -> None:
        self._records = records
        self._catalog = catalog
        self._gateway = gateway
        self._rng = Random(secrets.randbits(128))  # noqa: S311 - ids and nonces, no secrets
        self._users = Users.drawn(self._rng)

    async def at_everything(self, *, live: bool) -> Looked:
        key = await self._gateway.key()
        models = [await self._at_model(model) for model in self._records.settings.models]
        listed = [one for one in models if isinstance(one, ModelCheck)]
        trials = await self._try(listed) if live else None
        return Looked(key=key, models=tuple(models), trials=trials)

    async def _at_model(self, model: ModelSettings) -> ModelCheck | Unlisted:
        try:
            named = await self._gateway.listing(model.model)
        except GatewayError as error:
            return Unlisted(model=model, problem=str(error))
        preflights = await self._preflights(model, named)
        withheld = frozenset[RouteId]().union(
            *(one.withheld for when, one in preflights.items() if when in _applying(model))
        )
        listing = united(named, self._records.ledger.operating().undivided)
        known = self._records.ledger.listing(model.model)
        return ModelCheck(
            model=model,
            named=named,
            listing=listing,
            preflights=preflights,
            admitted=frozenset(
                route.tag
                for route in listing.routes
                if is_admitted(route, model.production, withheld=withheld)
            ),
            estimate=estimate(
                self._records.settings,
                model,
                listing,
                self._catalog,
                self._records.ledger.settlements(model.model, ROUNDS_MEASURED),
            ),
            known_through=None if known is None else known.gateway,
        )

    async def _preflights(self, model: ModelSettings, listing: Listing) -> Mapping[str, Preflight]:
        """Provoke a refusal for each way of asking; none where there is nobody to withhold."""
        if not listing.routes:
            return {}
        ways = ["always", "deny", *(["zdr"] if model.production.zdr else [])]
        return {
            way: await preflight(
                self._gateway,
                listing,
                users=self._users,
                rng=self._rng,
                deny=way == "deny",
                zdr=way == "zdr",
            )
            for way in ways
        }

    async def _try(self, models: list[ModelCheck]) -> tuple[Trial, ...]:
        """Ask a few words of each provider with several tags, or at least of one route."""
        try:
            slugs = {slug: name for name, slug in (await self._gateway.providers()).items()}
        except GatewayError:
            slugs = {}  # a tag's first part is then taken for its slug
        bench = Bench(self._records, self._gateway, users=self._users, rng=self._rng)
        trials: dict[str, Trial] = {}
        for one in models:
            withheld = one.preflights["always"].withheld if one.preflights else frozenset()
            for subject in subjects(one.named, slugs, withheld=withheld):
                if subject.provider not in trials:
                    trials[subject.provider] = await bench.ignoring(subject, one.named)
        if not trials:
            for one in models:
                route = next((route for route in one.named.routes if route.tag in one.admitted), None)
                if route is not None:
                    return (await bench.answering(one.named, route),)
        return tuple(trials[provider] for provider in sorted(trials))


def _applying(model: ModelSettings) -> frozenset[str]:
    """List the ways of asking in which the product's own requests are asked."""
    ways = {"always"}
    if model.production.data_collection == "deny":
        ways.add("deny")
    if model.production.zdr:
        ways.add("zdr")
    return frozenset(ways)
