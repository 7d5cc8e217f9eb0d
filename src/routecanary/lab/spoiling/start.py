"""How does the start of a text get spoiled?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY, STRUCTURED
from routecanary.lab.fault import Blow, Choice, Fault
from routecanary.lab.plan import PlannedAnswer

_STRAY_MARKS: Final = (",", ".", ";", ")", "]", "，", "。", "》", "|", "\\", '":')
_STRAY_PIECES: Final = ("tion", "ing ", "ment ", "的", "ed", "();", "</", "ous ", "ий ", "ung ", "ness")


def spoil_start(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put debris before the text, or for its first letter."""
    if not planned.text:
        return planned
    match blow.way("mark", "mark", "piece", "piece", "swallowed"):
        case "mark":
            return replace(planned, text=blow.rng.choice(_STRAY_MARKS) + planned.text)
        case "piece":
            return replace(planned, text=blow.rng.choice(_STRAY_PIECES) + planned.text)
        case _:
            return replace(planned, text=blow.rng.choice(_STRAY_PIECES) + planned.text[1:])


START: Final = (
    Fault(
        name="spoiled_start",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        gives=("fail:corrupt_start", "fail:json_trailing", "fail:json_invalid"),
        does="Puts punctuation or a piece of an unrelated token before the text, or for its first letter.",
        on_answer=spoil_start,
        parameters={"with": Choice(default="", options=("", "mark", "piece", "swallowed"))},
    ),
)
