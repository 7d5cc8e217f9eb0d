"""The channels over real sockets and real processes: what is sent, and what becomes of every refusal."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from routecanary.adapters.notify.command import Command
from routecanary.adapters.notify.ping import Ping
from routecanary.adapters.notify.webhook import Webhook
from routecanary.clock import ScaledClock
from routecanary.domain.outbox import Delivery
from routecanary.domain.secret import Secret
from routecanary.errors import DeliveryError
from tests.receivers import (
    SECRET,
    Answer,
    Receiver,
    babble,
    close,
    drip,
    endless,
    expected_signature,
    hang,
    receiver,
    status,
)

NOON = datetime(2026, 3, 1, 12, 0, 0, 750_000, tzinfo=UTC)
CLOCK = ScaledClock(start=NOON, rate=1.0)
DELIVERY = Delivery(
    number=1, message="m1", channel="webhook ops", at=NOON, body='{"text":"\\u00e9"}', attempt=1
)
TLS = Path(__file__).parent / "tls"
SHORT = timedelta(milliseconds=150)
LONG = timedelta(seconds=20)


def a_webhook(url: str, within: timedelta = LONG) -> Webhook:
    return Webhook("webhook ops", Secret(url), Secret(SECRET), clock=CLOCK, timeout=within)


def test_a_message_arrives_signed() -> None:
    """Body, type, timestamp, key and signature are what docs/notices.md says, and nothing else is told."""

    async def go() -> Receiver:
        async with receiver(status(204)) as hook:
            await a_webhook(hook.url).deliver(DELIVERY)
            await a_webhook(hook.url).deliver(DELIVERY)
            return hook

    hook = asyncio.run(go())
    first, again = hook.received
    assert first.line == "POST /hook/T0K3N?key=Qu3ryT0K3N HTTP/1.1"
    assert first.body == b'{"text":"\\u00e9"}'
    assert first.headers["content-type"] == "application/json"
    assert first.headers["routecanary-timestamp"] == str(int(NOON.timestamp()))
    assert first.headers["routecanary-signature"] == expected_signature(
        SECRET, first.headers["routecanary-timestamp"], first.body
    )
    assert first.headers["idempotency-key"] == again.headers["idempotency-key"] == DELIVERY.idempotency_key
    assert SECRET not in str(first)


@pytest.mark.parametrize(
    ("answer", "within", "words"),
    [
        (status(500), LONG, "answered 500"),
        (status(404, "Not Found"), LONG, "answered 404"),
        (status(302, Location="http://127.0.0.1:1/elsewhere"), LONG, "answered 302: redirects are not"),
        (status(307, Location="/again"), LONG, "answered 307: redirects are not followed"),
        (hang, SHORT, "no answer in time"),
        (drip, SHORT, "no answer in time"),
        (close, LONG, "closed without an answer"),
        (babble, LONG, "no usable answer"),
    ],
    ids=["500", "404", "302", "307", "hang", "drip", "close", "babble"],
)
def test_a_refusal_is_said_without_the_address(answer: Answer, within: timedelta, words: str) -> None:
    """Whatever a receiver does instead of taking the message, it is one short reason and one request."""

    async def go() -> tuple[str, Receiver]:
        async with receiver(answer) as hook:
            with pytest.raises(DeliveryError) as caught:
                await a_webhook(hook.url, within).deliver(DELIVERY)
            return repr(caught.value) + str(caught.value.__cause__), hook

    said, hook = asyncio.run(go())
    assert words in said
    assert "T0K3N" not in said
    assert "127.0.0.1" not in said
    assert len(hook.received) == 1


def test_an_answer_without_end_is_an_answer() -> None:
    """The status says it all: the body is not waited for."""

    async def go() -> None:
        async with receiver(endless) as hook:
            await a_webhook(hook.url).deliver(DELIVERY)

    asyncio.run(go())


def test_nobody_listening_is_said() -> None:
    """A port that is closed is no connection."""

    async def go() -> None:
        async with receiver(status(200)) as hook:
            url = hook.url
        with pytest.raises(DeliveryError, match=r"^no connection: Connection refused$") as caught:
            await a_webhook(url).deliver(DELIVERY)
        assert "T0K3N" not in str(caught.value)

    asyncio.run(go())


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    """No message goes to whoever happens to answer."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(TLS / "localhost.crt", TLS / "localhost.key")

    async def go() -> Receiver:
        async with receiver(status(200), tls=tls) as hook:
            with pytest.raises(DeliveryError, match="its certificate is not trusted"):
                await a_webhook(hook.url).deliver(DELIVERY)
            return hook

    assert asyncio.run(go()).received == []


def test_a_channel_shows_no_secret() -> None:
    """Not even to a debugger's `repr`."""
    shown = repr(vars(a_webhook("https://h.example/T0K3N"))) + repr(
        vars(Ping(Secret("https://h/T0K3N"), timeout=LONG))
    )
    assert "T0K3N" not in shown
    assert SECRET not in shown


def test_a_ping_is_a_plain_get() -> None:
    """It says no more than that somebody lives."""

    async def go() -> Receiver:
        async with receiver(status(200)) as hook:
            await Ping(Secret(hook.url), timeout=LONG).beat()
            hook.answer = status(503)
            with pytest.raises(DeliveryError, match="answered 503"):
                await Ping(Secret(hook.url), timeout=LONG).beat()
            return hook

    hook = asyncio.run(go())
    assert [each.line for each in hook.received] == ["GET /hook/T0K3N?key=Qu3ryT0K3N HTTP/1.1"] * 2
    assert hook.received[0].body == b""


def a_command(
    *argv: str, within: timedelta = LONG, environ: dict[str, str] | None = None, hidden: tuple[str, ...] = ()
) -> Command:
    return Command("on_event", argv, timeout=within, environ=environ or {}, hidden=hidden)


def python(script: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script, *arguments)


NOTE = """
import json, os, sys
with open(sys.argv[1], "w") as note:
    json.dump({"body": json.load(sys.stdin), "argv": sys.argv[2:], "environ": dict(os.environ)}, note)
print("x" * 1_000_000)
print("x" * 1_000_000, file=sys.stderr)
"""


def test_a_command_reads_the_message(tmp_path: Path) -> None:
    """It gets its arguments as they are, no shell, a bare environment; what it prints is dropped."""
    note = tmp_path / "note"
    environ = {
        "PATH": "/usr/bin",
        "HOME": "/nowhere",
        "LANG": "C.UTF-8",
        "TZ": "sk-or-v1-hidden",
        "OPENROUTER_API_KEY": "sk-or-v1-1",
        "LD_PRELOAD": "x",
    }
    asyncio.run(
        a_command(
            *python(NOTE, str(note), "$(touch x)", "; exit 1"), environ=environ, hidden=("TZ",)
        ).deliver(DELIVERY)
    )
    told = json.loads(note.read_text())
    assert told["body"] == {"text": "é"}
    assert told["argv"] == ["$(touch x)", "; exit 1"]
    told["environ"].pop("LC_CTYPE", None)  # the interpreter's own
    assert told["environ"] == {
        "PATH": "/usr/bin",
        "HOME": "/nowhere",
        "LANG": "C.UTF-8",
        "ROUTECANARY_IDEMPOTENCY_KEY": DELIVERY.idempotency_key,
    }


def test_a_command_need_not_read(tmp_path: Path) -> None:
    """A message longer than a pipe holds, to a command that ignores it, is delivered all the same."""
    big = Delivery(number=1, message="m", channel="c", at=NOON, body=json.dumps("x" * 1_000_000), attempt=1)
    asyncio.run(a_command("true", environ={"PATH": "/usr/bin:/bin"}).deliver(big))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (python("raise SystemExit(3)"), "ended with 3"),
        (python("import os; os.kill(os.getpid(), 9)"), "ended by signal 9"),
        (("/no/such/program",), "cannot be started: No such file or directory"),
        (("no-such-program-anywhere",), "cannot be started: No such file or directory"),
        (("/etc/passwd",), "cannot be started: Permission denied"),
        (("/",), "cannot be started: Permission denied"),
    ],
)
def test_a_command_that_fails_is_said(argv: tuple[str, ...], words: str) -> None:
    """The reason names neither the program nor its arguments, which may hold a secret."""
    with pytest.raises(DeliveryError) as caught:
        asyncio.run(a_command(*argv).deliver(DELIVERY))
    assert str(caught.value) == words


CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open(sys.argv[1], "w") as note:
    note.write(str(child.pid))
time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def until(condition: Callable[[], bool], otherwise: str) -> None:
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(otherwise)


def test_a_command_that_hangs_ends_with_its_children(tmp_path: Path) -> None:
    """When its time is up, nothing that it started stays behind."""
    note = tmp_path / "note"

    async def go() -> None:
        with pytest.raises(DeliveryError, match="did not end in time"):
            await a_command(*python(CHILD, str(note)), within=timedelta(seconds=1)).deliver(DELIVERY)
        await until(lambda: not is_alive(int(note.read_text())), "the child goes on")

    asyncio.run(go())


def test_a_cancelled_delivery_leaves_no_command_behind(tmp_path: Path) -> None:
    """A daemon that stops takes its commands with it."""
    note = tmp_path / "note"

    async def go() -> None:
        delivering = asyncio.create_task(a_command(*python(CHILD, str(note))).deliver(DELIVERY))
        await until(lambda: note.exists() and bool(note.read_text()), "no child began")
        delivering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await delivering
        await until(lambda: not is_alive(int(note.read_text())), "the child goes on")

    asyncio.run(go())
