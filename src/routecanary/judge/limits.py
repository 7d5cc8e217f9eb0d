"""Did the host keep to the limit and the stop strings that it was given?

Source: product.md §2; rule 6 of the transcript cases: our own limit is never the host's fault.
"""

from __future__ import annotations

from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail, unsure

_CERTAIN: Final = 2.0  # times the limit: no tokenizer counts so differently
_ALLOWANCE: Final = 16  # tokens: end marks, templates
_DOUBTFUL: Final = 1.25  # times the limit


def limit_ignored(answer: Answer, asked: Asked) -> Finding | None:
    """Compare what was generated with `max_tokens`; hidden reasoning may be counted apart by a host."""
    limit = asked.limit
    if limit is None:
        return None
    spoken = len(answer.text.split())  # a word is at least one token
    if spoken > _CERTAIN * limit + _ALLOWANCE:
        return fail("limit_ignored", f"{spoken} words for a limit of {limit} tokens")
    spent = answer.completion_tokens
    if spent is None:
        return None
    visible = spent - (answer.reasoning_tokens or 0)
    if visible > _CERTAIN * limit + _ALLOWANCE and not answer.reasoning:
        return fail("limit_ignored", f"{visible} tokens for a limit of {limit}")
    if visible > _DOUBTFUL * limit + _ALLOWANCE:
        return unsure("limit_semantics", f"{visible} tokens for a limit of {limit}")
    return None


def stop_ignored(answer: Answer, asked: Asked) -> Finding | None:
    """Look for a stop string in the text; matching is case-sensitive."""
    text = answer.text
    for stop in asked.stops:
        place = text.find(stop)
        if place >= 0:
            if text[place + len(stop) :].strip():
                return fail("stop_ignored", f"the text runs past {stop!r}: {excerpt(text, place)}")
            return unsure("stop_ignored", f"the text ends with the stop string {stop!r}")
        held = next((n for n in range(len(stop) - 1, 3, -1) if text.endswith(stop[:n])), 0)
        if held >= 0.6 * len(stop) and (answer.finish_reason or "").lower() == "stop":
            return unsure("stop_ignored", f"the text ends with the beginning of the stop string {stop!r}")
    return None
