"""The real daemon over the lab, in compressed time: what leaks is told, each once, however it is killed."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from routecanary.domain.generation import Source
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operation import ExclusionLeaked, Operation, TrafficAudited, operation_from_json
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, settings_at
from tests.commandline import MODEL, SPOILED, a_lab, environment
from tests.kills import LAB_SPEED, RATE, until
from tests.nursery import CompressedClock, a_nursery
from tests.traffic import served

NAME = ModelId(MODEL)
CONFIG = """
initial_mode = "enforce"
[gateway]
base_url = "{base_url}"
[store]
path = "events.sqlite3"
[snapshot]
path = "snapshot.json"
[schedule]
period = "10s"
jitter = "0s"
[probes]
locales = ["en"]
start_spread = "1s"
confirm_delay = ["0s", "1s"]
[contracts.latency]
lag_limit = "10s"
[policy]
min_round_gap = "0s"
[models."{model}"]
"""


@dataclass
class There:
    """A store that a daemon uses, as another process sees it."""

    folder: Path
    clock: CompressedClock

    @contextmanager
    def records(self) -> Iterator[Records]:
        settings = settings_at(self.folder / "routecanary.toml")
        with offline_records(settings, self.clock, to_act=True) as records:
            yield records

    def excluded_for(self) -> timedelta:
        """How long the spoiled route has been suspended."""
        with self.records() as records:
            suspension = records.ledger.state(NAME).suspensions().get(RouteId(SPOILED))
        return timedelta(0) if suspension is None else self.clock.now() - suspension.start

    def tell(self, count: int) -> None:
        """Tell of answers of the spoiled route and of a sound one, as the gateway alone would."""
        facts = {
            "model": NAME,
            "started_at": self.clock.now(),
            "source": Source.BROADCAST,
            "list_written_at": None,
        }
        with self.records() as records:
            records.store.keep_generations(
                [served(by, **facts) for by in (SPOILED, "plover") for _ in range(count)], at=self.clock.now()
            )

    def told(self) -> list[Operation]:
        with self.records() as records:
            kinds = {"exclusion_leaked", "traffic_audited"}
            return [operation_from_json(stored.body) for stored in records.store.read(kinds=kinds)]

    def audited(self) -> int:
        return sum(event.generations for event in self.told() if isinstance(event, TrafficAudited))


def test_each_leak_is_told_once_whenever_the_daemon_is_killed(tmp_path: Path) -> None:
    """A killed daemon's successor goes on where the log says: nothing is lost and nothing counted twice."""
    clock = CompressedClock(origin=time.time(), rate=RATE)
    there = There(tmp_path, clock)
    config = tmp_path / "routecanary.toml"
    with a_lab(speed=LAB_SPEED) as lab:
        config.write_text(CONFIG.format(base_url=lab.base_url, model=MODEL), encoding="utf-8")
        with a_nursery(config, clock, tmp_path / "log", environment(tmp_path)) as nursery:
            daemon = nursery.start()
            until(lambda: there.excluded_for() > timedelta(seconds=10), what="a suspension")
            there.tell(30)
            nursery.end(daemon, signal.SIGKILL)  # before they have settled
            daemon = nursery.start()
            until(lambda: there.audited() == 60, what="the audit of the first")
            there.tell(20)
            nursery.end(daemon, signal.SIGKILL)
            daemon = nursery.start()
            until(lambda: there.audited() == 100, what="the audit of all")
            nursery.end(daemon, signal.SIGKILL)
    leaks = [event for event in there.told() if isinstance(event, ExclusionLeaked)]
    assert sum(event.count for event in leaks) == 50
    assert {(event.reason, event.routes) for event in leaks} == {("no_hook", frozenset({RouteId(SPOILED)}))}
