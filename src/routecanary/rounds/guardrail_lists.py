"""What must callers of each watched model avoid now, as far as a guardrail is concerned?

The same facts that applications read, at this instant: a suspension that has reached its end, a paused or
released canary layer, a model in observe mode and rounds that are too old contribute nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from routecanary.domain.state import ModelState
from routecanary.rounds.publish import snapshot
from routecanary.rounds.records import Records
from routecanary.routing.guardrail import ModelList
from routecanary.routing.index import RouteIndex
from routecanary.routing.reading import read_snapshot
from routecanary.routing.view import view_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLists:
    """The lists of all configured models, and until when they hold if nothing happens (epoch seconds)."""

    models: tuple[ModelList, ...]
    until: float

    def fingerprint(self) -> object:
        """Return what is equal as long as nothing changes that a plan rests on."""
        return tuple(
            (each.model, each.ignore, each.kept, each.admitted, each.index.tags) for each in self.models
        )


def model_lists(records: Records) -> ModelLists:
    """Work out the lists of all configured models now.

    Raises:
        StoreError: The log cannot be read.
    """
    now = records.clock.now()
    document = snapshot(records.ledger, records.builtin, now=now, max_age=records.settings.max_snapshot_age)
    read, until = read_snapshot(document), inf
    lists: list[ModelList] = []
    for model in records.settings.models:
        facts = read.models.get(model.model)
        view = view_of(read, model.model, facts, now.timestamp())
        until = min(until, view.until)
        lists.append(
            ModelList(
                model=model.model,
                index=RouteIndex(()) if facts is None else facts.index,
                ignore=frozenset(view.ignore),
                kept=frozenset(view.kept),
                admitted=frozenset(_admitted(records.ledger.state(model.model))),
            )
        )
    return ModelLists(models=tuple(lists), until=until)


def _admitted(state: ModelState) -> Iterator[str]:
    """List the routes that the product's requests may be served by, controls not counted."""
    for name in state.named - state.controls():
        if state.routes[name].admitted:
            yield name.lower()
