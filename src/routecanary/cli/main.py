"""The command line's entry: every command is a file of its own, loaded when it is called."""

from __future__ import annotations

import sys

from cyclopts import App, CycloptsError, Parameter

from routecanary import __version__
from routecanary.cli.exit_codes import ExitCode
from routecanary.errors import GatewayError, InputError, RoutecanaryError, StoreError

app = App(
    name="routecanary",
    help="Provider canary and routing quarantine for LLM products behind a multi-provider gateway.",
    version=__version__,
    help_format="plaintext",
    exit_on_error=False,
    print_error=False,
    result_action="return_value",
    default_parameter=Parameter(negative=()),
)

# name, where it lives, what it does
COMMANDS = (
    ("demo", "routecanary.cli.demo:demo", "See the whole product work in a minute, without a key."),
    ("init", "routecanary.cli.init:init", "Write a commented configuration."),
    ("check", "routecanary.cli.check:check", "Check configuration, key and models, and state the cost."),
    ("round", "routecanary.cli.round:round_now", "Make one round over a model now."),
    ("run", "routecanary.cli.run:run_daemon", "Watch every configured model on the clock."),
    ("status", "routecanary.cli.status:status", "Show how the models stand."),
    ("routes", "routecanary.cli.routes:routes", "Show how each route of a model stands."),
    ("ignore", "routecanary.cli.ignore:ignore", "Print what a caller of a model must avoid now."),
    ("mode", "routecanary.cli.mode:mode", "Show a model's mode, or switch it."),
    ("judge", "routecanary.cli.judge:judge", "Judge stored transcripts."),
    ("replay", "routecanary.cli.replay:replay", "Drive the decision with a trace."),
    ("lab", "routecanary.cli.lab:lab", "Serve a gateway that misbehaves on request."),
)

for _name, _place, _help in COMMANDS:
    app.command(_place, name=_name, help=_help)


def exit_code_of(error: RoutecanaryError) -> ExitCode:
    """Map one of our errors to the exit code that docs/cli.md promises."""
    match error:
        case InputError():
            return ExitCode.BAD_INPUT
        case GatewayError():
            return ExitCode.GATEWAY
        case StoreError():
            return ExitCode.STORE
        case _:
            return ExitCode.FINDING


def call(tokens: list[str] | None = None) -> int:
    """Run one command line and return its exit code; errors are one line on standard error."""
    try:
        result = app(tokens)
    except CycloptsError as error:
        sys.stderr.write(f"routecanary: {_one_line(str(error))}\n")
        return ExitCode.BAD_INPUT
    except RoutecanaryError as error:
        sys.stderr.write(f"routecanary: {_one_line(str(error))}\n")
        return exit_code_of(error)
    except BrokenPipeError:
        # the reader (head, less) went away: not our failure, and nothing more can be said to it
        sys.stderr.close()
        return ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return int(result) if isinstance(result, int) else ExitCode.OK


def _one_line(text: str) -> str:
    return " ".join(text.split())


def run() -> None:
    """Run the process's own command line and exit."""
    sys.exit(call())
