"""The operating events: lossless in the log, and folded into how the canary itself stands."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from routecanary.domain.guardrail import GuardrailStanding, PendingWrite, Refusal
from routecanary.domain.leak import Leaking, LeakReason
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import (
    OPERATED,
    OPERATION_NAMES,
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
    model_of,
    operation_draft,
    operation_from_json,
    operation_to_json,
)
from routecanary.domain.policy import Policy, policy_to_mapping
from routecanary.domain.prompts import PromptReading
from routecanary.domain.token import Role
from routecanary.domain.wanted import Because, Wanted
from routecanary.errors import StoreError

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = AT + timedelta(minutes=30)
MODEL = ModelId("acme/chat")
ALPHA = RouteId("alpha")
LANGUAGE = ContractName("language")
THAI = Locale("th")

EVERY_OPERATION: tuple[Operation, ...] = (
    PinViolated(at=AT, model=MODEL, route=ALPHA, served_by="Beta"),
    AccountFault(at=AT, model=MODEL, code="no_credit", detail="402"),
    AccountRestored(at=AT, model=MODEL),
    RouteStale(at=AT, model=MODEL, route=ALPHA),
    RouteFresh(at=AT, model=MODEL, route=ALPHA),
    ListingShrunk(at=AT, model=MODEL, before=12, after=0),
    ListingBelieved(at=AT, model=MODEL),
    ControlAbsent(at=AT, model=MODEL, contract=LANGUAGE),
    ControlPresent(at=AT, model=MODEL, contract=LANGUAGE),
    PromptTokensRead(at=AT, model=MODEL, readings={ALPHA: PromptReading(tokens=41, asked="f0")}),
    PromptTokensChanged(at=AT, model=MODEL, route=ALPHA, was=41, now=441, peers_were=40, peers=40),
    PromptTokensShifted(at=AT, model=MODEL, routes=frozenset({ALPHA, RouteId("beta")}), of=2),
    RoundAsked(at=AT, model=MODEL, routes=frozenset({ALPHA}), why=Because.COMPLAINT, locale=THAI, detail="x"),
    RoundAnswered(at=AT, model=MODEL, routes=frozenset({ALPHA}), locale=THAI),
    ExclusionLeaked(
        at=AT,
        model=MODEL,
        routes=frozenset({ALPHA}),
        reason=LeakReason.PRESET,
        count=3,
        first_at=AT,
        last_at=AT,
    ),
    ExclusionLeakPossible(
        at=AT,
        model=MODEL,
        routes=frozenset({ALPHA}),
        reason=LeakReason.NO_HOOK,
        count=1,
        first_at=AT,
        last_at=AT,
    ),
    ExclusionLeakEnded(at=AT, model=MODEL, reason=LeakReason.PRESET, certain=True),
    TrafficAudited(at=AT, through=7, generations=5, unplaced=1),
    JudgeCrashed(at=AT, model=MODEL, contract=LANGUAGE, error="ValueError: x"),
    JudgeBlind(at=AT, contract=LANGUAGE, version=2, missed=("language_mixing/es",), wronged=("encoding",)),
    JudgeSighted(at=AT, contract=LANGUAGE),
    RoundCrashed(at=AT, model=MODEL, error="KeyError: 'y'"),
    Requalifying(at=AT, contract=LANGUAGE, until=LATER, version="2", model=MODEL),
    Reloaded(at=AT, ok=False, detail="unknown key"),
    PolicyTaken(at=AT, policy=policy_to_mapping(Policy())),
    ClockStepped(at=AT, seconds=-7_200, model=MODEL),
    RoundOverdue(at=AT, model=MODEL, since=AT - timedelta(hours=3)),
    RoundReturned(at=AT, model=MODEL),
    Reserved(at=AT, model=MODEL, round_id="r1", usd=Decimal("0.0123")),
    Settled(at=AT, model=MODEL, round_id="r1", usd=Decimal("0.0045"), asked=30, unasked=2),
    BudgetReached(at=AT, spent_usd=Decimal("4.51"), budget_usd=Decimal("5")),
    BudgetRestored(at=AT),
    RoutesWithheld(at=AT, model=MODEL, routes=frozenset({ALPHA})),
    IgnoreTried(at=AT, provider="maple", holds=False, detail="still served"),
    GuardrailWriteBegun(at=AT, guardrail="g1", add=frozenset({"maple"}), remove=frozenset({"Plover"})),
    GuardrailWritten(
        at=AT, guardrail="g1", owned=frozenset({"maple"}), cause="change", added=frozenset({"maple"})
    ),
    GuardrailSynced(at=AT, guardrail="g1", lost=frozenset({"acme"})),
    GuardrailCleared(at=AT, guardrail="g1", cause="stop", removed=frozenset({"maple"}), actor="ada"),
    GuardrailEntriesLost(at=AT, guardrail="g1", entries=frozenset({"maple"})),
    GuardrailRefused(at=AT, guardrail="g1", why=Refusal.COVERS_KEY, detail="assigned"),
    GuardrailFailed(at=AT, guardrail="g1", detail="HTTP 500", owned=frozenset({"maple"})),
    TokenCreated(at=AT, name="shop", role=Role.APP, digest="f0", actor="ada", expires_at=LATER, reason="r"),
    TokenRevoked(at=AT, name="shop", digest="f0", actor="ada"),
)


def _fold(*events: Operation) -> OperatingState:
    state = OperatingState()
    for event in events:
        state = evolve_operating(state, event)
    return state


def test_examples_cover_the_union() -> None:
    """Each kind has its example here, and its own name."""
    assert [type(event) for event in EVERY_OPERATION] == list(OPERATION_NAMES)
    assert len(OPERATED) == len(OPERATION_NAMES)


@pytest.mark.parametrize("event", EVERY_OPERATION, ids=lambda event: type(event).__name__)
def test_operation_survives_json(event: Operation) -> None:
    """What the log gives back is what was written, whatever the kind."""
    draft = operation_draft(event)
    assert operation_from_json(json.loads(json.dumps(operation_to_json(event)))) == event
    assert (draft.kind, draft.at) == (OPERATION_NAMES[type(event)], AT)
    assert draft.model == model_of(event) == getattr(event, "model", None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"event": 7},
        {"event": "suspended"},
        {"event": "route_stale", "at": "2026-03-01T12:00:00Z", "model": "acme/chat"},
        {"event": "budget_restored", "at": "2026-03-01T12:00:00Z", "extra": 1},
        {"event": "clock_stepped", "at": "2026-03-01T12:00:00Z", "seconds": "5"},
    ],
)
def test_unknown_operation_is_refused(body: dict[str, object]) -> None:
    """A kind, a field or a type that this version does not know is an error of the store."""
    with pytest.raises(StoreError):
        operation_from_json(body)


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (AccountFault(at=AT, model=MODEL, code="no_credit"), AccountRestored(at=LATER, model=MODEL)),
        (ListingShrunk(at=AT, model=MODEL, before=9, after=1), ListingBelieved(at=LATER, model=MODEL)),
        (RouteStale(at=AT, model=MODEL, route=ALPHA), RouteFresh(at=LATER, model=MODEL, route=ALPHA)),
        (
            ControlAbsent(at=AT, model=MODEL, contract=LANGUAGE),
            ControlPresent(at=LATER, model=MODEL, contract=LANGUAGE),
        ),
        (RoundOverdue(at=AT, model=MODEL), RoundReturned(at=LATER, model=MODEL)),
        (
            BudgetReached(at=AT, spent_usd=Decimal(4), budget_usd=Decimal(5)),
            BudgetRestored(at=LATER),
        ),
        (
            Reserved(at=AT, model=MODEL, round_id="r", usd=Decimal(1)),
            Settled(at=LATER, model=MODEL, round_id="r", usd=Decimal(0)),
        ),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_begins_also_ends(begins: Operation, ends: Operation) -> None:
    """A condition is there between its two events; afterwards the model takes no room."""
    assert _fold(begins) != OperatingState()
    ended = _fold(begins, ends)
    assert (ended.models, ended.reserved, ended.budget_reached_at) == ({}, {}, None)
    assert _fold(ends, begins) == _fold(begins) or isinstance(ends, Settled)


def test_since_is_the_first_time() -> None:
    """A condition that is said again keeps its beginning, and shows what was said last."""
    state = _fold(
        AccountFault(at=AT, model=MODEL, code="no_credit"),
        AccountFault(at=LATER, model=MODEL, code="bad_key", detail="401"),
        RouteStale(at=AT, model=MODEL, route=ALPHA),
        RouteStale(at=LATER, model=MODEL, route=ALPHA),
        ListingShrunk(at=AT, model=MODEL, before=9, after=1),
        ListingShrunk(at=LATER, model=MODEL, before=9, after=0),
        RoundOverdue(at=AT, model=MODEL),
        RoundOverdue(at=LATER, model=MODEL),
    )
    one = state.model(MODEL)
    assert one.account is not None
    assert (one.account.since, one.account.code) == (AT, "bad_key")
    assert one.stale == {ALPHA: AT}
    assert one.listing is not None
    assert (one.listing.since, one.listing.after) == (AT, 0)
    assert one.overdue_said_at == AT


def test_a_day_is_charged_what_its_rounds_may_cost() -> None:
    """Set aside counts in full until it is settled, on the day on which it was set aside."""
    late = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    begun = _fold(
        Reserved(at=AT, model=MODEL, round_id="noon", usd=Decimal("0.40")),
        Settled(at=AT, model=MODEL, round_id="noon", usd=Decimal("0.10")),
        Reserved(at=AT, model=MODEL, round_id="killed", usd=Decimal("0.30")),
        Reserved(at=late, model=MODEL, round_id="late", usd=Decimal("0.20")),
    )
    assert begun.committed(date(2026, 3, 1)) == Decimal("0.60")
    ended = evolve_operating(
        begun, Settled(at=late + timedelta(minutes=5), model=MODEL, round_id="late", usd=Decimal("0.05"))
    )
    assert ended.committed(date(2026, 3, 1)) == Decimal("0.45")
    assert ended.committed(date(2026, 3, 2)) == 0


def test_old_days_are_forgotten() -> None:
    """Spending and reservations of days that are long over take no room."""
    state = _fold(
        Reserved(at=AT, model=MODEL, round_id="killed", usd=Decimal(1)),
        Settled(at=AT, model=MODEL, round_id="unknown", usd=Decimal(1)),
        *(
            Reserved(at=AT + timedelta(days=days), model=MODEL, round_id=f"r{days}", usd=Decimal(2))
            for days in range(1, 6)
        ),
    )
    assert state.settled == {}
    assert set(state.reserved) == {"r2", "r3", "r4", "r5"}


def test_a_clock_that_leapt_ahead_and_came_back_leaves_the_day_as_it_was() -> None:
    """What a future day has cost does not make today's spending be forgotten."""
    state = _fold(
        Reserved(at=AT, model=MODEL, round_id="a", usd=Decimal(3)),
        Settled(at=AT, model=MODEL, round_id="a", usd=Decimal(3)),
        Reserved(at=AT + timedelta(days=900), model=MODEL, round_id="b", usd=Decimal(1)),
        Reserved(at=LATER, model=MODEL, round_id="c", usd=Decimal(1)),
    )
    assert state.committed(AT.date()) == 4


def test_routes_left_out_by_the_budget_are_known_until_they_are_asked() -> None:
    """The time is that of the first round that left a route out; a round that leaves it in ends it."""
    beta = RouteId("beta")
    state = _fold(
        Reserved(at=AT, model=MODEL, round_id="a", usd=Decimal(1), left_out=frozenset({ALPHA})),
        Reserved(at=LATER, model=MODEL, round_id="b", usd=Decimal(1), left_out=frozenset({ALPHA, beta})),
    )
    assert state.model(MODEL).left_out == {ALPHA: AT, beta: LATER}
    asked = evolve_operating(state, Reserved(at=LATER, model=MODEL, round_id="c", usd=Decimal(1)))
    assert asked.models == {}


def test_what_a_preflight_learnt_is_known_until_it_learns_otherwise() -> None:
    """The last word on the routes withheld, and on each provider's tags."""
    state = _fold(
        RoutesWithheld(at=AT, model=MODEL, routes=frozenset({ALPHA})),
        IgnoreTried(at=AT, provider="maple", holds=False),
        IgnoreTried(at=AT, provider="birch", holds=False),
    )
    one = state.model(MODEL)
    assert (one.withheld, one.withheld_at) == ({ALPHA}, AT)
    assert state.undivided == {"maple", "birch"}
    mended = evolve_operating(state, IgnoreTried(at=LATER, provider="maple", holds=True))
    none = evolve_operating(mended, RoutesWithheld(at=LATER, model=MODEL, routes=frozenset()))
    assert mended.undivided == {"birch"}
    assert (none.model(MODEL).withheld, none.model(MODEL).withheld_at) == (frozenset(), LATER)


def test_trials_are_of_one_model_or_of_all() -> None:
    """A contract is on trial until its time, also where only one model's version changed."""
    other = ModelId("acme/other")
    state = _fold(
        Requalifying(at=AT, contract=LANGUAGE, until=LATER, version="2"),
        Requalifying(at=AT, contract=ContractName("latency"), until=LATER, version="5", model=MODEL),
    )
    assert state.on_trial(MODEL, AT) == {"language", "latency"}
    assert state.on_trial(other, AT) == {"language"}
    assert state.on_trial(MODEL, LATER) == frozenset()
    assert state.requalifying[LANGUAGE].version == "2"


def test_the_last_reload_and_step_are_known() -> None:
    """Of reloads and clock steps the last one is kept."""
    state = _fold(
        Reloaded(at=AT, ok=True),
        Reloaded(at=LATER, ok=False, detail="policy.toml: unknown key"),
        ClockStepped(at=AT, seconds=4_000),
    )
    assert state.reload is not None
    assert (state.reload.ok, state.reload.detail) == (False, "policy.toml: unknown key")
    assert state.clock_stepped_at == AT


def test_a_round_that_was_asked_for_waits_until_one_answers_it() -> None:
    """By route and locale; asked for again, the newer wish takes the older one's place."""
    beta = RouteId("beta")
    both = frozenset({ALPHA, beta})
    state = OperatingState()
    for event in (
        RoundAsked(at=AT, model=MODEL, routes=both, why=Because.COMPLAINT, locale=THAI),
        RoundAsked(at=AT, model=MODEL, routes=frozenset({ALPHA}), why=Because.TRAFFIC),
        RoundAsked(at=LATER, model=MODEL, routes=frozenset({beta}), why=Because.TRAFFIC, locale=THAI),
    ):
        state = evolve_operating(state, event)
    assert state.model(MODEL).wanted == (
        Wanted(route=ALPHA, at=AT, why=Because.COMPLAINT, locale=THAI),
        Wanted(route=ALPHA, at=AT, why=Because.TRAFFIC),
        Wanted(route=beta, at=LATER, why=Because.TRAFFIC, locale=THAI),
    )
    state = evolve_operating(state, RoundAnswered(at=LATER, model=MODEL, routes=both, locale=THAI))
    assert state.model(MODEL).wanted == (Wanted(route=ALPHA, at=AT, why=Because.TRAFFIC),)
    assert state.model(MODEL).wanted_at == {ALPHA: AT, beta: LATER}


def test_leaks_of_a_kind_add_up_until_they_stop() -> None:
    """Told again they go on; what leaked and what may have are told apart."""
    beta = RouteId("beta")
    state = OperatingState()
    preset = LeakReason.PRESET
    for event in (
        ExclusionLeaked(
            at=AT, model=MODEL, routes=frozenset({ALPHA}), reason=preset, count=3, first_at=AT, last_at=AT
        ),
        ExclusionLeakPossible(
            at=AT, model=MODEL, routes=frozenset({ALPHA}), reason=preset, count=1, first_at=AT, last_at=AT
        ),
        ExclusionLeaked(
            at=LATER,
            model=MODEL,
            routes=frozenset({beta}),
            reason=preset,
            count=2,
            first_at=LATER,
            last_at=LATER,
        ),
        TrafficAudited(at=LATER, through=7, generations=5),
    ):
        state = evolve_operating(state, event)
    assert state.audited_through == 7
    leaking = state.model(MODEL).leaking
    assert set(leaking) == {"leak:preset", "leak_possible:preset"}
    assert leaking["leak:preset"] == Leaking(
        reason=preset, certain=True, since=AT, last_at=LATER, count=5, routes=frozenset({ALPHA, beta})
    )
    ended = ExclusionLeakEnded(at=LATER, model=MODEL, reason=preset, certain=True)
    assert set(evolve_operating(state, ended).model(MODEL).leaking) == {"leak_possible:preset"}


def test_what_is_ours_in_a_guardrail_is_known() -> None:
    """Through a write of which nothing is known, what somebody took out, trouble and a refusal."""
    begun = GuardrailWriteBegun(at=AT, guardrail="g1", add=frozenset({"maple"}))
    written = GuardrailWritten(at=AT, guardrail="g1", owned=frozenset({"maple", "Plover"}), cause="change")
    state = _fold(begun)
    assert state.guardrail("g1").pending == PendingWrite(at=AT, add=frozenset({"maple"}), remove=frozenset())
    state = _fold(begun, written)
    assert state.guardrail("g1") == GuardrailStanding(owned=frozenset({"maple", "Plover"}))
    assert state.guardrail("other") == GuardrailStanding()
    lost = GuardrailEntriesLost(at=AT, guardrail="g1", entries=frozenset({"Plover"}))
    refused = GuardrailRefused(at=AT, guardrail="g1", why=Refusal.UNCLEAR, detail="?")
    failed = GuardrailFailed(at=AT, guardrail="g1", detail="HTTP 500")
    again = GuardrailFailed(at=LATER, guardrail="g1", detail="HTTP 502")
    standing = _fold(begun, written, lost, refused, failed, again).guardrail("g1")
    assert (standing.owned, standing.lost) == ({"maple"}, {"plover"})
    assert (standing.refused, standing.refused_at, standing.failing_since) == (Refusal.UNCLEAR, AT, AT)
    assert standing.problem == "HTTP 502"
    synced = GuardrailSynced(at=LATER, guardrail="g1", lost=frozenset({"plover"}))
    assert _fold(written, lost, refused, failed, synced).guardrail("g1") == GuardrailStanding(
        owned=frozenset({"maple"}), lost=frozenset({"plover"}), synced_at=LATER
    )
    cleared = GuardrailCleared(at=LATER, guardrail="g1", cause="stop", removed=frozenset({"maple"}))
    after = _fold(begun, written, refused, failed, cleared).guardrail("g1")
    assert (after.owned, after.pending, after.failing_since) == (frozenset(), None, None)
    assert after.refused is Refusal.UNCLEAR, "an end is no acquittal"
