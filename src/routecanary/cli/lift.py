"""`routecanary lift`: end a suspension."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import actor_of, length_of, listed, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import complain, instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.event import Exclusions, Lifted
from routecanary.domain.names import parse_model, parse_route
from routecanary.domain.round import Lift
from routecanary.rounds.act import act
from routecanary.wiring import settings_at


def lift(
    model: str,
    route: str,
    /,
    *,
    reason: str,
    false_positive: bool = False,
    hold: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """End the suspension of a route, or its shadow in observe mode; its streaks begin anew.

    A round that is running does not undo it. Exit code 1 where the route is not suspended: nothing is changed
    then, and no hold is set.

    Parameters
    ----------
    model
        A configured model, author/slug.
    route
        The route's tag.
    reason
        Why; kept in the log.
    false_positive
        The suspension was wrong: its offence is forgotten, and the incident is marked so.
    hold
        Do not suspend the route again for this long, such as 12h.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    tag, why, who = parse_route(route), reason_of(reason), actor_of(actor)
    length = None if hold is None else length_of(hold, "--hold")
    with acting_records(settings, SystemClock()) as records:
        name = records.model(parse_model(model)).model
        now = records.clock.now()
        suspended = records.ledger.state(name).suspensions()
        decision = act(
            records,
            Lift(
                at=now,
                model=name,
                route=tag,
                false_positive=false_positive,
                hold_until=None if length is None else now + length,
                actor=who,
                reason=why,
            ),
        )
    lifted = [event for event in decision.events if isinstance(event, Lifted)]
    (ignore,) = [event.ignore for event in decision.events if isinstance(event, Exclusions)]
    if not lifted:
        over = "; its suspension has just ended by itself" if tag in suspended else ""
        complain(f"{tag} is not suspended{over}; suspended are: {listed(decision.state.suspensions())}")
        return ExitCode.FINDING
    if json:
        say_json(
            {
                "model": name,
                "route": tag,
                "false_positive": false_positive,
                "hold_until": instant(lifted[0].hold_until),
                "shadow": lifted[0].shadow,
                "ignore": list(ignore),
            }
        )
        return ExitCode.OK
    held = "" if length is None else f", and is not suspended again before {instant(lifted[0].hold_until)}"
    wrong = "; the incident is marked wrong" if false_positive else ""
    say(f"{name}: {tag} is lifted{held}{wrong}")
    return ExitCode.OK
