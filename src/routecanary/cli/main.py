"""The command line's entry: every command is a file of its own, loaded when it is called.

What a command raises ends here: our own errors as one line and the exit code of their kind, a bug as one line
that asks to be reported, and never a traceback that nobody asked for.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from cyclopts import App, CycloptsError, Parameter

from routecanary import __version__
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import abandon_output, complain
from routecanary.errors import (
    ConfigFaultsError,
    DaemonRunningError,
    DeliveryError,
    GatewayError,
    InputError,
    OutputError,
    RoutecanaryError,
    ScenarioFaultsError,
    SnapshotError,
    StoreError,
)

DEBUG_VARIABLE: Final = "ROUTECANARY_DEBUG"

_HOUSE: Final = Path(__file__).parents[1]

# name, where it lives, what it does
COMMANDS: Final = (
    ("demo", "routecanary.cli.demo:demo", "See the whole product work in a minute, without a key."),
    ("init", "routecanary.cli.init:init", "Write a commented configuration."),
    ("check", "routecanary.cli.check:check", "Check configuration, key and models, and state the cost."),
    ("round", "routecanary.cli.round:round_now", "Make one round over a model now."),
    ("run", "routecanary.cli.run:run_daemon", "Watch every configured model on the clock."),
    ("serve", "routecanary.cli.serve:serve", "Serve the exclusions to programs in any language."),
    ("proxy", "routecanary.cli.proxy:proxy", "Pass requests to the gateway, the list merged in."),
    ("reload", "routecanary.cli.reload:reload", "Let the daemon read its configuration anew."),
    ("overdue", "routecanary.cli.overdue:overdue", "Tell of models that had no round for too long."),
    ("status", "routecanary.cli.status:status", "Show how the models stand."),
    ("routes", "routecanary.cli.routes:routes", "Show how each route of a model stands."),
    ("ignore", "routecanary.cli.ignore:ignore", "Print what a caller of a model must avoid now."),
    ("leaks", "routecanary.cli.leaks:leaks", "Audit whether requests heeded the exclusions."),
    ("traffic", "routecanary.cli.traffic:traffic", "Show what users were served, beside the probes."),
    ("mode", "routecanary.cli.mode:mode", "Show a model's mode, or switch it."),
    ("exclude add", "routecanary.cli.exclude:add", "Keep a route away by hand."),
    ("exclude remove", "routecanary.cli.exclude:remove", "Take such an exclusion back."),
    ("exclude list", "routecanary.cli.exclude:list_entries", "List the exclusions made by hand."),
    ("lift", "routecanary.cli.lift:lift", "End a suspension."),
    ("pause", "routecanary.cli.pause:pause", "Stop merging a model's suspensions: the kill switch."),
    ("resume", "routecanary.cli.pause:resume", "Merge them again."),
    ("requalify", "routecanary.cli.requalify:requalify", "Put a contract on trial: it suspends nobody."),
    ("token create", "routecanary.cli.token:create", "Make a token for the listeners; it is shown once."),
    ("token list", "routecanary.cli.token:list_tokens", "List the tokens, never what opens anything."),
    ("token revoke", "routecanary.cli.token:revoke", "End a token."),
    (
        "guardrail show",
        "routecanary.cli.guardrail:show",
        "Show the account's guardrail, and what of it is ours.",
    ),
    ("guardrail plan", "routecanary.cli.guardrail:plan", "Say what would be written into it."),
    ("guardrail sync", "routecanary.cli.guardrail_acts:sync", "Write the exclusions into it once."),
    ("guardrail clear", "routecanary.cli.guardrail_acts:clear", "Take all that is ours out of it."),
    ("events", "routecanary.cli.events:events", "Show what happened, or follow it."),
    ("generations", "routecanary.cli.generations:generations", "Show what users were served, by whom, when."),
    ("incidents", "routecanary.cli.incidents:incidents", "List suspensions, or how many were wrong."),
    ("incidents show", "routecanary.cli.incidents_show:show", "Tell one suspension's story."),
    ("incidents label", "routecanary.cli.incidents:label", "Mark a suspension right, wrong or unsure."),
    (
        "incidents export",
        "routecanary.cli.incidents_export:export",
        "Write one suspension's evidence, to be sent to a provider.",
    ),
    ("report add", "routecanary.cli.report:add", "Pass a user's complaint on: who may have served it?"),
    ("report list", "routecanary.cli.report:list_complaints", "List the complaints that were passed on."),
    ("report show", "routecanary.cli.report:show", "Answer a complaint anew, with what is known now."),
    ("compare", "routecanary.cli.compare:compare", "Ask routes many times and compare how often each fails."),
    ("reproduce", "routecanary.cli.reproduce:reproduce", "Ask an incident's question again: still failing?"),
    ("transcript", "routecanary.cli.transcript:transcript", "Show one stored answer."),
    ("store verify", "routecanary.cli.store:verify", "Recompute the event log's hash chain."),
    ("store prune", "routecanary.cli.store:prune_old", "Delete what is older than the configuration says."),
    ("judge", "routecanary.cli.judge:judge", "Judge stored transcripts."),
    ("selfcheck", "routecanary.cli.selfcheck:selfcheck", "Show the judges their own planted faults."),
    ("replay", "routecanary.cli.replay:replay", "Drive the decision with a trace."),
    ("backtest", "routecanary.cli.backtest:run_backtest", "Say what another policy would have done."),
    ("simulate", "routecanary.cli.simulate:simulate", "Let a policy decide over simulated hosts."),
    ("lab", "routecanary.cli.lab:lab", "Serve a gateway that misbehaves on request."),
)


# first word of several commands, what they are about
GROUPS: Final = {
    "exclude": "Keep routes away by hand, and take it back.",
    "guardrail": "Keep the exclusions in a guardrail of the account, for callers that cannot be changed.",
    "incidents": "List suspensions, tell one's story, mark it, and hand out its evidence.",
    "token": "Say who may ask the listeners, and for what.",
    "report": "Pass users' complaints on, and find the routes that may have served them.",
    "store": "Check the event log, and delete what is old.",
}


def application(chosen: str | None) -> App:
    """Make the parser.

    Args:
        chosen: The command that is called. Its help is its whole docstring; the others are only listed, by
            the sentence above, and are not loaded.
    """
    app = App(
        name="routecanary",
        help="Provider canary and routing quarantine for LLM products behind a multi-provider gateway.",
        version=__version__,
        help_format="markdown",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
        default_parameter=Parameter(negative=()),
    )
    groups: dict[str, App] = {}
    for position, (name, place, sentence) in enumerate(COMMANDS):
        told = None if name == chosen else sentence
        group, _, under = name.partition(" ")
        if group not in GROUPS:
            app.command(place, name=name, sort_key=position, help=told)
            continue
        if group not in groups:
            groups[group] = App(name=group, sort_key=position, help=None if name == chosen else GROUPS[group])
            app.command(groups[group])
        if under:
            groups[group].command(place, name=under, sort_key=position, help=told)
        elif name == chosen:
            groups[group].default(_loaded(place))
    return app


def _loaded(place: str) -> Callable[..., int]:
    """Load a command."""
    module, _, name = place.partition(":")
    command: Callable[..., int] = getattr(import_module(module), name)
    return command


def command_of(tokens: Sequence[str]) -> str | None:
    """Tell which command a command line calls, by its first or its first two words."""
    names = {name for name, _, _ in COMMANDS}
    for words in (" ".join(tokens[:2]), tokens[0] if tokens else ""):
        if words in names:
            return words
    return None


def exit_code_of(error: RoutecanaryError) -> ExitCode:
    """Map one of our errors to the exit code that docs/cli.md promises."""
    match error:
        case InputError():
            return ExitCode.BAD_INPUT
        case GatewayError() | DeliveryError():
            return ExitCode.GATEWAY
        case StoreError() | SnapshotError() | OutputError():
            return ExitCode.FILES
        case DaemonRunningError():
            return ExitCode.RUNNING
        case _:
            return ExitCode.INTERNAL


def call(tokens: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return int(application(command_of(tokens))(tokens) or ExitCode.OK)
    except CycloptsError as error:
        complain(str(error))
        return ExitCode.BAD_INPUT
    except (BrokenPipeError, SystemExit):
        # the reader (head, less) has what it wanted, which is not our failure; rich exits so from a help page
        abandon_output()
        return ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        return _told(_innermost(error))


def _told(error: Exception) -> ExitCode:
    """Say on standard error what went wrong, a line for each fault, and choose the exit code.

    Raises:
        ModuleNotFoundError: A library is not installed; `routecanary.__main__` knows what to say.
    """
    if isinstance(error, ModuleNotFoundError) and not (error.name or "routecanary").startswith("routecanary"):
        raise error
    if isinstance(error, OutputError):
        abandon_output()
    if isinstance(error, ConfigFaultsError | ScenarioFaultsError):
        for fault in error.faults:
            complain(str(fault))
        return ExitCode.BAD_INPUT
    if isinstance(error, RoutecanaryError):
        complain(str(error))
        return exit_code_of(error)
    complain(f"internal error: {type(error).__name__}: {error}; please report it ({_where(error)})")
    if os.environ.get(DEBUG_VARIABLE) == "1":
        traceback.print_exception(error)
    return ExitCode.INTERNAL


def _innermost(error: Exception) -> Exception:
    """Find what a group of tasks, or the loading of a command, failed of."""
    while True:
        match error:
            case ExceptionGroup():
                error = error.exceptions[0]
            case ImportError(__cause__=ImportError() as cause):
                error = cause
            case _:
                return error


def _where(error: Exception) -> str:
    """Name the last of our own lines that the error passed."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_HOUSE)
    ]
    place = f"{Path(ours[-1].filename).relative_to(_HOUSE)}:{ours[-1].lineno}" if ours else "unknown place"
    return f"{place}; {DEBUG_VARIABLE}=1 shows the traceback"


def run() -> None:
    """Run the process's own command line and exit."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # ASCII terminals, names that are no Unicode
    sys.exit(call(sys.argv[1:]))
