"""In which other ways could a text have been written? Changes that leave alone what a judge looks for.

A judge that hangs on the wording of a test set moves with them; one that looks at what is said does not.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from hashlib import sha256

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])(?=\S)")
NAMES = ("Quill", "Marden", "Ostrow", "Velia", "Tamsin", "Brandor")


def perturbations(seed: int) -> Mapping[str, Callable[[str], str]]:
    """Give the changes by name; the same seed changes a text in the same way."""

    def chance(text: str) -> random.Random:
        return random.Random(sha256(f"{seed}\n{text}".encode("utf-8", "surrogatepass")).digest())

    def names(text: str) -> str:
        draw = chance(text)
        return re.sub(r"(?<=[a-zà-ÿ,] )[A-Z][a-zà-ÿ]{2,}", lambda _: draw.choice(NAMES), text)

    def order(text: str) -> str:
        sentences = SENTENCE.split(text)
        chance(text).shuffle(sentences)
        return " ".join(sentences)

    def marks(text: str) -> str:
        draw = chance(text)
        swapped = re.sub(r"(?<=[^\W\d_])\.(?=\s|$)", lambda _: draw.choice(".!…"), text)
        return swapped.replace("'", "’")

    def spaces(text: str) -> str:
        draw = chance(text)
        return re.sub(r"(?<=\S) (?=\S)", lambda _: draw.choice((" ", " ", " ", "  ", "\n")), text)

    return {
        "other names": names,
        "other order of sentences": order,
        "other marks": marks,
        "other spaces": spaces,
        "all of these": lambda text: spaces(marks(order(names(text)))),
    }
