"""What of a text do its characters say, and what does the one who writes it say?

A character may refuse, threaten and apologise. So quoted speech, dash-led lines and `Name:` lines are taken
away before a text is read for a refusal.

Source: filtering.md §3.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from routecanary.judge.vocabulary import words

SPEECH: Final = "¤"
"""Stands where a character spoke."""

_QUOTES: Final = re.compile(
    r"\"[^\"\n]{1,600}(?:\"|$)|“[^“”\n]{1,600}(?:”|$)|„[^“”\n]{1,600}[“”]|«[^«»\n]{1,600}(?:»|$)|»[^«\n]{1,600}«"
    r"|「[^「」\n]{1,600}(?:」|$)|『[^『』\n]{1,600}(?:』|$)|‹[^›\n]{1,600}›|(?<![\w’'])[‘'](?=\w)(?:[^‘'’\n]|(?<=\w)['’](?=\w)){2,300}[.,!?…][’'](?!\w)",
    re.MULTILINE,
)
_DASH_LINE: Final = re.compile(r"^[ \t]*[—–―-][ \t]?[^\n]*$", re.MULTILINE)
_NAME_LINE: Final = re.compile(
    r"^(?![ \t]*[*•-][ \t])[ \t*_]{0,4}([A-ZÀ-ÞА-ЯЁ][\w'’.-]{0,20}(?: [A-ZÀ-ÞА-ЯЁ][\w'’.-]{0,20}){0,2})"
    r"[*_]{0,3}:[ \t*_]*\S[^\n]*$",
    re.MULTILINE,
)
# What models write before a colon of their own.
_LABELS: Final = words("answer assistant ai disclaimer example important model note response system warning")
_TERM, _DENSE_TERM = 24, 10  # characters: a quoted term, not speech, is shorter
_DENSE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_HEAD: Final = re.compile(r"\d{1,2}[.)]|#|\*\*")
_SPEECH_END: Final = re.compile(r"[.!?…,;:。！？、，]")
_THINK: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


class Voices(NamedTuple):
    """A text without its characters' speech, and how much speech was taken away."""

    narration: str
    speeches: int


def narrator(text: str) -> Voices:
    """Take away what belongs to characters; a short quoted term without end punctuation is not speech."""

    def drop(match: re.Match[str]) -> str:
        inner = match.group()[1:-1]
        longest = _DENSE_TERM if _DENSE.search(inner) else _TERM
        if len(inner.split()) <= 3 and not _SPEECH_END.search(inner) and len(inner) < longest:
            return match.group()
        return f" {SPEECH} "

    def spoken(match: re.Match[str]) -> str:
        before = match.string[max(0, match.start() - 4) : match.start()].rstrip()
        wrapped = before[-1:].isalnum() and match.group().lstrip(" \t—–―-")[:1].islower()
        return match.group() if wrapped else f" {SPEECH} "

    def unlabelled(match: re.Match[str]) -> str:
        return match.group() if match.group(1).lower() in _LABELS else f" {SPEECH} "

    text = text.replace("\u00a0", " ")
    if "<think" in text:
        text = _THINK.sub("", text)
    if "\n" in text and "-" in text:
        text = _with_bullets(text)
    narration = _QUOTES.sub(drop, text)
    lines = _DASH_LINE.sub(spoken, narration)
    if lines.count(SPEECH) > narration.count(SPEECH) + 2 and _is_list(narration):
        lines = narration  # a bulleted list, not a dialogue
    lines = _NAME_LINE.sub(unlabelled, lines)
    return Voices(lines, lines.count(SPEECH))


def _with_bullets(text: str) -> str:
    """Mark hyphen-led lines below a colon, a number or a heading: items of a list, not lines of a dialogue.

    One line alone may well be what somebody says.
    """
    lines, announced = text.split("\n"), False
    items: list[int] = []
    for number, line in enumerate(lines):
        shown = line.strip()
        if announced and (shown == "-" or shown.startswith("- ")):
            items.append(number)
        announced = announced or shown.endswith((":", "：")) or _HEAD.match(shown) is not None
    if len(items) > 1:
        for number in items:
            lines[number] = lines[number].replace("-", "•", 1)
    return "\n".join(lines)


def _is_list(text: str) -> bool:
    """Say whether the dashes are hyphens of a list: `- item`, never an em dash."""
    return all(line.lstrip().startswith("- ") for line in text.split("\n") if re.match(r"\s*[—–―-]", line))
