"""What every gateway behind the port promises, held over each adapter against the lab in its own wire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, TypeVar

import pytest

from routecanary.clock import ScaledClock
from routecanary.domain.answer import read_answer
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import LATENCY, ContractName, ModelId, RouteId
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import GatewaySettings, LatencySettings, ProbeSettings, Settings
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import AccountError, GatewayError
from routecanary.judge.examine import judge_transcript
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.lab.fault import Fault
from routecanary.lab.faults import FAULT_NAMED
from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import Account, LabRoute, PlantedFault, PlantedListingFault, Window
from routecanary.lab.scenario import Scenario
from routecanary.probe.pin import Users, probe_for
from routecanary.rounds.preflight import preflight
from routecanary.wiring import gateway_of
from tests.lab import a_route
from tests.matrix import KINDS, MODEL, SPEED, a_model, asked_scenes, coded_scenes

T = TypeVar("T")
START = datetime(2026, 1, 5, tzinfo=UTC)
LONG = timedelta(hours=1)  # of wire time: a busy machine shall void nothing here
LIMITS = JudgeSettings(latency_limit_ms=LONG / timedelta(milliseconds=1), lag_limit_ms=1e9)
USERS = Users(chat="c" * 32, filter="f" * 32)


@dataclass(frozen=True)
class Bench:
    """A lab in one wire, and the adapter that asks it."""

    lab: LabGateway
    gateway: Any
    listing: Listing
    clock: ScaledClock

    def probe(self, tag: str, kind: ProbeKind = ProbeKind.CHAT, *, coded: bool = False) -> Probe:
        """Make a probe that is the same in every wire but for the keys that pin it."""
        (route,) = (each for each in self.listing.routes if each.tag == tag)
        spec, scene = (coded_scenes if coded else asked_scenes)(kind)[0]
        probe = probe_for(
            self.listing,
            route,
            spec,
            scene,
            attempt=0,
            sampling=ProbeSettings().sampling,
            users=USERS,
            rng=Random(f"{tag}|{kind}"),
        )
        assert probe is not None
        return probe

    async def judged(self, probe: Probe) -> Mapping[ContractName, Verdict]:
        return judge_transcript(await self.gateway.ask(probe), LIMITS)


def on(
    kind: GatewayKind,
    routes: tuple[LabRoute, ...],
    what: Callable[[Bench], Awaitable[T]],
    *,
    silence: timedelta = LONG,
) -> T:
    """Do something on a bench of these hosts; whoever is silent for so long is given up."""

    async def go() -> T:
        scenario = Scenario(name="conformance", models=(a_model(*routes),))
        clock = ScaledClock(start=START, rate=SPEED)
        async with LabGateway(scenario, seed=1, time_scale=SPEED, now=clock.now, wire=kind) as lab:
            settings = Settings(
                gateway=GatewaySettings(
                    kind=kind,
                    base_url=lab.base_url,
                    concurrency=24,
                    connect_timeout=LONG,
                    headers_timeout=silence,
                    gap_timeout=silence,
                    total_timeout=LONG,
                    document_timeout=LONG,
                ),
                latency=LatencySettings(listen=silence),
                store_path="none",
                snapshot_path="none",
            )
            async with gateway_of(settings, Secret(scenario.key), clock) as gateway:
                return await what(Bench(lab, gateway, await gateway.listing(MODEL), clock))

    return asyncio.run(go())


@pytest.fixture(params=list(GatewayKind))
def kind(request: pytest.FixtureRequest) -> GatewayKind:
    return GatewayKind(request.param)


HOSTS = (
    a_route("maple", price_completion=Decimal("0.0000012"), max_completion_tokens=4096),
    a_route("birch", trains_on_data=True),
    a_route("cedar", keeps_data=True),
)


def test_a_listing_names_every_route_and_what_it_takes(kind: GatewayKind) -> None:
    """Sorted by tag; whose it is goes along, since the routes are asked as that gateway wants it."""

    async def listed(bench: Bench) -> Listing:
        return bench.listing

    listing = on(kind, HOSTS, listed)
    assert (listing.model, listing.gateway, listing.notes) == (MODEL, kind, ())
    assert [route.tag for route in listing.routes] == ["birch", "cedar", "maple"]
    maple = listing.routes[2]
    assert (maple.price_prompt, maple.price_completion) == (Decimal("0.0000002"), Decimal("0.0000012"))
    assert (maple.max_completion_tokens, maple.context_length) == (4096, 131_072)
    assert {"max_tokens", "structured_outputs"} <= maple.parameters
    assert str(MODEL) in listing.accepted_models


def test_a_pinned_probe_is_answered_by_its_route_and_no_other(kind: GatewayKind) -> None:
    """Whole, in the order of asking, and the answer names who served it; its cost is told."""

    async def asked(bench: Bench) -> list[tuple[str, Transcript]]:
        probes = [bench.probe(route.tag, each) for route in bench.listing.routes for each in KINDS]
        transcripts = await asyncio.gather(*(bench.gateway.ask(probe) for probe in probes))
        assert {str(served.route) for served in bench.lab.ledger} == {"birch", "cedar", "maple"}
        assert len(bench.lab.ledger) == len(probes)
        return [(probe.route, transcript) for probe, transcript in zip(probes, transcripts, strict=True)]

    for route, transcript in on(kind, HOSTS, asked):
        answer = read_answer(transcript)
        assert [name.lower() for name in answer.providers] == [route]
        assert (answer.finish_reason, answer.done) == ("stop", True)
        assert answer.usage is not None
        assert answer.usage["cost"] > 0
        verdicts = judge_transcript(transcript, LIMITS)
        assert {str(verdict) for verdict in verdicts.values()} <= {"pass", "skipped"}, verdicts


def test_names_are_sent_as_the_gateway_spells_them() -> None:
    """Where a provider's slug has capitals, the pin has them too; everywhere else a tag is in lower case."""
    capital = a_route("maple", slug="mapleWorks", provider="Maple Works")

    async def asked(bench: Bench) -> tuple[Mapping[ContractName, Verdict], Mapping[str, Any]]:
        probe = bench.probe("mapleworks")
        return await bench.judged(probe), probe.body

    verdicts, body = on(GatewayKind.VERCEL, (capital, a_route("birch")), asked)
    assert body["providerOptions"] == {"gateway": {"only": ["mapleWorks"]}}
    assert {verdict.kind for verdict in verdicts.values()} <= {VerdictKind.PASS, VerdictKind.SKIPPED}


def test_a_route_that_went_since_the_listing_is_nobodys_failure(kind: GatewayKind) -> None:
    """The pin refuses; no other host answers in its place, and nothing is held against the route."""

    async def asked(bench: Bench) -> Mapping[ContractName, Verdict]:
        probe = bench.probe("maple")
        bench.clock.advance(timedelta(hours=2))
        verdicts = await bench.judged(probe)
        assert len(bench.lab.ledger) == 0
        return verdicts

    gone = PlantedListingFault(fault="delisted", window=Window(start=timedelta(hours=1)))
    hosts = (a_route("maple", listing_faults=(gone,)), *HOSTS[1:])
    assert {str(verdict) for verdict in on(kind, hosts, asked).values()} == {"account:config"}


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (Account.NO_CREDIT, "account:credits"),
        (Account.KEY_REVOKED, "account:auth"),
        (Account.BLOCKED, "account:blocked"),
        (Account.REGION, "account:region"),
    ],
)
def test_a_fault_of_the_account_is_held_against_no_route(
    kind: GatewayKind, account: Account, said: str
) -> None:
    """The whole account is refused, by every gateway in words of its own."""

    async def asked(bench: Bench) -> Mapping[ContractName, Verdict]:
        bench.lab.account = account
        return await bench.judged(bench.probe("maple"))

    assert {str(verdict) for verdict in on(kind, HOSTS, asked).values()} == {said}


def test_what_may_still_be_spent_is_told_and_a_wrong_key_is_the_accounts_fault(kind: GatewayKind) -> None:
    """A check asks before anything is spent."""

    async def asked(bench: Bench) -> Any:
        return await bench.gateway.key()

    assert on(kind, HOSTS, asked).limit_remaining == 100

    async def refused(bench: Bench) -> Any:
        bench.lab.account = Account.KEY_REVOKED
        return await bench.gateway.key()

    with pytest.raises(AccountError) as error:
        on(kind, HOSTS, refused)
    assert error.value.code == "auth"


def test_a_model_that_nobody_knows_raises(kind: GatewayKind) -> None:
    """With a sentence that names the call."""

    async def asked(bench: Bench) -> None:
        await bench.gateway.listing(ModelId("acme/unheard-of"))

    with pytest.raises(GatewayError, match=r"GET /models/acme/unheard-of/endpoints: .* \(HTTP 404\)"):
        on(kind, HOSTS, asked)


def test_whom_the_products_data_policy_withholds_is_known_and_costs_nothing(kind: GatewayKind) -> None:
    """By a refusal, or by the listing; no route is asked for it."""

    async def asked(bench: Bench) -> list[frozenset[RouteId]]:
        told = [
            await preflight(bench.gateway, bench.listing, users=USERS, rng=Random(1), **policy)
            for policy in ({"deny": True}, {"zdr": True})
        ]
        assert len(bench.lab.ledger) == 0
        return [each.withheld for each in told]

    assert on(kind, HOSTS, asked) == [frozenset({"birch"}), frozenset({"cedar"})]


def planted(fault: Fault) -> LabRoute:
    """Make a host for each fault, of a name that is its own in every wire."""
    return a_route(fault.name.replace("_", "-"), PlantedFault(fault=fault.name))


def said_on(kind: GatewayKind) -> dict[tuple[str, ProbeKind], str]:
    """Ask every fault of the lab in every kind of probe that it strikes, all side by side."""
    faults = tuple(FAULT_NAMED.values())

    async def asked(bench: Bench) -> dict[tuple[str, ProbeKind], str]:
        probes = {
            (fault.name, each): bench.probe(
                planted(fault).tag,
                each,
                coded="fail:cross_talk" in fault.gives and each is not ProbeKind.STRUCTURED,
            )
            for fault in faults
            for each in fault.probes or KINDS
            if each in KINDS
        }
        # made before, judged after: an open connection must not wait for either
        transcripts = await asyncio.gather(*map(bench.gateway.ask, probes.values()))
        return {pair: said(transcript) for pair, transcript in zip(probes, transcripts, strict=True)}

    def said(transcript: Transcript) -> str:
        verdicts = judge_transcript(transcript, LIMITS)
        judged = sorted((name, verdict) for name, verdict in verdicts.items() if name != LATENCY)
        return " ".join(f"{name}={verdict}" for name, verdict in judged)

    silence = timedelta(seconds=60)  # longer than the slowest fault that says something in the end
    return on(kind, tuple(planted(fault) for fault in faults), asked, silence=silence)


OTHERWISE = {
    "spurious_404": "transport:upstream_error",  # the gateway says that the host was asked, and answered so
    "account_in_flight": "account:credits",  # it has no budget of requests in flight: a 402 is a 402
}
"""Faults that mean something else in the second wire, and what every contract then says."""


def test_every_fault_of_a_host_is_judged_alike_in_both_wires() -> None:
    """The hosts, their faults and every draw are the same: only the wire differs, and it must not show.

    Save in `latency`, which a busy machine decides.
    """
    usual, other = said_on(GatewayKind.OPENROUTER), said_on(GatewayKind.VERCEL)
    assert len(usual) > 150
    different = {key: (usual[key], other[key]) for key in usual if usual[key] != other[key]}
    assert {name for name, _ in different} == OTHERWISE.keys(), different
    for (name, _), (_, said) in different.items():
        assert {each.partition("=")[2] for each in said.split()} == {OTHERWISE[name]}
