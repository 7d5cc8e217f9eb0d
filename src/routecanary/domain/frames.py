"""What stands where in one frame of a stream, or in a whole answer's document?

Tolerant of every shape seen in the wild; a member of the wrong type counts as absent. Which frame first
showed text is defined here once, for the client that listens and for the judge that looks back.

Source: openrouter-wire.md §3, §9; rule 1 of the transcript cases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

# White space, controls, zero-width and other characters that leave nothing on the screen.
_VISIBLE: Final = re.compile(
    r"[^\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_decode_prefix: Final = json.JSONDecoder().raw_decode  # keeps lone surrogates and NaN, as the wire had them
_decode: Final = json.JSONDecoder().decode


def is_visible(text: str) -> bool:
    """Say whether a reader would see anything of this text."""
    return _VISIBLE.search(text) is not None


def visible_text_in(event_data: str) -> bool:
    """Say whether one event of a stream holds visible text; cheap enough for every frame."""
    if '"content"' not in event_data:
        return False
    frame = object_in(event_data)
    choice = first_choice(frame) if frame is not None else None
    return choice is not None and is_visible(content_of(message_of(choice)))


def object_in(data: str) -> dict[str, Any] | None:
    try:
        value, end = _decode_prefix(data)
        if end != len(data):
            value = _decode(data)  # white space after it is fine, anything else is not
    except (ValueError, RecursionError):
        return object_in(data.lstrip()) if data[:1].isspace() else None
    return value if isinstance(value, dict) else None


def first_choice(frame: dict[str, Any]) -> dict[str, Any] | None:
    """Find the answer's own choice: one of another index is another answer."""
    choices = frame.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    return next((choice for choice in dicts_in(choices) if choice.get("index") in (None, 0, "0")), None)


def message_of(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("delta")
    if not isinstance(message, dict) or (not message and "message" in choice):
        message = choice.get("message")
    return message if isinstance(message, dict) else {}


def content_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(
        part["text"]
        for part in dicts_in(content)
        if part.get("type") in ("text", "output_text") and isinstance(part.get("text"), str)
    )


def filter_note(frame: dict[str, Any]) -> str | None:
    """Find a filter's annotation that it removed something."""
    for key in ("prompt_filter_results", "choices"):
        for item in dicts_in(frame.get(key)):
            results = item.get("content_filter_results")
            if isinstance(results, dict):
                for category, result in results.items():
                    if isinstance(result, dict) and result.get("filtered") is True:
                        return f"{key}: {category} filtered"
            for part in (item.get("message"), item.get("delta")):
                if isinstance(part, dict) and part.get("contentOrigin") == "Apology":
                    return "an apology in place of the answer"
    for key in ("promptFeedback", "prompt_feedback"):
        feedback = frame.get(key)
        if isinstance(feedback, dict):
            reason = feedback.get("blockReason") or feedback.get("block_reason")
            if isinstance(reason, str) and reason:
                return f"prompt blocked: {reason[:60]}"
    details = frame.get("incomplete_details")
    if isinstance(details, dict) and details.get("reason") == "content_filter":
        return "incomplete: content_filter"
    status = frame.get("base_resp")
    if isinstance(status, dict) and "sensitive" in str(status.get("status_msg", "")):
        return str(status["status_msg"])[:60]
    return None


def routing_in(part: dict[str, Any]) -> dict[str, Any] | None:
    """Find what the Vercel AI Gateway says of how it routed a request, in a message or beside an error."""
    metadata = part.get("provider_metadata") or part.get("providerMetadata")
    gateway = metadata.get("gateway") if isinstance(metadata, dict) else None
    routing = gateway.get("routing") if isinstance(gateway, dict) else None
    return routing if isinstance(routing, dict) else None


def dicts_in(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item
