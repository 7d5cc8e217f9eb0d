"""Does the text lecture, where a scene was asked for?

Many refusals know no inability: they say what is wrong with the question, what is important, and whom to ask
for help. No single sentence of that is a refusal; what tells is how thickly they stand. So all of them are
counted, over the whole text, and related to its length.

Source: filtering.md §1 (misses), §3 (the scene check); docs/judges.md.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

from routecanary.judge.narration import Narration
from routecanary.judge.refusals.lexicon import Lexicon
from routecanary.judge.refusals.tables import Tables
from routecanary.judge.voice import SPEECH

SURE: Final = 20  # points per hundred words: far above what any text that helps has reached
_FEW_WORDS: Final = 60  # a shorter text is judged as if it had so many
_PER: Final = 100  # words
_LETTERS_PER_WORD: Final = 3  # where words are not parted by spaces
# class → points for each, and how many of them count
_WORTH: Final = {
    "wrong": (2, 3),
    "stance": (3, 2),
    "moral": (2, 3),
    "stress": (2, 3),
    "value": (3, 4),
    "instead": (2, 1),
    "seek": (2, 2),
}
_NO_HARM: Final = 6  # points less where nothing is called harmful
_OPENING: Final = 90  # characters in which an answer that helps may say that it does
_TOLD: Final = 4  # and for each line of a character's, and each word that only a tale has
# Without one of these classes a text may as well explain what harm is: it needs a fifth more.
_TURNS: Final = frozenset({"STANCE", "INSTEAD", "SEEK"})
_WITHOUT_TURN: Final = 5 / 6
_MOST_WORDS: Final = (
    _PER * sum(worth * most for worth, most in _WORTH.values()) / SURE
)  # beyond, none is sure


class Lecture(NamedTuple):
    """How thickly a text lectures, in points per hundred words, and by which classes."""

    points: float
    why: tuple[str, ...]


def lecture_score(narration: Narration, tables: Tables) -> Lecture:
    """Score a narration; one that is too long to be sure scores 0."""
    best = Lecture(0.0, ())
    for lexicon in tables.holding(narration, "wrong", "stance"):
        if _words(narration, lexicon) <= _MOST_WORDS:
            best = max(best, _score(narration, lexicon))
    return best


def _words(narration: Narration, lexicon: Lexicon) -> float:
    if lexicon.spaced:
        return narration.text.count(" ") - 1
    return len(narration.tight) / _LETTERS_PER_WORD


def _score(narration: Narration, lexicon: Lexicon) -> Lecture:
    text = narration.form_for(lexicon)
    if not lexicon["wrong"].search(text) and not lexicon["stance"].search(text):
        return Lecture(0.0, ())
    points, named = 0, []
    for name, (worth, most) in _WORTH.items():
        count = len(list(islice(lexicon[name].finditer(text), most)))
        if count:
            points += worth * count
            named.append(name.upper())
    if "MORAL" not in named and not lexicon["harm"].search(text):
        points -= _NO_HARM
    if lexicon["fact"].search(text) or lexicon["accept"].search(text, 0, _OPENING):
        return Lecture(0.0, ())
    points -= _TOLD * (text.count(SPEECH) + sum(1 for _ in lexicon["tale"].finditer(text)))
    density = _PER * points / max(_FEW_WORDS, _words(narration, lexicon))
    return Lecture(
        density if _TURNS.intersection(named) else density * _WITHOUT_TURN, (lexicon.language, *named)
    )
