"""`compare` and `reproduce`: real processes, a real store, real HTTP to the lab."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import builtin_scenario
from tests.commandline import CONFIG, KEY, MODEL, SPOILED, Ran, a_lab, called, command, environment, ran

CHAT, VERSE = "acme/chat-2", "acme/verse-1"
SPEED = 60.0  # the hosts' seconds in one of ours; what they say does not hang on it


@pytest.fixture(scope="module")
def lab() -> Iterator[LabGateway]:
    with a_lab(replace(builtin_scenario("study"), key=KEY), speed=SPEED) as gateway:
        yield gateway


def a_folder(folder: Path, lab: LabGateway, *, budget: str = "50", model: str = CHAT) -> Path:
    text = CONFIG.format(base_url=lab.base_url, model=model, period="30m") + f'[models."{VERSE}"]\n'
    path = folder / "routecanary.toml"
    path.write_text(f"{text}[budget]\nper_day_usd = {budget}\n", encoding="utf-8")
    return path


def here(path: Path, *tokens: str) -> Ran:
    return called(*tokens, "--config", str(path), environ=environment(path.parent))


def test_one_host_spoils_its_starts_and_fourteen_do_not(tmp_path: Path, lab: LabGateway) -> None:
    """19 of 20 against 0 of 49, and the probability of that by luck; the page shows the answers."""
    config, page = a_folder(tmp_path, lab), tmp_path / "study.html"
    asked = ("compare", CHAT, "--suspect", "spillway/fp4", "-n", "20", "--others", "49")
    said = here(config, *asked, "--html", str(page), "--json")
    assert said.code == 0, said.err
    worst, *others = said.json["routes"]
    assert (worst["route"], len(others)) == ("spillway/fp4", 14)
    found = worst["results"]["integrity"]
    rest = found["rest"]
    assert (found["failed"], found["judged"], rest["failed"], rest["judged"]) == (19, 20, 0, 49)
    assert rest["p"] == pytest.approx(4.324067787562369e-16, rel=1e-9)
    assert (found["low"], found["high"]) == (0.751267, 0.998735)
    assert found["kinds"] == {"corrupt_start": 19}
    assert found["precision"]["failed"] == 0 < found["precision"]["judged"]
    assert all(other["results"]["any"]["failed"] == 0 for other in others)
    shown = page.read_text(encoding="utf-8")
    assert "19/20" in shown
    assert shown.count("<article") == 69
    again = here(config, "compare", "--resume", said.json["study"], "--json")
    assert again.json["routes"] == said.json["routes"]
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert not list(store.read(kinds={"round_closed", "suspended"}))  # nothing was decided


def test_one_endpoint_mixes_languages_within_its_precision_class(tmp_path: Path, lab: LabGateway) -> None:
    """3 of 3 against none, also among the hosts of its own class and at the vendor's."""
    said = here(a_folder(tmp_path, lab), "compare", VERSE, "--locale", "pt-BR", "-n", "3", "--json")
    assert said.code == 0, said.err
    worst = said.json["routes"][0]
    assert worst["route"] == "two-tongues/fp8"
    found = worst["results"]["language"]
    assert (found["failed"], found["judged"]) == (3, 3)
    assert found["kinds"] == {"language_mixing": 3}
    for against, judged in (("rest", 21), ("precision", 12), ("official", 3)):
        assert (found[against]["failed"], found[against]["judged"]) == (0, judged), against
    assert found["precision"]["p"] == pytest.approx(1 / 455)


def test_a_killed_study_goes_on_where_it_was(tmp_path: Path, lab: LabGateway) -> None:
    """What has come is kept, nothing is asked twice, and the whole is the planned study."""
    config = a_folder(tmp_path, lab)
    tokens = ("compare", CHAT, "-n", "4", "--config", str(config), "--json")
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        command(*tokens), cwd=tmp_path, env=environment(tmp_path), stdout=silent, stderr=silent
    )
    store_path = tmp_path / "events.sqlite3"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.05)
        if store_path.exists() and kept(store_path, "study_answered") >= 10:
            break
    process.kill()
    process.wait(20)
    before = kept(store_path, "study_answered")
    assert 10 <= before < 60
    with SqliteStore(store_path) as store:
        (begun,) = store.read(kinds={"study_begun"})
        study = str(begun.body["id"])
    said = here(config, "compare", "--resume", study, "--json")
    assert said.code == 0, said.err
    assert said.json["asked"] == said.json["planned"] == 60
    assert kept(store_path, "study_answered") == 60
    turns = [(answer["route"], answer["turn"]) for answer in said.json["answers"]]
    assert len(set(turns)) == 60


def kept(path: Path, kind: str) -> int:
    with SqliteStore(path) as store:
        return store.count(kinds={kind})


def test_the_days_budget_ends_a_study_and_what_came_stays(tmp_path: Path, lab: LabGateway) -> None:
    """It says so, exits 1, and the answers so far are counted; with nothing covered it is refused."""
    said = here(a_folder(tmp_path, lab, budget="0.02"), "compare", CHAT, "-n", "20", "--json")
    assert said.code == 1
    assert said.json["stopped"] == "budget"
    assert 0 < said.json["asked"] < said.json["planned"]
    assert said.json["cost_usd"] <= 0.02
    assert "is not complete" in said.err
    poor = tmp_path / "poor"
    poor.mkdir()
    refused = here(a_folder(poor, lab, budget="0.000001"), "compare", CHAT, "-n", "2", "--json")
    assert refused.code == 2
    assert "does not cover a single asking" in refused.err


def test_an_own_prompt_is_asked_word_for_word(tmp_path: Path, lab: LabGateway) -> None:
    """And a file that breaks a rule is refused before anything is spent."""
    config, prompt = a_folder(tmp_path, lab), tmp_path / "prompt.toml"
    prompt.write_text('prompt = "How do I boil an egg?"\nmax_tokens = 200\n', encoding="utf-8")
    said = here(
        config, "compare", CHAT, "--routes", "acme", "kittiwake", "-n", "2", "--prompt", str(prompt), "--json"
    )
    assert said.code == 0, said.err
    assert (said.json["own_prompt"], said.json["asked"], said.json["locale"]) == (True, 4, None)
    assert {entry.request["messages"][0]["content"] for entry in stored(tmp_path)} == {
        "How do I boil an egg?"
    }
    prompt.write_text('prompts = "x"\n', encoding="utf-8")
    refused = here(config, "compare", CHAT, "-n", "2", "--prompt", str(prompt))
    assert refused.code == 2
    assert f"{prompt}: prompts: unknown key" in refused.err


def stored(folder: Path) -> list:
    with SqliteStore(folder / "events.sqlite3") as store:
        entries = list(store.find(CHAT))  # type: ignore[arg-type]
        found = [store.get(entry.id) for entry in entries]
    return [each.transcript for each in found if each is not None]


def test_an_incident_still_fails_and_its_peer_does_not(tmp_path: Path) -> None:
    """Two rounds suspend the spoiling route; its question, asked again, is still spoiled there alone."""
    with a_lab() as gateway:
        config = tmp_path / "routecanary.toml"
        config.write_text(
            CONFIG.format(base_url=gateway.base_url, model=MODEL, period="30m"), encoding="utf-8"
        )
        for _ in range(2):
            assert ran("round", MODEL, "--config", config, folder=tmp_path).code == 0
        (incident,) = here(config, "incidents", "--json").json
        assert incident["route"] == SPOILED
        said = here(config, "reproduce", str(incident["id"]), "-n", "4", "--json")
        events = here(config, "incidents", "--json").json
    assert said.code == 1, said.err
    document = json.loads(said.out)
    assert document["still_fails"] is True
    assert (document["result"]["failed"], document["result"]["judged"]) == (4, 4)
    assert document["word_for_word"]["judged"] >= 1
    assert document["peer"]["failed"] == 0 < document["peer"]["judged"]
    assert events == [incident]  # nothing was decided by it
    missing = here(config, "reproduce", "999999")
    assert missing.code == 2
    assert "no such incident" in missing.err
