"""`routecanary pause` and `resume`: the kill switch."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from routecanary.cli.acting import actor_of, length_of, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.event import CanaryLayerPaused, CanaryLayerResumed, PauseEndMoved
from routecanary.domain.names import parse_model
from routecanary.domain.round import Mode, Pause, Resume
from routecanary.domain.times import parse_instant
from routecanary.errors import InputError
from routecanary.rounds.act import act
from routecanary.rounds.record import Decision
from routecanary.wiring import settings_at


def pause(
    model: str,
    /,
    *,
    reason: str,
    for_: str | None = None,
    until: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Stop merging a model's suspensions into what callers ignore; everything else goes on.

    Rounds are made, suspensions begin and end, nothing is lost. Exclusions made by hand and the built-in ones
    stay. Pausing what is paused moves its end.

    Parameters
    ----------
    model
        A configured model, author/slug.
    reason
        Why; kept in the log.
    for_
        For how long, such as 2h. Every application and the daemon resume by themselves.
    until
        Until when, such as 2026-01-06T02:00:00Z, instead. Without either, until you resume.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    clock = SystemClock()
    why, who = reason_of(reason), actor_of(actor)
    now = clock.now()
    end = _end(now, for_, until)
    with acting_records(settings, clock) as records:
        name = records.model(parse_model(model)).model
        decision = act(records, Pause(at=now, model=name, until=end, actor=who, reason=why))
    changed = any(isinstance(event, CanaryLayerPaused | PauseEndMoved) for event in decision.events)
    if json:
        say_json(_document(decision, changed=changed))
        return ExitCode.OK
    ends = "until you resume" if end is None else f"until {instant(end)}"
    say(f"{name}: suspensions are not merged {ends}{_in_observe(decision)}")
    return ExitCode.OK


def resume(
    model: str,
    /,
    *,
    reason: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Merge a model's suspensions again.

    Parameters
    ----------
    model
        A configured model, author/slug.
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
    why, who = None if reason is None else reason_of(reason), actor_of(actor)
    with acting_records(settings, SystemClock()) as records:
        name = records.model(parse_model(model)).model
        decision = act(records, Resume(at=records.clock.now(), model=name, actor=who, reason=why))
    changed = any(isinstance(event, CanaryLayerResumed) for event in decision.events)
    if json:
        say_json(_document(decision, changed=changed))
        return ExitCode.OK
    said = "suspensions are merged again" if changed else "was not paused"
    say(f"{name}: {said}{_in_observe(decision) if changed else ''}")
    return ExitCode.OK


def _end(now: datetime, length: str | None, until: str | None) -> datetime | None:
    """Read when a pause ends; None = when a person resumes."""
    if length is not None and until is not None:
        raise InputError("two ends of one pause", key="--until", value=until, allowed="--for or --until")
    if length is not None:
        return now + length_of(length, "--for")
    if until is None:
        return None
    try:
        end = parse_instant(until)
    except InputError as error:
        raise InputError(error.problem, key="--until", value=error.value, allowed=error.allowed) from None
    if end <= now:
        raise InputError("is over already", key="--until", value=until, allowed=f"later than {instant(now)}")
    return end


def _in_observe(decision: Decision) -> str:
    return "" if decision.state.mode is Mode.ENFORCE else " (in observe mode they are not in any case)"


def _document(decision: Decision, *, changed: bool) -> dict[str, object]:
    return {
        "model": decision.state.model,
        "paused": decision.state.paused,
        "until": instant(decision.state.paused_until),
        "changed": changed,
    }
