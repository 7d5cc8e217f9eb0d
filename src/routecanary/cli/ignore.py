"""`routecanary ignore`: what must a caller of a model avoid now?"""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import instant, say, say_json
from routecanary.cli.scope import scope_of
from routecanary.clock import SystemClock
from routecanary.decide.exclusions import canary_merged
from routecanary.domain.exclusion import Layer
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import parse_model
from routecanary.domain.probe import Json
from routecanary.rounds.publish import snapshot
from routecanary.routing.allow import allow
from routecanary.routing.layers import builtin_for, runtime_for
from routecanary.routing.merge import EMPTYING
from routecanary.routing.reading import read_snapshot
from routecanary.routing.view import view_of
from routecanary.wiring import offline_records, settings_at


def ignore(
    model: str,
    /,
    *,
    needs: tuple[str, ...] | None = None,
    locale: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Print the merged exclusions of a model, one a line, as a caller's `provider.ignore` gets them.

    Nothing printed means that nothing is to be avoided. A gateway without `ignore` gets the others as an
    allow-list, which --json shows as `only`.

    Parameters
    ----------
    model
        A configured model, author/slug.
    needs
        What a request needs, of latency, filtering, structured, language, integrity: a route suspended for
        other contracts only is left out of the list. Not given: the whole list.
    locale
        In which a request's answer is wanted; a route that fails only in other locales is left out.
    config
        The configuration file.
    json
        Print one JSON object, with the layer and the reason of each entry.
    """
    scope = scope_of(needs, locale)
    settings = settings_at(config)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        name = records.model(parse_model(model)).model
        now = clock.now()
        document = snapshot(
            records.ledger,
            records.builtin,
            now=now,
            max_age=settings.max_snapshot_age,
            gateway=settings.gateway.kind,
        )
        state = records.ledger.state(name)
        builtin = builtin_for(records.builtin, name)
        runtime = runtime_for(records.ledger.runtime(now), name)
    read = read_snapshot(document)
    view = view_of(read, name, read.models.get(name), now.timestamp(), scope)
    merged = view.ignore
    if json:
        layers: list[Json] = [
            {"layer": Layer.BUILTIN.value, "target": one.target, "reason": one.reason} for one in builtin
        ]
        layers += [
            {
                "layer": Layer.RUNTIME.value,
                "target": one.target,
                "reason": one.reason,
                "actor": one.actor,
                "until": instant(one.expires),
            }
            for one in runtime
        ]
        layers += [
            {
                "layer": Layer.CANARY.value,
                "target": route,
                "reason": ", ".join(sorted(suspension.contracts)),
                "until": instant(suspension.until),
                "merged": canary_merged(state, now) and now < suspension.until,
            }
            for route, suspension in state.suspensions().items()
        ]
        only = allow([view], (), {EMPTYING: 0}) if settings.gateway.kind is GatewayKind.VERCEL else None
        said = {"model": name, "gateway": settings.gateway.kind.value, "ignore": list(merged), "only": only}
        say_json({**said, "layers": layers})
        return ExitCode.OK
    for entry in merged:
        say(entry)
    return ExitCode.OK
