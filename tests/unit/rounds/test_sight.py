"""Who is told that a judge went blind, and what a blind judge says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from routecanary.domain.names import CONTRACT_NAMES, INTEGRITY, LANGUAGE, Locale
from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import JudgeBlind, JudgeSighted
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.examine import judge_answer
from routecanary.judge.registry import CONTRACTS
from routecanary.judge.selfcheck import Eyesight
from routecanary.judge.settings import Settings
from routecanary.rounds import sight
from routecanary.rounds.sight import blind_of, changed_sight, eyesight_of
from tests.answers import a_stream, an_answer

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EN = Locale("en")


def seen(contract: str, *missed: str, wronged: tuple[str, ...] = ()) -> Eyesight:
    name = next(name for name in CONTRACT_NAMES if name == contract)
    return Eyesight(contract=name, version=3, faults=40, missed=missed, lookalikes=9, wronged=wronged)


def test_only_what_changed_is_told() -> None:
    """A judge goes blind once, however often it is looked at, and sees again once."""
    state = OperatingState()
    blind = [seen("language", "language_mixing/es"), seen("integrity")]
    (told,) = changed_sight(blind, at=AT, before=state)
    assert told == JudgeBlind(at=AT, contract=LANGUAGE, version=3, missed=("language_mixing/es",))
    state = evolve_operating(state, told)
    assert state.blind == {LANGUAGE: AT}
    assert changed_sight(blind, at=AT + timedelta(hours=1), before=state) == ()
    later = AT + timedelta(hours=2)
    (again,) = changed_sight([seen("language"), seen("integrity")], at=later, before=state)
    assert again == JudgeSighted(at=later, contract=LANGUAGE)
    assert evolve_operating(state, again).blind == {}


def test_a_judge_that_fails_the_healthy_is_told_as_well() -> None:
    """What it wronged is named; a long list is cut."""
    one = seen("integrity", wronged=tuple(f"kind{number}" for number in range(100)))
    (told,) = changed_sight([one], at=AT, before=OperatingState())
    assert isinstance(told, JudgeBlind)
    assert len(told.wronged) == 20


def test_a_check_that_crashes_disarms_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of any judge then."""

    def crash(*_: object) -> tuple[Eyesight, ...]:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(sight, "self_check", crash)
    assert blind_of(eyesight_of(Settings(), [EN])) == frozenset(CONTRACT_NAMES)


def test_a_blind_judge_accuses_and_acquits_nobody() -> None:
    """Its verdict is inconclusive, whatever the answer; transport stays transport, the others judge."""
    blind = frozenset({INTEGRITY})
    bad, good = an_answer("The tide rises.<|im_end|>"), an_answer("The tide rises and falls twice a day.")
    for answer in (bad, good):
        said = judge_answer(answer, Settings(), CONTRACTS, blind=blind)
        assert str(said[INTEGRITY]) == "inconclusive:judge_blind"
        assert {verdict.code for name, verdict in said.items() if name not in blind} & {
            "judge_blind"
        } == set()
    cut = judge_answer(an_answer("The tide", done=False, finish=None), Settings(), CONTRACTS, blind=blind)
    assert cut[INTEGRITY].kind is VerdictKind.TRANSPORT
    assert str(judge_answer(bad, Settings(), CONTRACTS)[INTEGRITY]) == "fail:special_token"
    assert a_stream("x") is not None
