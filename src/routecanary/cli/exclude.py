"""`routecanary exclude`: keep routes away by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from routecanary.cli.acting import actor_of, length_of, listed, reason_of, target_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import complain, instant, say, say_json, say_table, span
from routecanary.clock import SystemClock
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import ModelId, RouteId, parse_model
from routecanary.domain.probe import Json
from routecanary.errors import InputError
from routecanary.rounds.act import exclude, readmit
from routecanary.rounds.capacity import Capacity, capacity_of, capacity_without
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, settings_at


def add(
    model: str,
    target: str | None = None,
    /,
    *,
    reason: str,
    expires: str | None = None,
    all_models: bool = False,
    force: bool = False,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Keep a route, or all routes of a provider, away from callers, in both modes.

    Every application on this machine heeds it within a second. An exclusion of the same target for the same
    models is replaced. Exit code 1, and nothing is changed, where no production route would be left.

    Parameters
    ----------
    model
        A configured model, author/slug; left out with --all-models.
    target
        A route's tag, or a provider's slug, which names all its routes but the service tiers.
    reason
        Why; kept in the log.
    expires
        For how long, such as 7d; left out, until it is removed.
    all_models
        For every model, also those that come later.
    force
        Exclude it even if no production route is left.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    why, who = reason_of(reason), actor_of(actor)
    length = None if expires is None else length_of(expires, "--expires")
    with acting_records(settings, SystemClock()) as records:
        names, what = _meant(records, model, target, all_models=all_models)
        now = records.clock.now()
        entry = RuntimeEntry(
            target=what,
            models=names,
            reason=why,
            actor=who,
            created=now,
            expires=None if length is None else now + length,
        )
        capacities = [capacity_without(records, each, what, now) for each in _concerned(records, names)]
        emptied = [each for each in capacities if each.emptied]
        if emptied and not force:
            for each in emptied:
                complain(
                    f"{each.model}: without {listed(each.lost or each.reached)} no production route would be "
                    "left; nothing was changed; --force excludes it all the same"
                )
            return ExitCode.FINDING
        known = any((each.target, each.models) == (what, names) for each in records.ledger.runtime(now))
        exclude(records, entry)
    if json:
        say_json(
            {
                **_document(entry, in_force=True),
                "replaced": known,
                "left": {each.model: sorted(each.left) if each.named else None for each in capacities},
                "lost": {each.model: sorted(each.lost) for each in capacities},
            }
        )
        return ExitCode.OK
    until = (
        "until removed (--expires 7d, say, would end it by itself)"
        if length is None
        else f"for {span(length)}, until {instant(entry.expires)}"
    )
    say(
        f"{what} is excluded for {_models(names)} {until}"
        + ("; the entry before is replaced" if known else "")
    )
    for each in capacities:
        say(_told(each))
    return ExitCode.OK


def remove(
    model: str,
    target: str | None = None,
    /,
    *,
    reason: str,
    all_models: bool = False,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Take an exclusion back; the route is production again at once. Exit code 1 where there is none.

    Parameters
    ----------
    model
        The model that it was made for; left out with --all-models.
    target
        What it names.
    reason
        Why; kept in the log.
    all_models
        The exclusion that was made for every model.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    why, who = reason_of(reason), actor_of(actor)
    with acting_records(settings, SystemClock()) as records:
        names, what = _meant(records, model, target, all_models=all_models)
        now = records.clock.now()
        known = [each for each in records.ledger.runtime(now) if each.target == what]
        if all(each.models != names for each in known):
            others = ", ".join(_models(each.models) for each in known)
            complain(
                f"no exclusion of {what} for {_models(names)} is in force"
                + (f"; there is one for {others}" if others else "")
            )
            return ExitCode.FINDING
        readmit(records, what, names, actor=who, reason=why)
        left = {each: capacity_of(records, each, now) for each in _concerned(records, names)}
    if json:
        say_json(
            {
                "target": what,
                "models": None if names is None else sorted(names),
                "left": {each: sorted(routes) for each, routes in left.items()},
            }
        )
        return ExitCode.OK
    say(f"{what} is not excluded for {_models(names)} any more")
    for each, routes in left.items():
        say(f"{each}: {len(routes)} production routes: {listed(routes)}")
    return ExitCode.OK


def list_entries(
    model: str | None = None, /, *, expired: bool = False, config: Path | None = None, json: bool = False
) -> int:
    """List the exclusions that people made.

    Parameters
    ----------
    model
        Only those that apply to this model; left out, all.
    expired
        Also those whose time is over.
    config
        The configuration file.
    json
        Print one JSON list, an object for each exclusion.
    """
    settings = settings_at(config)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        name = None if model is None else records.model(parse_model(model)).model
        now = clock.now()
        entries = [
            entry
            for entry in records.ledger.runtime_entries()
            if (name is None or entry.models is None or name in entry.models)
            and (expired or entry.in_force(now))
        ]
    if json:
        say_json([_document(entry, in_force=entry.in_force(now)) for entry in entries])
        return ExitCode.OK
    if not entries:
        say("nothing is excluded by hand")
        return ExitCode.OK
    say_table(
        ("target", "models", "until", "who", "since", "reason"),
        [
            (
                entry.target,
                _models(entry.models),
                "removed" if entry.expires is None else instant(entry.expires) or "",
                entry.actor,
                instant(entry.created) or "",
                entry.reason,
            )
            for entry in entries
        ],
    )
    return ExitCode.OK


def _meant(
    records: Records, model: str, target: str | None, *, all_models: bool
) -> tuple[frozenset[ModelId] | None, RouteId]:
    """Read for which models, and what: `MODEL TARGET`, or `TARGET` alone for all."""
    if all_models:
        if target is not None:
            raise InputError("a model beside --all-models", key="MODEL", value=model, allowed="TARGET alone")
        return None, target_of(model)
    if target is None:
        raise InputError("missing", key="TARGET", allowed="MODEL TARGET, or --all-models TARGET")
    return frozenset({records.model(parse_model(model)).model}), target_of(target)


def _concerned(records: Records, names: frozenset[ModelId] | None) -> Sequence[ModelId]:
    """List the configured models that an exclusion applies to, in the order of the file."""
    return [each.model for each in records.settings.models if names is None or each.model in names]


def _models(names: frozenset[ModelId] | None) -> str:
    return "all models" if names is None else listed(names)


def _told(capacity: Capacity) -> str:
    if not capacity.named:
        return f"{capacity.model}: no round yet, so nobody knows what is left"
    left = f"{capacity.model}: {len(capacity.left)} production routes left: {listed(capacity.left)}"
    if not capacity.reached:
        return f"{left}; the last round named no such route: {listed(capacity.named)}"
    return left


def _document(entry: RuntimeEntry, *, in_force: bool) -> dict[str, Json]:
    return {
        "target": entry.target,
        "models": None if entry.models is None else sorted(entry.models),
        "reason": entry.reason,
        "actor": entry.actor,
        "created": instant(entry.created),
        "expires": instant(entry.expires),
        "in_force": in_force,
    }
