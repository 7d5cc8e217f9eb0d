"""`routecanary judge --texts`: what does one contract say of a collection of bare texts?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say, say_json
from routecanary.domain.names import CONTRACT_NAMES, LANGUAGE, ContractName
from routecanary.errors import CaseError
from routecanary.replay.collection import rows_of
from routecanary.replay.texts import TextRow, judge_text


def judge_texts(path: Path, contract: str | None, *, json: bool) -> int:
    """Judge a collection line by line, and print each verdict before the next line is read.

    Raises:
        CaseError: No such contract; or the file cannot be read, or no further.
    """
    name = contract_named(contract)
    code = ExitCode.OK
    for row in rows_of(path, located=name == LANGUAGE):
        if isinstance(row, TextRow):
            _say(_line(row, name), json=json)
        else:
            complain(str(row))
            code = ExitCode.BAD_INPUT
    return code


def contract_named(contract: str | None) -> ContractName:
    """Read the name of a contract.

    Raises:
        CaseError: It is none of the five, or missing.
    """
    allowed = ", ".join(CONTRACT_NAMES)
    if contract is None:
        raise CaseError("--texts needs a contract", key="--contract", allowed=allowed)
    if contract not in CONTRACT_NAMES:
        raise CaseError("no such contract", key="--contract", value=contract, allowed=allowed)
    return ContractName(contract)


def _line(row: TextRow, contract: ContractName) -> dict[str, Any]:
    verdict = judge_text(row.text, contract, row.locale)
    if verdict is None:
        return {"id": row.id, "verdict": "skipped", "kind": None, "reason": f"{contract} does not apply"}
    return {"id": row.id, "verdict": verdict.kind.value, "kind": verdict.code, "reason": verdict.detail}


def _say(line: dict[str, Any], *, json: bool) -> None:
    if json:
        say_json(line)
    else:
        said = f"{line['verdict']}:{line['kind']}" if line["kind"] else line["verdict"]
        say(f"{line['id']}  {said}  {line['reason']}".rstrip())
