"""How long did one answer let its reader wait, as far as that can be said?"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Final, NamedTuple

from routecanary.domain.answer import Answer
from routecanary.domain.names import ContractName
from routecanary.domain.transcript import EndingKind
from routecanary.domain.verdict import Verdict

FOREIGN: Final = frozenset({"cached", "provider_mismatch", "model_mismatch", "altered"})
"""Reason codes of an answer that another host, a cache or the gateway had a hand in."""


class Waited(NamedTuple):
    """In whole milliseconds, rounded up; both None: this answer says nothing of its route's latency."""

    first_text_ms: int | None = None
    unseen_ms: int | None = None  # the stream was open, and no text came for so long


NOTHING_SAID: Final = Waited()


def waited(answer: Answer, verdicts: Mapping[ContractName, Verdict], *, lag_limit_ms: float) -> Waited:
    """Read the wait for the first text off an answer.

    Args:
        lag_limit_ms: Lateness of our own event loop from which the time is not the host's.
    """
    transcript = answer.transcript
    late = transcript.lag_ms > lag_limit_ms
    if late or transcript.status != 200 or any(said.code in FOREIGN for said in verdicts.values()):
        return NOTHING_SAID
    if answer.first_text_ms is not None:
        return Waited(first_text_ms=ceil(answer.first_text_ms))
    if transcript.ending.kind is EndingKind.CLIENT_TIMEOUT:
        return Waited(unseen_ms=ceil(transcript.ending.at_ms))
    return NOTHING_SAID
