"""What is looked after before a round begins?"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.errors import SnapshotError
from routecanary.rounds.act import resume_due
from routecanary.rounds.requalify import requalify_changed
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.rounds")


def attend(world: World, model: ModelId) -> None:
    """End the pauses that are over, and put on trial what judges the model otherwise than before.

    That it could not be published is no reason to make no round: the next writer of the snapshot will.

    Raises:
        StoreError: The log failed.
    """
    with _whether_published_or_not():
        resume_due(world)
    with _whether_published_or_not():
        requalify_changed(world, world.catalog, model)


@contextmanager
def _whether_published_or_not() -> Iterator[None]:
    try:
        yield
    except SnapshotError as error:
        LOG.warning("kept and not published error=%s", error)
