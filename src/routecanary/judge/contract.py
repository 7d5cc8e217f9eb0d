"""What is a contract, and how does it say what it found?"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from routecanary.domain.answer import Answer
from routecanary.domain.names import ContractName
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind

_MAX_DETAIL = 300  # characters


class Contract(Protocol):
    """A pure judge of an answer: deterministic, local, versioned; it may always be unsure.

    `version` changes whenever a verdict may change, so that stored verdicts say who gave them.
    `confirmations` is how many further attempts a first `fail` asks for, an even number (policy.md §1).
    """

    @property
    def name(self) -> ContractName: ...

    @property
    def version(self) -> int: ...

    @property
    def confirmations(self) -> int: ...

    def applies_to(self, transcript: Transcript) -> bool:
        """Say whether this transcript was asked a question that this contract is about."""

    def judge(self, answer: Answer) -> Verdict:
        """Judge an answer that triage has let through."""


class Finding(NamedTuple):
    """One observation of a judge, before the contract puts its name to it."""

    kind: VerdictKind
    code: str | None = None
    detail: str = ""

    def by(self, contract: Contract) -> Verdict:
        """Sign the finding."""
        return Verdict(
            contract=contract.name,
            kind=self.kind,
            code=self.code,
            detail=printable(self.detail),
            version=contract.version,
        )


def passed(detail: str = "") -> Finding:
    return Finding(VerdictKind.PASS, None, detail)


def fail(code: str, detail: str) -> Finding:
    return Finding(VerdictKind.FAIL, code, detail)


def unsure(code: str, detail: str) -> Finding:
    return Finding(VerdictKind.INCONCLUSIVE, code, detail)


def printable(text: str) -> str:
    """Make a passage of model output safe to print: one line, bounded, no controls or lone surrogates."""
    if len(text) > _MAX_DETAIL:
        text = text[: _MAX_DETAIL - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


def excerpt(text: str, start: int = 0, length: int = 40) -> str:
    """Quote a few characters around a place."""
    begin = max(0, start - 8)
    return repr(text[begin : begin + length])
