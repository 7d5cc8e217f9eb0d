"""What one answer says of its route's latency."""

from __future__ import annotations

import pytest

from routecanary.domain.answer import read_answer
from routecanary.domain.names import INTEGRITY
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.study.waiting import FOREIGN, Waited, waited

TEXT = b'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n'
TIMEOUT = EndingKind.CLIENT_TIMEOUT


def said(code: str | None = None) -> dict:
    return {INTEGRITY: Verdict(contract=INTEGRITY, kind=VerdictKind.INCONCLUSIVE, code=code)}


@pytest.mark.parametrize(
    ("status", "text_ms", "ending", "lag_ms", "expected"),
    [
        (200, 412.3, EndingKind.EOF, 0.0, Waited(first_text_ms=413)),
        (200, 412.3, EndingKind.RESET, 0.0, Waited(first_text_ms=413)),
        (200, 412.3, EndingKind.EOF, 250.0, Waited(first_text_ms=413)),
        (200, 412.3, EndingKind.EOF, 250.1, Waited()),  # our own lateness
        (200, None, TIMEOUT, 0.0, Waited(unseen_ms=30_000)),
        (200, None, EndingKind.EOF, 0.0, Waited()),  # an empty answer has no first text
        (200, None, EndingKind.RESET, 0.0, Waited()),
        (429, None, TIMEOUT, 0.0, Waited()),
        (None, None, TIMEOUT, 0.0, Waited()),
    ],
)
def test_a_wait_is_seen_censored_or_nothing(
    status: int | None, text_ms: float | None, ending: EndingKind, lag_ms: float, expected: Waited
) -> None:
    """Only an open stream in which we waited in vain is censored."""
    transcript = Transcript(
        model=None,
        route=None,
        kind=ProbeKind.ANY,
        locale=None,
        request={},
        status=status,
        headers=(),
        chunks=() if text_ms is None else (Chunk(text_ms, TEXT),),
        ending=Ending(kind=ending, at_ms=30_000.0),
        lag_ms=lag_ms,
    )
    answer = read_answer(transcript)
    assert waited(answer, said(), lag_limit_ms=250.0) == expected
    for code in FOREIGN:
        assert waited(answer, said(code), lag_limit_ms=250.0) == Waited(), code
