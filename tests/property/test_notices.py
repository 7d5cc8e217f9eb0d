"""Whatever happens: every condition opens, closes, and opens again; nothing ends that was not told of."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.decide.evolve import evolve
from routecanary.decide.step import step
from routecanary.domain import event as happened
from routecanary.domain.codec import from_json, to_json
from routecanary.domain.event import EVENT_NAMES, Event
from routecanary.domain.log import Head
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.notice import Notice, Phase
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import OPERATION_NAMES, Operation
from routecanary.domain.policy import Policy
from routecanary.domain.round import Lift, Line, Mode, Pause, Resume, RoundClass, SwitchMode
from routecanary.domain.state import ModelState, Streak
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.conditions import Conditions, OpenConditions
from routecanary.rounds.messages import messages_of
from routecanary.rounds.notices import notices_of
from tests.story import MODEL, START, a_report, a_round

MODELS = (ModelId("acme/chat"), ModelId("acme/other"))
ROUTES = (RouteId("alpha"), RouteId("beta"))
CONTRACTS = (ContractName("language"), ContractName("latency"))
LATER = START + timedelta(days=1)

models = st.sampled_from(MODELS)
routes = st.sampled_from(ROUTES)
contracts = st.sampled_from(CONTRACTS)
some_contracts = st.frozensets(contracts, min_size=1)
some_verdicts = st.dictionaries(contracts, st.sampled_from(VerdictKind))
outcomes = st.dictionaries(
    routes,
    st.builds(
        happened.RouteOutcome,
        round_class=st.sampled_from(RoundClass),
        streak=st.builds(Streak, failed=st.integers(0, 3)),
        counted=st.booleans(),
        verdicts=some_verdicts,
    ),
)
PARTS = {
    "at": st.just(START),
    "model": models,
    "route": routes,
    "routes": st.frozensets(routes),
    "contract": contracts,
    "contracts": some_contracts,
    "until": st.just(LATER),
    "due": st.just(LATER),
    "offence": st.integers(1, 3),
    "redundant": st.booleans(),
    "shadow": st.booleans(),
    "why": st.sampled_from(happened.Why),
    "mode": st.sampled_from(Mode),
    "outcomes": outcomes,
    "streaks": st.dictionaries(routes, st.builds(Streak, failed=st.integers(0, 2))),
    "ok": st.booleans(),
    "seconds": st.integers(-9_000, 9_000),
    "error": st.text(max_size=20),
    "code": st.text(max_size=20),
    "version": st.just("2"),
    "before": st.integers(0, 9),
    "after": st.integers(0, 9),
    "round_id": st.text(max_size=3),
    "usd": st.just(Decimal(1)),
    "spent_usd": st.just(Decimal(4)),
    "budget_usd": st.just(Decimal(5)),
    "policy": st.just({}),
}


def any_of(kind: type) -> st.SearchStrategy[Event | Operation]:
    parts = {
        field: PARTS[field]
        for field, about in kind.__dataclass_fields__.items()
        if field in PARTS and (field != "routes" or kind is happened.CommonCause) and about.kw_only
    }
    return st.builds(kind, **parts)


KINDS = [kind for kind in EVENT_NAMES if kind not in {happened.RoutesNamed, happened.Checkpoint}]
events = st.one_of(*(any_of(kind) for kind in [*KINDS, *OPERATION_NAMES]))
ends_of_lines = st.tuples(any_of(happened.RoundClosed), any_of(happened.Exclusions))
stories = st.lists(st.one_of(events.map(lambda event: (event,)), ends_of_lines), max_size=60).map(
    lambda parts: [event for part in parts for event in part]
)


def told_of(conditions: Conditions, log: Iterable[Event | Operation]) -> list[Notice]:
    return [notice for event in log for notice in notices_of(conditions, event)]


@settings(max_examples=300, deadline=None)
@given(stories)
def test_conditions_open_and_close_in_turn(log: list[Event | Operation]) -> None:
    """Never two openings in a row, no end without a beginning, and what is open at the end was told open."""
    conditions = Conditions()
    is_open: dict[tuple[str | None, str], bool] = {}
    for notice in told_of(conditions, log):
        if notice.phase is Phase.ONCE:
            assert notice.condition is None
            continue
        assert notice.condition is not None
        key = (notice.model, notice.condition)
        match notice.phase:
            case Phase.OPENED:
                assert not is_open.get(key, False)
                is_open[key] = True
            case Phase.CONTINUED:
                assert is_open.get(key, False)
            case Phase.CLOSED:
                assert is_open.get(key, False)
                is_open[key] = False
    known = {
        (model or None, name)
        for model, names in conditions.known().open.items()
        for name, condition in names.items()
        if not condition.quiet
    }
    assert known == {key for key, still in is_open.items() if still}


@settings(max_examples=150, deadline=None)
@given(stories, st.integers(0, 130))
def test_a_restart_tells_nothing_twice(log: list[Event | Operation], cut: int) -> None:
    """Folding up to a line's end, keeping that as JSON, and going on from it tells the same."""
    while 0 < cut < len(log) and not isinstance(log[cut - 1], happened.Exclusions):
        cut -= 1
    whole = told_of(Conditions(), log)
    first = Conditions()
    told = told_of(first, log[:cut])
    second = Conditions(from_json(OpenConditions, to_json(first.known())))
    assert [*told, *told_of(second, log[cut:])] == whole


@settings(max_examples=100, deadline=None)
@given(stories)
def test_messages_hold_every_notice_once(log: list[Event | Operation]) -> None:
    """Grouping loses nothing, keeps each model's order, and gives each message its own id."""
    notices = told_of(Conditions(), log)
    messages = messages_of(notices, after=Head(seq=7, hash="ab" * 32), sequence=9)
    assert len({message.id for message in messages}) == len(messages)
    for message in messages:
        assert message.notices == tuple(notice for notice in notices if notice.model == message.model)
    assert sum(len(message.notices) for message in messages) == len(notices)


SAID = ("ok", "ok", "structured:fail", "structured:fail", "language:fail", "transport", "none")
lines = st.lists(
    st.one_of(
        *[
            st.tuples(
                st.just("round"),
                st.lists(st.sampled_from(SAID), min_size=6, max_size=6),
                st.sampled_from(("", "filtering:fail", "ok")),  # of a control
            )
        ]
        * 6,
        st.tuples(st.sampled_from(("lift", "observe", "enforce", "pause", "resume")), st.integers(0, 5)),
    ),
    max_size=25,
)
AS_WORDS = "abcdef"


@settings(max_examples=150, deadline=None)
@given(lines, st.sampled_from([timedelta(minutes=30), timedelta(hours=7)]))
def test_what_is_open_is_what_is_so(story: list[tuple], pace: timedelta) -> None:
    """After each line the open conditions are those of the model's state."""
    state, conditions, at = ModelState.empty(MODEL), Conditions(), timedelta()
    policy = Policy(min_round_gap=timedelta())
    for line in story:
        at += pace
        for event in step(state, _line(line, at), policy):
            state = evolve(state, event)
            notices_of(conditions, event)
        names = set(conditions.of(MODEL))
        assert {name for name in names if name.startswith("suspension:")} == {
            f"suspension:{route}" for route in state.suspensions()
        }
        assert {name for name in names if name.startswith("probe_weak:")} == {
            f"probe_weak:{contract}" for contract in state.weak
        }
        assert ("capacity" in names, "release" in names, "pause" in names) == (
            state.capacity_low,
            state.released,
            state.paused,
        )
        for name in names:
            if name.startswith("blocked:"):
                route = state.routes[RouteId(name.removeprefix("blocked:"))]
                assert route.streak.failed
                assert route.suspension is None


def _line(line: tuple, at: timedelta) -> Line:
    moment = START + at
    match line:
        case ("round", said, control):
            reports = dict(zip(AS_WORDS, said, strict=True))
            if control:
                reports["control"] = a_report(control, control_for=["filtering"])
            return a_round(f"{int(at.total_seconds())}s", reports)
        case ("lift", number):
            return Lift(at=moment, model=MODEL, route=RouteId(AS_WORDS[number]))
        case ("pause", _):
            return Pause(at=moment, model=MODEL)
        case ("resume", _):
            return Resume(at=moment, model=MODEL)
        case _:
            return SwitchMode(at=moment, model=MODEL, mode=Mode(line[0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(*(any_of(kind) for kind in OPERATION_NAMES)), max_size=40))
def test_operating_conditions_are_those_of_the_operating_state(log: list[Operation]) -> None:
    """What `status` reads from the fold and what people were told are one thing."""
    state, conditions = OperatingState(), Conditions()
    for event in log:
        state = evolve_operating(state, event)
        notices_of(conditions, event)
    for model in MODELS:
        one, names = state.model(model), set(conditions.of(model))
        assert ("account" in names, "listing" in names, "overdue" in names) == (
            one.account is not None,
            one.listing is not None,
            one.overdue_said_at is not None,
        )
        assert {name for name in names if name.startswith("stale:")} == {
            f"stale:{route}" for route in one.stale
        }
        assert {name for name in names if name.startswith("control:")} == {
            f"control:{contract}" for contract in one.control_absent
        }
    own = set(conditions.of(None))
    assert ("budget" in own) is (state.budget_reached_at is not None)
    assert ("reload" in own) is (state.reload is not None and not state.reload.ok)
