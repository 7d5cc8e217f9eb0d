"""A judge that is blinded under a running daemon: told, disarmed, trusted again; everything else goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pytest

from routecanary.domain.names import INTEGRITY, LANGUAGE, Locale
from routecanary.domain.operation import JudgeBlind, JudgeSighted
from routecanary.domain.settings import JudgingSettings, ProbeSettings
from routecanary.judge.contract import passed
from routecanary.judge.integrity import IntegrityContract
from routecanary.wiring import Configuration
from tests.commandline import SPOILED, a_config, a_lab, a_scenario, called, environment
from tests.desk import DeskGateway
from tests.watched import NAME, START, Watched, a_configuration, a_watch, run, some_settings

ABSURD = JudgingSettings(mix_share=1.0, min_units=500)


class Entered(DeskGateway):
    """The lab's hosts, which a reload enters anew."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...


def a_daemon(folder: Path, steps: list[JudgingSettings], *, minutes: int) -> Watched:
    """Run a daemon over the lab's hosts that is reloaded soon after its first rounds, at :47, :00 and :30."""
    settings = some_settings(folder, probes=ProbeSettings(start_spread=timedelta(), locales=(Locale("en"),)))
    configurations = iter([replace(settings, judging=judging) for judging in steps])
    watched: Watched

    def read() -> Configuration:
        return a_configuration(next(configurations), watched.world.gateway)

    watched = a_watch(settings, [], read=read)
    watched.world.gateway = Entered(a_scenario(), watched.clock)
    for number in range(len(steps)):
        watched.clock.after(timedelta(minutes=8 + 15 * number), watched.supervisor.reload)
    watched.clock.after(timedelta(minutes=minutes), watched.supervisor.stop)
    return run(watched)


def rounds(watched: Watched) -> Iterator[dict[str, dict[str, Any]]]:
    """Give each round's verdicts: route → contract → verdict."""
    for closed in watched.world.store.read(kinds={"round_closed"}):
        yield {route: outcome["verdicts"] for route, outcome in closed.body["outcomes"].items()}


def test_an_absurd_limit_disarms_its_contract_until_it_is_taken_back(tmp_path: Path) -> None:
    """A reload blinds language and the next one gives its sight back; integrity accuses all the while."""
    watched = a_daemon(tmp_path, [ABSURD, JudgingSettings()], minutes=80)
    before, blind, after, *_ = rounds(watched)
    assert {said["language"] for said in before.values()} == {"pass"}
    assert {said["language"] for said in blind.values()} == {"inconclusive"}
    assert {said["language"] for said in after.values()} == {"pass"}
    for each in (before, blind, after):
        assert each[SPOILED]["integrity"] == "fail"
    (gone,) = watched.operations(JudgeBlind)
    (back,) = watched.operations(JudgeSighted)
    assert isinstance(gone, JudgeBlind)
    assert (gone.contract, gone.at) == (LANGUAGE, START + timedelta(minutes=8))
    assert "wrong_language/en" in gone.missed
    assert back == JudgeSighted(at=START + timedelta(minutes=23), contract=LANGUAGE)
    assert watched.world.ledger.operating().blind == {}
    assert watched.world.ledger.state(NAME).suspensions(), "what integrity saw went on"


def test_a_judge_that_is_blind_at_the_start_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """However often it is looked at: one event, one open condition, no route accused by it."""

    def sees_nothing(self: IntegrityContract, answer: object) -> object:
        del answer
        return passed().by(self)

    monkeypatch.setattr(IntegrityContract, "judge", sees_nothing)
    watched = a_daemon(tmp_path, [JudgingSettings()], minutes=50)
    (gone,) = watched.operations(JudgeBlind)
    assert isinstance(gone, JudgeBlind)
    assert (gone.contract, gone.at) == (INTEGRITY, START)
    assert list(watched.world.ledger.conditions().of(None)) == ["blind:integrity"]
    for each in rounds(watched):
        assert each[SPOILED]["integrity"] == "inconclusive"
        assert each[SPOILED]["language"] == "pass"
    assert "judge blind contract=integrity" in caplog.messages


def test_selfcheck_says_who_sees(tmp_path: Path) -> None:
    """A table for people, JSON for programs, and exit code 1 where a judge is blind."""
    said = called("selfcheck", environ=environment(tmp_path, COLUMNS="200"))
    assert (said.code, said.err) == (0, "")
    assert [line.split()[0] for line in said.out.splitlines()] == [
        *("contract", "latency", "filtering", "structured", "language", "integrity"),
    ]
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
    text = config.read_text(encoding="utf-8")
    config.write_text(text + "\n[contracts.language]\nmin_units = 500\n", encoding="utf-8")
    said = called("selfcheck", "--config", config, "--json", environ=environment(tmp_path))
    assert said.code == 1
    assert said.json["blind"] == ["language"]
    assert "the judge of language is blind" in said.err
    (language,) = [one for one in said.json["contracts"] if one["contract"] == "language"]
    assert language["seen"] < language["planted"]
    assert any(name.startswith("wrong_language/") for name in language["missed"])


def test_a_single_round_is_judged_by_no_blind_judge(tmp_path: Path) -> None:
    """`round` looks at the judges as the daemon does, and tells of it."""
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
        text = config.read_text(encoding="utf-8")
        config.write_text(text + "\n[contracts.language]\nmin_units = 500\n", encoding="utf-8")
        environ = environment(tmp_path)
        said = called("round", str(NAME), "--json", "--config", config, environ=environ)
        assert said.code == 0, said.err
        found = {said["language"]["kind"] for said in said.json["routes"].values()}
        assert found == {"judge_blind"}
        events = called("events", "--json", "--config", config, environ=environ)
        assert "judge_blind" in {line["kind"] for line in events.lines}
        status = called("status", "--json", "--config", config, environ=environ)
        assert "judge_blind:language" in status.json["canary"]["alerts"]
