"""The commands by which a person acts and looks, over one store that a lab has filled."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.client import Canary
from routecanary.domain.names import CONTRACT_NAMES, ModelId, RouteId
from routecanary.domain.transcript import Chunk
from routecanary.judge.registry import CONTRACTS
from tests.commandline import (
    MODEL,
    SPOILED,
    Ran,
    a_config,
    a_lab,
    called,
    command,
    environment,
    fingerprint,
    ran,
)
from tests.conformance.stored import a_transcript, a_verdict
from tests.system.test_cli_documented import SECTIONS, keys_of

HEALTHY = ["acme", "cindermoor", "north-host/fp8", "plover"]
HOSTILE = "\x1b[2J\x1b]0;pwned\x07\u202e\x9b31m \r\nroutecanary: all is well"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two rounds in enforce mode, after which one route is suspended."""
    folder = tmp_path_factory.mktemp("filled")
    with a_lab() as lab:
        config = a_config(folder, lab.base_url)
        for tokens in (["mode", MODEL, "enforce", "--force"], ["round", MODEL], ["round", MODEL]):
            done = called(*tokens, "--config", config, environ=environment(folder))
            assert done.code == 0, done.err
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """Copy the filled store, for a test of its own."""
    return Path(shutil.copytree(filled, tmp_path / "copy"))


def do(folder: Path, *tokens: object) -> Ran:
    """Run a command inside this process."""
    return called(*map(str, tokens), "--config", folder / "routecanary.toml", environ=environment(folder))


def told(folder: Path, *tokens: object) -> Any:
    """Run a command that succeeds, and read its JSON."""
    done = do(folder, *tokens, "--json")
    assert done.code == 0, done.err
    return done.json


def ignored(folder: Path) -> list[str]:
    """Ask as an application does, from the snapshot."""
    with Canary(folder / "snapshot.json", thread=False) as canary:
        return canary.provider_preferences(MODEL).get("ignore", [])


def logged(folder: Path, kind: str) -> dict[str, Any]:
    """Read the newest event of a kind."""
    done = do(folder, "events", "--kind", kind, "--limit", "1", "--json")
    return done.lines[0]["body"]


def test_an_exclusion_from_adding_to_removing(folder: Path) -> None:
    """Callers heed it at once; it says what is left and until when; who and why are in the log."""
    done = ran("exclude", "add", MODEL, "plover", "--reason", "slow", "--actor", "ada", folder=folder)
    assert done.code == 0, done.err
    assert "until removed (--expires 7d" in done.out
    assert f"{MODEL}: 3 production routes left: acme, cindermoor, north-host/fp8" in done.out
    assert ignored(folder) == [SPOILED, "plover"]
    body = logged(folder, "exclusion_added")
    assert (body["actor"], body["reason"], body["target"]) == ("ada", "slow", "plover")
    (entry,) = told(folder, "exclude", "list")
    assert (entry["target"], entry["models"], entry["expires"]) == ("plover", [MODEL], None)
    assert "plover" in do(folder, "exclude", "list", MODEL).out
    again = told(folder, "exclude", "add", MODEL, "plover", "--reason", "slower", "--expires", "7d")
    assert again["replaced"]
    assert again["left"] == {MODEL: ["acme", "cindermoor", "north-host/fp8"]}
    assert again["expires"] is not None
    assert len(told(folder, "exclude", "list")) == 1
    removed = told(folder, "exclude", "remove", MODEL, "plover", "--reason", "well again")
    assert removed["left"] == {MODEL: HEALTHY}
    assert ignored(folder) == [SPOILED]
    assert logged(folder, "exclusion_removed")["reason"] == "well again"
    assert told(folder, "exclude", "list") == []
    missing = do(folder, "exclude", "remove", MODEL, "plover", "--reason", "again")
    assert (missing.code, missing.out) == (1, "")
    assert "no exclusion of plover" in missing.err


def test_an_exclusion_that_leaves_nothing_needs_force(folder: Path) -> None:
    """Without it nothing is changed, and the exit code is 1."""
    for target in HEALTHY[:-1]:
        told(folder, "exclude", "add", MODEL, target, "--reason", "r")
    before = told(folder, "store", "verify")["head"]
    for tokens in (["exclude", "add", MODEL, "plover"], ["exclude", "add", "--all-models", "plover"]):
        refused = do(folder, *tokens, "--reason", "r")
        assert (refused.code, refused.out) == (1, "")
        assert "without plover no production route would be left; nothing was changed" in refused.err
    assert told(folder, "store", "verify")["head"] == before
    assert do(folder, "exclude", "add", MODEL, "nobody", "--reason", "it touches nothing").code == 0
    forced = told(folder, "exclude", "add", "--all-models", "plover", "--reason", "r", "--force")
    assert (forced["left"], forced["lost"], forced["models"]) == ({MODEL: []}, {MODEL: ["plover"]}, None)
    assert ignored(folder) == sorted([*HEALTHY, "nobody"]), "a caller keeps the canary layer's route"


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["exclude", "add", MODEL, "acme"], "--reason"),
        (["exclude", "add", MODEL, "acme", "--reason", "  "], "--reason: says nothing"),
        (["exclude", "add", MODEL, "acme", "--reason", "x" * 2001], "--reason: too long"),
        (["exclude", "add", MODEL, "acme", "--reason", "r", "--actor", ""], "--actor: says nothing"),
        (["exclude", "add", MODEL, "--reason", "r"], "TARGET: missing"),
        (["exclude", "add", "--all-models", MODEL, "acme", "--reason", "r"], "a model beside --all-models"),
        (["exclude", "add", "other/model", "acme", "--reason", "r"], "not a configured model"),
        (["exclude", "add", MODEL, "a b", "--reason", "r"], "not a route tag"),
        (["exclude", "add", MODEL, "a\x1b[31m", "--reason", "r"], "not a route tag"),
        (["exclude", "add", MODEL, "acme", "--reason", "r", "--expires", "7"], "--expires: not a duration"),
        (["exclude", "add", MODEL, "acme", "--reason", "r", "--expires", "0s"], "--expires: no time at all"),
        (["lift", MODEL, "acme"], "--reason"),
        (["lift", MODEL, "a b", "--reason", "r"], "not a route tag"),
        (["lift", MODEL, "acme", "--reason", "r", "--hold", "x"], "--hold: not a duration"),
        (["pause", MODEL, "--reason", "r", "--for", "2h", "--until", "2099-01-01T00:00:00Z"], "two ends"),
        (["pause", MODEL, "--reason", "r", "--until", "2020-01-01T00:00:00Z"], "--until: is over already"),
        (["pause", MODEL, "--reason", "r", "--until", "tomorrow"], "--until: not a time"),
        (["pause", MODEL, "--reason", "r", "--for", "36501d"], "--for: duration too long"),
        (["requalify", "manners", "--reason", "r"], "CONTRACT: no such contract"),
        (["requalify", "language", "--reason", "r", "--end", "--for", "1h"], "--for: a length of what ends"),
        (["requalify", "language", "--reason", "r", "--model", "other/model"], "not a configured model"),
        (["events", "--kind", "suspendedd"], "--kind: no such kind"),
        (["events", "--after", "-1"], "--after: less than nothing"),
        (["events", "--limit", "-1"], "--limit: less than nothing"),
        (["generations", "--limit", "-1"], "--limit: less than nothing"),
        (["generations", "chat"], "not a model id"),
        (["generations", "--route", "a b"], "not a route tag"),
        (["generations", "--since", "yesterday"], "--since: neither a time nor a duration"),
        (["generations", "--until", "2999-01-01T00:00:00Z"], "--until: is to come"),
        (["events", "other/model"], "not a configured model"),
        (["incidents", "--limit", "-1"], "--limit: less than nothing"),
        (["incidents", "show", "first"], "INCIDENT"),
        (["incidents", "label", "1", "maybe", "--reason", "r"], "JUDGEMENT: no such mark"),
    ],
)
def test_bad_input_changes_nothing(filled: Path, tokens: list[str], said: str) -> None:
    """One line that names what is wrong, exit code 2, and the store as it was."""
    before = fingerprint(filled / "events.sqlite3"), fingerprint(filled / "snapshot.json")
    done = do(filled, *tokens)
    assert (done.code, done.out) == (2, "")
    assert said.lower() in done.err.lower()
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err
    assert (fingerprint(filled / "events.sqlite3"), fingerprint(filled / "snapshot.json")) == before


def test_a_lift_ends_a_suspension_and_marks_the_incident(folder: Path) -> None:
    """As a false positive it is marked wrong, and a hold keeps it from coming back."""
    done = told(folder, "lift", MODEL, SPOILED, "--reason", "our prompt", "--false-positive", "--hold", "2h")
    assert (done["route"], done["ignore"], done["shadow"]) == (SPOILED, [], False)
    assert ignored(folder) == []
    hold = datetime.fromisoformat(done["hold_until"])
    assert timedelta(hours=1, minutes=55) < hold - datetime.now(UTC) < timedelta(hours=2, minutes=1)
    assert logged(folder, "lifted")["reason"] == "our prompt"
    (incident,) = told(folder, "incidents")
    assert (incident["ended_by"], incident["label"]["judgement"]) == ("lifted", "wrong")
    again = do(folder, "lift", MODEL, SPOILED, "--reason", "again")
    assert (again.code, again.out) == (1, "")
    assert "is not suspended; suspended are: none" in again.err


def test_a_pause_and_its_end(folder: Path) -> None:
    """Merged again by resuming; a second pause moves the end; resuming twice says so."""
    done = told(folder, "pause", MODEL, "--reason", "release", "--for", "2h")
    assert (done["paused"], done["changed"], ignored(folder)) == (True, True, [])
    moved = told(folder, "pause", MODEL, "--reason", "longer", "--until", "2099-01-01T00:00:00Z")
    assert (moved["until"], moved["changed"]) == ("2099-01-01T00:00:00Z", True)
    assert (
        "until 2099-01-01"
        in do(folder, "pause", MODEL, "--reason", "same", "--until", "2099-01-01T00:00:00Z").out
    )
    back = told(folder, "resume", MODEL, "--reason", "done")
    assert (back["paused"], back["until"], back["changed"]) == (False, None, True)
    assert ignored(folder) == [SPOILED]
    assert told(folder, "resume", MODEL)["changed"] is False
    assert "was not paused" in do(folder, "resume", MODEL).out
    assert "until you resume" in do(folder, "pause", MODEL, "--reason", "r").out


def test_a_contract_on_trial_by_hand(folder: Path) -> None:
    """For as long as is said; until it is ended."""
    done = told(folder, "requalify", "integrity", "--reason", "new prompt", "--for", "48h", "--model", MODEL)
    until = datetime.fromisoformat(done["trials"][MODEL])
    assert timedelta(hours=47, minutes=55) < until - datetime.now(UTC) < timedelta(hours=48, minutes=1)
    assert logged(folder, "requalifying")["reason"] == "new prompt"
    assert "integrity is on trial" in do(folder, "requalify", "integrity", "--reason", "r").out
    ended = told(folder, "requalify", "integrity", "--reason", "seen enough", "--end")
    assert ended["trials"] == {MODEL: None}


def test_events_by_number_kind_and_model(folder: Path) -> None:
    """The newest where nothing is said; from a number on; only some kinds; each on a line."""
    everything = do(folder, "events", "--after", "0", "--json").lines
    assert [event["seq"] for event in everything] == list(range(1, len(everything) + 1))
    assert [event["seq"] for event in do(folder, "events", "--limit", "3", "--json").lines] == [
        event["seq"] for event in everything[-3:]
    ]
    some = do(folder, "events", MODEL, "--kind", "suspended", "--kind", "mode_changed", "--json").lines
    assert [event["kind"] for event in some][-1] == "suspended"
    lines = do(folder, "events", "--after", str(len(everything) - 2)).out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"#{everything[-2]['seq']} ")
    assert do(folder, "events", "--limit", "0").out == ""


def test_events_are_followed_as_they_come(folder: Path) -> None:
    """A reader sees an act of another process, and stops after as many as it asked for."""
    follower = subprocess.Popen(
        command("events", "--follow", "--after", "0", "--kind", "exclusion_added", "--limit", "2", "--json"),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        text=True,
    )
    with follower:
        assert follower.stdout is not None
        for target in ("plover", "acme"):
            told(folder, "exclude", "add", MODEL, target, "--reason", "r")
            assert json.loads(follower.stdout.readline())["body"]["target"] == target
        assert follower.wait(20) == 0


def test_an_incident_from_the_list_to_its_transcripts(folder: Path) -> None:
    """The story names each attempt, and each attempt's answer can be read, raw or as a case."""
    (outline,) = told(folder, "incidents", MODEL)
    assert (outline["route"], outline["ended_at"], outline["label"]) == (SPOILED, None, None)
    assert SPOILED in do(folder, "incidents").out
    story = told(folder, "incidents", "show", outline["id"])
    assert story["incident"] == outline
    assert story["bill"]["remaining"] == HEALTHY
    for item in ("prompt_usd_per_million", "completion_usd_per_million", "first_text_ms"):
        bill = story["bill"][item]
        assert bill["routes"] == 4, item
        assert bill["suspended"] > 0, item
        assert bill["remaining"] > 0, item
    assert [each["class"] for each in story["rounds"]] == ["failed", "failed"]
    assert {tuple(each["peers"]["integrity"].values()) for each in story["rounds"]} == {("pass",) * 4}
    failing = [
        attempt
        for each in story["rounds"]
        for attempt in each["attempts"]
        if any(said["verdict"] == "fail" for said in attempt["verdicts"].values())
    ]
    assert len(failing) >= 4, "two rounds, each confirmed"
    text = do(folder, "incidents", "show", outline["id"]).out
    identity = failing[0]["transcript"]
    assert identity in text
    assert "the bill: 4 production routes were left" in text
    assert "integrity of the others: 4 pass" in text
    shown = told(folder, "transcript", identity)
    assert (shown["route"], shown["status"], shown["ending"]["how"]) == (SPOILED, 200, "eof")
    assert shown["request"]["provider"]["only"]
    versions = {contract.name: contract.version for contract in CONTRACTS}
    assert shown["verdicts"] == {
        name: said | {"version": versions[name]} for name, said in failing[0]["verdicts"].items()
    }
    assert "data: " in do(folder, "transcript", identity, "--raw").out
    case = folder / "case.json"
    case.write_text(do(folder, "transcript", identity, "--case").out)
    judged = called("judge", case, "--json", environ=environment(folder))
    assert judged.code == 0, judged.err
    assert judged.json["id"] == identity


def test_marks_and_their_share(folder: Path) -> None:
    """The last mark holds; the summary has the exact interval; unknown numbers change nothing."""
    (outline,) = told(folder, "incidents")
    for judgement in ("wrong", "right"):
        marked = told(
            folder, "incidents", "label", outline["id"], judgement, "--reason", "r", "--actor", "ada"
        )
        assert (marked["label"]["judgement"], marked["label"]["actor"]) == (judgement, "ada")
    summary = told(folder, "incidents", "--summary")
    assert summary["confidence"] == 0.95
    contracts = outline["contracts"]
    assert [(each["model"], each["mode"], each["contract"]) for each in summary["groups"]] == [
        (model, "enforce", contract) for model in (MODEL, None) for contract in (None, *contracts)
    ]
    counted = summary["groups"][-1]
    assert (counted["incidents"], counted["right"], counted["wrong"], counted["unlabelled"]) == (1, 1, 0, 0)
    assert (counted["false_positive_share"], counted["low"], counted["high"]) == (0, 0, 0.975)
    wide = ran("incidents", "--summary", folder=folder, COLUMNS="120")
    assert "0.0% (0.0% to 97.5%)" in wide.out
    marked = told(folder, "incidents", "label", outline["id"], "unsure", "--reason", "hard to say")
    assert marked["label"]["judgement"] == "unsure"
    (counted, *_) = told(folder, "incidents", "--summary")["groups"]
    assert (counted["right"], counted["unsure"], counted["unlabelled"]) == (0, 1, 0)
    assert counted["false_positive_share"] is None
    assert do(folder, "incidents", "label", outline["id"], "perhaps", "--reason", "r").code == 2
    for tokens in (["show", "999999"], ["label", "999999", "right", "--reason", "r"]):
        missing = do(folder, "incidents", *tokens)
        assert (missing.code, missing.out) == (1, "")
        assert "there is no incident 999999" in missing.err


def test_what_a_model_wrote_is_printed_escaped(folder: Path) -> None:
    """It neither moves the cursor nor passes for our own words, however it is shown."""
    hostile = f'data: {{"choices":[{{"delta":{{"content":{json.dumps(HOSTILE)}}}}}]}}\n\n'.encode()
    with SqliteStore(folder / "events.sqlite3") as store:
        kept = store.pack(
            replace(
                a_transcript(
                    model=ModelId(MODEL),
                    route=RouteId(SPOILED),
                    chunks=(Chunk(1.0, hostile), Chunk(2.0, b"\x1b[2J\xff")),
                ),
                headers=(("x-evil", HOSTILE),),
                status=200,
            ),
            at=datetime(2020, 1, 1, tzinfo=UTC),
            verdicts=a_verdict(detail=HOSTILE),
        )
        store.put([kept])
    for option in ([], ["--raw"], ["--json"], ["--case"]):
        done = do(folder, "transcript", kept.entry.id, *option)
        assert done.code == 0, done.err
        for character in "\x1b\x07\x9b\r\u202e":
            assert character not in done.out, option
        assert not any(line.startswith("routecanary:") for line in done.out.splitlines())
    assert "there is no transcript nothing" in do(folder, "transcript", "nothing").err


def test_a_broken_chain_is_named(folder: Path) -> None:
    """Exit code 1 and the first event that does not fit."""
    whole = told(folder, "store", "verify")
    assert (whole["ok"], whole["break"], whole["pruned_through"]) == (True, None, None)
    assert "the chain is whole" in do(folder, "store", "verify").out
    with closing(sqlite3.connect(folder / "events.sqlite3", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER event_is_not_changed")
        connection.execute(
            "UPDATE event SET body = replace(body, 'offence', 'offense') WHERE kind = 'suspended'"
        )
        (altered,) = connection.execute("SELECT seq FROM event WHERE kind = 'suspended'").fetchone()
    for option in ([], ["--json"]):
        done = do(folder, "store", "verify", *option)
        assert done.code == 1
        assert "altered: its content does not have its hash" in done.out
    assert done.json["break"]["seq"] == altered
    assert do(folder, "status").code == 4, "nobody decides on an altered log"


def test_pruning_by_hand(folder: Path) -> None:
    """What is old goes, after it was said how much would; what is young stays."""
    with SqliteStore(folder / "events.sqlite3") as store:
        store.put(
            [
                store.pack(a_transcript(attempt=n), at=datetime(2020, 1, 1, tzinfo=UTC), verdicts={})
                for n in range(3)
            ]
        )
        before = store.count()
    planned = told(folder, "store", "prune", "--dry-run")
    assert (planned["passes"], planned["failures"], planned["events"], planned["dry_run"]) == (3, 0, 0, True)
    assert "3 passed and 0 failed transcripts would go" in do(folder, "store", "prune", "--dry-run").out
    done = told(folder, "store", "prune")
    assert (done["passes"], done["through"], done["dry_run"]) == (3, None, False)
    assert "0 passed and 0 failed transcripts are gone" in do(folder, "store", "prune").out
    with SqliteStore(folder / "events.sqlite3") as store:
        assert store.count() == before


@pytest.mark.parametrize(
    "tokens",
    [
        ["exclude", "list"],
        ["events"],
        ["generations"],
        ["incidents"],
        ["incidents", "--summary"],
        ["store", "verify"],
        ["store", "prune", "--dry-run"],
    ],
)
def test_looking_where_nothing_was_ever_stored(tmp_path: Path, tokens: list[str]) -> None:
    """An answer, and no file made."""
    config = a_config(tmp_path)
    for option in ([], ["--json"]):
        done = called(*tokens, *option, "--config", config, environ=environment(tmp_path))
        assert done.code == 0, done.err
    assert [path.name for path in tmp_path.iterdir()] == ["routecanary.toml"]


def test_every_key_of_their_json_is_documented(folder: Path) -> None:
    """What each command prints with --json is named in its section of docs/cli.md."""
    names = frozenset({MODEL, SPOILED, *HEALTHY, *CONTRACT_NAMES})
    (outline,) = told(folder, "incidents")
    story = told(folder, "incidents", "show", outline["id"])
    identity = story["rounds"][0]["attempts"][0]["transcript"]
    calls: dict[str, list[object]] = {
        "exclude add": [MODEL, "plover", "--reason", "r"],
        "exclude list": [],
        "exclude remove": [MODEL, "plover", "--reason", "r"],
        "pause": [MODEL, "--reason", "r"],
        "resume": [MODEL],
        "requalify": ["language", "--reason", "r"],
        "lift": [MODEL, SPOILED, "--reason", "r", "--false-positive"],
        "incidents label": [outline["id"], "right", "--reason", "r"],
        "incidents": [],
        "store verify": [],
        "store prune": [],
        "transcript": [identity],
    }
    documents = {name: told(folder, *name.split(), *tokens) for name, tokens in calls.items()}
    documents["incidents show"] = {key: story[key] for key in ("rounds", "incident", "events", "bill")}
    documents["events"] = do(folder, "events", "--limit", "5", "--json").lines
    documents["summary"] = told(folder, "incidents", "--summary")
    for document in documents["events"]:
        document["body"] = None
    documents["transcript"]["request"] = None
    documents["incidents show"]["events"] = []
    listing = SECTIONS["incidents"]
    for name, document in documents.items():
        section = SECTIONS["incidents" if name == "summary" else name]
        section += listing if name in {"incidents show", "incidents label"} else ""
        assert not {key for key in keys_of(document, named=names) if f"`{key}`" not in section}, name


def rounds_made(folder: Path) -> int:
    with SqliteStore(folder / "events.sqlite3") as store:
        return store.count(kinds={"round_closed"})


def wait_for(what: Any) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Path]:
    """Run the daemon over a lab, a round a second."""
    with a_lab() as lab:
        a_config(tmp_path, lab.base_url)
        assert do(tmp_path, "mode", MODEL, "enforce", "--force").code == 0
        with subprocess.Popen(
            command("run"), cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.DEVNULL
        ) as daemon:
            try:
                wait_for((tmp_path / "snapshot.json").exists)
                yield tmp_path
            finally:
                daemon.terminate()
                daemon.wait(30)


def test_acts_reach_a_running_application_and_are_not_undone_by_the_daemon(watched: Path) -> None:
    """A client that watches the file heeds an act beside a daemon that goes on publishing its rounds."""
    with Canary(watched / "snapshot.json") as canary:

        def ignored_now() -> list[str]:
            return canary.provider_preferences(MODEL).get("ignore", [])

        wait_for(lambda: SPOILED in ignored_now())
        told(watched, "exclude", "add", MODEL, "plover", "--reason", "r")
        wait_for(lambda: "plover" in ignored_now())
        made = rounds_made(watched)
        while rounds_made(watched) < made + 2:
            assert "plover" in ignored_now(), "no round takes it back"
        told(watched, "pause", MODEL, "--reason", "r")
        wait_for(lambda: ignored_now() == ["plover"])
        made = rounds_made(watched)
        while rounds_made(watched) < made + 1:
            assert ignored_now() == ["plover"]
        told(watched, "resume", MODEL)
        told(watched, "exclude", "remove", MODEL, "plover", "--reason", "r")
        wait_for(lambda: ignored_now() == [SPOILED])
