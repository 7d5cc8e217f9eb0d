"""What of an answer is running text, and what is code, an address or mark-up?"""

from __future__ import annotations

import re
from typing import Final

# A block at the start of a line may stay open; one that begins within a line ends with its marks.
_FENCED: Final = re.compile(
    r"(?:^|\n)[ \t]*(```|~~~)[^\n]*\n.*?(?:\n[ \t]*\1|\Z)|```\w{0,20}\n.*?```", re.DOTALL
)
_INLINE: Final = re.compile(r"`[^`\n]{1,400}`")
_ADDRESS: Final = re.compile(r"\b(?:https?://|www\.)\S+|\b[\w.+-]+@[\w-]+\.[\w.]+|(?<!\w)[@#][\w.]+")
# What is left of an address that was broken: several of its marks between letters, without a space.
_REST: Final = re.compile(r"[!-~]{0,80}[A-Za-z0-9][/=&][A-Za-z0-9][!-~]{0,80}[/=&?][!-~]{0,80}")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>|&[a-z]{2,8};")


def without_code(text: str) -> str:
    """Take out fenced blocks (also one that never closes) and inline code."""
    if "`" not in text and "~~~" not in text:
        return text
    return _INLINE.sub(" ", _FENCED.sub("\n", text))


def without_addresses(text: str) -> str:
    """Take out URLs, mail addresses, mentions, hash tags and HTML tags."""
    if ":" in text or "@" in text or "#" in text or "www." in text:
        text = _ADDRESS.sub(" ", text)
    if "/" in text or "=" in text:
        text = _REST.sub(" ", text)
    return _TAG.sub(" ", text) if "<" in text or "&" in text else text


SPEECH: Final = 12  # words between quotation marks that a character may say in another tongue: a sentence
_QUOTATION: Final = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}»|»[^«\n]{1,600}«|「[^」\n]{1,600}」"
    r"|『[^』\n]{1,600}』|‹[^›\n]{1,600}›|(?<!\w)[‘'][^‘'’\n]{1,300}[’'](?!\w)|[(（][^()（）\n]{1,200}[)）]"
)


def quotations(text: str) -> list[tuple[int, int]]:
    """Find what stands between quotation marks or brackets, as (start, end), in order."""
    return [match.span() for match in _QUOTATION.finditer(text)]
