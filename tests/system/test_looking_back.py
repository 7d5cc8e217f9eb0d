"""Looking back at what was decided: `backtest`, a changed policy in `check`, and what enforcing needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.policy import Policy, policy_to_mapping
from routecanary.domain.round import Mode, SwitchMode
from routecanary.rounds.act import act
from routecanary.rounds.incidents import INCIDENT_KINDS, incidents_of
from routecanary.rounds.labels import Judgement, Label, label_draft
from routecanary.rounds.records import Records
from tests.commandline import Ran, a_config, called, environment
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, START, moment
from tests.system.test_cli_documented import undocumented

FAIL = {**HEALTHY, "a": "structured:fail"}
CLEAN = {**HEALTHY, "a": "ok"}
NAMED = frozenset({MODEL, *policy_to_mapping(Policy())})
DAYS = 9
TOLD = f'[models."{MODEL}"]\n'


def do(folder: Path, *tokens: object) -> Ran:
    return called(*map(str, tokens), "--config", folder / "routecanary.toml", environ=environment(folder))


def config(folder: Path, policy: str = "") -> Path:
    """Write a configuration for the story's model; its numbers are the defaults, but for those stated."""
    path = a_config(folder, more=TOLD, period="30m")
    text = path.read_text(encoding="utf-8").replace('min_round_gap = "0s"\n', policy)
    path.write_text(text, encoding="utf-8")
    return path


def mark(records: Records, judgement: Judgement) -> None:
    *_, incident = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    said = Label(
        at=records.clock.now(), incident=incident.id, model=MODEL, route=incident.route,
        judgement=judgement, actor="ada", reason="looked at it",
    )  # fmt: skip
    records.ledger.note(label_draft(said))


def observe(records: Records, days: Iterable[int], marks: Mapping[int, Judgement]) -> None:
    """Observe: every day a round an hour, in two of which route `a` fails, and perhaps a mark."""
    for day in days:
        for hour in range(24):
            tell_round(records, f"{day}d{hour}h1m", FAIL if hour in {8, 9} else CLEAN)
        if day in marks:
            mark(records, marks[day])


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Observe a model for nine days: one shadow a day, most of them marked."""
    folder = tmp_path_factory.mktemp("observed")
    config(folder)
    marks = {0: Judgement.WRONG, 1: Judgement.UNSURE} | dict.fromkeys(range(2, DAYS - 1), Judgement.RIGHT)
    with SqliteStore(folder / "events.sqlite3") as store:
        records = some_records(store)
        wait_until(records, "0m")
        act(records, SwitchMode(at=START, model=MODEL, mode=Mode.OBSERVE))
        observe(records, range(DAYS), marks)
    return folder


@pytest.fixture
def folder(observed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(observed, tmp_path / "copy"))


def test_a_backtest_lays_every_suspension_beside_the_one_that_was(folder: Path) -> None:
    """A policy that waits longer suspends nobody here: all would be gone, the right ones too."""
    numbers = folder / "new.toml"
    numbers.write_text("[policy]\nrounds_to_suspend = 3\n", encoding="utf-8")
    done = do(folder, "backtest", "--policy", numbers, "--json")
    assert (done.code, done.err) == (0, "")
    (model,) = done.json["models"]
    assert (model["model"], model["rounds"], model["rounds_without_attempts"]) == (MODEL, 24 * DAYS, 0)
    assert (model["since"], model["until"]) == ("2026-01-05T00:01:00Z", "2026-01-13T23:01:00Z")
    assert {name: model[name] for name in ("same", "earlier", "later", "gone", "new")} == {
        "same": 0, "earlier": 0, "later": 0, "gone": DAYS, "new": 0,
    }  # fmt: skip
    assert model["marked"] == {
        "right": {"kept": 0, "gone": DAYS - 3},
        "wrong": {"kept": 0, "gone": 1},
        "unsure": {"kept": 0, "gone": 1},
    }
    assert model["route_hours"] == {"was": 2.0 * DAYS, "would_be": 0.0}
    first = model["incidents"][0]
    assert (first["change"], first["route"], first["would_be"]) == ("gone", "a", None)
    assert (first["was"]["began_at"], first["was"]["judgement"]) == ("2026-01-05T09:01:00Z", "wrong")
    assert done.json["policy"]["rounds_to_suspend"] == 3
    assert done.json["policy"]["round_period"] == "30m", "the configuration's, where the file is silent"
    assert not undocumented("backtest", done.json, named=NAMED)
    words = do(folder, "backtest", "--policy", numbers).out
    assert "marked wrong: 1 of 1 would be gone, 0 kept" in words
    assert f"{DAYS} suspensions were, 0 would be: 0 same, 0 earlier, 0 later, {DAYS} gone, 0 new" in words


def test_a_backtest_of_the_configured_policy_finds_what_was(folder: Path) -> None:
    """Everything the same, from any time on; only the model that is asked for."""
    for since in ([], ["--since", "2026-01-08T09:30:00Z"]):
        (model,) = do(folder, "backtest", *since, "--model", MODEL, "--json").json["models"]
        assert model["same"] == len(model["incidents"]) > 0
        assert model["route_hours"]["was"] == model["route_hours"]["would_be"] > 0
    (model,) = do(folder, "backtest", "--since", "1s", "--model", MODEL, "--json").json["models"]
    assert (model["rounds"], model["since"], model["incidents"]) == (0, None, [])
    assert "no round in that time" in do(folder, "backtest", "--since", "1s", "--model", MODEL).out


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (
            ["--since", "yesterday"],
            "--since: neither a time nor a duration (got 'yesterday'); allowed: an RFC 3339",
        ),
        (["--since", "2999-01-01T00:00:00Z"], "--since: is to come"),
        (["--model", "acme/none"], "not a configured model"),
        (["--policy", "nowhere.toml"], "nowhere.toml: cannot be read"),
    ],
)
def test_what_cannot_be_tried_is_refused(folder: Path, tokens: list[str], says: str) -> None:
    """Exit code 2 and one line."""
    done = do(folder, "backtest", *tokens)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert says in line


def test_a_backtest_without_a_round_says_so(tmp_path: Path) -> None:
    """And leaves no store behind."""
    config(tmp_path)
    assert do(tmp_path, "backtest").out == "no round yet\n"
    assert do(tmp_path, "backtest", "--json").json["models"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["routecanary.toml"]


def recent(folder: Path) -> None:
    """Make rounds of today, in which route `a` is suspended."""
    now = datetime.now(UTC)
    with SqliteStore(folder / "events.sqlite3") as store:
        records = some_records(store)
        for minutes in (180, 120, 60):
            at = (now - START) - timedelta(minutes=minutes)
            tell_round(records, f"{int(at.total_seconds())}s", FAIL)


def test_a_changed_policy_is_tried_by_check(tmp_path: Path) -> None:
    """Before a round is decided by it: which numbers differ, and what they would have done."""
    config(tmp_path)
    recent(tmp_path)
    same = do(tmp_path, "check", "--offline", "--json")
    assert same.json["policy_change"] is None
    assert "policy:" not in do(tmp_path, "check", "--offline").out
    config(tmp_path, 'rounds_to_suspend = 3\nladder = ["2d"]\n')
    done = do(tmp_path, "check", "--offline", "--json")
    assert (done.code, done.json["findings"]) == (0, [])
    change = done.json["policy_change"]
    assert change["numbers"] == {
        "ladder": {"before": ["1d", "3d", "7d"], "after": ["2d"]},
        "rounds_to_suspend": {"before": 2, "after": 3},
    }
    (model,) = change["backtest"]
    assert (model["model"], model["rounds"], model["later"]) == (MODEL, 3, 1)
    assert "incidents" not in model
    assert not undocumented(
        "check", {"policy_change": {**change, "backtest": []}}, named=frozenset(change["numbers"])
    )
    words = do(tmp_path, "check", "--offline").out
    assert "ladder [1d, 3d, 7d] → [2d], rounds_to_suspend 2 → 3" in words
    assert "1 suspensions were, 1 would be: 0 same, 0 earlier, 1 later" in words


def test_a_check_is_bounded_by_the_newest_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the history, it takes so many of them; what is older than the window is left out."""
    config(tmp_path)
    recent(tmp_path)
    config(tmp_path, "rounds_to_suspend = 3\n")
    monkeypatch.setattr("routecanary.cli.check_policy.MOST_ROUNDS", 2)
    monkeypatch.setattr("routecanary.cli.check_policy.LEAST_ROUNDS", 1)
    (model,) = do(tmp_path, "check", "--offline", "--json").json["policy_change"]["backtest"]
    assert model["rounds"] == 2
    monkeypatch.setattr("routecanary.cli.check_policy.WINDOW", timedelta(minutes=90))
    (model,) = do(tmp_path, "check", "--offline", "--json").json["policy_change"]["backtest"]
    assert model["rounds"] == 1


def test_enforcing_needs_what_observing_has_to_show_first(folder: Path) -> None:
    """Refused: nothing is changed, and it says what is missing and what is measured."""
    done = do(folder, "mode", MODEL, "enforce", "--reason", "impatient", "--json")
    assert done.code == 1
    trust = done.json["trust"]
    assert (done.json["mode"], done.json["changed"], trust["enough"]) == ("observe", False, False)
    assert trust["marked"] == {"told": 7, "needed": 20, "wrong": 1}
    assert (trust["unsure"], trust["unlabelled"]) == (1, 1)
    assert trust["observed_days"] == pytest.approx(9, abs=0.1)
    assert trust["false_positive_share"] == pytest.approx(1 / 7, abs=1e-6)
    rate = trust["false_suspensions_per_year"]
    assert rate["measured"] == pytest.approx(365 / 9, rel=0.02)
    assert rate["low"] < 1.1 < rate["high"]
    assert rate["declared"] == 1.0
    assert not undocumented("mode", done.json, named=NAMED)
    first, *rest = done.err.splitlines()
    assert first == (
        f"routecanary: {MODEL} stays in observe mode: 13 more suspensions must be marked right or wrong; "
        "--force enforces all the same"
    )
    assert "7 of 20 suspensions are marked right or wrong (1 unsure, 1 not marked), 8d 23h of 7d" in rest[0]
    assert "wrong are 14.3%: 0.4% to 57.9%" in rest[1]
    assert "the policy declares 1" in rest[2]
    assert do(folder, "mode", MODEL, "--json").json["mode"] == "observe"
    shown = do(folder, "mode", MODEL).out.splitlines()
    assert shown[0] == f"{MODEL}: observe"
    assert [line.strip() for line in shown[1:]] == [line.split(": ", 2)[2] for line in rest]
    forced = do(folder, "mode", MODEL, "enforce", "--force", "--reason", "in a hurry")
    assert (forced.code, forced.out, forced.err) == (0, f"{MODEL}: enforce (switched)\n", "")
    again = do(folder, "mode", MODEL, "enforce")
    assert (again.code, again.out) == (0, f"{MODEL}: enforce\n"), "what is in force needs no force"


def test_enforcing_is_granted_where_enough_was_shown(folder: Path) -> None:
    """Twenty marks and seven days: no force is needed."""
    with SqliteStore(folder / "events.sqlite3") as store:
        records = some_records(store)
        observe(records, range(DAYS, 22), dict.fromkeys(range(DAYS, 22), Judgement.RIGHT))
        assert moment("21d") < records.clock.now()
    done = do(folder, "mode", MODEL, "enforce")
    assert (done.code, done.out) == (0, f"{MODEL}: enforce (switched)\n")


def test_a_model_that_nobody_observed_yet_is_refused(tmp_path: Path) -> None:
    """Before its first round too; a configuration that says so begins to enforce."""
    path = config(tmp_path)
    done = do(tmp_path, "mode", MODEL, "enforce")
    assert done.code == 1
    assert "20 more suspensions must be marked right or wrong, 7d more must be observed" in done.err
    assert "of how many are wrong nothing is known" in done.err
    path.write_text('initial_mode = "enforce"\n' + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert do(tmp_path, "mode", MODEL, "enforce").out == f"{MODEL}: enforce\n"
