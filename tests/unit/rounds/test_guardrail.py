"""A guardrail kept in step, over the lab's account: ours comes and goes, and nothing else changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.guardrail import Refusal
from routecanary.domain.operation import (
    OPERATED,
    GuardrailCleared,
    GuardrailEntriesLost,
    GuardrailRefused,
    GuardrailSynced,
    GuardrailWriteBegun,
    GuardrailWritten,
    Operation,
    operation_from_json,
)
from routecanary.domain.round import Mode, Pause, SwitchMode
from routecanary.domain.settings import GuardrailSettings
from routecanary.errors import GatewayError, WriteRefusedError
from routecanary.rounds.act import act, exclude
from routecanary.rounds.guardrail import Done, Sync, forget
from routecanary.rounds.guardrail_lists import model_lists
from routecanary.rounds.records import Records
from tests.account import CANARY, PRODUCTION, SHIELD, AccountAtHand
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, a_report

SETTINGS = GuardrailSettings(enabled=True, apply=True, id=SHIELD)
ILL = {**HEALTHY, "ill/fp8": "structured:fail"}


def some_ill_records() -> Records:
    """Records in which one route, of a provider of its own, is suspended for a day."""
    records = some_records()
    for at in ("0s", "30m", "1h"):
        tell_round(records, at, ILL)
    assert list(records.ledger.state(MODEL).suspensions()) == ["ill/fp8"]
    return records


def a_sync(records: Records, account: AccountAtHand, **facts: object) -> Sync:
    return Sync(records, account, SHIELD, SETTINGS, **facts)  # type: ignore[arg-type]


def keep(sync: Sync, cause: str = "change", *, again: bool = False) -> Done:
    return asyncio.run(sync.keep(cause, again=again))


def clear(sync: Sync) -> frozenset[str]:
    return asyncio.run(sync.clear("command"))


def said(records: Records, *kinds: type) -> list[Operation]:
    found = [operation_from_json(stored.body) for stored in records.store.read(kinds=OPERATED)]
    return [each for each in found if isinstance(each, kinds)]


def owned(records: Records) -> frozenset[str]:
    return records.ledger.operating().guardrail(SHIELD).owned


def test_a_suspension_comes_and_goes_and_others_entries_stay() -> None:
    """It is written when it begins, is gone after its end, and each step is in the log, the intent first."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    sync = a_sync(records, account)
    done = keep(sync)
    assert account.ignored == ["theirs", "ill"]
    assert (done.added, done.refused, owned(records)) == ({"ill"}, None, {"ill"})
    keep(sync, "check")
    assert len(account.writes) == 1, "what is in step is not written again"
    wait_until(records, "2d")
    assert keep(sync).removed == {"ill"}
    assert account.ignored == ["theirs"]
    assert owned(records) == frozenset()
    kinds = [type(each) for each in said(records, GuardrailWriteBegun, GuardrailWritten, GuardrailSynced)]
    write = [GuardrailWriteBegun, GuardrailWritten, GuardrailSynced]
    assert kinds == [*write, GuardrailSynced, *write]


@pytest.mark.parametrize(
    "end",
    [
        lambda records: act(records, Pause(at=records.clock.now(), model=MODEL)),
        lambda records: act(records, SwitchMode(at=records.clock.now(), model=MODEL, mode=Mode.OBSERVE)),
        lambda records: wait_until(records, "8h"),
    ],
    ids=["pause", "observe", "stale"],
)
def test_whatever_ends_the_canary_layer_ends_it_here(end: Callable[[Records], object]) -> None:
    """A pause, observe mode, and rounds that are older than applications would believe."""
    records, account = some_ill_records(), AccountAtHand()
    keep(a_sync(records, account))
    assert account.ignored == ["ill"]
    end(records)
    keep(a_sync(records, account))
    assert account.ignored == []


def test_looking_changes_nothing() -> None:
    """A dry run says what would be done; neither list nor log is touched."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    head = records.ledger.head()
    look = asyncio.run(a_sync(records, account).look())
    assert (look.plan.add, look.plan.list, look.refused) == (("ill",), ("theirs", "ill"), None)
    assert (account.ignored, records.ledger.head()) == (["theirs"], head)


def covering(how: str) -> Callable[[AccountAtHand], None]:
    def cover(account: AccountAtHand) -> None:
        match how:
            case "key":
                account.guardrails.assign_keys(SHIELD, [CANARY.hash])
            case "member":
                account.guardrails.assign_members(SHIELD, [CANARY.creator])

    return cover


@pytest.mark.parametrize(("how", "why"), [("key", Refusal.COVERS_KEY), ("member", Refusal.COVERS_MEMBER)])
def test_a_guardrail_that_covers_the_canary_is_refused(how: str, why: Refusal) -> None:
    """Nothing is written, and it is said once, however often it is tried."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    covering(how)(account)
    for _ in range(3):
        assert keep(a_sync(records, account)).refused is why
    assert (account.ignored, account.writes) == (["theirs"], [])
    assert [each.why for each in said(records, GuardrailRefused)] == [why]  # type: ignore[attr-defined]


@pytest.mark.parametrize("how", ["key", "member"])
def test_a_guardrail_that_comes_to_cover_the_canary_is_left(how: str) -> None:
    """Coverage is looked at before every write and at every check: what is ours goes; and it comes back."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    sync = a_sync(records, account)
    keep(sync)
    covering(how)(account)
    assert keep(sync, "check").removed == {"ill"}
    assert (account.ignored, owned(records)) == (["theirs"], frozenset())
    assert records.ledger.operating().guardrail(SHIELD).refused is not None
    account.guardrails.of_key.pop(CANARY.hash, None)
    account.guardrails.of_member.clear()
    assert keep(sync, "check").added == {"ill"}
    assert records.ledger.operating().guardrail(SHIELD).refused is None


def test_a_refusal_is_told_even_if_our_entries_cannot_be_taken_out() -> None:
    """They are tried to be taken out again at the next look."""
    records, account = some_ill_records(), AccountAtHand()
    sync = a_sync(records, account)
    keep(sync)
    covering("key")(account)

    def fail(name: str) -> None:
        if name == "write":
            raise WriteRefusedError("HTTP 403")

    account.before = fail
    with pytest.raises(WriteRefusedError):
        keep(sync)
    assert records.ledger.operating().guardrail(SHIELD).refused is Refusal.COVERS_KEY
    account.before = lambda _: None
    assert keep(sync).removed == {"ill"}
    assert len(said(records, GuardrailRefused)) == 1


@pytest.mark.parametrize("call", ["canary", "coverage"])
def test_a_coverage_that_cannot_be_found_out_lets_nothing_in_and_everything_out(call: str) -> None:
    """It refuses to add, and still removes what has ended."""
    records, account = some_ill_records(), AccountAtHand()

    def fail(name: str) -> None:
        if name == call:
            raise GatewayError("no answer")

    account.before = fail
    assert keep(a_sync(records, account)).refused is Refusal.UNCLEAR
    assert account.ignored == []
    account.before = lambda _: None
    keep(a_sync(records, account))
    account.before = fail
    assert keep(a_sync(records, account)).removed == frozenset()
    assert account.ignored == ["ill"], "what stands there stays"
    wait_until(records, "2d")
    done = keep(a_sync(records, account))
    assert (done.removed, done.refused, account.ignored) == ({"ill"}, Refusal.UNCLEAR, [])


def test_a_route_that_the_canary_does_not_reach_any_more_is_given_back() -> None:
    """Whatever the lists say: the entries go, and nothing is added until a person says so."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    asked: list[frozenset[str]] = []

    async def withheld(entries: frozenset[str]) -> frozenset[str]:
        asked.append(entries)
        return frozenset({"ill/fp8"})

    sync = a_sync(records, account, withheld=withheld)
    done = keep(sync)
    assert (done.refused, account.ignored, asked) == (Refusal.WITHHELD, ["theirs"], [{"ill"}])
    assert keep(sync).refused is Refusal.WITHHELD
    assert len(account.writes) == 2
    again = keep(a_sync(records, account), "command", again=True)
    assert (again.refused, account.ignored) == (None, ["theirs", "ill"])
    assert records.ledger.operating().guardrail(SHIELD).refused is None


def test_an_entry_that_somebody_takes_out_is_told_once_and_not_fought_for() -> None:
    """It comes back with the next suspension, or when a person asks."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    sync = a_sync(records, account)
    keep(sync)
    account.ignored = ["theirs"]
    for _ in range(3):
        assert keep(sync, "check").added == frozenset()
    assert account.ignored == ["theirs"]
    (lost,) = said(records, GuardrailEntriesLost)
    assert lost.entries == {"ill"}  # type: ignore[attr-defined]
    wait_until(records, "2d")
    keep(sync)
    assert records.ledger.operating().guardrail(SHIELD).lost == frozenset()
    for at in ("2d", "2d30m", "2d1h"):
        tell_round(records, at, ILL)
    assert keep(sync).added == {"ill"}
    account.ignored = []
    assert keep(sync, "command", again=True).added == {"ill"}
    assert account.ignored == ["ill"]


def test_an_edit_between_reading_and_writing_is_kept() -> None:
    """The list is read again before it is written, and the plan made anew."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    calls: list[str] = []

    def edit(name: str) -> None:
        calls.append(name)
        if name == "coverage" and len(calls) < 5:
            account.ignored = ["theirs", "new"]

    account.before = edit
    keep(a_sync(records, account))
    assert account.ignored == ["theirs", "new", "ill"]
    assert len(account.writes) == 1


def test_somebody_who_edits_all_the_time_is_given_way_to() -> None:
    """After some attempts it is a failure, to be tried again later; nothing of theirs is lost."""
    records, account = some_ill_records(), AccountAtHand()
    count = 0

    def edit(name: str) -> None:
        nonlocal count
        if name == "coverage":
            count += 1
            account.ignored = [f"theirs-{count}"]

    account.before = edit
    with pytest.raises(GatewayError, match="again and again"):
        keep(a_sync(records, account))
    assert (account.writes, account.ignored) == ([], [f"theirs-{count}"])


def test_an_edit_over_ours_right_after_the_write_is_seen() -> None:
    """Somebody who wrote an older list over ours took our entry out: told, not fought for."""
    records, account = some_ill_records(), AccountAtHand("theirs")

    def edit(_: str) -> None:
        account.after = lambda _: None
        account.ignored = ["theirs", "new"]

    account.after = edit
    keep(a_sync(records, account))
    assert (account.ignored, owned(records)) == (["theirs", "new"], frozenset())
    assert len(said(records, GuardrailEntriesLost)) == 1


def test_what_a_person_wants_back_is_put_back_once() -> None:
    """Who takes it out again meanwhile is not fought."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    sync = a_sync(records, account)
    keep(sync)
    account.ignored = ["theirs"]
    keep(sync, "check")

    def edit(_: str) -> None:
        account.ignored = ["theirs"]

    account.after = edit
    keep(sync, "command", again=True)
    assert (account.ignored, len(account.writes)) == (["theirs"], 2)
    assert len(said(records, GuardrailEntriesLost)) == 2
    assert records.ledger.operating().guardrail(SHIELD).lost == {"ill"}


def test_an_older_entry_of_ours_that_goes_during_a_write_is_told_too() -> None:
    """Whatever is not there after a write is not ours any more, and somebody is told."""
    records, account = some_ill_records(), AccountAtHand()
    sync = a_sync(records, account)
    keep(sync)
    entry = RuntimeEntry(
        target="h1", models=frozenset({MODEL}), reason="r", actor="a", created=records.clock.now()
    )
    exclude(records, entry)

    def edit(_: str) -> None:
        account.ignored = ["h1"]

    account.after = edit
    keep(sync)
    (lost,) = said(records, GuardrailEntriesLost)
    assert (lost.entries, owned(records)) == ({"ill"}, {"h1"})  # type: ignore[attr-defined]


@pytest.mark.parametrize("landed", [True, False])
def test_a_write_without_an_answer_is_settled_by_the_next_reading(landed: bool) -> None:
    """Whether it landed or not: what is there of it is ours, and it is completed."""
    records, account = some_ill_records(), AccountAtHand("theirs")

    def fail(name: str) -> None:
        if name == "write":
            raise GatewayError("no whole answer")

    if landed:
        account.after = fail
    else:
        account.before = fail
    sync = a_sync(records, account)
    with pytest.raises(GatewayError):
        keep(sync)
    assert account.ignored == (["theirs", "ill"] if landed else ["theirs"])
    account.before = account.after = lambda _: None
    keep(sync)
    assert (account.ignored, owned(records)) == (["theirs", "ill"], {"ill"})
    assert clear(sync) == {"ill"}
    assert account.ignored == ["theirs"]


def test_a_write_after_one_without_an_answer_forgets_nothing() -> None:
    """Two in a row that were cut off: what the first brought is still known to be ours."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    sync = a_sync(records, account)

    def cut(_: str) -> None:
        raise GatewayError("no whole answer")

    account.after = cut
    with pytest.raises(GatewayError):
        keep(sync)
    entry = RuntimeEntry(
        target="h1", models=frozenset({MODEL}), reason="r", actor="a", created=records.clock.now()
    )
    exclude(records, entry)
    with pytest.raises(GatewayError):
        keep(sync)
    account.after = lambda _: None
    assert account.ignored == ["theirs", "ill", "h1"]
    assert clear(sync) == {"ill", "h1"}
    assert account.ignored == ["theirs"]


def test_a_refused_write_leaves_nothing_open() -> None:
    """The gateway said no, so nothing came of it, and what was ours is ours."""
    records, account = some_ill_records(), AccountAtHand("theirs")

    def refuse(name: str) -> None:
        if name == "write":
            raise WriteRefusedError("HTTP 400")

    account.before = refuse
    with pytest.raises(WriteRefusedError):
        keep(a_sync(records, account))
    standing = records.ledger.operating().guardrail(SHIELD)
    assert (standing.pending, standing.owned) == (None, frozenset())


def test_what_has_ended_goes_even_if_what_should_come_is_refused() -> None:
    """A removal is a write of its own."""
    records, account = some_ill_records(), AccountAtHand()
    sync = a_sync(records, account)
    keep(sync)
    for number in range(4):
        tell_round(records, f"{120 + 30 * number}m", {**HEALTHY, "ill/fp8": "ok", "bad": "structured:fail"})

    def refuse(name: str) -> None:
        if name == "write" and len(account.writes) > 1:
            raise WriteRefusedError("HTTP 400")

    account.before = refuse
    with pytest.raises(WriteRefusedError):
        keep(sync)
    assert (account.ignored, owned(records)) == ([], frozenset())


def test_a_write_of_another_process_is_waited_for_and_then_settled() -> None:
    """Two writers at once would undo each other; one that died is not waited for for ever."""
    records, account = some_ill_records(), AccountAtHand()

    def die(name: str) -> None:
        if name == "write":
            raise KeyboardInterrupt

    account.after = die
    with pytest.raises(KeyboardInterrupt):
        keep(a_sync(records, account))
    account.after = lambda _: None
    with pytest.raises(GatewayError, match="another process"):
        keep(a_sync(records, account))
    records.clock.advance(timedelta(seconds=66))  # type: ignore[attr-defined]
    keep(a_sync(records, account))
    assert (account.ignored, owned(records)) == (["ill"], {"ill"})
    assert len(account.writes) == 1, "the write of the one that died had landed"


def test_who_clears_after_a_dead_process_waits_only_some_seconds() -> None:
    """What it had sent has arrived by then; a service manager gives no more time."""
    records, account = some_ill_records(), AccountAtHand()

    def die(name: str) -> None:
        if name == "write":
            raise KeyboardInterrupt

    account.after = die
    with pytest.raises(KeyboardInterrupt):
        keep(a_sync(records, account))
    account.after = lambda _: None
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        records.clock.advance(timedelta(seconds=seconds))  # type: ignore[attr-defined]

    records.clock.sleep = sleep  # type: ignore[method-assign]
    assert clear(a_sync(records, account)) == {"ill"}
    assert account.ignored == []
    assert waited == [pytest.approx(5, abs=0.5)]


def test_ownership_is_remembered_by_the_next_process() -> None:
    """What one process wrote, another one takes out."""
    records, account = some_ill_records(), AccountAtHand("theirs", "h1")
    keep(a_sync(records, account))
    assert clear(a_sync(records, account)) == {"ill"}
    assert account.ignored == ["theirs", "h1"]
    (cleared,) = said(records, GuardrailCleared)
    assert cleared.removed == {"ill"}  # type: ignore[attr-defined]


def test_clearing_needs_no_coverage_and_no_ownership() -> None:
    """It works on a guardrail that covers the canary, and finds nothing to do where nothing is ours."""
    records, account = some_ill_records(), AccountAtHand("theirs")
    assert clear(a_sync(records, account)) == frozenset()
    keep(a_sync(records, account))
    account.guardrails.assign_keys(SHIELD, [CANARY.hash, PRODUCTION.hash])

    def fail(name: str) -> None:
        if name in {"canary", "coverage"}:
            raise GatewayError("not asked for")

    account.before = fail
    assert clear(a_sync(records, account)) == {"ill"}
    assert account.ignored == ["theirs"]


def test_what_is_ours_in_a_guardrail_that_is_gone_can_be_forgotten() -> None:
    """Nothing is asked of anybody."""
    records, account = some_ill_records(), AccountAtHand()
    keep(a_sync(records, account))
    account.guardrails.delete(SHIELD)
    with pytest.raises(GatewayError):
        clear(a_sync(records, account))
    assert owned(records) == {"ill"}
    assert forget(records, SHIELD, actor="ada") == {"ill"}
    assert owned(records) == frozenset()


def test_controls_and_what_is_not_admitted_are_no_routes_that_are_left() -> None:
    """As for the floor of the decision."""
    records = some_records()
    told = {
        "a": "ok",
        "b": "ok",
        "control": a_report("filtering:fail", control_for=["filtering"]),
        "unused": a_report(admitted=False),
    }
    tell_round(records, "0s", told)
    (listed,) = model_lists(records).models
    assert listed.admitted == {"a", "b"}


def test_lists_hold_until_something_ends_by_itself() -> None:
    """The earliest end of a suspension, or of our belief in the rounds."""
    records = some_ill_records()
    lists = model_lists(records)
    assert [each.ignore for each in lists.models] == [{"ill/fp8"}]
    ends_at = records.clock.now().timestamp() + records.settings.max_snapshot_age.total_seconds()
    assert lists.until == pytest.approx(ends_at)
    assert model_lists(records).fingerprint() == lists.fingerprint()
