"""Has a host seen how a prompt begins?

Hosts keep the prefill of prompts that they have seen; a fault of the prefill then shows only on others.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Final

PREFIX: Final = 256  # characters
KEPT: Final = 256  # beginnings of one host, the latest


class Prefixes:
    """What each host has in its cache."""

    def __init__(self) -> None:
        self._seen: defaultdict[tuple[str, str], OrderedDict[str, None]] = defaultdict(OrderedDict)

    def meet(self, host: tuple[str, str], prompt: str) -> bool:
        """Say whether a prompt begins as none did before, as far as the host remembers; it does from now on.

        Args:
            host: Model and tag.
        """
        seen, start = self._seen[host], prompt[:PREFIX]
        cold = start not in seen
        seen[start] = None
        seen.move_to_end(start)
        if len(seen) > KEPT:
            seen.popitem(last=False)
        return cold
