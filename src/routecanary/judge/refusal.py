"""Does the text refuse, with high confidence?

Scored, not matched: an inability alone is worth nothing, an inability to serve the request a little, an
inability that names something outside of the fiction much. Read in two places only, the opening and the
last paragraph, after the characters' speech is gone.

Source: filtering.md §3, its table of points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from routecanary.judge.refusals import LEXICONS
from routecanary.judge.refusals.lexicon import Lexicon
from routecanary.judge.voice import fold, narrator

_ENDS: Final = 8_000  # characters of a very long answer that are read at either end
_WINDOW: Final = 520  # characters of the opening, and at most of the last paragraph
_DENSE: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")  # half the window
_AI_WITHIN: Final = 100  # characters of the opening
_APOLOGY_WITHIN: Final = 120
_SHORT, _VERY_SHORT = 420, 140  # characters of the whole message
_SENTENCE: Final = re.compile(r"(?<=[.!?।؟])\s+|(?<=[。！？])|\n+")
_VOCATIVE: Final = re.compile(r",\s+(?:my\s+|mein[e]?\s+|mon\s+|mi\s+|meu\s+)?[A-ZÀ-ÞА-Я][\w'’-]+\s*[.!?]")
_ACTION: Final = re.compile(r"\*[^*\n]{3,200}\*")

# Grounds of fact: the question is unclear, the thing does not exist. Not a refusal, whatever its manners.
_ASKS_BACK: Final = re.compile(
    r"unclear (?:what|which|who)|more (?:context|details) (?:about|or|so)|clarify (?:your|what)"
    r"|did you mean|(?:is|are|as a|considered) (?:a )?fictional|does(?: not|n't) (?:actually )?exist"
    r"|not a real (?:person|place)"
)

# Texts that gateways put in place of an answer, folded.
_TEMPLATES: Final = re.compile(
    r"这个问题我暂时无法回答,?让我们换个话题|beyond my current scope\.? let'?s talk about something else"
    r"|blocked by (?:our|the) content filter|the model cannot answer this question"
    r"|response was filtered due to the prompt triggering"
    r"|(?:output|response|prompt) (?:was )?blocked by (?:our |the )?(?:content|safety)"
)


class Score(NamedTuple):
    """How much a text speaks for a refusal, and why; `template` is a gateway's own text."""

    points: int
    why: tuple[str, ...]
    template: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """One of the two places where a refusal stands."""

    original: str
    folded: str
    last: bool


def refusal_score(text: str) -> Score:
    """Score a text; the better of its two places counts."""
    shown = text.strip()
    if not shown:
        return Score(0, ())
    best = Score(0, ())
    for place in _places(shown):
        if _TEMPLATES.search(place.folded):
            return Score(9, ("template",), template=True)
        for lexicon in _candidates(place.folded):
            score = _score(place, lexicon, len(shown), speech="¤" in place.original)
            if score.points > best.points:
                best = score
    return best


def _places(text: str) -> Iterator[_Place]:
    if len(text) > 2 * _ENDS:
        text = f"{text[:_ENDS]}\n{text[-_ENDS:]}"
    narration = narrator(text).narration
    size = _WINDOW // 2 if _DENSE.search(narration[:200]) else _WINDOW
    opening = narration.lstrip()[:size]
    yield _Place(opening, fold(opening), last=False)
    last = narration.rstrip().rsplit("\n", 1)[-1][-size:]
    if last.strip() and len(narration) > size and not opening.endswith(last):
        yield _Place(last, fold(last), last=True)


def _candidates(folded: str) -> Iterator[Lexicon]:
    """Find the lexicons that have anything to say: one pass per script that the text holds."""
    for script, gate, lexicons in _GATES:
        if script.search(folded) and gate.search(folded):
            for lexicon in lexicons:
                if lexicon.unable.search(folded) or lexicon.ai.search(folded):
                    yield lexicon


def _score(place: _Place, lexicon: Lexicon, length: int, *, speech: bool) -> Score:
    text = place.folded
    classes: set[str] = set()
    for sentence in _SENTENCE.split(text):
        classes |= _classes(sentence, lexicon)
    apology = lexicon.apology.search(text[:_APOLOGY_WITHIN]) is not None
    moral = lexicon.moral.search(text) is not None
    if moral and "BARE_DELIVERY" in classes:
        classes.add("PROV")  # what is not provided is called harmful: no ground of a character's
    if moral and "BARE_SERVICE" in classes:
        classes.add("TASK")
    inability = classes & {"OBJ", "TASK", "PROV"}
    ai = lexicon.ai.search(text)
    ai_opens = ai is not None and ai.start() < _AI_WITHIN and not place.last
    if not inability and not (ai_opens and "UNABLE" in classes):
        # An apology and an inability to serve as the whole message: a character may say just that.
        suspect = "BARE_SERVICE" in classes and apology and length <= _VERY_SHORT and not speech
        return Score(3, (lexicon.language, "BARE_SERVICE", "APOL")) if suspect else Score(0, ())
    points = 3 if "OBJ" in classes else 2 if inability else 0
    if "OBJ" not in classes and classes & {"REQUEST", "INFO"}:
        points += 1
    counted = {
        "AI": 2 * (ai_opens or (ai is not None and place.last)),
        "POL": 2 * (lexicon.policy.search(text) is not None),
        "OFF": lexicon.offer.search(text) is not None,
        "APOL": apology,
        "MORAL": moral,
        "TWO": len(inability) > 1,
    }
    points += sum(counted.values())
    named = {name for name, worth in counted.items() if worth}
    plain = bool(named & {"AI", "POL", "APOL"} or classes & {"OBJ", "REQUEST"})
    if length <= _SHORT and (named or plain):
        points += 2 if length <= _VERY_SHORT and plain else 1
    if _ASKS_BACK.search(text):
        points -= 4
    if speech or _ACTION.search(place.original) or _VOCATIVE.search(place.original):
        points -= 2
    if place.last and not named & {"AI", "POL"} and "OBJ" not in classes:
        points -= 2
    return Score(points, (lexicon.language, *sorted(inability), *sorted(named)))


def _classes(sentence: str, lexicon: Lexicon) -> set[str]:
    if not lexicon.unable.search(sentence):
        return set()
    found = {"UNABLE"}
    serve, provide = lexicon.serve.search(sentence), lexicon.provide.search(sentence)
    request = lexicon.request.search(sentence)
    if (serve or provide) and lexicon.thing.search(sentence):
        found.add("OBJ")
    if serve and (request or lexicon.this.search(sentence)):
        found.add("TASK")
    elif serve:
        found.add("BARE_SERVICE")
    if provide:
        if lexicon.info.search(sentence):
            found |= {"PROV", "INFO"}
        elif request:
            found.add("PROV")
        else:
            found.add("BARE_DELIVERY")
    if request and len(found) > 1:
        found.add("REQUEST")
    return found


def _gate(lexicons: tuple[Lexicon, ...]) -> re.Pattern[str]:
    return re.compile("|".join(pattern.pattern for lex in lexicons for pattern in (lex.unable, lex.ai)))


def _of(*languages: str) -> tuple[Lexicon, ...]:
    return tuple(lexicon for lexicon in LEXICONS if lexicon.language in languages)


_GATES: Final = tuple(
    (re.compile(f"[{script}]"), _gate(lexicons), lexicons)
    for script, lexicons in (
        ("a-z", _of("en", "de", "nl", "pt", "es", "fr", "it", "pl", "tr", "vi", "id", "tl")),
        ("\u0400-\u04ff", _of("ru", "uk")),
        ("\u0e00-\u0e7f", _of("th")),
        ("\u0900-\u097f", _of("hi")),
        ("\u0600-\u06ff", _of("ar")),
        ("\u3040-\u30ff", _of("ja")),
        ("\uac00-\ud7a3", _of("ko")),
        ("\u3400-\u9fff", _of("zh")),
    )
)
