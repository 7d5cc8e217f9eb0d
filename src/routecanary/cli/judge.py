"""`routecanary judge`: what do the contracts say of stored transcripts?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.judge_report import judge_report
from routecanary.cli.judge_texts import judge_texts
from routecanary.cli.output import complain, say_json, say_table
from routecanary.errors import CaseError
from routecanary.replay.case import MAX_CASE_BYTES, judge_case, read_case


def judge(
    *files: Path,
    texts: Path | None = None,
    contract: str | None = None,
    report: Path | None = None,
    misses: bool = False,
    stored: bool = False,
    since: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Judge transcripts: case files, one object each; or bare texts, one a line; or what the store keeps.

    What is no case, or no text, prints one error on standard error; the others are judged, and the exit code
    is then 2.

    Parameters
    ----------
    files
        Case files. Their shape: tests/golden/cases/README.md.
    texts
        Judge the lines of this file instead: JSON objects with `id`, `text` and `locale` (or `lang`);
        compressed where the name ends in `.gz`. Each text stands for a whole healthy answer.
    contract
        The contract that judges them: latency, filtering, structured, language or integrity.
    report
        Say how well the judges judge the labelled texts of this file, or of this folder's files: lines as
        above, with `expect` or `label`. Exit code 1 when a healthy text was failed.
    misses
        With it, list the wrong verdicts, too.
    stored
        Judge what the store keeps, and print the verdicts that would be others today; nothing is changed.
    since
        Only what was asked from then on, such as 30d or 2026-01-05T00:00:00Z; left out, all.
    config
        The configuration file that names the store.
    json
        Print one JSON line a case, a text, a changed verdict, or a line of the counts.
    """
    ways = [
        *map(str, files[:1]),
        *(f"--{name}" for name, given in (("texts", texts), ("report", report)) if given is not None),
        *(["--stored"] if stored else []),
    ]
    if len(ways) > 1:
        raise CaseError(f"{' and '.join(ways)} do not go together")
    if contract is not None and texts is None:
        raise CaseError("only --texts takes it", key="--contract", value=contract)
    if misses and report is None:
        raise CaseError("only --report takes it", key="--misses")
    for name, given in (("--since", since), ("--config", config)):
        if given is not None and not stored:
            raise CaseError("only --stored takes it", key=name, value=str(given))
    if stored:
        # the store and its configuration need libraries that no other way through here does
        from routecanary.cli.judge_stored import judge_stored  # noqa: PLC0415

        return judge_stored(since=since, config=config, json=json)
    if texts is not None:
        return judge_texts(texts, contract, json=json)
    if report is not None:
        return judge_report(report, misses=misses, json=json)
    if not files:
        raise CaseError("no case file is named", allowed="routecanary judge FILE...")
    code = ExitCode.OK
    lines: list[dict[str, Any]] = []
    for path in files:
        try:
            line = judge_case(read_case(_content(path), str(path)))
        except CaseError as error:
            complain(str(error))
            code = ExitCode.BAD_INPUT
            continue
        if json:
            say_json(line)
        else:
            lines.append(line)
    if lines:
        say_table(("case", "verdict", "kind", "why"), [_row(line) for line in lines])
    return code


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_CASE_BYTES + 1)
    except OSError as error:
        raise CaseError(f"cannot be read: {error.strerror or error}", place=str(path)) from None


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    reasons = [
        f"{name}: {said['reason']}"
        for name, said in line["contracts"].items()
        if said["verdict"] == line["verdict"] and said["kind"] == line["kind"] and said["reason"]
    ]
    return line["id"], line["verdict"], line["kind"] or "", "; ".join(reasons[:1])
