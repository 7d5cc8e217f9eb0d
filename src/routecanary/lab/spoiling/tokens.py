"""Which tokens does a host let through that no reader should see?

The marks are those of common chat templates and tool syntaxes; what stands between is written for the lab.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY, STRUCTURED
from routecanary.lab.fault import UNSEEN, Blow, Choice, Fault
from routecanary.lab.plan import PlannedAnswer

_ENDS: Final = (
    "<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "<end_of_turn>", "</s>", "<｜end▁of▁sentence｜>",
    "[/INST]", "<|im_end|>\n<|im_start|>assistant\n",
)  # fmt: skip
_STARTS: Final = ("<s>", "<|begin_of_text|>", "[BOS]", "<|start_header_id|>assistant<|end_header_id|>\n\n")
_HEADERS: Final = ("assistant\n\n",)

_PLANS: Final = (
    "The scene has to go on where it stopped. Both should speak. I will begin with a gesture and stop early.",
    "They want the next part, in the third person. Let me open with a movement and leave the question open.",
    "Constraints: third person, quotation marks, an object. Draft: one gesture, two exchanges, an open end.",
    "First the weather, then the two of them, then the thing that matters. I must keep to the past tense.",
)
_THOUGHTS: Final = (
    ("<think>\n", "\n</think>\n\n"),
    ("<thinking>", "</thinking>\n\n"),
    ("<reasoning>\n", "\n</reasoning>\n"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_PLANNING: Final = (
    "Okay, the user wants me to go on with this scene. ",
    "The user is asking for the next part of a story in a given language. ",
    "Alright, the user wants a continuation in the third person. ",
)

_CALLS: Final = (
    '<tool_call>\n{"name": "continue_scene", "arguments": {"mood": "tense"}}\n</tool_call>',
    '[TOOL_CALLS][{"name": "continue_scene", "arguments": {"mood": "tense"}}]',
    "<function=continue_scene>\n<parameter=mood>\ntense\n</parameter>\n</function>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.go_on:0<|tool_call_argument_begin|>{}",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>go_on\n{}<｜tool▁call▁end｜>",
    '<|channel|>commentary to=functions.continue_scene <|constrain|>json<|message|>{"mood": "tense"}',
)


def leak_special_token(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Let a mark of the chat template through, at an end or inside."""
    text, rng = planned.text, blow.rng
    if not text:
        return planned
    match blow.way("end", "inside", "start", "header"):
        case "end":
            return replace(planned, text=text + rng.choice(_ENDS))
        case "inside":
            place = max(1, int(len(text) * rng.uniform(0.3, 0.8)))
            return replace(planned, text=f"{text[:place]}{rng.choice(_ENDS)}{text[place:]}")
        case "start":
            return replace(planned, text=rng.choice(_STARTS) + text)
        case _:
            return replace(planned, text=rng.choice(_HEADERS) + text)


def leak_reasoning(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put the reasoning into the text, between its marks, or with the closing one alone."""
    if not planned.text:
        return planned
    opening, closing = blow.rng.choice(_THOUGHTS)
    plan = blow.rng.choice(_PLANS)
    if blow.way("tagged", "closed") == "closed":
        opening = ""
    return replace(planned, text=f"{opening}{plan}{closing}{planned.text}")


def plan_aloud(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Begin with the plan, without any mark."""
    if not planned.text or planned.document is not None:
        return planned
    return replace(planned, text=f"{blow.rng.choice(_PLANNING)}{blow.rng.choice(_PLANS)}\n\n{planned.text}")


def call_in_text(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Write a call of a tool that nobody offered, before the text or in its place."""
    if not planned.text:
        return planned
    call = blow.rng.choice(_CALLS)
    alone = blow.way("before", "alone") == "alone"
    return replace(planned, text=call if alone else f"{call}\n\n{planned.text}")


def think_aside(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Think in the field that is there for it, then answer."""
    if not planned.text:
        return planned
    return replace(planned, reasoning=" ".join(blow.rng.sample(_PLANS, 2)))


TOKENS: Final = (
    Fault(
        name="special_token",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        gives=("fail:special_token", "fail:corrupt_start", "fail:json_trailing", "fail:json_invalid"),
        does="Lets a mark of the chat template through, at the start, the end or inside of the text.",
        on_answer=leak_special_token,
        parameters={"with": Choice(default="", options=("", "end", "inside", "start", "header"))},
    ),
    Fault(
        name="reasoning_leak",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        gives=("fail:reasoning_leak", "fail:json_trailing", "fail:json_invalid"),
        does="Puts its reasoning into the text, between marks or with the closing one alone.",
        on_answer=leak_reasoning,
        parameters={"with": Choice(default="", options=("", "tagged", "closed"))},
    ),
    Fault(
        name="planning_prose",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("inconclusive:reasoning_leak", "fail:reasoning_leak", "fail:corrupt_start"),
        does="Begins with its plan, without any mark around it.",
        on_answer=plan_aloud,
    ),
    Fault(
        name="tool_text",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        gives=("fail:tool_text", "fail:special_token", "fail:json_trailing", "fail:json_invalid"),
        does="Writes a call of a tool that nobody offered, before the text or in its place.",
        on_answer=call_in_text,
        parameters={"with": Choice(default="", options=("", "before", "alone"))},
    ),
    Fault(
        name="thinks_aside",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Thinks in the field that is there for it before it answers.",
        on_answer=think_aside,
    ),
)
