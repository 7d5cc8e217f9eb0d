"""The listener as the client's source: every trouble is counted, and the last good snapshot stays."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from routecanary.client import Canary, url
from tests.snapshots import MODEL, NOW, after, document, facts, runtime, suspended

ALPHA = json.dumps(document(facts(suspensions=suspended("alpha")))).encode()
Play = Callable[[socket.socket, bytes], None]


def answer(status: str, body: bytes = b"", *headers: str, length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


GOOD = answer("200 OK", ALPHA, 'ETag: "a"')


class Script:
    """A listener that answers the n-th request with the n-th answer, and the last one ever after."""

    def __init__(self, *answers: bytes | Play) -> None:
        self._answers = answers
        self.asked: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for each in self._open:
            each.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self._open.append(connection)
                threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            while True:
                request = b""
                while not request.endswith(b"\r\n\r\n"):
                    piece = connection.recv(4096)
                    if not piece:
                        return
                    request += piece
                play = self._answers[min(len(self.asked), len(self._answers) - 1)]
                self.asked.append(request)
                if isinstance(play, bytes):
                    connection.sendall(play)
                else:
                    play(connection, request)
                    return


@contextlib.contextmanager
def script(*answers: bytes | Play) -> Iterator[Script]:
    found = Script(*answers)
    try:
        yield found
    finally:
        found.close()


def a_canary(place: str, **more: Any) -> Canary:
    return Canary(place, clock=NOW.timestamp, **{"thread": False, **more})


def until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.01)


def ignored(canary: Canary) -> Any:
    return canary.provider_preferences(MODEL).get("ignore")


def counted(canary: Canary) -> dict[str, int]:
    return {name: count for name, count in canary.status()["counters"].items() if count}


def drip(connection: socket.socket, data: bytes) -> None:
    """Send so slowly that no single read ever waits long."""
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def test_a_snapshot_is_taken_from_an_address() -> None:
    """Asked once at the start; asked again, what did not change is not sent again."""
    with script(GOOD, answer("304 Not Modified", b"", 'ETag: "a"')) as there, a_canary(there.url) as canary:
        assert ignored(canary) == ["alpha"]
        assert canary.status()["path"] == there.url
        assert canary.status()["ok"]
        assert not canary.refresh()
        assert there.asked[0].startswith(b"GET /v1/snapshot HTTP/1.1\r\n")
        assert b"If-None-Match" not in there.asked[0]
        assert b'If-None-Match: "a"\r\n' in there.asked[1]
        assert counted(canary) == {}


def test_a_listener_that_keeps_no_connection_is_read_all_the_same() -> None:
    """Whether it says so or speaks HTTP/1.0: the answer is read to its end before the connection goes."""
    closing = answer("200 OK", ALPHA, "Connection: close")
    old = closing.replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"Connection: close\r\n", b"")
    for said in (closing, old):
        with script(said) as there, a_canary(there.url) as canary:
            assert ignored(canary) == ["alpha"]
            assert counted(canary) == {}


def test_the_token_is_shown_and_nowhere_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As given, or by the environment; not in the status, whatever goes wrong."""
    with script(answer("401 Unauthorized")) as there:
        with a_canary(there.url, token="rc_mine") as canary:
            assert b"Authorization: Bearer rc_mine\r\n" in there.asked[0]
            assert "rc_mine" not in str(canary.status())
        monkeypatch.setenv("ROUTECANARY_TOKEN", "rc_other")
        monkeypatch.setenv("ROUTECANARY_SNAPSHOT", there.url + "/base/")
        with Canary(thread=False) as canary:
            assert there.asked[1].startswith(b"GET /base/v1/snapshot HTTP/1.1\r\n")
            assert b"Authorization: Bearer rc_other\r\n" in there.asked[1]


@pytest.mark.parametrize(
    ("trouble", "counter"),
    [
        (answer("500 Internal Server Error", b"no snapshot"), "unreadable"),
        (answer("401 Unauthorized"), "unreadable"),
        (answer("302 Found", b"", "Location: http://127.0.0.1:9/v1/snapshot"), "unreadable"),
        (answer("503 Service Unavailable", b'{"error": {"message": "no snapshot yet"}}'), "missing_file"),
        (answer("200 OK", b"rubbish"), "malformed"),
        (answer("200 OK", b""), "malformed"),
        (answer("200 OK", ALPHA[:-9], length=len(ALPHA)), "malformed"),
        (answer("200 OK", b'{"format": "routecanary-snapshot", "version": 2}'), "future_version"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{", "malformed"),
        (b"what?\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "malformed"),
        (b"", "unreadable"),
    ],
)
def test_trouble_is_counted_and_the_last_snapshot_stays(trouble: bytes, counter: str) -> None:
    """Cut answers, other statuses, redirects, rubbish; and it is over with the next good answer."""

    def troubled(connection: socket.socket, _: bytes) -> None:
        connection.sendall(trouble)

    with script(GOOD, troubled, GOOD) as there, a_canary(there.url) as canary:
        assert not canary.refresh()
        assert counted(canary) == {counter: 1}
        assert (canary.status()["fault"], canary.status()["ok"]) == (counter, False)
        assert ignored(canary) == ["alpha"]
        assert canary.refresh()
        assert canary.status()["ok"]


def test_ends_come_on_time_while_nobody_answers() -> None:
    """A suspension at its end, and the whole canary layer when the snapshot is too old."""
    soon = document(
        facts(suspensions=(*suspended("alpha", until=after(hours=1)), *suspended("beta"))),
        runtime=[runtime("other")],
    )
    now = [NOW.timestamp()]
    with script(answer("200 OK", json.dumps(soon).encode(), 'ETag: "a"'), answer("500 x")) as there:
        canary = Canary(there.url, clock=lambda: now[0], thread=False)
    for at, expected in (
        (NOW, ["alpha", "beta", "other"]),
        (after(hours=1), ["beta", "other"]),
        (after(hours=6, seconds=1), ["other"]),
    ):
        now[0] = at.timestamp()
        canary.refresh()
        assert ignored(canary) == expected
    assert canary.status()["stale"]


def test_where_nobody_listens_nothing_is_merged() -> None:
    """The application starts all the same, and goes on without."""
    with script(GOOD) as there:
        pass
    with a_canary(there.url) as canary:
        assert ignored(canary) is None
        assert counted(canary) == {"no_snapshot": 1, "unreadable": 1}


def test_an_answer_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its head and in its body, though a byte comes now and then."""
    monkeypatch.setattr(url, "CONNECT", 0.3)
    monkeypatch.setattr(url, "BODY", 0.3)
    head = GOOD.index(b"\r\n\r\n") + 4

    def in_the_head(connection: socket.socket, _: bytes) -> None:
        drip(connection, GOOD)

    def in_the_body(connection: socket.socket, _: bytes) -> None:
        connection.sendall(GOOD[:head])
        drip(connection, GOOD[head:])

    with script(GOOD, in_the_head, in_the_body, GOOD) as there, a_canary(there.url) as canary:
        assert not canary.refresh()
        assert not canary.refresh()
        assert counted(canary) == {"unreadable": 2}
        assert "TimeoutError" in canary.status()["problem"]
        assert canary.refresh()


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the size that a snapshot file may have."""
    monkeypatch.setattr(url, "MAX_BYTES", 100_000)
    with script(GOOD, answer("200 OK", b" " * 200_000)) as there, a_canary(there.url) as canary:
        assert not canary.refresh()
        assert counted(canary) == {"malformed": 1}
        assert "too large" in canary.status()["problem"]


def test_the_thread_waits_at_the_listener_and_closing_ends_that() -> None:
    """A question that waits for its answer holds up neither calls nor the end."""
    waiting = threading.Event()

    def hold(connection: socket.socket, _: bytes) -> None:
        waiting.set()
        connection.recv(1)

    with script(GOOD, hold) as there:
        canary = a_canary(there.url, thread=True, interval=0.01)
        assert waiting.wait(20)
        assert there.asked[1].startswith(b"GET /v1/snapshot?wait=25 HTTP/1.1\r\n")
        assert b'If-None-Match: "a"' in there.asked[1]
        assert ignored(canary) == ["alpha"]
        canary.close()
        assert not canary.status()["watching"]


def test_the_thread_takes_what_it_waited_for() -> None:
    """By the same connection; when that is gone, by another."""
    beta = document(facts(suspensions=suspended("beta")), written_at=after(seconds=1))

    def later(connection: socket.socket, _: bytes) -> None:
        connection.sendall(answer("200 OK", json.dumps(beta).encode(), 'ETag: "b"'))

    def hold(connection: socket.socket, _: bytes) -> None:
        connection.recv(1)

    with (
        script(GOOD, answer("304 Not Modified", b"", 'ETag: "a"'), later, hold) as there,
        a_canary(there.url, thread=True, interval=0.01) as canary,
    ):
        until(lambda: ignored(canary) == ["beta"])
        until(lambda: len(there.asked) >= 4)


def test_a_canary_that_is_let_go_ends_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the answer that it waits for."""
    go_on = threading.Event()

    def hold(connection: socket.socket, _: bytes) -> None:
        go_on.wait(20)
        connection.sendall(answer("304 Not Modified", b"", 'ETag: "a"'))

    with script(GOOD, hold) as there:
        canary = a_canary(there.url, thread=True, interval=0.01)
        until(lambda: len(there.asked) == 2)
        thread = canary._watch._thread
        assert thread is not None
        del canary
        go_on.set()
        thread.join(20)
        assert not thread.is_alive()


def test_tries_come_ever_later_and_never_all_at_once() -> None:
    """Half a second doubled, with a random part, up to ten; at once again after a success."""
    source = url.SnapshotUrl("http://127.0.0.1:9")
    pauses = [source.pause(0.5, failed=True) for _ in range(30)]
    assert 0.5 <= pauses[0] <= 1.0
    assert all(5 <= pause <= 10 for pause in pauses[5:])
    assert len(set(pauses)) == 30
    assert source.pause(0.5, failed=False) <= 0.5
    assert source.pause(0.5, failed=True) <= 1.0


@pytest.mark.parametrize(
    "place",
    [
        "http://",
        "http:///v1",
        "http://u:hunter2@h/",
        "http://h/?q=hunter2",
        "http://h/#hunter2",
        "http://h:x/",
    ],
)
def test_what_is_no_address_is_refused_without_being_shown(place: str) -> None:
    """At once, for it is a mistake of the application's."""
    with pytest.raises(ValueError) as caught:
        Canary(place, thread=False)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("token", ["rc_x\r\nX: y", "é", "x" * 2_000])
def test_what_is_no_token_is_refused_without_being_shown(token: str) -> None:
    """It could not stand in a header."""
    with pytest.raises(ValueError) as caught:
        Canary("http://127.0.0.1:9", token=token, thread=False)
    assert token not in str(caught.value)
