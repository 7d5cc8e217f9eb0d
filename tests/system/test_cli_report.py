"""`routecanary report`: a complaint passed on, kept, linked, listed and answered anew."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.cli.exit_codes import ExitCode
from routecanary.domain.round import Mode
from routecanary.domain.times import format_instant
from tests.commandline import Ran, a_config, called, environment
from tests.complained import BAD, MODEL, a_generation, serve, tell_rounds

HOUR = timedelta(hours=1)
WAYS = ("--model", MODEL, "--symptom", "language", "--locale", "th", "--within", "15m")


class Desk:
    """A folder with a configuration and a store of four hours, the last two of which one route was bad."""

    def __init__(self, folder: Path, *, traffic: bool = True, mode: Mode = Mode.OBSERVE) -> None:
        self.folder = folder
        self.config = a_config(folder)
        self.now = datetime.now(UTC).replace(microsecond=0)
        with SqliteStore(folder / "events.sqlite3") as store:
            tell_rounds(store, self.now - 4 * HOUR, self.now - 2 * HOUR, mode=mode)
            tell_rounds(store, self.now - 2 * HOUR, self.now, bad={BAD}, mode=mode)
            if traffic:
                serve(store, self.now - 4 * HOUR, self.now)
                store.keep_generations(
                    [a_generation("plover", self.now - HOUR, key="k", id="gen-7", conversation="c0ffee")],
                    at=self.now,
                )

    def report(self, *tokens: str) -> Ran:
        return called("report", *tokens, "--config", self.config, environ=environment(self.folder))

    def ago(self, hours: float) -> str:
        return format_instant(self.now - hours * HOUR)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def test_a_complaint_is_answered_kept_and_linked(tmp_path: Path) -> None:
    """The bad route is likely; it stands in the list, under the incident, and is answered anew."""
    desk = Desk(tmp_path)
    added = desk.report("add", *WAYS, "--at", desk.ago(0.5), "--note", "ticket 7", "--json").json
    assert added["answer"]["sureness"] == "likely"
    assert added["answer"]["suspects"][0]["routes"] == [BAD]
    assert sum(each["posterior"] for each in added["answer"]["suspects"]) + added["answer"]["no_fault"] == (
        pytest.approx(1, abs=0.01)
    )
    assert (added["known"], added["note"]) == (False, "ticket 7")
    (incident,) = added["answer"]["incidents"]
    listed = desk.report("list", "--json").json
    assert [(each["id"], each["answer"]) for each in listed] == [(added["id"], added["answer"])]
    shown = desk.report("show", str(added["id"]), "--json").json
    assert shown["now"]["suspects"][0]["routes"] == [BAD]
    assert shown["answer"] == added["answer"]
    told = called("incidents", "show", str(incident), "--config", desk.config, environ=environment(tmp_path))
    assert f"complaint {added['id']}" in told.out
    assert "likely" in desk.report("show", str(added["id"])).out
    assert (
        "inkspill/fp4"
        in called("report", "list", "--config", desk.config, environ=environment(tmp_path, COLUMNS="200")).out
    )


def test_the_same_complaint_again_is_told_as_known(tmp_path: Path) -> None:
    """Nothing is kept twice, whoever passes it on."""
    desk = Desk(tmp_path)
    first = desk.report("add", *WAYS, "--at", desk.ago(0.5), "--json").json
    again = desk.report("add", *WAYS, "--at", desk.ago(0.5), "--actor", "somebody else", "--json").json
    assert (again["id"], again["known"], again["actor"]) == (first["id"], True, first["actor"])
    assert "known already" in desk.report("add", *WAYS, "--at", desk.ago(0.5)).out
    assert len(desk.report("list", "--json").json) == 1


def test_a_note_keeps_nobodys_address(tmp_path: Path) -> None:
    """What looks like an address of mail or a key is taken out before it is kept."""
    desk = Desk(tmp_path, traffic=False)
    note = "mail ann@example.org, key sk-or-v1-0123456789abcdef0123"
    told = desk.report("add", *WAYS, "--at", desk.ago(0.5), "--note", note, "--json").json
    assert told["note"] == "mail [secret], key [secret]"


def test_a_suspect_that_serves_is_asked_again(tmp_path: Path) -> None:
    """Left out, a targeted round is asked for where the answer is known and nobody suspended it."""
    desk = Desk(tmp_path)
    suspended = desk.report("add", *WAYS, "--at", desk.ago(0.5), "--json").json
    assert suspended["answer"]["asked"] == []
    told = desk.report("add", *WAYS, "--at", desk.ago(0.6), "--ask", "--json").json
    assert told["answer"]["asked"] == [BAD]
    kinds = called(
        "events", "--kind", "round_asked", "--json", "--config", desk.config, environ=environment(tmp_path)
    )
    (asked,) = kinds.lines
    assert (asked["body"]["why"], asked["body"]["locale"], asked["body"]["routes"]) == (
        "complaint",
        "th",
        [BAD],
    )
    again = desk.report("add", *WAYS, "--at", desk.ago(0.7), "--ask", "--json").json
    assert again["answer"]["asked"] == []
    assert any("asked" in warning for warning in again["warnings"])


def test_an_id_or_a_conversation_is_exact(desk: Desk) -> None:
    """Who served is then known, whatever was wrong with it; an id that is not known is said."""
    for named in (("--generation", "gen-7"), ("--conversation", "c0ffee")):
        told = desk.report("add", *WAYS, "--at", desk.ago(1), *named, "--json").json
        assert told["answer"]["sureness"] == "exact"
        assert [each["routes"] for each in told["answer"]["suspects"]] == [["plover"]]
        assert told["answer"]["surer_with"] == []
    told = desk.report("add", *WAYS, "--at", desk.ago(1), "--generation", "gen-8", "--json").json
    assert told["answer"]["sureness"] != "exact"
    assert "telemetry has no generation of this id" in told["warnings"]


def test_nobody_is_named_where_nothing_was_wrong(desk: Desk) -> None:
    """Before the route went bad, and of what no probe failed, the answer is unknown."""
    early = desk.report("add", *WAYS, "--at", desk.ago(3.7), "--json").json
    other = desk.report(
        "add", "--model", MODEL, "--symptom", "structured", "--at", desk.ago(0.5), "--json"
    ).json
    assert early["answer"]["sureness"] == other["answer"]["sureness"] == "unknown"
    assert early["answer"]["asked"] == []
    assert "unknown; none of these stands out" in desk.report("show", str(early["id"])).out


def test_without_telemetry_the_guess_is_said_and_capped(tmp_path: Path) -> None:
    """It is possible at most, and says what would make it surer."""
    desk = Desk(tmp_path, traffic=False)
    told = desk.report("add", *WAYS, "--at", desk.ago(0.5), "--json").json
    assert told["answer"]["guessed"] is True
    assert told["answer"]["sureness"] == "possible"
    assert told["answer"]["suspects"][0]["routes"] == [BAD]
    assert "telemetry from a hook or the proxy" in told["answer"]["surer_with"]
    assert any("guessed from its price" in warning for warning in told["warnings"])


def test_a_doubtful_zone_is_asked_about_and_hinted(desk: Desk) -> None:
    """Thai at +00:00 is doubtful; what fits at +07:00 is a hint, and never the answer."""
    wall = (desk.now - HOUR / 2 + timedelta(hours=7)).strftime("%Y-%m-%d %H:%M")
    told = desk.report("add", *WAYS, "--at", f"{wall}+00:00", "--json").json
    assert told["answer"]["sureness"] == "unknown"
    assert any("Asia/Bangkok" in warning for warning in told["warnings"])
    assert any("is to come" in warning for warning in told["warnings"])
    assert "likely: inkspill/fp4" in told["hint"]
    assert "hint: " in desk.report("add", *WAYS, "--at", f"{wall}:01+00:00").out


def test_a_time_without_a_zone_is_the_machines(desk: Desk) -> None:
    """It says which zone was assumed, and what that is in UTC."""
    wall = (desk.now - HOUR / 2).strftime("%Y-%m-%d %H:%M:%S")
    told = called(
        *("report", "add", *WAYS, "--at", wall, "--json", "--config", desk.config),
        environ=environment(desk.folder, TZ="Asia/Tokyo"),
    ).json
    assert any("no zone was given" in warning for warning in told["warnings"])


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (("--at", "soon"), "--at: not a time (got 'soon')"),
        (("--at", "2026-02-30 10:00Z"), "--at: no such time"),
        (("--at", "2026-11-29 21:10 Atlantis/Capital"), "--at: no such zone (got 'Atlantis/Capital')"),
        (("--at", "2026-11-29 21:10+15:00"), "--at: no zone on Earth"),
        (("--at", "21:10Z", "--within", "3d"), "--within: out of range (got '3d')"),
        (("--at", "21:10Z", "--within", "some"), "--within: not a duration (got 'some')"),
        (("--at", "21:10Z", "--locale", "Thai!"), "--locale: not a locale (got 'Thai!')"),
        (("--at", "21:10Z", "--symptom", "sad"), "--symptom: no such symptom (got 'sad')"),
        (("--at", "21:10Z", "--note", "x" * 501), "--note: not a short line (got '501 characters')"),
        (("--at", "21:10Z", "--conversation", "a\nb"), "--conversation: not a short line"),
        (("--at", "21:10Z", "--model", "other/model"), "not a configured model (got 'other/model')"),
        (("--at", "21:10Z", "--model", "nonsense"), "--model: not a model id (got 'nonsense')"),
    ],
)
def test_bad_input_is_refused_by_name(desk: Desk, tokens: tuple[str, ...], said: str) -> None:
    """Each fault names its key, its value and what is allowed; nothing is kept."""
    before = len(desk.report("list", "--json").json)
    model = () if "--model" in tokens else ("--model", MODEL)
    told = desk.report("add", *model, *tokens)
    assert told.code == ExitCode.BAD_INPUT
    assert said in told.err
    assert "allowed:" in told.err
    assert len(desk.report("list", "--json").json) == before


def test_there_is_no_such_complaint(desk: Desk) -> None:
    """Exit code 1, also for the number of another event."""
    assert desk.report("show", "1").code == ExitCode.FINDING
    assert desk.report("show", "999999").code == ExitCode.FINDING


def test_a_list_of_no_store_is_empty(tmp_path: Path) -> None:
    """It makes none."""
    config = a_config(tmp_path)
    told = called("report", "list", "--config", config, environ=environment(tmp_path))
    assert (told.code, told.out) == (ExitCode.OK, "no complaint yet\n")
    assert (
        json.loads(called("report", "list", "--json", "--config", config, environ=environment(tmp_path)).out)
        == []
    )
    assert not (tmp_path / "events.sqlite3").exists()
