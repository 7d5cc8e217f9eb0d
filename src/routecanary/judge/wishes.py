"""How far does a single word of the request excuse an answer?

In a request of a line or two, `twice`, `comma` or `tags` says what is wished for. In a long one, such as a
scene, it is part of the story.
"""

from __future__ import annotations

from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.prose import quotations
from routecanary.judge.scripts import word_count

_BRIEF: Final = 60  # words
_SENTENCE_ENDS: Final = ".!?…。！？।؟"
_CLOSING: Final = " \t\r\n\"'”’»」』)*_`"


def is_brief(asked: Asked) -> bool:
    """Say whether a request is so short that each of its words is about the answer."""
    return word_count(asked.prompt) < _BRIEF


def ends_open(asked: Asked) -> bool:
    """Say whether a request breaks off, so that the answer may go on in the middle of a sentence."""
    end = asked.prompt.rstrip(_CLOSING)
    return bool(end) and end[-1] not in _SENTENCE_ENDS


def quoted_in(asked: Asked) -> str:
    """Join what the request holds between quotation marks or brackets, in small letters."""
    return " ".join(asked.prompt[start:end] for start, end in quotations(asked.prompt)).lower()
