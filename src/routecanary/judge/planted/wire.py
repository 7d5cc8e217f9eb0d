"""Planted answers whose fault lies in time, form or absence, and their look-alikes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from routecanary.domain.names import FILTERING, INTEGRITY, LATENCY, STRUCTURED, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.judge.planted.value import Planted, answer
from routecanary.judge.settings import Settings

_SCHEMA: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "pages", "tags"],
    "properties": {
        "title": {"type": "string"},
        "pages": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
}
_FORMAT: Final = {"type": "json_schema", "json_schema": {"name": "book", "strict": True, "schema": _SCHEMA}}
_BOOK: Final = '{"title": "Low Tide", "pages": 212, "tags": ["sea", "harbour"]}'
_STORY: Final = "The keeper climbs the stairs. The lamp is cold, and nobody answers when he calls."
_CUT: Final = "The keeper climbs the stairs. The lamp is cold, and nobody answers when he"
_THOUGHT: Final = {"content": "", "reasoning": "They want a scene in a lighthouse."}


def of_time(settings: Settings) -> Iterator[Planted]:
    """A first word at the end of what is waited for, and one that comes at once."""
    yield _of(LATENCY, "latency", fault=True, transcript=_chat(_STORY, first_ms=settings.listen_ms))
    yield _of(LATENCY, "latency", fault=False, transcript=_chat(_STORY, first_ms=900.0))
    late = answer(_STORY, probe=ProbeKind.CHAT, deltas=[{"content": "\n"}], first_ms=900.0)
    yield _of(LATENCY, "latency", fault=False, transcript=late)


def of_documents() -> Iterator[Planted]:
    """Answers to a schema that break it in each way, and whole ones that look broken."""
    faults = {
        "json_invalid": _BOOK.replace("212", "02 12"),
        "json_fenced": f"```json\n{_BOOK}\n```",
        "json_trailing": f"{_BOOK}\n\nI hope this helps!",
        "json_schema": _BOOK.replace("212", '"212"'),
        "json_double_encoded": json.dumps(_BOOK),
    }
    for kind, text in faults.items():
        yield _of(STRUCTURED, kind, fault=True, transcript=_document(text))
    cut = _document(_BOOK[:30], finish="length", tokens=12)
    yield _of(STRUCTURED, "truncated", fault=True, transcript=cut)
    healthy = {
        "json_invalid": _BOOK.replace("Low Tide", 'L\\u00f6w \\\\ \\"Tide\\"'),
        "json_fenced": _BOOK.replace("Low Tide", "```json"),
        "json_trailing": f"\n  {_BOOK}\n\n",
        "json_schema": _BOOK.replace("212", "212.0"),
        "json_double_encoded": _BOOK.replace("Low Tide", '{\\"a\\": 1}'),
    }
    for kind, text in healthy.items():
        yield _of(STRUCTURED, kind, fault=False, transcript=_document(text))
    own = _document(_BOOK[:30], finish="length", tokens=12, limit=12)
    yield _of(STRUCTURED, "truncated", fault=False, transcript=own)


def of_filters() -> Iterator[Planted]:
    """Answers that a filter took away, and one that it only looked at."""
    yield _filter("content_filter", fault=True, text="The keeper climbs", finish="content_filter")
    yield _filter("content_filter", fault=False, text=_STORY, finish="stop")


def of_absence(contract: ContractName, settings: Settings) -> Iterator[Planted]:
    """Answers of which all or much is missing, or nothing, for either owner of these kinds."""
    kind = ProbeKind.FILTER if contract == FILTERING else ProbeKind.CHAT
    room = settings.reasoning_room_tokens

    def of(code: str, text: str | None, *, fault: bool, **about: Any) -> Planted:  # noqa: ANN401 - of `answer`
        return _of(contract, code, fault=fault, transcript=answer(text, probe=kind, **about))

    yield of("empty", None, fault=True, tokens=0)
    yield of("empty", "7.", fault=False, prompt="How many?")
    yield of("reasoning_only", None, fault=True, deltas=[_THOUGHT])
    yield of("reasoning_only", None, fault=True, deltas=[_THOUGHT], finish="length", limit=room, tokens=room)
    yield of("reasoning_only", _STORY, fault=False, deltas=[_THOUGHT])
    yield of("reasoning_only", None, fault=False, deltas=[_THOUGHT], finish="length", limit=64, tokens=64)
    yield of("truncated", _CUT, fault=True, finish="length", tokens=18)
    yield of("truncated", _CUT + " climbs into the", fault=True)
    yield of("truncated", _CUT, fault=False, finish="length", tokens=18, limit=18)
    yield of("truncated", "The Lamp Above the Stairs", fault=False, prompt="A title, please.")


def of_identity() -> Iterator[Planted]:
    """Answers that are not this request's or not this model's, or that run past what was asked for."""
    said = {
        "wrong_model": (
            _chat(_STORY, model="lab/model-8b"),
            _chat(_STORY, model="lab/model-70b-20260101"),
        ),
        "cross_talk": (
            _chat("HERON-5512", prompt="Reply ONLY with this code: ALDER-3307"),
            _chat("ALDER-3307", prompt="Reply ONLY with this code: ALDER-3307"),
        ),
        "limit_ignored": (_chat(_STORY * 6, limit=24, tokens=130), _chat("A lamp.", limit=24, tokens=25)),
        "stop_ignored": (
            _chat("one, two, three, four, five", prompt="Count.", stop=["three"]),
            _chat("one, two, ", prompt="Count.", stop=["three"]),
        ),
    }
    for kind, (fault, lookalike) in said.items():
        yield _of(INTEGRITY, kind, fault=True, transcript=fault)
        yield _of(INTEGRITY, kind, fault=False, transcript=lookalike)


def _chat(text: str, **about: Any) -> Transcript:  # noqa: ANN401 - of `answer`
    return answer(text, probe=ProbeKind.CHAT, **about)


def _document(text: str, **about: Any) -> Transcript:  # noqa: ANN401 - of `answer`
    prompt = "Describe a book as one JSON object."
    return answer(text, probe=ProbeKind.STRUCTURED, prompt=prompt, response_format=_FORMAT, **about)


def _filter(kind: str, *, fault: bool, text: str, finish: str) -> Planted:
    return _of(FILTERING, kind, fault=fault, transcript=answer(text, probe=ProbeKind.FILTER, finish=finish))


def _of(contract: ContractName, kind: str, *, fault: bool, transcript: Transcript) -> Planted:
    return Planted(contract=contract, kind=kind, fault=fault, transcript=transcript)
