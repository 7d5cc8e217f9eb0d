"""The decision core driven by a trace: `python -m routecanary.replay.run TRACE [--policy FILE]`.

One JSON event a line on standard output, one error a rejected line on standard error. Exit code 0; 2 if a
line was rejected or a file could not be used; 1 if the output could not be written.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from routecanary.decide.step import decided
from routecanary.domain.event import Event
from routecanary.domain.names import ModelId
from routecanary.domain.policy import Policy, policy_from_mapping
from routecanary.domain.round import Line
from routecanary.domain.state import ModelState
from routecanary.errors import ClockError, InputError, PolicyError, TraceError
from routecanary.replay.printed import printed
from routecanary.replay.trace import MAX_LINE_BYTES, parse_line

EXIT_OK: Final = 0
EXIT_UNWRITABLE: Final = 1
EXIT_BAD_INPUT: Final = 2

_MAX_POLICY_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A line of the trace and what followed from it."""

    number: int  # 1-based, in the file
    line: Line
    events: tuple[Event, ...]
    state: ModelState  # of the line's model, after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A line that was not taken; its model's state is as before."""

    number: int
    error: InputError


def replay_lines(
    lines: Iterable[bytes | str], policy: Policy, place: str = "trace"
) -> Iterator[Accepted | Rejected]:
    """Drive the decision core, one line after another, each model by itself; blank lines are skipped.

    Args:
        place: What to name in an error, before the line's number.
    """
    states: dict[ModelId, ModelState] = {}
    for number, raw in enumerate(lines, start=1):
        try:
            line = parse_line(raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw)
            if line is None:
                continue
            state = states.get(line.model) or ModelState.empty(line.model)
            events, state = decided(state, line, policy)
        except (TraceError, ClockError) as problem:
            problem.place = f"{place}:{number}"
            yield Rejected(number=number, error=problem)
            continue
        states[line.model] = state
        yield Accepted(number=number, line=line, events=events, state=state)


def open_trace(name: str) -> AbstractContextManager[BinaryIO]:
    """Open a trace file for reading; `-` is standard input, which stays open.

    Raises:
        TraceError: The file cannot be read.
    """
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as problem:
        raise TraceError(f"cannot be read: {problem.strerror}", place=name) from problem


def read_lines(stream: BinaryIO, place: str = "trace") -> Iterator[bytes]:
    """Read a trace line by line, in bounded memory.

    Returns:
        Each line; of one that is too long, only so much that `parse_line` sees it is. A byte order mark
        before the first is dropped.
    Raises:
        TraceError: The stream cannot be read on.
    """
    first = True
    try:
        while raw := stream.readline(MAX_LINE_BYTES + 1):
            rest = raw
            while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
                rest = stream.readline(MAX_LINE_BYTES + 1)
            line = raw.removesuffix(b"\n")
            yield line.removeprefix(_BOM) if first else line
            first = False
    except OSError as problem:
        raise TraceError(f"cannot be read: {problem.strerror}", place=place) from problem


def read_policy(path: Path, *, unstated: Mapping[str, object] | None = None) -> Policy:
    """Read a policy file: TOML with the table `[policy]` and nothing else.

    Args:
        unstated: What the file need not state, in its own form; anything else that it leaves out is at its
            default.
    Raises:
        PolicyError: The file cannot be read, is not TOML, or a value is unknown or out of its range.
    """
    place = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_POLICY_BYTES + 1)
        if len(raw) > _MAX_POLICY_BYTES:
            raise PolicyError("file too long", place=place, allowed=f"at most {_MAX_POLICY_BYTES} bytes")
        content = tomllib.loads(raw.decode("utf-8"))
    except OSError as problem:
        raise PolicyError(f"cannot be read: {problem.strerror}", place=place) from problem
    except RecursionError as problem:
        raise PolicyError("nested too deep", place=place, allowed="the table [policy]") from problem
    except ValueError as problem:  # not UTF-8, not TOML
        raise PolicyError(f"not TOML: {problem}", place=place, allowed="the table [policy]") from problem
    table = content.pop("policy", {})
    if content:
        raise PolicyError("unknown key", place=place, key=min(content), allowed="the table [policy]")
    if not isinstance(table, dict):
        raise PolicyError("not a table", place=place, key="policy", allowed="the table [policy]")
    return policy_from_mapping({**(unstated or {}), **table}, place=f"{place}: [policy]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay a trace file; `-` is standard input."""
    parser = argparse.ArgumentParser(prog="python -m routecanary.replay.run", description=__doc__)
    parser.add_argument("trace", help="trace file, one JSON object a line; - for standard input")
    parser.add_argument("--policy", type=Path, help="TOML file with the table [policy]")
    parser.add_argument(
        "--json", action="store_true", help="as the command has it; the output is JSON anyway"
    )
    chosen = parser.parse_args(arguments)
    try:
        return replay_file(chosen.trace, chosen.policy)
    except InputError as problem:
        print(problem, file=sys.stderr)
        return EXIT_BAD_INPUT


def replay_file(trace: str, policy: Path | None) -> int:
    """Print what follows from a trace file, `-` for standard input, and return the exit code.

    Raises:
        InputError: A file cannot be used; nothing is printed.
    """
    numbers = read_policy(policy) if policy else Policy()
    try:
        with open_trace(trace) as stream:
            return _print_replay(read_lines(stream, trace), numbers, trace)
    except OSError as problem:  # of reading, only TraceError and PolicyError come this far
        if not isinstance(problem, BrokenPipeError):
            print(f"standard output: cannot be written: {problem.strerror}", file=sys.stderr)
        # Keep the interpreter from writing the rest once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_UNWRITABLE


def _print_replay(lines: Iterable[bytes], policy: Policy, place: str) -> int:
    code = EXIT_OK
    for result in replay_lines(lines, policy, place):
        if isinstance(result, Rejected):
            print(result.error, file=sys.stderr)
            code = EXIT_BAD_INPUT
            continue
        for event in result.events:
            shown = printed(event)
            if shown is not None:
                print(json.dumps(shown))
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
