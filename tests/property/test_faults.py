"""Whatever is asked, a fault strikes or does not, and what comes can be sent, read and judged."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routecanary.demo.unwired import captured
from routecanary.domain.names import Locale, RouteId
from routecanary.domain.probe import Probe, ProbeKind, Scene
from routecanary.judge.examine import judge_transcript
from routecanary.lab.answering import Turn, prepare
from routecanary.lab.fault import Choice, Fault
from routecanary.lab.faults import FAULTS
from routecanary.lab.host import ParameterValue, PlantedFault
from routecanary.lab.reading import asked_of
from routecanary.lab.request import chat_request
from routecanary.lab.wire import EVENT_STREAM
from tests.lab import CARD, MODEL, SCENES, START, a_body, a_card_body, a_model, a_route

SCHEMAS = st.sampled_from(
    [
        CARD,
        {"type": "object"},
        {"type": "array", "items": {"type": "null"}},
        {"const": ""},
        {"type": "string"},
    ]
)
PROMPTS = st.sampled_from(sorted(SCENES.values())) | st.text(max_size=80)
LIMITS = st.none() | st.integers(1, 900)
BODIES = st.one_of(
    st.builds(
        lambda prompt, limit, stop: _body(a_body(prompt), limit, stop), PROMPTS, LIMITS, st.text(max_size=4)
    ),
    st.builds(
        lambda prompt, limit, schema: _body(a_card_body(prompt, schema), limit, ""), PROMPTS, LIMITS, SCHEMAS
    ),
)


def _body(body: dict[str, Any], limit: int | None, stop: str) -> dict[str, Any]:
    more: dict[str, Any] = {} if limit is None else {"max_tokens": limit}
    return {**body, **more, "stop": [stop]} if stop else {**body, **more}


def ways(fault: Fault) -> st.SearchStrategy[str]:
    choice = fault.parameters.get("with")
    return st.sampled_from(choice.options) if isinstance(choice, Choice) else st.just("")


PLANTED = st.sampled_from(FAULTS).flatmap(lambda fault: st.tuples(st.just(fault), ways(fault)))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(planted=PLANTED, body=BODIES, seed=st.integers(0, 50), streamed=st.booleans())
def test_any_fault_on_any_request(
    planted: tuple[Fault, str], body: dict[str, Any], seed: int, streamed: bool
) -> None:
    """The bytes come in their order, a client can record them, and no judge crashes over them."""
    fault, way = planted
    parameters: dict[str, ParameterValue] = {"with": way} if way else {}
    every = frozenset(ProbeKind)
    route = a_route("host", PlantedFault(fault=fault.name, parameters=parameters, probes=every))
    request = chat_request(json.dumps({**body, "stream": streamed}).encode())
    asked = asked_of(request)
    answer = prepare(
        model=a_model(route, a_route("maple")),
        route=route,
        request=request,
        asked=asked,
        turn=Turn(seed=seed, model=MODEL, route=route.tag, kind=asked.kind, number=0),
        now=START,
        elapsed=timedelta(0),
    )
    wire = answer.wire(streamed=streamed)
    times = [piece.at for piece in wire.pieces]
    assert times == sorted(times)
    assert wire.headers_at is None or not times or wire.headers_at <= times[0]
    assert answer.hand.struck in ([], [fault.name]) or fault.stands_for is not None
    if not streamed and answer.planned.whole is None:
        assert wire.headers.get("Content-Type") != EVENT_STREAM
    probe = Probe(
        model=MODEL,
        route=RouteId("host"),
        kind=asked.kind,
        locale=Locale("en"),
        scene=Scene(id="any", prompt="any"),
        spec_version=1,
        attempt=0,
        body=request.body,
        provider_names=frozenset({"Host"}),
        accepted_models=frozenset({MODEL}),
    )
    verdicts = judge_transcript(captured(probe, wire, at=START))
    assert verdicts
    assert not any(verdict.code == "judge_crashed" for verdict in verdicts.values())
