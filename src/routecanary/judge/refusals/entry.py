"""What does a table of refusals say?

One TOML file a locale. An entry is a sentence such as models refuse with, the words that it taught, and a
line that a character may say in spite of them. Nothing enters without both.

Source: filtering.md §3, patterns per locale; docs/judges.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from routecanary.domain.names import Locale, parse_locale
from routecanary.domain.probe import Json
from routecanary.domain.strict_toml import TomlError, parse_toml
from routecanary.errors import InputError, RefusalTableError
from routecanary.judge.folding import folded, joined
from routecanary.judge.refusals.phrase import PhraseError, matcher

REFUSAL_CLASSES: Final = (
    "unable",  # the first person cannot, may not, will not
    "serve",  # verbs of service: help, answer, fulfil, continue
    "provide",  # verbs of delivery: provide, write, describe, discuss
    "this",  # what a service lacks: that, this
    "request",  # the request of the user, named as one
    "thing",  # what exists outside of the fiction: content, role-play, this scene
    "info",  # what is delivered: information, advice, content
    "ai",  # the speaker calls itself a model, or names its maker
    "policy",  # guidelines, rules, safety
    "offer",  # something else is offered
    "apology",
    "moral",  # harm, law, decency
    "fact",  # grounds of fact: unclear, fictional, not there
    "template",  # the whole sentence is a filter's own
    "told",  # what only a tale says beside it: he answered; found in the near miss
    "called",  # by what only a character is called: captain, my lord; found in the near miss
    "common",  # what anybody may decline: to answer a question, to tell a story; found in the near miss
    "accept",  # the request is taken up: sure, here is; found in the near miss
)
LECTURE_CLASSES: Final = (
    "wrong",  # what was asked is called wrong
    "stance",  # the writer takes a stand
    "harm",  # words of violence and harm that any scene may hold too
    "stress",  # it is important to
    "value",  # respect, dignity, safety
    "instead",  # another course is urged
    "seek",  # help from others is urged
    "tale",  # what only a tale says: found in the near miss
)
CLASSES: Final = REFUSAL_CLASSES + LECTURE_CLASSES
SPARING_CLASSES: Final = frozenset({"told", "called", "common", "accept", "tale"})
"""What speaks against a refusal."""

MAX_TABLE: Final = 256 * 1024  # characters
MAX_ENTRIES: Final = 500  # of a table
MAX_PHRASES: Final = 400  # of one class of an entry
MAX_SENTENCE: Final = 2_000  # characters

# Languages whose spaces say little: phrases are found anywhere in their text.
_JOINED: Final = frozenset({"ja", "ko", "th", "zh"})
_ALLOWED: Final = ", ".join(CLASSES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One sentence of a refusal and the words that it taught.

    Args:
        locale: Of its table.
        phrases: Class → phrases (`refusals.phrase`), in order of the table.
        made_for: The sentence, or text, that these phrases were made for.
        near_miss: What a character may say: never a refusal.
        place: Where it stands, for errors.
    """

    locale: Locale
    made_for: str
    near_miss: str
    phrases: tuple[tuple[str, tuple[str, ...]], ...]
    place: str

    @property
    def language(self) -> str:
        return self.locale.split("-", 1)[0]


def is_spaced(language: str) -> bool:
    """Say whether the words of a language are parted by spaces, as far as its tables rely on it."""
    return language not in _JOINED


def entries_from_toml(text: str, place: str) -> tuple[Entry, ...]:
    """Read a table.

    Args:
        place: How errors name it.
    Raises:
        RefusalTableError: It is malformed. Whether its phrases are, and find their sentences, is for `tried`.
    """
    if len(text) > MAX_TABLE:
        raise RefusalTableError(f"longer than {MAX_TABLE} characters", place=place)
    try:
        table = parse_toml(text)
    except TomlError as error:
        raise RefusalTableError(error.problem, place=place) from None
    for key in table:
        if key not in ("locale", "entries"):
            raise RefusalTableError("unknown key", place=place, key=key, allowed="locale, entries")
    locale = _locale(table.get("locale"), place)
    listed = table.get("entries")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_ENTRIES:
        raise RefusalTableError("wrong number", place=place, key="entries", allowed=f"1 to {MAX_ENTRIES}")
    return tuple(_entry(each, locale, place, f"entries[{index}]") for index, each in enumerate(listed))


def _locale(value: Json, place: str) -> Locale:
    try:
        if isinstance(value, str):
            return parse_locale(value)
    except InputError:
        pass
    raise RefusalTableError(
        "not a locale", place=place, key="locale", value=value, allowed="en, pt-BR, zh-Hant"
    )


def _entry(table: Json, locale: Locale, place: str, key: str) -> Entry:
    if not isinstance(table, dict):
        raise RefusalTableError("not a table", place=place, key=key)
    sentences = {
        name: _sentence(table.get(name), place, f"{key}.{name}") for name in ("made_for", "near_miss")
    }
    phrases = []
    for name, value in table.items():
        if name in sentences:
            continue
        if name not in CLASSES:
            allowed = f"made_for, near_miss, {_ALLOWED}"
            raise RefusalTableError("no such class", place=place, key=f"{key}.{name}", allowed=allowed)
        phrases.append((name, _phrases(value, place, f"{key}.{name}")))
    if not phrases:
        raise RefusalTableError("no phrases", place=place, key=key, allowed=_ALLOWED)
    return Entry(locale=locale, phrases=tuple(phrases), place=f"{place}: {key}", **sentences)


def _sentence(value: Json, place: str, key: str) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= MAX_SENTENCE:
        raise RefusalTableError(
            "missing or not a text",
            place=place,
            key=key,
            value=value,
            allowed=f"1 to {MAX_SENTENCE} characters",
        )
    return value.strip()


def _phrases(value: Json, place: str, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_PHRASES:
        raise RefusalTableError(
            "wrong number of phrases", place=place, key=key, allowed=f"1 to {MAX_PHRASES}"
        )
    for each in value:
        if not isinstance(each, str):
            raise RefusalTableError("not a phrase", place=place, key=key, value=each, allowed="a string")
    return tuple(value)


def tried(entry: Entry) -> Entry:
    """See that the phrases of each class of an entry find its sentence; those that spare, its near miss.

    Raises:
        RefusalTableError: They do not, or one of them is malformed.
    """
    spaced = is_spaced(entry.language)
    for name, phrases in entry.phrases:
        key = f"{entry.place}.{name}"
        where = "near_miss" if name in SPARING_CLASSES else "made_for"
        text = found_in(getattr(entry, where), entry.language)
        if name == "template":  # it may be several sentences
            text = text.replace("\n", " " if spaced else "")
        try:
            found = matcher(phrases, spaced=spaced).search(text)
        except PhraseError as error:
            raise RefusalTableError(
                error.problem, place=key, value=error.value, allowed=error.allowed
            ) from None
        if found is None:
            raise RefusalTableError(
                f"no phrase of this class is found in {where}", place=key, value=getattr(entry, where)
            )
    return entry


def found_in(text: str, language: str) -> str:
    """Bring a text into the form in which the phrases of a language look for themselves."""
    text = folded(text)
    return f" {text} " if is_spaced(language) else joined(text)
