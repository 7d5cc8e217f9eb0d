"""The way from the outbox to a channel: at least once, patiently, and within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.daemon.deliver import NAP, Pacing, deliver_pending, keep_delivering
from routecanary.domain.log import StoredDraft
from routecanary.domain.outbox import Delivery, Outgoing, Tally
from routecanary.domain.settings import NotifySettings
from routecanary.errors import DeliveryError, StoreError

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PACING = Pacing(max_attempts=5, first_wait=timedelta(seconds=8), longest_wait=timedelta(seconds=30))


class ManualClock:
    """Time that passes only while somebody sleeps, or is told to."""

    rate = 1.0

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return (self.at - NOON).total_seconds()

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        await asyncio.sleep(0)


class Scripted:
    """A channel that does what it is told, the last thing for ever."""

    def __init__(self, *problems: Exception | None, name: str = "hook") -> None:
        self.name = name
        self._problems = list(problems) or [None]
        self.handed: list[Delivery] = []

    async def deliver(self, delivery: Delivery) -> None:
        self.handed.append(delivery)
        problem = self._problems.pop(0) if len(self._problems) > 1 else self._problems[0]
        await asyncio.sleep(0)
        if problem is not None:
            raise problem


def put(store: MemoryStore, *messages: str, channel: str = "hook") -> None:
    store.append(
        [StoredDraft(kind="x", at=NOON, body={})],
        store.head(),
        outgoing=[Outgoing(message=each, channel=channel, at=NOON, body="{}") for each in messages],
    )


def deliver(store: MemoryStore, clock: ManualClock, *channels: Scripted) -> dict[str, int]:
    return dict(asyncio.run(deliver_pending(store, channels, clock, Random(1), PACING)))


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


def messages(channel: Scripted) -> list[str]:
    return [delivery.message for delivery in channel.handed]


def test_what_is_due_is_handed_over_in_order() -> None:
    """Each message once, the channels independent of each other."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1", "m2", "m3")
    put(store, "m1", channel="command")
    hook, command = Scripted(), Scripted(DeliveryError("down"), name="command")
    assert deliver(store, clock, hook, command) == {"delivered": 3, "postponed": 1}
    assert messages(hook) == ["m1", "m2", "m3"]
    assert messages(command) == ["m1"]
    assert deliver(store, clock, hook, command) == {}


def test_a_channel_that_is_down_is_left_alone() -> None:
    """One refusal ends the pass for its channel: the next message would meet the same."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1", "m2", "m3")
    hook = Scripted(DeliveryError("answered 500"), None)
    assert deliver(store, clock, hook) == {"postponed": 1}
    assert deliver(store, clock, hook) == {"delivered": 2}
    assert messages(hook) == ["m1", "m2", "m3"]
    clock.at += timedelta(seconds=8)
    assert deliver(store, clock, hook) == {"delivered": 1}
    assert store.tally() == {"hook": Tally(delivered=3)}


def test_the_waits_double_up_to_a_bound() -> None:
    """Each attempt has the same key; the last one allowed gives the message up."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1")
    hook = Scripted(DeliveryError("answered 503"))
    waits = []
    began = clock.at
    while store.tally()["hook"].pending:
        before = len(hook.handed)
        deliver(store, clock, hook)
        if len(hook.handed) > before:
            waits.append((clock.at - began).total_seconds())
            began = clock.at
        clock.at += timedelta(seconds=0.5)
    assert len(waits) == PACING.max_attempts
    for wait, (least, most) in zip(waits[1:], [(4, 8), (8, 16), (15, 30), (15, 30)], strict=True):
        assert least <= wait <= most + 0.5
    assert len({delivery.idempotency_key for delivery in hook.handed}) == 1
    assert [delivery.attempt for delivery in hook.handed] == [1, 2, 3, 4, 5]
    assert store.tally() == {"hook": Tally(failed=1, problem="answered 503")}
    clock.at += timedelta(days=9)
    assert deliver(store, clock, hook) == {}


@pytest.mark.parametrize("attempt", [1, 2, 10, 64, 10_000])
def test_a_wait_stays_within_its_bounds(attempt: int) -> None:
    """However many attempts there were, and never shorter than half of the first."""
    for seed in range(50):
        wait = Pacing().wait_after(attempt, Random(seed))
        assert timedelta(seconds=2.5) <= wait <= timedelta(hours=1)


def test_the_pacing_is_what_the_file_says() -> None:
    """A lease is longer than an attempt may take."""
    notify = NotifySettings(
        timeout=timedelta(seconds=20),
        max_attempts=7,
        retry_wait=(timedelta(seconds=3), timedelta(minutes=3)),
        keep=timedelta(days=2),
    )
    pacing = Pacing.of(notify)
    assert (pacing.max_attempts, pacing.keep) == (7, timedelta(days=2))
    assert (pacing.first_wait, pacing.longest_wait) == notify.retry_wait
    assert pacing.lease > notify.timeout


class DeathError(BaseException):
    """The process is killed."""


class Dies(Scripted):
    """A channel whose receiver takes the message, whereupon the process dies."""

    async def deliver(self, delivery: Delivery) -> None:
        self.handed.append(delivery)
        raise DeathError


def test_a_death_between_taking_and_marking_is_a_second_time() -> None:
    """The receiver sees the message twice, under one key; nothing is lost and nothing marked too soon."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1")
    hook = Dies()
    with pytest.raises(BaseExceptionGroup):
        deliver(store, clock, hook)
    after = Scripted()
    assert deliver(store, clock, after) == {}, "somebody may still be at it"
    clock.at += PACING.lease
    assert deliver(store, clock, after) == {"delivered": 1}
    assert hook.handed[0].idempotency_key == after.handed[0].idempotency_key
    assert after.handed[0].attempt == 2


def test_a_message_that_kills_its_deliverer_is_given_up() -> None:
    """A message that nobody survives is not tried for ever."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1", "m2")
    for _ in range(PACING.max_attempts):
        with pytest.raises(BaseExceptionGroup):
            deliver(store, clock, Dies())
        clock.at += PACING.lease
    after = Scripted()
    counts = deliver(store, clock, after)
    assert counts["failed"] == 1
    assert messages(after) == ["m2"]
    assert store.tally()["hook"].failed == 1


def test_a_channel_of_ours_that_breaks_is_a_failed_attempt() -> None:
    """A bug in one keeps nothing from the others, and its text, which may hold an address, is not kept."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1")
    put(store, "m1", channel="command")
    broken = Scripted(RuntimeError("https://hooks.example/T0K3N"))
    assert deliver(store, clock, broken, Scripted(name="command")) == {"delivered": 1, "postponed": 1}
    assert store.tally()["hook"].problem == "an error of our own: RuntimeError"


class Unmarkable(MemoryStore):
    """A store that fails when something is to be marked."""

    broken: Callable[[], bool] = staticmethod(lambda: True)

    def delivered(self, delivery: Delivery) -> None:
        if self.broken():
            raise StoreError("no room left")
        super().delivered(delivery)


def test_an_outbox_that_fails_is_one_error_of_ours() -> None:
    """Not a group of them; and what was handed over comes again."""
    store, clock = Unmarkable(), ManualClock()
    put(store, "m1")
    hook = Scripted()
    with pytest.raises(StoreError, match="no room left"):
        deliver(store, clock, hook)
    store.broken = lambda: False  # type: ignore[method-assign]
    clock.at += PACING.lease
    assert deliver(store, clock, hook) == {"delivered": 1}
    assert messages(hook) == ["m1", "m1"]


def test_delivering_goes_on_through_trouble(caplog: pytest.LogCaptureFixture) -> None:
    """A store that fails for a while is said once, and tried again at the next look."""
    store, clock = Unmarkable(), ManualClock()
    put(store, "m1")
    mended_at = NOON + PACING.lease * 2
    store.broken = lambda: clock.at < mended_at  # type: ignore[method-assign]
    hook = Scripted()

    async def go() -> None:
        delivering = asyncio.create_task(keep_delivering(store, [hook], clock, Random(1), PACING))
        await until(lambda: bool(store.tally()["hook"].delivered))
        delivering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await delivering

    asyncio.run(go())
    assert len(hook.handed) >= 2
    said = [record.message for record in caplog.records if "outbox not usable" in record.message]
    assert len(said) == len(hook.handed) - 1, "each time anew, after a look that went well"


def test_old_messages_go_and_new_ones_come() -> None:
    """While it delivers it forgets what has been over for long, and sees what is written meanwhile."""
    store, clock = MemoryStore(), ManualClock()
    put(store, "m1")
    hook = Scripted()

    async def go() -> None:
        delivering = asyncio.create_task(keep_delivering(store, [hook], clock, Random(1), PACING))
        await until(lambda: bool(store.tally()["hook"].delivered))
        put(store, "m2")
        clock.at += PACING.keep * 2
        await until(lambda: "hook" not in store.tally())
        delivering.cancel()

    asyncio.run(go())
    assert messages(hook) == ["m1", "m2"]
    assert NAP > 0
