"""What is recorded of the lab without sockets is what the real client records of it over real ones."""

from __future__ import annotations

from collections import defaultdict

import pytest

from routecanary.domain.probe import ProbeKind
from routecanary.lab.faults import FAULT_NAMED
from tests.matrix import ON_SOCKETS, Outcome, strike, ways_of


def verdicts(outcomes: list[Outcome]) -> dict[tuple[ProbeKind, str], set[tuple[str, str]]]:
    """Collect what each contract said, by kind of probe and way of the fault."""
    said: defaultdict[tuple[ProbeKind, str], set[tuple[str, str]]] = defaultdict(set)
    for outcome in outcomes:
        for contract, verdict in outcome.verdicts.items():
            said[outcome.probe.kind, outcome.way].add((contract, str(verdict)))
    return dict(said)


@pytest.mark.parametrize("name", sorted(ON_SOCKETS))
def test_both_ways_of_asking_lead_to_the_same_verdicts(name: str) -> None:
    """For every way of every fault whose bytes, headers, pauses or endings matter."""
    fault = FAULT_NAMED[name]
    seeds = range(len(ways_of(fault)))
    over_sockets = verdicts(strike(fault, seeds))
    assert over_sockets
    assert over_sockets == verdicts(strike(fault, seeds, sockets=False))
