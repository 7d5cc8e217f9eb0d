"""The languages that share a script with others; those that are told by their script need no words."""

from __future__ import annotations

from typing import Final

# Of each script: the languages that a product asks for, then those that answers only slide into.
LATIN: Final = (
    *("en", "es", "pt", "fr", "de", "it", "nl", "pl", "tr", "vi", "id", "tl"),
    *("ro", "sv", "da", "cs", "fi", "hu"),
)
CYRILLIC: Final = ("ru", "uk", "bg")
MEASURED: Final = frozenset({*LATIN[:12], *CYRILLIC[:2]})

# Forms of one language, or so near to it that words do not tell them apart: never foreign to each other.
KIN: Final = {
    "ms": "id",
    "jv": "id",
    "su": "id",
    "nb": "da",
    "nn": "da",
    "no": "da",
    "sk": "cs",
    "ceb": "tl",
    "fil": "tl",
    "mk": "bg",
    "gl": "pt",
}
