"""The lab's faults against the contracts: who sees which fault, and does anybody fail a healthy answer?

Used by a census of a few seeds among the tests, and by `benchmarks/faults.py` with as many as wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from routecanary.adapters.config.texts import shipped_texts
from routecanary.clock import ScaledClock
from routecanary.demo.unwired import captured
from routecanary.discover.parse import listing_from_json
from routecanary.domain.names import CONTRACT_NAMES, ContractName, ModelId
from routecanary.domain.probe import Probe, ProbeKind, ProbeSpec, Scene
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import GatewaySettings, ProbeSettings, Settings
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.examine import judge_transcript
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.lab import listing
from routecanary.lab.answering import Prepared, Turn, prepare
from routecanary.lab.fault import TRIAGE, UNSEEN, Choice, Fault
from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import LabModel, LabRoute, ParameterValue, PlantedFault
from routecanary.lab.reading import asked_of
from routecanary.lab.request import ChatRequest, chat_request
from routecanary.lab.scenario import Scenario
from routecanary.probe.catalog import catalog_from_texts
from routecanary.probe.pin import Users, probe_for
from routecanary.wiring import gateway_of
from tests.lab import a_route

MODEL = ModelId("acme/chat-70b")  # its id states a size, so that another size is a wrong model
START = datetime(2026, 1, 5, tzinfo=UTC)
KINDS = (ProbeKind.CHAT, ProbeKind.FILTER, ProbeKind.STRUCTURED)
SPEED = 20.0  # scenario seconds in a real second, over real sockets
LAG_LIMIT = 6_000.0  # ms of the scenario: 0.3 s real, so that a busy machine voids no latency verdict

ON_SOCKETS = frozenset(
    {
        *("slow_headers", "keepalives_only", "stall_mid_stream", "cut_stream", "cut_before_done"),
        *("reset_connection", "split_utf8", "odd_framing", "lying_encoding", "latin1_bytes"),
        *("document_for_stream", "html_edge_page", "error_body", "error_in_stream", "rate_limit_shared_pool"),
        *("broken_frame", "cached_answer"),
    }
)
"""Faults whose very bytes, headers, pauses and endings matter: asked over real HTTP by the real client."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One answer and what the contracts said of it."""

    fault: str  # empty = healthy
    way: str  # of the fault's parameter `with`; empty = it has none
    probe: Probe
    seed: int
    verdicts: Mapping[ContractName, Verdict]
    transcript: Transcript = field(repr=False)

    @property
    def failed(self) -> tuple[ContractName, ...]:
        return tuple(name for name, verdict in self.verdicts.items() if verdict.kind is VerdictKind.FAIL)


def is_seen(fault: Fault, outcome: Outcome) -> bool | None:
    """Say whether those who should see a fault saw it in this answer; None: none of them judged it."""
    said = {name: str(verdict) for name, verdict in outcome.verdicts.items()}
    if UNSEEN in fault.seen_by:
        return set(said.values()) <= set(fault.gives)
    if TRIAGE in fault.seen_by:
        return not outcome.failed and not set(fault.gives).isdisjoint(said.values())
    judged = [said[name] for name in CONTRACT_NAMES if name in fault.seen_by and name in said]
    return not set(fault.gives).isdisjoint(judged) if judged else None


def may_fail(fault: Fault) -> bool:
    """Say whether a contract may fail an answer for this fault."""
    return any(each.startswith("fail:") for each in fault.gives) and UNSEEN not in fault.seen_by


@cache
def asked_scenes(kind: ProbeKind) -> tuple[tuple[ProbeSpec, Scene], ...]:
    """List every shipped scene of a kind, the locales taking turns."""
    specs = [spec for spec in catalog_from_texts(shipped_texts()).specs if spec.kind is kind]
    longest = max(len(spec.scenes) for spec in specs)
    return tuple(
        (spec, spec.scenes[number])
        for number in range(longest)
        for spec in specs
        if number < len(spec.scenes)
    )


def a_model(*routes: LabRoute) -> LabModel:
    return LabModel(id=MODEL, dated=f"{MODEL}-20260901", name="Acme: Chat 70B", routes=routes)


def a_listing(model: LabModel) -> Listing:
    document = listing.endpoints(model, timedelta(0), known_key=True)
    return listing_from_json(document, model=MODEL, at=START, place="lab")


def a_probe(listed: Listing, tag: str, spec: ProbeSpec, scene: Scene, rng: Random) -> Probe:
    target = next(route for route in listed.routes if route.tag == tag)
    probe = probe_for(
        listed,
        target,
        spec,
        scene,
        attempt=0,
        sampling=ProbeSettings().sampling,
        users=Users.drawn(rng),
        rng=rng,
    )
    assert probe is not None
    return probe


def ways_of(fault: Fault) -> tuple[str, ...]:
    """List what the parameter `with` can name; one empty way where there is no choice."""
    choice = fault.parameters.get("with")
    return tuple(filter(None, choice.options)) if isinstance(choice, Choice) else ("",)


def coded_scenes(kind: ProbeKind) -> tuple[tuple[ProbeSpec, Scene], ...]:
    """Write a code into scenes, as texts of one's own may: the shipped ones hold none."""
    return tuple(
        (spec, replace(scene, prompt=f"{scene.prompt}\n\nBelow the scene put the code KITE-4821."))
        for spec, scene in asked_scenes(kind)
        if spec.locale == "en" and spec.schema is None
    )


class Trial:
    """One fault, planted in one route beside two healthy ones."""

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault
        self.ways = ("",) if fault is None else ways_of(fault)
        self._routes = [self._faulty(way) for way in self.ways]
        self.model = a_model(*self._routes, a_route("maple"), a_route("dear"))
        self.listing = a_listing(self.model)

    @property
    def _needs_code(self) -> bool:
        return self.fault is not None and "fail:cross_talk" in self.fault.gives

    def _faulty(self, way: str) -> LabRoute:
        if self.fault is None:
            return a_route("host/fp8")
        parameters: dict[str, ParameterValue] = {"with": way} if way else {}
        planted = PlantedFault(fault=self.fault.name, parameters=parameters)
        return a_route(f"host/{way.replace('_', '-') or 'fp8'}", planted)

    @property
    def kinds(self) -> tuple[ProbeKind, ...]:
        own = self.fault.probes if self.fault is not None else frozenset()
        return tuple(kind for kind in KINDS if kind in own) if own else KINDS

    def struck(self, kind: ProbeKind, seed: int) -> tuple[Probe, Prepared, str] | None:
        """Ask the next scene that the fault can show in; None where there is none of this kind."""
        scenes = coded_scenes(kind) if self._needs_code else asked_scenes(kind)
        number = seed % len(self.ways)
        route, way = self._routes[number], self.ways[number]
        for step in range(len(scenes)):
            spec, scene = scenes[(seed + step) % len(scenes)]
            rng = Random(f"{kind}|{seed}|{step}")
            probe = a_probe(self.listing, route.tag, spec, scene, rng)
            answer = self.answer(route, a_request(probe), seed)
            answer.wire()  # what strikes on the way strikes now
            if self.fault is None or answer.hand.struck:
                return probe, self.answer(route, a_request(probe), seed), way
        return None

    def answer(self, route: LabRoute, request: ChatRequest, seed: int) -> Prepared:
        asked = asked_of(request)
        return prepare(
            model=self.model,
            route=route,
            request=request,
            asked=asked,
            turn=Turn(seed=seed, model=MODEL, route=route.tag, kind=asked.kind, number=seed),
            now=START,
            elapsed=timedelta(0),
        )

    def outcomes(self, seeds: Sequence[int]) -> Iterator[Outcome]:
        """Strike without sockets, once a seed and kind of probe."""
        for kind in self.kinds:
            for seed in seeds:
                found = self.struck(kind, seed)
                if found is None:
                    break
                probe, answer, way = found
                yield self._judged(captured(probe, answer.wire(), at=START), probe, way, seed)

    async def outcomes_on_sockets(self, seeds: Sequence[int]) -> list[Outcome]:
        """Strike over real HTTP, all answers side by side."""
        scenario = Scenario(name="matrix", models=(self.model,))
        clock = ScaledClock(start=START, rate=SPEED)
        async with LabGateway(scenario, seed=1, time_scale=SPEED, now=clock.now) as lab:
            reached = GatewaySettings(base_url=lab.base_url, concurrency=16)
            settings = Settings(gateway=reached, store_path="none", snapshot_path="none")
            async with gateway_of(settings, Secret(scenario.key), clock) as gateway:

                async def ask(probe: Probe, way: str, seed: int) -> Outcome | None:
                    transcript = await gateway.ask(probe)
                    served = lab.ledger.find(transcript.header("x-generation-id") or "")
                    if served is not None and not served.faults:
                        return None
                    return self._judged(transcript, probe, way, seed)

                # looking for scenes takes the processor, for which an open connection must not wait
                found = [(self.struck(kind, seed), seed) for kind in self.kinds for seed in seeds]
                asked = [ask(each[0], each[2], seed) for each, seed in found if each is not None]
                return [outcome for outcome in await asyncio.gather(*asked) if outcome is not None]

    def _judged(self, transcript: Transcript, probe: Probe, way: str, seed: int) -> Outcome:
        return Outcome(
            fault=self.fault.name if self.fault is not None else "",
            way=way,
            probe=probe,
            seed=seed,
            verdicts=judge_transcript(transcript, JudgeSettings(lag_limit_ms=LAG_LIMIT)),
            transcript=transcript,
        )


def a_request(probe: Probe) -> ChatRequest:
    import json

    return chat_request(json.dumps(probe.body).encode())


def strike(fault: Fault, seeds: Sequence[int], *, sockets: bool = True) -> list[Outcome]:
    """Strike with a fault once a seed and kind of probe, over sockets where they matter."""
    trial = Trial(fault)
    if sockets and fault.name in ON_SOCKETS:
        return asyncio.run(trial.outcomes_on_sockets(seeds))
    return list(trial.outcomes(seeds))


def healthy(count: int) -> Iterator[Outcome]:
    """Judge so many healthy answers, kinds, locales and scenes taking turns."""
    trial = Trial(None)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        found = trial.struck(kind, number // len(KINDS))
        assert found is not None
        probe, answer, way = found
        yield trial._judged(captured(probe, answer.wire(), at=START), probe, way, number)
