"""How do timed bytes get onto a socket?

Every oddity of a wire is real here: the pause before the headers, the bytes of one read, a connection that
is broken by a reset, or that stays open and silent.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Final

from aiohttp import web

from routecanary.lab.ledger import Ledger
from routecanary.lab.stream import EndingMode
from routecanary.lab.wire import EVENT_STREAM, Wire

TICK: Final = 0.008  # real s, the shortest sleep: what falls due meanwhile shares a write
HELD_TICK: Final = 0.05  # real s between two looks at whether the client has left
_NO_LINGER: Final = struct.pack("ii", 1, 0)


async def send(
    http: web.Request, wire: Wire, *, usual: Mapping[str, str], scale: float, ledger: Ledger
) -> web.StreamResponse:
    """Send a response; a client that leaves is counted and forgotten.

    Args:
        usual: Headers of every answer; the wire's own go before them.
        scale: How many seconds of the wire pass in one real second.
        ledger: It counts open streams, and those that the client left.
    """
    response = web.StreamResponse(status=wire.status, headers={**usual, **wire.headers})
    streams = wire.headers.get("Content-Type") == EVENT_STREAM
    if not streams and wire.ending is EndingMode.CLEAN:
        response.content_length = sum(len(piece.data) for piece in wire.pieces)
    if streams:
        ledger.opened()
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        if wire.headers_at is not None:
            await asyncio.sleep(max(0.0, wire.headers_at / scale - (clock() - began)))
            await response.prepare(http)
            await _write(response, wire, due_in=lambda at: at / scale - (clock() - began))
        await _leave(http, response, wire)
    except ConnectionError:
        ledger.abandoned += 1
    finally:
        if streams:
            ledger.closed()
    return response


async def _write(response: web.StreamResponse, wire: Wire, *, due_in: Callable[[float], float]) -> None:
    """Write pieces as they fall due; what is due at once is one write, unless all are to come apart."""
    due: list[bytes] = []
    for piece in wire.pieces:
        wait = due_in(piece.at)
        if due and (wait > 0 or wire.apart):
            await response.write(b"".join(due))
            due.clear()
        if wait > 0 or wire.apart:
            await asyncio.sleep(max(wait, TICK))
        due.append(piece.data)
    if due:
        await response.write(b"".join(due))


async def _leave(http: web.Request, response: web.StreamResponse, wire: Wire) -> None:
    match wire.ending:
        case EndingMode.HELD:
            while not _is_gone(http):  # noqa: ASYNC110 - aiohttp has no event for it
                await asyncio.sleep(HELD_TICK)
            raise ConnectionResetError
        case EndingMode.RESET:
            await asyncio.sleep(
                TICK
            )  # what was written leaves before the reset, which takes the rest with it
            _reset(http)
        case EndingMode.CLEAN if response.prepared:
            await response.write_eof()
        case EndingMode.CLEAN:
            if http.transport is not None:
                http.transport.close()


def _is_gone(http: web.Request) -> bool:
    return http.transport is None or http.transport.is_closing()


def _reset(http: web.Request) -> None:
    """Break the connection with a TCP reset instead of an orderly end."""
    transport = http.transport
    if transport is None:
        return
    handle = transport.get_extra_info("socket")
    if handle is not None:
        # event loops hide the option; a duplicate of the descriptor shares it with the connection
        with socket.socket(fileno=os.dup(handle.fileno())) as same:
            same.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()
