"""The snapshot follows the log, whoever wrote that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from routecanary.daemon.publisher import Publisher
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.probe import Json
from routecanary.errors import SnapshotError
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from routecanary.rounds.runtime import entry_added
from tests.records import KeptSnapshot, some_records


class Stubborn(KeptSnapshot):
    """A snapshot that cannot be written while it is `shut`."""

    shut = False
    tries = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        self.tries += 1
        if self.shut:
            raise SnapshotError("not locked")
        yield

    def write(self, snapshot: Mapping[str, Json]) -> None:
        super().write(snapshot)


def a_publisher() -> tuple[Publisher, Records, Stubborn]:
    records, file = some_records(), Stubborn()
    records.snapshot_file = file
    return Publisher(records), records, file  # type: ignore[arg-type]  # it asks no gateway


def exclude(records: Records, target: str) -> None:
    """Let another process append, and die before it publishes."""
    other = Ledger(records.store, records.settings.policy)
    at = records.clock.now()
    other.note(entry_added(RuntimeEntry(target=target, models=None, reason="x", actor="ops", created=at)))


def targets(file: KeptSnapshot) -> list[Any]:
    return [entry["target"] for entry in file.document["runtime"]]


def test_what_another_process_appended_is_published_at_the_next_look() -> None:
    """And nothing is written while the log stands still, or when this process published it itself."""
    publisher, records, file = a_publisher()
    publisher.look()
    assert file.writes == 1
    exclude(records, "one")
    publisher.look()
    publisher.look()
    assert targets(file) == ["one"]
    assert file.writes == 2
    exclude(records, "two")
    records.publish()
    publisher.look()
    assert targets(file) == ["one", "two"]
    assert file.writes == 3


def test_a_snapshot_that_cannot_be_written_is_tried_again_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not at every look, which would hold up everything else; and it is told when it is over."""
    publisher, records, file = a_publisher()
    file.shut = True
    for _ in range(1_000):
        publisher.look()
    assert 5 <= file.tries <= 20
    file.shut = False
    exclude(records, "one")
    for _ in range(200):
        publisher.look()
    assert targets(file) == ["one"]
    assert caplog.messages == ["snapshot not published error=not locked"]
