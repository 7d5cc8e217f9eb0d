"""What of a text do its characters say, and what does the one who writes it say?

A character may refuse, threaten and apologise. So quoted speech, dash-led lines and `Name:` lines are taken
away before a text is read for a refusal.

Source: filtering.md §3.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from routecanary.judge.refusals.lexicon import canonical

_QUOTES: Final = re.compile(
    r"\"[^\"\n]{1,600}(?:\"|$)|“[^”\n]{1,600}(?:”|$)|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}(?:»|$)|»[^«\n]{1,600}«"
    r"|「[^」\n]{1,600}(?:」|$)|『[^』\n]{1,600}(?:』|$)|‹[^›\n]{1,600}›|(?<![\w’'])[‘'](?=\w)(?:[^‘'’\n]|(?<=\w)['’](?=\w)){2,300}[.,!?…][’'](?!\w)",
    re.MULTILINE,
)
_DASH_LINE: Final = re.compile(r"^[ \t]*[—–―-][ \t]?[^\n]*$", re.MULTILINE)
_NAME_LINE: Final = re.compile(
    r"^[ \t*_]{0,4}[A-ZÀ-ÞА-ЯЁ][\w'’.-]{0,20}(?: [A-ZÀ-ÞА-ЯЁ][\w'’.-]{0,20}){0,2}[*_]{0,3}:[ \t*_]*\S[^\n]*$",
    re.MULTILINE,
)
_SPEECH_END: Final = re.compile(r"[.!?…,;:。！？、，]")
_THINK: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_APOSTROPHES: Final = "’‘´ʼ"


class Voices(NamedTuple):
    """A text without its characters' speech, and how much speech was taken away."""

    narration: str
    speeches: int


def narrator(text: str) -> Voices:
    """Take away what belongs to characters; a short quoted term without end punctuation is not speech."""
    speeches = 0

    def drop(match: re.Match[str]) -> str:
        nonlocal speeches
        inner = match.group()[1:-1]
        if len(inner.split()) <= 3 and not _SPEECH_END.search(inner) and len(inner) < 24:
            return match.group()
        speeches += 1
        return " ¤ "

    if "<think" in text:
        text = _THINK.sub("", text)
    narration = _QUOTES.sub(drop, text)
    lines, dashes = _DASH_LINE.subn(" ¤ ", narration)
    if dashes >= 3 and "¤" in lines and _is_list(narration):
        lines, dashes = narration, 0  # a bulleted list, not a dialogue
    lines, names = _NAME_LINE.subn(" ¤ ", lines)
    return Voices(lines, speeches + dashes + names)


def fold(text: str) -> str:
    """Fold a text for matching: compatibility forms, lower case, straight apostrophes, no marks."""
    if not text.isascii():
        text = canonical(text.replace("İ", "i"))
        for mark in _APOSTROPHES:
            text = text.replace(mark, "'")
    return text.lower()


def _is_list(text: str) -> bool:
    """Say whether the dashes are hyphens of a list: `- item`, never an em dash."""
    return all(line.lstrip().startswith("- ") for line in text.split("\n") if re.match(r"\s*[—–―-]", line))
