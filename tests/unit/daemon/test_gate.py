"""Rounds and changes: never at once, and nobody waits for ever."""

from __future__ import annotations

import asyncio

from routecanary.daemon.gate import Gate


def run(story: object) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(10):
            await story  # type: ignore[misc]

    asyncio.run(bounded())


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_change_waits_for_the_rounds_and_lets_no_other_begin() -> None:
    """Two rounds run; a change comes, then a third round: the change is between them."""
    happened: list[str] = []

    async def round_(name: str, end: asyncio.Event) -> None:
        async with gate.round():
            happened.append(f"{name} begins")
            await end.wait()
            happened.append(f"{name} ends")

    async def change() -> None:
        async with gate.change():
            happened.append(f"changed while {gate.rounds} run")

    async def story() -> None:
        ends = [asyncio.Event() for _ in range(3)]
        first = [asyncio.create_task(round_(str(n), ends[n])) for n in range(2)]
        await settled()
        changing = asyncio.create_task(change())
        await settled()
        third = asyncio.create_task(round_("2", ends[2]))
        await settled()
        for end in ends:
            end.set()
        await asyncio.gather(*first, changing, third)

    gate = Gate()
    run(story())
    assert happened == [
        "0 begins",
        "1 begins",
        "0 ends",
        "1 ends",
        "changed while 0 run",
        "2 begins",
        "2 ends",
    ]


def test_changes_come_one_after_another() -> None:
    """The second begins when the first is over."""
    happened: list[str] = []

    async def change(name: str) -> None:
        async with gate.change():
            happened.append(f"{name} begins")
            await settled()
            happened.append(f"{name} ends")

    async def story() -> None:
        await asyncio.gather(change("a"), change("b"))

    gate = Gate()
    run(story())
    assert happened == ["a begins", "a ends", "b begins", "b ends"]


def test_whoever_is_cancelled_holds_up_nobody() -> None:
    """A cancelled round, a cancelled change, and one that was cancelled while it waited."""

    async def stay(gate: Gate, kind: str) -> None:
        async with getattr(gate, kind)():
            await asyncio.Event().wait()

    async def pass_through(gate: Gate, kind: str) -> None:
        async with getattr(gate, kind)():
            pass

    async def story() -> None:
        for kind, waiting in (("round", "change"), ("change", "round"), ("change", "change")):
            gate = Gate()
            holder = asyncio.create_task(stay(gate, kind))
            await settled()
            waiter = asyncio.create_task(stay(gate, waiting))
            await settled()
            waiter.cancel()
            await settled()
            other = asyncio.create_task(pass_through(gate, waiting))
            await settled()
            assert not other.done()
            holder.cancel()
            await other
            await pass_through(gate, "round")
            await pass_through(gate, "change")
            assert gate.rounds == 0

    run(story())
