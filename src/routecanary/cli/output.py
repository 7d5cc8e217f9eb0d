"""How does a command speak?

Tables for people, JSON for programs, never both on standard output; complaints on standard error, one a line.
Names and texts come from outside: what a terminal would obey is escaped, whatever the encoding.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from routecanary.domain.redaction import without_tokens
from routecanary.errors import OutputError

UNBOUNDED: Final = 10_000
"""Columns of a table that no terminal shows: programs read it line by line, so nothing is folded."""


def say(line: str) -> None:
    """Print one line.

    Raises:
        BrokenPipeError: Nobody reads any more.
        OutputError: It cannot be written.
    """
    _write(plain(line) + "\n")


def say_json(document: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """Print one JSON document on one line, in ASCII; raises as `say` does."""
    _write(json.dumps(document, ensure_ascii=True, allow_nan=False) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    """Print rows as a table that fits the terminal; long cells are folded, never cut. Raises as `say`."""
    from rich.console import Console  # noqa: PLC0415 - what prints no table need not wait for it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console = Console(
        highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNBOUNDED
    )
    with console.capture() as captured:
        if title is not None:
            console.print(Text(plain(title)))
        console.print(table)
    _write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))


def complain(problem: str) -> None:
    """Print one line on standard error; if nobody listens there, so be it. A token in it is not shown."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"routecanary: {plain(without_tokens(' '.join(problem.split())))}\n")
        sys.stderr.flush()


def plain(text: str) -> str:
    """Escape every character that is not printable, as Python would: a new line, an escape, half a pair."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )


def facts_of(event: Mapping[str, Any]) -> str:
    """Write an event for people and for a log: its name, then what applies: `suspended route=alpha`."""
    facts = [
        f"{key}={','.join(value) if isinstance(value, list) else value}"
        for key, value in event.items()
        if key not in {"at", "model", "event"}
    ]
    return " ".join([event["event"], *facts])


def instant(at: datetime | None) -> str | None:
    """Write an instant as UTC with whole seconds; None stays None."""
    return None if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def span(length: timedelta) -> str:
    """Write a length of time in its two largest units: `2d 3h`, `4m 10s`, `0s`."""
    seconds = int(length.total_seconds())
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


def abandon_output() -> None:
    """Keep anything more, and the interpreter's last flush, from being written to what is broken."""
    with contextlib.suppress(OSError, ValueError):  # ValueError: no file at all, as in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str) -> None:
    """Write and flush: whoever reads a stream of lines gets each as it is printed."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from error
