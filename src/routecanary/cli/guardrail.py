"""`routecanary guardrail`: the exclusions in a guardrail of the account, looked at."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.guardrail_view import (
    coverage_document,
    guardrail_id,
    left_out_line,
    notes,
    plan_document,
    standing_document,
)
from routecanary.cli.loop import run_async
from routecanary.cli.output import complain, instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.settings import Settings
from routecanary.rounds.guardrail import Look, Sync
from routecanary.wiring import guardrail_of, offline_records, settings_at


def show(*, config: Path | None = None, json: bool = False) -> int:
    """Show the guardrail: its list, what of it is ours, whom it covers, and whether it may be written to.

    Nothing is changed. Exit code 1 where it is refused.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    look = _looked(settings)
    if json:
        say_json(
            {
                "id": look.guardrail.id,
                "name": look.guardrail.name,
                "enabled": settings.guardrail.enabled,
                "apply": settings.guardrail.apply,
                "granularity": settings.guardrail.granularity.value,
                "ignored_providers": list(look.guardrail.ignored),
                "allowed_providers": list(look.guardrail.allowed),
                "foreign": list(look.plan.foreign),
                "covers": coverage_document(look.coverage),
                **standing_document(look.standing),
                "refused": None if look.refused is None else look.refused.value,
                "problem": look.problem or look.standing.problem or None,
            }
        )
    else:
        _show(look, settings)
    return _told_refusal(look)


def plan(*, config: Path | None = None, json: bool = False) -> int:
    """Say what would be written into the guardrail now, and what is left to the hooks and why.

    Nothing is changed. Exit code 1 where it is refused.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    look = _looked(settings)
    if json:
        say_json(plan_document(look))
        return _told_refusal(look)
    for word, names in (("add", look.plan.add), ("remove", look.plan.remove)):
        for name in names:
            say(f"{word}: {name}")
    if not look.plan.changes:
        say("nothing to change")
    for name in look.plan.foreign:
        say(f"kept, not ours: {name}")
    for each in look.plan.left_out:
        say(left_out_line(each))
    for note in notes(look):
        say(f"note: {note}")
    return _told_refusal(look)


def _looked(settings: Settings) -> Look:
    wanted = guardrail_id(settings)
    clock = SystemClock()
    api = guardrail_of(settings, clock)
    with offline_records(settings, clock) as records:
        return run_async(Sync(records, api, wanted, settings.guardrail).look())


def _show(look: Look, settings: Settings) -> None:
    guardrail, standing = look.guardrail, look.standing
    on = "looked at" if settings.guardrail.enabled else "off"
    on = "written to" if settings.guardrail.apply else on
    there, ours = ", ".join(guardrail.ignored) or "none", ", ".join(sorted(look.ours)) or "none"
    say(f"{guardrail.name} ({guardrail.id}); the daemon: {on}; entries: {settings.guardrail.granularity}")
    say(f"ignored providers: {there}; ours: {ours}")
    covers = look.coverage
    if covers is not None:
        who = f"{len(covers.keys)} keys, {len(covers.members)} members, {len(covers.workspaces)} workspaces"
        say(f"covers {who}")
    say(f"in step at: {instant(standing.synced_at) or 'never'}")
    for note in notes(look):
        say(f"note: {note}")


def _told_refusal(look: Look) -> int:
    if look.refused is None:
        return ExitCode.OK
    complain(f"the guardrail is refused: {look.refused.value}{': ' * bool(look.problem)}{look.problem}")
    return ExitCode.FINDING
