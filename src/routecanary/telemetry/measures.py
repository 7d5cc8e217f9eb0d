"""What can be wrong with an answer, as far as telemetry shows?

Each measure is yes, no, or not told: what a record does not say is no evidence either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from routecanary.domain.generation import Generation


class Measure(StrEnum):
    """One way in which an answer may have been bad."""

    LATE = "late"  # its first text came later than the latency contract allows
    EMPTY = "empty"  # completed without visible text
    FILTERED = "filtered"  # ended by a content filter
    FAILED = "failed"  # an error, of the provider or on the way
    UNFINISHED = "unfinished"  # it began, and no ending came


_FILTERED: Final = "content_filter"
_ERROR: Final = "error"
_TOO_MANY: Final = 429  # HTTP; the other 4xx are the asker's doing and say nothing of the route
_SERVER: Final = 500


def measured(generation: Generation, *, late_ms: float) -> Mapping[Measure, bool]:
    """Judge one generation by whatever it tells; a measure that it does not tell is left out.

    Args:
        late_ms: Text within it is in time.
    """
    return dict(_told(generation, late_ms))


def _told(generation: Generation, late_ms: float) -> Iterator[tuple[Measure, bool]]:
    status, ending, ttft = generation.status, generation.finish_reason, generation.ttft_ms
    if status is not None and 400 <= status < _SERVER and status != _TOO_MANY:
        return
    failed = ending == _ERROR or (status is not None and status >= 400)
    if status is not None or ending is not None:
        yield Measure.FAILED, failed
    if ttft is not None:
        yield Measure.LATE, ttft > late_ms
    if failed:
        return
    if ending is not None:
        yield Measure.FILTERED, ending == _FILTERED
    if generation.empty is not None:
        yield Measure.EMPTY, generation.empty and ending != _FILTERED
    if ending is not None or (status is not None and ttft is not None):
        yield Measure.UNFINISHED, ending is None
