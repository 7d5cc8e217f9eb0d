"""How does a host filter what its neighbours continue?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind
from routecanary.lab.answers import refusal_text
from routecanary.lab.fault import Blow, Choice, Fault
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.refusal import Refusal


def refuse(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    way = blow.way("text", "text", "content_filter", "refusal_field")
    said = refusal_text(planned.asked, blow.rng)
    match way:
        case "text":
            return replace(planned, text=said)
        case "refusal_field":
            return replace(planned, text="", refusal=said)
        case _:
            return replace(planned, text="", finish="content_filter", native_finish="SAFETY")


def moderate(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Answer 403 with what the moderation flagged. Source: openrouter-wire.md §4.5."""
    return replace(
        planned,
        problem=Refusal(
            status=403,
            message=f"{planned.model} requires moderation on {planned.provider}. Your input was flagged.",
            metadata={
                "reasons": ["violence"],
                "flagged_input": blow.request.prompt[:60],
                "provider_name": planned.provider,
                "model_slug": planned.model,
            },
        ),
    )


FILTERS: Final = (
    Fault(
        name="filtering_refusal",
        version=1,
        seen_by=(FILTERING,),
        gives=("fail:refusal", "fail:content_filter"),
        does="Refuses: in words, in the refusal field, or with finish reason content_filter; "
        "strikes filter questions unless `probes` says otherwise.",
        on_answer=refuse,
        parameters={"with": Choice(default="", options=("", "text", "refusal_field", "content_filter"))},
        probes=frozenset({ProbeKind.FILTER}),
    ),
    Fault(
        name="moderation_403",
        version=1,
        seen_by=(FILTERING,),
        gives=("fail:content_filter",),
        does="Refuses with 403: its moderation flagged the prompt; "
        "strikes filter questions unless `probes` says otherwise.",
        on_answer=moderate,
        probes=frozenset({ProbeKind.FILTER}),
    ),
)
