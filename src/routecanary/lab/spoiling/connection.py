"""How does a connection break, or end too early?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.lab.fault import TRIAGE, Amount, Blow, Choice, Fault
from routecanary.lab.spoiling.places import cut_within_text
from routecanary.lab.stream import EndingMode, Frame, Stream


def cut(stream: Stream, blow: Blow) -> Stream:
    """End the stream within its text, with neither finish reason nor [DONE]."""
    shorter = cut_within_text(stream, blow.amount("after"))
    return stream if shorter is stream else replace(shorter, ending=EndingMode(blow.word("how")))


def cut_before_done(stream: Stream, blow: Blow) -> Stream:
    """End the stream within a sentence; the gateway adds [DONE] by itself."""
    shorter = cut_within_text(stream, blow.amount("after"), in_sentence=True)
    if shorter is stream:
        return stream
    return replace(shorter, frames=(*shorter.frames, Frame(shorter.frames[-1].at, word="[DONE]")))


def reset(stream: Stream, blow: Blow) -> Stream:
    """Break the connection: before the headers, before the text, or within it."""
    match blow.way("before_headers", "before_text", "within_text"):
        case "before_headers":
            return replace(stream, frames=(), headers_at=None, ending=EndingMode.RESET)
        case "before_text":
            return replace(stream, frames=stream.frames[:2], ending=EndingMode.RESET)
        case _:
            shorter = cut_within_text(stream, blow.rng.uniform(0.1, 0.9))
            return stream if shorter is stream else replace(shorter, ending=EndingMode.RESET)


CONNECTION: Final = (
    Fault(
        name="cut_stream",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:stream_cut", "transport:connection"),
        does="Ends the stream within its text, with neither finish reason nor [DONE].",
        on_stream=cut,
        parameters={
            "after": Amount(default=0.5, low=0.0, high=1.0),
            "how": Choice(default="clean", options=("clean", "reset")),
        },
    ),
    Fault(
        name="cut_before_done",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:stream_cut",),
        does="Ends the stream within a sentence without a finish reason; the gateway adds [DONE].",
        on_stream=cut_before_done,
        parameters={"after": Amount(default=0.5, low=0.0, high=1.0)},
    ),
    Fault(
        name="reset_connection",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:connection",),
        does="Breaks the connection: before the headers, before the text, or within it.",
        on_stream=reset,
        parameters={"with": Choice(default="", options=("", "before_headers", "before_text", "within_text"))},
    ),
)
