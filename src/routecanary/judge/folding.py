"""In what form are texts and phrases compared?

Lower-case words with single spaces between them, one sentence a line: nothing that spacing, quotation marks,
mark-up or the shape of a letter could change. Apostrophes vanish (`can't` is `cant`), hyphens become spaces.

Source: filtering.md §3.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Final

_APOSTROPHES: Final = "'’‘´`ʼ"
_ENDS: Final = ".!?…。！？।॥؟۔"  # of sentences
# Soft hyphens, zero-width marks, Arabic vowel signs and stretches, the nukta.
_INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u0640\u093c" + "".join(
    map(chr, range(0x64B, 0x653))
)
_BETWEEN: Final = (
    string.punctuation
    + "\u00a0¡¢£¥¦§¨©«¬®¯°±¶·¸»¿×÷،؛٪٫٬٭฿ฯ๏๚๛・"
    + "".join(
        map(
            chr,
            (
                *range(0x2010, 0x2027),
                *range(0x2030, 0x205F),
                *range(0x3000, 0x3005),
                *range(0x3008, 0x3020),
                0x3030,
            ),
        )
    )
)
_TABLE: Final = {
    **dict.fromkeys(map(ord, _BETWEEN), " "),
    **dict.fromkeys(map(ord, _ENDS), "\n"),
    **dict.fromkeys(map(ord, _APOSTROPHES + _INVISIBLE), None),
    **{ord(letter): other for letter, other in zip("أإآىةıё", "اااي\u0647iе", strict=True)},
}
_LINE: Final = re.compile(r"\n(?!\s*(?:\n|[-*•–]|\d{1,2}[.)]))")  # one that only wraps
_DECIMAL: Final = re.compile(r"(?<=\d)\.(?=\d)")


def folded(text: str) -> str:
    """Fold a text: words parted by one space, sentences parted by one line end, no other marks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("İ", "i"))
    if "\n" in text:
        text = _LINE.sub(" ", text)
    text = _DECIMAL.sub(" ", text.lower()).translate(_TABLE)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def joined(text: str) -> str:
    """Take the spaces out of a folded text, for scripts in which they say little."""
    return text.replace(" ", "")
