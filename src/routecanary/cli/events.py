"""`routecanary events`: what happened."""

from __future__ import annotations

import json as json_module
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.log import StoredEvent
from routecanary.domain.names import ModelId, parse_model
from routecanary.domain.probe import Json
from routecanary.errors import InputError
from routecanary.rounds.fold import KINDS
from routecanary.rounds.ports import EventLog
from routecanary.wiring import offline_records, settings_at

NEWEST: Final = 50  # events that are shown where nothing else is said
LOOK: Final = 0.5  # seconds between two looks at the log
_WIDE: Final = 160  # characters of one fact on a line for people


def events(
    model: str | None = None,
    /,
    *,
    follow: bool = False,
    after: int | None = None,
    kind: list[str] | None = None,
    limit: int | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Show the newest events of the log, oldest first, or follow them as they come.

    Parameters
    ----------
    model
        Only events of this model; left out, all, also those of no single model.
    follow
        Go on until Ctrl-C, or until LIMIT events were shown.
    after
        Begin after the event of this number, 0 for the first one; left out, with the newest ones.
    kind
        Only events of this kind, such as suspended. May be given several times.
    limit
        At most so many; without --after the newest, 50 where nothing is said.
    config
        The configuration file.
    json
        Print one JSON line an event.
    """
    settings = settings_at(config)
    kinds = _kinds(kind)
    for key, number in (("--after", after), ("--limit", limit)):
        if number is not None and number < 0:
            raise InputError("less than nothing", key=key, value=number, allowed="0 or more")
    name = None if model is None else parse_model(model)
    with offline_records(settings, SystemClock()) as records:
        if name is not None and name not in records.store.models():
            name = records.model(name).model
        for stored in _chosen(records.store, name, kinds, after=after, limit=limit, follow=follow):
            if json:
                say_json(document_of(stored))
            else:
                say(line_of(stored))
    return ExitCode.OK


def document_of(stored: StoredEvent) -> dict[str, Json]:
    """Write an event as the log keeps it."""
    return {
        "seq": stored.seq,
        "at": instant(stored.at),
        "kind": stored.kind,
        "model": stored.model,
        "body": dict(stored.body),
        "hash": stored.hash,
    }


def line_of(stored: StoredEvent) -> str:
    """Write an event on one line: number, time, model, name, and its facts, the long ones only counted."""
    facts = [
        f"{key}={_fact(value)}"
        for key, value in stored.body.items()
        if key not in {"event", "at", "model"} and value is not None
    ]
    return " ".join([f"#{stored.seq}", instant(stored.at) or "", stored.model or "-", stored.kind, *facts])


def _chosen(
    log: EventLog,
    model: ModelId | None,
    kinds: Collection[str] | None,
    *,
    after: int | None,
    limit: int | None,
    follow: bool,
) -> Iterator[StoredEvent]:
    left = limit
    seen = log.head().seq
    if after is None:
        for stored in log.newest(NEWEST if limit is None else limit, model, kinds=kinds):
            seen = max(seen, stored.seq)
            left = None if left is None else left - 1
            yield stored
    else:
        seen = after
    while left is None or left > 0:
        for stored in log.read(seen, model, kinds=kinds, limit=left):
            seen = stored.seq
            left = None if left is None else left - 1
            yield stored
        if not follow:
            return
        time.sleep(LOOK)


def _kinds(given: list[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    for kind in given:
        if kind not in KINDS:
            raise InputError("no such kind", key="--kind", value=kind, allowed=", ".join(sorted(KINDS)))
    return frozenset(given)


def _fact(value: Json) -> str:
    """Write one fact of an event; what is long is counted, and --json shows it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case str() | int() | float():
            text = str(value)
        case list() if all(isinstance(each, str) for each in value):
            text = ",".join(value)
        case _:
            text = json_module.dumps(value, ensure_ascii=False)
    if len(text) <= _WIDE:
        return text
    if isinstance(value, Mapping | list):
        return f"({len(value)} entries)"
    return text[: _WIDE - 1] + "…"
