"""A gateway that always answers well and on time: the other end of `benchmarks/round.py`.

Each answer lasts exactly one second: headers at once, twenty content chunks 50 ms apart (the first at 50 ms),
the usage chunk and `[DONE]` with the last. It runs in a process of its own and prints its port. Each stream
keeps to its own schedule, so lateness does not add up.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Final, cast

import uvloop

CHUNKS: Final = 20  # one a sentence
STEP: Final = 0.05  # seconds between chunks, and before the first
ROUTES: Final = 500

HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Generation-Id: gen-bench\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
SENTENCES: Final = (
    "*Mara lifts the lantern and listens.* ",
    "The rain drums on the tin roof of the harbour office, and nobody has come up the road since noon. ",
    '"You could have sent word," she says, without turning around. ',
    "Edwin sets the wet bundle on the table and unties it with stiff fingers. ",
    '"The wire was down before the bridge was," he answers. ',
    "Between them the flame leans over and stands up again. ",
    "She counts the lamps along the quay; there should be eleven, and she counts nine. ",
    "Somewhere below a door bangs, and a dog gives up barking. ",
    '"Whoever put those two out knew which ones we watch." ',
    "He nods, slowly, as if the thought had walked beside him all the way. ",
    "The ledger lies open where the clerk left it, the last line half written. ",
    '"Then read me the names," Mara says, "and leave out none of them." ',
    "Edwin draws the lantern closer and runs a thumb down the column. ",
    "Each name comes out quieter than the one before it. ",
    "At the ninth he stops, and looks at her over the glass. ",
    '"This one you know," he says. ',
    "She does not answer; she is already reaching for her coat. ",
    "The wind takes the door out of her hand and flings it wide. ",
    "Out on the water a single light answers theirs, twice, and goes dark. ",
    "*She steps into the rain and does not look back.*",
)


def event(delta: dict[str, str], **more: object) -> bytes:
    frame = {
        "id": "gen-bench",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": "bench/chat-1",
        "provider": "Bench Host",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None, "native_finish_reason": None}],
        **more,
    }
    return b"data: " + json.dumps(frame).encode() + b"\n\n"


def http_chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


CONTENTS: Final = tuple(http_chunk(event({"content": sentence})) for sentence in SENTENCES)
LAST: Final = (
    http_chunk(
        event({"content": SENTENCES[-1]})
        + event(
            {"content": ""},
            choices=[{"index": 0, "delta": {}, "finish_reason": "stop", "native_finish_reason": "eos"}],
        )
        + event({}, choices=[], usage={"prompt_tokens": 120, "completion_tokens": 260, "total_tokens": 380})
        + b"data: [DONE]\n\n"
    )
    + b"0\r\n\r\n"
)


def listing() -> bytes:
    parameters = ["max_tokens", "temperature", "response_format", "structured_outputs", "reasoning"]
    rows = [
        {"tag": f"host-{n:03}/fp8", "provider_name": "Bench Host", "supported_parameters": parameters}
        for n in range(ROUTES)
    ]
    body = json.dumps({"data": {"id": "bench/chat-1", "endpoints": rows}}).encode()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )


LISTING: Final = listing()


class Host(asyncio.Protocol):
    """One connection; requests come one after another."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._buffer = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by class

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line[15:])
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        if head.startswith(b"GET"):
            self._transport.write(LISTING)
            return
        self._transport.write(HEAD)
        self._began, self._sent = self._loop.time(), 0
        self._schedule()

    def _schedule(self) -> None:
        self._timer = self._loop.call_at(self._began + STEP * (self._sent + 1), self._send)

    def _send(self) -> None:
        self._sent += 1
        if self._sent == CHUNKS:
            self._transport.write(LAST)
        else:
            self._transport.write(CONTENTS[self._sent - 1])
            self._schedule()


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Host(loop), "127.0.0.1", 0, backlog=4_096)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)  # until the parent goes
    server.close()


if __name__ == "__main__":
    uvloop.run(main())
