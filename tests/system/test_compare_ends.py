"""How a study ends that a person or the gateway ends early, and what `compare` refuses before it asks."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.lab.host import Account
from routecanary.lab.scenario import builtin_scenario
from tests.commandline import (
    KEY,
    MODEL,
    Ran,
    a_config,
    a_lab,
    called,
    command,
    environment,
    fingerprint,
)
from tests.system.test_cli_documented import undocumented

SLOW = 6.0  # scenario seconds in a real one: a pass takes a while
CODES = {"latency", "filtering", "structured", "language", "integrity", "any"}


def here(config: Path, *tokens: str) -> Ran:
    return called(*tokens, "--config", str(config), environ=environment(config.parent))


def kept(folder: Path, kind: str) -> list[Any]:
    path = folder / "events.sqlite3"
    if not path.exists():
        return []
    with SqliteStore(path) as store:
        return [stored.body for stored in store.read(kinds={kind})]


def wait_for_answers(folder: Path, number: int) -> None:
    until = time.monotonic() + 120
    while len(kept(folder, "study_answered")) < number:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_ctrl_c_keeps_what_has_come_and_says_how_to_go_on(tmp_path: Path) -> None:
    """Exit code 130; nothing stays set aside; the rest is asked by `--resume`, and no turn twice."""
    with a_lab(speed=SLOW) as lab:
        config = a_config(tmp_path, lab.base_url)
        process = subprocess.Popen(
            command("compare", MODEL, "-n", "40", "--config", config),
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_answers(tmp_path, 5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert out == ""
        (begun,) = kept(tmp_path, "study_begun")
        assert f"`routecanary compare --resume {begun['id']}` goes on" in err
        assert "Traceback" not in err
        answered = len(kept(tmp_path, "study_answered"))
        assert 5 <= answered < 200
        names = [{body["round_id"] for body in kept(tmp_path, kind)} for kind in ("reserved", "settled")]
        assert names[0] == names[1]
        lab.account = Account.NO_CREDIT
        refused = here(config, "compare", "--resume", begun["id"], "--json")
    assert refused.code == 3
    assert refused.json["stopped"] == "account"
    assert refused.json["asked"] == answered  # a refusal is no answer
    assert "the account cannot be used: account:credits" in refused.err


@pytest.mark.parametrize(("said", "asks"), [("n\n", False), ("\n", False), ("y\n", True)])
def test_at_a_terminal_it_is_asked_whether_to_go_on(tmp_path: Path, said: str, asks: bool) -> None:
    """The cost stands there first; only a yes goes on, and whatever else leaves no trace."""
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            command("compare", MODEL, "-n", "1", "--config", config, "--json"),
            cwd=tmp_path,
            env=environment(tmp_path),
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
        ) as process:
            os.close(theirs)
            heard = b""
            while b"go on? [y/N] " not in heard:
                heard += os.read(ours, 1024)
            assert b"5 askings of 5 routes, usually 0.0" in heard
            assert not kept(tmp_path, "study_begun")
            os.write(ours, said.encode())
            out, _ = process.communicate(timeout=60)
        code = process.returncode
        os.close(ours)
        asked = len(lab.ledger)
    assert (code, asked, bool(out)) == ((0, 5, True) if asks else (1, 0, False))
    assert len(kept(tmp_path, "study_begun")) == asks


BAD = [
    ([], "MODEL: missing; allowed: a configured model, or --resume STUDY"),
    ([MODEL, "-n", "0"], "--n: out of range (got 0); allowed: 1 to 1000"),
    ([MODEL, "--others", "9"], "--others: others than whom?; allowed: together with --suspect"),
    ([MODEL, "--suspect", "acme", "--others", "-1"], "--others: out of range (got -1)"),
    ([MODEL, "--probe", "poem"], "--probe: no such probe (got 'poem'); allowed: chat, filter, structured"),
    ([MODEL, "--locale", "EN"], "not a locale (got 'EN')"),
    ([MODEL, "--locale", "xx"], "no chat text for this locale (got 'xx'); allowed: "),
    ([MODEL, "--routes", "nobody"], "not a route of this model now (got 'nobody'); allowed: acme, cinder"),
    ([MODEL, "--prompt", "nothing.txt"], "nothing.txt: no such file"),
    ([MODEL, "--probe", "chat", "--prompt", "x"], "--prompt: two questions; allowed: either --probe or"),
    ([MODEL, "--html", "."], "--html: no place for a file"),
    ([MODEL, "--html", "nowhere/x.html"], "--html: no place for a file (got 'nowhere/x.html')"),
    ([MODEL, "--resume", "x"], "MODEL: the study says that already"),
    (["--resume", "x", "--suspect", "acme"], "--suspect: the study says that already"),
    (["--resume", "x"], "no such study (got 'x'); allowed: none was begun"),
    (["a/b"], "not a configured model"),
]


def test_what_cannot_be_asked_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    """Exit code 2, the key, the value and what is allowed; no question reaches a host."""
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
        for tokens, message in BAD:
            said = here(config, "compare", *tokens)
            assert said.code == 2, tokens
            assert message in said.err, tokens
        assert len(lab.ledger) == 0
    assert not kept(tmp_path, "study_begun")


def test_a_complete_study_is_told_again_without_a_key_or_a_gateway(tmp_path: Path) -> None:
    """From the log alone; once its transcripts are gone the page says so and the counts stand."""
    page = tmp_path / "page.html"
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
        first = here(config, "compare", MODEL, "-n", "2", "--json").json
        before = fingerprint(tmp_path / "snapshot.json")
    offline = {name: value for name, value in environment(tmp_path).items() if value != KEY}
    tokens = ("compare", "--resume", first["study"], "--html", page, "--json", "--config", config)
    again = called(*tokens, environ=offline)
    assert (again.code, again.err) == (0, "")
    assert again.json == first
    whole = page.read_text("utf-8")
    assert "no longer kept" not in whole
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        (begun,) = store.read(kinds={"study_begun"})
        future = begun.at.replace(year=begun.at.year + 1)
        assert sum(store.prune_transcripts(future, future, at=future, limit=500)) == 10
    assert called(*tokens, environ=offline).json == first
    assert page.read_text("utf-8").count("no longer kept") == 10
    assert fingerprint(tmp_path / "snapshot.json") == before  # no study publishes anything


def test_every_key_is_documented(tmp_path: Path) -> None:
    """As printed with --json, with fails, contrasts and answers in it."""
    with a_lab(replace(builtin_scenario("study"), key=KEY)) as lab:
        said = here(a_config(tmp_path, lab.base_url), "compare", MODEL, "-n", "2", "--json")
    named = frozenset(CODES | {"corrupt_start", "verdict", "kind", "reason"})
    assert said.json["routes"][0]["results"]["integrity"]["kinds"]
    assert not undocumented("compare", said.json, named=named)
