"""How is a table of words written down?"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Read a set of words from a block of text, white space between them."""
    return frozenset(text.split())
