"""How does the daemon say what happened to itself, even when its store takes nothing at present?

What could not be kept is said again later; of one kind, model and contract the newest, for it is the same
trouble.
"""

from __future__ import annotations

import logging
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.domain.operation import OPERATION_NAMES, Operation, model_of, operation_draft
from routecanary.errors import StoreError
from routecanary.rounds.record import Ledger

LOG: Final = logging.getLogger("routecanary.daemon")


class Reports:
    """Operating events on their way into the log."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._unsaid: dict[tuple[type[Operation], ModelId | None, str | None], Operation] = {}

    @property
    def unsaid(self) -> tuple[Operation, ...]:
        """List what the log does not hold yet, oldest first."""
        return tuple(self._unsaid.values())

    def say(self, operation: Operation) -> None:
        """Keep an operating event, now or as soon as the store takes it."""
        key = type(operation), model_of(operation), getattr(operation, "contract", None)
        self._unsaid.pop(key, None)
        self._unsaid[key] = operation
        self.say_again()
        if self._unsaid:
            LOG.warning("kept back until the store takes it event=%s", OPERATION_NAMES[type(operation)])

    def say_again(self) -> None:
        """Try again to keep what could not be kept."""
        for key, operation in tuple(self._unsaid.items()):
            try:
                self._ledger.note(operation_draft(operation))
            except StoreError:  # whoever met it first has told of it
                return
            del self._unsaid[key]
