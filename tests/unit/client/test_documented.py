"""What docs/routing.md promises is what the code does."""

from __future__ import annotations

import json
from pathlib import Path

from routecanary.client import Canary
from routecanary.client.canary import CALL_COUNTERS
from routecanary.client.watch import LOOK_COUNTERS
from routecanary.routing.reading import read_snapshot
from tests.unit.routing.test_snapshot import DOCUMENT

PAGE = (Path(__file__).parents[3] / "docs" / "routing.md").read_text("utf-8")


def test_the_page_shows_the_format_as_it_is_written() -> None:
    """Its example is the document that the builder is held to, and it can be read."""
    shown = json.loads(PAGE.partition("```json\n")[2].partition("```")[0])
    assert shown == json.loads(DOCUMENT)
    assert read_snapshot(shown).models.keys() == {"acme/chat", "acme/other"}


def test_every_counter_and_every_word_of_the_status_is_on_the_page() -> None:
    """Nothing that a health check may show goes unexplained."""
    with Canary("/nowhere/snapshot.json", thread=False) as canary:
        words = [*canary.status(), *CALL_COUNTERS, *LOOK_COUNTERS]
    assert [word for word in words if f"`{word}`" not in PAGE] == []


def test_every_public_call_is_on_the_page() -> None:
    """The table of calls is complete."""
    public = [name for name, what in vars(Canary).items() if not name.startswith("_") and callable(what)]
    assert [name for name in public if f"`{name}(" not in PAGE] == []
