"""`simulate`: a policy over simulated hosts, for people, programs and a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from routecanary.simulate.shipped import shipped_names
from tests.commandline import called, environment, ran
from tests.system.test_cli_documented import undocumented

ROOT = Path(__file__).parents[2]
SMALL = """
about = "Four hosts, one of them ill."
life = "12h"
[[hosts]]
name = "host"
count = 4
[[faults]]
contracts = ["structured"]
rate = 1
from = "1h"
"""
EVIDENCE = '[policy]\ntrigger = "evidence"\nmax_suspended_share = 0.25\n'


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_document_of_a_simulation(tmp_path: Path, scenario: Path) -> None:
    """As a process: one JSON document, every key of which docs/cli.md names; the same seed says the same."""
    policy = tmp_path / "policy.toml"
    policy.write_text(EVIDENCE, encoding="utf-8")
    tokens = ("simulate", "--scenario", scenario, "--policy", policy, "--years", "0.005", "--json")
    said = ran(*tokens, folder=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert ran(*tokens, folder=tmp_path).out == said.out
    assert ran(*tokens, "--seed", "2", folder=tmp_path).out != said.out
    document = said.json
    assert not undocumented("simulate", document, named=frozenset(document["noted"]))
    assert document["about"] == "Four hosts, one of them ill."
    assert (document["lives"], document["rounds"], document["route_rounds"]) == (4, 96, 384)
    assert document["faults"]["found"] == 4
    assert document["delay_rounds"] == {"median": 2.0, "p95": 2.0}
    assert document["faulty_answers"]["with"] < document["faulty_answers"]["without"]
    assert document["breaches"] == {"floor breached": 0, "share breached": 0}


def test_table_and_page_say_the_same(tmp_path: Path, scenario: Path) -> None:
    """For people a line a figure; with --html one page."""
    tokens = ("simulate", "--scenario", scenario, "--years", "0.001")
    table = called(*tokens, environ=environment(tmp_path))
    page = called(*tokens, "--html", environ=environment(tmp_path))
    assert table.code == page.code == 0
    assert "delay rounds: median" in table.out
    assert page.out.startswith("<!DOCTYPE html>\n")
    assert page.out.endswith("</body></html>\n")
    assert "<th>delay rounds: median</th><td>2.0</td>" in page.out


def test_shipped_scenario_is_called_by_its_name(tmp_path: Path) -> None:
    """And played for whole lives."""
    said = called(
        "simulate",
        "--scenario",
        "judge-question",
        "--years",
        "0.001",
        "--json",
        environ=environment(tmp_path),
    )
    assert said.json["lives"] == 1
    assert said.json["noted"]["common cause"] > 0


BAD = [
    ("years", ["--years", "0"], "--years: not a number of years (got 0.0); allowed: above 0, up to 10000"),
    ("years without end", ["--years", "inf"], "--years: not a number of years (got inf)"),
    ("both", ["--json", "--html"], "--json, --html: exclude each other; allowed: one of them"),
    ("no such scenario", ["--scenario", "nope"], "nope: cannot be read: No such file or directory"),
    ("a folder", ["--scenario", "/"], "/: cannot be read: Is a directory"),
    ("no name of a file", ["--scenario", "a\0b"], "cannot be read"),
    ("no such policy", ["--policy", "nope.toml"], "nope.toml: cannot be read"),
]


@pytest.mark.parametrize(("tokens", "said"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_input_is_refused(tmp_path: Path, tokens: list[str], said: str) -> None:
    """With one line on standard error and exit code 2; nothing is printed."""
    ran = called("simulate", *tokens, environ=environment(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_bad_files_are_refused(tmp_path: Path) -> None:
    """A scenario that is not UTF-8, one too long, one with two faults: a line for each fault."""
    for raw, lines, said in (
        (b"\xff\xfe", 1, "cannot be read"),
        (b"#" * (1024 * 1024 + 1), 1, "too long"),
        (b"repeat = 2\nlife = 3\n[[hosts]]\nname = 'a'\n", 2, "bad.toml: repeat: not allowed (got 2)"),
    ):
        path = tmp_path / "bad.toml"
        path.write_bytes(raw)
        ran = called("simulate", "--scenario", path, environ=environment(tmp_path))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", lines)
        assert said in ran.err


def test_a_budget_for_another_schedule_is_refused(tmp_path: Path) -> None:
    """The threshold would keep another rate than the one that was declared."""
    path = tmp_path / "policy.toml"
    path.write_text('[policy]\ntrigger = "evidence"\nround_period = "1h"\n', encoding="utf-8")
    ran = called("simulate", "--policy", path, environ=environment(tmp_path))
    assert ran.code == 2
    assert "round_period: the budget is spread over another schedule" in ran.err
    assert "(got '1h'); allowed: 30m" in ran.err


def test_benchmark_compares_scenarios_and_policies() -> None:
    """At least eight scenarios and six policies, on the same rounds; a small piece of it runs."""
    script = ROOT / "benchmarks" / "policies.py"
    tokens = [
        sys.executable,
        str(script),
        "--scenario",
        "judge-question",
        "few-hosts",
        "--scale",
        "0.01",
        "--check",
    ]
    ran = subprocess.run(tokens, capture_output=True, text=True, timeout=240, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("events equal to a replay's over the first 300 rounds: 3 of 3 policies") == 2
    assert ran.stdout.endswith("every promise kept; no policy of ours breached floor or share\n")
    rows = re.findall(r"^  (.{38}) +[\d,.]+ \([\d,.]+–[\d,.]+\)", ran.stdout, re.MULTILINE)
    assert len(set(rows)) >= 6
    assert len(rows) == 2 * len(set(rows))
    assert len(shipped_names()) >= 8
