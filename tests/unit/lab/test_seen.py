"""What the contracts make of the lab's answers: sound ones pass, each fault is seen by whom it should be.

A census with few seeds; `benchmarks/faults.py` asks with as many as wanted.
"""

from __future__ import annotations

from collections import Counter

import pytest

from routecanary.domain.kinds import CASE_VERDICTS
from routecanary.domain.probe import ProbeKind
from routecanary.domain.verdict import VerdictKind
from routecanary.lab.fault import TRIAGE, UNSEEN, Fault
from routecanary.lab.faults import FAULTS
from tests.matrix import KINDS, asked_scenes, healthy, is_seen, strike

SEEDS = range(6)
LEAST_SEEN = 0.5  # share of struck answers: below it, two confirmed rounds in a row become a matter of luck

NEVER_ASKED = {"stream_for_document"}
"""Faults that no probe can meet, since each asks for a stream."""

BEYOND_THE_LAB: frozenset[str] = frozenset()
"""Kinds of verdict that no host of the lab leads to."""


def test_sound_answers_pass_every_contract() -> None:
    """No contract has anything against a host without faults, in any shipped scene."""
    count = sum(len(asked_scenes(kind)) for kind in KINDS)
    for outcome in healthy(count):
        for contract, verdict in outcome.verdicts.items():
            where = f"{outcome.probe.kind} {outcome.probe.locale} {outcome.probe.scene.id}"
            assert verdict.kind is VerdictKind.PASS, f"{where}: {contract}: {verdict} {verdict.detail}"


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.name not in NEVER_ASKED], ids=lambda fault: fault.name
)
def test_a_fault_is_seen_by_those_who_should_see_it(fault: Fault) -> None:
    """Of the answers that it strikes, on each kind of probe where it can be seen, at least half show it.

    What triage sees, and what nobody should, fails no contract: there all of them.
    """
    struck: Counter[ProbeKind] = Counter()
    seen: Counter[ProbeKind] = Counter()
    for outcome in strike(fault, SEEDS, sockets=False):
        shown = is_seen(fault, outcome)
        if shown is not None:
            struck[outcome.probe.kind] += 1
            seen[outcome.probe.kind] += shown
        if {TRIAGE, UNSEEN} & set(fault.seen_by):
            assert shown, f"{outcome.probe.locale} {outcome.way}: {outcome.verdicts}"
    assert struck
    for kind, count in struck.items():
        assert seen[kind] >= LEAST_SEEN * count, f"{kind}: {seen[kind]} of {count}"


def test_every_kind_of_verdict_has_a_fault() -> None:
    """Whatever a transcript case can come to, some fault of the lab leads to; and no row invents a kind."""
    given = {verdict for fault in FAULTS for verdict in fault.gives} - {"pass"}
    assert given >= CASE_VERDICTS - BEYOND_THE_LAB
    assert not given & BEYOND_THE_LAB
    assert given - CASE_VERDICTS <= {"inconclusive:ambiguous"}
