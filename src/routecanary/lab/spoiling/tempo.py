"""How does an answer come too late, or stop coming?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import LATENCY
from routecanary.lab.fault import TRIAGE, Amount, Blow, Fault
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.spoiling.places import cut_within_text, text_places
from routecanary.lab.stream import COMMENT_EVERY, KEEP_ALIVE, EndingMode, Frame, Stream

_KEPT_ALIVE: Final = 200  # comments, ten minutes of them: no client waits so long


def delay_first_text(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    late = blow.amount("delay_seconds") * (1 + blow.rng.random() * blow.amount("spread"))
    if late <= planned.first_text:
        return planned
    longer = planned.answer_seconds
    moved = None if longer is None else longer - planned.first_text + late
    return replace(planned, first_text=late, answer_seconds=moved)


def delay_headers(stream: Stream, blow: Blow) -> Stream:
    """Send nothing at all at first, not even the status."""
    late = blow.amount("delay_seconds") * (1 + blow.rng.random() * blow.amount("spread"))
    if not late:
        return stream
    frames = tuple(frame._replace(at=frame.at + late) for frame in stream.frames)
    return replace(stream, frames=frames, headers_at=late)


def keep_alive_only(stream: Stream, _: Blow) -> Stream:
    """Open the stream, and send comments for ever."""
    if not text_places(stream):
        return stream
    comments = tuple(Frame(COMMENT_EVERY * number, comment=KEEP_ALIVE) for number in range(_KEPT_ALIVE))
    return replace(stream, frames=comments, ending=EndingMode.HELD)


def stall(stream: Stream, blow: Blow) -> Stream:
    """Stop within the text, and leave the connection open."""
    cut = cut_within_text(stream, blow.amount("after"))
    return cut if cut is stream else replace(cut, ending=EndingMode.HELD)


TEMPO: Final = (
    Fault(
        name="slow_first_text",
        version=1,
        seen_by=(LATENCY,),
        gives=("fail:latency",),
        does="Opens the stream at once and sends the first visible text late.",
        on_answer=delay_first_text,
        parameters={
            "delay_seconds": Amount(default=13.0, low=0.0, high=600.0),
            "spread": Amount(default=0.2, low=0.0, high=5.0),
        },
    ),
    Fault(
        name="slow_headers",
        version=1,
        seen_by=(LATENCY,),
        gives=("fail:latency",),
        does="Sends nothing at all for a while, not even the status; beyond 30 s it is no answer any more.",
        on_stream=delay_headers,
        parameters={
            "delay_seconds": Amount(default=13.0, low=0.0, high=600.0),
            "spread": Amount(default=0.2, low=0.0, high=5.0),
        },
    ),
    Fault(
        name="keepalives_only",
        version=1,
        seen_by=(LATENCY,),
        gives=("fail:latency",),
        does="Opens the stream and sends comments for ever, and never a text.",
        on_stream=keep_alive_only,
    ),
    Fault(
        name="stall_mid_stream",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:stream_cut",),
        does="Stops within its text and leaves the connection open and silent.",
        on_stream=stall,
        parameters={"after": Amount(default=0.5, low=0.0, high=1.0)},
    ),
)
