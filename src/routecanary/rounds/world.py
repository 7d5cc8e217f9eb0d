"""What does a round work with? Handed in once, by `wiring`."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from routecanary.discover.changes import Belief
from routecanary.domain.names import ContractName, ModelId
from routecanary.domain.settings import Settings
from routecanary.judge.refusals.entry import Entry
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.probe.catalog import Catalog
from routecanary.probe.pin import Users
from routecanary.rounds.ports import Gateway
from routecanary.rounds.records import Records


@dataclass(slots=True, kw_only=True)
class World(Records):
    """The records, and whom to ask what. `beliefs` is what each model's listings have shown so far."""

    gateway: Gateway
    catalog: Catalog
    rng: Random
    users: Users
    own_refusals: tuple[Entry, ...] = ()
    beliefs: dict[ModelId, Belief] = field(default_factory=dict)
    blind: frozenset[ContractName] = frozenset()  # contracts whose judges did not see what they must

    def judge_settings(self) -> JudgeSettings:
        """State the judges' limits as configured."""
        return judge_settings_of(self.settings, self.own_refusals)


def judge_settings_of(settings: Settings, own_refusals: tuple[Entry, ...]) -> JudgeSettings:
    """State the judges' limits as a configuration has them."""
    latency, judging = settings.latency, settings.judging
    return JudgeSettings(
        latency_limit_ms=latency.limit.total_seconds() * 1000,
        listen_ms=latency.listen.total_seconds() * 1000,
        lag_limit_ms=latency.lag_limit.total_seconds() * 1000,
        reasoning_room_tokens=judging.own_limit_tokens,
        min_units=judging.min_units,
        mix_units=judging.mix_units,
        mix_share=judging.mix_share,
        refusal_points=judging.refusal_points,
        own_refusals=own_refusals,
    )
