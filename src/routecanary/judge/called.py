"""Is somebody in the text called what only a character is called: captain, my lord, stranger?

Such a word between two marks of punctuation is an address; within a sentence it may be what is asked about.
Models call their users nothing of the kind.

Source: filtering.md §3, a vocative in the same place.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.judge.refusals.entry import found_in
from routecanary.judge.refusals.lexicon import Lexicon

_MARKS: Final = re.compile(
    r"[,.;:!?\u2026\u2014\u2013\u3002\uff0c\u3001\uff01\uff1f\u060c\u061b\u061f\u0964\n]+"
)
_SPACE: Final = re.compile(r"\s+")
_LONGEST: Final = 40  # characters of an address
_LEAD: Final = 18  # characters of a clause that ends in one, where no mark has to stand before it


def is_called(text: str, lexicon: Lexicon) -> bool:
    """Look for an address; `text` is as it came."""
    if not lexicon.has("called"):
        return False
    marks = _SPACE if lexicon.language == "th" else _MARKS
    return any(
        _is_address(piece, lexicon) for piece in marks.split(text) if 0 < len(piece.strip()) <= _LONGEST
    )


def _is_address(piece: str, lexicon: Lexicon) -> bool:
    form = found_in(piece, lexicon.language)
    ends = len(form) - (1 if lexicon.spaced else 0)
    starts = {0} | {match.end() for match in lexicon["apology"].finditer(form) if match.start() == 0}
    led = lexicon.verb_last and len(form) <= _LEAD
    return any(
        match.end() == ends and (led or match.start() in starts) for match in lexicon["called"].finditer(form)
    )
