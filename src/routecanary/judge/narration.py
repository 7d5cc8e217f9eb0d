"""What of an answer is read for a refusal: its narration, folded once for all languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from routecanary.judge.folding import folded, joined
from routecanary.judge.refusals.lexicon import Lexicon

_ENDS: Final = 8_000  # characters of a very long answer that are read at either end


@dataclass(frozen=True, slots=True, kw_only=True)
class Narration:
    """A text without its characters' speech.

    Args:
        original: As it came, at most its two ends.
        text: Folded, with a space before and after.
        tight: Folded, without spaces.
        words: Of the folded text, each once.
        length: Of the whole answer, in characters.
    """

    original: str
    text: str
    tight: str
    words: frozenset[str]
    length: int

    def form_for(self, lexicon: Lexicon) -> str:
        """Give the form in which a language's phrases look for themselves."""
        return self.text if lexicon.spaced else self.tight

    def may_hold(self, name: str, lexicon: Lexicon) -> bool:
        """Say cheaply whether a phrase of a class may stand here; False is sure."""
        return lexicon.may_hold(name, self.form_for(lexicon), self.words)


def ends_of(text: str) -> str:
    """Cut a very long text down to its two ends, so that reading it is bounded."""
    return text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]}\n\n{text[-_ENDS:]}"


def narration_of(original: str, length: int) -> Narration:
    """Fold a narration.

    Args:
        length: Of the whole answer, in characters.
    """
    original = ends_of(original.strip())
    text = folded(original)
    return Narration(
        original=original, text=f" {text} ", tight=joined(text), words=frozenset(text.split()), length=length
    )
