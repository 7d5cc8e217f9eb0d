"""`routecanary lab`: a gateway that misbehaves on request."""

from __future__ import annotations

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.loop import run_async
from routecanary.cli.output import say, say_json
from routecanary.domain.gateway import GatewayKind
from routecanary.errors import InputError
from routecanary.lab.serve import scenario_at, serve


def lab(
    *,
    scenario: str = "demo",
    seed: int = 0,
    time_scale: float = 1.0,
    host: str = "127.0.0.1",
    port: int = 0,
    wire: str = "openrouter",
    json: bool = False,
) -> int:
    """Serve a gateway with planted faults until SIGINT or SIGTERM.

    Real HTTP and real streams on this machine; the key that it prints is invented.

    Parameters
    ----------
    scenario
        The name of a shipped scenario, or the path of a scenario file (docs/lab.md).
    seed
        Of every draw.
    time_scale
        How many seconds of the scenario pass in one real second.
    host
        Where to listen; the default is this machine alone.
    port
        Where to listen; 0 takes any free port.
    wire
        Whose calls and shapes are spoken: openrouter, or vercel for those of the Vercel AI Gateway.
    json
        Print address, key and models as one JSON object, once it listens.
    """
    if not 0 < time_scale <= 1000:
        raise InputError("not a factor", key="--time-scale", value=time_scale, allowed="above 0, up to 1000")
    if not 0 <= port <= 65535:
        raise InputError("not a port", key="--port", value=port, allowed="0 to 65535")
    if wire not in set(GatewayKind):
        raise InputError("no such wire", key="--wire", value=wire, allowed=" or ".join(GatewayKind))
    played = scenario_at(scenario)
    kind = GatewayKind(wire)

    def ready(base_url: str) -> None:
        if json:
            say_json({"base_url": base_url, "api_key": played.key, "models": [m.id for m in played.models]})
        else:
            say(f"serving {', '.join(model.id for model in played.models)} at {base_url}")
            say(f"key: {played.key}")

    try:
        run_async(
            serve(played, seed=seed, time_scale=time_scale, host=host, port=port, wire=kind, ready=ready)
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot listen: {error.strerror}", key="--host, --port", value=f"{host}:{port}"
        ) from None
    return ExitCode.OK
