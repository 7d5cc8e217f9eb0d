"""Does the answer show the scene that was asked for?

The filter probe asks for third person, speech in quotation marks, a length, two named characters and one
object. So a pass can be shown: no refusal and no lecture shows them.

Source: filtering.md §3, "let the prompt do the work".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.folding import folded
from routecanary.judge.narration import ends_of
from routecanary.judge.scripts import word_count

_FAR_SHORTER: Final = 3  # times: an answer of a third of what was asked for is no scene
_ENOUGH: Final = 2  # of the three characters and things, and of the three signs of a scene
_CHARACTER: Final = re.compile(
    "[\u3400-\u9fff\uac00-\ud7a3]{3}"
)  # a family name of one letter, and a given one
_DENSE: Final = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_VOWELS: Final = frozenset("aeiouyàáâãäåèéêëìíîïòóôõöùúûüаеёиоуыэюяіїє")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What an answer shows of a scene.

    Args:
        words: Or what stands for them in scripts that part none; `wanted` were asked for, 0 = no length was.
        spoken: Somebody speaks.
        named: Of the two characters and the object, those that appear.
        knows: Characters and an object were asked for at all.
    """

    words: int
    wanted: int
    spoken: bool
    named: tuple[str, ...]
    knows: bool

    @property
    def is_full(self) -> bool:
        """Say whether as much as was asked for is there, and looks like it."""
        return 0 < self.wanted <= self.words and (not self.knows or self.spoken or len(self.named) >= _ENOUGH)

    @property
    def is_begun(self) -> bool:
        """Say whether it looks like a scene, whatever its length."""
        return self.spoken and len(self.named) >= _ENOUGH

    @property
    def is_far_shorter(self) -> bool:
        return self.words * _FAR_SHORTER < self.wanted

    @property
    def is_none(self) -> bool:
        """Say whether no scene is shown: at most one of half the length, speech, two of the names."""
        signs = (2 * self.words >= self.wanted, self.spoken, len(self.named) >= _ENOUGH)
        return self.knows and sum(signs) < _ENOUGH

    def __str__(self) -> str:
        spoken = "speech" if self.spoken else "no speech"
        return ", ".join((f"{self.words} of {self.wanted} words", spoken, *self.named))


def shown_scene(text: str, asked: Asked, *, spoken: bool) -> Shown:
    """Look for the scene that was asked for.

    Args:
        spoken: Characters speak in the text (`voice.narrator`).
    """
    cast = dict.fromkeys((*asked.names, *((asked.object,) if asked.object else ())))
    read = ends_of(text)
    named = _named(cast, read.lower())
    if len(named) < len(cast) and not read.isascii():
        form = folded(read)
        named |= {each for each in cast if _stem(folded(each)) in form}  # other forms of its letters
    return Shown(
        words=word_count(text) if _DENSE.search(text) else len(text.split()),
        wanted=asked.min_words or 0,
        spoken=spoken,
        named=tuple(each for each in cast if each in named),
        knows=bool(cast),
    )


def _named(cast: Iterable[str], text: str) -> set[str]:
    return {each for each in cast if _stem(each.lower()) in text}


def _stem(name: str) -> str:
    """Shorten a name to what its inflected forms share; a Chinese or Korean one to the given name."""
    if _CHARACTER.fullmatch(name):
        return name[1:]
    stem = name[:-1] if len(name) > 5 else name
    return stem[:-1] if len(stem) > 3 and stem[-1] in _VOWELS else stem
