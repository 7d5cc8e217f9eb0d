"""What is looked after before a round begins?"""

from __future__ import annotations

from routecanary.domain.names import ModelId
from routecanary.rounds.act import resume_due
from routecanary.rounds.requalify import requalify_changed
from routecanary.rounds.world import World


def attend(world: World, model: ModelId) -> None:
    """End the pauses that are over, and put on trial what judges the model otherwise than before.

    Raises:
        StoreError: The log failed.
        SnapshotError: What was done could not be published.
    """
    resume_due(world)
    requalify_changed(world, world.catalog, model)
