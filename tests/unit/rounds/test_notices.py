"""What people are told: on change only, once, with an end to everything that began."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import routecanary.rounds
from routecanary.domain import operation as operated
from routecanary.domain.codec import from_json, to_json
from routecanary.domain.event import Event, Reinstated, Renewed, Suspended, Why
from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.notice import Notice, NoticeKind, Phase, Severity
from routecanary.domain.operation import Operation
from routecanary.domain.policy import Policy
from routecanary.rounds.conditions import Conditions, OpenConditions
from routecanary.rounds.notices import notices_of
from routecanary.rounds.wording import LONGEST_FACT, MOST_SHOWN, WORDINGS, notice
from tests.story import HEALTHY, MODEL, START, Story, a_report, a_story_with_suspended

ALPHA = RouteId("alpha")
LANGUAGE = ContractName("language")
LATER = START + timedelta(hours=1)
FAILING = {**HEALTHY, "alpha": "structured:fail"}


class Ears:
    """Somebody who hears all notices, and the story that they tell of."""

    def __init__(self, story: Story | None = None) -> None:
        self.conditions = Conditions()
        self.story = story or Story()
        self._heard = 0
        self.hear(*self.story.log)

    def hear(self, *events: Event | Operation) -> list[Notice]:
        self._heard = len(self.story.log)
        return [notice for event in events for notice in notices_of(self.conditions, event)]

    def round(self, at: str, routes: dict[str, str], **facts: object) -> list[Notice]:
        self.story.round(at, routes, **facts)
        return self.hear(*self.story.log[self._heard :])

    def told(self, at: str, routes: dict[str, str], **facts: object) -> list[str]:
        return kinds(self.round(at, routes, **facts))

    def mode(self, at: str, mode: str) -> list[Notice]:
        self.story.mode(at, mode)
        return self.hear(*self.story.log[self._heard :])

    def lift(self, at: str, route: str, **facts: object) -> list[Notice]:
        self.story.lift(at, route, **facts)  # type: ignore[arg-type]
        return self.hear(*self.story.log[self._heard :])


def kinds(notices: Iterable[Notice]) -> list[str]:
    return [f"{notice.kind}" for notice in notices]


def only(notices: list[Notice]) -> Notice:
    (one,) = notices
    return one


def test_a_suspension_and_its_recovery() -> None:
    """One notice when it begins, one when it ends, of one condition; nothing in between."""
    ears = Ears()
    assert ears.told("0m", FAILING) == []
    begun = only(ears.round("30m", FAILING))
    assert (begun.kind, begun.phase, begun.severity) == ("suspended", Phase.OPENED, Severity.WARNING)
    assert (begun.model, begun.routes, begun.shadow) == (MODEL, (ALPHA,), False)
    assert begun.facts == {"contracts": ["structured"], "until": "2026-01-06T00:30:00Z", "offence": 1}
    assert begun.text == "alpha suspended until 2026-01-06T00:30:00Z for structured; offence 1"
    assert ears.told("1h", FAILING) == []
    assert ears.told("1h30m", {**HEALTHY, "alpha": "ok"}) == []
    ended = only(ears.round("2h", {**HEALTHY, "alpha": "ok"}))
    assert (ended.kind, ended.phase, ended.severity) == ("reinstated", Phase.CLOSED, Severity.INFO)
    assert ended.condition == begun.condition == "suspension:alpha"
    assert ended.facts == {"contracts": ["structured"], "since": "2026-01-05T00:30:00Z"}


def test_a_shadow_is_marked_and_hurries_nobody() -> None:
    """In observe mode every notice of a suspension says that it is a shadow."""
    ears = Ears()
    ears.mode("0m", "observe")
    ears.round("5m", FAILING)
    begun = only(ears.round("30m", FAILING))
    assert begun.shadow
    assert begun.severity is Severity.INFO
    assert begun.text.startswith("[shadow] alpha suspended")
    ended = only(ears.mode("40m", "enforce"))
    assert (ended.kind, ended.phase, ended.shadow) == ("closed_by_mode", Phase.CLOSED, True)


def test_a_renewal_goes_on_and_an_expiry_ends() -> None:
    """A suspension that is renewed is the same condition; one that may not be renewed says why it ended."""
    ears = Ears(a_story_with_suspended("alpha"))
    assert ears.told("23h", FAILING) == []
    renewed = only(ears.round("1d30m", FAILING))
    assert (renewed.kind, renewed.phase, renewed.condition) == (
        "renewed",
        Phase.CONTINUED,
        "suspension:alpha",
    )
    assert renewed.facts["until"] == "2026-01-09T00:30:00Z"
    assert ears.told("4d", {**FAILING}) == []
    expired = only(ears.round("4d30m", FAILING, runtime=["alpha"]))
    assert (expired.kind, expired.phase) == ("expired", Phase.CLOSED)
    assert expired.facts["why"] == Why.COVERED
    assert "because of covered" in expired.text


def test_a_lift_says_who_and_why() -> None:
    """The actor, the reason, the hold and the label stand in the notice."""
    ears = Ears(a_story_with_suspended("alpha"))
    event = ears.lift("2h", "alpha", false_positive=True, hold_until="1d")
    lifted = only(event)
    assert (lifted.kind, lifted.phase) == ("lifted", Phase.CLOSED)
    assert lifted.facts["false_positive"] is True
    assert "a false positive; held until 2026-01-06T00:00:00Z" in lifted.text


def test_a_redundant_suspension_tells_nobody() -> None:
    """Neither its beginning nor its renewal nor its end is told; one that is not redundant is told again."""
    contracts = frozenset({LANGUAGE})
    begins = Suspended(
        at=START, model=MODEL, route=ALPHA, contracts=contracts, until=LATER, offence=1, redundant=True
    )
    goes_on = Renewed(
        at=LATER, model=MODEL, route=ALPHA, contracts=contracts, due=LATER, until=LATER, offence=2
    )
    ends = Reinstated(at=LATER, model=MODEL, route=ALPHA)
    ears = Ears()
    assert ears.hear(begins, goes_on) == []
    assert ears.conditions.of(MODEL)["suspension:alpha"].quiet
    assert ears.hear(ends, ends) == []
    assert ears.conditions.of(MODEL) == {}
    assert kinds(ears.hear(replace(begins, redundant=False), goes_on, ends)) == [
        "suspended",
        "renewed",
        "reinstated",
    ]


SMALL = {"alpha": "structured:fail", "h1": "ok"}


def test_a_block_that_lasts_a_day_is_one_notice_and_its_end() -> None:
    """48 rounds of a blocked suspension, some of them silent, tell people twice."""
    ears = Ears()
    told: list[Notice] = []
    for number in range(48):
        routes = {**SMALL, "alpha": "transport"} if number % 7 == 3 else SMALL
        told += ears.round(f"{30 * number}m", routes)
    assert kinds(told) == ["suspension_blocked"]
    blocked = told[-1]
    assert (blocked.facts["why"], blocked.routes) == (Why.FLOOR, (ALPHA,))
    ended = only(ears.round("24h", {"alpha": "ok", "h1": "ok"}))
    assert (ended.kind, ended.condition) == ("suspension_unblocked", blocked.condition)
    assert ears.told("24h30m", {"alpha": "ok", "h1": "ok"}) == []


@pytest.mark.parametrize(
    ("routes", "ends"),
    [
        ({"alpha": "structured:fail", "h1": "ok"}, False),  # said again
        ({"alpha": "transport", "h1": "ok"}, False),  # frozen: nothing is known
        ({"alpha": "none", "h1": "ok"}, False),
        ({"alpha": "ok", "h1": "ok"}, True),
        ({"h1": "ok"}, True),  # not listed any more
        ({"alpha": "structured:fail", "h1": "ok", "h2": "transport"}, False),  # h2 is not proven
    ],
)
def test_what_ends_a_block(routes: dict[str, str], ends: bool) -> None:
    """Only a round that says something of the route can end it."""
    ears = Ears()
    for at in ("0m", "30m", "1h"):
        ears.round(at, SMALL)
    assert ("suspension_unblocked" in ears.told("1h30m", routes)) is ends


def test_a_block_ends_with_its_streak() -> None:
    """A suspicion that has aged is over, though the route has said nothing since."""
    ears = Ears(Story(Policy(streak_ttl=timedelta(hours=2))))
    for at in ("0m", "30m"):
        ears.round(at, SMALL)
    assert ears.told("1h", {"alpha": "transport", "h1": "ok"}) == []
    assert ears.told("2h31m", {"alpha": "transport", "h1": "ok"}) == ["suspension_unblocked"]


def test_a_round_too_soon_ends_no_block() -> None:
    """A round that does not count prints no block, and says nothing."""
    ears = Ears()
    for at in ("0m", "30m"):
        ears.round(at, SMALL)
    assert ears.told("31m", SMALL) == []
    assert ears.told("1h", SMALL) == []


def test_a_block_ends_in_a_suspension() -> None:
    """When capacity is there again the block ends and the suspension begins, in one breath."""
    ears = Ears()
    for at in ("0m", "30m"):
        ears.round(at, SMALL)
    more = {**SMALL, "h2": "ok", "h3": "ok", "h4": "ok"}
    assert ears.told("1h", more) == ["suspended", "suspension_unblocked"]


ALL_FAIL = dict.fromkeys(("a", "b", "c", "d", "e"), "language:fail")


def test_a_common_cause_is_one_notice_and_its_end() -> None:
    """However long it lasts; a round without a pass says nothing of it."""
    ears = Ears()
    begun = only(ears.round("0m", ALL_FAIL))
    assert (begun.kind, begun.condition) == ("common_cause", "common_cause:language")
    assert begun.facts == {"contracts": ["language"], "failing": ["a", "b", "c", "d", "e"]}
    for number in range(1, 48):
        assert ears.told(f"{30 * number}m", ALL_FAIL) == []
    assert ears.told("24h", dict.fromkeys("abcde", "transport")) == ["gateway_outage"]
    assert ears.told("24h30m", dict.fromkeys("abcde", "ok")) == ["common_cause_ended", "gateway_outage_ended"]


def test_an_outage_is_one_notice_and_its_end() -> None:
    """Transport or account, both, and rounds in which nobody was asked are one outage."""
    ears = Ears()
    begun = only(ears.round("0m", dict.fromkeys("abc", "transport")))
    assert (begun.kind, begun.severity) == ("gateway_outage", Severity.CRITICAL)
    for number, said in enumerate(("account", "skipped", "none", "transport"), start=1):
        assert ears.told(f"{30 * number}m", dict.fromkeys("abc", said)) == []
    assert ears.told("3h", {"a": "ok", "b": "transport", "c": "transport"}) == ["gateway_outage_ended"]


def test_an_act_during_a_condition_ends_nothing() -> None:
    """The line of an act prints no block and no outage, and says nothing of them."""
    ears = Ears(a_story_with_suspended("alpha"))
    down = dict.fromkeys([*HEALTHY, "alpha"], "transport")
    assert ears.told("1h", down) == ["gateway_outage"]
    assert kinds(ears.lift("1h10m", "alpha")) == ["lifted"]
    assert ears.told("1h30m", down) == []


def test_a_weak_probe_and_its_recovery() -> None:
    """Told on change, by contract."""
    ears = Ears()
    weak = {**HEALTHY, "ctl": a_report("ok", control_for=["filtering"])}
    strong = {**HEALTHY, "ctl": a_report("filtering:fail", control_for=["filtering"])}
    begun = only(ears.round("0m", weak))  # type: ignore[arg-type]
    assert (begun.kind, begun.condition) == ("probe_weak", "probe_weak:filtering")
    assert ears.told("30m", weak) == []  # type: ignore[arg-type]
    assert ears.told("1h", strong) == ["probe_recovered"]  # type: ignore[arg-type]


def test_capacity_and_release() -> None:
    """Both begin and end once."""
    ears = Ears()
    assert ears.told("0m", {"h1": "ok"}) == ["capacity_low"]
    assert ears.told("30m", {"h1": "ok"}) == []
    assert ears.told("1h", {"h1": "ok", "h2": "ok"}) == ["capacity_restored"]


def test_a_switch_of_mode_ends_what_it_ends_in_silence() -> None:
    """A pause and a release are over after it, and so are blocks: what comes then is told anew."""
    ears = Ears()
    for at in ("0m", "30m"):
        ears.round(at, SMALL)
    ears.story.pause("40m")
    assert kinds(ears.hear(*ears.story.log[-2:])) == ["canary_layer_paused"]
    ended = ears.mode("50m", "observe")
    assert sorted(kinds(ended)) == ["canary_layer_resumed", "suspension_unblocked"]
    assert {told.facts["mode"] for told in ended} == {"observe"}
    again = only(ears.round("1h", SMALL))
    assert (again.kind, again.shadow) == ("suspension_blocked", True)


def of_model(kind: type, **facts: object) -> Operation:
    return kind(at=START, model=MODEL, **facts)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (of_model(operated.AccountFault, code="no_credit"), of_model(operated.AccountRestored)),
        (of_model(operated.RouteStale, route=ALPHA), of_model(operated.RouteFresh, route=ALPHA)),
        (of_model(operated.ListingShrunk, before=9, after=1), of_model(operated.ListingBelieved)),
        (
            of_model(operated.ControlAbsent, contract=LANGUAGE),
            of_model(operated.ControlPresent, contract=LANGUAGE),
        ),
        (of_model(operated.RoundOverdue), of_model(operated.RoundReturned)),
        (
            operated.JudgeBlind(at=START, contract=LANGUAGE, version=2, missed=("language_mixing/es",)),
            operated.JudgeSighted(at=LATER, contract=LANGUAGE),
        ),
        (
            operated.BudgetReached(at=START, spent_usd=Decimal(4), budget_usd=Decimal(5)),
            operated.BudgetRestored(at=LATER),
        ),
        (
            operated.Reloaded(at=START, ok=False, detail="x.toml: unknown key"),
            operated.Reloaded(at=LATER, ok=True),
        ),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_condition_of_the_canary_itself(begins: Operation, ends: Operation) -> None:
    """It opens once however often it is said, closes once, and opens again afterwards."""
    ears = Ears()
    assert ears.hear(ends) == []
    begun = only(ears.hear(begins, begins))
    ended = only(ears.hear(ends, ends))
    assert (begun.phase, ended.phase) == (Phase.OPENED, Phase.CLOSED)
    assert begun.condition == ended.condition is not None
    assert ended.facts["since"] == "2026-01-05T00:00:00Z"
    assert kinds(ears.hear(begins)) == [begun.kind]


@pytest.mark.parametrize(
    ("event", "kind", "end", "ending"),
    [
        (of_model(operated.RoundCrashed, error="KeyError"), "round_crashed", "round_recovered", "ok"),
        (operated.ClockStepped(at=START, seconds=-7200), "clock_stepped", "clock_steady", "transport"),
        (of_model(operated.ClockStepped, seconds=7200), "clock_stepped", "clock_steady", "transport"),
        (
            of_model(operated.JudgeCrashed, contract=LANGUAGE, error="ValueError"),
            "judge_crashed",
            "judge_recovered",
            "only language:pass",
        ),
        (of_model(operated.PinViolated, route=ALPHA), "pin_violated", "pin_held", "only language:fail"),
    ],
)
def test_what_a_round_ends(event: Operation, kind: str, end: str, ending: str) -> None:
    """What was said beside rounds, or by rounds, is over with a round that shows so."""
    ears = Ears()
    assert kinds(ears.hear(event, event)) == [kind]
    if kind in {"judge_crashed", "pin_violated"}:
        silent = {**HEALTHY, "alpha": "transport", "h1": "only latency:pass"}
        ears.round("0m", silent)  # this round's own
        ears.round("30m", dict.fromkeys(HEALTHY, "only latency:pass") | {"alpha": "transport"})
        assert list(ears.conditions.of(MODEL))
    assert end in ears.told("1h", {**HEALTHY, "alpha": ending})
    assert end not in ears.told("1h30m", {**HEALTHY, "alpha": ending})


def test_a_crash_said_again_by_its_round_goes_on() -> None:
    """A judge that crashes in every round is one notice and its end."""
    ears = Ears()
    crash = of_model(operated.JudgeCrashed, contract=LANGUAGE, error="ValueError")
    told: list[str] = []
    for number in range(10):
        told += kinds(ears.hear(crash))
        told += ears.told(f"{30 * number}m", HEALTHY)
    assert told == ["judge_crashed"]
    assert ears.told("9h", HEALTHY) == ["judge_recovered"]


def test_a_trial_is_told_once_and_a_baseline_never() -> None:
    """A changed version says until when its fails do not count; the first sight of one is no news."""
    ears = Ears()
    told = only(ears.hear(operated.Requalifying(at=START, contract=LANGUAGE, until=LATER, version="judge=2")))
    assert (told.kind, told.phase, told.condition, told.model) == ("requalifying", Phase.ONCE, None, None)
    assert told.facts == {
        "contracts": ["language"],
        "until": "2026-01-05T01:00:00Z",
        "version": "judge=2",
    }
    assert ears.hear(operated.Requalifying(at=START, contract=LANGUAGE, until=START, version="1")) == []


def test_money_that_is_set_aside_is_no_news() -> None:
    """Reserving and settling tell nobody."""
    ears = Ears()
    assert (
        ears.hear(
            of_model(operated.Reserved, round_id="r", usd=Decimal(1)),
            of_model(operated.Settled, round_id="r", usd=Decimal(1)),
        )
        == []
    )


def test_models_do_not_mix() -> None:
    """The same condition of two models is two conditions."""
    ears = Ears()
    other = operated.AccountFault(at=START, model=ModelId("acme/other"), code="no_credit")
    assert len(ears.hear(of_model(operated.AccountFault, code="no_credit"), other)) == 2
    assert kinds(ears.hear(of_model(operated.AccountRestored))) == ["account_restored"]
    assert list(ears.conditions.of(ModelId("acme/other"))) == ["account"]


def test_conditions_survive_the_log() -> None:
    """What is open comes back from JSON, with what was said since a line's end."""
    ears = Ears(a_story_with_suspended("alpha"))
    ears.hear(of_model(operated.JudgeCrashed, contract=LANGUAGE, error="x"))
    known = ears.conditions.known()
    again = from_json(OpenConditions, to_json(known))
    assert again == known
    assert Conditions(again).known() == known
    assert set(known.open[MODEL]) == {"suspension:alpha", "judge:language"}


def test_a_copy_is_apart() -> None:
    """Trying out what an append would tell changes nothing."""
    ears = Ears()
    tried = ears.conditions.copy()
    assert notices_of(tried, of_model(operated.AccountFault, code="no_credit"))
    assert ears.conditions.of(MODEL) == {}
    assert notices_of(ears.conditions, of_model(operated.AccountFault, code="no_credit"))


def a_notice(kind: NoticeKind = NoticeKind.ACCOUNT_FAULT, **facts: object) -> Notice:
    return notice(kind, Phase.OPENED, at=START, model=MODEL, facts=facts)


def test_texts_from_outside_are_tamed() -> None:
    """What a gateway or a model wrote neither moves a cursor nor fills a screen."""
    told = a_notice(code="no_credit", detail="\x1b[2J\ud800" + "x" * 10_000)
    assert told.text.isprintable()
    assert told.facts["detail"].startswith("\\x1b[2J\\ud800xxx")
    assert len(told.facts["detail"]) < LONGEST_FACT + 20
    many = [f"route{n}" for n in range(40)]
    told = a_notice(NoticeKind.COMMON_CAUSE, failing=many)
    assert told.facts["failing"] == many
    assert told.text.endswith(f"route{MOST_SHOWN - 1} and {40 - MOST_SHOWN} more")


def test_braces_from_outside_are_only_text() -> None:
    """A name that looks like a placeholder stays what it is."""
    assert "{until}{0}%s" in a_notice(code="{until}{0}%s").text


def test_every_kind_has_its_words() -> None:
    """No kind is left without a severity and a sentence, and none is said twice."""
    assert set(WORDINGS) == set(NoticeKind)
    sentences = [wording.sentence for wording in WORDINGS.values()]
    assert len(set(sentences)) == len(sentences)


def test_every_kind_can_come_about() -> None:
    """Each kind is named where notices are made."""
    folder = Path(routecanary.rounds.__file__).parent
    source = "".join((folder / name).read_text() for name in ("notices.py", "conditions.py"))
    assert [kind.name for kind in NoticeKind if f"NoticeKind.{kind.name}" not in source] == []


def test_a_notice_says_everything_by_name() -> None:
    """Its fields are those of the documentation."""
    assert {field.name for field in fields(Notice)} == {
        *("kind", "phase", "at", "severity", "text", "model", "condition", "routes", "shadow", "facts")
    }
