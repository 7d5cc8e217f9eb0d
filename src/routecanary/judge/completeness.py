"""Did the whole answer come: not empty, not reasoning alone, not cut?

The kinds `empty`, `reasoning_only` and `truncated` belong to the filtering contract on the filter probe
and to integrity on every other; both ask here.

Source: product.md §2; openrouter-wire.md §3.2, §4.5.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.answer import Answer, is_visible
from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, fail, unsure
from routecanary.judge.scripts import word_count
from routecanary.judge.settings import Settings
from routecanary.judge.vocabulary import words

_FAR_BELOW: Final = 0.5  # of the limit: a cut here is not ours, whatever the tokenizer
_NEAR: Final = 0.9  # of the limit: a cut here is ours
_FEW_WORDS: Final = 4  # a name or a title
_DEFAULT_LIMIT_TOKENS: Final = 256  # a host that cuts below this without being asked to has a toy default

# What a finished text may end in: a stop, a closing quote or bracket, a mark-up sign, a symbol.
_CLOSED_END: Final = re.compile(r"[^\w\s,;:(\[{«„‚—–-]$|[.!?…:]$", re.UNICODE)
_SENTENCE_END: Final = re.compile(r"[.!?…。！？।؟][\"'”’»)*_\]]*(?=\s)|[。！？]")
_WITHOUT_MARKS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)  # nothing ends a sentence there
_SPEECH: Final = re.compile("[“”„«»「」『』]")
_MARK_ALONE: Final = re.compile(r"#?(?=\S*\d|[A-Z]{2})[\w-]+|#[^\W\d]\w*")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)$")

# Words that no sentence of their language ends in (separable verbs and stranded prepositions left out).
_NEVER_LAST: Final = {
    "en": words("the an of and or but because whose into than every a my your his its our their"),
    "es": words("el los las del y o de que con una un por para su sus al"),
    "pt": words("o os as um uma do da dos das em e de que com ao por para seu sua"),
    "fr": words("le la les des du et ou dans aux une un de que ses son sa"),
    "de": words("der das und oder dem den eine einen einem eines dass weil"),
    "it": words("il lo gli uno nella della di che e con per un una"),
    "nl": words("het een de en of mijn zijn"),
    "pl": words("że oraz i w z na do"),
    "ru": words("и с что но в на к по"),
}
_NEVER_LAST_TWO: Final = frozenset(
    (
        "so that",
        "such as",
        "in order",
        "because of",
        "as well as",
        "the most",
        "para que",
        "pour que",
        "so dass",
    )
)

# "in three sentences", in the languages of the probes.
_NUMBERS: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "duas": 2,
    "três": 3, "quatro": 4, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "zwei": 2, "drei": 3, "vier": 4,
    "fünf": 5, "due": 2, "tre": 3, "quattro": 4, "cinque": 5, "twee": 2, "drie": 3, "dwóch": 2, "trzech": 3,
    "двух": 2, "трёх": 3, "трех": 3, "четырёх": 4, "iki": 2, "üç": 3, "dört": 4,
}  # fmt: skip
_SENTENCES_ASKED: Final = re.compile(
    r"\b(\d|" + "|".join(_NUMBERS) + r")[\s-]+(?:\w+\s+)?"
    r"(?:sentences?|oraciones|frases|phrases|sätzen?|frasi|zinnen|zdaniach|предложениях|cümlede)\b",
    re.IGNORECASE,
)


def incomplete(answer: Answer, asked: Asked, settings: Settings) -> Finding | None:
    """Find what is missing of a completed answer; None when it is whole."""
    cut = was_cut(answer)
    if answer.tool_calls:
        return None
    if not answer.has_text:
        return _without_text(answer, asked, settings, cut=cut)
    if cut:
        return _cut(answer, asked)
    return _broken_off(answer.text, asked, answer.transcript.locale)


def was_cut(answer: Answer) -> bool:
    """Say whether the answer ended at some limit of length."""
    return (answer.finish_reason or "").lower() in ("length", "max_tokens", "max_output_tokens")


def ends_open(text: str) -> bool:
    """Say whether a text stops in the middle of a sentence, with some certainty.

    It holds a finished sentence before, and ends in a bare word or a comma. A title or a name alone
    carries no full stop, and is not open.
    """
    text = text.rstrip()
    if not text or _CLOSED_END.search(text[-1]) or text.count("```") % 2 == 1:
        return False
    last_line = text.rsplit("\n", 1)[-1]
    if re.match(r"\s*(?:[-*+•]|\d+[.)]|#|\|)\s", last_line):
        return False  # list items and headings
    if text.endswith((",", "，", "、")) and len(last_line.split()) >= _FEW_WORDS:
        return True
    ends = list(_SENTENCE_END.finditer(last_line))
    if not ends and _SPEECH.search(last_line) and _SENTENCE_END.search(text[: -len(last_line)]):
        return True  # `“Listen,” said`
    # A single word with a digit or of capitals is a mark that stands by itself, not the start of a sentence.
    return bool(ends) and not _MARK_ALONE.fullmatch(last_line[ends[-1].end() :].strip())


def is_closed(text: str) -> bool:
    """Say whether a text ends as a whole one does: in a closing mark, or in a few words that need none."""
    text = text.rstrip()
    return _CLOSED_END.search(text[-1:]) is not None or len(text.split()) < _FEW_WORDS


def _without_text(answer: Answer, asked: Asked, settings: Settings, *, cut: bool) -> Finding | None:
    if answer.refusal.strip() or answer.filtered:
        return unsure("content_filter", "refused or filtered, nothing to judge")
    if answer.legacy_text:
        return unsure("bad_frame", "text only where a completion client would look for it")
    if cut:
        room = asked.limit or answer.completion_tokens or 0
        if room >= settings.reasoning_room_tokens:
            return fail("reasoning_only", f"no visible text in {room} tokens")
        return unsure("own_limit", f"no visible text within our limit of {room} tokens")
    if is_visible(answer.reasoning):
        return fail("reasoning_only", f"{len(answer.reasoning)} characters of reasoning and no visible text")
    return fail("empty", "a completed answer without visible text")


def _cut(answer: Answer, asked: Asked) -> Finding | None:
    spent = answer.completion_tokens
    if asked.limit is None:
        if spent is not None and spent < _DEFAULT_LIMIT_TOKENS:
            return fail("truncated", f"cut at {spent} tokens though no limit was asked for")
        return unsure("own_limit", "cut, and no limit was asked for")
    if spent is None and not answer.reasoning:
        # Every token is at least one byte: fewer bytes are certainly fewer tokens.
        spent = len(answer.text.encode("utf-8", "replace"))
        if spent >= asked.limit * _FAR_BELOW:
            spent = None
    if spent is not None and spent < asked.limit * _FAR_BELOW:
        return fail("truncated", f"cut at {spent} of {asked.limit} tokens")
    if asked.min_words is not None and word_count(answer.text) >= asked.min_words:
        return None  # the host obeyed, and as much as was asked for is there
    if spent is not None and spent < asked.limit * _NEAR:
        return unsure("limit_semantics", f"cut at {spent} of {asked.limit} tokens")
    return unsure("own_limit", f"cut by our own limit of {asked.limit} tokens")


def _broken_off(text: str, asked: Asked, locale: Locale | None) -> Finding | None:
    """Find an answer that stops mid-sentence although the host calls it finished."""
    if not ends_open(text):
        return None
    text = text.rstrip()
    tail = text[-40:]
    spoken = text.lower().split()
    never_last = _NEVER_LAST.get((locale or "en").split("-", 1)[0], frozenset())
    whole = len(_SENTENCE_END.findall(text))
    last = spoken[-1] in never_last or " ".join(spoken[-2:]) in _NEVER_LAST_TWO
    if whole and last and _LAST_WORD.search(text):
        return fail("truncated", f"finished by the host in the middle of a sentence: {tail!r}")
    if whole and _within_quotation(text):
        return fail("truncated", f"finished by the host within a quotation: {tail!r}")
    count = _SENTENCES_ASKED.search(asked.prompt)
    if count is not None:
        number = count.group(1).lower()
        wanted = _NUMBERS.get(number) or int(number)
        if whole + 1 < wanted:
            return fail("truncated", f"{whole} of {wanted} sentences, ends in {tail!r}")
    if asked.min_words is not None:
        came = word_count(text)
        if came < asked.min_words // 2:
            return fail("truncated", f"{came} of {asked.min_words} words, ends in {tail!r}")
    return unsure("truncated", f"ends in {tail!r}")


def _within_quotation(text: str) -> bool:
    """Say whether the last paragraph opens a quotation that it does not close."""
    paragraph = text.rsplit("\n", 1)[-1]
    opener = max(paragraph.rfind(mark) for mark in "“„«「『")
    if opener < 0 or any(mark in paragraph[opener + 1 :] for mark in "“”»」』"):
        return False
    mark, before = paragraph[opener], paragraph[opener - 1 : opener]
    if mark in "“«" and before and not before.isspace() and before not in "(—–" and before < "\u3000":
        return False  # `„…“`, `»…«`
    return not _WITHOUT_MARKS.search(paragraph)
