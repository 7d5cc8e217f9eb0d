"""What the contracts make of the lab's answers: sound ones pass, each fault is seen by whom it should be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.discover.parse import listing_from_json
from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, LATENCY, STRUCTURED, ContractName
from routecanary.domain.probe import Probe, ProbeKind, ProbeSpec
from routecanary.domain.settings import ProbeSettings
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.examine import judge_transcript
from routecanary.lab import listing
from routecanary.lab.answering import Prepared
from routecanary.lab.fault import TRIAGE, Fault
from routecanary.lab.faults import FAULTS
from routecanary.lab.host import LabRoute, PlantedFault
from routecanary.lab.plan import EndingMode
from routecanary.probe.catalog import catalog_from_texts
from routecanary.probe.pin import Users, probe_for
from tests.lab import MODEL, START, a_model, a_route, an_answer

SPECS = catalog_from_texts(shipped_texts()).specs
NEIGHBOUR = a_route("maple")

JUDGED = [fault for fault in FAULTS if TRIAGE not in fault.seen_by]
ON_THE_WAY = [fault for fault in FAULTS if TRIAGE in fault.seen_by]

CHIEFLY_ON = {
    LATENCY: ProbeKind.CHAT,
    LANGUAGE: ProbeKind.CHAT,
    INTEGRITY: ProbeKind.CHAT,  # the one that asks for an opening
    FILTERING: ProbeKind.FILTER,
    STRUCTURED: ProbeKind.STRUCTURED,
}
LEAST_SEEN = 0.5  # share of struck answers: below it, two confirmed rounds in a row become a matter of luck


def probes(spec: ProbeSpec, route: LabRoute) -> Iterator[Probe]:
    """Ask every scene of a spec, as a round would."""
    document = listing.endpoints(a_model(route, NEIGHBOUR), START - START, known_key=True)
    listed = listing_from_json(document, model=MODEL, at=START, place="lab")
    target = next(each for each in listed.routes if each.tag == route.tag)
    rng = Random(1)
    for scene in spec.scenes:
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
        yield probe


def transcript_of(probe: Probe, answer: Prepared) -> Transcript:
    """Capture a prepared answer as the client would, without a socket."""
    problem = answer.planned.problem
    if problem is not None:
        status, headers = (
            problem.status,
            tuple((key.lower(), value) for key, value in problem.headers.items()),
        )
        chunks = (Chunk(50.0, json.dumps(problem.body()).encode()),)
        ending = Ending(kind=EndingKind.EOF, at_ms=51.0)
    else:
        wire = answer.wire()
        status, headers = 200, (("content-type", "text/event-stream; charset=utf-8"),)
        chunks = tuple(Chunk(piece.at * 1000, piece.data) for piece in wire.pieces)
        kind = EndingKind.RESET if wire.ending is EndingMode.RESET else EndingKind.EOF
        ending = Ending(kind=kind, at_ms=chunks[-1].at_ms)
    return Transcript(
        model=probe.model,
        route=probe.route,
        kind=probe.kind,
        locale=probe.locale,
        request=probe.body,
        status=status,
        headers=headers,
        chunks=chunks,
        ending=ending,
        provider_names=probe.provider_names,
        accepted_models=probe.accepted_models,
        scene=probe.scene,
        spec_version=probe.spec_version,
    )


def judged(
    route: LabRoute, spec: ProbeSpec, times: int
) -> Iterator[tuple[Prepared, dict[ContractName, Verdict]]]:
    for seed, probe in enumerate(probes(spec, route)):
        for number in range(times):
            answer = an_answer(route, dict(probe.body), number=number, seed=seed, beside=(NEIGHBOUR,))
            yield answer, judge_transcript(transcript_of(probe, answer))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.locale}")
def test_sound_answers_pass_every_contract(spec: ProbeSpec) -> None:
    """No contract has anything against a host without faults, in any shipped scene."""
    for answer, verdicts in judged(a_route("north-host"), spec, 4):
        for contract, verdict in verdicts.items():
            complaint = f"{contract}: {verdict} {verdict.detail}\n{answer.planned.text}"
            assert verdict.kind is VerdictKind.PASS, complaint


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if TRIAGE not in fault.seen_by], ids=lambda fault: fault.name
)
def test_a_fault_is_seen_by_those_who_should_see_it(fault: Fault) -> None:
    """Of the answers that it strikes, each contract said to see it fails enough for confirmed rounds."""
    route = a_route("north-host", PlantedFault(fault=fault.name))
    failed: Counter[ContractName] = Counter()
    struck: Counter[ContractName] = Counter()
    for spec in SPECS:
        wanted = [
            contract
            for contract in CHIEFLY_ON
            if CHIEFLY_ON[contract] is spec.kind and contract in fault.seen_by
        ]
        for answer, verdicts in judged(route, spec, 2) if wanted else ():
            for contract in wanted if answer.hand.struck else ():
                struck[contract] += 1
                failed[contract] += verdicts[contract].kind is VerdictKind.FAIL
    assert set(struck) == set(fault.seen_by)
    for contract, count in struck.items():
        assert failed[contract] >= LEAST_SEEN * count, f"{contract}: {failed[contract]} of {count}"


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if TRIAGE in fault.seen_by], ids=lambda fault: fault.name
)
def test_trouble_on_the_way_never_fails_a_contract(fault: Fault) -> None:
    """What triage sees says nothing of quality: no contract fails, and most say nothing at all."""
    route = a_route("north-host", PlantedFault(fault=fault.name))
    for spec in SPECS:
        for answer, verdicts in judged(route, spec, 1):
            assert answer.hand.struck == [fault.name]
            kinds = {verdict.kind for verdict in verdicts.values()}
            assert VerdictKind.FAIL not in kinds
            assert kinds & {VerdictKind.TRANSPORT, VerdictKind.INCONCLUSIVE}
