"""`routecanary store`: the event log itself."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import actor_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.rounds.retention import Pruned, prune, would_prune
from routecanary.wiring import offline_records, settings_at


def verify(*, config: Path | None = None, json: bool = False) -> int:
    """Recompute the event log's hash chain, from where it was pruned on. Exit code 1 at the first break.

    An end that was cut off leaves no trace in the chain: note the head elsewhere, and compare.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    with offline_records(settings, SystemClock()) as records:
        store = records.store
        head, anchor, pruning = store.head(), store.anchor(), store.last_pruning()
        found = store.verify()
        events = store.count()
    if json:
        say_json(
            {
                "ok": found is None,
                "events": events,
                "head": {"seq": head.seq, "hash": head.hash},
                "pruned_through": anchor.seq or None,
                "pruned_at": None if pruning is None else instant(pruning.at),
                "break": None if found is None else {"seq": found.seq, "problem": found.problem},
            }
        )
    elif found is None:
        begin = f"after event {anchor.seq}, the last that was pruned" if anchor.seq else "at the first event"
        say(f"the chain is whole: {events} events, beginning {begin}")
        say(f"head: {head.seq} {head.hash}")
    else:
        say(f"the chain is broken: event {found.seq}: {found.problem}")
    return ExitCode.OK if found is None else ExitCode.FINDING


def prune_old(
    *, dry_run: bool = False, actor: str | None = None, config: Path | None = None, json: bool = False
) -> int:
    """Delete what is older than [store] and [telemetry] say, as the daemon does once a day.

    What a restart needs is carried over, events whose transcripts are kept stay, and the chain can still be
    verified.

    Parameters
    ----------
    dry_run
        Only say how much would go.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    who = actor_of(actor)
    with offline_records(settings, SystemClock()) as records:
        gone = (
            would_prune(records)
            if dry_run
            else prune(records, now=records.clock.now(), actor=who, reason="by hand")
        )
    if json:
        say_json({"dry_run": dry_run, **_document(gone)})
        return ExitCode.OK
    verb = "would go" if dry_run else "are gone"
    say(
        f"{gone.generations} generations, {gone.events} events, "
        f"{gone.passes} passed and {gone.failures} failed transcripts {verb}"
    )
    return ExitCode.OK


def _document(gone: Pruned) -> dict[str, int | None]:
    return {
        "events": gone.events,
        "passes": gone.passes,
        "failures": gone.failures,
        "generations": gone.generations,
        "through": None if gone.through is None else gone.through.seq,
    }
