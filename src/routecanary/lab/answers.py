"""What does a healthy host answer?

An answer is drafted first, as a choice of sentences that is the same in every language, and spoken after
that. A fault can speak the same draft otherwise: in another language, or in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, cycle
from random import Random
from typing import Final

from routecanary.domain.probe import ProbeKind
from routecanary.lab.phrases import GROUPS, Book, Sentence, book_for
from routecanary.lab.reading import Asked

MARGIN: Final = 1.08  # how much longer than the least length asked a scene is meant to be
PLAIN_SENTENCES: Final = (3, 6)

_PARAGRAPHS: Final = (
    ("places", "deeds"),
    ("speeches", "deeds", "places"),
    ("speeches", "deeds", "speeches"),
    ("places", "deeds", "speeches"),
)
"""The groups of each paragraph after the opening; the cycle goes on until the scene is long enough."""

_SLOTS: Final = ("{a}", "{b}", "{object}")
_SLOT: Final = re.compile("|".join(map(re.escape, _SLOTS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One chosen sentence: its group and its place there, the same in every language."""

    group: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A scene before it is spoken: paragraphs of lines, the opening first."""

    paragraphs: tuple[tuple[Line, ...], ...]
    names: tuple[str, str]
    object: str
    emphasised: bool  # the opening stands between asterisks


def draft_scene(asked: Asked, rng: Random) -> Draft:
    """Choose the sentences of a scene, none twice, with both characters and the object in it."""
    book, wording = book_for(asked.locale), asked.wording
    piles = {group: rng.sample(range(len(book.texts[group])), len(book.texts[group])) for group in GROUPS}
    opening = Line(group="openings", index=piles["openings"].pop())
    ending = Line(group="closings", index=piles["closings"].pop())
    paragraphs: list[list[Line]] = [[opening]]
    for groups in cycle(_PARAGRAPHS):
        drawn = [Line(group=group, index=piles[group].pop()) for group in groups if piles[group]]
        paragraphs.append(drawn)
        lines = [*chain.from_iterable(paragraphs), ending]
        words = sum(book.lengths[line.group][line.index] for line in lines)
        if not drawn or words >= wording.min_words * MARGIN:
            break
    said = "".join("".join(book.texts[line.group][line.index]) for line in lines)
    if not all(slot in said for slot in _SLOTS):
        ending = _all_in_one(book)
    return Draft(
        paragraphs=(*(tuple(paragraph) for paragraph in paragraphs if paragraph), (ending,)),
        names=wording.names,
        object=wording.object,
        emphasised=asked.kind is ProbeKind.CHAT,
    )


def _all_in_one(book: Book) -> Line:
    """Find a closing that names both characters and the object."""
    sentences = book.texts["closings"]
    index = next(
        place for place, sentence in enumerate(sentences) if all(slot in "".join(sentence) for slot in _SLOTS)
    )
    return Line(group="closings", index=index)


def speak(draft: Draft, book: Book) -> str:
    """Say a draft in one language."""
    return _spoken(draft, book, lambda line: book.texts[line.group][line.index])


def speak_mixed(draft: Draft, books: tuple[Book, Book], rng: Random) -> str:
    """Say a draft with the language changing inside its sentences, clause by clause.

    Example: with Portuguese and Spanish, "A chuva parou, pero nadie salió a la calle."
    """

    def mixed(line: Line) -> Sentence:
        first = rng.randrange(2)
        clauses = [book.texts[line.group][line.index] for book in books]
        return tuple(clauses[(first + step) % 2][step] for step in range(len(clauses[0])))

    return _spoken(draft, books[0], mixed)


def _spoken(draft: Draft, book: Book, sentence_of: Callable[[Line], Sentence]) -> str:
    paragraphs: list[str] = []
    for paragraph in draft.paragraphs:
        said: list[str] = []
        for line in paragraph:
            text = _filled("".join(sentence_of(line)), draft)
            if line.group == "openings":
                text = f"*{text}*" if draft.emphasised else text + book.ends
            said.append(text)
        paragraphs.append(book.script.joiner.join(said))
    return "\n\n".join(paragraphs)


def _filled(text: str, draft: Draft) -> str:
    """Fill the slots and begin with a capital, also behind an opening quotation mark."""
    first, second = draft.names
    filling = {"{a}": first, "{b}": second, "{object}": draft.object}
    # names come from a prompt: filled in one pass, so that a brace in one stays a brace
    text = _SLOT.sub(lambda slot: filling[slot.group()], text)
    at = next((place for place, letter in enumerate(text) if letter.isalnum()), 0)
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def plain_reply(asked: Asked, rng: Random) -> str:
    """Answer a prompt that asks for no scene: a few sentences, in its language."""
    book = book_for(asked.locale)
    count = rng.randint(*PLAIN_SENTENCES)
    kept = sorted(rng.sample(range(len(book.plain)), min(count, len(book.plain))))
    return book.script.joiner.join(book.plain[index] for index in kept)


def with_afterword(text: str, mark: str, book: Book, rng: Random) -> str:
    """Put the line that ends a scene below it, and a sentence below that."""
    return f"{text}\n\n{mark}\n\n{rng.choice(book.afterwords)}"


def refusal_text(asked: Asked, rng: Random) -> str:
    """Refuse in the prompt's language, in the words of a filter."""
    return rng.choice(book_for(asked.locale).refusals)
