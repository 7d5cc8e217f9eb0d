"""The whole loop against some faults of every kind: what a contract sees is suspended, nobody else is.

`routecanary demo --full` does the same with every fault.
"""

from __future__ import annotations

import asyncio

from routecanary.demo.full import play_full
from routecanary.lab.fault import Fault, ListingFault
from routecanary.lab.faults import FAULT_NAMED, LISTING_FAULT_NAMED
from routecanary.lab.host import Expectation

CAUGHT = (
    *("spoiled_start", "language_mixing", "json_invalid", "keepalives_only", "moderation_403", "repetition"),
    *("stop_ignored", "cross_talk", "wrong_model"),
)
LEFT = (
    "reset_connection",
    "cached_answer",
    "missing_done",
    "split_utf8",
    "account_no_credit",
    "spurious_404",
)
TRIED: tuple[Fault | ListingFault, ...] = (
    *(FAULT_NAMED[name] for name in (*CAUGHT, *LEFT)),
    LISTING_FAULT_NAMED["tag_renamed"],
)


def test_what_a_contract_sees_is_suspended_when_it_shows_again() -> None:
    """In the second round that showed it, by a contract that its row names; no healthy route, no odd wire."""
    story = asyncio.run(play_full(range(1, 2), faults=TRIED))
    assert story.healthy_suspended == []
    caught = {each.fault.name: each for each in story.caught}
    assert set(caught) == {fault.name for fault in TRIED}
    for name, each in caught.items():
        assert (each.expectation is Expectation.SUSPENDED) is (name in CAUGHT)
        assert each.showing == (2 if name in CAUGHT else None), (
            f"{name}: shown {each.shown}, {each.suspended_in}"
        )
        if name in CAUGHT:
            assert each.told
            assert {said.split()[0] for said in each.told} & set(each.fault.seen_by), each.told
