"""What does the exit code say? docs/cli.md repeats this table."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended; a signal that is not handled ends it as the system says (128 + its number)."""

    OK = 0  # done, and nothing to complain of
    FINDING = 1  # done, and the answer is "no": a problem found, a fault missed, no round made
    BAD_INPUT = 2  # arguments, configuration, trace, case, scenario, policy, listing
    GATEWAY = 3  # the gateway, the account or a channel for messages could not be used
    FILES = 4  # the event log, the snapshot or standard output could not be read or written
    RUNNING = 5  # another daemon watches this store
    INTERNAL = 70  # a bug of Routecanary
    INTERRUPTED = 130  # Ctrl-C
