"""Telemetry through a real `serve`: what was answered with success is in the file, and no content is."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import http.client
import json
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from routecanary.adapters.snapshot import write_snapshot
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.clock import SystemClock
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.settings import Settings
from routecanary.errors import StoreError
from routecanary.routing.snapshot import ListedRoute
from routecanary.web.keeping import MAX_WAITING, BusyError, Keeper
from tests.commandline import MODEL, a_config, called, command, environment
from tests.conformance.stored import a_generation
from tests.snapshots import document, facts
from tests.unit.telemetry import broadcast
from tests.unit.telemetry.broadcast import SAID, SECRET, export, span

NOW = datetime.now(UTC)
STORE = "events.sqlite3"


@dataclass(frozen=True, kw_only=True)
class Said:
    status: int
    body: Any
    retry_after: str | None


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server, its tokens, and where its files lie."""

    folder: Path
    port: int
    app: str
    read: str

    def post(self, path: str, body: Any, method: str = "POST", **headers: str) -> Said:
        """Send a JSON document, or bytes as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        standard = {"Authorization": f"Bearer {self.app}", "Content-Type": "application/json"}
        given = standard | {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, data, given)
            response = connection.getresponse()
            return Said(
                status=response.status,
                body=json.loads(response.read()),
                retry_after=response.headers["Retry-After"],
            )
        finally:
            connection.close()

    def kept(self) -> list[Generation]:
        with SqliteStore(self.folder / STORE) as store:
            window = {"since": NOW - timedelta(days=30), "until": NOW + timedelta(days=1)}
            return list(store.generations(ModelId(MODEL), **window))


def a_snapshot(folder: Path) -> None:
    routes = (("alpha", "Alpha AI"), ("beta/fp4", "Beta"), ("beta/fp8", "Beta"))
    write_snapshot(
        folder / "snapshot.json",
        document(
            facts(
                MODEL,
                names=frozenset({"acme/chat-20260101"}),
                routes=tuple(
                    ListedRoute(tag=RouteId(tag), providers=frozenset({name})) for tag, name in routes
                ),
            ),
            written_at=NOW,
        ),
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with a_server(tmp_path_factory.mktemp("served")) as server:
        yield server


@contextlib.contextmanager
def a_server(folder: Path) -> Iterator[Served]:
    with a_process(folder) as (served, process):
        yield served
        process.terminate()
        assert process.wait(20) == 0


@contextlib.contextmanager
def a_process(folder: Path) -> Iterator[tuple[Served, subprocess.Popen[bytes]]]:
    ports = '[listen]\napplications = "127.0.0.1:0"\nadministrators = "127.0.0.1:0"\n'
    config, environ = a_config(folder, more=ports), environment(folder)
    a_snapshot(folder)
    tokens = {
        role: called("token", "create", role, "--role", role, "--config", config, environ=environ).out.strip()
        for role in ("app", "read")
    }
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command("serve", "--json", "--config", config), env=environ, stdout=subprocess.PIPE, stderr=log
        ) as process,
    ):
        assert process.stdout is not None
        try:
            port = int(json.loads(process.stdout.readline())["applications"].rpartition(":")[2])
            yield Served(folder=folder, port=port, **tokens), process
        finally:
            process.kill()


def told(key: str = "k1", minutes: int = 1, **changes: Any) -> dict[str, Any]:
    at = (NOW - timedelta(minutes=minutes)).isoformat()
    return {"key": key, "model": MODEL, "started_at": at} | changes


def bodies(*records: dict[str, Any]) -> dict[str, Any]:
    return {"generations": list(records)}


def test_what_is_answered_with_success_is_kept_once(served: Served) -> None:
    """With its candidates from the snapshot, under the model's own id; the same body again keeps nothing."""
    body = bodies(
        told("once1", model="acme/chat-20260101", provider="Beta", ignore=["beta/fp4"]),
        told("once2", provider="Nobody", finish_reason="stop", source="api"),
    )
    first, again = (served.post("/v1/telemetry", body) for _ in range(2))
    assert (first.status, first.body) == (202, {"kept": 2, "known": 0})
    assert (again.status, again.body) == (202, {"kept": 0, "known": 2})
    found = {each.key: each for each in served.kept()}
    assert found["once1"].candidates == {"beta/fp4", "beta/fp8"}
    assert found["once1"].carried == {"beta/fp4"}
    assert (found["once2"].source, found["once2"].candidates) == (Source.API, frozenset())


def test_a_compressed_body_is_taken(served: Served) -> None:
    """Gzip, within the same bounds."""
    body = gzip.compress(json.dumps(bodies(told("zipped"))).encode())
    assert served.post("/v1/telemetry", body, Content_Encoding="gzip").body == {"kept": 1, "known": 0}
    bomb = gzip.compress(bytes(40_000_000))
    refused = served.post("/v1/telemetry", bomb, Content_Encoding="gzip")
    assert refused.status == 400
    assert refused.body["error"]["message"].startswith("the body is too long; allowed: 1048576 bytes")


def test_a_bad_record_keeps_nothing_of_its_body(served: Served) -> None:
    """The refusal names it."""
    refused = served.post("/v1/telemetry", bodies(told("good"), told("bad", prompt="hello")))
    assert refused.status == 400
    assert refused.body["error"]["message"].startswith("generations[1].prompt: unknown key; allowed: ")
    assert "good" not in {each.key for each in served.kept()}


@pytest.mark.parametrize("path", ["/v1/telemetry", "/v1/traces"])
def test_only_an_application_may_tell(served: Served, path: str) -> None:
    """Neither somebody without a token nor one who only reads; nothing but JSON, and no GET."""
    assert served.post(path, {}, Authorization="").status == 401
    assert served.post(path, {}, Authorization=f"Bearer {served.read}").status == 403
    assert served.post(path, b"x", Content_Type="application/x-protobuf").status == 415
    assert served.post(path, b"", method="GET").status == 405
    token = {"Authorization": "Bearer else", "X_Routecanary_Token": served.app}
    assert served.post(path, {"generations": []} if path.endswith("y") else {}, **token).status in {200, 202}


def a_broadcast(**said: Any) -> dict[str, Any]:
    """Make what the gateway would send now of a model of ours."""
    at = {
        "startTimeUnixNano": broadcast.nanoseconds(NOW - timedelta(minutes=2)),
        "endTimeUnixNano": broadcast.nanoseconds(NOW - timedelta(minutes=1)),
    }
    models = {"gen_ai.request.model": MODEL, "gen_ai.response.model": "acme/chat-20260101"}
    return span(SAID | models | said, **at)


def test_the_gateways_broadcast_completes_what_a_hook_told(served: Served) -> None:
    """Each in its own words, under one id."""
    hook = told("drawn", id="gen-joined", ttft_ms=90, ignore=["alpha", "beta/fp8"], list_written_at=str(NOW))
    assert served.post("/v1/telemetry", bodies(hook)).body == {"kept": 1, "known": 0}
    joined = a_broadcast(**{"gen_ai.response.id": "gen-joined"})
    for method in ("POST", "PUT"):
        said = served.post("/v1/traces", export(joined), method=method)
        assert (said.status, said.body) == (200, {})
    (found,) = (each for each in served.kept() if each.id == "gen-joined")
    assert (found.key, found.source, found.ttft_ms, found.prompt_tokens) == ("drawn", Source.HOOK, 90, 812)
    assert (found.provider, found.candidates, found.carried) == (
        "Beta",
        {"beta/fp4", "beta/fp8"},
        {"beta/fp8"},
    )


def test_nothing_that_was_said_is_found_afterwards(served: Served) -> None:
    """In no file beside the store, in no log and in no answer, whether a body was taken or refused."""
    answers = [
        served.post("/v1/traces", export(a_broadcast(**{"gen_ai.response.id": "gen-secret"}))),
        served.post(
            "/v1/traces", gzip.compress(json.dumps(export(a_broadcast())).encode()), Content_Encoding="gzip"
        ),
        served.post(
            "/v1/traces", export(a_broadcast(), span({"gen_ai.request.model": MODEL}, traceId=SECRET))
        ),
        served.post("/v1/traces", {"resourceSpans": [{"scopeSpans": SECRET}]}),
        served.post("/v1/telemetry", bodies(told(prompt=SECRET))),
    ]
    assert [answer.status for answer in answers] == [200, 200, 200, 400, 400]
    assert answers[2].body["partialSuccess"]["rejectedSpans"] == "1"
    assert SECRET not in str(answers)
    assert "gen-secret" in {each.id for each in served.kept()}
    for path in served.folder.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path.name


def test_the_gateways_test_of_the_connection_succeeds(served: Served) -> None:
    """It sends an empty body; but whoever shows no token is not told so."""
    for body in (b"{}", b'{"resourceSpans": []}', b""):
        said = served.post("/v1/traces", body, X_Test_Connection="true")
        assert (said.status, said.body) == (200, {})
    assert served.post("/v1/traces", b"{}", X_Test_Connection="true", Authorization="").status == 401
    assert served.post("/v1/traces", {}).body == {}


def test_a_locked_store_keeps_nothing_and_says_when_to_come_again(served: Served) -> None:
    """The same body is taken later, whole."""
    body = bodies(told("locked1"), told("locked2"))
    with closing(sqlite3.connect(served.folder / STORE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        locked = served.post("/v1/telemetry", body)
        other.execute("ROLLBACK")
    assert locked.status == 503
    assert locked.retry_after is not None
    assert "is locked by another process" in locked.body["error"]["message"]
    assert served.post("/v1/telemetry", body).body == {"kept": 2, "known": 0}


def test_more_than_can_wait_is_refused_at_once(served: Served) -> None:
    """So many bodies wait for a locked store; those beyond are told to come again; nothing is half kept."""
    with (
        closing(sqlite3.connect(served.folder / STORE, isolation_level=None)) as other,
        ThreadPoolExecutor(MAX_WAITING + 4) as pool,
    ):
        other.execute("BEGIN IMMEDIATE")
        asked = [
            pool.submit(served.post, "/v1/telemetry", bodies(told(f"many{n}")))
            for n in range(MAX_WAITING + 4)
        ]
        wait(asked, return_when=FIRST_COMPLETED)
        other.execute("ROLLBACK")
        answers = [each.result() for each in asked]
    refused = [answer for answer in answers if answer.status == 503]
    assert any("too much telemetry" in answer.body["error"]["message"] for answer in refused)
    assert all(answer.retry_after == "1" for answer in refused)
    taken = [answer.body for answer in answers if answer.status == 202]
    assert taken == [{"kept": 1, "known": 0}] * (len(answers) - len(refused))
    assert sum(each.key.startswith("many") for each in served.kept()) == len(taken)


def test_a_killed_server_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    """Kill -9 while three senders tell: what was answered is whole in the file, the rest whole or absent."""
    answered: Queue[int] = Queue()

    def tell(served: Served, sender: int) -> None:
        for n in range(sender, 3000, 3):
            try:
                said = served.post("/v1/telemetry", bodies(*(told(f"{n}-{m}") for m in range(20))))
            except (OSError, http.client.HTTPException):
                return
            assert said.body == {"kept": 20, "known": 0}
            answered.put(n)

    with a_process(tmp_path) as (served, process), ThreadPoolExecutor(3) as pool:
        senders = [pool.submit(tell, served, sender) for sender in range(3)]
        told_first = {answered.get(timeout=20) for _ in range(30)}
        process.kill()
        for each in senders:
            each.result()
    while not answered.empty():
        told_first.add(answered.get())
    kept = Counter(int(each.key.partition("-")[0]) for each in served.kept())
    assert kept.keys() >= told_first
    assert set(kept.values()) == {20}


# --- the thread that keeps


def a_keeper(path: Path) -> Keeper:
    return Keeper(Settings(store_path=str(path), snapshot_path="none"), SystemClock())


def test_another_file_in_the_stores_place_is_used(tmp_path: Path) -> None:
    """And while there is none, nothing is kept anywhere."""
    path = tmp_path / "store.db"
    told = [a_generation(started_at=NOW)]
    keeper = a_keeper(path)
    with pytest.raises(StoreError, match="cannot be found"):
        asyncio.run(keeper.keep(lambda _: told))
    for place in (path, tmp_path / "second.db"):
        SqliteStore(place).close()
        place.replace(path)
        for beside in tmp_path.glob("*-*"):
            beside.unlink()
        assert asyncio.run(keeper.keep(lambda _: told)).new == 1
        assert asyncio.run(keeper.keep(lambda _: told)).known == 1
    keeper.close()


def test_a_job_that_nobody_waits_for_any_more_makes_room(tmp_path: Path) -> None:
    """Callers that were cancelled do not fill the queue."""
    path = tmp_path / "store.db"
    SqliteStore(path).close()

    async def go() -> None:
        keeper = a_keeper(path)
        for _ in range(3):
            tasks = [asyncio.create_task(keeper.keep(lambda _: [])) for _ in range(MAX_WAITING)]
            await asyncio.sleep(0)
            with pytest.raises(BusyError):
                await keeper.keep(lambda _: [])
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert (await keeper.keep(lambda _: [a_generation(started_at=NOW)])).new == 1
        keeper.close()

    asyncio.run(go())
