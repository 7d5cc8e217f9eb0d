"""How does the canary itself stand?

The fold of the operating events (`domain.operation`): what is wrong now and since when, what the day has
cost, what was reloaded. Nothing here is set in any other way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final, TypeVar, assert_never

from routecanary.domain.guardrail import GuardrailStanding
from routecanary.domain.guardrail_fold import after_guardrail_event
from routecanary.domain.leak import Leaking, leak_name
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.operation import (
    AccountFault,
    AccountRestored,
    BudgetReached,
    BudgetRestored,
    ClockStepped,
    ControlAbsent,
    ControlPresent,
    ExclusionLeaked,
    ExclusionLeakEnded,
    ExclusionLeakPossible,
    GuardrailCleared,
    GuardrailEntriesLost,
    GuardrailFailed,
    GuardrailRefused,
    GuardrailSynced,
    GuardrailWriteBegun,
    GuardrailWritten,
    IgnoreTried,
    JudgeBlind,
    JudgeCrashed,
    JudgeSighted,
    ListingBelieved,
    ListingShrunk,
    Operation,
    PinViolated,
    PolicyTaken,
    PromptTokensChanged,
    PromptTokensRead,
    PromptTokensShifted,
    Reloaded,
    Requalifying,
    Reserved,
    RoundAnswered,
    RoundAsked,
    RoundCrashed,
    RoundOverdue,
    RoundReturned,
    RouteFresh,
    RouteStale,
    RoutesWithheld,
    Settled,
    TokenCreated,
    TokenRevoked,
    TrafficAudited,
)
from routecanary.domain.prompts import PromptChange, Prompts
from routecanary.domain.token import ENDED_KEPT, Token, TokenState
from routecanary.domain.wanted import Wanted, with_wishes, without_wishes

DAYS_KEPT: Final = 4
"""Days of spending that are remembered, the latest ones. Not those near the last event: a clock that leapt
ahead and came back must not have emptied the day."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTrouble:
    """What keeps the account from being used."""

    since: datetime  # the first such round
    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtedListing:
    """A listing that is not believed."""

    since: datetime
    before: int  # routes of the last believed one
    after: int  # routes of the newest one


@dataclass(frozen=True, slots=True, kw_only=True)
class Requalification:
    """Which version of a contract's judge, probe or prompt is at work, and until when it is on trial."""

    version: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOperation:
    """What is out of order around one model."""

    account: AccountTrouble | None = None
    listing: DoubtedListing | None = None
    stale: Mapping[RouteId, datetime] = field(default_factory=dict)  # since when it was said
    control_absent: Mapping[ContractName, datetime] = field(default_factory=dict)  # likewise
    requalifying: Mapping[ContractName, Requalification] = field(default_factory=dict)  # of this model alone
    overdue_said_at: datetime | None = None  # None = not overdue, as far as anybody said
    left_out: Mapping[RouteId, datetime] = field(default_factory=dict)  # by the budget, and since when
    withheld: frozenset[RouteId] = frozenset()  # that the gateway keeps from the product's requests
    withheld_at: datetime | None = None  # when it told; None = it never did
    prompts: Prompts = field(default_factory=Prompts)  # what a fixed prompt counts
    wanted: tuple[Wanted, ...] = ()  # targeted rounds that were asked for and not made, oldest first
    wanted_at: Mapping[RouteId, datetime] = field(default_factory=dict)  # when one was last asked for
    leaking: Mapping[str, Leaking] = field(default_factory=dict)  # by `leak_name`: what has not stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a round that is not settled may still cost."""

    model: ModelId
    day: str  # ISO date, UTC, of the reservation
    usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """How the last reload went."""

    at: datetime
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingState:
    """Everything that is remembered of the canary itself."""

    models: Mapping[ModelId, ModelOperation] = field(default_factory=dict)
    requalifying: Mapping[ContractName, Requalification] = field(default_factory=dict)  # of all models
    settled: Mapping[str, Decimal] = field(default_factory=dict)  # USD by UTC day, ISO date
    reserved: Mapping[str, Reservation] = field(default_factory=dict)  # by round id, not settled
    budget_reached_at: datetime | None = None  # None = the budget allows what is planned
    budget_reached_usd: Decimal | None = None  # the budget of a day that was reached then
    undivided: frozenset[str] = frozenset()  # slugs of providers that can only be ignored as a whole
    reload: Reload | None = None
    policy: PolicyTaken | None = None  # that decided last; None = no round was made yet, or none said
    clock_stepped_at: datetime | None = None  # the last time
    blind: Mapping[ContractName, datetime] = field(default_factory=dict)  # judges, and since when
    guardrails: Mapping[str, GuardrailStanding] = field(default_factory=dict)  # by id
    tokens: tuple[Token, ...] = ()  # living ones, and the last that ended; in the order of their making

    audited_through: int = 0  # number of the last generation that was looked at for leaks

    def model(self, model: ModelId) -> ModelOperation:
        """Look up a model; one that nothing is known of is in order."""
        return self.models.get(model, ModelOperation())

    def guardrail(self, guardrail: str) -> GuardrailStanding:
        """Look up a guardrail; in one that nothing is known of, nothing is ours."""
        return self.guardrails.get(guardrail, GuardrailStanding())

    def committed(self, day: date) -> Decimal:
        """Sum up what a UTC day has cost, or may still cost, in USD.

        A reservation whose round never settled, because it was killed, counts in full: what was sent cannot
        be known.
        """
        name = day.isoformat()
        open_ones = (one.usd for one in self.reserved.values() if one.day == name)
        return self.settled.get(name, Decimal()) + sum(open_ones, Decimal())

    def on_trial(self, model: ModelId, now: datetime) -> frozenset[ContractName]:
        """List the contracts whose fails do not count yet because something about them is new."""
        known = {**self.requalifying, **self.model(model).requalifying}
        return frozenset(name for name, found in known.items() if now < found.until)


def evolve_operating(state: OperatingState, event: Operation) -> OperatingState:
    """Take one operating event into the state."""
    match event:
        case PinViolated() | JudgeCrashed() | RoundCrashed():
            return state  # it happened; nothing of it lasts
        case AccountFault():
            known = state.model(event.model).account
            since = event.at if known is None else known.since
            trouble = AccountTrouble(since=since, code=event.code, detail=event.detail)
            return _of_model(state, event.model, replace(state.model(event.model), account=trouble))
        case AccountRestored():
            return _of_model(state, event.model, replace(state.model(event.model), account=None))
        case RouteStale():
            one = state.model(event.model)
            stale = {event.route: event.at, **one.stale}
            return _of_model(state, event.model, replace(one, stale=stale))
        case RouteFresh():
            one = state.model(event.model)
            return _of_model(state, event.model, replace(one, stale=_without(one.stale, event.route)))
        case ListingShrunk():
            one = state.model(event.model)
            since = event.at if one.listing is None else one.listing.since
            doubted = DoubtedListing(since=since, before=event.before, after=event.after)
            return _of_model(state, event.model, replace(one, listing=doubted))
        case ListingBelieved():
            return _of_model(state, event.model, replace(state.model(event.model), listing=None))
        case ControlAbsent():
            one = state.model(event.model)
            absent = {event.contract: event.at, **one.control_absent}
            return _of_model(state, event.model, replace(one, control_absent=absent))
        case ControlPresent():
            one = state.model(event.model)
            absent = _without(one.control_absent, event.contract)
            return _of_model(state, event.model, replace(one, control_absent=absent))
        case JudgeBlind():
            return replace(state, blind={event.contract: event.at, **state.blind})
        case JudgeSighted():
            return replace(state, blind=_without(state.blind, event.contract))
        case PromptTokensRead():
            one = state.model(event.model)
            read = one.prompts.read(event.at, event.readings)
            return _of_model(state, event.model, replace(one, prompts=read))
        case PromptTokensChanged():
            return _of_model(state, event.model, _prompt_changed(state.model(event.model), event))
        case PromptTokensShifted():
            one = state.model(event.model)
            shifted = replace(one.prompts, shifted_at=event.at)
            return _of_model(state, event.model, replace(one, prompts=shifted))
        case RoundAsked():
            return _of_model(state, event.model, _asked(state.model(event.model), event))
        case RoundAnswered():
            one = state.model(event.model)
            wanted = without_wishes(one.wanted, event.routes, event.locale)
            return _of_model(state, event.model, replace(one, wanted=wanted))
        case ExclusionLeaked() | ExclusionLeakPossible():
            return _of_model(state, event.model, _leaked(state.model(event.model), event))
        case ExclusionLeakEnded():
            one = state.model(event.model)
            leaking = _without(one.leaking, leak_name(event.reason, certain=event.certain))
            return _of_model(state, event.model, replace(one, leaking=leaking))
        case TrafficAudited():
            return replace(state, audited_through=event.through)
        case Requalifying():
            return _requalifying(state, event)
        case Reloaded():
            return replace(state, reload=Reload(at=event.at, ok=event.ok, detail=event.detail))
        case PolicyTaken():
            return replace(state, policy=event)
        case ClockStepped():
            return replace(state, clock_stepped_at=event.at)
        case RoundOverdue():
            one = state.model(event.model)
            said_at = event.at if one.overdue_said_at is None else one.overdue_said_at
            return _of_model(state, event.model, replace(one, overdue_said_at=said_at))
        case RoundReturned():
            return _of_model(state, event.model, replace(state.model(event.model), overdue_said_at=None))
        case Reserved():
            return _reserved(state, event)
        case Settled():
            return _settled(state, event)
        case BudgetReached():
            since = state.budget_reached_at or event.at
            return replace(state, budget_reached_at=since, budget_reached_usd=event.budget_usd)
        case BudgetRestored():
            return replace(state, budget_reached_at=None, budget_reached_usd=None)
        case RoutesWithheld():
            one = replace(state.model(event.model), withheld=event.routes, withheld_at=event.at)
            return _of_model(state, event.model, one)
        case IgnoreTried(holds=True):
            return replace(state, undivided=state.undivided - {event.provider})
        case IgnoreTried():
            return replace(state, undivided=state.undivided | {event.provider})
        case (
            GuardrailWriteBegun()
            | GuardrailWritten()
            | GuardrailSynced()
            | GuardrailCleared()
            | GuardrailEntriesLost()
            | GuardrailRefused()
            | GuardrailFailed()
        ):
            standing = after_guardrail_event(state.guardrail(event.guardrail), event)
            return replace(state, guardrails={**state.guardrails, event.guardrail: standing})
        case TokenCreated():
            return replace(state, tokens=_with_token(state.tokens, event))
        case TokenRevoked():
            revoked = (
                replace(token, revoked_at=event.at) if token.digest == event.digest else token
                for token in state.tokens
            )
            return replace(state, tokens=tuple(revoked))
        case _:
            assert_never(event)


def _of_model(state: OperatingState, model: ModelId, one: ModelOperation) -> OperatingState:
    """Put a model's part in place; one that is in order again takes no room."""
    if one == ModelOperation():
        return replace(state, models=_without(state.models, model))
    return replace(state, models={**state.models, model: one})


def _without(known: Mapping[_Key, _Value], gone: _Key) -> dict[_Key, _Value]:
    return {key: value for key, value in known.items() if key != gone}


def _requalifying(state: OperatingState, event: Requalifying) -> OperatingState:
    trial = Requalification(version=event.version, until=event.until)
    if event.model is None:
        return replace(state, requalifying={**state.requalifying, event.contract: trial})
    one = state.model(event.model)
    of_model = {**one.requalifying, event.contract: trial}
    return _of_model(state, event.model, replace(one, requalifying=of_model))


def _asked(one: ModelOperation, event: RoundAsked) -> ModelOperation:
    wishes = [
        Wanted(route=route, at=event.at, why=event.why, locale=event.locale, detail=event.detail)
        for route in sorted(event.routes)
    ]
    wanted_at = {**one.wanted_at, **dict.fromkeys(event.routes, event.at)}
    return replace(one, wanted=with_wishes(one.wanted, wishes), wanted_at=wanted_at)


def _leaked(one: ModelOperation, event: ExclusionLeaked | ExclusionLeakPossible) -> ModelOperation:
    certain = isinstance(event, ExclusionLeaked)
    name = leak_name(event.reason, certain=certain)
    known = one.leaking.get(name)
    leaking = Leaking(
        reason=event.reason,
        certain=certain,
        since=event.first_at if known is None else known.since,
        last_at=event.at,
        count=event.count if known is None else known.count + event.count,
        routes=event.routes if known is None else known.routes | event.routes,
    )
    return replace(one, leaking={**one.leaking, name: leaking})


def _prompt_changed(one: ModelOperation, event: PromptTokensChanged) -> ModelOperation:
    change = PromptChange(
        at=event.at,
        was=event.was,
        now=event.now,
        peers_were=event.peers_were,
        peers=event.peers,
        study=event.study,
    )
    changed = {**one.prompts.changed, event.route: change}
    return replace(one, prompts=replace(one.prompts, changed=changed))


def _reserved(state: OperatingState, event: Reserved) -> OperatingState:
    day = event.at.astimezone(UTC).date().isoformat()
    reservation = Reservation(model=event.model, day=day, usd=event.usd)
    one = state.model(event.model)
    left_out = {route: one.left_out.get(route, event.at) for route in sorted(event.left_out)}
    days = sorted({*state.settled, *(each.day for each in state.reserved.values()), day})[-DAYS_KEPT:]
    return replace(
        _of_model(state, event.model, replace(one, left_out=left_out)),
        settled={name: usd for name, usd in state.settled.items() if name in days},
        reserved={
            **{name: each for name, each in state.reserved.items() if each.day in days},
            event.round_id: reservation,
        },
    )


def _settled(state: OperatingState, event: Settled) -> OperatingState:
    """Book a round's cost on the day on which it was reserved; without a reservation, on its own day."""
    reservation = state.reserved.get(event.round_id)
    day = event.at.astimezone(UTC).date().isoformat() if reservation is None else reservation.day
    return replace(
        state,
        settled={**state.settled, day: state.settled.get(day, Decimal()) + event.usd},
        reserved=_without(state.reserved, event.round_id),
    )


def _with_token(tokens: tuple[Token, ...], event: TokenCreated) -> tuple[Token, ...]:
    """Add a token; of those that open nothing any more, the oldest are forgotten."""
    made = Token(
        name=event.name,
        role=event.role,
        digest=event.digest,
        created_at=event.at,
        actor=event.actor,
        expires_at=event.expires_at,
    )
    ended = [token for token in tokens if token.state(event.at) is not TokenState.LIVING]
    forgotten = ended[:-ENDED_KEPT]
    return (*(token for token in tokens if token not in forgotten), made)
