"""Which lines has a labelled collection: one file, or all files of a folder?"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from routecanary.errors import CaseError
from routecanary.replay.texts import TextRow, read_texts

_SUFFIXES: Final = (".jsonl", ".jsonl.gz")
_MOST_FILES: Final = 1_000


def files_of(place: Path) -> tuple[Path, ...]:
    """List a collection's files: the one that is named, or those of a folder and what is in it, sorted.

    Raises:
        CaseError: There is no such file, or none in the folder, or a thousand.
    """
    if not place.is_dir():
        return (place,)
    found = sorted(path for path in place.rglob("*") if path.name.endswith(_SUFFIXES) and path.is_file())
    if not 0 < len(found) <= _MOST_FILES:
        allowed = f"1 to {_MOST_FILES} files {' or '.join(_SUFFIXES)}"
        raise CaseError("not a collection", place=str(place), value=len(found), allowed=allowed)
    return tuple(found)


def rows_of(path: Path, *, located: bool) -> Iterator[TextRow | CaseError]:
    """Read a file line by line, compressed where its name ends in `.gz`; a bad line is yielded as its error.

    Args:
        located: A line must name its locale.
    Raises:
        CaseError: The file cannot be read, or no further.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            yield from read_texts(lines, str(path), located=located)
    except (OSError, EOFError, zlib.error) as error:
        problem = getattr(error, "strerror", None) or error
        raise CaseError(f"cannot be read: {problem}", place=str(path)) from None
