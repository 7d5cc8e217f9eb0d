"""`routecanary replay`: drive the decision with a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say_json
from routecanary.cli.scope import scope_of
from routecanary.decide.exclusions import exclusions
from routecanary.domain.event import Exclusions
from routecanary.domain.policy import Policy
from routecanary.errors import InputError
from routecanary.replay.printed import printed
from routecanary.replay.run import Rejected, open_trace, read_lines, read_policy, replay_lines


def replay(
    trace: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    policy: Path | None = None,
    needs: tuple[str, ...] | None = None,
    locale: str | None = None,
    json: bool = False,
) -> int:
    """Print the events that follow from a trace, one JSON object a line.

    A rejected line prints one error on standard error, changes nothing, and makes the exit code 2.

    Parameters
    ----------
    trace
        A file with one round or act a line; - is standard input. Its shape: docs/policy.md.
    policy
        A TOML file whose table [policy] replaces the defaults.
    needs
        What a request needs, as for `ignore`: each exclusions event then carries its shorter list, `scoped`.
    locale
        In which a request's answer is wanted, likewise.
    json
        Accepted for uniformity; the output is JSON lines in any case.
    """
    del json
    if trace.startswith("-") and trace != "-":
        raise InputError("unknown option", value=trace, allowed="TRACE, --policy, --needs, --locale, --json")
    scope = scope_of(needs, locale)
    numbers = read_policy(policy) if policy else Policy()
    code = ExitCode.OK
    with open_trace(trace) as stream:
        for result in replay_lines(read_lines(stream, trace), numbers, trace):
            if isinstance(result, Rejected):
                complain(str(result.error))
                code = ExitCode.BAD_INPUT
                continue
            for event in result.events:
                shown = printed(event)
                if shown is None:
                    continue
                if scope is not None and isinstance(event, Exclusions):
                    shown["scoped"] = list(exclusions(result.state, touches=scope.touches))
                say_json(shown)
    return code
