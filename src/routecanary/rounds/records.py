"""What do acts and listings work with? The log, what is configured and the snapshot; never the gateway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routecanary.clock import Clock
from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.log import Head
from routecanary.domain.names import ModelId
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.errors import ConfigError
from routecanary.rounds.ports import SnapshotFile, Store, TranscriptStore
from routecanary.rounds.publish import snapshot
from routecanary.rounds.record import Ledger


@dataclass(slots=True, kw_only=True)
class Records:
    """What is known and configured, and where it is published.

    `published` is the head of the log that this process published last; None before the first time.
    """

    settings: Settings
    ledger: Ledger
    store: Store  # what the ledger keeps its events in
    transcripts: TranscriptStore
    snapshot_file: SnapshotFile
    builtin: Sequence[BuiltinEntry]
    clock: Clock
    published: Head | None = None

    def model(self, model: ModelId) -> ModelSettings:
        """Look up a configured model.

        Raises:
            ConfigError: It is not configured; the message names those that are.
        """
        for settings in self.settings.models:
            if settings.model == model:
                return settings
        known = ", ".join(settings.model for settings in self.settings.models)
        raise ConfigError(
            "not a configured model",
            place=self.settings.place,
            key="models",
            value=str(model),
            allowed=known or "none is configured",
        )

    def publish(self) -> None:
        """Write the snapshot that applications read.

        The facts are read while every other writer waits, so a slow writer never lays older ones over newer.

        Raises:
            SnapshotError: It could not be written; applications go on with the old one.
            StoreError: The log cannot be read.
        """
        with self.snapshot_file.held():
            head = self.ledger.head()
            self.snapshot_file.write(
                snapshot(
                    self.ledger,
                    self.builtin,
                    now=self.clock.now(),
                    max_age=self.settings.max_snapshot_age,
                    gateway=self.settings.gateway.kind,
                )
            )
        self.published = head
