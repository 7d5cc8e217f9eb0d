"""Has the asker got it already?

`If-None-Match` compares weakly: `W/"a"` and `"a"` are the same; `*` is any. What is no list of tags says
nothing, and the asker gets the whole.

Source: RFC 9110 §8.8.3, §13.1.2.
"""

from __future__ import annotations

import re
from typing import Final

_TAG: Final = r'(?:W/)?"[!#-~\x80-\xff]*"'
_LIST: Final = re.compile(rf"[ \t,]*+{_TAG}(?:[ \t]*+,[ \t,]*+{_TAG})*+[ \t,]*+")
_ONE: Final = re.compile(_TAG)


def has_it(if_none_match: str | None, etag: str) -> bool:
    """Say whether the asker named the tag of what it would get."""
    if if_none_match is None:
        return False
    if if_none_match == etag:  # mostly
        return True
    if if_none_match.strip(" \t") == "*":
        return True
    if _LIST.fullmatch(if_none_match) is None:
        return False
    return any(found.removeprefix("W/") == etag for found in _ONE.findall(if_none_match))
