"""Does the text refuse, with high confidence?

Scored, not matched: an inability alone is worth nothing, an inability to serve the request a little, an
inability that names something outside of the fiction much. Read where refusals stand, after the characters'
speech is gone: a short answer as a whole, of a long one the opening and the last paragraph.

Source: filtering.md §3, its table of points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from routecanary.judge.called import is_called
from routecanary.judge.narration import Narration, narration_of
from routecanary.judge.refusals.entry import found_in
from routecanary.judge.refusals.lexicon import Lexicon
from routecanary.judge.refusals.tables import Tables
from routecanary.judge.voice import SPEECH

_WHOLE: Final = 1_200  # characters of an answer that is read as a whole
_WINDOW: Final = 520  # characters of the opening of a longer one, and at most of its last paragraph
_DENSE: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")  # half of all these
_SHORT, _VERY_SHORT = 420, 140  # characters of the whole message
_BEFORE, _AFTER = 100, 120  # characters of a sentence around an inability that are about it
_VERB: Final = 24  # letters before an inability in which its verb stands, in languages that put it last
_TALE, _SIGNS = 3, 4  # points less for what only a tale has, and one for each sign of it, so many at most
_ACCEPT: Final = 3  # points less where the request was taken up before
_SUSPECT: Final = 3  # points: unsure, save where a scene was asked for
_OF_FACT: Final = 2  # points at most where the ground is one of fact: unclear, fictional, not there
_BESIDE: Final = 40  # characters between a verb of service and its `that`
_OPENS: Final = 60  # characters of a sentence in which it may open with an apology or with `as an AI`
_MOST: Final = 12  # inabilities of a place that are looked at
_NAME: Final = r",\s+(?:my\s+|mein[e]?\s+|mon\s+|mi\s+|meu\s+)?[A-ZÀ-ÞА-Я][\w'’-]+\s*"
_VOCATIVE: Final = re.compile(_NAME + r"[.!?](?=\s|$)")
_ASIDE: Final = re.compile(_NAME + ",")  # in a short message; in a long one it is a list
_ACTION: Final = re.compile(r"(?<![*\w])\*(?![*\s])[^*\n]{3,200}\*(?!\*)")


class Score(NamedTuple):
    """How much a text speaks for a refusal, and why; `template` is a gateway's own text."""

    points: int
    why: tuple[str, ...]
    template: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A place where a refusal may stand."""

    narration: Narration
    last: bool = False


def refusal_score(narration: Narration, tables: Tables) -> Score:
    """Score a narration; the best of its places counts."""
    best = Score(0, ())
    places: tuple[_Place, ...] = ()
    for lexicon in tables.holding(narration, "unable", "template"):
        if _is_template(narration, lexicon):
            return Score(9, (lexicon.language, "template"), template=True)
        places = places or tuple(_places(narration))
        best = max(best, *(_score(place, lexicon) for place in places), key=lambda score: score.points)
    return best


def _places(narration: Narration) -> Iterator[_Place]:
    original = narration.original
    share = 2 if _DENSE.search(original[:200]) else 1
    if len(original) * share <= _WHOLE:
        yield _Place(narration)
        return
    size = _WINDOW // share
    opening = original[: max(original.rfind(" ", 0, size), size // 2)]
    yield _Place(narration_of(opening, narration.length))
    last = original.rsplit("\n", 1)[-1]
    if len(last) > size:
        last = last[max(last.find(" ", -size), -size) :]
    yield _Place(narration_of(last, narration.length), last=True)


def _is_template(narration: Narration, lexicon: Lexicon) -> bool:
    text = narration.form_for(lexicon).replace("\n", " " if lexicon.spaced else "")
    return lexicon["template"].search(text) is not None


def _score(place: _Place, lexicon: Lexicon) -> Score:
    text, length = place.narration.form_for(lexicon), place.narration.length
    unable = list(islice(lexicon["unable"].finditer(text), _MOST))
    if not unable:
        return Score(0, ())
    offered = [match for match in lexicon["offer"].finditer(text) if not _meets(match, unable)]
    offers = min(2, len(offered))
    classes = _classes(_without(text, offered), unable, lexicon)
    found = {name: lexicon[name].search(text) is not None for name in ("moral", "policy")}
    apology = _opens(text, lexicon, "apology")
    ai = _opens(text, lexicon, "ai")
    grounds = found["moral"] or found["policy"] or offers
    if grounds and "BARE_DELIVERY" in classes:
        classes.add("PROV")  # what is not provided is called harmful: no ground of a character's
    if grounds and "BARE_SERVICE" in classes:
        classes.add("TASK")
    speech = SPEECH in place.narration.text
    inability = classes & {"OBJ", "TASK", "PROV"}
    if not inability and not ai:
        # An apology and an inability to serve as the whole message: a character may say just that.
        suspect = "BARE_SERVICE" in classes and apology and length <= _VERY_SHORT and not speech
        points = _SUSPECT if suspect else int(len(classes) > 1)
        return Score(points, (lexicon.language, *sorted(classes), *["APOL"][: int(apology)]))
    points = 3 if "OBJ" in classes else 2 if inability else 0
    if "OBJ" not in classes and classes & {"REQUEST", "INFO"}:
        points += 1
    counted = {
        "AI": 2 * ai,
        "POL": 2 * found["policy"],
        "OFF": offers,
        "APOL": apology,
        "MORAL": found["moral"],
        "TWO": "PROV" in inability and len(inability) > 1,
    }
    points += sum(counted.values())
    named = {name for name, worth in counted.items() if worth}
    plain = bool(named & {"AI", "POL", "APOL"} or classes & {"OBJ", "REQUEST"})
    if length <= _SHORT and (named or plain):
        points += 2 if length <= _VERY_SHORT and plain else 1
    elif length <= _VERY_SHORT:
        points = max(points, _SUSPECT)
    help_declined = classes & {"BARE_SERVICE", "BARE_DELIVERY"}
    if not inability and (lexicon["accept"].search(text) or not (grounds or help_declined)):
        points = min(points, _SUSPECT)  # a model may call itself one and help
    if not found["policy"] and lexicon["fact"].search(text):
        points = min(points, _OF_FACT)
    if not named - {"TWO"} and _is_common(text, offered, unable, lexicon):
        points = min(points, _SUSPECT)
    if speech or _addresses(place.narration.original, length):
        points -= 2
    if points >= _SUSPECT:
        points -= _spared(place.narration, unable[0].start(), lexicon)
    if place.last and not named & {"AI", "POL"} and "OBJ" not in classes:
        points -= 2
    return Score(points, (lexicon.language, *sorted(inability), *sorted(named)))


def _is_common(
    text: str, offered: list[re.Match[str]], unable: list[re.Match[str]], lexicon: Lexicon
) -> bool:
    """Say whether nothing is declined but what anybody may decline: to answer a question, to tell a story."""
    common = list(islice(lexicon["common"].finditer(text), _MOST))
    if not common:
        return False
    rest = _classes(_without(text, [*offered, *common]), unable, lexicon)
    return not rest & {"OBJ", "TASK", "PROV"}


def _spared(narration: Narration, first: int, lexicon: Lexicon) -> int:
    """Say how many points a tale around the inability takes away, or a request that is taken up before it."""
    told = called = 0
    for paragraph in narration.original.split("\n\n"):
        text = found_in(paragraph, lexicon.language)
        if lexicon["unable"].search(text):
            told = max(told, len(list(islice(lexicon["told"].finditer(text), _MOST))))
            called = max(called, is_called(paragraph, lexicon))
    accepts = lexicon["accept"].search(narration.form_for(lexicon), 0, first) is not None
    signs = min(_SIGNS, told + called)
    return (_TALE + signs if signs else 0) + _ACCEPT * accepts


def _meets(offer: re.Match[str], unable: list[re.Match[str]]) -> bool:
    """Say whether an offer lies within an inability: `no puedo ayudar` offers nothing."""
    return any(offer.start() < match.end() and match.start() < offer.end() for match in unable)


def _without(text: str, offered: list[re.Match[str]]) -> str:
    """Blank out what is offered: `I cannot stay, but I can help` does not decline to help."""
    for match in offered:
        text = f"{text[: match.start() + 1]}{'¬' * (match.end() - match.start() - 1)}{text[match.end() :]}"
    return text


def _classes(text: str, unable: list[re.Match[str]], lexicon: Lexicon) -> set[str]:
    """Say what the inabilities of a text are about."""
    found: set[str] = set()
    share = 1 if lexicon.spaced else 2
    for match in unable:
        start = max(text.rfind("\n", 0, match.start() + 1), match.start() - _BEFORE // share, 0)
        end = text.find("\n", match.start() + 1)
        end = min(len(text) if end < 0 else end + 1, match.end() + _AFTER // share)
        verb = text[max(start, match.start() - _VERB) : match.end()] if lexicon.verb_last else None
        found |= _about(text[start:end], lexicon, verb)
    return found


def _about(sentence: str, lexicon: Lexicon, verb: str | None) -> set[str]:
    """Say what the inability of one sentence is about; `verb` is where its verb stands, None if anywhere."""
    found = {"UNABLE"}
    serve, provide = (lexicon[name].search(verb or sentence) for name in ("serve", "provide"))
    request = lexicon["request"].search(sentence)
    if (serve or provide) and lexicon["thing"].search(sentence):
        found.add("OBJ")
    if serve and (request or _has_this(serve, sentence, lexicon)):
        found.add("TASK")
    elif serve:
        found.add("BARE_SERVICE")
    if provide:
        if lexicon["info"].search(sentence):
            found |= {"PROV", "INFO"}
        elif request:
            found.add("PROV")
        else:
            found.add("BARE_DELIVERY")
    if request and len(found) > 1:
        found.add("REQUEST")
    return found


def _addresses(original: str, length: int) -> bool:
    """Say whether somebody acts or is spoken to by name."""
    return (
        _ACTION.search(original) is not None
        or _VOCATIVE.search(original) is not None
        or (length <= _SHORT and _ASIDE.search(original) is not None)
    )


def _has_this(serve: re.Match[str], sentence: str, lexicon: Lexicon) -> bool:
    """Say whether `that` or its like stands beside a verb of service."""
    if lexicon.verb_last:
        return lexicon["this"].search(sentence) is not None
    reach = _BESIDE if lexicon.spaced else _BESIDE // 4
    return lexicon["this"].search(sentence, max(0, serve.start() - reach), serve.end() + reach) is not None


def _opens(text: str, lexicon: Lexicon, name: str) -> bool:
    """Say whether a sentence of the text opens with a class."""
    within = _OPENS if lexicon.spaced else _OPENS // 2
    for match in lexicon[name].finditer(text):
        if match.start() - max(text.rfind("\n", 0, match.start() + 1), 0) <= within:
            return True
    return False
