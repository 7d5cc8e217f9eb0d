"""How does an answer come from elsewhere: another host, another model, a cache, another request?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY
from routecanary.domain.probe import Json
from routecanary.lab.answers import draft_scene, speak
from routecanary.lab.fault import TRIAGE, UNSEEN, Blow, Choice, Fault, Name
from routecanary.lab.phrases import book_for
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.spoiling.places import cut_within_text
from routecanary.lab.stream import Stream

CACHE_HIT: Final = {"X-OpenRouter-Cache-Status": "HIT"}
OLD: Final = 3_600  # s, the age of an answer out of a cache
_SIZE: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![\w])")
_SMALLER: Final = ("3b", "8b", "7b")
_OTHER_MODELS: Final = ("acme/chat-lite", "acme/chat-2-preview", "meadow/lark")
_CODE: Final = re.compile(r"\b[A-Z]{2,12}-\d{2,8}\b")


def serve_elsewhere(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    name = blow.word("served_by") or (blow.rng.choice(blow.others) if blow.others else "Elsewhere")
    return replace(planned, provider=name) if name != planned.provider else planned


def name_nobody(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
    return replace(planned, provider=None)


def serve_smaller_model(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    size = _SIZE.search(planned.model)
    if size is None:
        return planned
    other = blow.rng.choice([smaller for smaller in _SMALLER if smaller != size.group()])
    return replace(planned, model=planned.model.replace(size.group(), other))


def serve_other_model(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    return replace(planned, model=blow.rng.choice(_OTHER_MODELS))


def answer_somebody_else(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Write another request's scene, and below it the code that the other request gave."""
    code = _CODE.search(blow.request.prompt)
    if code is None:
        return planned
    word, _, digits = code.group().partition("-")
    other = int(digits) + blow.rng.randrange(1, 9)
    text = tell_another_scene(planned, blow).text
    return replace(planned, text=f"{text}\n\n{word}-{other % 10 ** len(digits):0{len(digits)}}")


def tell_another_scene(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Write a scene of the same language with other people and another thing."""
    asked, book = planned.asked, book_for(planned.asked.locale)
    wording = replace(asked.wording, names=book.default_names, object=book.default_object)
    if planned.draft is None or wording.names == asked.wording.names:
        return planned
    draft = draft_scene(replace(asked, wording=wording), blow.rng)
    return replace(planned, text=speak(draft, book), draft=draft)


def replay(stream: Stream, blow: Blow) -> Stream:
    """Send an answer out of a cache: the header says so, or only its age."""
    if blow.way("header", "created") == "header":
        return _as_hit(stream)
    frames = tuple(frame._replace(payload=_aged(frame.payload)) for frame in stream.frames)
    return replace(stream, frames=frames)


def replay_cut(stream: Stream, blow: Blow) -> Stream:
    """Send, again and again, an answer that was cut when it was kept."""
    cut = cut_within_text(stream, blow.rng.uniform(0.2, 0.8))
    return stream if cut is stream else _as_hit(cut)


def _as_hit(stream: Stream) -> Stream:
    return replace(stream, headers={**stream.headers, **CACHE_HIT})


def _aged(payload: Mapping[str, Json] | None) -> Mapping[str, Json] | None:
    if payload is None or "created" not in payload:
        return payload
    return {**payload, "created": payload["created"] - OLD}


PROVENANCE: Final = (
    Fault(
        name="wrong_provider",
        version=1,
        seen_by=(TRIAGE,),
        gives=("inconclusive:provider_mismatch",),
        does="Shows another provider's display name on every chunk.",
        on_answer=serve_elsewhere,
        parameters={"served_by": Name()},
    ),
    Fault(
        name="nameless_provider",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("inconclusive:provider_unknown",),
        does="Names no provider.",
        on_answer=name_nobody,
    ),
    Fault(
        name="wrong_model",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("fail:wrong_model",),
        does="Answers under the name of a model of another size; strikes where the model's id states one.",
        on_answer=serve_smaller_model,
    ),
    Fault(
        name="other_model",
        version=1,
        seen_by=(TRIAGE,),
        gives=("inconclusive:model_mismatch",),
        does="Answers under the name of another model, which may be an alias.",
        on_answer=serve_other_model,
    ),
    Fault(
        name="cached_answer",
        version=1,
        seen_by=(TRIAGE,),
        gives=("inconclusive:cached",),
        does="Sends an answer out of a cache: the header says so, or its age alone.",
        on_stream=replay,
        parameters={"with": Choice(default="", options=("", "header", "created"))},
    ),
    Fault(
        name="cached_cut_stream",
        version=1,
        seen_by=(TRIAGE,),
        gives=("inconclusive:cached",),
        does="Sends out of a cache what was cut when it was kept.",
        on_stream=replay_cut,
    ),
    Fault(
        name="cross_talk",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("fail:cross_talk",),
        does="Answers another request, with the code that the other one gave; only where a prompt has one.",
        on_answer=answer_somebody_else,
    ),
    Fault(
        name="other_scene",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Tells a scene with other people and another thing: a fault that no rule can prove.",
        on_answer=tell_another_scene,
    ),
)
