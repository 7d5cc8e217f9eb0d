"""Which names must a caller of this model ignore?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

from routecanary.domain.round import Mode
from routecanary.domain.state import ModelState, Suspension


def canary_merged(state: ModelState, at: datetime | None = None) -> bool:
    """Say whether the canary layer is part of the merge: enforced, neither released nor paused.

    Args:
        at: For a caller who keeps the clock: a pause whose end is reached by then is over. None: only an act
            ends a pause, as in a replay.
    """
    ends = state.paused_until
    over = at is not None and ends is not None and at >= ends
    return state.mode is Mode.ENFORCE and not state.released and (not state.paused or over)


def exclusions(
    state: ModelState,
    *,
    builtin: Collection[str] | None = None,
    runtime: Collection[str] | None = None,
    touches: Callable[[Suspension], bool] | None = None,
) -> tuple[str, ...]:
    """Merge the layers of one model, sorted, no duplicates.

    Args:
        builtin: Entries in force now, for a caller who knows newer ones than the last round's.
        runtime: Likewise.
        touches: Which suspensions touch the caller's request; None: all.
    Source: docs/policy.md, Layers and the merge.
    """
    names = set[str](state.builtin if builtin is None else builtin)
    names |= set(state.runtime if runtime is None else runtime)
    if canary_merged(state):
        names |= {
            name for name, suspension in state.suspensions().items() if touches is None or touches(suspension)
        }
    return tuple(sorted(names))
