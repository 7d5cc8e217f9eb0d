"""What does a prompt ask for, as far as a host that writes scenes can tell?

The lab knows no probe text. It reads a prompt as it comes: its language, whether it wants a scene or a
document, the two characters, the thing that has to play a part. Where a prompt does not say, the language's
defaults stand in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from routecanary.domain.names import Locale
from routecanary.domain.probe import Json, ProbeKind
from routecanary.lab.phrases import Book, book_for, books
from routecanary.lab.request import ChatRequest
from routecanary.lab.script import script_of

DEFAULT_WORDS: Final = 150
MOST_WORDS: Final = 500
READ_AT_MOST: Final = 8_000  # characters of a prompt, its end
MATCHES_TRIED: Final = 20  # of one pattern
LEAST_STEM: Final = 3  # letters that a thing keeps in any of its forms

_WORD: Final = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_PART: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*['’]?")  # an elided article is a part of its own
_SENTENCE_END: Final = re.compile(r"(?:^|[.!?:…\n\"“”„«»*—–])[\s\"“„«(*¿¡]*$")
_NUMBER: Final = re.compile(r"(?<!\d)\d{2,4}(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What the text of a prompt says."""

    locale: Locale
    wants_scene: bool
    emphasised: bool  # the scene is to open with an action between asterisks
    names: tuple[str, str]  # the one who acts first, the other
    object: str  # with its article, in lower case
    min_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a host understood of a request."""

    kind: ProbeKind  # CHAT: a scene with an emphasised opening; FILTER: any other scene; ANY: something else
    wording: Wording
    schema: Json = None  # of the document; None = no document is wanted, True = any object
    mark: str | None = None  # a stop word of the request that the prompt wants below the scene

    @property
    def locale(self) -> Locale:
        return self.wording.locale


def asked_of(request: ChatRequest) -> Asked:
    """Read a request's prompt, response format and stop words."""
    wording = _wording(_lasting_part(request.prompt[-READ_AT_MOST:]))
    schema = _schema(request.response_format)
    if schema is not None:
        kind = ProbeKind.STRUCTURED
    elif wording.wants_scene:
        kind = ProbeKind.CHAT if wording.emphasised else ProbeKind.FILTER
    else:
        kind = ProbeKind.ANY
    mark = next((word for word in request.stop if word in request.prompt), None)
    return Asked(kind=kind, wording=wording, schema=schema, mark=mark)


def _lasting_part(prompt: str) -> str:
    """Leave out the first of several paragraphs: it varies with every asking, and the rest is read once."""
    paragraphs = [part for part in prompt.split("\n\n") if part.strip()]
    return "\n\n".join(paragraphs[1:] if len(paragraphs) > 2 else paragraphs)


@lru_cache(maxsize=512)
def _wording(prompt: str) -> Wording:
    book = book_for(_language(prompt))
    emphasised = _first_of(prompt, book.reading.emphasised)
    story, _, task = prompt.rpartition("\n\n")
    names = _names_by_pattern(story, task, book)
    if names is None and book.script.capitals:
        names = _names_by_case(prompt, book)
    names = names or book.default_names
    thing = _thing_by_pattern(story, task, book) or _thing_by_article(story, task, names, book)
    return Wording(
        locale=book.locale,
        wants_scene=_first_of(prompt, book.reading.scene) is not None,
        emphasised=emphasised is not None,
        names=_actor_first(names, prompt, emphasised),
        object=thing or book.default_object,
        min_words=_words_asked(task, book),
    )


def _schema(response_format: Mapping[str, Json] | None) -> Json:
    if response_format is None:
        return None
    if response_format["type"] == "json_schema":
        return response_format["json_schema"]["schema"]
    return True


def _language(prompt: str) -> Locale:
    """Tell the language: by its script, then by its common words and the letters that only it has."""
    script = script_of(prompt)
    rivals = [book for book in books().values() if book.script is script]
    if not rivals:
        return Locale("en")
    words = Counter(word.lower() for word in _WORD.findall(prompt))
    letters = Counter(prompt)
    scores = {
        book.locale: sum(words[word] / _sharers(word, rivals) for word in book.reading.words)
        + sum(letters[letter] for letter in book.reading.marks)
        for book in rivals
    }
    return max(scores, key=lambda locale: (scores[locale], locale == "en"))


def _sharers(word: str, rivals: list[Book]) -> int:
    return sum(word in book.reading.words for book in rivals)


def _first_of(text: str, marks: tuple[str, ...]) -> int | None:
    places = [place for mark in marks if (place := text.lower().find(mark)) >= 0]
    return min(places, default=None)


def _names_by_case(prompt: str, book: Book) -> tuple[str, str] | None:
    """Find the two words capitalised most often, at least once inside a sentence; "X and Y" weighs more.

    Where nouns have capitals too, only words that stand in such a pair are names.
    """
    words = [(match.group(), match.start()) for match in _WORD.finditer(prompt)]
    inside: set[str] = set()
    paired: set[str] = set()
    counts: Counter[str] = Counter()
    for word, start in words:
        if word[0].isupper() and len(word) > 1 and not word.isupper():
            name = word.removesuffix("'s").removesuffix("’s")
            counts[name] += 1
            if not _SENTENCE_END.search(prompt[max(0, start - 4) : start]):
                inside.add(name)
    for (left, start), (middle, _), (right, end) in zip(words, words[1:], words[2:], strict=False):
        pair = middle in book.reading.conjunctions and left in counts and right in counts
        if pair and prompt[start:end].split() == [left, middle]:
            counts[left] += 1
            counts[right] += 1
            paired |= {left, right}
    likely = paired if book.reading.nouns_have_capitals else inside | paired
    ranked = [name for name, count in counts.most_common() if count > 1 and name in likely]
    return (ranked[0], ranked[1]) if len(ranked) > 1 else None


def _names_by_pattern(story: str, task: str, book: Book) -> tuple[str, str] | None:
    """Find the two whom the task names together, as the language says it, and whom the story has met."""
    for pattern in book.reading.names:
        for match in islice(pattern.finditer(task), MATCHES_TRIED):
            first, second = match.group(1), match.group(2)
            if first != second and first in story and second in story:
                return first, second
    return None


def _actor_first(names: tuple[str, str], prompt: str, emphasised: int | None) -> tuple[str, str]:
    """Put the one who is to act in the opening first: the name last mentioned before the emphasis is."""
    if emphasised is None:
        return names
    first, second = names
    before = prompt[:emphasised]
    return (second, first) if before.rfind(second) > before.rfind(first) else names


def _thing_by_article(story: str, task: str, names: tuple[str, str], book: Book) -> str | None:
    """Find the noun with an article in the task that the story mentions most often."""
    told = Counter(part.lower() for part in _PART.findall(story))
    reading = book.reading
    passed_over = {*reading.words, *reading.stage, *reading.articles, *(name.lower() for name in names)}
    best: tuple[int, str] | None = None
    for first, noun in pairwise(_PART.findall(task)):
        article, folded = first.lower(), noun.lower()
        if article not in reading.articles or len(noun) < 3 or folded in passed_over:
            continue
        if told[folded] and (best is None or told[folded] > best[0]):
            best = (told[folded], article + noun if article[-1] in "'’" else f"{article} {noun}")
    return best[1] if best else None


def _thing_by_pattern(story: str, task: str, book: Book) -> str | None:
    """Find what the task says has to play a part and the story has mentioned, if only in another form."""
    told = story.lower()
    for pattern in book.reading.objects:
        for match in islice(pattern.finditer(task), MATCHES_TRIED):
            thing = match.group(1).lower()
            if thing[: max(LEAST_STEM, len(thing) - 2)] in told:
                return thing
    return None


def _words_asked(task: str, book: Book) -> int:
    """Read the least number of words that the task names; of letters, as many words as they make."""
    numbers = [
        int(match.group())
        for match in _NUMBER.finditer(task)
        if book.reading.count_unit in task[match.end() : match.end() + 30]
    ]
    if not numbers:
        return DEFAULT_WORDS
    letters_per_word = book.script.letters_per_word if book.reading.counts_letters else None
    return min(MOST_WORDS, int(min(numbers) / (letters_per_word or 1)))
