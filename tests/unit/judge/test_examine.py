"""Examining one transcript: which contracts speak, and what a crash of ours is worth."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import pytest

from routecanary.domain.answer import Answer, read_answer
from routecanary.domain.names import CONTRACT_NAMES, INTEGRITY, LATENCY, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.contract import printable
from routecanary.judge.examine import judge_answer, judge_transcript
from routecanary.judge.registry import CONTRACTS
from routecanary.judge.settings import Settings
from tests.answers import a_document, a_stream


def test_registry_names_every_contract_once():
    """Stable names, a version, an even number of confirmations."""
    assert sorted(contract.name for contract in CONTRACTS) == sorted(CONTRACT_NAMES)
    assert all(contract.version >= 1 and contract.confirmations % 2 == 0 for contract in CONTRACTS)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (ProbeKind.CHAT, {"latency", "language", "integrity"}),
        (ProbeKind.FILTER, {"filtering", "integrity"}),
        (ProbeKind.STRUCTURED, {"structured", "integrity"}),
        (ProbeKind.ANY, {"latency", "filtering", "language", "integrity"}),
    ],
)
def test_each_probe_feeds_its_contracts(kind: ProbeKind, names: set[str]):
    """policy.md §1."""
    assert set(judge_transcript(a_stream("A fig.", kind=kind))) == names


def test_confirmation_is_judged_only_by_what_failed():
    """`only` narrows, triage included."""
    assert set(judge_transcript(a_stream("A fig."), only=frozenset({LATENCY}))) == {LATENCY}
    refused = a_document({"error": {"code": 503}}, status=503)
    assert set(judge_transcript(refused, only=frozenset({INTEGRITY}))) == {INTEGRITY}


def test_verdicts_carry_the_judges_version():
    """A stored verdict says who gave it."""
    versions = {contract.name: contract.version for contract in CONTRACTS}
    found = judge_transcript(a_stream("A fig."))
    assert {name: verdict.version for name, verdict in found.items()} == {
        name: versions[name] for name in found
    }


@dataclass(frozen=True)
class Broken:
    """A contract with a bug."""

    name: ContractName = INTEGRITY
    version: int = 7
    confirmations: int = 2

    def applies_to(self, transcript: Transcript) -> bool:
        return True

    def judge(self, answer: Answer) -> Verdict:
        raise ZeroDivisionError


def test_crash_of_a_judge_is_our_bug(caplog: pytest.LogCaptureFixture):
    """Inconclusive and an alert, never a fail."""
    with caplog.at_level(logging.ERROR):
        found = judge_answer(read_answer(a_stream("A fig.")), Settings(), (Broken(),))
    assert str(found[INTEGRITY]) == "inconclusive:judge_crashed"
    assert "judge crashed" in caplog.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\nb\x1b[31m", "a\\nb\\x1b[31m"), ("\ud83d", "\\ud83d"), ("é€", "é€"), ("x" * 400, "x" * 299 + "…")],
)
def test_details_are_safe_to_print(text: str, shown: str):
    """One line, bounded, no controls, no lone surrogates."""
    assert printable(text) == shown
    printable(text).encode()
