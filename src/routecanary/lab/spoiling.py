"""How does each fault spoil an answer? One function a fault; the rows are in `faults.py`.

Each takes the value that it changes and a `Blow`, and returns the same value where there is nothing to spoil.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from routecanary.domain.names import Locale
from routecanary.domain.probe import Json
from routecanary.lab.answers import refusal_text, speak, speak_mixed
from routecanary.lab.document import written
from routecanary.lab.fault import Blow
from routecanary.lab.phrases import book_for, books
from routecanary.lab.plan import EndingMode, PlannedAnswer, Stream
from routecanary.lab.refusal import Refusal

_STRAY_MARKS: Final = (",", ".", ";", ")", "]", "，", "。", "》", "|", "\\", '":')
_STRAY_PIECES: Final = ("tion", "ing ", "ment ", "的", "ed", "();", "</", "ous ", "ий ", "ung ", "ness")


def spoil_start(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if not planned.text:
        return planned
    chosen = blow.word("with") or blow.rng.choice(("mark", "mark", "piece", "piece", "swallowed"))
    match chosen:
        case "mark":
            return replace(planned, text=blow.rng.choice(_STRAY_MARKS) + planned.text)
        case "piece":
            return replace(planned, text=blow.rng.choice(_STRAY_PIECES) + planned.text)
        case _:
            return replace(planned, text=blow.rng.choice(_STRAY_PIECES) + planned.text[1:])


def mix_portuguese_and_spanish(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.draft is None or planned.asked.locale not in ("pt-BR", "es"):
        return planned
    own, other = planned.asked.locale, "es" if planned.asked.locale == "pt-BR" else "pt-BR"
    pair = (book_for(own), book_for(Locale(other)))
    return replace(planned, text=speak_mixed(planned.draft, pair, blow.rng))


def speak_another_language(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.draft is None:
        return planned
    others = sorted(locale for locale in books() if locale != planned.asked.locale)
    locale = Locale(blow.word("locale")) if blow.word("locale") else blow.rng.choice(others)
    if locale == planned.asked.locale:
        return planned
    return replace(planned, text=speak(planned.draft, book_for(locale)))


def delay_first_text(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    late = blow.amount("delay_seconds") * (1 + blow.rng.random() * blow.amount("spread"))
    if late <= planned.first_text:
        return planned
    longer = planned.answer_seconds
    moved = None if longer is None else longer - planned.first_text + late
    return replace(planned, first_text=late, answer_seconds=moved)


def refuse(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    way = blow.word("with") or blow.rng.choice(("text", "text", "content_filter", "refusal_field"))
    said = refusal_text(planned.asked, blow.rng)
    match way:
        case "text":
            return replace(planned, text=said)
        case "refusal_field":
            return replace(planned, text="", refusal=said)
        case _:
            return replace(planned, text="", finish="content_filter", native_finish="SAFETY")


def break_schema(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.asked.schema is None or planned.document is None:
        return planned
    broken = broken_document(planned.document, planned.asked.schema, blow.rng)
    return replace(planned, text=written(broken), document=broken)


def broken_document(document: Json, schema: Json, rng: Random) -> Json:
    """Change a document so that its schema no longer accepts it, in one of the ways that hosts do."""
    if not isinstance(document, dict) or not isinstance(schema, Mapping) or not document:
        return [document] if isinstance(document, dict) else {"answer": document}
    ways: list[Callable[[], Json]] = []
    required = schema.get("required")
    present = [name for name in required if name in document] if isinstance(required, list) else []
    if present:
        gone = rng.choice(present)
        ways.append(lambda: {name: each for name, each in document.items() if name != gone})
    if schema.get("additionalProperties") is False:
        ways.append(lambda: {**document, "notes": "see above"})
    properties = schema.get("properties")
    for name, child in (properties if isinstance(properties, Mapping) else {}).items():
        wrong = _wrong_value(child)
        if name in document and wrong is not None:
            ways.append(lambda name=name, wrong=wrong: {**document, name: wrong})  # type: ignore[misc]
    return rng.choice(ways)() if ways else [document]


def _wrong_value(schema: Json) -> Json:
    """Make a value that a property's schema does not accept; None where that is not certain."""
    if not isinstance(schema, Mapping):
        return None
    if isinstance(schema.get("enum"), list):
        return next(
            (word for word in ("unknown", "n/a", "none of these") if word not in schema["enum"]), None
        )
    match schema.get("type"):
        case "integer" | "number":
            maximum = schema.get("maximum")
            if isinstance(maximum, int) and not isinstance(maximum, bool) and abs(maximum) < 10**9:
                return maximum + 5
            return "about seven"
        case "boolean":
            return "yes"
        case "object" | "array":
            return "see above"
        case _:
            return None


def fence(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
    if planned.document is None or not planned.text:
        return planned
    return replace(planned, text=f"```json\n{planned.text}\n```")


def limit_rate(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Answer 429 from the provider's shared pool. Source: openrouter-wire.md §4.1, §4.3."""
    wait = int(blow.amount("retry_after_seconds"))
    return replace(
        planned,
        problem=Refusal(
            status=429,
            message="Provider returned error",
            metadata={
                "provider_name": planned.provider,
                "raw": f"{planned.model} is temporarily rate-limited upstream. Please retry shortly.",
                "is_byok": False,
                "limit_source": "upstream_provider_shared_pool",
                "remedy_hint": "Retry later or add your own key.",
                "error_type": "rate_limit_exceeded",
            },
            headers={"Retry-After": str(wait)},
        ),
    )


def cut(stream: Stream, blow: Blow) -> Stream:
    """End the stream within its text, with neither finish reason nor [DONE]."""
    texts = [index for index, frame in enumerate(stream.frames) if _has_text(frame.payload)]
    if not texts:
        return stream
    kept = texts[min(len(texts) - 1, int(len(texts) * blow.amount("after")))]
    return replace(stream, frames=stream.frames[: kept + 1], ending=EndingMode(blow.word("how")))


def _has_text(payload: Mapping[str, Json] | None) -> bool:
    choices = (payload or {}).get("choices") or []
    return any(choice.get("delta", {}).get("content") for choice in choices)


def serve_elsewhere(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    name = blow.word("served_by") or (blow.rng.choice(blow.others) if blow.others else "Elsewhere")
    return replace(planned, provider=name) if name != planned.provider else planned
