"""What travels? The notices of one append, one message a model, as JSON for every channel.

docs/notices.md describes the JSON field by field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from typing import Final

from routecanary.domain.log import Head
from routecanary.domain.names import ModelId
from routecanary.domain.notice import Message, Notice
from routecanary.domain.outbox import Outgoing
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant

FORMAT: Final = 1
"""Version of the JSON. A field may be added under the same number; none is renamed or removed."""

MOST_LINES: Final = 30  # of a message's text
_ID_DIGITS: Final = 32  # 128 bits


def messages_of(notices: Iterable[Notice], *, after: Head, sequence: int) -> tuple[Message, ...]:
    """Group notices by model, in the order in which a model's first one came.

    Args:
        after: The head on which they were decided: only one append can follow it, so that a message's id,
            made of it and the model, is unique in a store and the same however often it is computed.
        sequence: Number of the last event of that append.
    """
    by_model: dict[ModelId | None, list[Notice]] = {}
    for notice in notices:
        by_model.setdefault(notice.model, []).append(notice)
    return tuple(
        Message(
            id=sha256(f"{after.hash}\n{model or ''}".encode()).hexdigest()[:_ID_DIGITS],
            at=max(notice.at for notice in told),
            sequence=sequence,
            model=model,
            notices=tuple(told),
        )
        for model, told in by_model.items()
    )


def outgoing_of(
    messages: Iterable[Message], channels: Collection[str], hide: Callable[[str], str]
) -> tuple[Outgoing, ...]:
    """Address messages to every channel.

    Args:
        hide: Takes whatever secret stands in a text out of it.
    """
    return tuple(
        Outgoing(message=message.id, channel=channel, at=message.at, body=body)
        for message in messages
        for body in [hide(json.dumps(message_to_json(message), ensure_ascii=True, allow_nan=False))]
        for channel in channels
    )


def message_to_json(message: Message) -> dict[str, Json]:
    """Write a message as plain JSON values."""
    return {
        "format": FORMAT,
        "id": message.id,
        "at": format_instant(message.at),
        "sequence": message.sequence,
        "model": message.model,
        "severity": message.severity.value,
        "shadow": message.shadow,
        "text": text_of(message),
        "notices": [_notice_to_json(notice) for notice in message.notices],
    }


def text_of(message: Message) -> str:
    """Write a message for people: a line for a notice alone, a list under a heading for several."""
    about = message.model or "routecanary"
    if len(message.notices) == 1:
        return f"{about}: {message.notices[0].text}"
    lines = [f"- {notice.text}" for notice in message.notices[:MOST_LINES]]
    if len(message.notices) > MOST_LINES:
        lines.append(f"- and {len(message.notices) - MOST_LINES} more")
    return "\n".join([f"{about}: {len(message.notices)} notices", *lines])


def _notice_to_json(notice: Notice) -> dict[str, Json]:
    return {
        "kind": notice.kind.value,
        "phase": notice.phase.value,
        "condition": notice.condition,
        "severity": notice.severity.value,
        "shadow": notice.shadow,
        "at": format_instant(notice.at),
        "routes": list(notice.routes),
        "text": notice.text,
        "facts": dict(notice.facts),
    }
