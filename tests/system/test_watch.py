"""The daemon in virtual time: rounds on the clock, whatever happens in one of them or beside it."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.cli.run import Teller
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import CONTRACT_NAMES
from routecanary.domain.operation import (
    AccountFault,
    JudgeCrashed,
    PromptTokensRead,
    RoundCrashed,
    RoundOverdue,
    RoundReturned,
    Settled,
)
from routecanary.domain.policy import Policy
from routecanary.domain.probe import Probe
from routecanary.domain.round import Mode, Pause
from routecanary.domain.settings import ScheduleSettings
from routecanary.domain.transcript import Transcript
from routecanary.errors import AccountError, DeliveryError, GatewayError, ListingError
from routecanary.rounds.act import act
from routecanary.rounds.record import Ledger
from routecanary.rounds.run import RoundResult
from routecanary.rounds.runtime import entry_added
from tests.commandline import SPOILED, a_scenario
from tests.desk import DeskGateway
from tests.watched import NAME, PERIOD, START, BrokenStore, Watched, a_watch, run, some_settings, watch


def test_the_first_round_comes_at_once_and_the_others_on_the_tick(tmp_path: Path) -> None:
    """Started at 10:47 with a period of half an hour: 10:47, 11:00, 11:30."""
    watched = watch(tmp_path, [None, None])
    assert watched.moments == ["10:47:00", "11:00:00", "11:30:00"]
    assert watched.supervisor.counts == {"finished": 2}


def test_jitter_only_ever_delays(tmp_path: Path) -> None:
    """Each round starts within the jitter after its tick."""
    schedule = ScheduleSettings(period=PERIOD, jitter=timedelta(minutes=2))
    watched = run(a_watch(some_settings(tmp_path, schedule=schedule), [None] * 8))
    late = [at - START.replace(minute=0) for at in watched.host.asked_at[1:]]
    after_tick = [each % PERIOD for each in late]
    assert all(timedelta() <= each <= timedelta(minutes=2) for each in after_tick)
    assert len(set(after_tick)) == len(after_tick)


def test_a_round_that_fails_is_logged_and_the_next_one_comes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The gateway's trouble, a bad listing and a bug of ours: each is counted, none ends the watch."""
    with caplog.at_level(logging.INFO):
        watched = watch(
            tmp_path,
            [GatewayError("GET /x: trouble"), ListingError("odd"), ZeroDivisionError("a bug"), None],
        )
    assert watched.moments == ["10:47:00", "11:00:00", "11:30:00", "12:00:00", "12:30:00"]
    assert watched.supervisor.counts == {"gateway": 1, "input": 1, "crashed": 1, "finished": 1}
    assert watched.world.ledger.state(NAME).rounds == 1
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert said == [
        f"round not recorded model={NAME} why=gateway error=GET /x: trouble",
        f"round not recorded model={NAME} why=input error=odd",
        f"round crashed model={NAME} error=ZeroDivisionError",
    ]


def test_whoever_watches_the_rounds_cannot_end_them(tmp_path: Path) -> None:
    """What `on_round` raises is logged like a failure of the round; the round itself is kept."""

    def raises(_: RoundResult) -> None:
        raise ValueError("a bug")

    watched = watch(tmp_path, [None, None], on_round=raises)
    assert watched.supervisor.counts == {"finished": 2, "crashed": 2}
    assert watched.world.ledger.state(NAME).rounds == 2


def test_the_start_is_logged_with_mode_and_period(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One line a model says what is watched, and how often."""
    with caplog.at_level(logging.INFO):
        watch(tmp_path, [None])
    assert f"watching model={NAME} mode=observe period=30m rounds=0 last_round=never" in caplog.messages


def test_an_outage_is_told_as_what_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where no route could be asked, the log says so beside the event."""
    with caplog.at_level(logging.INFO):
        watch(tmp_path, [None], on_round=Teller(json=False))
    assert f"gateway_outage model={NAME}" in caplog.messages
    assert any(line.startswith(f"round useless {NAME}: no route could be asked") for line in caplog.messages)


def test_events_are_printed_as_long_as_somebody_reads(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that goes away ends the printing, not the watch."""
    printed: list[dict[str, object]] = []

    def once(document: dict[str, object]) -> None:
        if printed:
            raise BrokenPipeError
        printed.append(document)

    monkeypatch.setattr("routecanary.cli.run.say_json", once)
    watched = watch(tmp_path, [None, None, None], on_round=Teller(json=True))
    assert watched.supervisor.counts == {"finished": 3}
    assert len(printed) == 1
    assert sum("printed no longer" in line for line in caplog.messages) == 1


# What our own bugs and the store's troubles leave


def test_a_round_that_crashed_is_kept_and_ends_with_the_next_one(tmp_path: Path) -> None:
    """One event with the error, and one condition until a round is made again."""
    watched = watch(tmp_path, [ZeroDivisionError("a bug"), ZeroDivisionError("a bug"), None])
    crashes = watched.operations(RoundCrashed)
    assert crashes == [
        RoundCrashed(at=START, model=NAME, error="ZeroDivisionError: a bug"),
        RoundCrashed(at=START + timedelta(minutes=13), model=NAME, error="ZeroDivisionError: a bug"),
    ]
    assert "round_crashed" not in watched.world.ledger.conditions().of(NAME)


class Bomb(dict[str, Any]):
    """A request that nobody can look into."""

    def get(self, *_: object) -> Any:
        raise ZeroDivisionError("a bug")

    __getitem__ = get


class Breaking(DeskGateway):
    """A gateway of whose routes one breaks whoever reads its answers."""

    async def ask(self, probe: Probe) -> Transcript:
        transcript = await super().ask(probe)
        return replace(transcript, request=Bomb(probe.body)) if probe.route == "plover" else transcript


def test_an_answer_that_breaks_our_reading_of_it_stops_at_its_route(tmp_path: Path) -> None:
    """Inconclusive for that route and told once a contract; everybody else is judged, and it is paid for."""
    watched = a_watch(some_settings(tmp_path), [])
    watched.world.gateway = Breaking(a_scenario(), watched.clock)
    watched.clock.after(timedelta(minutes=10), watched.supervisor.stop)
    run(watched)
    assert watched.supervisor.counts == {"finished": 1}
    crashes = watched.operations(JudgeCrashed)
    assert [crash.contract for crash in crashes] == sorted(CONTRACT_NAMES)
    assert {crash.error for crash in crashes} == {"ZeroDivisionError: our own bug, not the host's"}
    (closed,) = watched.world.store.read(kinds={"round_closed"})
    classes = {route: outcome["round_class"] for route, outcome in closed.body["outcomes"].items()}
    assert classes.pop("plover") == "frozen"
    assert classes.pop(SPOILED) == "failed"
    assert set(classes.values()) == {"clean"}
    settled, of_tripwire = watched.operations(Settled)
    assert settled.asked > 15
    assert of_tripwire.asked == len(classes) + 2
    (read,) = watched.operations(PromptTokensRead)
    assert read.readings.keys() == {*classes, SPOILED}


def test_what_the_store_does_not_take_is_said_when_it_does(tmp_path: Path) -> None:
    """A full disk for two rounds: neither is recorded, the next one is, and one event tells of it."""
    store = BrokenStore()

    def breaks() -> None:
        store.broken = True

    watched = a_watch(some_settings(tmp_path), [None, breaks, None, None, None], store=store)

    def mended() -> None:
        store.broken = False

    watched.clock.after(timedelta(minutes=50), mended)  # 11:37
    run(watched)
    assert watched.supervisor.counts == {"finished": 3, "store": 2}
    (crash,) = watched.operations(RoundCrashed)
    assert crash.at == START + timedelta(minutes=43)  # of the newer one, at 11:30
    assert "no room left" in crash.error
    assert watched.world.ledger.state(NAME).rounds == 3
    assert store.verify() is None


def test_a_snapshot_that_cannot_be_written_stops_no_round(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The rounds are kept; the first one after the way is free again is published with all of them."""
    watched = a_watch(some_settings(tmp_path), [None, None, None])
    wall = tmp_path / "snapshot.json"
    wall.mkdir()
    watched.clock.after(timedelta(minutes=20), wall.rmdir)
    run(watched)
    assert watched.supervisor.counts == {"finished": 1, "unpublished": 2}
    assert watched.world.ledger.state(NAME).rounds == 3
    assert json.loads(wall.read_text())["models"][NAME]["routes"]
    assert sum("snapshot not published" in line for line in caplog.messages) == 1


def test_a_listing_that_our_account_is_refused_tells_of_the_account(tmp_path: Path) -> None:
    """No round can be made, and a person is told why; each try says so again, and people hear it once."""
    refused = AccountError("GET /x: the key was refused (HTTP 401)", code="auth")
    watched = watch(tmp_path, [None, refused, refused, None])
    faults = watched.operations(AccountFault)
    assert [(f"{fault.at:%H:%M}", fault.code, fault.detail) for fault in faults] == [
        ("11:00", "auth", str(refused)),
        ("11:30", "auth", str(refused)),
    ]
    assert watched.supervisor.counts == {"finished": 2, "gateway": 2}
    assert "account" in watched.world.ledger.conditions().of(NAME), "no answer has come since"


# Other processes


def test_an_act_of_another_process_is_published_without_its_own_writing(tmp_path: Path) -> None:
    """The act is in the log and its process died: the daemon publishes it before the next round."""
    watched = a_watch(some_settings(tmp_path), [None, None])
    told: list[object] = []

    def exclude() -> None:
        other = Ledger(watched.world.store, watched.world.settings.policy)
        other.note(
            entry_added(
                RuntimeEntry(target="two", models=None, reason="x", actor="ops", created=watched.clock.now())
            )
        )

    def look() -> None:
        document = json.loads((tmp_path / "snapshot.json").read_text())
        told.extend(entry["target"] for entry in document["runtime"])

    watched.clock.after(timedelta(minutes=4), exclude)
    watched.clock.after(timedelta(minutes=6), look)
    run(watched)
    assert told == ["two"]


def test_a_pause_ends_on_time_without_a_round(tmp_path: Path) -> None:
    """Within a minute of its end, which lies between two rounds."""
    watched = a_watch(some_settings(tmp_path, initial_mode=Mode.ENFORCE), [None, None])
    until = START + timedelta(minutes=6)
    paused: list[bool] = []

    def pause() -> None:
        act(watched.world, Pause(at=watched.clock.now(), model=NAME, until=until, actor="ops", reason="x"))

    def look() -> None:
        paused.append(watched.world.ledger.state(NAME).paused)

    watched.clock.after(timedelta(minutes=2), pause)
    watched.clock.after(timedelta(minutes=6, seconds=-1), look)
    watched.clock.after(timedelta(minutes=7), look)
    run(watched)
    assert paused == [True, False]


# Rounds that did not happen


def test_a_gateway_that_cannot_be_asked_makes_the_rounds_overdue(tmp_path: Path) -> None:
    """Told once, after two periods and the jitter; and taken back by the next round."""
    trouble = GatewayError("GET /x: trouble")
    watched = watch(tmp_path, [None, *[trouble] * 4, None])
    (overdue,) = watched.operations(RoundOverdue)
    assert overdue.since == START
    assert timedelta() < overdue.at - START - timedelta(minutes=60) < timedelta(seconds=6)
    (returned,) = watched.operations(RoundReturned)
    assert f"{returned.at:%H:%M}" == "13:00"


def test_what_was_not_made_before_the_daemon_ran_is_nobodys_news(tmp_path: Path) -> None:
    """The first round of a fresh store, or after a weekend, is not overdue: it is about to be made."""
    assert watch(tmp_path, [None, None]).operations(RoundOverdue) == []


class Pulse:
    """A heartbeat of which every second one is heard."""

    def __init__(self) -> None:
        self.beats = 0

    async def beat(self) -> None:
        self.beats += 1
        if self.beats % 2 == 0:
            raise DeliveryError("HTTP 503")


def test_each_round_is_followed_by_a_sign_of_life(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """None where no round was made; one that nobody heard is counted and changes nothing."""
    pulse = Pulse()
    watched = watch(tmp_path, [None, GatewayError("x"), None, None], heartbeat=pulse)
    assert pulse.beats == 3
    assert watched.supervisor.counts == {"finished": 3, "gateway": 1, "unheard": 1}
    assert "ping not heard why=HTTP 503" in caplog.messages


def a_recheck(folder: Path, *, gap: timedelta, recheck: bool = True) -> Watched:
    """The daemon over the lab for 40 minutes from 10:47, with one route that spoils every answer."""
    schedule = ScheduleSettings(period=PERIOD, jitter=timedelta(), recheck=recheck)
    settings = some_settings(
        folder, schedule=schedule, policy=Policy(min_round_gap=gap), initial_mode=Mode.ENFORCE
    )
    watched = a_watch(settings, [])
    watched.world.gateway = DeskGateway(a_scenario(), watched.clock)
    watched.clock.after(timedelta(minutes=40), watched.supervisor.stop)
    return run(watched)


def told(watched: Watched, kind: str) -> list[str]:
    return [f"{stored.at:%H:%M}" for stored in watched.world.store.read(kinds={kind})]


def test_a_recheck_asks_the_suspect_and_company_before_the_next_round(tmp_path: Path) -> None:
    """Five minutes after the first failed round the second one counts; nothing follows a recheck."""
    watched = a_recheck(tmp_path, gap=timedelta(minutes=3))
    first, second, *later = watched.world.store.read(kinds={"round_closed"})
    asked = {
        name
        for name, outcome in second.body["outcomes"].items()
        if set(outcome["verdicts"].values()) != {"skipped"}
    }
    assert SPOILED in asked
    assert len(asked) == 4
    assert len(first.body["outcomes"]) == len(second.body["outcomes"])
    assert timedelta(minutes=5) <= second.at - first.at < timedelta(minutes=7)
    assert told(watched, "suspended") == [f"{second.at:%H:%M}"]
    assert len(later) == 1  # the round of 11:00; the recheck led to no other


def test_without_rechecks_the_next_round_comes_on_its_tick(tmp_path: Path) -> None:
    """Off is the default, and a recheck within the gap changes nothing that counts."""
    watched = a_recheck(tmp_path, gap=timedelta(minutes=3), recheck=False)
    assert len(told(watched, "round_closed")) == 2
    early = a_recheck(tmp_path, gap=timedelta(minutes=20))
    assert len(told(early, "round_closed")) == 3
    closed = list(early.world.store.read(kinds={"round_closed"}))
    assert closed[1].body["outcomes"][SPOILED].get("counted", False) is False
