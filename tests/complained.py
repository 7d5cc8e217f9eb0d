"""Hours of rounds and traffic in a store, with one route going bad: what complaints are answered from."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import LANGUAGE, Locale, ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode, Round, RouteReport, SwitchMode
from routecanary.domain.route import Listing, Route
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.ports import Store
from routecanary.rounds.record import Ledger

MODEL = ModelId("acme/chat-2")
BAD = RouteId("inkspill/fp4")
PROVIDERS = {
    "acme": "Acme",
    "cindermoor": "Cindermoor",
    "inkspill/fp4": "Inkspill",
    "north-host/fp8": "North Host",
    "north-host/turbo": "North Host",
    "plover": "Plover",
}
PERIOD = timedelta(minutes=30)
GAP = timedelta(seconds=30)


def tell_rounds(
    store: Store, since: datetime, until: datetime, *, bad: Collection[str] = (), mode: Mode = Mode.OBSERVE
) -> None:
    """Decide on a round each half hour, in Thai, in which the bad ones fail `language`."""
    ledger = Ledger(store, Policy())
    first = SwitchMode(at=since, model=MODEL, mode=mode)
    ledger.decide(MODEL, lambda _at, _acted: first, now=lambda: since)
    at = since
    while at < until:
        line = Round(
            at=at,
            model=MODEL,
            routes={
                RouteId(tag): RouteReport(
                    verdicts={LANGUAGE: VerdictKind.FAIL if tag in bad else VerdictKind.PASS},
                    attempts={LANGUAGE: (True, True, True)} if tag in bad else {},
                )
                for tag in PROVIDERS
            },
            locale=Locale("th"),
        )
        ledger.decide(MODEL, lambda _at, _acted, line=line: line, now=lambda at=at: at, listing=a_listing(at))
        at += PERIOD


def a_listing(at: datetime) -> Listing:
    routes = tuple(
        Route(tag=RouteId(tag), provider_names=frozenset({name})) for tag, name in sorted(PROVIDERS.items())
    )
    return Listing(model=MODEL, at=at, routes=routes, accepted_models=frozenset({MODEL}))


def a_generation(tag: str, at: datetime, **facts: object) -> Generation:
    """Make an answer of a route as telemetry holds it: by its provider's name."""
    provider = PROVIDERS[tag]
    told: dict[str, object] = {
        "key": f"{tag} {at.isoformat()}",
        "source": Source.HOOK,
        "model": MODEL,
        "started_at": at,
        "provider": provider,
        "candidates": frozenset(RouteId(each) for each, name in PROVIDERS.items() if name == provider),
        "ttft_ms": 900,
        "status": 200,
        "finish_reason": "stop",
        "empty": False,
        "locale": Locale("th"),
    }
    return Generation(**(told | facts))  # type: ignore[arg-type]  # by name, as the tests choose


def serve(store: Store, since: datetime, until: datetime) -> None:
    """Let every route serve in turn."""
    tags, served = sorted(PROVIDERS), []
    at = since
    while at < until:
        served.append(a_generation(tags[len(served) % len(tags)], at))
        at += GAP
    store.keep_generations(served, at=until)
