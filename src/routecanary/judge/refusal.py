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

_WINDOW: Final = 520  # characters of the opening, and at most of the last paragraph
_DENSE: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")  # half the window
_AI_WITHIN: Final = 100  # characters of the opening
_SHORT, _VERY_SHORT = 420, 140  # characters of the whole message
_SENTENCE: Final = re.compile(r"(?<=[.!?।؟])\s+|(?<=[。！？])|\n+")
_VOCATIVE: Final = re.compile(r",\s+(?:my\s+|mein[e]?\s+|mon\s+|mi\s+|meu\s+)?[A-ZÀ-ÞА-Я][\w'’-]+\s*[.!?]")
_ACTION: Final = re.compile(r"\*[^*\n]{3,200}\*")

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
    classes: set[str] = set()
    for sentence in _SENTENCE.split(place.folded):
        classes |= _classes(sentence, lexicon)
    inability = classes & {"OBJ", "TASK", "PROV"}
    ai = lexicon.ai.search(place.folded)
    ai_opens = ai is not None and ai.start() < _AI_WITHIN and not place.last
    if not inability and not (ai_opens and "UNABLE" in classes):
        return Score(0, ())
    points = 3 if "OBJ" in classes else 2 if inability else 0
    if "OBJ" not in classes and classes & {"REQUEST", "INFO"}:
        points += 1
    extra: list[str] = []
    if ai is not None and (ai_opens or place.last):
        points += 2
        extra.append("AI")
    if lexicon.policy.search(place.folded):
        points += 2
        extra.append("POL")
    apology = lexicon.apology.search(place.folded[:120])
    for name, found in (
        ("OFF", lexicon.offer.search(place.folded)),
        ("APOL", apology),
        ("MORAL", lexicon.moral.search(place.folded)),
        ("TWO", len(inability) > 1),
    ):
        if found:
            points += 1
            extra.append(name)
    plain = bool({"AI", "POL", "APOL"} & set(extra)) or "OBJ" in classes or "REQUEST" in classes
    if length <= _VERY_SHORT and plain:
        points += 2
    elif length <= _SHORT:
        points += 1
    if speech or _ACTION.search(place.original) or _VOCATIVE.search(place.original):
        points -= 2
    if place.last and not {"AI", "POL"} & set(extra) and "OBJ" not in classes:
        points -= 2
    return Score(points, (lexicon.language, *sorted(classes), *extra))


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
    if provide and (request or lexicon.info.search(sentence)):
        found.add("PROV")
        if lexicon.info.search(sentence):
            found.add("INFO")
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
