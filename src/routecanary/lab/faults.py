"""In which ways can a host of the lab misbehave?

A fault is one row of `FAULTS`: a name, a version, who sees it, and a change of one of the three values that
an answer goes through (plan.py). It returns the value it was given when it has nothing to spoil there; only
a change counts as struck. A new fault is one function and one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from routecanary.domain.names import (
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
)
from routecanary.domain.probe import Json, ProbeKind
from routecanary.errors import InputError
from routecanary.lab.answers import refusal_text, speak, speak_mixed
from routecanary.lab.document import written
from routecanary.lab.host import ParameterValue
from routecanary.lab.phrases import book_for, books
from routecanary.lab.plan import EndingMode, PlannedAnswer, Stream, Wire
from routecanary.lab.refusal import Refusal

TRIAGE: Final = "triage"
"""Who sees a fault that says nothing of quality: the pin, the transport, the account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number that a fault takes."""

    default: float
    low: float
    high: float

    def read(self, value: object) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
        ):
            raise InputError("not usable", value=value, allowed=f"{self.low:g} to {self.high:g}")
        return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few words."""

    default: str
    options: tuple[str, ...]

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise InputError("not usable", value=value, allowed=", ".join(self.options))
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """Any short text; empty = the fault chooses."""

    default: str = ""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 200:
            raise InputError("not usable", value=value, allowed="a text of at most 200 characters")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultNames:
    """A list of other faults."""

    default: tuple[str, ...]

    def read(self, value: object) -> tuple[str, ...]:
        allowed = tuple(fault.name for fault in FAULTS if fault.stands_for is None)
        if not isinstance(value, list) or not value or any(name not in allowed for name in value):
            raise InputError("not usable", value=value, allowed=f"a list of {', '.join(allowed)}")
        return tuple(value)


Parameter = Amount | Choice | Name | FaultNames


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """What a fault has in hand when it strikes: chance, its parameters, and the other providers' names."""

    rng: Random
    parameters: Mapping[str, Json]
    others: tuple[str, ...]  # display names of the model's other providers

    def amount(self, key: str) -> float:
        return float(self.parameters[key])

    def word(self, key: str) -> str:
        return str(self.parameters[key])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way to misbehave: one of the three changes, or the parameter that lists faults to choose from."""

    name: str
    version: int
    seen_by: tuple[ContractName | str, ...]  # contracts, or TRIAGE
    does: str  # one sentence
    on_answer: Callable[[PlannedAnswer, Blow], PlannedAnswer] | None = None
    on_stream: Callable[[Stream, Blow], Stream] | None = None
    on_wire: Callable[[Wire, Blow], Wire] | None = None
    stands_for: str | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    probes: frozenset[ProbeKind] = frozenset()  # where it strikes unless told otherwise; empty = everywhere


_STRAY_MARKS: Final = (",", ".", ";", ")", "]", "\uff0c", "\u3002", "\u300b", "|", "\\", '":')
_STRAY_PIECES: Final = (
    "tion",
    "ing ",
    "ment ",
    "\u7684",
    "ed",
    "();",
    "</",
    "ous ",
    "\u0438\u0439 ",
    "ung ",
    "ness",
)


def _spoil_start(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
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


def _mix_portuguese_and_spanish(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.draft is None or planned.asked.locale not in ("pt-BR", "es"):
        return planned
    own, other = planned.asked.locale, "es" if planned.asked.locale == "pt-BR" else "pt-BR"
    pair = (book_for(own), book_for(Locale(other)))
    return replace(planned, text=speak_mixed(planned.draft, pair, blow.rng))


def _speak_another_language(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.draft is None:
        return planned
    others = sorted(locale for locale in books() if locale != planned.asked.locale)
    locale = Locale(blow.word("locale")) if blow.word("locale") else blow.rng.choice(others)
    if locale == planned.asked.locale:
        return planned
    return replace(planned, text=speak(planned.draft, book_for(locale)))


def _delay_first_text(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    late = blow.amount("delay_seconds") * (1 + blow.rng.random() * blow.amount("spread"))
    if late <= planned.first_text:
        return planned
    longer = planned.answer_seconds
    moved = None if longer is None else longer - planned.first_text + late
    return replace(planned, first_text=late, answer_seconds=moved)


def _refuse(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    way = blow.word("with") or blow.rng.choice(("text", "text", "content_filter", "refusal_field"))
    said = refusal_text(planned.asked, blow.rng)
    match way:
        case "text":
            return replace(planned, text=said)
        case "refusal_field":
            return replace(planned, text="", refusal=said)
        case _:
            return replace(planned, text="", finish="content_filter", native_finish="SAFETY")


def _break_schema(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
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


def _fence(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
    if planned.document is None or not planned.text:
        return planned
    return replace(planned, text=f"```json\n{planned.text}\n```")


def _limit_rate(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
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


def _cut(stream: Stream, blow: Blow) -> Stream:
    """End the stream within its text, with neither finish reason nor [DONE]."""
    texts = [index for index, frame in enumerate(stream.frames) if _has_text(frame.payload)]
    if not texts:
        return stream
    kept = texts[min(len(texts) - 1, int(len(texts) * blow.amount("after")))]
    return replace(stream, frames=stream.frames[: kept + 1], ending=EndingMode(blow.word("how")))


def _has_text(payload: Mapping[str, Json] | None) -> bool:
    choices = (payload or {}).get("choices") or []
    return any(choice.get("delta", {}).get("content") for choice in choices)


def _serve_elsewhere(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    name = blow.word("served_by") or (blow.rng.choice(blow.others) if blow.others else "Elsewhere")
    return replace(planned, provider=name) if name != planned.provider else planned


FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        name="spoiled_start",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        does="Puts punctuation or a piece of an unrelated token before the text, or for its first letter.",
        on_answer=_spoil_start,
        parameters={"with": Choice(default="", options=("", "mark", "piece", "swallowed"))},
    ),
    Fault(
        name="pt_es_mixing",
        version=1,
        seen_by=(LANGUAGE,),
        does="Keeps changing between Portuguese and Spanish, also inside sentences.",
        on_answer=_mix_portuguese_and_spanish,
    ),
    Fault(
        name="wrong_language",
        version=1,
        seen_by=(LANGUAGE,),
        does="Writes the whole scene in another language.",
        on_answer=_speak_another_language,
        parameters={"locale": Choice(default="", options=("", "en", "es", "pt-BR", "th"))},
    ),
    Fault(
        name="slow_first_text",
        version=1,
        seen_by=(LATENCY,),
        does="Opens the stream at once and sends the first visible text late.",
        on_answer=_delay_first_text,
        parameters={
            "delay_seconds": Amount(default=13.0, low=0.0, high=600.0),
            "spread": Amount(default=0.2, low=0.0, high=5.0),
        },
    ),
    Fault(
        name="filtering_refusal",
        version=1,
        seen_by=(FILTERING,),
        does="Refuses the scene: in words, in the refusal field, or with finish reason content_filter.",
        on_answer=_refuse,
        parameters={"with": Choice(default="", options=("", "text", "refusal_field", "content_filter"))},
        probes=frozenset({ProbeKind.FILTER}),
    ),
    Fault(
        name="schema_break",
        version=1,
        seen_by=(STRUCTURED,),
        does="Answers JSON that its schema does not accept.",
        on_answer=_break_schema,
    ),
    Fault(
        name="fenced_json",
        version=1,
        seen_by=(STRUCTURED,),
        does="Wraps the JSON document in a Markdown code fence.",
        on_answer=_fence,
    ),
    Fault(
        name="flaky",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        does="Spoils an answer by one of several other faults; its probability says how often.",
        stands_for="of",
        parameters={"of": FaultNames(default=("spoiled_start", "schema_break"))},
    ),
    Fault(
        name="rate_limit_shared_pool",
        version=1,
        seen_by=(TRIAGE,),
        does="Refuses with 429: the provider limits the gateway's pooled key.",
        on_answer=_limit_rate,
        parameters={"retry_after_seconds": Amount(default=20, low=0, high=86_400)},
    ),
    Fault(
        name="cut_stream",
        version=1,
        seen_by=(TRIAGE,),
        does="Ends the stream within its text, with neither finish reason nor [DONE].",
        on_stream=_cut,
        parameters={
            "after": Amount(default=0.5, low=0.0, high=1.0),
            "how": Choice(default="clean", options=("clean", "reset")),
        },
    ),
    Fault(
        name="wrong_provider",
        version=1,
        seen_by=(TRIAGE,),
        does="Shows another provider's display name on every chunk.",
        on_answer=_serve_elsewhere,
        parameters={"served_by": Name()},
    ),
)

FAULT_NAMED: Final[Mapping[str, Fault]] = {fault.name: fault for fault in FAULTS}

TRANSPORT_FAULTS: Final = ("rate_limit_shared_pool", "cut_stream")
"""What befalls healthy routes now and then."""


def defaults(fault: Fault) -> dict[str, ParameterValue]:
    return {key: parameter.default for key, parameter in fault.parameters.items()}
