"""How does an answer come out too long, too short, or with nothing in it?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, STRUCTURED
from routecanary.lab.answers import draft_scene, speak
from routecanary.lab.fault import UNSEEN, Amount, Blow, Choice, Fault
from routecanary.lab.phrases import book_for
from routecanary.lab.plan import PlannedAnswer, token_count

_LONG: Final = 40  # scenes, more than any limit that a probe sets has room for
_FAR_PAST: Final = 2.3  # times the limit
_LITTLE_PAST: Final = 1.2
_BLANK: Final = {"zero_width": "\u200b\u200b\u2060", "spaces": " \n \n"}
_BURNED: Final = (
    "The request leaves several ways open. One would begin with the weather, one with a gesture, one in the "
    "middle of a sentence. Each has something against it, so it is worth going through them in turn."
)


def ignore_limit(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    longer = _longer(planned, blow, _FAR_PAST)
    return planned if longer is planned else replace(longer, heeds_limit=False)


def talk_on(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Tell on until the request's own limit cuts the text, or the document."""
    limit = blow.request.max_tokens
    if planned.document is None or limit is None:
        return _longer(planned, blow, _LITTLE_PAST)
    tale = " ".join(_scene(planned, blow) for _ in range(4)).replace("\n", " ").replace('"', "'")
    place = planned.text.rfind('"', 0, planned.text.rfind('"'))
    text = f"{planned.text[: place + 1]}{tale}"
    return replace(planned, text=text) if token_count(text) > limit else planned


def _longer(planned: PlannedAnswer, blow: Blow, times: float) -> PlannedAnswer:
    """Add scenes until a text is so many times as long as the request allows."""
    limit = blow.request.max_tokens
    if planned.draft is None or limit is None:
        return planned
    text = planned.text
    for _ in range(_LONG):
        if token_count(text) > times * limit:
            return replace(planned, text=text)
        text = f"{text}\n\n{_scene(planned, blow)}"
    return planned


def _scene(planned: PlannedAnswer, blow: Blow) -> str:
    draft = replace(draft_scene(planned.asked, blow.rng), emphasised=False)
    return speak(draft, book_for(planned.asked.locale))


def ignore_stop(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Run past a stop word that the text reaches, and that more text follows."""
    runs_past = any(planned.text.partition(word)[2].strip() for word in blow.request.stop)
    return replace(planned, heeds_stop=False) if runs_past else planned


def cut_short(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Stop early in a sentence: at a limit that nobody set, or as if that were all."""
    text = planned.text
    place = int(len(text) * blow.rng.uniform(0.2, 0.4))
    while 0 < place < len(text) and not (text[place - 1].isalpha() and text[place].isspace()):
        place += 1  # a word ends here and its sentence goes on, in scripts that part words
        if place > len(text) * 0.45:
            place = int(len(text) * 0.4)
            break
    if place < 20:
        return planned
    if blow.way("length", "stop") == "length":
        return replace(planned, text=text[:place], finish="length", native_finish="length")
    return replace(planned, text=text[:place])


def say_little(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Answer a scene with a few words."""
    if planned.draft is None:
        return planned
    book = book_for(planned.asked.locale)
    return replace(planned, text=f"{blow.rng.choice(book.labels)}{book.ends}")


def overcount(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """State more tokens than the limit allows for a text that keeps to it."""
    limit = blow.request.max_tokens
    return (
        planned if limit is None else replace(planned, stated_tokens=int(limit * blow.amount("times")) + 20)
    )


def hide_prompt(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put a prompt of the host's own in front: it shows in the count of the prompt's tokens alone."""
    return replace(planned, hidden_tokens=int(blow.amount("tokens")))


def say_nothing(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if not planned.text:
        return planned
    way = blow.way("nothing", "zero_width", "spaces")
    return replace(planned, text=_BLANK.get(way, ""))


def reason_only(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Spend the whole answer on reasoning, and stop or run into the limit."""
    if not planned.text:
        return planned
    finish = "length" if blow.word("with") == "length" else "stop"
    return replace(planned, text="", reasoning=" ".join([_BURNED] * 3), finish=finish, native_finish=finish)


LENGTH: Final = (
    Fault(
        name="limit_ignored",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("fail:limit_ignored",),
        does="Writes on far beyond max_tokens.",
        on_answer=ignore_limit,
    ),
    Fault(
        name="stop_ignored",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("fail:stop_ignored",),
        does="Runs past a stop word; strikes where the request has one that the text reaches.",
        on_answer=ignore_stop,
    ),
    Fault(
        name="cut_short",
        version=1,
        seen_by=(FILTERING, INTEGRITY, STRUCTURED),
        gives=("fail:truncated", "fail:json_invalid"),
        does="Stops early within a sentence: at a limit that nobody set, or as if that were all.",
        on_answer=cut_short,
        parameters={"with": Choice(default="", options=("", "length", "stop"))},
    ),
    Fault(
        name="empty_answer",
        version=1,
        seen_by=(FILTERING, INTEGRITY, STRUCTURED),
        gives=("fail:empty", "fail:json_invalid"),
        does="Finishes without a visible character.",
        on_answer=say_nothing,
        parameters={"with": Choice(default="", options=("", "nothing", "zero_width", "spaces"))},
    ),
    Fault(
        name="reasoning_only",
        version=1,
        seen_by=(FILTERING, INTEGRITY, STRUCTURED),
        gives=("fail:reasoning_only", "fail:json_invalid", "inconclusive:own_limit"),
        does="Spends the whole answer on its reasoning, and stops, or runs into the limit.",
        on_answer=reason_only,
        parameters={"with": Choice(default="stop", options=("stop", "length"))},
    ),
    Fault(
        name="short_answer",
        version=1,
        seen_by=(FILTERING, LANGUAGE),
        gives=("inconclusive:too_short",),
        does="Answers a scene with a few words.",
        on_answer=say_little,
    ),
    Fault(
        name="token_overcount",
        version=1,
        seen_by=(INTEGRITY,),
        gives=("inconclusive:limit_semantics",),
        does="States more tokens than the limit allows for a text that keeps to it.",
        on_answer=overcount,
        parameters={"times": Amount(default=1.5, low=1.0, high=100.0)},
    ),
    Fault(
        name="hidden_prompt",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass",),
        does="Puts a prompt of its own in front of the request's, which only the count of its tokens shows.",
        on_answer=hide_prompt,
        parameters={"tokens": Amount(default=400, low=1, high=100_000)},
    ),
    Fault(
        name="long_winded",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass", "inconclusive:own_limit"),
        does="Tells on until the request's own limit cuts the text.",
        on_answer=talk_on,
    ),
)
