"""Nothing secret comes out anywhere, whatever the gateway, a receiver or a mistake in a file does with it."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import ModelId
from routecanary.lab import listing
from tests.commandline import KEY, MODEL, Ran, a_scenario, called, environment
from tests.system.test_daemon import the_daemon, until

SECRETS = {
    "the key": KEY,
    "the webhook's secret": "whsec-7f3a9b1c5d2e8f60",
    "the webhook's path": "T0K3N-in-the-path",
    "the webhook's query": "qu3ry-t0k3n-value",
    "the ping's path": "p1ng-t0k3n-of-ours",
    "the password of an address": "hunter2-in-userinfo",
}

MORE = """
[notify]
webhooks.ops = {{ url = "{hook}/T0K3N-in-the-path?key=qu3ry-t0k3n-value", secret_env = "HOOK_SECRET" }}
webhooks.gone = {{ url = "http://127.0.0.1:9/T0K3N-in-the-path", secret_env = "HOOK_SECRET" }}
on_event = {command}
ping_url = "{hook}/p1ng-t0k3n-of-ours"
timeout = "2s"
"""

KEEPS_EVERYTHING = "import os, sys; open(sys.argv[1], 'a').write(repr(dict(os.environ)) + sys.stdin.read())"


def spellings(secret: str) -> set[bytes]:
    """List how a secret may stand in a file."""
    raw = secret.encode()
    encoded = base64.b64encode(raw)
    return {
        raw,
        raw[::-1],
        quote(secret, safe="").encode(),
        json.dumps(secret)[1:-1].encode(),
        encoded,
        raw.hex().encode(),
    }


def found_in(data: bytes) -> list[str]:
    return [what for what, secret in SECRETS.items() if any(form in data for form in spellings(secret))]


class Parrot(BaseHTTPRequestHandler):
    """A gateway, and a receiver, that repeats whatever it was told in secret, each route in its own way."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.endswith("/endpoints"):
            model = a_scenario().models[0]
            self._say(200, json.dumps(listing.endpoints(model, timedelta(), known_key=True)).encode())
        elif self.path.endswith("/key"):
            self._say(200, json.dumps({"data": {"label": KEY, "limit_remaining": 5.0}}).encode())
        else:
            self._say(500, f"no {self.path} for {self.headers}".encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        told = self.headers.get("Authorization", "")
        if not told:  # a message, which is refused with everything that came along
            self._say(500, f"{self.path} {self.headers} {body!r}".encode())
            return
        (route,) = json.loads(body)["provider"]["only"]
        error = {"code": 400, "message": f"bad header {told!r}", "metadata": {"raw": told, "headers": told}}
        match route:
            case "acme":
                self._say(400, json.dumps({"error": error}).encode())
            case "cindermoor":
                self._say(502, f"<html>{told} {self.headers}</html>".encode(), kind="text/html")
            case "plover":
                self._say(200, json.dumps({"error": error}).encode())
            case "north-host/fp8":
                self._stream(f"My key is {told}, and I repeat: {told}.", "North Host", {"X-Echo": told})
            case _:
                self._stream(f"](){told}", told, {})

    def _stream(self, text: str, provider: str, headers: dict[str, str]) -> None:
        frame = {
            "id": "gen-1",
            "model": MODEL,
            "provider": provider,
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}],
        }
        self._say(
            200,
            f"data: {json.dumps(frame)}\n\ndata: [DONE]\n\n".encode(),
            kind="text/event-stream",
            headers=headers,
        )

    def _say(
        self,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # whoever asked has gone
            super().handle()


@contextlib.contextmanager
def a_parrot() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(20)
        server.server_close()


def all_of(store: SqliteStore) -> Iterator[bytes]:
    """Yield everything that the store says, unpacked."""
    for stored in store.read():
        yield repr(stored).encode()
    for entry in store.find(ModelId(MODEL)):
        kept = store.get(entry.id)
        assert kept is not None
        yield repr(entry).encode()
        yield repr(kept.transcript).encode()
        yield b"".join(chunk.data for chunk in kept.transcript.chunks)


def test_no_secret_is_found_in_anything_that_a_full_run_leaves(tmp_path: Path) -> None:
    """Every command, the daemon with its log and messages, mistakes in the file: all files, all streams."""
    said: list[Ran] = []
    note = tmp_path / "told"
    command = json.dumps([sys.executable, "-c", KEEPS_EVERYTHING, str(note)])
    with a_parrot() as address:
        more = MORE.format(hook=address, command=command)
        secrets = {
            "HOOK_SECRET": SECRETS["the webhook's secret"],
            "ROUTECANARY_DEBUG": "1",
        }
        environ = environment(tmp_path, **secrets)
        with the_daemon(tmp_path, f"{address}/api/v1", "--json", more=more, **secrets) as process:
            config = tmp_path / "routecanary.toml"

            def call(*tokens: str) -> Ran:
                said.append(called(*tokens, "--config", config, environ=environ))
                return said[-1]

            until(lambda: (tmp_path / "log").read_text().count("round finished") > 1)
            for tokens in (
                ["check"],
                ["round", MODEL],
                ["round", MODEL, "--json"],
                ["mode", MODEL, "observe", "--reason", "x"],
                ["pause", MODEL, "--for", "1h", "--reason", "x"],
                ["exclude", "add", "plover", "--reason", "x", "--json"],
                ["status"],
                ["status", "--json"],
                ["routes", MODEL],
                ["routes", MODEL, "--json"],
                ["events", "--json"],
                ["incidents", "--json"],
                ["overdue"],
                ["store", "verify"],
            ):
                call(*tokens)
            with SqliteStore(tmp_path / "events.sqlite3") as store:
                newest = next(entry for entry in store.find(ModelId(MODEL), failed=True))
            call("transcript", newest.id)
            call("transcript", newest.id, "--json")
            good = config.read_text(encoding="utf-8")
            for bad in (
                good.replace(f"{address}/api/v1", "https://user:hunter2-in-userinfo@gateway.example/api/v1"),
                good.replace("?key=", "#").replace("http://", "ftp://"),
                good.replace('secret_env = "HOOK_SECRET"', 'secret = "whsec-7f3a9b1c5d2e8f60"'),
                good.replace("[gateway]", f'[gateway]\napi_key = "{KEY}"'),
                good.replace("[gateway]", f'[gateway]\napi_key_env = "{KEY}"'),
            ):
                config.write_text(bad, encoding="utf-8")
                assert call("check").code == 2
                process.send_signal(signal.SIGHUP)
            config.write_text(good, encoding="utf-8")
            until(lambda: "configuration refused" in (tmp_path / "log").read_text())
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate(timeout=20)
    assert note.exists(), "the command was told"
    config.unlink()  # it holds the addresses by right
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        kept = list(all_of(store))
        assert any(b"****" in each for each in kept), "what was repeated to us is overwritten"
        tallies = store.tally()
    assert {name: bool(tally.delivered) for name, tally in tallies.items()} == {
        "on_event": True,
        "webhooks.gone": False,
        "webhooks.ops": False,
    }
    for each in kept:
        assert not found_in(each), each
    assert not found_in(repr(tallies).encode())
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert not found_in(path.read_bytes()), path
    for ran in said:
        assert not found_in(ran.out.encode()), ran.out
        assert not found_in(ran.err.encode()), ran.err
    assert not found_in(out.encode())
    assert "exclusions" in out
