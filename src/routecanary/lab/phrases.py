"""What can a host of the lab say, in which language?

One TOML file a language, written for the lab. The files are parallel: sentence n of a group says the same in
each, clause by clause, so a draft can be spoken in any language, and switched in the middle of a sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from routecanary.domain.names import Locale
from routecanary.domain.probe import Json

GROUPS: Final = ("openings", "places", "deeds", "speeches", "closings")

Sentence = tuple[str, ...]
"""The clauses of one sentence, each with its own leading space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a prompt in this language is read."""

    words: frozenset[str]  # function words that tell the language, in lower case
    articles: frozenset[str]
    conjunctions: tuple[str, ...]
    introducers: tuple[str, ...]  # where names have no capitals: what may stand right before one
    stage: frozenset[str]  # nouns of the task itself, never the thing that plays a part
    scene: tuple[str, ...]  # any of these asks for a scene
    emphasised: tuple[str, ...]  # any of these asks for an emphasised opening
    count_unit: str  # the word after a number of words
    objects: tuple[re.Pattern[str], ...]  # where there are no articles: group 1 is the fixed object


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All phrases of one language."""

    locale: Locale
    thai: bool  # written in Thai script, without spaces between words
    reading: Reading
    default_names: tuple[str, str]
    default_object: str
    texts: Mapping[str, tuple[Sentence, ...]]  # by group
    lengths: Mapping[str, tuple[float, ...]]  # by group: words of each sentence, slots as they stand
    plain: tuple[str, ...]  # answers to a prompt that asks for no scene
    refusals: tuple[str, ...]
    labels: tuple[str, ...]  # short titles for the strings of a document


@cache
def books() -> Mapping[Locale, Book]:
    """Load every language of the package's `phrases` folder, once."""
    folder = resources.files("routecanary.lab") / "phrases"
    found = [
        _book(tomllib.loads(entry.read_text(encoding="utf-8")))
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    ]
    return {book.locale: book for book in found}


def book_for(locale: Locale) -> Book:
    """Look up a language; English where the lab does not speak it."""
    known = books()
    return known.get(locale, known[Locale("en")])


def _book(table: Mapping[str, Json]) -> Book:
    """Convert one of the package's own files; a mistake in it is our bug and fails loudly."""
    reading, defaults, replies = table["reading"], table["defaults"], table["replies"]
    first, second = defaults["names"]
    thai = table["script"] == "thai"
    texts = {group: tuple(tuple(line.split("|")) for line in table["texts"][group]) for group in GROUPS}
    return Book(
        locale=Locale(table["locale"]),
        thai=thai,
        reading=Reading(
            words=frozenset(reading["words"]),
            articles=frozenset(reading["articles"]),
            conjunctions=tuple(reading["conjunctions"]),
            introducers=tuple(reading.get("introducers", ())),
            stage=frozenset(reading.get("stage", ())),
            scene=tuple(reading["scene"]),
            emphasised=tuple(reading["emphasised"]),
            count_unit=reading["count_unit"],
            objects=tuple(re.compile(pattern) for pattern in reading.get("objects", ())),
        ),
        default_names=(first, second),
        default_object=defaults["object"],
        texts=texts,
        lengths={
            group: tuple(_count_words("".join(sentence), thai=thai) for sentence in sentences)
            for group, sentences in texts.items()
        },
        plain=tuple(replies["plain"]),
        refusals=tuple(replies["refusals"]),
        labels=tuple(replies["labels"]),
    )


def _count_words(text: str, *, thai: bool) -> float:
    """Count words; where the script marks none, four letters make one."""
    if thai:
        return sum("\u0e01" <= letter <= "\u0e4e" for letter in text) / 4
    return len(text.split())
