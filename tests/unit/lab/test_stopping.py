"""A scene with a stop word, written by a host that is sent none: it owes the line and the sentence below."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from routecanary.demo.unwired import captured
from routecanary.domain.probe import ProbeKind, ProbeSpec, Scene
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.examine import judge_transcript
from routecanary.lab.answers import with_afterword
from routecanary.lab.phrases import book_for
from routecanary.lab.shape import DEFAULT_PARAMETERS
from tests.lab import a_route, an_answer
from tests.matrix import START, a_listing, a_model, a_probe, asked_scenes

DEAF = a_route("host/fp8", parameters=tuple(name for name in DEFAULT_PARAMETERS if name != "stop"))
STOPPING = [
    pytest.param(spec, scene, id=f"{spec.locale}-{scene.id}")
    for spec, scene in asked_scenes(ProbeKind.CHAT)
    if scene.stop is not None
]


@pytest.mark.parametrize(("spec", "scene"), STOPPING)
def test_the_line_and_the_afterword_are_no_fault_of_a_host_that_was_sent_no_stop_word(
    spec: ProbeSpec, scene: Scene
) -> None:
    """A route that does not declare `stop` does as the prompt says, and no contract minds."""
    assert scene.stop is not None
    model = a_model(DEAF)
    probe = a_probe(a_listing(model), DEAF.tag, spec, scene, Random(1))
    assert "stop" not in probe.body
    for number in range(3):
        answer = an_answer(DEAF, dict(probe.body), number=number)
        whole = with_afterword(answer.planned.text, scene.stop, book_for(spec.locale), Random(number))
        planned = replace(answer.planned, model=model.dated, text=whole)
        transcript = captured(probe, replace(answer, planned=planned).wire(), at=START)
        for contract, verdict in judge_transcript(transcript).items():
            assert verdict.kind is VerdictKind.PASS, f"{contract}: {verdict} {verdict.detail}"
