"""A daemon that is killed again and again at random moments, and what must be true whenever it is."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Lock, Thread
from typing import Any

from routecanary.client import Canary
from routecanary.decide.exclusions import exclusions
from routecanary.domain.event import event_from_json
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId
from routecanary.domain.operation import OPERATED, operation_from_json
from routecanary.lab.scenario import scenario_from_toml
from routecanary.rounds.act import exclude, readmit
from routecanary.rounds.conditions import Conditions
from routecanary.rounds.fold import DECIDED
from routecanary.rounds.notices import notices_of
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, running_daemon, settings_at
from tests.commandline import MODEL, SCENARIO, a_lab, environment
from tests.nursery import CompressedClock, Nursery, a_nursery
from tests.receivers import SECRET

RATE = 20.0
LAB_SPEED = 80.0  # faster than the daemon's clock, so that a busy machine makes no host late
CHANNEL = "webhooks.ops"
PATIENCE = 180.0  # seconds for whatever must come true

SOMETIMES_SPOILED = scenario_from_toml(
    SCENARIO.replace("probability = 1.0", 'probability = 1.0\nevery = "6s"\nlasting = "3s"'), "trial"
)
"""One route spoils every answer for three real seconds, then none for three: it comes and goes."""

CONFIG = """
initial_mode = "enforce"
[gateway]
base_url = "{base_url}"
[store]
path = "events.sqlite3"
[snapshot]
path = "snapshot.json"
[schedule]
period = "4s"
jitter = "0s"
[probes]
locales = ["en"]
start_spread = "1s"
confirm_delay = ["0s", "1s"]
[contracts.latency]
lag_limit = "10s"
[policy]
min_round_gap = "0s"
ladder = ["20s", "40s"]
forget_after = "2m"
[notify]
webhooks.ops = {{ url = "{receiver}", secret_env = "WEBHOOK_SECRET" }}
timeout = "10s"
retry_wait = ["1s", "5s"]
[models."{model}"]
"""


@dataclass
class Taker:
    """A receiver of messages that refuses every fourth request; `taken` counts by idempotency key."""

    url: str = ""
    taken: Counter[str] = field(default_factory=Counter)
    bodies: dict[str, Any] = field(default_factory=dict)
    requests: int = 0
    lock: Any = field(default_factory=Lock)


@contextmanager
def a_receiver() -> Iterator[Taker]:
    receiver = Taker()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with receiver.lock:
                receiver.requests += 1
                well = receiver.requests % 4 != 0
                if well:
                    key = self.headers["Idempotency-Key"]
                    receiver.taken[key] += 1
                    assert receiver.bodies.setdefault(key, json.loads(body)) == json.loads(body)
            self.send_response(204 if well else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join(20)
        server.server_close()


@dataclass
class Report:
    """What a trial of kills came to."""

    kills: int = 0
    events: int = 0
    rounds: int = 0
    suspensions: int = 0
    messages: int = 0
    deliveries: int = 0  # more than messages where one was handed over twice
    acts: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills in {self.seconds:.0f} s: {self.events} events of {self.rounds} rounds and "
            f"{self.acts} acts, {self.suspensions} suspensions begun; none lost, none twice; the list was "
            f"the log's; {self.messages} messages, each delivered ({self.deliveries} deliveries)"
        )


def run_kills(folder: Path, *, kills: int, seed: int, longest_life: float = 1.0) -> Report:
    """Kill a daemon so many times, and look after each kill and each restart.

    Args:
        folder: An empty one, for store and snapshot.
        seed: Of the moments and the acts.
        longest_life: Seconds; each daemon lives for a time drawn evenly up to this.
    Raises:
        AssertionError: Something that must be true was not.
    """
    began = time.monotonic()
    rng = Random(seed)
    clock = CompressedClock(origin=time.time(), rate=RATE)
    with a_lab(SOMETIMES_SPOILED, speed=LAB_SPEED) as lab, a_receiver() as receiver:
        config = folder / "routecanary.toml"
        config.write_text(
            CONFIG.format(base_url=lab.base_url, receiver=receiver.url, model=MODEL), encoding="utf-8"
        )
        environ = environment(folder, WEBHOOK_SECRET=SECRET)
        os.environ["WEBHOOK_SECRET"] = SECRET
        settings = settings_at(config)
        trial = Trial(clock=clock, records_at=lambda: offline_records(settings, clock, to_act=True))
        with (
            a_nursery(config, clock, folder / "log", environ) as nursery,
            Canary(folder / "snapshot.json", clock=lambda: clock.now().timestamp(), thread=False) as canary,
        ):
            for number in range(kills):
                pid = nursery.start()
                time.sleep(rng.uniform(0.0, longest_life))
                if number % 3 == 1:
                    trial.act(rng)
                assert nursery.end(pid, signal.SIGKILL) == -signal.SIGKILL, (folder / "log").read_text()
                trial.look()
                if number % 4 == 3:
                    trial.look_at_list(nursery, canary)
            trial.deliver(nursery)
    report = trial.report(receiver)
    report.kills, report.seconds = kills, time.monotonic() - began
    return report


def until(true: Any, *, what: str) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.01)


@dataclass
class Trial:
    """What was seen so far."""

    clock: CompressedClock
    records_at: Any
    known: list[tuple[int, str]] = field(default_factory=list)  # number and hash of every event
    excluded: list[str] = field(default_factory=list)  # targets whose exclusion was committed
    acts: int = 0

    def act(self, rng: Random) -> None:
        """Do something by hand while the daemon runs."""
        with self.records_at() as records:
            if self.excluded and rng.random() < 0.5:
                target = self.excluded.pop(rng.randrange(len(self.excluded)))
                readmit(records, target, None, actor="ops", reason="enough")
            else:
                target = f"away-{self.acts}"
                entry = RuntimeEntry(
                    target=target, models=None, reason="trial", actor="ops", created=self.clock.now()
                )
                exclude(records, entry)
                self.excluded.append(target)
            self.acts += 1

    def look(self) -> None:
        """Check the log: nothing lost, nothing twice, and every act that was answered for is there."""
        with self.records_at() as records:
            store = records.store
            assert store.verify() is None
            now = [(stored.seq, stored.hash) for stored in store.read()]
            assert now[: len(self.known)] == self.known, "what was committed stays as it was"
            self.known = now
            rounds = [stored.at for stored in store.read(kinds={"round_closed"})]
            assert len(set(rounds)) == len(rounds), "no round is recorded twice"
            ids = [stored.body["round_id"] for stored in store.read(kinds={"settled"})]
            assert len(set(ids)) == len(ids), "none is paid twice"
            assert [entry.target for entry in records.ledger.runtime(self.clock.now())] == sorted(
                self.excluded
            )

    def look_at_list(self, nursery: Nursery, canary: Canary) -> None:
        """Restart, and check that what the client merges is the fold of the log."""
        pid = nursery.start()
        with self.records_at() as records:

            def agrees() -> bool:
                before = records.ledger.head()
                canary.refresh()
                merged = canary.provider_preferences(MODEL).get("ignore", [])
                return records.ledger.head() == before and merged == folded(records)

            until(agrees, what="the list follows the log")
        assert nursery.end(pid, signal.SIGKILL) == -signal.SIGKILL
        self.look()

    def deliver(self, nursery: Nursery) -> None:
        """Let daemons deliver what is left until one leaves nothing when it is told to end."""
        deadline = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < deadline, "in vain: every message is delivered"
            with self.records_at() as records:
                self._deliver_for_a_while(nursery, nursery.start(), records)
                self.look()
                if self._all_delivered(records):
                    return

    def _deliver_for_a_while(self, nursery: Nursery, pid: int, records: Records) -> None:
        until(lambda: running_daemon(records.settings) == pid, what="it heeds signals")
        until(lambda: self._all_delivered(records), what="there were messages, and none waits")
        assert nursery.end(pid, signal.SIGTERM) == 0

    @staticmethod
    def _all_delivered(records: Records) -> bool:
        tally = records.store.tally().get(CHANNEL)
        return tally is not None and tally.pending == 0

    def report(self, receiver: Taker) -> Report:
        """Compare what was received with what the log has to tell."""
        with self.records_at() as records:
            tally = records.store.tally()[CHANNEL]
            told = notices_in(records)
            events = Counter(stored.kind for stored in records.store.read())
        received = Counter(
            (notice["kind"], notice["phase"], notice["at"], body["model"], tuple(notice["routes"]))
            for body in receiver.bodies.values()
            for notice in body["notices"]
        )
        assert tally.failed == 0
        missing = told - received
        assert not missing, f"never received: {missing}"
        assert not received - told, f"received and not in the log: {received - told}"
        assert tally.delivered == len(receiver.taken), "each message under its own key"
        return Report(
            events=sum(events.values()),
            rounds=events["round_closed"],
            suspensions=events["suspended"],
            messages=len(receiver.taken),
            deliveries=sum(receiver.taken.values()),
            acts=self.acts,
        )


def folded(records: Records) -> list[str]:
    """Work out the list from the log alone, suspensions that are over by now left out."""
    state, now = records.ledger.state(ModelId(MODEL)), records.clock.now()
    over = {route for route, found in state.suspensions().items() if now >= found.until}
    runtime = [entry.target for entry in records.ledger.runtime(now)]
    return [name for name in exclusions(state, runtime=runtime) if name not in over]


def notices_in(records: Records) -> Counter[tuple[Any, ...]]:
    """Derive every notice anew from the log, from its first event on."""
    conditions, told = Conditions(), Counter[tuple[Any, ...]]()
    for stored in records.store.read(kinds=DECIDED | OPERATED):
        event = (operation_from_json if stored.kind in OPERATED else event_from_json)(stored.body)
        for notice in notices_of(conditions, event):
            at = notice.at.strftime("%Y-%m-%dT%H:%M:%SZ")
            told[notice.kind.value, notice.phase.value, at, notice.model, tuple(notice.routes)] += 1
    return told
