"""What does a round work with? Handed in once, by `wiring`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from routecanary.clock import Clock
from routecanary.discover.changes import Belief
from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.names import ModelId
from routecanary.domain.settings import ModelSettings, Settings
from routecanary.errors import ConfigError
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.probe.catalog import Catalog
from routecanary.probe.pin import Users
from routecanary.rounds.ports import Gateway, SnapshotFile, TranscriptStore
from routecanary.rounds.publish import snapshot
from routecanary.rounds.record import Ledger


@dataclass(slots=True, kw_only=True)
class World:
    """Everything outside the stages. `beliefs` is what each model's listings have shown so far."""

    settings: Settings
    gateway: Gateway
    ledger: Ledger
    transcripts: TranscriptStore
    snapshot_file: SnapshotFile
    catalog: Catalog
    builtin: Sequence[BuiltinEntry]
    clock: Clock
    rng: Random
    users: Users
    beliefs: dict[ModelId, Belief] = field(default_factory=dict)

    def model(self, model: ModelId) -> ModelSettings:
        """Look up a configured model.

        Raises:
            ConfigError: It is not configured; the message names those that are.
        """
        for settings in self.settings.models:
            if settings.model == model:
                return settings
        known = ", ".join(settings.model for settings in self.settings.models)
        raise ConfigError("not a configured model", value=str(model), allowed=known or "none is configured")

    def judge_settings(self) -> JudgeSettings:
        """State the judges' limits as configured."""
        latency, judging = self.settings.latency, self.settings.judging
        return JudgeSettings(
            latency_limit_ms=latency.limit.total_seconds() * 1000,
            listen_ms=latency.listen.total_seconds() * 1000,
            lag_limit_ms=latency.lag_limit.total_seconds() * 1000,
            reasoning_room_tokens=judging.own_limit_tokens,
            min_units=judging.min_units,
            mix_units=judging.mix_units,
            mix_share=judging.mix_share,
            refusal_points=judging.refusal_points,
        )

    def publish(self) -> None:
        """Write the snapshot that applications read.

        Raises:
            SnapshotError: It could not be written; applications go on with the old one.
        """
        self.snapshot_file.write(
            snapshot(
                self.ledger,
                self.builtin,
                now=self.clock.now(),
                max_age=self.settings.max_snapshot_age,
            )
        )
