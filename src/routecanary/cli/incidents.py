"""`routecanary incidents`: suspensions, their stories, and what people say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from routecanary.cli.acting import actor_of, listed, reason_of
from routecanary.cli.events import document_of, line_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, instant, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.archive import TranscriptEntry
from routecanary.domain.names import ModelId, RouteId, parse_model
from routecanary.domain.probe import Json
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import InputError
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, Tally, incidents_of, tally
from routecanary.rounds.labels import Judgement, Label, label_draft
from routecanary.rounds.records import Records
from routecanary.rounds.story import Story, StoryRound, story_of
from routecanary.wiring import offline_records, settings_at

CONFIDENCE: Final = 0.95
_ROUNDS_SHOWN: Final = 12  # after the suspension; --json has them all


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
        The share of wrong ones among those that are marked, with its exact 95 % interval, by mode.
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
        groups = _groups(found)
        if json:
            say_json(
                {
                    "confidence": CONFIDENCE,
                    "since": instant(since),
                    "groups": [_counted(name, mode, each) for name, mode, each in groups],
                }
            )
        else:
            _show_summary(groups)
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
                _end(incident),
                ", ".join(sorted(incident.contracts)) + (" (shadow)" if incident.shadow else ""),
                "" if incident.label is None else incident.label.judgement.value,
            )
            for incident in found
        ],
    )
    return ExitCode.OK


def show(incident: int, /, *, config: Path | None = None, json: bool = False) -> int:
    """Tell one suspension's story: from the first failed round of its streak to its end.

    The rounds with the route's verdicts and those of its peers, every attempt with its transcript, and
    whatever else happened. Exit code 1 where there is no such incident.

    Parameters
    ----------
    incident
        Its id, as the list shows it.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    with offline_records(settings, SystemClock()) as records:
        found = _the_one(records, incident)
        if found is None:
            return ExitCode.FINDING
        story = story_of(records.store, found)
    if json:
        say_json(
            {
                "incident": document(found),
                "rounds": [_round_document(each) for each in story.rounds],
                "events": [document_of(stored) for stored in story.events],
            }
        )
        return ExitCode.OK
    for line in _lines(story):
        say(line)
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
    """Mark a suspension right or wrong, shadow or not; the last mark holds. It changes nothing else.

    Exit code 1 where there is no such incident.

    Parameters
    ----------
    incident
        Its id, as the list shows it.
    judgement
        right or wrong.
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
        found = _the_one(records, incident)
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


def _the_one(records: Records, number: int) -> Incident | None:
    for incident in _found(records, None):
        if incident.id == number:
            return incident
    complain(f"there is no incident {number}: `routecanary incidents` lists them")
    return None


def _end(incident: Incident) -> str:
    if incident.ended_at is None:
        return f"until {instant(incident.until)}"
    return f"{instant(incident.ended_at)} {incident.ended_by}"


def _groups(found: Sequence[Incident]) -> list[tuple[ModelId | None, str, Tally]]:
    """Count by model and mode, then over all models."""
    groups: list[tuple[ModelId | None, str, Tally]] = []
    models: list[ModelId | None] = [*sorted({incident.model for incident in found}), None]
    for model in models:
        for shadow, mode in ((True, "observe"), (False, "enforce")):
            here = [each for each in found if each.shadow is shadow and model in (None, each.model)]
            if here:
                groups.append((model, mode, tally(here)))
    return groups


def _counted(model: ModelId | None, mode: str, counts: Tally) -> dict[str, Json]:
    low, high = counts.interval(CONFIDENCE)
    return {
        "model": model,
        "mode": mode,
        "incidents": counts.incidents,
        "right": counts.right,
        "wrong": counts.wrong,
        "unlabelled": counts.unlabelled,
        "false_positive_share": None if counts.share is None else round(counts.share, 6),
        "low": round(low, 6),
        "high": round(high, 6),
    }


def _show_summary(groups: Sequence[tuple[ModelId | None, str, Tally]]) -> None:
    if not groups:
        say("no suspension yet")
        return
    rows = []
    for model, mode, counts in groups:
        low, high = counts.interval(CONFIDENCE)
        share = "unknown" if counts.share is None else f"{counts.share:.1%} ({low:.1%} to {high:.1%})"
        rows.append(
            (
                model or "all models",
                mode,
                str(counts.incidents),
                str(counts.right),
                str(counts.wrong),
                str(counts.unlabelled),
                share,
            )
        )
    say_table(("model", "mode", "incidents", "right", "wrong", "unmarked", "wrong of those marked"), rows)
    say(f"in brackets the exact {CONFIDENCE:.0%} interval; it holds if what is marked was not picked")


def _round_document(each: StoryRound) -> dict[str, Json]:
    return {
        "seq": each.seq,
        "at": instant(each.at),
        "class": each.outcome.round_class.value,
        "counted": each.outcome.counted,
        "fail_streak": each.outcome.streak.failed,
        "clean_streak": each.outcome.streak.clean,
        "verdicts": {name: kind.value for name, kind in sorted(each.outcome.verdicts.items())},
        "peers": {
            contract: {route: kind.value for route, kind in peers.items()}
            for contract, peers in each.peers.items()
        },
        "attempts": [_attempt_document(entry) for entry in each.attempts],
    }


def _attempt_document(entry: TranscriptEntry) -> dict[str, Json]:
    return {
        "transcript": entry.id,
        "probe": entry.kind.value,
        "locale": entry.locale,
        "attempt": entry.attempt,
        "verdicts": {
            name: {"verdict": said.kind.value, "kind": said.code, "reason": said.detail}
            for name, said in sorted(entry.verdicts.items())
        },
    }


def _lines(story: Story) -> Iterator[str]:
    """Tell a story to people: what it is, what it rests on, what came of it."""
    incident = story.incident
    shadow = "shadow " if incident.shadow else ""
    yield (
        f"incident {incident.id}: {shadow}suspension of {incident.route}, {incident.model}, for "
        f"{listed(incident.contracts)}; offence {incident.offence}, {incident.renewals} renewals"
    )
    yield f"from {instant(incident.began_at)}, {_end(incident)}"
    if incident.label is not None:
        said = incident.label
        yield f"marked {said.judgement.value} by {said.actor}: {said.reason}"
    yield ""
    yield "what it rests on:"
    if not story.evidence:
        yield "  its rounds are older than what is kept"
    for each in story.evidence:
        yield from _round_lines(each)
    later = story.rounds[len(story.evidence) :]
    if later:
        yield ""
        yield "rounds since:"
        if len(later) > _ROUNDS_SHOWN:
            yield f"  {len(later) - _ROUNDS_SHOWN} rounds, not shown: --json has them all"
        for each in later[max(0, len(later) - _ROUNDS_SHOWN) :]:
            yield f"  {_round_line(each)}"
    yield ""
    yield "what happened:"
    for stored in story.events:
        yield f"  {line_of(stored)}"


def _round_lines(each: StoryRound) -> Iterator[str]:
    yield f"  {_round_line(each)}"
    for contract, peers in each.peers.items():
        yield f"    {contract} of the others: {_peers_line(peers)}"
    for entry in each.attempts:
        failed = [said for said in entry.verdicts.values() if said.kind is VerdictKind.FAIL]
        said = "; ".join(f"{each.contract} {each}: {each.detail}" for each in failed) or "nothing failed"
        yield f"    {entry.kind.value} {entry.locale or ''} attempt {entry.attempt}, {entry.id}: {said}"


def _round_line(each: StoryRound) -> str:
    said = ", ".join(
        f"{name} {kind.value}"
        for name, kind in sorted(each.outcome.verdicts.items())
        if kind is not VerdictKind.SKIPPED
    )
    return f"{instant(each.at)} {each.outcome.round_class.value}: {said or 'not asked'}"


def _peers_line(peers: Mapping[RouteId, VerdictKind]) -> str:
    """Count the peers' verdicts, and name those that failed too."""
    counts = Counter(kind.value for kind in peers.values())
    failing = [route for route, kind in peers.items() if kind is VerdictKind.FAIL]
    told = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    return (told or "none") + (f" (fail: {listed(failing)})" if failing else "")
