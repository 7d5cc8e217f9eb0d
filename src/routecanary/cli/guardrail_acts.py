"""`routecanary guardrail sync`, `guardrail clear`: a guardrail's list changed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from routecanary.cli.acting import actor_of, listed
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records, flushed
from routecanary.cli.guardrail_view import guardrail_id, left_out_line, plan_document
from routecanary.cli.loop import run_async
from routecanary.cli.output import complain, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.operating import OperatingState
from routecanary.domain.settings import Settings
from routecanary.rounds.guardrail import Done, Sync
from routecanary.rounds.guardrail import forget as forget_guardrail
from routecanary.rounds.guardrail_withheld import withheld_by
from routecanary.wiring import api_key_of, guardrail_of, online_world, running_daemon, settings_at


def sync(*, actor: str | None = None, config: Path | None = None, json: bool = False) -> int:
    """Write the exclusions into the guardrail once, whether the daemon may or not.

    What somebody took out is put back, and a guardrail from which routes were withheld is tried again. Exit
    code 1 where it is refused, since it covers the canary's own key or may.

    Parameters
    ----------
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    wanted, who = guardrail_id(settings), actor_of(actor)
    done = run_async(_synced(settings, wanted, who))
    if json:
        say_json(
            {
                **plan_document(replace(done.look, refused=done.refused, problem=done.problem)),
                "added": sorted(done.added),
                "removed": sorted(done.removed),
            }
        )
    else:
        say(f"added: {listed(done.added)}; removed: {listed(done.removed)}")
        for each in done.look.plan.left_out:
            say(left_out_line(each))
    if done.added and not (settings.guardrail.apply and running_daemon(settings) is not None):
        complain("no daemon takes these entries out when they end: `routecanary guardrail clear` does")
    if done.refused is not None:
        complain(f"the guardrail is refused: {done.refused.value}{': ' * bool(done.problem)}{done.problem}")
        return ExitCode.FINDING
    return ExitCode.OK


async def _synced(settings: Settings, guardrail: str, actor: str) -> Done:
    clock = SystemClock()
    api = guardrail_of(settings, clock)
    async with online_world(settings, api_key_of(settings), clock) as world:

        async def withheld(entries: frozenset[str]) -> frozenset[str]:
            return await withheld_by(world, entries, settings.guardrail.granularity)

        syncing = Sync(world, api, guardrail, settings.guardrail, withheld=withheld)
        done = await syncing.keep("command", actor=actor, again=True)
        await flushed(world)
        return done


def clear(
    *, forget: bool = False, actor: str | None = None, config: Path | None = None, json: bool = False
) -> int:
    """Take all that is ours out of the guardrail, and out of every other one in which something is ours.

    Whomever it covers, and whether the daemon may write or not. A daemon that may write puts it back at its
    next look: to keep the list empty, set guardrail.apply = false and reload, which clears it too.

    Parameters
    ----------
    forget
        Ask nobody, and take nothing there for ours any more: for a guardrail that is gone.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    who, clock = actor_of(actor), SystemClock()
    with acting_records(settings, clock) as records:
        ids = _concerned(records.ledger.operating(), settings)
        cleared: dict[str, frozenset[str]] = {}
        api = guardrail_of(settings, clock) if ids and not forget else None
        for each in ids:
            if api is None:
                cleared[each] = forget_guardrail(records, each, actor=who)
            else:
                syncing = Sync(records, api, each, settings.guardrail)
                cleared[each] = run_async(syncing.clear("command", actor=who))
    if settings.guardrail.apply and running_daemon(settings) is not None:
        complain("a daemon runs that may write to the guardrail: it puts the entries back at its next look")
    if json:
        say_json({"guardrails": {each: sorted(removed) for each, removed in sorted(cleared.items())}})
        return ExitCode.OK
    for each, removed in sorted(cleared.items()):
        say(f"{each}: {'forgotten' if forget else 'taken out'}: {listed(removed)}")
    if not cleared:
        say("nothing is ours in any guardrail")
    return ExitCode.OK


def _concerned(operating: OperatingState, settings: Settings) -> list[str]:
    """List the guardrails in which something is ours, or may be; the configured one first."""
    known = [
        each
        for each, standing in sorted(operating.guardrails.items())
        if standing.owned or standing.pending is not None
    ]
    return sorted(known, key=lambda each: each != settings.guardrail.id)
