"""What a person does while a round runs is not undone by that round."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from routecanary.domain.event import Lifted, Suspended, SuspensionBlocked
from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import CONTRACT_NAMES, INTEGRITY, ModelId
from routecanary.domain.round import Lift, Mode, RoundClass, SwitchMode
from routecanary.rounds.act import act, exclude, readmit
from routecanary.rounds.records import Records
from routecanary.rounds.requalify import put_on_trial
from tests.meddling import MODEL, SPOILED, START, Deed, play

HEALTHY = {"acme", "cindermoor", "north-host/fp8"}


def lift(records: Records) -> None:
    now = records.clock.now()
    act(records, Lift(at=now, model=MODEL, route=SPOILED, actor="ops", reason="our prompt was bad"))


def switch(mode: Mode) -> Deed:
    def deed(records: Records) -> None:
        act(records, SwitchMode(at=records.clock.now(), model=MODEL, mode=mode, actor="ops", reason="why"))

    return deed


def excluding(target: str, *models: ModelId) -> Deed:
    def deed(records: Records) -> None:
        exclude(
            records,
            RuntimeEntry(
                target=target,
                models=frozenset(models) or None,
                reason="why",
                actor="ops",
                created=records.clock.now(),
            ),
        )

    return deed


def test_a_lift_is_not_undone_by_the_round_that_was_running(tmp_path: Path) -> None:
    """The route fails in that round and is frozen all the same: it needs two failed rounds again."""
    suspended: list[list[str]] = []
    told = play(
        tmp_path,
        *(None, None, lift, None, None),
        watch=lambda told: suspended.append(list(told.state.suspensions())),
    )
    assert suspended == [[], [SPOILED], [], [], [SPOILED]]
    assert told.classes(2)[SPOILED] is RoundClass.FROZEN
    assert {told.classes(2)[route] for route in HEALTHY} == {RoundClass.CLEAN}
    assert told.results[2].examinations[SPOILED].verdicts[INTEGRITY].kind == "fail"


@pytest.mark.parametrize(("first", "then"), [(Mode.ENFORCE, Mode.OBSERVE), (Mode.OBSERVE, Mode.ENFORCE)])
def test_a_switch_of_mode_freezes_every_route_of_the_running_round(
    tmp_path: Path, first: Mode, then: Mode
) -> None:
    """The round that would have suspended suspends nobody; the next one does, in the new mode."""
    told = play(tmp_path, None, switch(then), None, mode=first)
    assert set(told.classes(1).values()) == {RoundClass.FROZEN}
    assert set(told.classes(1)) == {SPOILED, *HEALTHY}
    (suspended,) = told.events(Suspended)
    assert isinstance(suspended, Suspended)
    assert suspended.at == START + timedelta(hours=1)
    assert suspended.shadow is (then is Mode.OBSERVE)


def test_the_configured_first_mode_freezes_nothing(tmp_path: Path) -> None:
    """It is the model's first line, and no act of a person."""
    told = play(tmp_path, None, mode=Mode.OBSERVE)
    assert told.state.mode is Mode.OBSERVE
    assert told.classes(0)[SPOILED] is RoundClass.FAILED
    assert told.classes(0)["acme"] is RoundClass.CLEAN


@pytest.mark.parametrize("target", ["inkspill/fp4", "inkspill"])
@pytest.mark.parametrize("models", [(), (MODEL,)])
def test_an_exclusion_freezes_what_it_names_or_swallows(
    tmp_path: Path, target: str, models: tuple[ModelId, ...]
) -> None:
    """Also in the first round, which no state knows the routes of."""
    told = play(tmp_path, excluding(target, *models))
    assert told.classes(0)[SPOILED] is RoundClass.FROZEN
    assert told.classes(0)["acme"] is RoundClass.CLEAN


def test_an_exclusion_of_another_model_touches_nothing(tmp_path: Path) -> None:
    """Only the routes of its own models are frozen."""
    told = play(tmp_path, excluding("inkspill", ModelId("other/model")))
    assert told.classes(0)[SPOILED] is RoundClass.FAILED


def test_taking_an_exclusion_back_freezes_its_routes(tmp_path: Path) -> None:
    """What was asked while it stood suspends nobody in the moment in which it goes."""

    def deed(records: Records) -> None:
        readmit(records, "inkspill", None, actor="ops", reason="it is well again")

    told = play(tmp_path, None, excluding("inkspill"), None, deed, None)
    assert told.classes(3)[SPOILED] is RoundClass.FROZEN
    assert [event.at - START for event in told.events(Suspended)] == [timedelta(hours=2)]


@pytest.mark.parametrize("late", [False, True], ids=["while it asks", "when it has judged"])
def test_a_contract_put_on_trial_accuses_nobody_in_the_running_round(tmp_path: Path, *, late: bool) -> None:
    """Its fail is recorded, the suspicion is gone, and nothing is suspended while the trial lasts."""

    def deed(records: Records) -> None:
        put_on_trial(
            records,
            MODEL,
            dict.fromkeys(CONTRACT_NAMES, "judge=9"),
            length=timedelta(hours=2),
            actor="ops",
            reason="why",
        )

    told = play(tmp_path, None, deed, late=late)
    assert told.classes(0)[SPOILED] is RoundClass.FAILED
    assert told.classes(1)[SPOILED] is RoundClass.CLEAN, "what is unsure is no fail"
    seen = told.results[1].examinations[SPOILED].verdicts[INTEGRITY].kind
    assert seen == ("fail" if late else "inconclusive")
    assert not told.events(Suspended, SuspensionBlocked, Lifted)
    assert told.state.routes[SPOILED].streak.suspicion == frozenset()
