"""The listeners with real sockets: lists on time, waiting, streams, and who is let through."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, get_type_hints

import pytest

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client.file import SnapshotFile
from routecanary.client.watch import Watch
from routecanary.domain.address import Address
from routecanary.domain.token import Role
from routecanary.errors import ConfigError
from routecanary.web import board, routes, sidecar
from routecanary.web.guard import Guard
from routecanary.web.http import Limits, listen
from routecanary.web.router import Router
from tests.serving import Answered, Served, ask, listening, served, some_settings
from tests.snapshots import MODEL, NOW, after, document, facts, runtime, suspended

EXCLUSIONS = f"/v1/exclusions?model={MODEL}"
ALPHA = document(facts(suspensions=suspended("alpha")))
BETA = document(facts(suspensions=suspended("beta")), written_at=after(seconds=1))
PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Served]:
    """Serve a snapshot in which one host is suspended."""
    with served(tmp_path, ALPHA) as found:
        yield found


def until(true: Callable[[], bool]) -> None:
    """Wait for what another thread does; the suite's timeout ends a vain wait."""
    while not true():
        time.sleep(0.01)


def ignored(there: Served) -> Any:
    return ask(there.applications, EXCLUSIONS).json["ignore"]


def in_background(do: Callable[[], Answered]) -> Callable[[], Answered]:
    """Ask in a thread; the answer is waited for when it is wanted."""
    found: list[Answered] = []
    thread = threading.Thread(target=lambda: found.append(do()))
    thread.start()

    def answered() -> Answered:
        thread.join(60)
        return found[0]

    return answered


# Lists


def test_a_list_is_told_with_its_tag_and_freshness(there: Served) -> None:
    """Who has it already gets a 304 with the same headers."""
    first = ask(there.applications, EXCLUSIONS)
    assert (first.status, first.json["ignore"]) == (200, ["alpha"])
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["routecanary-written-at"] == "2026-01-05T12:00:00Z"
    assert first.headers["routecanary-trusted-until"] == "2026-01-05T18:00:00Z"
    again = ask(there.applications, EXCLUSIONS, If_None_Match=f'"other", W/{first.etag}')
    assert (again.status, again.body, again.etag) == (304, b"", first.etag)
    assert again.headers["routecanary-trusted-until"] == "2026-01-05T18:00:00Z"
    head = ask(there.applications, EXCLUSIONS, method="HEAD")
    assert (head.status, head.body, head.etag) == (200, b"", first.etag)
    assert int(head.headers["content-length"]) == len(first.body)


def test_a_change_of_the_file_is_told_and_another_writing_is_none(there: Served) -> None:
    """The tag outlives a round that changed nothing; the headers say that there was one."""
    first = ask(there.applications, EXCLUSIONS)
    there.publish(document(facts(suspensions=suspended("alpha")), written_at=after(minutes=1)))
    fresh = "2026-01-05T12:01:00Z"
    until(lambda: ask(there.applications, EXCLUSIONS).headers["routecanary-written-at"] == fresh)
    assert ask(there.applications, EXCLUSIONS, If_None_Match=first.etag).status == 304
    there.publish(BETA)
    until(lambda: ignored(there) == ["beta"])


def test_an_end_comes_on_time_though_nobody_writes(there: Served) -> None:
    """To the instant by the clock, whoever moves it; and what has ended stays ended when it is set back."""
    there.clock.advance(timedelta(days=1, microseconds=-1))
    assert ask(there.applications, EXCLUSIONS).json["doubt"] == "stale"
    there.publish(document(facts(suspensions=suspended("alpha")), written_at=there.clock.now()))
    until(lambda: ignored(there) == ["alpha"])
    there.clock.advance(timedelta(microseconds=1))
    assert ignored(there) == []
    there.clock.advance(timedelta(minutes=-1))
    assert ignored(there) == []


def test_a_bad_file_displaces_no_good_one(there: Served) -> None:
    """Rubbish, nothing at all; the canary layer goes when its time is up, and comes with the next one."""
    path = Path(there.settings.snapshot_path)
    for content in (b"rubbish", b"", b'{"format": "routecanary-snapshot", "version": 99}', b"\x00" * 1000):
        path.write_bytes(content)
        until(lambda: ask(there.applications, "/v1/health").json["fault"] in {"malformed", "future_version"})
        assert ignored(there) == ["alpha"]
        assert json.loads(ask(there.applications, "/v1/snapshot").body) == ALPHA
    path.unlink()
    until(lambda: ask(there.applications, "/v1/health").json["fault"] == "missing_file")
    assert ignored(there) == ["alpha"]
    assert ask(there.applications, "/v1/ready").status == 200
    there.clock.advance(timedelta(hours=6, seconds=1))
    assert ignored(there) == []
    ready = ask(there.applications, "/v1/ready")
    assert (ready.status, ready.json["ready"], ready.json["doubt"]) == (503, False, "stale")
    assert ask(there.applications, "/v1/health").status == 200
    there.publish(document(facts(suspensions=suspended("beta")), written_at=there.clock.now()))
    until(lambda: ignored(there) == ["beta"])


def test_before_the_first_snapshot_everything_says_so(tmp_path: Path) -> None:
    """Nothing is avoided, readiness is denied, and the snapshot itself is waited for."""
    with served(tmp_path) as there:
        assert ask(there.applications, EXCLUSIONS).json["doubt"] == "no_snapshot"
        assert ask(there.applications, "/v1/ready").status == 503
        missing = ask(there.applications, "/v1/snapshot")
        assert (missing.status, missing.json["error"]["code"]) == (503, 503)
        had = ask(there.applications, "/v1/snapshot", If_None_Match="*")
        assert had.status == 503
        coming = in_background(lambda: ask(there.applications, "/v1/snapshot?wait=60"))
        there.publish(ALPHA)
        assert (coming().status, coming().json) == (200, ALPHA)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("modl=x", "modl: unknown parameter; allowed: locale, model, needs, wait"),
        ("model=", "model: not the name of a model (got ''); allowed: 1 to 200 printable characters"),
        ("wait=soon", "wait: not a time to wait (got 'soon'); allowed: whole seconds from 0 to 60"),
        ("needs=manners", "needs: not known (got 'manners')"),
        ("model=%ff", "the query cannot be read"),
        ("&".join(f"a{n}=1" for n in range(200)), "the query cannot be read"),
    ],
)
def test_a_bad_question_is_refused_by_name(there: Served, query: str, said: str) -> None:
    """400, with key, value and what is allowed."""
    refused = ask(there.applications, f"/v1/exclusions?{query}")
    assert (refused.status, refused.json["error"]["code"]) == (400, 400)
    assert refused.json["error"]["message"].startswith(said)


def test_any_number_of_models_is_asked_for_in_bounded_memory(there: Served) -> None:
    """Names that nobody watches are answered and forgotten."""
    for number in range(board.KEPT + 50):
        assert ask(there.applications, f"/v1/exclusions?model=x/{number}").json["doubt"] == "unknown_model"
    assert ignored(there) == ["alpha"]


# Waiting


def test_a_wait_ends_with_the_change(there: Served) -> None:
    """By the file, and by the clock; everybody who waits is told."""
    tag = ask(there.applications, EXCLUSIONS).etag
    waiting = [
        in_background(lambda: ask(there.applications, f"{EXCLUSIONS}&wait=60", If_None_Match=tag))
        for _ in range(5)
    ]
    there.publish(BETA)
    assert [each().json["ignore"] for each in waiting] == [["beta"]] * 5
    tag = waiting[0]().etag
    coming = in_background(lambda: ask(there.applications, f"{EXCLUSIONS}&wait=60", If_None_Match=tag))
    there.clock.advance(timedelta(days=1))
    assert coming().json["ignore"] == []


def test_a_wait_in_vain_ends_with_304(there: Served) -> None:
    """Without `If-None-Match` nothing is waited for; with another tag neither."""
    tag = ask(there.applications, EXCLUSIONS).etag
    assert ask(there.applications, f"{EXCLUSIONS}&wait=1", If_None_Match=tag).status == 304
    assert ask(there.applications, f"{EXCLUSIONS}&wait=60").status == 200
    assert ask(there.applications, f"{EXCLUSIONS}&wait=60", If_None_Match='"other"').status == 200


def test_too_many_waiting_are_sent_away(there: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who do not wait are served, and there is room again when one has gone."""
    monkeypatch.setattr(board, "MAX_WAITING", 1)
    tag = ask(there.applications, EXCLUSIONS).etag
    with Stream(there.applications) as stream:
        stream.next()
        refused = ask(there.applications, f"{EXCLUSIONS}&wait=60", If_None_Match=tag)
        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
        assert ask(there.applications, EXCLUSIONS, Accept="text/event-stream").status == 503
        assert ask(there.applications, EXCLUSIONS).status == 200
    until(lambda: ask(there.applications, f"{EXCLUSIONS}&wait=1", If_None_Match=tag).status == 304)


def test_the_end_of_the_server_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Whoever waits is answered at once."""
    with served(tmp_path, ALPHA) as there:
        tag = ask(there.applications, EXCLUSIONS).etag
        waiting = in_background(lambda: ask(there.applications, f"{EXCLUSIONS}&wait=60", If_None_Match=tag))
        with Stream(there.applications) as stream:
            stream.next()
            time.sleep(0.2)  # so that the other is surely there; if not, it is told at once
    assert waiting().status == 304


# Streams


class Stream:
    """An event stream, read as a client reads it."""

    def __init__(self, address: Address, path: str = EXCLUSIONS, *, last: str | None = None) -> None:
        self._socket = socket.create_connection((address.host, address.port), timeout=60)
        lines = [f"GET {path} HTTP/1.0", "Host: localhost", "Accept: text/event-stream"]
        lines += [f"Last-Event-ID: {last}"] if last is not None else []
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self._file = self._socket.makefile("rb")
        self.head = b""
        while not self.head.endswith(b"\r\n\r\n"):
            self.head += self._file.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def block(self) -> list[str]:
        """Read up to an empty line; nothing: the stream has ended."""
        found = []
        while (line := self._file.readline().decode()) not in {"", "\n"}:
            found.append(line.rstrip("\n"))
        return found

    def next(self) -> tuple[str, Any]:
        """Read the next event: its id and its document."""
        while True:
            block = self.block()
            assert block, "the stream has ended"
            fields = dict(line.split(": ", 1) for line in block)
            if "data" in fields:
                assert fields["event"] == "exclusions"
                return fields["id"], json.loads(fields["data"])


def test_a_stream_tells_each_list_once(there: Served) -> None:
    """The first at once, the next when it comes, by the file and by the clock; ids are tags."""
    with Stream(there.applications) as stream:
        assert b"content-type: text/event-stream" in stream.head.lower()
        assert stream.block() == ["retry: 1000"]
        tag, first = stream.next()
        assert (tag, first["ignore"]) == (ask(there.applications, EXCLUSIONS).etag, ["alpha"])
        there.publish(BETA)
        assert stream.next()[1]["ignore"] == ["beta"]
        there.clock.advance(timedelta(days=1))
        assert stream.next()[1]["ignore"] == []


def test_a_reader_that_comes_back_is_spared_what_it_has(
    there: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Last-Event-ID` names it; an idle stream says that it lives."""
    monkeypatch.setattr(sidecar, "KEEP_ALIVE", 0.2)
    tag = ask(there.applications, EXCLUSIONS).etag
    with Stream(there.applications, last=tag) as stream:
        assert stream.block() == ["retry: 1000"]
        assert stream.block() == [": keep-alive"]
    with Stream(there.applications, last='"older"') as stream:
        assert stream.next()[0] == tag


def test_a_reader_that_reads_nothing_holds_up_nobody(tmp_path: Path) -> None:
    """However often a large list changes, it gets no more than its buffer holds, and then the newest."""

    def large(number: int) -> dict[str, Any]:
        hosts = [f"host-{each}-{'x' * 100}" for each in range(2_000)]
        entries = [runtime(host) for host in [*hosts, f"number-{number}"]]
        return document(facts(), runtime=entries, written_at=after(seconds=number))

    with served(tmp_path, large(0)) as there, Stream(there.applications) as slow:
        with Stream(there.applications) as quick:
            for number in range(1, 8):
                quick.next()
                there.publish(large(number))
        last = "number-7"
        until(lambda: last in ignored(there))
        seen = 0
        while last not in slow.next()[1]["ignore"]:
            seen += 1
        assert seen < 7


def test_a_reader_that_reads_nothing_is_dropped(tmp_path: Path) -> None:
    """When it has taken nothing of what waits for it for so long."""
    hosts = [runtime(f"host-{number}-{'x' * 100}") for number in range(20_000)]  # more than any buffer holds
    path = tmp_path / "snapshot.json"
    write_snapshot(path, document(facts(), runtime=hosts))

    async def main() -> None:
        watch = Watch(SnapshotFile(str(path)), interval=1, clock=NOW.timestamp, counts={}, threaded=False)
        watch.look()
        lists = sidecar.Sidecar(watch, NOW.timestamp)
        address = Address(host="127.0.0.1", port=0)
        router = Router(lists.routes(), Guard(lambda: NOW), address)
        async with await listen(router, "127.0.0.1", 0, limits=Limits(stall=0.2)) as server:
            slow = await asyncio.to_thread(Stream, Address(host="127.0.0.1", port=server.address[1]))
            assert server.connections == 1
            await asyncio.to_thread(until, lambda: not server.connections)
            with slow:
                pass
            lists.close()

    asyncio.run(main())


def test_streams_tell_of_all_models_too(there: Served) -> None:
    """Without `model`, each event holds every list."""
    with Stream(there.applications, "/v1/exclusions") as stream:
        assert stream.next()[1]["models"][MODEL]["ignore"] == ["alpha"]


# Who is let through

ROWS = re.findall(r"^\| `(GET|POST|PUT|DELETE) (/\S+)` \| ([^|]+) \|", PAGE, re.MULTILINE)


def _with(path: str, name: str) -> str:
    """Put a name where the page writes one in capitals."""
    return re.sub(r"(?<=/)[A-Z]+\b", name, path)


def expected(who: str, role: Role | None, *, loopback: bool) -> int | None:
    """Say how a row of the page has somebody refused; None = let through."""
    who, _, here = who.partition(";")
    if role is None:
        return None if loopback and (who.strip() == "everybody" or "everybody" in here) else 401
    if who.strip() == "everybody" or (loopback and "everybody" in here) or f"`{role.value}`" in who:
        return None
    return 403


@pytest.mark.parametrize("at", ["127.0.0.1:0", "0.0.0.0:0"])
def test_every_path_lets_through_whom_the_page_says(tmp_path: Path, at: str) -> None:
    """Every row × every role and nobody, on this machine's listener and on one for strangers."""
    assert len(ROWS) > 8
    with served(tmp_path, ALPHA, at=at, tokens=True) as there:
        for method, path, who in ROWS:
            for role in (None, *Role):
                answer = ask(
                    there.at(path),
                    _with(path, "nobody"),
                    method=method,
                    token=None if role is None else there.tokens[role],
                    body={} if method in {"POST", "PUT"} else None,
                )
                refused = answer.status if answer.status in {401, 403} else None
                assert refused == expected(who, role, loopback=at.startswith("127")), (method, path, role)
                assert answer.status != 405, (method, path)


def test_the_page_names_every_path(there: Served) -> None:
    """What is served and what is written are the same; nothing is served at the other listener."""
    served_here = {
        (route.method, re.sub(r"{\w+}", "*", route.path))
        for rows in (routes.application_routes, routes.administrator_routes)
        for route in rows(**_parts_of(rows))
    }
    assert served_here == {(method, _with(path, "*")) for method, path, _ in ROWS}
    assert ask(there.administrators, EXCLUSIONS).status == 404
    assert ask(there.applications, "/api/v1/health").status == 404


def _parts_of(rows: Callable[..., Any]) -> dict[str, Any]:
    """Make what a table of rows is made of, as far as it takes to list them."""
    kinds = {name: kind for name, kind in get_type_hints(rows).items() if name != "return"}
    return {name: kind.__new__(kind) for name, kind in kinds.items()}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:7450", 200),
        ("127.0.0.1:80", 200),
        ("[::1]:7450", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example:7450", 421),
        ("localhost@evil.example", 421),
        ("", 421),
    ],
)
def test_a_page_whose_name_points_here_gets_nothing(there: Served, host: str, status: int) -> None:
    """The `Host` has to be ours on a listener that is known by this machine's names alone."""
    assert ask(there.applications, EXCLUSIONS, Host=host).status == status
    assert ask(there.administrators, "/api/v1/health", Host=host).status == status


def test_no_form_of_a_page_can_act(tmp_path: Path) -> None:
    """What a browser sends without asking first is refused, even with a token; nothing invites it."""
    with served(tmp_path, ALPHA, tokens=True) as there:
        admin = there.tokens[Role.ADMIN]
        body = {"name": "x", "role": "admin"}
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            refused = ask(
                there.administrators,
                "/api/v1/tokens",
                method="POST",
                token=admin,
                body=body,
                Content_Type=kind,
            )
            assert refused.status == 415
        preflight = ask(
            there.administrators, "/api/v1/tokens", method="OPTIONS", Origin="http://evil.example"
        )
        assert preflight.status == 405
        assert not [name for name in preflight.headers if name.startswith("access-control")]


def test_what_is_not_served_is_said(there: Served) -> None:
    """No such path, no such method, with those that there are."""
    assert ask(there.applications, "/v2").status == 404
    assert ask(there.applications, "/v1/exclusions/").status == 404
    wrong = ask(there.applications, "/v1/exclusions", method="DELETE")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, HEAD")
    assert ask(there.administrators, "/api/v1/tokens", method="PUT").headers["allow"] == "GET, HEAD, POST"


def test_tokens_are_made_and_ended_over_http(tmp_path: Path) -> None:
    """Shown once; heeded within about a second; the log says which token acted."""
    with served(tmp_path, ALPHA, at="0.0.0.0:0", tokens=True) as there:
        admin = there.tokens[Role.ADMIN]

        def on_tokens(path: str = "", **more: Any) -> Answered:
            return ask(there.administrators, f"/api/v1/tokens{path}", token=admin, **more)

        made = on_tokens(method="POST", body={"name": "shop", "role": "app", "expires": "90d"})
        assert (made.status, made.json["name"], made.json["state"]) == (201, "shop", "living")
        token = made.json["token"]
        until(lambda: ask(there.applications, EXCLUSIONS, token=token).status == 200)
        listed = on_tokens()
        assert [each["name"] for each in listed.json] == ["read", "app", "operator", "admin", "shop"]
        assert listed.json[-1]["actor"] == "token admin"
        assert token not in str(listed)
        assert on_tokens(method="POST", body={"name": "shop", "role": "app"}).status == 400
        assert on_tokens("/shop", method="DELETE").json == {"name": "shop", "revoked": True}
        assert on_tokens("/shop", method="DELETE").status == 404
        until(lambda: ask(there.applications, EXCLUSIONS, token=token).status == 401)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "body: not an object"),
        ({"name": "x"}, "role: missing"),
        ({"name": 7, "role": "app"}, "name: not a text"),
        ({"name": "x", "role": "root"}, "role: no such role (got 'root'); allowed: read, app"),
        ({"name": "../x", "role": "app"}, "name: not a name for a token"),
        ({"name": "x", "role": "app", "expires": "soon"}, "expires: not a duration (got 'soon')"),
        ({"name": "x", "role": "app", "expires": "0s"}, "expires: no time at all"),
        ({"name": "x", "role": "app", "token": "rc_mine"}, "token: unknown key"),
        ({"name": "x", "role": "app", "reason": " "}, "reason: empty or too long"),
    ],
)
def test_a_bad_body_changes_nothing(tmp_path: Path, body: Any, said: str) -> None:
    """400, with key, value and what is allowed."""
    with served(tmp_path, ALPHA, tokens=True) as there:
        admin = there.tokens[Role.ADMIN]
        refused = ask(there.administrators, "/api/v1/tokens", method="POST", token=admin, body=body)
        assert refused.status == 400
        assert refused.json["error"]["message"].startswith(said)
        assert len(ask(there.administrators, "/api/v1/tokens", token=admin).json) == len(Role)


# Whatever becomes of the rest


def test_status_is_what_the_command_prints(tmp_path: Path) -> None:
    """From the store, and from none where there is none yet, which is then not made."""
    with served(tmp_path, ALPHA, tokens=True) as there:
        status = ask(there.administrators, "/api/v1/status", token=there.tokens[Role.READ])
        assert set(status.json) == {"canary", "models"}


def test_a_store_that_is_held_stops_only_who_writes(tmp_path: Path) -> None:
    """Lists and tokens go on from memory; an act says that it could not be kept, and nothing of it is."""
    with served(tmp_path, ALPHA, at="0.0.0.0:0", tokens=True) as there:
        admin = there.tokens[Role.ADMIN]
        held = sqlite3.connect(there.settings.store_path, isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        assert ask(there.applications, EXCLUSIONS, token=there.tokens[Role.APP]).status == 200
        body = {"name": "shop", "role": "app"}
        refused = ask(there.administrators, "/api/v1/tokens", method="POST", token=admin, body=body)
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert "is locked by another process" in refused.json["error"]["message"]
        held.rollback()
        held.close()
        assert len(ask(there.administrators, "/api/v1/tokens", token=admin).json) == len(Role)


def test_strangers_are_not_listened_to_while_nobody_could_show_a_token(tmp_path: Path) -> None:
    """The refusal says what to do."""
    settings = some_settings(tmp_path, "0.0.0.0:0")
    with (
        pytest.raises(ConfigError, match=r"listen\.applications: .*routecanary token create NAME --role app"),
        served(tmp_path, ALPHA, at="0.0.0.0:0"),
    ):
        pass
    assert not Path(settings.store_path).exists()


def test_an_address_that_is_taken_is_an_error_of_the_configuration(there: Served, tmp_path: Path) -> None:
    """With its key; the other listener is closed again."""
    settings = some_settings(tmp_path, str(there.applications))
    with (
        pytest.raises(ConfigError, match=r"listen\.applications: cannot be listened at"),
        listening(settings, there.clock),
    ):
        pass
    assert ignored(there) == ["alpha"]
