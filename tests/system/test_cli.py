"""The command line as a newcomer meets it: real processes, a real store, real HTTP to the lab."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.client import Canary
from routecanary.domain.names import ModelId
from routecanary.replay.run import main as replay_main
from tests.commandline import KEY, MODEL, SPOILED, Ran, a_config, a_lab, called, environment, ran

GOLDEN = Path(__file__).parents[1] / "golden"
TRACES = sorted(
    path for path in (GOLDEN / "traces").glob("*.jsonl") if not path.name.endswith(".expected.jsonl")
)
HEALTHY = ["acme", "cindermoor", "north-host/fp8", "plover"]

EDITS = {
    "# [models.": "[models.",
    "author/slug": MODEL,
    '#base_url = "https://openrouter.ai/api/v1"': 'base_url = "{base_url}"',
    'start_spread = "10s"': 'start_spread = "0s"',
    'confirm_delay = ["2s", "20s"]': 'confirm_delay = ["0s", "0s"]',
    'lag_limit = "250ms"': 'lag_limit = "10s"',
    'min_round_gap = "20m"': 'min_round_gap = "0s"',
}
"""What is changed in the file that `init` writes: the model, the gateway, and the waiting of a real round."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A newcomer's first hour in a few seconds: what each command said."""

    folder: Path
    init: Ran
    check: Ran
    before: Ran  # `status` before any round
    mode: Ran
    rounds: tuple[Ran, Ran]
    after: Ran  # `status` after them


def here(folder: Path, *tokens: str) -> Ran:
    """Call inside this process, with the configuration of a folder."""
    return called(*tokens, "--config", folder / "routecanary.toml", environ=environment(folder))


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    folder = tmp_path_factory.mktemp("trial")
    with a_lab() as lab:
        init = ran("init", folder=folder)
        path = folder / "routecanary.toml"
        text = path.read_text(encoding="utf-8")
        for old, new in EDITS.items():
            assert old in text, old
            text = text.replace(old, new.format(base_url=lab.base_url))
        path.write_text(text, encoding="utf-8")
        yield Trial(
            folder=folder,
            init=init,
            check=here(folder, "check", "--json"),
            before=here(folder, "status"),
            mode=ran("mode", MODEL, "enforce", "--force", "--reason", "x", folder=folder),
            rounds=(ran("round", MODEL, folder=folder), here(folder, "round", MODEL, "--json")),
            after=ran("status", folder=folder),
        )


def test_the_way_from_init_to_a_suspension_has_no_complaint(trial: Trial) -> None:
    """Every command of a first hour ends with 0 and says nothing on standard error."""
    for said in (trial.init, trial.check, trial.before, trial.mode, *trial.rounds, trial.after):
        assert (said.code, said.err) == (0, ""), said


def test_init_says_what_comes_next_and_leaves_a_file_that_is_there(trial: Trial) -> None:
    """The second `init` is refused, and the edited file stays."""
    assert trial.init.out.startswith("wrote routecanary.toml; ")
    edited = (trial.folder / "routecanary.toml").read_bytes()
    again = called("init", str(trial.folder / "routecanary.toml"), environ=environment(trial.folder))
    assert again.code == 2
    assert "is there already" in again.err
    assert (trial.folder / "routecanary.toml").read_bytes() == edited


def test_check_states_routes_and_cost_and_asks_no_model(trial: Trial) -> None:
    """The cost of a round and of a day stands there before anything was spent."""
    document = trial.check.json
    assert document["ok"] is True
    assert document["key"]["limit_remaining_usd"] == 100.0
    assert document["budget"] == {
        "per_day_usd": 5.0,
        "recovery_usd": 0.5,
        "spent_today_usd": 0.0,
        "left_today_usd": 5.0,
    }
    facts = document["models"][MODEL]
    assert facts["routes"] == facts["admitted"] == [*HEALTHY[:2], SPOILED, *HEALTHY[2:]]
    assert facts["probes_per_round"] == 15
    assert facts["worst_cost_per_day_usd"] == pytest.approx(facts["worst_cost_per_round_usd"] * 48, abs=1e-4)
    assert facts["expected_cost_per_day_usd"] < facts["worst_cost_per_day_usd"] / 3
    assert facts["expected_basis"] == "texts"


def test_status_before_and_after(trial: Trial) -> None:
    """Before any round a model stands in the configured first mode; afterwards as the store says."""
    assert trial.before.out.splitlines()[1].split() == [MODEL, "observe", "never", "0", "0", "0", "(shadow)"]
    table, (absent, summary) = trial.after.out.splitlines()[:2], trial.after.out.splitlines()[2:]
    heads, line = (line.split() for line in table)
    assert absent.startswith("routecanary: daemon_absent: ")
    assert summary.startswith("daemon: none; last reload: never; spent today: 0.0")
    assert heads == ["model", "mode", "last", "round", "routes", "production", "suspended"]
    assert line[:2] == [MODEL, "enforce"]
    assert line[-3:] == ["5", "4", "1"]


def test_two_rounds_suspend_the_spoiling_route_and_no_other(trial: Trial) -> None:
    """The first round shows the fault, the second one suspends."""
    first, second = trial.rounds
    assert f"{MODEL}, asked in en" in first.out
    assert "provider.ignore: nothing" in first.out
    document = second.json
    assert document["model"] == MODEL
    assert document["locale"] == "es"
    assert document["listing_believed"] is True
    assert document["classes"] == {**dict.fromkeys(HEALTHY, "clean"), SPOILED: "failed"}
    said = document["routes"][SPOILED]["integrity"]
    assert (said["verdict"], said["kind"]) == ("fail", "corrupt_start")
    suspended, exclusions = document["events"]
    assert (suspended["event"], suspended["route"]) == ("suspended", SPOILED)
    assert (exclusions["event"], exclusions["ignore"]) == ("exclusions", [SPOILED])


def test_mode_switches_once_and_is_shown(trial: Trial) -> None:
    """The switch is told as such; the mode that is in force already is only named."""
    assert trial.mode.out == f"{MODEL}: enforce (switched)\n"
    assert here(trial.folder, "mode", MODEL).out == f"{MODEL}: enforce\n"
    assert here(trial.folder, "mode", MODEL, "--json").json == {
        "model": MODEL,
        "mode": "enforce",
        "changed": False,
        "trust": None,
    }


def test_status_json(trial: Trial) -> None:
    """How the canary stands, and an object for each model; the keys are those of docs/cli.md."""
    said = here(trial.folder, "status", "--json").json
    spent = said["canary"]["budget"].pop("committed_usd")
    assert 0 < spent < 0.1
    assert said["canary"] == {
        "daemon": None,
        "last_reload": None,
        "guardrails": {},
        "budget": {"per_day_usd": 5.0, "reached_at": None},
        "clock_stepped_at": None,
        "channels": {},
        "alerts": ["daemon_absent"],
    }
    (document,) = said["models"]
    at = document.pop("last_round_at")
    (suspension,) = document["suspended"].values()
    assert suspension.pop("since") == at
    assert suspension.pop("until") > at
    assert document == {
        "model": MODEL,
        "configured": True,
        "mode": "enforce",
        "rounds": 2,
        "routes": 5,
        "production": HEALTHY,
        "suspended": {SPOILED: {"contracts": ["integrity", "structured"], "offence": 1, "shadow": False}},
        "canary_layer_merged": True,
        "paused": False,
        "paused_until": None,
        "released": False,
        "alerts": [],
    }


def test_routes(trial: Trial) -> None:
    """Each route has a line that fits 80 columns with every word whole."""
    lines = here(trial.folder, "routes", MODEL).out.splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).split()
    assert words[:6] == ["route", "stands", "streak", "ends", "in", "last"]
    assert {*HEALTHY, SPOILED, "suspended", "production", "23h", "integrity:corrupt_start,"} <= set(words)
    documents = {each["route"]: each for each in here(trial.folder, "routes", MODEL, "--json").json}
    assert {route: each["stands"] for route, each in documents.items()} == {
        **dict.fromkeys(HEALTHY, "production"),
        SPOILED: "suspended",
    }
    assert documents[SPOILED]["fail_streak"] == 2
    assert documents[SPOILED]["suspicion"] == ["integrity", "structured"]
    assert "integrity:corrupt_start" in documents[SPOILED]["last_faults"]
    assert documents["acme"]["clean_streak"] == 2
    assert documents["acme"]["suspension"] is None


def test_ignore_prints_what_the_client_merges(trial: Trial) -> None:
    """One entry a line; the snapshot beside the store tells an application the same."""
    assert here(trial.folder, "ignore", MODEL).out == f"{SPOILED}\n"
    document = here(trial.folder, "ignore", MODEL, "--json").json
    assert document["ignore"] == [SPOILED]
    (layer,) = document["layers"]
    assert layer.pop("until").endswith("Z")
    assert layer == {
        "layer": "canary",
        "target": SPOILED,
        "reason": "integrity, structured",
        "merged": True,
    }
    with Canary(trial.folder / ".local/state/routecanary/snapshot.json", thread=False) as canary:
        assert canary.provider_preferences(MODEL)["ignore"] == [SPOILED]


def test_a_targeted_round_asks_the_target_and_company(trial: Trial, tmp_path: Path) -> None:
    """The target and three others are asked; the fifth route stays as it was."""
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
        said = called(
            *("round", MODEL, "--route", SPOILED, "--json", "--config", str(config)),
            environ=environment(tmp_path),
        )
    assert (said.code, said.err) == (0, "")
    asked = [route for route, verdicts in said.json["routes"].items() if verdicts]
    assert SPOILED in asked
    assert len(asked) == 4


def test_a_listing_makes_no_store(tmp_path: Path) -> None:
    """Whoever only looks leaves nothing behind that the daemon's user could not write."""
    config = a_config(tmp_path)
    for tokens in (["status"], ["routes", MODEL], ["ignore", MODEL], ["mode", MODEL]):
        said = called(*tokens, "--config", config, environ=environment(tmp_path))
        assert (said.code, said.err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["routecanary.toml"]


def test_check_finds_what_would_make_rounds_useless(tmp_path: Path) -> None:
    """A model that the gateway does not know, and no model at all, are findings: exit code 1."""
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url, more='[models."acme/nosuch"]\n', period="30m")
        said = called("check", "--json", "--config", config, environ=environment(tmp_path))
    assert (said.code, said.err) == (1, "")
    (finding,) = said.json["findings"]
    assert finding.startswith("acme/nosuch: GET /models/acme/nosuch/endpoints: ")
    assert said.json["models"]["acme/nosuch"] is None
    assert said.json["models"][MODEL]["probes_per_round"] == 15
    config.write_text("", encoding="utf-8")
    said = called("check", "--offline", "--config", config, environ=environment(tmp_path))
    assert (said.code, said.err) == (1, "")
    assert said.out.splitlines()[-1] == "problem: no model is configured"


def test_a_round_of_an_account_without_credit_is_no_evidence(tmp_path: Path) -> None:
    """The gateway's no to us ends with exit code 3 and suspends nobody."""
    with a_lab() as lab:
        lab.account = type(lab.account).NO_CREDIT
        config = a_config(tmp_path, lab.base_url)
        said = called("round", MODEL, "--json", "--config", config, environ=environment(tmp_path))
    assert said.code == 3
    assert said.err.startswith(f"routecanary: {MODEL}: the account cannot be used: account:")
    assert set(said.json["classes"].values()) == {"frozen"}


def test_judge_reads_all_golden_cases_as_one_process(tmp_path: Path) -> None:
    """One JSON line a case, in the order of the files, in the documented shape."""
    files = sorted((GOLDEN / "cases").glob("*.json"))
    said = ran("judge", *files, "--json", folder=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert [line["id"] for line in said.lines] == [path.stem for path in files]
    for line in said.lines:
        assert set(line) == {"id", "verdict", "kind", "contracts"}
        for verdict in line["contracts"].values():
            assert set(verdict) == {"verdict", "kind", "reason"}


def test_judge_speaks_to_people_too(tmp_path: Path) -> None:
    """Without --json the cases stand in a table with the reason of each verdict."""
    said = called(
        "judge", GOLDEN / "cases" / "account-401-key.json", environ=environment(tmp_path, COLUMNS="200")
    )
    heads, line = said.out.splitlines()
    assert heads.split() == ["case", "verdict", "kind", "why"]
    assert line.split()[:2] == ["account-401-key", "account"]


def test_replay_prints_what_the_module_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over every golden trace: the same events, the same rejections, the same exit code."""
    for trace in TRACES:
        policy = trace.with_suffix(".toml")
        tokens = [str(trace), *(["--policy", str(policy)] if policy.exists() else []), "--json"]
        code = replay_main(tokens)
        out, err = capsys.readouterr()
        said = called("replay", *tokens, environ=environment(tmp_path))
        assert (said.code, said.out) == (code, out), trace
        assert said.err.splitlines() == [f"routecanary: {line}" for line in err.splitlines()]


def test_replay_reads_standard_input_as_a_process(tmp_path: Path) -> None:
    """`-` is standard input; each line of the output names time, model and event."""
    trace = GOLDEN / "traces" / "common_cause.jsonl"
    said = ran("replay", "-", folder=tmp_path, given=trace.read_text(encoding="utf-8"))
    assert (said.code, said.err) == (0, "")
    expected = trace.with_name("common_cause.expected.jsonl").read_text(encoding="utf-8")
    assert len(said.lines) == len(expected.splitlines())
    assert all({"at", "model", "event"} <= set(line) for line in said.lines)


def test_a_short_demo_prints_its_result_as_json(tmp_path: Path) -> None:
    """Half a second is enough for a round; what needs two is then missed, and the exit code says so."""
    said = ran("demo", "--seconds", "0.5", "--scenario", "spoiled", "--json", folder=tmp_path)
    assert said.code == 1
    assert said.err == ""
    document = said.json
    assert document["missed"] == [SPOILED]
    assert document["ok"] is False
    assert document["rounds"] == 1


def test_nothing_of_a_trial_holds_the_key(trial: Trial) -> None:
    """Not the store, not the snapshot, no output: the key goes over the wire only."""
    said = [trial.init, trial.check, trial.before, trial.mode, *trial.rounds, trial.after]
    assert not [one for one in said if KEY in one.out + one.err]
    kept = [path for path in trial.folder.rglob("*") if path.is_file()]
    assert {path.name for path in kept} >= {"routecanary.toml", "events.sqlite3", "snapshot.json"}
    for path in kept:
        assert KEY.encode() not in path.read_bytes(), path
    with SqliteStore(trial.folder / ".local/share/routecanary/events.sqlite3") as store:
        entries = list(store.find(ModelId(MODEL)))
        assert len(entries) > 2 * 15
        for entry in entries:  # they lie compressed in the file
            assert KEY not in repr(store.get(entry.id))


def test_replay_adds_the_list_of_a_request_that_says_what_it_needs(tmp_path: Path) -> None:
    """A route that breaks JSON stays for plain chat; a need that does not exist is refused."""
    verdicts = {"structured": "fail", "language": "pass"}
    passes = dict.fromkeys(verdicts, "pass")
    lines = [
        {
            "at": f"2026-01-05T0{hour}:00:00Z",
            "model": "acme/chat",
            "kind": "round",
            "routes": {"alpha": {"verdicts": verdicts}, **{f"h{k}": {"verdicts": passes} for k in range(4)}},
        }
        for hour in (1, 2)
    ]
    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    lists = []
    for scope in (["--needs", "language"], ["--needs", "structured"], ["--locale", "th"]):
        said = called("replay", str(trace), *scope, environ=environment(tmp_path))
        last = json.loads(said.out.splitlines()[-1])
        assert last["ignore"] == ["alpha"]
        lists.append(last["scoped"])
    assert lists == [[], ["alpha"], ["alpha"]]
    refused = called("replay", str(trace), "--needs", "jason", environ=environment(tmp_path))
    assert refused.code == 2
    assert "--needs: no such need (got 'jason'); allowed: filtering" in refused.err
