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
from routecanary.lab.script import SCRIPTS, Script

GROUPS: Final = ("openings", "places", "deeds", "speeches", "closings")

Sentence = tuple[str, ...]
"""The clauses of one sentence, each with its own leading space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a prompt in this language is read."""

    words: frozenset[str]  # function words that tell the language from others of its script, in lower case
    marks: frozenset[str]  # letters that tell it from others of its script
    nouns_have_capitals: bool  # then only a pair of names is one
    conjunctions: frozenset[str]  # where names have capitals: what stands between two of them
    names: tuple[re.Pattern[str], ...]  # where they have none: groups 1 and 2 are the two characters
    articles: frozenset[str]  # before the fixed object, where the language has them
    objects: tuple[re.Pattern[str], ...]  # where it has none: group 1 is the fixed object
    stage: frozenset[str]  # nouns of the task itself, never the thing that plays a part
    scene: tuple[str, ...]  # any of these asks for a scene
    emphasised: tuple[str, ...]  # any of these asks for an emphasised opening
    count_unit: str  # the word after a number of words
    counts_letters: bool  # the number is one of letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All phrases of one language."""

    locale: Locale
    script: Script
    ends: str  # ends an opening that is a sentence of its own
    reading: Reading
    default_names: tuple[str, str]
    default_object: str
    texts: Mapping[str, tuple[Sentence, ...]]  # by group
    lengths: Mapping[str, tuple[float, ...]]  # by group: words of each sentence, slots as they stand
    plain: tuple[str, ...]  # answers to a prompt that asks for no scene
    refusals: tuple[str, ...]
    afterwords: tuple[str, ...]  # one sentence below the mark that ends a scene
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
    defaults, replies = table["defaults"], table["replies"]
    first, second = defaults["names"]
    script = SCRIPTS[table["script"]]
    texts = {group: tuple(tuple(line.split("|")) for line in table["texts"][group]) for group in GROUPS}
    return Book(
        locale=Locale(table["locale"]),
        script=script,
        ends=table["ends"],
        reading=_reading(table["reading"]),
        default_names=(first, second),
        default_object=defaults["object"],
        texts=texts,
        lengths={
            group: tuple(script.count_words("".join(sentence)) for sentence in sentences)
            for group, sentences in texts.items()
        },
        plain=tuple(replies["plain"]),
        refusals=tuple(replies["refusals"]),
        afterwords=tuple(replies["afterwords"]),
        labels=tuple(replies["labels"]),
    )


def _reading(table: Mapping[str, Json]) -> Reading:
    return Reading(
        words=frozenset(table["words"]),
        marks=frozenset(table.get("marks", "")),
        nouns_have_capitals=table.get("nouns_have_capitals", False),
        conjunctions=frozenset(table.get("conjunctions", ())),
        names=tuple(re.compile(pattern) for pattern in table.get("names", ())),
        articles=frozenset(table.get("articles", ())),
        objects=tuple(re.compile(pattern) for pattern in table.get("objects", ())),
        stage=frozenset(table.get("stage", ())),
        scene=tuple(table["scene"]),
        emphasised=tuple(table["emphasised"]),
        count_unit=table["count_unit"],
        counts_letters=table.get("counts_letters", False),
    )
