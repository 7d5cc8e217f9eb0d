"""Answers to `/responses` and `/messages` tell the same facts as those to `/chat/completions`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routecanary.client.answer import AnswerReader

RESPONSE: dict[str, Any] = {
    "object": "response",
    "id": "gen-1",
    "model": "acme/chat",
    "status": "completed",
    "output": [
        {"type": "reasoning", "content": []},
        {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]},
    ],
    "usage": {"input_tokens": 5, "output_tokens": 7},
}
MESSAGE: dict[str, Any] = {
    "type": "message",
    "id": "gen-1",
    "model": "acme/chat",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hello"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 5, "output_tokens": 7},
}
RESPONSE_STREAM = [
    {
        "type": "response.created",
        "response": {**RESPONSE, "status": "in_progress", "output": [], "usage": None},
    },
    {"type": "response.reasoning_text.delta", "delta": "hm"},
    {"type": "response.output_text.delta", "delta": " "},
    {"type": "response.output_text.delta", "delta": "Hello"},
    {"type": "response.completed", "response": RESPONSE},
]
MESSAGE_STREAM = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "usage": {"input_tokens": 5}}},
    {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": " "}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
]


def read(*frames: dict[str, Any], stream: bool) -> AnswerReader:
    reader = AnswerReader()
    for moment, frame in enumerate(frames):
        text = json.dumps(frame)
        reader.feed(
            f"event: {frame.get('type')}\ndata: {text}\n\n".encode() if stream else text.encode(), moment
        )
    reader.finish()
    return reader


@pytest.mark.parametrize("frames", [[RESPONSE], [MESSAGE], RESPONSE_STREAM, MESSAGE_STREAM])
def test_the_facts_are_found(frames: list[dict[str, Any]]) -> None:
    """Id, model, tokens, the reason of the end, and that there was text; in a stream also when it came."""
    stream = len(frames) > 1
    reader = read(*frames, stream=stream)
    assert (reader.id, reader.model, reader.finish_reason) == ("gen-1", "acme/chat", "stop")
    assert (reader.prompt_tokens, reader.completion_tokens, reader.empty) == (5, 7, False)
    assert reader.first_text_at == (3 if stream else None)


@pytest.mark.parametrize(
    ("frame", "reason", "empty"),
    [
        ({**RESPONSE, "output": []}, "stop", True),
        (
            {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
            False,
        ),
        ({**RESPONSE, "status": "failed", "output": []}, "error", None),
        ({**RESPONSE, "output": [{"type": "function_call"}]}, "stop", False),
        ({**MESSAGE, "content": []}, "stop", True),
        ({**MESSAGE, "content": [{"type": "tool_use"}], "stop_reason": "tool_use"}, "tool_calls", False),
        ({**MESSAGE, "stop_reason": "refusal"}, "content_filter", False),
        ({**MESSAGE, "content": 5, "usage": [], "stop_reason": {}}, None, None),
        ({"type": "message_start"}, None, None),
        ({"type": "error", "error": {"message": "x"}}, "error", None),
    ],
)
def test_how_it_ended(frame: dict[str, Any], reason: str | None, *, empty: bool | None) -> None:
    """The reasons are those of chat; rubbish is none."""
    reader = read(frame, stream=False)
    assert (reader.finish_reason, reader.empty) == (reason, empty)
