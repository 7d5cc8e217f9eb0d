"""`routecanary incidents show`: one suspension's story, and what it costs to do without the route."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from routecanary.cli.acting import listed
from routecanary.cli.events import document_of, line_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.incidents import document, end_of, the_one
from routecanary.cli.output import instant, say, say_json
from routecanary.cli.report import complaint_line
from routecanary.clock import SystemClock
from routecanary.domain.archive import TranscriptEntry
from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.bill import Bill, Item, bill_of
from routecanary.rounds.complaint_document import kept_document
from routecanary.rounds.complaints import KeptComplaint, complaints_of
from routecanary.rounds.receive import complaints_about
from routecanary.rounds.story import Story, StoryRound, story_of
from routecanary.wiring import offline_records, settings_at

_ROUNDS_SHOWN: Final = 12  # after the suspension; --json has them all


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
        found = the_one(records, incident)
        if found is None:
            return ExitCode.FINDING
        story = story_of(records.store, found)
        bill = bill_of(records.store, found)
        complaints = complaints_about(complaints_of(records.store, found.model), found)
    if json:
        say_json(
            {
                "incident": document(found),
                "bill": _bill_document(bill),
                "complaints": [kept_document(kept) for kept in complaints],
                "rounds": [_round_document(each) for each in story.rounds],
                "events": [document_of(stored) for stored in story.events],
            }
        )
        return ExitCode.OK
    for line in _lines(story, bill, complaints):
        say(line)
    return ExitCode.OK


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


def _lines(story: Story, bill: Bill | None, complaints: Sequence[KeptComplaint]) -> Iterator[str]:
    """Tell a story to people: what it is, what it rests on, what came of it."""
    incident = story.incident
    shadow = "shadow " if incident.shadow else ""
    yield (
        f"incident {incident.id}: {shadow}suspension of {incident.route}, {incident.model}, for "
        f"{listed(incident.contracts)}; offence {incident.offence}, {incident.renewals} renewals"
    )
    yield f"from {instant(incident.began_at)}, {end_of(incident)}"
    if incident.label is not None:
        said = incident.label
        yield f"marked {said.judgement.value} by {said.actor}: {said.reason}"
    yield ""
    yield from _bill_lines(bill)
    yield ""
    if complaints:
        yield "complaints that it may explain:"
        for kept in complaints:
            yield f"  {complaint_line(kept)}"
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


def _bill_document(bill: Bill | None) -> Json:
    if bill is None:
        return None
    return {
        "remaining": list(bill.remaining),
        "prompt_usd_per_million": _item_document(bill.prompt),
        "completion_usd_per_million": _item_document(bill.completion),
        "first_text_ms": _item_document(bill.first_text_ms),
    }


def _item_document(item: Item) -> dict[str, Json]:
    return {
        "suspended": None if item.suspended is None else round(item.suspended, 6),
        "remaining": None if item.remaining is None else round(item.remaining, 6),
        "routes": item.routes,
    }


def _bill_lines(bill: Bill | None) -> Iterator[str]:
    """Tell what it costs to do without the route."""
    if bill is None:
        yield "the bill: unknown, its rounds are older than what is kept"
        return
    yield f"the bill: {len(bill.remaining)} production routes were left; theirs is the median"
    yield f"  USD per million tokens asked: {_item_line(bill.prompt, 'not stated')}"
    yield f"  USD per million tokens answered: {_item_line(bill.completion, 'not stated')}"
    yield f"  ms to the first text: {_item_line(bill.first_text_ms, 'not known')}"


def _item_line(item: Item, unknown: str) -> str:
    own, others = (
        unknown if value is None else f"{value:.4g}" if value < 1000 else f"{value:.0f}"
        for value in (item.suspended, item.remaining)
    )
    return f"{own}, against {others}" + ("" if item.remaining is None else f" of {item.routes} routes")
