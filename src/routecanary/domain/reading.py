"""How do the frames of an answer add up?

The answer while it is being read: each frame adds its text, names, reasons and oddities. Bounded, and never
raises.

Source: openrouter-wire.md §3, §4, §9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from routecanary.domain.frames import (
    content_of,
    dicts_in,
    filter_note,
    first_choice,
    is_visible,
    message_of,
    object_in,
    routing_in,
)
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.probe import Json

_MAX_TEXT: Final = 2_000_000  # characters of visible text
_MAX_NAMES: Final = 16  # distinct providers, models or ids worth keeping
_MAX_CALLS: Final = 256  # tool calls
_NOTES: Final = ("content_filter", "eedback", "base_resp", "contentOrigin")  # of filters: rare
_KEEPALIVE_WORDS: Final = frozenset({"ping", "keepalive", "keep-alive", "heartbeat"})


@dataclass(slots=True)
class Reading:
    """The answer while it is being read; `gateway` decides where it may say who served it."""

    gateway: GatewayKind = GatewayKind.OPENROUTER
    text: list[str] = field(default_factory=list)
    text_length: int = 0
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    error: Mapping[str, Json] | None = None
    filtered: str | None = None
    usage: Mapping[str, Json] | None = None
    providers: dict[str, None] = field(default_factory=dict)
    tried: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    ids: dict[str, None] = field(default_factory=dict)
    created: int | None = None
    done: bool = False
    calls: dict[object, tuple[str, list[str]]] = field(default_factory=dict)
    first_text_ms: float | None = None
    frames: int = 0
    bad_frames: int = 0
    keepalive_frames: int = 0
    html_frames: int = 0
    comments: int = 0
    invalid_utf8: bool = False
    exceeded: bool = False
    legacy_text: bool = False
    cut_document: bool = False
    pipeline: dict[str, None] = field(default_factory=dict)

    def take_event(self, data: str, at_ms: float, name: str = "") -> None:
        if data == "[DONE]":
            self.done = True
            return
        frame = object_in(data)
        if frame is not None:
            if name == "error" or frame.get("object") == "error":
                self._take_error(frame.get("error") or frame)
            may_note = any(mark in data for mark in _NOTES)
            self.take_frame(frame, at_ms, may_note=may_note)
            return
        bare = data.strip()
        if not bare:
            return
        if bare == "[DONE]":
            self.done = True
        elif bare.startswith(":") or bare.lower() in _KEEPALIVE_WORDS:
            self.keepalive_frames += 1
        elif name == "error":
            self._take_error(bare)
        elif bare[:9].lower() == "<!doctype" or bare[:5].lower() == "<html":
            self.html_frames += 1
        else:
            self.bad_frames += 1

    def take_piece(self, piece: str, at_ms: float) -> None:
        """Take a frame that differs from one that was read before in its text alone."""
        self.frames += 1
        self._take_text(piece, at_ms)

    def take_frame(self, frame: dict[str, Any], at_ms: float, *, may_note: bool = True) -> None:
        """Take one decoded frame, or the whole document of an answer that is not streamed.

        Args:
            may_note: Look for a filter's annotation too; nearly no frame has one.
        """
        self.frames += 1
        self._take_names(frame)
        if may_note and self.filtered is None:
            self.filtered = filter_note(frame)
        error = frame.get("error")
        if error:
            self._take_error(error)
        choice = first_choice(frame)
        if choice is None:
            return
        self._take_choice(choice)
        delta = choice.get("delta")
        message = delta if delta and isinstance(delta, dict) else message_of(choice)
        if not message:
            if isinstance(choice.get("text"), str) and is_visible(choice["text"]):
                self.legacy_text = True
            return
        content = message.get("content")
        # A whole message beside the deltas repeats them; only the first channel is the answer.
        if content and ("delta" in choice or not self.text):
            self._take_text(content if isinstance(content, str) else content_of(message), at_ms)
        if len(message) > 1 or not isinstance(content, str):
            self._take_others(message)

    def _take_choice(self, choice: dict[str, Any]) -> None:
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self.finish_reason = reason
        native = choice.get("native_finish_reason") or choice.get("stop_reason")
        if native and isinstance(native, str):
            self.native_finish_reason = native
        error = choice.get("error")
        if error:
            self._take_error(error)

    def _take_others(self, message: dict[str, Any]) -> None:
        """Take what stands beside the text: reasoning, a refusal, tool calls."""
        self._take_reasoning(message)
        self._take_routing(message)
        refusal = message.get("refusal")
        if isinstance(refusal, str):
            self.refusal.append(refusal)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            for position, call in enumerate(calls):
                if isinstance(call, dict):
                    self._take_call(call, position)

    def _take_text(self, piece: str, at_ms: float) -> None:
        if not piece:
            return
        if self.first_text_ms is None and is_visible(piece):
            self.first_text_ms = at_ms
        if self.text_length + len(piece) > _MAX_TEXT:
            self.exceeded = True
            return
        self.text_length += len(piece)
        self.text.append(piece)

    def _take_reasoning(self, message: dict[str, Any]) -> None:
        """Take one channel of reasoning: its aliases repeat each other."""
        for key in ("reasoning", "reasoning_content"):
            piece = message.get(key)
            if isinstance(piece, str) and piece:
                self.reasoning.append(piece)
                return
        parts = message.get("reasoning_details")
        if not isinstance(parts, list):
            parts = message.get("content")
        if isinstance(parts, list):
            for part in parts:
                if isinstance(part, dict) and part.get("type") not in ("text", "output_text"):
                    for key in ("text", "summary", "thinking", "reasoning"):
                        if isinstance(part.get(key), str):
                            self.reasoning.append(part[key])
                            break

    def _take_call(self, call: dict[str, Any], position: int) -> None:
        index = call.get("index")
        key: object = index if isinstance(index, int) else call.get("id")
        if not isinstance(key, int | str):
            key = position
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        known, pieces = self.calls.get(key, ("", []))
        if key not in self.calls and len(self.calls) >= _MAX_CALLS:
            self.exceeded = True
            return
        if isinstance(arguments, str):
            pieces.append(arguments)
        self.calls[key] = (known or (name if isinstance(name, str) else ""), pieces)

    def _take_error(self, error: Json) -> None:
        if self.error is None:
            self.error = error if isinstance(error, dict) else {"message": str(error)[:1000]}

    def _take_names(self, frame: dict[str, Any]) -> None:
        for key, names in (("model", self.models), ("id", self.ids)):
            _take(frame.get(key), names)
        match self.gateway:
            case GatewayKind.OPENROUTER:
                _take(frame.get("provider"), self.providers)
            case GatewayKind.VERCEL:
                self._take_routing(frame)
            case _:
                assert_never(self.gateway)
        if self.created is None:
            created = frame.get("created")
            if isinstance(created, int) and not isinstance(created, bool) and created > 0:
                self.created = created
        usage = frame.get("usage")
        if isinstance(usage, dict) and usage:
            self.usage = usage
        metadata = frame.get("openrouter_metadata")
        if isinstance(metadata, dict):
            for step in dicts_in(metadata.get("pipeline")):
                if isinstance(step.get("type"), str) and len(self.pipeline) < _MAX_NAMES:
                    self.pipeline[step["type"]] = None

    def _take_routing(self, part: dict[str, Any]) -> None:
        """Take who served, and who was tried, as the Vercel AI Gateway tells it."""
        routing = routing_in(part) if self.gateway is GatewayKind.VERCEL else None
        if routing is None:
            return
        _take(routing.get("finalProvider"), self.providers)
        attempts = list(dicts_in(routing.get("attempts")))[:_MAX_NAMES]
        for attempt in list(dicts_in(routing.get("modelAttempts")))[:_MAX_NAMES]:
            attempts += list(dicts_in(attempt.get("providerAttempts")))[:_MAX_NAMES]
        for attempt in attempts:
            _take(attempt.get("provider"), self.tried)


def _take(value: object, names: dict[str, None]) -> None:
    """Keep a name that is not known yet, as long as there are few."""
    if isinstance(value, str) and value and value not in names and len(names) < _MAX_NAMES:
        names[value] = None
