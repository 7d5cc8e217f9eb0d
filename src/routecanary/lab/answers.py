"""What does a healthy host answer?

An answer is drafted first, as a choice of sentences that is the same in every language, and spoken after
that. A fault can speak the same draft otherwise: in another language, or in two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

_QUOTES: Final = "“\"'*"


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
    book = book_for(asked.locale)
    piles = {group: rng.sample(range(len(book.texts[group])), len(book.texts[group])) for group in GROUPS}
    opening = Line(group="openings", index=piles["openings"].pop())
    ending = Line(group="closings", index=piles["closings"].pop())
    paragraphs: list[list[Line]] = [[opening], []]
    cycle = 0
    while True:
        for group in _PARAGRAPHS[cycle % len(_PARAGRAPHS)]:
            if piles[group]:
                paragraphs[-1].append(Line(group=group, index=piles[group].pop()))
        cycle += 1
        draft = _draft(asked, [*paragraphs, [ending]])
        long_enough = book.count_words(speak(draft, book)) >= asked.min_words * MARGIN
        if long_enough or not (piles["deeds"] or piles["speeches"]):
            return draft if _mentions_all(draft, book) else _draft(asked, [*paragraphs, [_all_in_one(book)]])
        paragraphs.append([])


def _draft(asked: Asked, paragraphs: Sequence[Sequence[Line]]) -> Draft:
    return Draft(
        paragraphs=tuple(tuple(paragraph) for paragraph in paragraphs if paragraph),
        names=asked.names,
        object=asked.object,
        emphasised=asked.kind is ProbeKind.CHAT,
    )


def _mentions_all(draft: Draft, book: Book) -> bool:
    text = speak(draft, book).lower()
    return all(thing.lower() in text for thing in (*draft.names, draft.object))


def _all_in_one(book: Book) -> Line:
    """Find a closing that names both characters and the object."""
    for index, sentence in enumerate(book.texts["closings"]):
        if all(slot in "".join(sentence) for slot in ("{a}", "{b}", "{object}")):
            return Line(group="closings", index=index)
    raise AssertionError(f"{book.locale}: no closing names everything")


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
                text = f"*{text}*" if draft.emphasised else text + ("" if book.thai else ".")
            said.append(text)
        paragraphs.append(" ".join(said))
    return "\n\n".join(paragraphs)


def _filled(text: str, draft: Draft) -> str:
    """Fill the slots and begin with a capital, also inside an opening quotation mark."""
    first, second = draft.names
    # names come from a prompt: no format string, so that a brace in one stays a brace
    text = text.replace("{a}", first).replace("{b}", second).replace("{object}", draft.object)
    at = next((place for place, letter in enumerate(text) if letter not in _QUOTES), 0)
    return text[:at] + text[at : at + 1].upper() + text[at + 1 :]


def plain_reply(asked: Asked, rng: Random) -> str:
    """Answer a prompt that asks for no scene: a few sentences, in its language."""
    lines = book_for(asked.locale).plain
    count = rng.randint(*PLAIN_SENTENCES)
    kept = sorted(rng.sample(range(len(lines)), min(count, len(lines))))
    return " ".join(lines[index] for index in kept)


def refusal_text(asked: Asked, rng: Random) -> str:
    """Refuse in the prompt's language, in the words of a filter."""
    return rng.choice(book_for(asked.locale).refusals)
