"""`routecanary incidents`: suspensions, and what people say of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from routecanary.cli import incidents_summary
from routecanary.cli.acting import actor_of, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, instant, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.names import ModelId, parse_model
from routecanary.domain.probe import Json
from routecanary.errors import InputError
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, incidents_of
from routecanary.rounds.labels import Judgement, Label, label_draft
from routecanary.rounds.records import Records
from routecanary.wiring import offline_records, settings_at


def incidents(
    model: str | None = None,
    /,
    *,
    summary: bool = False,
    limit: int | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """List suspensions, the newest last, shadows too; or count how many of them people found wrong.

    Parameters
    ----------
    model
        Only of this model; left out, all.
    summary
        The share of wrong ones among those that are marked right or wrong, with its exact 95 % interval, by
        mode and contract.
    limit
        Only the newest so many.
    config
        The configuration file.
    json
        Print one JSON document: a list, or with --summary an object.
    """
    settings = settings_at(config)
    if limit is not None and limit < 0:
        raise InputError("less than nothing", key="--limit", value=limit, allowed="0 or more")
    with offline_records(settings, SystemClock()) as records:
        found = _found(records, None if model is None else _known(records, model))
        since = next((event.at for event in records.store.read(limit=1)), None)
    if limit is not None:
        found = found[max(0, len(found) - limit) :]
    if summary:
        groups = incidents_summary.groups_of(found)
        if json:
            say_json(incidents_summary.document(groups, since=since))
        else:
            incidents_summary.show(groups)
        return ExitCode.OK
    if json:
        say_json([document(incident) for incident in found])
        return ExitCode.OK
    if not found:
        say("no suspension yet")
        return ExitCode.OK
    say_table(
        ("id", "model", "route", "began", "ended", "contracts", "marked"),
        [
            (
                str(incident.id),
                incident.model,
                incident.route,
                instant(incident.began_at) or "",
                end_of(incident),
                ", ".join(sorted(incident.contracts)) + (" (shadow)" if incident.shadow else ""),
                "" if incident.label is None else incident.label.judgement.value,
            )
            for incident in found
        ],
    )
    return ExitCode.OK


def label(
    incident: int,
    judgement: str,
    /,
    *,
    reason: str,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Mark a suspension right, wrong or unsure, shadow or not; the last mark holds. It changes nothing else.

    Exit code 1 where there is no such incident.

    Parameters
    ----------
    incident
        Its id, as the list shows it.
    judgement
        right, wrong, or unsure, which counts neither way.
    reason
        Why; kept in the log.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    why, who = reason_of(reason), actor_of(actor)
    if judgement not in set(Judgement):
        raise InputError("no such mark", key="JUDGEMENT", value=judgement, allowed=" or ".join(Judgement))
    with offline_records(settings, SystemClock()) as records:
        found = the_one(records, incident)
        if found is None:
            return ExitCode.FINDING
        said = Label(
            at=records.clock.now(),
            incident=found.id,
            model=found.model,
            route=found.route,
            judgement=Judgement(judgement),
            actor=who,
            reason=why,
        )
        records.ledger.note(label_draft(said))
        (marked,) = (each for each in _found(records, found.model) if each.id == found.id)
    if json:
        say_json(document(marked))
    else:
        say(f"incident {found.id} ({found.model}, {found.route}) is marked {judgement}")
    return ExitCode.OK


def document(incident: Incident) -> dict[str, Json]:
    """Write an incident's outline as JSON."""
    return {
        "id": incident.id,
        "model": incident.model,
        "route": incident.route,
        "contracts": sorted(incident.contracts),
        "began_at": instant(incident.began_at),
        "until": instant(incident.until),
        "ended_at": instant(incident.ended_at),
        "ended_by": incident.ended_by,
        "offence": incident.offence,
        "renewals": incident.renewals,
        "shadow": incident.shadow,
        "redundant": incident.redundant,
        "collateral": sorted(incident.collateral),
        "label": None
        if incident.label is None
        else {
            "judgement": incident.label.judgement.value,
            "actor": incident.label.actor,
            "reason": incident.label.reason,
            "labelled_at": instant(incident.label.at),
        },
    }


def _known(records: Records, model: str) -> ModelId:
    """Read a model that is configured, or that the store knows from before."""
    name = parse_model(model)
    return name if name in records.store.models() else records.model(name).model


def _found(records: Records, model: ModelId | None) -> Sequence[Incident]:
    return incidents_of(records.store.read(0, model, kinds=INCIDENT_KINDS))


def the_one(records: Records, number: int) -> Incident | None:
    """Look an incident up by its number; where there is none, say so."""
    for incident in _found(records, None):
        if incident.id == number:
            return incident
    complain(f"there is no incident {number}: `routecanary incidents` lists them")
    return None


def end_of(incident: Incident) -> str:
    """Say when and how an incident ended, or until when it is to last."""
    if incident.ended_at is None:
        return f"until {instant(incident.until)}"
    return f"{instant(incident.ended_at)} {incident.ended_by}"
