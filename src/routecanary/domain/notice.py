"""What is a person told?

A notice tells of a change, once: that a condition began or ended, or that something happened. Notices are
derived from the log's events and are never the truth of anything. Those of one line and one model travel
together as a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.probe import Json


class Severity(StrEnum):
    """How soon a person should look, the least first."""

    INFO = "info"  # for information: a recovery, an act, a shadow
    WARNING = "warning"  # within the day
    CRITICAL = "critical"  # now: production or the watch itself is at stake


class Phase(StrEnum):
    """What became of the condition that a notice is about."""

    OPENED = "opened"
    CONTINUED = "continued"  # it goes on, with something changed
    CLOSED = "closed"
    ONCE = "once"  # there is no condition: something happened


class NoticeKind(StrEnum):
    """Every kind of notice; docs/notices.md lists them with their facts."""

    SUSPENDED = "suspended"
    RENEWED = "renewed"
    REINSTATED = "reinstated"
    EXPIRED = "expired"
    LIFTED = "lifted"
    CLOSED_BY_MODE = "closed_by_mode"
    SUSPENSION_BLOCKED = "suspension_blocked"
    SUSPENSION_UNBLOCKED = "suspension_unblocked"
    CAPACITY_LOW = "capacity_low"
    CAPACITY_RESTORED = "capacity_restored"
    CANARY_LAYER_RELEASED = "canary_layer_released"
    CANARY_LAYER_RESTORED = "canary_layer_restored"
    CANARY_LAYER_PAUSED = "canary_layer_paused"
    PAUSE_END_MOVED = "pause_end_moved"
    CANARY_LAYER_RESUMED = "canary_layer_resumed"
    PROBE_WEAK = "probe_weak"
    PROBE_RECOVERED = "probe_recovered"
    CONTROL_ABSENT = "control_absent"
    CONTROL_PRESENT = "control_present"
    COMMON_CAUSE = "common_cause"
    COMMON_CAUSE_ENDED = "common_cause_ended"
    GATEWAY_OUTAGE = "gateway_outage"
    GATEWAY_OUTAGE_ENDED = "gateway_outage_ended"
    ACCOUNT_FAULT = "account_fault"
    ACCOUNT_RESTORED = "account_restored"
    PIN_VIOLATED = "pin_violated"
    PIN_HELD = "pin_held"
    PROMPT_TOKENS_CHANGED = "prompt_tokens_changed"
    PROMPT_TOKENS_SHIFTED = "prompt_tokens_shifted"
    EXCLUSION_LEAKED = "exclusion_leaked"
    EXCLUSION_LEAK_POSSIBLE = "exclusion_leak_possible"
    EXCLUSION_LEAK_ENDED = "exclusion_leak_ended"
    EXCLUSION_LEAK_POSSIBLE_ENDED = "exclusion_leak_possible_ended"
    ROUTE_STALE = "route_stale"
    ROUTE_FRESH = "route_fresh"
    LISTING_SHRUNK = "listing_shrunk"
    LISTING_BELIEVED = "listing_believed"
    BUDGET_REACHED = "budget_reached"
    BUDGET_RESTORED = "budget_restored"
    CLOCK_STEPPED = "clock_stepped"
    CLOCK_STEADY = "clock_steady"
    ROUND_OVERDUE = "round_overdue"
    ROUND_RETURNED = "round_returned"
    ROUND_CRASHED = "round_crashed"
    ROUND_RECOVERED = "round_recovered"
    JUDGE_CRASHED = "judge_crashed"
    JUDGE_RECOVERED = "judge_recovered"
    JUDGE_BLIND = "judge_blind"
    JUDGE_SIGHTED = "judge_sighted"
    REQUALIFYING = "requalifying"
    RELOAD_FAILED = "reload_failed"
    RELOAD_RECOVERED = "reload_recovered"
    GUARDRAIL_REFUSED = "guardrail_refused"
    GUARDRAIL_ACCEPTED = "guardrail_accepted"
    GUARDRAIL_FAILED = "guardrail_failed"
    GUARDRAIL_RECOVERED = "guardrail_recovered"
    GUARDRAIL_ENTRIES_LOST = "guardrail_entries_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something that began and has not ended."""

    opened_by: NoticeKind
    since: datetime
    route: RouteId | None = None
    contracts: frozenset[ContractName] = frozenset()
    shadow: bool = False
    quiet: bool = False  # nobody was told that it began, so nobody is told that it ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One change of which a person is told."""

    kind: NoticeKind
    phase: Phase
    at: datetime
    severity: Severity
    text: str  # one sentence, printable
    model: ModelId | None = None  # None = of the canary itself
    condition: str | None = None  # its name within the model: the same when it opens and when it closes
    routes: tuple[RouteId, ...] = ()
    shadow: bool = False  # decided in observe mode: no traffic was kept away
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What travels: the notices of one line and one model, in the order of what happened."""

    id: str
    at: datetime
    sequence: int  # number of the log's last event that it tells of
    model: ModelId | None
    notices: tuple[Notice, ...]

    @property
    def severity(self) -> Severity:
        """The highest of its notices."""
        ranks = list(Severity)
        return max((notice.severity for notice in self.notices), key=ranks.index)

    @property
    def shadow(self) -> bool:
        """Whether all of its notices are shadows."""
        return all(notice.shadow for notice in self.notices)
