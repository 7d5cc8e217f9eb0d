"""What did a contract conclude, and on what evidence?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from routecanary.domain.names import ContractName


class VerdictKind(StrEnum):
    """The six words of the policy's vocabulary."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    TRANSPORT = "transport"
    ACCOUNT = "account"
    SKIPPED = "skipped"

    @property
    def conclusive(self) -> bool:
        """Say whether this is evidence about the route's quality."""
        return self in (VerdictKind.PASS, VerdictKind.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One contract's conclusion about one transcript (or one settled set of attempts).

    `code` is a word of the cases' lists (`corrupt_start`, `own_limit`, `rate_limit`, …), None for a plain
    pass. `detail` is one sentence with the measured number or the passage, safe to print, without secrets.
    """

    contract: ContractName
    kind: VerdictKind
    code: str | None = None
    detail: str = ""
    version: int = 1  # of the judge

    def __str__(self) -> str:
        return self.kind.value if self.code is None else f"{self.kind.value}:{self.code}"
