"""From a round, an act or a silence to a receiver, through the store, by the real command line."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from routecanary.adapters.notify.webhook import Webhook
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.clock import ScaledClock
from routecanary.daemon.deliver import Pacing, deliver_pending
from routecanary.domain.names import ModelId
from routecanary.domain.operation import AccountFault, operation_draft
from routecanary.domain.policy import Policy
from routecanary.domain.secret import Secret
from routecanary.rounds.record import Ledger
from tests.commandline import KEY, MODEL, SPOILED, Ran, a_config, a_lab, called, environment
from tests.receivers import (
    SECRET,
    Receiver,
    expected_signature,
    hang,
    receiver,
    receiver_beside,
    status,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOOK = "webhooks.ops"

NOTIFY = """
[notify]
timeout = "5s"
overdue_after = "1h"
on_event = {command}
webhooks.ops = {{ url = "{url}", secret_env = "HOOK_SECRET" }}
"""


def notify(url: str, *command: str) -> str:
    return NOTIFY.format(url=url, command=json.dumps(list(command)))


class Bench:
    """A configuration in a folder, and calls of the command line with it."""

    def __init__(self, folder: Path, more: str, base_url: str = "http://127.0.0.1:9/api/v1") -> None:
        self.config = a_config(folder, base_url, more=more)
        self.store = folder / "events.sqlite3"
        self.environ = environment(folder, HOOK_SECRET=SECRET)

    def call(self, *tokens: str) -> Ran:
        return called(*tokens, "--config", self.config, environ=self.environ)


def told(hook: Receiver) -> list[list[str]]:
    return [[each["kind"] for each in json.loads(one.body)["notices"]] for one in hook.received]


def test_a_round_an_act_and_a_command_tell(tmp_path: Path) -> None:
    """A shadow suspension and its end by a switch of mode reach webhook and command, signed, once each."""
    note = tmp_path / "notes"
    keep = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
    with a_lab() as lab, receiver_beside(status(204)) as hook:
        bench = Bench(tmp_path, notify(hook.url, sys.executable, "-c", keep, str(note)), lab.base_url)
        assert bench.call("round", MODEL).code == 0
        assert bench.call("round", MODEL).code == 0
        assert bench.call("mode", MODEL, "enforce", "--force", "--reason", "seen enough").code == 0
    assert told(hook) == [["suspended"], ["closed_by_mode"]]
    for one in hook.received:
        timestamp = one.headers["routecanary-timestamp"]
        assert one.headers["routecanary-signature"] == expected_signature(SECRET, timestamp, one.body)
    suspended, closed = (json.loads(one.body) for one in hook.received)
    assert (suspended["model"], suspended["shadow"], suspended["severity"]) == (MODEL, True, "info")
    assert suspended["notices"][0]["routes"] == [SPOILED]
    assert suspended["notices"][0]["condition"] == closed["notices"][0]["condition"]
    assert suspended["sequence"] < closed["sequence"]
    assert [json.loads(line) for line in note.read_text().splitlines()] == [suspended, closed]


def test_a_receiver_that_is_down_stops_no_act(tmp_path: Path) -> None:
    """The act is done and says so; its message waits for the daemon, its trouble noted."""
    with a_lab() as lab, receiver_beside(status(500)) as hook:
        bench = Bench(tmp_path, notify(hook.url), lab.base_url)
        assert [bench.call("round", MODEL).code for _ in range(2)] == [0, 0]
        switched = bench.call("mode", MODEL, "enforce", "--force")
    assert (switched.code, switched.out, switched.err) == (0, f"{MODEL}: enforce (switched)\n", "")
    with SqliteStore(bench.store) as store:
        tally = store.tally()[HOOK]
    assert (tally.pending, tally.delivered, tally.problem) == (2, 0, "answered 500")


def test_a_round_that_did_not_happen_is_noticed(tmp_path: Path) -> None:
    """The model is told of once, by whoever looks; a round ends it."""
    with a_lab() as lab, receiver_beside(status(200)) as hook:
        bench = Bench(tmp_path, notify(hook.url), lab.base_url)
        assert bench.call("mode", MODEL, "enforce", "--force").code == 0  # makes the store
        first = bench.call("overdue")
        assert (first.code, first.out) == (
            1,
            f"{MODEL}: overdue: no round was ever made; allowed: 1h\n",
        )
        again = bench.call("overdue", "--json")
        assert again.code == 1
        assert again.json == {"overdue_after_seconds": 3600, "overdue": {MODEL: None}}
        assert told(hook) == [["round_overdue"]]
        assert bench.call("round", MODEL).code == 0
        assert told(hook) == [["round_overdue"], ["round_returned"]]
        well = bench.call("overdue")
        assert (well.code, well.out) == (0, "no model is overdue (1 watched)\n")


def test_looking_makes_no_store(tmp_path: Path) -> None:
    """Where there is none, people are told all the same, each time under the same key."""
    with receiver_beside(status(200)) as hook:
        bench = Bench(tmp_path, notify(hook.url))
        assert bench.call("overdue").code == 1
        assert bench.call("overdue").code == 1
    assert not bench.store.exists()
    assert told(hook) == [["round_overdue"]] * 2
    assert len({one.headers["idempotency-key"] for one in hook.received}) == 1


def test_a_watcher_without_the_secret_says_so(tmp_path: Path) -> None:
    """The models are still told of, by the exit code; the message is left to the daemon."""
    bench = Bench(tmp_path, notify("http://127.0.0.1:9/T0K3N"))
    del bench.environ["HOOK_SECRET"]
    ran = bench.call("overdue")
    assert ran.code == 1
    assert ran.err == (
        "routecanary: messages wait for the daemon: environment variable HOOK_SECRET: "
        "notify.webhooks.ops.secret_env: not set\n"
    )


def test_a_missing_secret_is_said_before_anything_is_left_alone(tmp_path: Path) -> None:
    """`check` reads what the daemon will read; offline it needs no secret."""
    bench = Bench(tmp_path, notify("http://127.0.0.1:9/T0K3N"))
    del bench.environ["HOOK_SECRET"]
    ran = bench.call("check")
    assert (ran.code, ran.err) == (
        2,
        "routecanary: environment variable HOOK_SECRET: notify.webhooks.ops.secret_env: not set\n",
    )
    assert bench.call("check", "--offline").code == 0


def test_a_hanging_receiver_is_given_its_time_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the command ends; the message is still there."""
    monkeypatch.setattr("routecanary.cli.overdue.PATIENCE", 0.2)
    with receiver_beside(hang) as hook:
        bench = Bench(tmp_path, notify(hook.url))
        bench.call("mode", MODEL, "enforce", "--force")
        assert bench.call("overdue").code == 1
    with SqliteStore(bench.store) as store:
        assert store.tally()[HOOK].pending == 1


def test_no_secret_is_anywhere(tmp_path: Path) -> None:
    """Key, webhook secret and the tokens of an address: in no output, no file and no message."""
    with a_lab() as lab, receiver_beside(status(500)) as hook:
        bench = Bench(tmp_path, notify(hook.url), lab.base_url)
        runs = [
            bench.call("round", MODEL),
            bench.call("round", MODEL),
            bench.call("mode", MODEL, "enforce", "--force", "--reason", f"{KEY} {SECRET}"),
            bench.call("overdue"),
            bench.call("status", "--json"),
        ]
        bench.environ["OPENROUTER_API_KEY"] = "sk-or-v1-wrong-key-of-ours"
        runs.append(bench.call("round", MODEL))
    assert hook.received
    said = "".join(run.out + run.err for run in runs)
    sent = b"".join(one.body for one in hook.received).decode()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path != bench.config).decode(
        "latin-1"
    )
    for secret in (KEY, SECRET, "T0K3N", "sk-or-v1-wrong-key-of-ours"):
        assert secret not in said
        assert secret not in sent
        if secret not in {KEY, SECRET}:  # the reason of an act is kept as it was given
            assert secret not in kept


def a_store(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    fault = AccountFault(at=NOON, model=ModelId(MODEL), code="no_credit")
    Ledger(store, Policy(), channels=[HOOK]).note(operation_draft(fault))
    return store


def test_a_crash_between_delivery_and_marking_is_a_duplicate_under_one_key(tmp_path: Path) -> None:
    """The receiver has it, the store does not know: after the lease it comes again, and once only."""
    path, clock = tmp_path / "store.db", ScaledClock(start=NOON, rate=1.0)
    pacing = Pacing(lease=timedelta(seconds=40))

    async def go() -> Receiver:
        async with receiver(status(200)) as hook:
            webhook = Webhook(
                HOOK, Secret(hook.url), Secret(SECRET), clock=clock, timeout=timedelta(seconds=20)
            )
            with a_store(path) as store:
                claimed = store.claim(HOOK, clock.now(), lease=pacing.lease, horizon=timedelta(hours=1))
                assert claimed is not None
                await webhook.deliver(claimed)  # and here the process dies
            for pause in (timedelta(), timedelta(seconds=39), timedelta(seconds=1), timedelta(days=1)):
                clock.advance(pause)
                with SqliteStore(path) as store:
                    await deliver_pending(store, [webhook], clock, Random(1), pacing)
            return hook

    hook = asyncio.run(go())
    first, second = hook.received
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert int(second.headers["routecanary-timestamp"]) - int(first.headers["routecanary-timestamp"]) == 40
    assert first.headers["routecanary-signature"] != second.headers["routecanary-signature"]


def test_a_receiver_that_recovers_gets_everything(tmp_path: Path) -> None:
    """Down for hours, then up: each message arrives, after growing waits."""
    path, clock = tmp_path / "store.db", ScaledClock(start=NOON, rate=1.0)

    async def go() -> Receiver:
        async with receiver(status(503)) as hook:
            webhook = Webhook(
                HOOK, Secret(hook.url), Secret(SECRET), clock=clock, timeout=timedelta(seconds=20)
            )
            with a_store(path) as store:
                for _ in range(6 * 60):
                    await deliver_pending(store, [webhook], clock, Random(1), Pacing())
                    clock.advance(timedelta(minutes=1))
                hook.answer = status(200)
                clock.advance(timedelta(hours=1))
                await deliver_pending(store, [webhook], clock, Random(1), Pacing())
                assert store.tally()[HOOK].delivered == 1
            return hook

    hook = asyncio.run(go())
    assert 10 < len(hook.received) < 25
