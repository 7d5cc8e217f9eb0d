"""How does an engine damage a text mechanically: by loops, doubled tokens, lost spaces?"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY, STRUCTURED
from routecanary.lab.fault import Blow, Choice, Fault
from routecanary.lab.phrases import book_for
from routecanary.lab.plan import CHARACTERS_A_TOKEN, PlannedAnswer

DEFAULT_LIMIT: Final = 1_000  # tokens, where the request states none
_BEGINS_AT: Final = 0.4  # of the text: where a loop takes over
_SENTENCE: Final = re.compile(r"[^.!?。！？।؟\n]{12,160}[.!?。！？।؟]+[\"”»」’]*\s*")
_WORD: Final = re.compile(r"\S+\s*")
_PIECE: Final = re.compile(r"\s*\S{1,4}")


def loop(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Fall into a loop that only the limit ends: of a sentence, a word or a letter."""
    if len(planned.text) < 40:
        return planned
    start = planned.text[: int(len(planned.text) * _BEGINS_AT)]
    match blow.way("sentence", "word", "letter"):
        case "sentence":
            sentences = [match.group() for match in _SENTENCE.finditer(start)]
            again = blow.rng.choice(sentences) if sentences else start[-40:]
        case "word":
            words = [word for word in _WORD.findall(start) if word.strip().isalpha()] or [start[-6:]]
            again = f"{blow.rng.choice(words).strip()} "
        case _:
            again = blow.rng.choice("!G.")
    room = CHARACTERS_A_TOKEN * ((blow.request.max_tokens or DEFAULT_LIMIT) + 1) - len(start)
    if room <= 0:
        return planned
    looped = start + again * (room // len(again) + 1)
    return replace(planned, text=looped, finish="length", native_finish="length")


def double(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Send the whole text twice, each piece twice, or some words."""
    text = planned.text
    match blow.way("whole", "pieces", "words"):
        case "whole":
            text = f"{text}\n\n{text}" if text else text
        case "pieces":
            text = "".join(piece * 2 for piece in _PIECE.findall(text))
        case _:
            words = _WORD.findall(text)
            if len(words) < 40 or planned.document is not None:
                return planned
            text = "".join(
                word.rstrip() + " " + word if word.strip().isalpha() and blow.rng.random() < 0.15 else word
                for word in words
            )
    return replace(planned, text=text) if text != planned.text else planned


def lose_spaces(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Run words or sentences together, or put spaces inside the words, where words are parted by spaces."""
    script = book_for(planned.asked.locale).script
    text = planned.text
    if planned.document is not None or text.count(" ") * 12 < len(text) or script.name == "thai":
        return planned
    match blow.way("all", "sentences", "inside"):
        case "all":
            text = re.sub(r"[ \n]+", "", text)
        case "sentences":
            text = re.sub(r"(?<=[.!?।؟])\s+", "", text)
        case _:
            text = re.sub(r"(\w{1,2})(?=\w)", r"\1 ", text)
    return replace(planned, text=text) if text != planned.text else planned


DAMAGE: Final = (
    Fault(
        name="repetition",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("fail:repetition",),
        does="Falls into a loop of a sentence, a word or a letter, which only the limit ends.",
        on_answer=loop,
        parameters={"with": Choice(default="", options=("", "sentence", "word", "letter"))},
    ),
    Fault(
        name="doubled_tokens",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        gives=("fail:doubled_tokens", "fail:json_trailing", "fail:json_invalid"),
        does="Sends the whole text twice, each piece of it twice, or some of its words.",
        on_answer=double,
        parameters={"with": Choice(default="", options=("", "whole", "pieces", "words"))},
    ),
    Fault(
        name="lost_spaces",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("fail:lost_spaces",),
        does="Runs words or sentences together, or puts spaces inside words; only where spaces part them.",
        on_answer=lose_spaces,
        parameters={"with": Choice(default="", options=("", "all", "sentences", "inside"))},
    ),
)
