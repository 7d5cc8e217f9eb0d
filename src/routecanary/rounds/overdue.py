"""Which models had no round for too long?

Asked by a process of its own, since whoever makes the rounds may be the one that is dead.

Source: docs/notices.md, "A round that did not happen".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from routecanary.domain.names import ModelId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import Operation, RoundOverdue
from routecanary.rounds.records import Records


def overdue(
    models: Iterable[ModelId], last: Mapping[ModelId, datetime], *, now: datetime, after: timedelta
) -> dict[ModelId, datetime | None]:
    """Find the models that are overdue, and when each had its last round; None where it never had one.

    A last round that lies further ahead than `after` counts too: no round is accepted before it, so none will
    be for at least that long.
    """
    return {
        model: last.get(model)
        for model in models
        if (found := last.get(model)) is None or abs(now - found) > after
    }


def overdue_now(records: Records) -> dict[ModelId, datetime | None]:
    """Find the configured models that are overdue now, in the order of the file.

    Raises:
        StoreError: The log cannot be read.
    """
    last = {
        state.model: state.last_round_at
        for state in records.ledger.states()
        if state.last_round_at is not None
    }
    models = [model.model for model in records.settings.models]
    return overdue(models, last, now=records.clock.now(), after=records.settings.overdue_after())


def tell_overdue(records: Records) -> dict[ModelId, datetime | None]:
    """Find the models that are overdue now and say so in the log, once each until a round is made again.

    Raises:
        StoreError: The log cannot be read or written.
    """
    late = overdue_now(records)
    at = records.clock.now()

    def unsaid(operating: OperatingState) -> list[Operation]:
        return [
            RoundOverdue(at=at, model=model, since=since)
            for model, since in late.items()
            if operating.model(model).overdue_said_at is None
        ]

    records.ledger.operate(unsaid)
    return late
