"""What did a sender compress?"""

from __future__ import annotations

import zlib
from typing import Final

from routecanary.errors import TelemetryError

_GZIP: Final = 31  # zlib's word for a gzip header and trailer


def inflated(body: bytes, encoding: str | None, *, limit: int) -> bytes:
    """Undo the content encoding of a body, which never grows beyond `limit` bytes.

    Raises:
        TelemetryError: The encoding is none that is taken, the body is not encoded so, or it is too long.
    """
    match (encoding or "identity").strip().lower():
        case "identity" | "":
            plain = body
        case "gzip" | "x-gzip":
            plain = _gunzipped(body, limit)
        case other:
            raise TelemetryError("unknown content encoding", value=other, allowed="gzip, identity")
    if len(plain) > limit:
        raise TelemetryError("the body is too long", allowed=f"{limit} bytes before compression")
    return plain


def _gunzipped(body: bytes, limit: int) -> bytes:
    inflater = zlib.decompressobj(wbits=_GZIP)
    try:
        plain = inflater.decompress(body, limit + 1)
    except zlib.error:
        raise TelemetryError("the body is not what its content encoding says", allowed="gzip") from None
    if len(plain) <= limit and (not inflater.eof or inflater.unused_data):
        raise TelemetryError("the body is not one whole gzip member", allowed="gzip")
    return plain
