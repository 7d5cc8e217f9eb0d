"""`routecanary leaks` and `routecanary traffic`, on the command line and over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.generation import Source
from routecanary.domain.names import ModelId
from routecanary.domain.token import Role
from routecanary.rounds.act import exclude
from tests.commandline import MODEL, Ran, a_config, called, environment
from tests.records import some_records
from tests.serving import ask
from tests.serving import served as serving
from tests.snapshots import document as snapshot_document
from tests.snapshots import facts
from tests.system.test_cli_documented import undocumented
from tests.traffic import served

NOW = datetime.now(UTC).replace(microsecond=0)
NAME = ModelId(MODEL)


def generations(*by: str, ago: timedelta = timedelta(minutes=20), **more: Any) -> list[Any]:
    return [
        served(name, **{"model": NAME, "started_at": NOW - ago, "conversation": f"c{number}", **more})
        for number, name in enumerate(by)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a store that knows what users were served, one host of which was excluded two hours ago."""
    a_config(tmp_path)
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        records = some_records(store)
        exclude(
            records,
            RuntimeEntry(
                target="acme",
                models=frozenset({NAME}),
                reason="a trial",
                actor="ops",
                created=NOW - timedelta(hours=2),
            ),
        )
        store.keep_generations(
            [
                *generations("plover", "plover", "cindermoor", ""),
                *generations("acme", ago=timedelta(hours=3)),
            ],
            at=NOW,
        )
    return tmp_path


def leak(folder: Path, *by: str, **more: Any) -> None:
    with SqliteStore(folder / "events.sqlite3") as store:
        store.keep_generations(generations(*by, **more), at=NOW)


def shown(folder: Path, command: str, *tokens: str, code: int = 0) -> Ran:
    config = folder / "routecanary.toml"
    done = called(command, *tokens, "--config", config, environ=environment(folder, COLUMNS="240"))
    assert (done.code, done.err) == (code, "")
    return done


def test_leaks_are_a_proof_where_there_are_none(folder: Path) -> None:
    """How many generations on how many routes, and of how many excluded route-hours."""
    out = shown(folder, "leaks").out
    assert f"{MODEL}: 4 generations on 3 routes, none on an excluded route; of " in out
    found = re.search(r"of ([0-9.]+) excluded route-hours", out)
    assert found is not None
    passed = (datetime.now(UTC) - NOW) / timedelta(hours=1)  # since this file was read, perhaps long before
    assert 1.9 < float(found[1]) - passed < 2.1
    assert "1 more do not say who served them" in out


def test_leaks_are_named_with_their_reason(folder: Path) -> None:
    """And the exit code is that of a finding; what is only possible is none."""
    leak(folder, "acme plover")
    assert "1 more may have been" in shown(folder, "leaks").out
    leak(folder, "acme", "acme", source=Source.BROADCAST)
    done = shown(folder, "leaks", MODEL, code=1)
    assert "2 on an excluded route" in done.out
    assert "no_hook" in done.out
    (report,) = shown(folder, "leaks", "--json", code=1).json
    assert (report["leaked"], report["possible"]) == (2, 1)
    assert report["leaks"][0]["reason"] == "no_hook"


def test_how_far_to_look_back_can_be_said(folder: Path) -> None:
    """A duration; anything else is refused."""
    assert shown(folder, "leaks", "--since", "10m", "--json").json[0]["generations"] == 0
    config = folder / "routecanary.toml"
    for command in ("leaks", "traffic"):
        for since in ("soon", "0s", "-1h"):
            done = called(command, "--since", since, "--config", config, environ=environment(folder))
            assert done.code == 2, (command, since)
        unknown = called(command, "other/model", "--config", config, environ=environment(folder))
        assert unknown.code == 2
        assert "not a configured model" in unknown.err


def test_traffic_shows_what_users_were_served(folder: Path) -> None:
    """By routes, with intervals; what names no conversation is said to count for itself."""
    leak(folder, "plover", conversation=None, ttft_ms=12_000)
    done = shown(folder, "traffic")
    row = next(line for line in done.out.splitlines() if "plover" in line)
    assert "400 / 12000" in row
    assert "33.3 % (0.8–90.6)" in row
    assert "1 answers name no conversation and count one each" in done.out
    (report,) = shown(folder, "traffic", "--json").json
    (plover,) = [each for each in report["routes"] if each["routes"] == ["plover"]]
    assert (plover["requests"], plover["conversations"], plover["anonymous"]) == (3, 3, 1)
    assert plover["first_text_ms"] == {"p50": 400, "p95": 12_000}
    assert plover["shares"]["late"] == {"bad": 1, "of": 3, "low": 0.0084, "high": 0.9057}


def test_nothing_told_is_said(tmp_path: Path) -> None:
    """Without a store, and without telemetry, both say so."""
    a_config(tmp_path)
    assert "0 generations on 0 routes" in shown(tmp_path, "leaks").out
    assert "nothing is told of what users were served" in shown(tmp_path, "traffic").out
    assert not (tmp_path / "events.sqlite3").exists()


def test_every_key_is_documented(folder: Path) -> None:
    """Each stands in its section of the page."""
    leak(folder, "acme", source=Source.BROADCAST)
    names = frozenset({MODEL, "late", "empty", "filtered", "failed", "unfinished"})
    assert not undocumented("leaks", shown(folder, "leaks", "--json", code=1).json, named=names)
    assert not undocumented("traffic", shown(folder, "traffic", "--json").json, named=names)


@dataclass(frozen=True)
class There:
    """The administrators' listener, and whoever may read."""

    address: Any
    token: str | None

    def get(self, path: str) -> Any:
        return ask(self.address, path, token=self.token)


@pytest.fixture
def there(tmp_path: Path) -> Iterator[There]:
    """Serve a store that knows nothing of telemetry."""
    with serving(tmp_path, snapshot_document(facts()), tokens=True) as found:
        yield There(found.administrators, found.tokens[Role.READ])


@pytest.mark.parametrize("what", ["leaks", "traffic"])
def test_both_are_served_to_readers(there: There, what: str) -> None:
    """As the commands print them; the query is read strictly."""
    answered = there.get(f"/api/v1/{what}?since=2h")
    assert answered.status == 200
    assert isinstance(answered.json, list)
    assert ask(there.address, f"/api/v1/{what}").status == 401
    for bad in (
        "?since=soon",
        "?since=0s",
        "?until=1h",
        "?model=none/such",
        "?since=1h&since=2h",
        "?since=%ff",
    ):
        assert there.get(f"/api/v1/{what}{bad}").status == 400, bad
