"""docs/notices.md says what is sent: every kind, every field, and how to verify it."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from inspect import getsource
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.notify import command, webhook
from routecanary.adapters.notify.signature import signature
from routecanary.domain.log import EMPTY_LOG
from routecanary.domain.notice import NoticeKind, Phase, Severity
from routecanary.domain.secret import Secret
from routecanary.rounds import conditions, notices
from routecanary.rounds.messages import message_to_json, messages_of
from routecanary.rounds.wording import WORDINGS, notice
from tests.receivers import SECRET
from tests.story import START

PAGE = (Path(__file__).parents[3] / "docs" / "notices.md").read_text(encoding="utf-8")
KINDS = {
    cells[0]: cells[1:]
    for cells in re.findall(
        r"^\| `(\w+)` \| (\w+) \| (opened|continued|closed|once) \| (.*?) ?\| (.*?) ?\|$", PAGE, re.MULTILINE
    )
}


def test_every_kind_is_documented() -> None:
    """In the order of the enumeration, with its severity."""
    assert list(KINDS) == [kind.value for kind in NoticeKind]
    for kind, wording in WORDINGS.items():
        assert KINDS[kind][0] == wording.severity.value, kind


def test_every_condition_opens_and_closes() -> None:
    """Whatever the table opens it also closes, and only what is open goes on."""
    by_phase: dict[str, set[str]] = {phase.value: set() for phase in Phase}
    for _, phase, condition, _ in KINDS.values():
        by_phase[phase].add(condition)
    assert by_phase["opened"] == by_phase["closed"] >= by_phase["continued"]
    assert by_phase["once"] == {""}


def test_every_fact_is_documented_and_no_other() -> None:
    """The names of facts are those that the sources write."""
    written = {"since", "contracts", "mode"}  # by conditions, of every end; by every notice; by a switch
    for node in ast.walk(ast.parse(getsource(notices))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_facts":
            written |= {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    documented = {fact for *_, facts in KINDS.values() for fact in re.findall(r"`(\w+)`", facts)}
    assert documented == written
    for _, phase, _, facts in KINDS.values():
        assert ("`since`" in facts) == (phase == "closed")


def test_every_sentence_uses_facts_of_its_kind() -> None:
    """A sentence that asked for a fact that its kind never has would show a question mark."""
    for kind, wording in WORDINGS.items():
        used = set(re.findall(r"\{(\w+)\}", wording.sentence)) - {"route"}
        assert used <= set(re.findall(r"`(\w+)`", KINDS[kind][3])), kind


def test_every_field_is_documented() -> None:
    """Those of a message and those of a notice, in their order."""
    told = notice(NoticeKind.CAPACITY_LOW, Phase.OPENED, at=START, model=None, facts={}, condition="capacity")
    (message,) = messages_of([told], after=EMPTY_LOG, sequence=1)
    document = message_to_json(message)
    tables = PAGE[PAGE.index("## A message, field by field") : PAGE.index("## Kinds")]
    rows = re.findall(r"^\| `(\w+)` \|", tables, re.MULTILINE)
    assert rows == [*document, *document["notices"][0]]


def test_every_severity_and_phase_is_explained() -> None:
    """The words of the two enumerations stand in the tables of fields."""
    for word in (*Severity, *Phase):
        assert f"`{word.value}`" in PAGE


def test_headers_and_variables_are_documented() -> None:
    """What a receiver looks for is what is sent."""
    for name in (webhook.SIGNATURE, webhook.TIMESTAMP, webhook.IDEMPOTENCY_KEY, "Content-Type"):
        assert f"| `{name}` |" in PAGE
    assert f"`{command.IDEMPOTENCY_KEY}`" in PAGE
    for variable in command.PASSED_ON:
        assert f"`{variable}`" in PAGE or variable.startswith(("LANG", "LC_"))


def test_what_ends_by_silence_is_documented() -> None:
    """Each such condition has its row."""
    table = PAGE[PAGE.index("| condition | over when") : PAGE.index("`round_crashed` and `clock` are over")]
    rows = re.findall(r"^\| (`[\w:]+`) \|", table, re.MULTILINE)
    assert rows == [KINDS[kind][2] for kind in conditions._ENDED_BY_SILENCE]


@pytest.fixture
def is_genuine() -> Callable[..., bool]:
    """Take the receiver's check out of the page, as a reader would."""
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope: dict[str, Any] = {}
    exec(snippet, scope)
    found: Callable[..., bool] = scope["is_genuine"]
    return found


def signed(body: bytes, *, at: float, secret: str = SECRET) -> dict[str, str]:
    timestamp = str(int(at))
    return {
        "Routecanary-Timestamp": timestamp,
        "Routecanary-Signature": signature(Secret(secret), timestamp, body),
    }


def test_the_documented_check_tells_ours_from_others(is_genuine: Callable[..., bool]) -> None:
    """It believes what is ours and of now, and neither a changed body nor another secret nor an old time."""
    now, body = time.time(), '{"text":"é"}'.encode()
    ours = signed(body, at=now)
    assert is_genuine(SECRET, ours, body)
    assert not is_genuine(SECRET, ours, body + b" ")
    assert not is_genuine(SECRET, signed(body, at=now, secret="x" * 20), body)
    assert not is_genuine(SECRET, signed(body, at=now - 3600), body)
    moved = ours | {"Routecanary-Timestamp": str(int(now) + 1)}
    assert not is_genuine(SECRET, moved, body)
    assert not is_genuine(SECRET, ours | {"Routecanary-Timestamp": "-1"}, body)
