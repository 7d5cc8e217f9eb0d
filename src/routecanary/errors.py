"""Every exception of the package.

RoutecanaryError
├── InputError            bad input from outside; exit code 2; names the place, the value and what is allowed
│   ├── ConfigError         the configuration file or environment
│   │   └── ConfigFaultsError      several of them, found in one reading
│   ├── ProbeTextError      the text of a probe
│   ├── RefusalTableError   a table of the phrases that models refuse with
│   ├── PolicyError         the [policy] table or a policy file
│   ├── TraceError          one line of a trace
│   ├── ClockError          a round from before what its model has already seen
│   │   └── ClockLeaptError        a round during which the wall clock ran ahead
│   ├── CaseError           a case file of `judge`
│   ├── ScenarioError       a lab scenario
│   │   └── ScenarioFaultsError    several of them, found in one reading
│   ├── TelemetryError      a body of telemetry
│   └── ListingError        the gateway's endpoint listing
├── GatewayError          the gateway could not be asked (discovery, /key); never evidence against a route
│   ├── AccountError             because of our key, credit or configuration
│   └── WriteRefusedError        a change of the account's own settings was refused: nothing was changed
├── StoreError            the event log could not be read or written
│   └── HeadMovedError           another writer appended first: fold again and decide again
├── DeliveryError         a channel did not take a message; the outbox keeps it
├── SnapshotError         the snapshot file could not be read or written
│   └── SnapshotVersionError     a later daemon wrote it
├── DaemonRunningError    another daemon watches this store already
└── OutputError           standard output could not be written

A provider's failure is data (a verdict), never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence


class RoutecanaryError(Exception):
    """Something in Routecanary or its surroundings went wrong."""


class InputError(RoutecanaryError):
    """Bad input: `place` (file, line), `key`, `value` and `allowed` say what and where.

    Each is None where it does not apply; the message is built from those present.
    """

    def __init__(
        self,
        problem: str,
        *,
        place: str | None = None,
        key: str | None = None,
        value: object = None,
        allowed: str | None = None,
    ) -> None:
        self.problem = problem
        self.place = place
        self.key = key
        self.value = value
        self.allowed = allowed
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [_printable(part) for part in (self.place, self.key) if part]
        text = ": ".join([*parts, self.problem])
        if self.value is not None:
            shown = _shown(self.value)
            text += f" (got {shown if len(shown) <= 120 else shown[:117] + '...'})"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        return text


def _printable(name: str) -> str:
    """Escape what a terminal would obey: a name may come from the input."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _shown(value: object) -> str:
    try:
        return repr(value)
    except (RecursionError, ValueError):  # nested without end, or a number of thousands of digits
        return f"a value of type {type(value).__name__}"


class ConfigError(InputError):
    """The configuration is not usable."""


class ConfigFaultsError(ConfigError):
    """Every fault found in one reading of a configuration; the message has one line for each."""

    def __init__(self, faults: Sequence[ConfigError]) -> None:
        self.faults = tuple(faults)
        super().__init__("the configuration has several faults")

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


class ProbeTextError(InputError):
    """The text of a probe breaks one of the rules that keep it fair."""


class RefusalTableError(InputError):
    """A table of refusals is malformed, or does not find what it was made for."""


class PolicyError(InputError):
    """A number of the policy is missing, unknown or out of range."""


class TraceError(InputError):
    """A line of a trace is rejected whole."""


class ClockError(InputError):
    """A round does not come after what its model has already seen; the state is left as it was."""


class ClockLeaptError(ClockError):
    """The wall clock ran ahead of the time that passed: nothing is dated by it; `seconds` says how far."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"the wall clock ran ahead by {seconds} s while the round was made")


class CaseError(InputError):
    """A case file does not have the shape of a case."""


class ScenarioError(InputError):
    """A lab scenario does not have the shape of a scenario."""


class ScenarioFaultsError(ScenarioError):
    """Every fault found in one reading of a scenario; the message has one line for each."""

    def __init__(self, faults: Sequence[ScenarioError]) -> None:
        self.faults = tuple(faults)
        super().__init__("the scenario has several faults")

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


class TelemetryError(InputError):
    """A body of telemetry says what it may not; nothing of it was kept."""


class ListingError(InputError):
    """The gateway's listing does not have the shape of a listing."""


class GatewayError(RoutecanaryError):
    """The gateway could not be asked."""


class AccountError(GatewayError):
    """The gateway refused us, not this request: `code` is the reason, as a verdict would have it."""

    def __init__(self, message: str, *, code: str) -> None:
        self.code = code
        super().__init__(message)


class WriteRefusedError(GatewayError):
    """The gateway refused to change a setting of the account, and surely left it as it was."""


class StoreError(RoutecanaryError):
    """The event log could not be read or written."""


class HeadMovedError(StoreError):
    """Another writer appended to the event log first."""


class DeliveryError(RoutecanaryError):
    """A channel did not take a message; the text says why and names no address."""


class SnapshotError(RoutecanaryError):
    """The snapshot file could not be read or written."""


class SnapshotVersionError(SnapshotError):
    """The snapshot is of a later format than this reader knows."""


class DaemonRunningError(RoutecanaryError):
    """Another daemon watches this store already; `pid` is its process, None while it is starting."""

    def __init__(self, store: str, pid: int | None) -> None:
        self.pid = pid
        who = "a daemon that is just starting" if pid is None else f"the daemon with process id {pid}"
        super().__init__(f"{store}: {who} watches this store already")


class OutputError(RoutecanaryError):
    """Standard output could not be written."""
