"""What words does a language refuse with?

One lexicon per language, every class a list of regular-expression fragments over folded text (lower case,
straight apostrophes). Classes are looked for within one sentence, in any order, so that verb-last
languages need no tables of their own. The test data hold, for each lexicon, the sentences that it was made
for and the in-character lines that it must not take.

Source: filtering.md §3.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_INVISIBLE: Final = re.compile("[\u200b-\u200f\u2060\ufeff\u064b-\u0652\u0640\u093c]")
_ARABIC_LETTER: Final = re.compile("[\u0620-\u064a]")
_ARABIC: Final = str.maketrans("أإآىة", "اااي\u0647")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The words of one language, as compiled alternations.

    Args:
        unable: First-person inability or refusal.
        serve: Verbs of service: help, answer, fulfil, continue.
        provide: Verbs of delivery: provide, write, describe, discuss.
        this: What TASK needs beside them: that, this.
        request: The user's request, named as one.
        thing: What exists outside of the fiction: content, role-play, this scene, this conversation.
        info: Information, advice, content: what PROV delivers.
        ai: The speaker calls itself a model or names its maker.
        policy: Guidelines, rules, safety.
        offer: Offers something else to the user.
        apology: An opening apology.
        moral: Harm, law, decency.
    """

    language: str
    unable: re.Pattern[str]
    serve: re.Pattern[str]
    provide: re.Pattern[str]
    this: re.Pattern[str]
    request: re.Pattern[str]
    thing: re.Pattern[str]
    info: re.Pattern[str]
    ai: re.Pattern[str]
    policy: re.Pattern[str]
    offer: re.Pattern[str]
    apology: re.Pattern[str]
    moral: re.Pattern[str]


def canonical(text: str) -> str:
    """Bring text and tables to one form: compatibility forms, no marks, one alef; case is left alone."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return text.translate(_ARABIC) if _ARABIC_LETTER.search(text) else text


def lexicon(language: str, *, bounded: bool = True, **classes: str) -> Lexicon:
    """Compile a lexicon.

    Args:
        bounded: Fragments start at a word boundary; False for scripts that have none.
        classes: One string per class, fragments parted by white space; `_` stands for a space.
    """
    return Lexicon(
        language=language, **{name: _compiled(text, bounded=bounded) for name, text in classes.items()}
    )


def _compiled(text: str, *, bounded: bool) -> re.Pattern[str]:
    fragments = [canonical(fragment).replace("_", " ") for fragment in text.split()]
    start = r"\b" if bounded else ""
    return re.compile(f"{start}(?:{'|'.join(fragments)})" if fragments else r"(?!)")
