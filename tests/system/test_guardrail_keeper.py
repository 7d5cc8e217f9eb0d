"""The daemon over a guardrail in virtual time: when it writes, what it tells, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.guardrail import OnStop, Refusal
from routecanary.domain.operation import (
    GuardrailCleared,
    GuardrailFailed,
    GuardrailRefused,
    GuardrailSynced,
)
from routecanary.domain.settings import GuardrailSettings, Settings
from routecanary.errors import GatewayError
from routecanary.lab.guardrails import LabGuardrail
from routecanary.rounds.act import exclude, readmit
from tests.account import SHIELD, AccountAtHand
from tests.virtual_time import VirtualClock
from tests.watched import NAME, Host, Watched, a_configuration, a_watch, run, some_settings

APPLY = GuardrailSettings(enabled=True, apply=True, id=SHIELD)
ROUNDS = [None] * 6  # the first at once, then every half an hour
MINUTE = timedelta(minutes=1)


def settings_with(folder: Path, guardrail: GuardrailSettings = APPLY) -> Settings:
    return some_settings(folder, guardrail=guardrail)


def a_guarded_watch(settings: Settings, account: AccountAtHand, **facts: Any) -> Watched:
    """Make a daemon of two hours and a half that looks after the account's guardrail."""
    return a_watch(settings, ROUNDS, guardrail=account, **facts)


def excluding(
    watched: Watched, target: str = "two", *, lasting: timedelta | None = None
) -> Callable[[], None]:
    """Keep a route away by hand, when it is called."""

    def do() -> None:
        now = watched.world.clock.now()
        entry = RuntimeEntry(
            target=target,
            models=frozenset({NAME}),
            reason="r",
            actor="a",
            created=now,
            expires=None if lasting is None else now + lasting,
        )
        exclude(watched.world, entry)

    return do


class Journal:
    """What the list was, and when."""

    def __init__(self, watched: Watched, account: AccountAtHand) -> None:
        self.lines: list[tuple[str, list[str]]] = []
        account.after = lambda _: self.lines.append((f"{watched.clock.now():%H:%M:%S}", account.ignored))


def open_conditions(watched: Watched) -> list[str]:
    """Name what is told of the canary itself and has not ended."""
    return list(watched.world.ledger.conditions().of(None))


def test_a_change_is_written_once_it_has_settled_and_an_end_on_time(tmp_path: Path) -> None:
    """Five seconds after the last of several acts; an end by the clock needs no round and no act."""
    account = AccountAtHand("theirs")
    watched = a_guarded_watch(settings_with(tmp_path), account)
    journal = Journal(watched, account)
    watched.clock.after(10 * MINUTE, excluding(watched, lasting=25 * MINUTE))
    watched.clock.after(10 * MINUTE + timedelta(seconds=3), excluding(watched, "three"))
    watched.clock.after(
        60 * MINUTE, lambda: readmit(watched.world, "three", frozenset({NAME}), actor="a", reason="r")
    )
    run(watched)
    assert [line for _, line in journal.lines] == [
        ["theirs", "three", "two"],
        ["theirs", "three"],
        ["theirs"],
    ]
    begun, ended, taken_back = (at for at, _ in journal.lines)
    assert "10:57:07" <= begun <= "10:57:15"
    assert "11:22:00" <= ended <= "11:22:08"
    assert "11:47:04" <= taken_back <= "11:47:12"


def test_trouble_is_told_once_when_it_lasts_and_its_end_too(tmp_path: Path) -> None:
    """Attempts grow seldom, nothing is lost, and what stands there is named."""
    account = AccountAtHand()
    watched = a_guarded_watch(settings_with(tmp_path), account)
    attempts: list[str] = []

    def fail(name: str) -> None:
        if name == "guardrail":
            attempts.append(f"{watched.clock.now():%H:%M:%S}")
            raise GatewayError("HTTP 503")

    def begin() -> None:
        account.before = fail

    def end() -> None:
        account.before = lambda _: None

    watched.clock.after(MINUTE, excluding(watched))
    watched.clock.after(10 * MINUTE, begin)
    watched.clock.after(11 * MINUTE, excluding(watched, "three"))
    watched.clock.after(100 * MINUTE, end)
    run(watched)
    (failed,) = watched.operations(GuardrailFailed)
    assert (failed.detail, failed.owned) == ("HTTP 503", {"two"})  # type: ignore[attr-defined]
    assert 8 <= len(attempts) <= 16
    assert account.writes[1] == ("two", "three"), "it is made up for"
    assert open_conditions(watched) == []
    synced = [each for each in watched.operations(GuardrailSynced) if each.at > failed.at]
    assert synced


def test_a_short_trouble_is_told_to_nobody(tmp_path: Path) -> None:
    """Two attempts that failed, and the third succeeds."""
    account = AccountAtHand()
    watched = a_guarded_watch(settings_with(tmp_path), account)
    left = 2

    def fail(name: str) -> None:
        nonlocal left
        if name == "coverage" and left:
            left -= 1
            raise GatewayError("HTTP 503")

    account.before = fail
    watched.clock.after(MINUTE, excluding(watched))
    run(watched)
    assert account.writes[0] == ("two",)
    assert watched.operations(GuardrailFailed, GuardrailRefused) == []


def test_a_coverage_that_stays_unclear_is_told_once(tmp_path: Path) -> None:
    """Nothing is added meanwhile; afterwards it is."""
    account = AccountAtHand()
    watched = a_guarded_watch(settings_with(tmp_path), account)
    seen: list[list[str]] = []

    def fail(name: str) -> None:
        if name == "canary":
            raise GatewayError("GET /key: does not state workspace_id")

    def end() -> None:
        seen.append(account.ignored)
        account.before = lambda _: None

    account.before = fail
    watched.clock.after(MINUTE, excluding(watched))
    watched.clock.after(100 * MINUTE, end)
    run(watched)
    (refused,) = watched.operations(GuardrailRefused)
    assert refused.why is Refusal.UNCLEAR  # type: ignore[attr-defined]
    assert seen == [[]]
    assert account.writes[0] == ("two",)


def test_an_ending_daemon_takes_its_entries_with_it(tmp_path: Path) -> None:
    """And says so in the log; told to keep them, it leaves them."""
    for on_stop, left in ((OnStop.CLEAR, ["theirs"]), (OnStop.KEEP, ["theirs", "two"])):
        account = AccountAtHand("theirs")
        watched = a_guarded_watch(settings_with(tmp_path, replace(APPLY, on_stop=on_stop)), account)
        watched.clock.after(MINUTE, excluding(watched))
        run(watched)
        assert account.ignored == left
        assert len(watched.operations(GuardrailCleared)) == (on_stop is OnStop.CLEAR)


def test_what_an_ending_daemon_cannot_take_out_is_told(tmp_path: Path) -> None:
    """The entries that stay are named, as nobody looks after them."""
    account = AccountAtHand()
    watched = a_guarded_watch(settings_with(tmp_path), account)

    def fail(_: str) -> None:
        raise GatewayError("HTTP 500")

    def begin() -> None:
        account.before = fail

    watched.clock.after(MINUTE, excluding(watched))
    watched.clock.after(149 * MINUTE, begin)
    run(watched)
    failed = watched.operations(GuardrailFailed)[-1]
    assert failed.owned == {"two"}  # type: ignore[attr-defined]
    assert "not cleared at the daemon's end" in failed.detail  # type: ignore[attr-defined]
    assert open_conditions(watched) == [f"guardrail_failed:{SHIELD}"]


def test_without_apply_nothing_is_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What would be is logged, when it is something else than before."""
    caplog.set_level("INFO", "routecanary.daemon")
    account = AccountAtHand("theirs")
    watched = a_guarded_watch(settings_with(tmp_path, replace(APPLY, apply=False)), account)
    watched.clock.after(MINUTE, excluding(watched))
    run(watched)
    assert (account.writes, account.ignored) == ([], ["theirs"])
    said = [line.split(" add=")[1] for line in caplog.messages if "apply is off" in line]
    assert said == ["- remove=-", "two remove=-"]


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({"apply": False}, ["theirs"]),
        ({"enabled": False, "apply": False}, ["theirs"]),
        ({"id": "other"}, ["theirs"]),
        ({"check_every": MINUTE}, ["theirs", "two"]),
    ],
    ids=str,
)
def test_a_reload_leaves_the_guardrail_that_is_not_wanted_any_more(
    tmp_path: Path, change: dict[str, Any], left: list[str]
) -> None:
    """As at an end; one that is still wanted is not touched."""
    account, settings = AccountAtHand("theirs"), settings_with(tmp_path)
    seen: list[list[str]] = []
    watched: Watched

    def read() -> Any:
        changed = replace(settings, guardrail=replace(APPLY, **change))
        other = Host(watched.clock, ROUNDS)
        other.at_end = watched.supervisor.stop
        on = changed.guardrail.enabled
        return a_configuration(changed, other, guardrail=account if on else None)

    watched = a_guarded_watch(settings, account, read=read)
    watched.clock.after(MINUTE, excluding(watched))
    watched.clock.after(20 * MINUTE, watched.supervisor.reload)
    watched.clock.after(25 * MINUTE, lambda: seen.append(account.ignored))
    run(watched)
    assert seen == [left]


def test_another_guardrail_gets_what_the_first_one_loses(tmp_path: Path) -> None:
    """After a reload with another id."""
    account, settings = AccountAtHand("theirs"), settings_with(tmp_path)
    other = LabGuardrail(name="other")
    account.guardrails.begin((other,))
    seen: list[object] = []
    watched: Watched

    def read() -> Any:
        host = Host(watched.clock, ROUNDS)
        host.at_end = watched.supervisor.stop
        changed = replace(settings, guardrail=replace(APPLY, id=other.id))
        return a_configuration(changed, host, guardrail=account)

    def look() -> None:
        seen.extend((account.ignored, account.guardrails.get(other.id).fields["ignored_providers"]))

    watched = a_guarded_watch(settings, account, read=read)
    watched.clock.after(MINUTE, excluding(watched))
    watched.clock.after(20 * MINUTE, watched.supervisor.reload)
    watched.clock.after(25 * MINUTE, look)
    run(watched)
    assert seen == [["theirs"], ["two"]]


@pytest.mark.parametrize(
    "change", [{"apply": False}, {"enabled": False, "apply": False}, {"id": "other"}], ids=str
)
def test_entries_that_nobody_looks_after_any_more_are_told(tmp_path: Path, change: dict[str, Any]) -> None:
    """A daemon that starts with another configuration than the one that wrote them says so, once."""
    account, store = AccountAtHand(), MemoryStore()
    keeping = replace(APPLY, on_stop=OnStop.KEEP)
    first = a_guarded_watch(settings_with(tmp_path, keeping), account, store=store)
    first.clock.after(MINUTE, excluding(first))
    run(first)
    assert account.ignored == ["two"]
    for _ in range(2):
        clock = VirtualClock(first.clock.now())
        on = replace(keeping, **change)
        after = a_watch(settings_with(tmp_path, on), ROUNDS, clock=clock, store=store)
        run(after)
    failed = after.operations(GuardrailFailed)
    assert [each.owned for each in failed] == [{"two"}]  # type: ignore[attr-defined]
    assert account.ignored == ["two"]
