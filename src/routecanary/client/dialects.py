"""How would an answer to `/responses` or `/messages` read if it were one to `/chat/completions`?

Only what is told of an answer is carried over: names, counts, the reason of its end, whether there is text.
A frame of another kind comes back as it is.

Source: the gateway's own SDK (`openresponsesresult`, `messages`): the shapes of both, streamed and whole.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Frame = dict[str, Any]

_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
_TEXT_TYPES = ("text", "output_text")


def as_chat(frame: Frame) -> Frame:
    """Translate one frame of a stream, or a whole document, in case it is of another dialect."""
    kind = frame.get("type")
    if "choices" in frame or not (isinstance(kind, str) or frame.get("object") == "response"):
        return frame
    match kind:
        case "response.output_text.delta" | "response.refusal.delta":
            return _with(frame, text=frame.get("delta"))
        case "content_block_delta":
            delta = _object(frame.get("delta"))
            return _with(frame, text=delta.get("text"), tool=delta.get("type") == "input_json_delta")
        case "message_start":
            return _with(_object(frame.get("message")))
        case "message_delta":
            return _with(frame, reason=_STOPS.get(str(_object(frame.get("delta")).get("stop_reason"))))
        case "message":
            return _with(frame, reason=_STOPS.get(str(frame.get("stop_reason"))), parts=frame.get("content"))
        case "response.created" | "response.in_progress":
            return _with(_object(frame.get("response")))
        case "response.completed" | "response.incomplete" | "response.failed":
            return _response(_object(frame.get("response")))
        case _:
            return _response(frame) if frame.get("object") == "response" else frame


def _response(response: Frame) -> Frame:
    """Translate a whole answer to `/responses`."""
    reason: str | None = None
    match response.get("status"):
        case "completed":
            reason = "stop"
        case "incomplete":
            reason = _INCOMPLETE.get(str(_object(response.get("incomplete_details")).get("reason")))
        case "failed":
            reason = "error"
    items = [item for item in _list(response.get("output")) if isinstance(item, dict)]
    parts = [part for item in items if item.get("type") == "message" for part in _list(item.get("content"))]
    return _with(
        response, reason=reason, parts=parts, tool=any(item.get("type") == "function_call" for item in items)
    )


def _with(
    frame: Frame, *, text: object = None, reason: str | None = None, parts: object = None, tool: bool = False
) -> Frame:
    """Lay what was found into a frame of chat."""
    pieces = [text] if isinstance(text, str) else []
    for part in _list(parts):
        if isinstance(part, dict):
            tool = tool or part.get("type") == "tool_use"
            if part.get("type") in _TEXT_TYPES and isinstance(part.get("text"), str):
                pieces.append(part["text"])
    usage = _object(frame.get("usage"))
    message: Frame = {"content": "".join(pieces)}
    if tool:
        message["tool_calls"] = [{}]
    return {
        **{name: frame[name] for name in ("id", "model", "provider", "error") if name in frame},
        "usage": {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
        },
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }


def _object(value: object) -> Frame:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
