"""What does the exit code say? Documented in docs/cli.md."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0  # done, and nothing to complain of
    FINDING = 1  # done, and the answer is "no": the demo missed something, a check found a problem
    BAD_INPUT = 2  # arguments, configuration, trace, case, scenario, policy
    GATEWAY = 3  # the gateway or the account could not be used
    STORE = 4  # the event log could not be read or written
    INTERRUPTED = 130  # Ctrl-C
