"""`routecanary generations`: who served what, when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import ModelId, RouteId
from tests.commandline import MODEL, Ran, a_config, called, environment
from tests.conformance.stored import a_generation, a_whole_generation
from tests.system.test_cli_documented import SECTIONS, keys_of

NOW = datetime.now(UTC).replace(microsecond=0)
OTHER = ModelId("acme/other")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a store with one whole generation, an hour of others, and one of a model that nobody watches."""
    a_config(tmp_path)
    model, alpha = ModelId(MODEL), RouteId("alpha")
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        store.keep_generations(
            [
                a_whole_generation(key="whole", model=model, started_at=NOW, conversation="c1"),
                *(
                    a_generation(
                        f"k{n}",
                        model=model,
                        started_at=NOW - timedelta(minutes=n),
                        candidates=frozenset({alpha}),
                    )
                    for n in range(1, 90)
                ),
                a_generation("other", model=OTHER, started_at=NOW, provider="Beta", empty=True, status=200),
            ],
            at=NOW,
        )
    return tmp_path


def shown(folder: Path, *tokens: str) -> Ran:
    config = folder / "routecanary.toml"
    done = called("generations", *tokens, "--config", config, environ=environment(folder, COLUMNS="200"))
    assert (done.code, done.err) == (0, "")
    return done


def keys(folder: Path, *tokens: str) -> list[str]:
    return [line["key"] for line in shown(folder, *tokens, "--json").lines]


def test_the_newest_are_shown_oldest_first(folder: Path) -> None:
    """Fifty of the last hour where nothing else is said; of the configured models."""
    assert keys(folder) == [f"k{n}" for n in range(49, 0, -1)] + ["whole"]
    assert keys(folder, "--limit", "2") == ["k1", "whole"]
    assert keys(folder, "--limit", "0") == []


def test_a_window_and_what_is_asked_for(folder: Path) -> None:
    """By time or by how long ago, by route, by conversation, by a model that is not configured."""
    begin, end = ((NOW - timedelta(minutes=n)).isoformat() for n in (80, 78))
    assert keys(folder, "--since", begin, "--until", end) == ["k80", "k79"]
    assert len(keys(folder, MODEL, "--since", "2h", "--limit", "500")) == 90
    assert keys(folder, "--route", "alpha/fp8") == ["whole"]
    assert keys(folder, "--conversation", "c1") == ["whole"]
    assert keys(folder, OTHER) == ["other"]
    assert keys(folder, "a/b") == []


def test_a_table_says_who_served_and_how_it_ended(folder: Path) -> None:
    """A route that the request ignored is marked; nothing told is said in words."""
    table = shown(folder, "--limit", "1").out
    assert "alpha (ignored) or alpha/fp8" in table
    assert "250 ms" in table
    assert "Beta" in shown(folder, OTHER).out
    assert "200, empty" in shown(folder, OTHER).out
    assert shown(folder, "a/b").out == "nobody told of a generation in this time\n"


def test_every_key_is_documented(folder: Path) -> None:
    """What a line holds is named in the command's section."""
    (line,) = shown(folder, "--limit", "1", "--json").lines
    assert not {key for key in keys_of(line) if f"`{key}`" not in SECTIONS["generations"]}
    assert line["carried"] == ["alpha"]
    assert line["started_at"] == NOW.isoformat().replace("+00:00", "Z")
