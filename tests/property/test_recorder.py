"""However a stream is cut into reads, its recording says the same."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from routecanary.domain.transcript import EndingKind
from tests.unit.probe.test_recorder import DONE, KEEP_ALIVE, START, an_open_one, event

STREAM = KEEP_ALIVE + event("") + b"data: {}\r\n\r\n" + event("ค") + event("Rain.") + DONE
FIRST_TEXT_ENDS = STREAM.index(event("ค")) + len(event("ค"))


@given(cuts=st.lists(st.integers(min_value=1, max_value=len(STREAM) - 1), max_size=30))
def test_the_first_text_comes_with_the_read_that_completes_it(cuts: list[int]) -> None:
    """However the stream is cut: all bytes are kept, and the window ends with the right read."""
    recorder = an_open_one()
    borders = [0, *sorted(set(cuts)), len(STREAM)]
    for number, (begin, end) in enumerate(pairwise(borders)):
        recorder.feed(START + 3 + number, STREAM[begin:end])
    completes = next(number for number, end in enumerate(borders[1:]) if end >= FIRST_TEXT_ENDS)
    assert recorder.waiting_window() == (START + 1, START + 3 + completes)
    recorder.ended(START + 99, EndingKind.EOF)
    assert b"".join(chunk.data for chunk in recorder.transcript().chunks) == STREAM
