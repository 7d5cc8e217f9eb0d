"""Are an administrator's own tables of refusals fit to be used?

Each entry is tried as it is read: its phrases find its sentence, and its near miss is no refusal — neither by
its own words nor by those of all tables together. A phrase that convicts what a character says would accuse
healthy hosts.
"""

from __future__ import annotations

from collections.abc import Mapping

from routecanary.errors import RefusalTableError
from routecanary.judge.narration import narration_of
from routecanary.judge.refusal import refusal_score
from routecanary.judge.refusals.entry import Entry, entries_from_toml, tried
from routecanary.judge.refusals.tables import tables_with
from routecanary.judge.voice import narrator


def own_entries(texts: Mapping[str, str], *, refusal_points: int) -> tuple[Entry, ...]:
    """Read and try own tables.

    Args:
        texts: Place, as errors name it → TOML.
        refusal_points: The score from which a text is a refusal.
    Raises:
        RefusalTableError: One of them is malformed, or convicts what it should spare.
    """
    entries = tuple(
        tried(entry) for place, text in sorted(texts.items()) for entry in entries_from_toml(text, place)
    )
    tables = tables_with(entries)
    for entry in entries:
        narration = narration_of(narrator(entry.near_miss).narration, len(entry.near_miss))
        score = refusal_score(narration, tables)
        if score.template or score.points >= refusal_points:
            raise RefusalTableError(
                f"taken for a refusal, {', '.join(score.why)}: {score.points} points",
                place=f"{entry.place}.near_miss",
                value=entry.near_miss,
            )
    return entries
