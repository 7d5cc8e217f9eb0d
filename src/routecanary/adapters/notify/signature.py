"""How does a receiver know that a message is ours, and of now?

The signature is `v1=` and the HMAC-SHA256, in hexadecimal, of the timestamp, a full stop and the body as it
was sent, keyed with the shared secret in UTF-8. docs/notices.md shows how to verify it.
"""

from __future__ import annotations

import hmac
from typing import Final

from routecanary.domain.secret import Secret

VERSION: Final = "v1"


def signature(secret: Secret, timestamp: str, body: bytes) -> str:
    """Sign a body.

    Args:
        timestamp: Whole seconds since 1970, as the header has it.
    """
    signed = timestamp.encode("ascii") + b"." + body
    return f"{VERSION}={hmac.digest(secret.reveal().encode(), signed, 'sha256').hex()}"
