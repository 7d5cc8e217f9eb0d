"""`reproduce`: an incident's question asked again, of hosts that still fail, are mended, busy or gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import ModelId
from routecanary.domain.probe import ProbeKind
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import Scenario, scenario_from_toml
from tests.commandline import (
    MODEL,
    SCENARIO,
    SPOILED,
    Ran,
    a_config,
    a_lab,
    a_scenario,
    called,
    environment,
    fingerprint,
)
from tests.system.test_cli_documented import undocumented

FAULT = 'fault = "spoiled_start"'


@dataclass(frozen=True, kw_only=True)
class Suspended:
    """A store in which two rounds suspended the spoiling route."""

    folder: Path
    incident: int

    def call(self, *tokens: str, lab: LabGateway | None = None) -> Ran:
        """Call a command on this store, with another gateway where one is given."""
        config = self.folder / "routecanary.toml"
        if lab is not None:
            config = a_config(self.folder, lab.base_url)
        return called(*tokens, "--config", str(config), environ=environment(self.folder))

    def transcripts(self) -> list[Any]:
        with SqliteStore(self.folder / "events.sqlite3") as store:
            kept = [store.get(entry.id) for entry in store.find(ModelId(MODEL))]
        return [each.transcript for each in kept if each is not None]


@pytest.fixture
def suspended(tmp_path: Path) -> Suspended:
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url)
        environ = environment(tmp_path)
        for _ in range(2):
            assert called("round", MODEL, "--config", config, environ=environ).code == 0
        (incident,) = called("incidents", "--config", config, "--json", environ=environ).json
    return Suspended(folder=tmp_path, incident=incident["id"])


def a_scenario_with(old: str, new: str) -> Scenario:
    assert old in SCENARIO
    return scenario_from_toml(SCENARIO.replace(old, new), "trial")


def told(ran: Ran) -> Any:
    assert ran.out, ran.err
    return ran.json


def test_it_still_fails_word_for_word_and_otherwise(suspended: Suspended) -> None:
    """Half of the askings repeat prompts of the evidence to the letter; a peer passes; exit code 1."""
    evidence = {each.request["messages"][0]["content"] for each in suspended.transcripts()}
    with a_lab(a_scenario()) as lab:
        said = suspended.call("reproduce", str(suspended.incident), "-n", "6", "--json", lab=lab)
        served = [each for each in lab.ledger if each.route == SPOILED]
    sent = [each.body["messages"][0]["content"] for each in served]
    assert said.code == 1
    document = told(said)
    assert (document["still_fails"], document["complete"], document["stopped"]) == (True, True, None)
    assert (document["model"], document["route"]) == (MODEL, SPOILED)
    assert document["result"]["judged"] == document["peer"]["judged"] == 6
    assert document["result"]["failed"] > document["peer"]["failed"] == 0
    assert document["word_for_word"]["judged"] == 3
    assert [prompt in evidence for prompt in sent] == [True, True, True, False, False, False]
    assert len(set(sent)) == 6
    assert {each.kind for each in served[:3]} >= {ProbeKind.CHAT, ProbeKind.STRUCTURED}  # each has its turn


def test_nothing_is_decided_and_the_story_stays_what_it_was(suspended: Suspended) -> None:
    """Neither what a caller ignores, nor the incident with its rounds and attempts, nor the last faults."""
    looks = [
        ["incidents", "show", str(suspended.incident)],
        ["ignore", MODEL],
        ["routes", MODEL],
        ["incidents", "--summary"],
    ]

    def seen() -> list[Any]:
        documents = [told(suspended.call(*look, "--json")) for look in looks]
        documents[0].pop("events")  # money that was set aside is told there
        return documents

    before, snapshot = seen(), fingerprint(suspended.folder / "snapshot.json")
    with a_lab(a_scenario()) as lab:
        assert suspended.call("reproduce", str(suspended.incident), "-n", "2", lab=lab).code == 1
    assert seen() == before
    assert fingerprint(suspended.folder / "snapshot.json") == snapshot


def test_a_mended_host_fails_no_more(suspended: Suspended) -> None:
    """Exit code 0, with the interval that so few answers allow."""
    with a_lab(a_scenario_with("probability = 1.0", "probability = 0.0")) as lab:
        said = suspended.call("reproduce", str(suspended.incident), lab=lab)
    assert said.code == 0, said.err
    first = said.out.splitlines()[0]
    assert first.startswith(f"incident {suspended.incident}: {SPOILED}, {MODEL}, integrity, structured: ")
    assert "fails no more: 0/10 (0.0 % to 30.8 %)" in first


def test_an_overloaded_host_proves_nothing(suspended: Suspended) -> None:
    """No answer could be judged: exit code 3, and no word about its quality."""
    with a_lab(a_scenario_with(FAULT, 'fault = "rate_limit_shared_pool"')) as lab:
        said = suspended.call("reproduce", str(suspended.incident), "-n", "2", "--json", lab=lab)
        shown = suspended.call("reproduce", str(suspended.incident), "-n", "2", lab=lab)
    assert (said.code, shown.code) == (3, 3)
    document = told(said)
    assert document["still_fails"] is None
    assert document["result"]["share"] is None
    assert document["result"]["not_judged"] == {"transport": 2}
    assert "could not be told; no answer could be judged (2 transport)" in shown.out


def test_a_host_that_is_gone_cannot_be_asked(suspended: Suspended) -> None:
    """Exit code 2, with the routes that there are."""
    with a_lab(a_scenario_with(f'tag = "{SPOILED}"', 'tag = "renamed"')) as lab:
        said = suspended.call("reproduce", str(suspended.incident), lab=lab)
    assert said.code == 2
    assert f"not a route of this model now (got '{SPOILED}'); allowed: acme, cindermoor" in said.err


def test_evidence_that_retention_has_deleted_is_missed_in_words(suspended: Suspended) -> None:
    """The question is not known any more: exit code 2, and nothing is asked."""
    later = datetime.now(UTC) + timedelta(days=400)
    with SqliteStore(suspended.folder / "events.sqlite3") as store:
        assert sum(store.prune_transcripts(later, later, at=later, limit=500))
    with a_lab(a_scenario()) as lab:
        said = suspended.call("reproduce", str(suspended.incident), lab=lab)
        assert len(lab.ledger) == 0
    assert said.code == 2
    assert "none of its failing transcripts is kept any more" in said.err
    assert "store.keep_failures" in said.err


def test_what_is_no_incident_or_no_number_is_refused(suspended: Suspended) -> None:
    """Before anything is asked of anybody."""
    assert "no such incident (got 0)" in suspended.call("reproduce", "0").err
    for n in ("0", "1001"):
        said = suspended.call("reproduce", str(suspended.incident), "-n", n)
        assert said.code == 2
        assert "allowed: 1 to 1000" in said.err


def test_every_key_is_documented(suspended: Suspended) -> None:
    """As printed with --json."""
    with a_lab(a_scenario()) as lab:
        said = suspended.call("reproduce", str(suspended.incident), "-n", "2", "--json", lab=lab)
    names = frozenset(
        {"latency", "filtering", "structured", "language", "integrity", "inconclusive", "transport"}
        | set(told(said)["result"]["kinds"])
        | {"verdict", "reason", "kind"}  # of a verdict, as everywhere
    )
    assert not undocumented("reproduce", told(said), named=names | ANSWER)


ANSWER = frozenset({"turn", "at", "transcript", "first_text_ms", "unseen_ms", "verdicts"})
"""Keys of an answer, which the section of `compare` names."""
