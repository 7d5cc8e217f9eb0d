"""Where in a stream does its text stand, and how is one frame changed?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from routecanary.domain.probe import Json
from routecanary.lab.stream import Frame, Stream


def has_text(payload: Mapping[str, Json] | None) -> bool:
    """Say whether a frame carries text."""
    choices = (payload or {}).get("choices") or []
    return any(choice.get("delta", {}).get("content") for choice in choices)


def text_places(stream: Stream) -> list[int]:
    """List the places of the frames that carry text."""
    return [place for place, frame in enumerate(stream.frames) if has_text(frame.payload)]


def _text(frame: Frame) -> str:
    return "".join(choice["delta"]["content"] for choice in (frame.payload or {})["choices"])


def with_texts(stream: Stream, change: Callable[[dict[str, Json]], dict[str, Json]]) -> Stream:
    """Change the one choice of each frame that carries text."""
    if not text_places(stream):
        return stream
    return replace(
        stream,
        frames=tuple(
            frame._replace(payload=changed_choice(frame.payload, change))
            if has_text(frame.payload)
            else frame
            for frame in stream.frames
        ),
    )


def changed_choice(
    payload: Mapping[str, Json] | None, change: Callable[[dict[str, Json]], dict[str, Json]]
) -> dict[str, Json]:
    """Write a frame anew with its one choice changed."""
    (choice,) = (payload or {})["choices"]
    return {**(payload or {}), "choices": [change(dict(choice))]}


def finish_place(stream: Stream) -> int | None:
    """Find the frame with the finish reason."""
    for place, frame in enumerate(stream.frames):
        for choice in (frame.payload or {}).get("choices") or []:
            if choice.get("finish_reason"):
                return place
    return None


def head_of(frame: Frame) -> dict[str, Json]:
    """Take what a frame says of itself, without its choices."""
    return {name: value for name, value in (frame.payload or {}).items() if name != "choices"}


def replaced(stream: Stream, place: int, frame: Frame) -> Stream:
    """Put a frame in place of another."""
    return replace(stream, frames=(*stream.frames[:place], frame, *stream.frames[place + 1 :]))


def cut_within_text(stream: Stream, share: float, *, in_sentence: bool = False) -> Stream:
    """Leave out what comes after a share of the frames with text, the ending included.

    Args:
        in_sentence: The last frame that is left ends in a letter.
    """
    texts = text_places(stream)
    if in_sentence:
        texts = [place for place in texts if _text(stream.frames[place])[-1:].isalpha()]
    if not texts:
        return stream
    kept = texts[min(len(texts) - 1, int(len(texts) * share))]
    return replace(stream, frames=stream.frames[: kept + 1])


def inserted(stream: Stream, place: int, *frames: Frame) -> Stream:
    """Put frames before the one at `place`."""
    return replace(stream, frames=(*stream.frames[:place], *frames, *stream.frames[place:]))
