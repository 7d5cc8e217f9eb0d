"""In which ways can a host of the lab misbehave?

A fault is one row of `FAULTS`: a name, a version, who sees it, and a change of one of the three values that
an answer goes through (plan.py). Only a change counts as struck. A new fault is one function in `spoiling.py`
and one row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, LATENCY, STRUCTURED
from routecanary.domain.probe import ProbeKind
from routecanary.lab.fault import TRIAGE, Amount, Choice, Fault, FaultNames, Name
from routecanary.lab.spoiling import (
    break_schema,
    cut,
    delay_first_text,
    fence,
    limit_rate,
    mix_portuguese_and_spanish,
    refuse,
    serve_elsewhere,
    speak_another_language,
    spoil_start,
)

_SIMPLE: Final = (
    Fault(
        name="spoiled_start",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        does="Puts punctuation or a piece of an unrelated token before the text, or for its first letter.",
        on_answer=spoil_start,
        parameters={"with": Choice(default="", options=("", "mark", "piece", "swallowed"))},
    ),
    Fault(
        name="pt_es_mixing",
        version=1,
        seen_by=(LANGUAGE,),
        does="Keeps changing between Portuguese and Spanish, also inside sentences.",
        on_answer=mix_portuguese_and_spanish,
    ),
    Fault(
        name="wrong_language",
        version=1,
        seen_by=(LANGUAGE,),
        does="Writes the whole scene in another language.",
        on_answer=speak_another_language,
        parameters={"locale": Choice(default="", options=("", "en", "es", "pt-BR", "th"))},
    ),
    Fault(
        name="slow_first_text",
        version=1,
        seen_by=(LATENCY,),
        does="Opens the stream at once and sends the first visible text late.",
        on_answer=delay_first_text,
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
        on_answer=refuse,
        parameters={"with": Choice(default="", options=("", "text", "refusal_field", "content_filter"))},
        probes=frozenset({ProbeKind.FILTER}),
    ),
    Fault(
        name="schema_break",
        version=1,
        seen_by=(STRUCTURED,),
        does="Answers JSON that its schema does not accept.",
        on_answer=break_schema,
    ),
    Fault(
        name="fenced_json",
        version=1,
        seen_by=(STRUCTURED,),
        does="Wraps the JSON document in a Markdown code fence.",
        on_answer=fence,
    ),
    Fault(
        name="rate_limit_shared_pool",
        version=1,
        seen_by=(TRIAGE,),
        does="Refuses with 429: the provider limits the gateway's pooled key.",
        on_answer=limit_rate,
        parameters={"retry_after_seconds": Amount(default=20, low=0, high=86_400)},
    ),
    Fault(
        name="cut_stream",
        version=1,
        seen_by=(TRIAGE,),
        does="Ends the stream within its text, with neither finish reason nor [DONE].",
        on_stream=cut,
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
        on_answer=serve_elsewhere,
        parameters={"served_by": Name()},
    ),
)

FAULTS: Final[tuple[Fault, ...]] = (
    *_SIMPLE,
    Fault(
        name="flaky",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        does="Spoils an answer by one of several other faults; its probability says how often.",
        stands_for="of",
        parameters={
            "of": FaultNames(
                default=("spoiled_start", "schema_break"), options=tuple(fault.name for fault in _SIMPLE)
            )
        },
    ),
)

FAULT_NAMED: Final[Mapping[str, Fault]] = {fault.name: fault for fault in FAULTS}

TRANSPORT_FAULTS: Final = ("rate_limit_shared_pool", "cut_stream")
"""What befalls healthy routes now and then."""
