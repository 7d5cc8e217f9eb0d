"""What did the host send, before its content encoding?"""

from __future__ import annotations

import zlib
from typing import Final

from routecanary.domain.transcript import Transcript

_MAX_INFLATED: Final = 33_554_432  # bytes after decompression


def inflated(transcript: Transcript) -> tuple[list[tuple[float, bytes]], bool]:
    """Undo the content encoding, read by read; False when it does not decode."""
    encoding = (transcript.header("content-encoding") or "identity").strip().lower()
    chunks = [(chunk.at_ms, chunk.data) for chunk in transcript.chunks]
    first = next((data for _, data in chunks if data), b"")
    zipped = first[:2] == b"\x1f\x8b"
    if encoding in ("", "identity"):
        return chunks, not zipped
    if encoding in ("gzip", "x-gzip"):
        if not zipped:  # the client has decoded it already
            return chunks, True
        inflater = zlib.decompressobj(wbits=31)
    elif encoding == "deflate":
        if first[:1] in b"{<:d":
            return chunks, True
        inflater = zlib.decompressobj()
    else:
        return chunks, first[:1] in (b"{", b"<", b":", b"d", b"")
    plain: list[tuple[float, bytes]] = []
    size = 0
    try:
        for at_ms, data in chunks:
            piece = inflater.decompress(data, _MAX_INFLATED - size)
            size += len(piece)
            plain.append((at_ms, piece))
            if size >= _MAX_INFLATED:
                return plain, False
    except zlib.error:
        return plain, False
    return plain, inflater.eof
