"""How do frames come in odd shapes that no reader minds, and in some that one does?

Source: openrouter-wire.md §3.1 to §3.3, §9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY
from routecanary.domain.probe import Json
from routecanary.lab.fault import TRIAGE, UNSEEN, Blow, Choice, Fault
from routecanary.lab.spoiling.places import (
    changed_choice,
    finish_place,
    head_of,
    inserted,
    replaced,
    text_places,
    with_texts,
)
from routecanary.lab.stream import Frame, Stream

_KEEP_ALIVES: Final = (": keepalive", "ping", ": ping")
_ODD_WORDS: Final = ("eos", "end_turn", "COMPLETE", "stop_sequence")
_HALF: Final = '{"id":"gen-1","object":"chat.completion.chunk","choices":[{"index":0,"del'
_EVERY: Final = 4  # texts, between two frames that carry none


def drop_done(stream: Stream, _: Blow) -> Stream:
    return _kept(stream, lambda frame: frame.word != "[DONE]")


def drop_finish(stream: Stream, _: Blow) -> Stream:
    """End the text whole, with [DONE] and without a finish reason."""
    place = finish_place(stream)
    return stream if place is None else _kept(stream, lambda frame: frame is not stream.frames[place])


def _kept(stream: Stream, keeps: Callable[[Frame], bool]) -> Stream:
    frames = tuple(frame for frame in stream.frames if keeps(frame))
    return stream if len(frames) == len(stream.frames) else replace(stream, frames=frames)


def finish_twice(stream: Stream, _: Blow) -> Stream:
    place = finish_place(stream)
    if place is None:
        return stream
    again = changed_choice(
        stream.frames[place].payload, lambda choice: {**choice, "native_finish_reason": "end_turn"}
    )
    return inserted(stream, place + 1, stream.frames[place]._replace(payload=again))


def finish_everywhere(stream: Stream, _: Blow) -> Stream:
    return with_texts(stream, lambda choice: {**choice, "finish_reason": "stop"})


def odd_finish(stream: Stream, blow: Blow) -> Stream:
    """End with a word that no list of finish reasons holds."""
    place = finish_place(stream)
    if place is None:
        return stream
    word = blow.rng.choice(_ODD_WORDS)
    frame = stream.frames[place]
    changed = changed_choice(frame.payload, lambda choice: {**choice, "finish_reason": word})
    return replaced(stream, place, frame._replace(payload=changed))


def usage_between(stream: Stream, _: Blow) -> Stream:
    return _between(stream, {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 1}})


def nothing_between(stream: Stream, blow: Blow) -> Stream:
    """Put frames with no choices, or no word of any, before and between the texts."""
    return _between(stream, {"choices": []} if blow.way("empty", "absent") == "empty" else {})


def _between(stream: Stream, members: Mapping[str, Json]) -> Stream:
    texts = text_places(stream)
    for place in reversed(texts[::_EVERY]):
        frame = stream.frames[place]
        stream = inserted(stream, place, Frame(frame.at, payload={**head_of(frame), **members}))
    return stream


def as_parts(stream: Stream, _: Blow) -> Stream:
    """Send each piece of text as a list of content parts."""

    def parted(choice: dict[str, Json]) -> dict[str, Json]:
        parts = [{"type": "text", "text": choice["delta"]["content"]}]
        return {**choice, "delta": {**choice["delta"], "content": parts}}

    return with_texts(stream, parted)


def keep_alive_as_data(stream: Stream, blow: Blow) -> Stream:
    texts = text_places(stream)
    if not texts:
        return stream
    place = blow.rng.choice(texts)
    return inserted(stream, place, Frame(stream.frames[place].at, word=blow.rng.choice(_KEEP_ALIVES)))


def cut_frame(stream: Stream, blow: Blow) -> Stream:
    """Put half a frame where a whole one should be."""
    texts = text_places(stream)
    if not texts:
        return stream
    place = blow.rng.choice(texts)
    return replaced(stream, place, Frame(stream.frames[place].at, word=_HALF))


FRAMES: Final = (
    Fault(
        name="missing_done",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Ends after its finish reason without [DONE].",
        on_stream=drop_done,
    ),
    Fault(
        name="missing_finish",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass", "transport:stream_cut"),
        does="Ends a whole text with [DONE] and without a finish reason.",
        on_stream=drop_finish,
    ),
    Fault(
        name="two_finish_reasons",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends its finish reason twice.",
        on_stream=finish_twice,
    ),
    Fault(
        name="finish_on_every_chunk",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends a finish reason with every piece of text.",
        on_stream=finish_everywhere,
    ),
    Fault(
        name="odd_finish_reason",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Finishes with a word of its own, such as eos.",
        on_stream=odd_finish,
    ),
    Fault(
        name="usage_only_chunks",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends chunks between its texts that carry usage and an empty list of choices.",
        on_stream=usage_between,
    ),
    Fault(
        name="empty_choices_chunks",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends chunks between its texts whose list of choices is empty or absent.",
        on_stream=nothing_between,
        parameters={"with": Choice(default="", options=("", "empty", "absent"))},
    ),
    Fault(
        name="content_parts",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Sends each piece of text as a list of content parts.",
        on_stream=as_parts,
    ),
    Fault(
        name="keepalive_as_data",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("inconclusive:bad_frame",),
        does="Sends a keep-alive as data where a comment belongs.",
        on_stream=keep_alive_as_data,
    ),
    Fault(
        name="broken_frame",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:bad_frame",),
        does="Sends half a JSON object in place of one of its chunks.",
        on_stream=cut_frame,
    ),
)
