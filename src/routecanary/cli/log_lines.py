"""How does a long run log? On standard error, for people and for whatever collects lines."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from routecanary.cli.output import plain
from routecanary.domain.times import format_instant


class Lines(logging.Formatter):
    """One line an entry, in UTC, without secrets, escaped where it is not printable; a traceback follows.

    The methods have the names that `logging` calls.
    """

    def __init__(self, *, hide: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self.hide = hide

    def format(self, record: logging.LogRecord) -> str:
        return self.hide(super().format(record))

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        del datefmt
        return format_instant(datetime.fromtimestamp(record.created, UTC))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return plain(super().formatMessage(record))


def log_to_standard_error(lines: Lines) -> None:
    """Log everything from `INFO` on, as these lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(lines)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
