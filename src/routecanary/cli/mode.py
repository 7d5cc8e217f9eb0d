"""`routecanary mode`: observe or enforce."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import actor_of, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import say, say_json
from routecanary.cli.status import mode_of
from routecanary.clock import SystemClock
from routecanary.domain.event import ModeChanged
from routecanary.domain.names import parse_model
from routecanary.domain.round import Mode, SwitchMode
from routecanary.errors import InputError
from routecanary.rounds.act import act, ensure_mode
from routecanary.wiring import settings_at


def mode(
    model: str,
    to: str | None = None,
    /,
    *,
    reason: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Show a model's mode, or switch it between observe and enforce.

    A switch ends every suspension of the model, forgets offences and clean streaks, and keeps fail streaks: a
    route that still fails is suspended at its next failed round.

    Parameters
    ----------
    model
        A configured model, author/slug.
    to
        observe or enforce; left out, the mode in force is shown.
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
    wanted = None if to is None else _mode(to)
    why = None if reason is None else reason_of(reason)
    clock = SystemClock()
    with acting_records(settings, clock, to_act=wanted is not None) as records:
        name = records.model(parse_model(model)).model
        if wanted is None:
            in_force = mode_of(records.ledger.state(name), settings)
            changed = False
        else:
            ensure_mode(records, name)
            decision = act(
                records,
                SwitchMode(at=clock.now(), model=name, mode=wanted, actor=actor_of(actor), reason=why),
            )
            in_force = decision.state.mode
            changed = any(isinstance(event, ModeChanged) for event in decision.events)
    if json:
        say_json({"model": name, "mode": in_force.value, "changed": changed})
    else:
        say(f"{name}: {in_force.value}" + (" (switched)" if changed else ""))
    return ExitCode.OK


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        raise InputError("not a mode", key="TO", value=text, allowed=" or ".join(Mode)) from None
