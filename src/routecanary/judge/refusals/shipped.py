"""Which tables of refusals come with the package?

Data of the package, read once, at the first judgement; the one place of this stage that reads any. Tables of
an administrator are read by an adapter and handed in.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from routecanary.judge.refusals.entry import Entry, entries_from_toml


@cache
def shipped_entries() -> tuple[Entry, ...]:
    """Read the package's tables, in order of their names."""
    found: list[Entry] = []
    for each in sorted((files("routecanary.judge") / "refusals").iterdir(), key=lambda each: each.name):
        if each.name.endswith(".toml"):
            found += entries_from_toml(each.read_text("utf-8"), f"routecanary/judge/refusals/{each.name}")
    return tuple(found)
