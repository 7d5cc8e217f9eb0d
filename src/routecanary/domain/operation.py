"""What can happen to the canary itself?

`domain.event` tells what happens to a model's routes; this is the closed union of everything else that a
person must be able to read later: the account, the budget, the clock, our own crashes. It stands in the same
log; no decision on a route rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from routecanary.domain.codec import JsonObject, member_from_json, to_json
from routecanary.domain.guardrail import Refusal
from routecanary.domain.leak import LeakReason
from routecanary.domain.log import StoredDraft
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.domain.prompts import PromptReading
from routecanary.domain.token import Role
from routecanary.domain.wanted import Because


@dataclass(frozen=True, slots=True, kw_only=True)
class Operated:
    """What every operating event carries."""

    at: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatedModel(Operated):
    """What those of one model carry besides."""

    model: ModelId


# What a round meets


@dataclass(frozen=True, slots=True, kw_only=True)
class PinViolated(OperatedModel):
    """A probe pinned to a route was answered by another provider, or from a cache."""

    route: RouteId
    served_by: str | None = None  # as the answer names it; None = it does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFault(OperatedModel):
    """Our own key, credit, configuration or request is at fault. Said by every such round."""

    code: str  # reason code of the verdict
    detail: str = ""  # holds no secret


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRestored(OperatedModel):
    """A round was made without such a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStale(OperatedModel):
    """A route gave no evidence for longer than `stale_after`: frozen, not asked, or not listed."""

    route: RouteId


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteFresh(OperatedModel):
    """A stale route gave evidence again."""

    route: RouteId


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingShrunk(OperatedModel):
    """A listing lost so many routes that it is not believed; no round is made of it."""

    before: int  # routes of the last believed listing
    after: int  # routes of this one


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingBelieved(OperatedModel):
    """A listing is believed again, after one that was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlAbsent(OperatedModel):
    """No control for a contract failed as it should within `control_max_age`: its passes are unproven."""

    contract: ContractName


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPresent(OperatedModel):
    """A control for a contract failed as it should again."""

    contract: ContractName


# What a fixed prompt counts


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokensRead(OperatedModel):
    """The fixed prompt was asked: what it counted, wherever that can be believed."""

    readings: Mapping[RouteId, PromptReading]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokensChanged(OperatedModel):
    """A route counts the fixed prompt otherwise than in its last readings, and did so twice."""

    route: RouteId
    was: int
    now: int
    peers_were: int | None = None  # median of the model's other routes; None = too few of them
    peers: int | None = None
    study: str | None = None  # id of the one that was begun


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokensShifted(OperatedModel):
    """Most routes count the fixed prompt otherwise at once: the model's tokenizer, or the gateway."""

    routes: frozenset[RouteId]
    of: int  # routes that could be compared


# What somebody wants to have looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundAsked(OperatedModel):
    """Somebody asked for a targeted round; what that round shows is for the policy to weigh."""

    routes: frozenset[RouteId]
    why: Because
    locale: Locale | None = None  # in which they are to be asked; None = in whichever comes
    detail: str = ""  # printable, bounded


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundAnswered(OperatedModel):
    """A round asked routes, in the locale for which it had been asked for; kept with that round."""

    routes: frozenset[RouteId]
    locale: Locale | None = None  # as it was asked for


# What telemetry shows of the exclusions


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionLeaked(OperatedModel):
    """Answers came from routes that were excluded when they were asked for; said once an interval."""

    routes: frozenset[RouteId]  # the excluded candidates of each of these answers
    reason: LeakReason
    count: int
    first_at: datetime  # when the first of these requests was built
    last_at: datetime
    examples: tuple[str, ...] = ()  # ids of generations, the first few


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionLeakPossible(OperatedModel):
    """Answers may have come from excluded routes: their provider has others, or it was meant so."""

    routes: frozenset[RouteId]
    reason: LeakReason
    count: int
    first_at: datetime
    last_at: datetime
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionLeakEnded(OperatedModel):
    """No more leaks of one reason have been seen for a while."""

    reason: LeakReason
    certain: bool  # of those that leaked; false: of those that may have


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficAudited(Operated):
    """All generations up to a number have been audited; kept with what was found."""

    through: int  # number of the store's
    generations: int  # since the event before
    unplaced: int = 0  # of them, those of which nothing tells who served them


# Our own bugs and changes


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCrashed(OperatedModel):
    """A judge raised; its verdict is `inconclusive`. Said by every round in which it happens, once."""

    contract: ContractName
    error: str  # type and message


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBlind(Operated):
    """A judge missed its own planted faults, or failed a healthy answer: its verdicts are `inconclusive`."""

    contract: ContractName
    version: int  # of the judge
    missed: tuple[str, ...] = ()  # names of planted faults, the first few
    wronged: tuple[str, ...] = ()  # names of look-alikes that it failed, likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSighted(Operated):
    """A judge that was blind sees again."""

    contract: ContractName


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCrashed(OperatedModel):
    """A round ended by an error of ours; nothing of it was recorded."""

    error: str  # type and message


@dataclass(frozen=True, slots=True, kw_only=True)
class Requalifying(Operated):
    """A judge, probe or prompt is of another version: its contract's fails only count from `until` on."""

    contract: ContractName
    until: datetime
    version: str  # of what now judges
    model: ModelId | None = None  # None = of all models
    actor: str | None = None  # None = first met, and nobody's doing
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded(Operated):
    """The configuration was read anew while running: taken over, or refused and the old one kept."""

    ok: bool
    detail: str = ""  # what was wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTaken(Operated):
    """A round was decided by other numbers than the rounds before, of whatever model."""

    policy: Mapping[str, Json]  # as `policy_to_mapping` writes it


# Time


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockStepped(Operated):
    """The wall clock moved otherwise than the monotonic one; a round that met it was not recorded."""

    seconds: int  # negative: backwards; positive: ahead
    model: ModelId | None = None  # whose round was not recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOverdue(OperatedModel):
    """No round was made of a model for longer than `overdue_after`."""

    since: datetime | None = None  # the last round; None = there never was one


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundReturned(OperatedModel):
    """A round was made of a model that was overdue."""


# Money; all in USD


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved(OperatedModel):
    """The most that a round can cost was set aside before anything was sent."""

    round_id: str
    usd: Decimal
    left_out: frozenset[RouteId] = frozenset()  # that should have been asked, and the budget did not allow


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled(OperatedModel):
    """A round ended: what it did cost takes the place of what was set aside."""

    round_id: str
    usd: Decimal
    asked: int = 0  # probes sent, confirmations included
    again: int = 0  # those of them that were confirmations
    unasked: int = 0  # planned probes that the budget did not allow


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReached(Operated):
    """The day's budget does not allow what was planned; routes go unasked until the day ends."""

    spent_usd: Decimal
    budget_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRestored(Operated):
    """The budget allows what is planned again."""


# A guardrail of the account: entries as they are written there


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatedGuardrail(Operated):
    """What those of one guardrail carry besides."""

    guardrail: str  # id


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailWriteBegun(OperatedGuardrail):
    """Our entries of a guardrail's list are about to be changed; said before it is done."""

    add: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailWritten(OperatedGuardrail):
    """It is known what came of a write: what is ours there now, and what was changed."""

    owned: frozenset[str]  # all that is ours there now
    cause: str  # why it was done: change, check, command, settled (found out later), left
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    actor: str | None = None  # None = the daemon


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailSynced(OperatedGuardrail):
    """A guardrail was looked at: it leaves the canary alone, and what is ours in it is as it should be."""

    lost: frozenset[str] = frozenset()  # wanted, and not put back because somebody took it out


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailCleared(OperatedGuardrail):
    """Nothing in a guardrail is ours any more."""

    cause: str  # stop, command, covered, left, forgotten
    removed: frozenset[str] = frozenset()
    actor: str | None = None  # None = the daemon


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailEntriesLost(OperatedGuardrail):
    """Somebody else took entries of ours out, or the gateway did not keep them."""

    entries: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailRefused(OperatedGuardrail):
    """Nothing is added to a guardrail: it covers the canary's own key, or may."""

    why: Refusal
    detail: str = ""  # holds no secret


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailFailed(OperatedGuardrail):
    """A guardrail could not be read or changed, several times in a row."""

    detail: str  # holds no secret
    owned: frozenset[str] = frozenset()  # entries of ours that stand there meanwhile, and do not end


# What a preflight learnt of the gateway


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesWithheld(OperatedModel):
    """The gateway told which routes it keeps from the product's requests, though its listing names them."""

    routes: frozenset[RouteId]


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreTried(Operated):
    """It was tried whether `provider.ignore` heeds a full tag of a provider that has several."""

    provider: str  # its base slug
    holds: bool  # False: the provider can only be kept away as a whole
    detail: str = ""


# Who may ask our listeners


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCreated(Operated):
    """A token was made; what was shown of it once is not here."""

    name: str
    role: Role
    digest: str  # SHA-256, in hexadecimal digits
    actor: str
    expires_at: datetime | None = None  # None = until it is revoked
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevoked(Operated):
    """A token opens nothing any more."""

    name: str
    digest: str  # which one: a name may be given again
    actor: str
    reason: str | None = None


Operation = (
    PinViolated
    | AccountFault
    | AccountRestored
    | RouteStale
    | RouteFresh
    | ListingShrunk
    | ListingBelieved
    | ControlAbsent
    | ControlPresent
    | PromptTokensRead
    | PromptTokensChanged
    | PromptTokensShifted
    | RoundAsked
    | RoundAnswered
    | ExclusionLeaked
    | ExclusionLeakPossible
    | ExclusionLeakEnded
    | TrafficAudited
    | JudgeCrashed
    | JudgeBlind
    | JudgeSighted
    | RoundCrashed
    | Requalifying
    | Reloaded
    | PolicyTaken
    | ClockStepped
    | RoundOverdue
    | RoundReturned
    | Reserved
    | Settled
    | BudgetReached
    | BudgetRestored
    | RoutesWithheld
    | IgnoreTried
    | GuardrailWriteBegun
    | GuardrailWritten
    | GuardrailSynced
    | GuardrailCleared
    | GuardrailEntriesLost
    | GuardrailRefused
    | GuardrailFailed
    | TokenCreated
    | TokenRevoked
)

OPERATION_NAMES: Final[Mapping[type[Operation], str]] = {
    PinViolated: "pin_violated",
    AccountFault: "account_fault",
    AccountRestored: "account_restored",
    RouteStale: "route_stale",
    RouteFresh: "route_fresh",
    ListingShrunk: "listing_shrunk",
    ListingBelieved: "listing_believed",
    ControlAbsent: "control_absent",
    ControlPresent: "control_present",
    PromptTokensRead: "prompt_tokens_read",
    PromptTokensChanged: "prompt_tokens_changed",
    PromptTokensShifted: "prompt_tokens_shifted",
    RoundAsked: "round_asked",
    RoundAnswered: "round_answered",
    ExclusionLeaked: "exclusion_leaked",
    ExclusionLeakPossible: "exclusion_leak_possible",
    ExclusionLeakEnded: "exclusion_leak_ended",
    TrafficAudited: "traffic_audited",
    JudgeCrashed: "judge_crashed",
    JudgeBlind: "judge_blind",
    JudgeSighted: "judge_sighted",
    RoundCrashed: "round_crashed",
    Requalifying: "requalifying",
    Reloaded: "reloaded",
    PolicyTaken: "policy_taken",
    ClockStepped: "clock_stepped",
    RoundOverdue: "round_overdue",
    RoundReturned: "round_returned",
    Reserved: "reserved",
    Settled: "settled",
    BudgetReached: "budget_reached",
    BudgetRestored: "budget_restored",
    RoutesWithheld: "routes_withheld",
    IgnoreTried: "ignore_tried",
    GuardrailWriteBegun: "guardrail_write_begun",
    GuardrailWritten: "guardrail_written",
    GuardrailSynced: "guardrail_synced",
    GuardrailCleared: "guardrail_cleared",
    GuardrailEntriesLost: "guardrail_entries_lost",
    GuardrailRefused: "guardrail_refused",
    GuardrailFailed: "guardrail_failed",
    TokenCreated: "token_created",
    TokenRevoked: "token_revoked",
}
OPERATED: Final = frozenset(OPERATION_NAMES.values())
_TYPES: Final = {name: kind for kind, name in OPERATION_NAMES.items()}


def operation_to_json(operation: Operation) -> JsonObject:
    """Write an operating event as plain JSON values, lossless; `event` names its kind."""
    return {"event": OPERATION_NAMES[type(operation)], **to_json(operation)}


def operation_from_json(data: Mapping[str, object]) -> Operation:
    """Read an operating event back.

    Raises:
        StoreError: It is of no known kind, or a field is missing, unknown or of the wrong type.
    """
    return member_from_json(_TYPES, data, "operating event")


def model_of(operation: Operation) -> ModelId | None:
    """Tell whose event it is; None = of no single model."""
    match operation:
        case OperatedModel() | Requalifying() | ClockStepped():
            return operation.model
        case _:
            return None


def operation_draft(operation: Operation) -> StoredDraft:
    """Make the log's entry of an operating event."""
    return StoredDraft(
        kind=OPERATION_NAMES[type(operation)],
        at=operation.at,
        body=operation_to_json(operation),
        model=model_of(operation),
    )
