"""How does a command speak? Tables for people, JSON for programs; never both on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def say_json(document: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
    """Print one JSON document on one line; lone surrogates and other oddities stay escaped."""
    sys.stdout.write(json.dumps(document, ensure_ascii=True, allow_nan=False) + "\n")


def say_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """Print rows as a table; cells are shown as they are, without markup."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False, soft_wrap=False).print(table)


def say(line: str) -> None:
    """Print one line."""
    sys.stdout.write(line + "\n")


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
