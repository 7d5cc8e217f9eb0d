"""What do the reads of a stream have in common, so that a further one need not be parsed?

Nearly every read of an answer is one frame, and the one before it with another piece of text. Once a frame
has been read in full, and would change nothing but the text if it came again, a read that is the same up to
its text is taken by its text alone. Whatever differs in any other byte is read in full.
"""

from __future__ import annotations

from json.decoder import scanstring  # type: ignore[attr-defined]  # the reader of one JSON string, in C
from typing import Final, NamedTuple

from routecanary.domain.frames import object_in

_KEY: Final = '"content"'
_FIELD: Final = "data:"
_LONGEST: Final = 65_536  # bytes of a read that is taken so: less than any bound of a line


class Shortcut(NamedTuple):
    """A read of one frame: what stands before its text, and after it."""

    head: bytes  # up to and with the quote that opens the text
    tail: bytes  # from the quote that closes it to the end of the event

    def text_in(self, data: bytes) -> str | None:
        """Return the text of a read that is the same frame with another text; None for any other read."""
        head, tail = self
        if not (data.startswith(head) and data.endswith(tail)) or len(data) > _LONGEST:
            return None
        try:
            quoted = data[len(head) : len(data) - len(tail) + 1].decode()  # with the quote that closes it
            text, end = scanstring(quoted, 0)
        except ValueError:  # no UTF-8, or no JSON string
            return None
        return text if end == len(quoted) else None


def shortcut_of(data: bytes) -> Shortcut | None:
    """Find what a read has in common with its like; None where it says more than a piece of text.

    Names, counts and times in it change nothing if they come again; whatever ends an answer, or stands beside
    its text, would.
    """
    body = data.removesuffix(b"\r\n\r\n" if data.endswith(b"\r\n\r\n") else b"\n\n")
    if len(body) == len(data) or len(data) > _LONGEST or b"\n" in body or b"\r" in body:
        return None
    try:
        line = data.decode()
    except UnicodeDecodeError:
        return None
    if line.count(_KEY) != 1:
        return None
    place = line.index(_KEY) + len(_KEY)
    while line[place] in " :":  # the end of the line stops it
        place += 1
    try:
        text, end = scanstring(line, place + 1)
    except ValueError:
        return None
    head, tail = line[: place + 1], line[end - 1 :]
    # Without escapes every name is spelled as it is, and this text is the only one that has this name.
    if not head.endswith('"') or "\\" in head or "\\" in tail:
        return None
    return Shortcut(head.encode(), tail.encode()) if _says_alone(line, text) else None


def _says_alone(line: str, text: str) -> bool:
    """Say whether a frame would add this text and nothing else if it came again."""
    frame = object_in(line.removeprefix(_FIELD).strip()) if line.startswith(_FIELD) else None
    if frame is None or frame.get("error") or frame.get("object") == "error":
        return False
    choices = frame.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return False
    choice = choices[0]
    delta = choice.get("delta")
    if choice.get("index") not in (None, 0) or not isinstance(delta, dict):
        return False
    beside = [value for key, value in choice.items() if key not in ("index", "delta")]
    beside += [value for key, value in delta.items() if key not in ("role", "content")]
    return delta.get("content") == text and not any(beside)
