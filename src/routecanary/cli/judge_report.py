"""`routecanary judge --report`: how well do the judges judge a labelled collection?"""

from __future__ import annotations

from pathlib import Path
from time import process_time

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say, say_json, say_table
from routecanary.errors import CaseError
from routecanary.replay.collection import files_of, rows_of
from routecanary.replay.report import Miss, Report, table_of


def judge_report(place: Path, *, misses: bool, json: bool) -> int:
    """Judge every labelled text, and print the counts; with `misses` each wrong verdict as it is met.

    Raises:
        CaseError: A file cannot be read.
    """
    report, code = Report(cpu=process_time), ExitCode.OK
    for path in files_of(place):
        for row in rows_of(path, located=False):
            try:
                if isinstance(row, CaseError):
                    raise row
                for miss in report.add(row, f"{path}: row {row.id}"):
                    if misses:
                        _say(miss, path, json=json)
            except CaseError as error:
                complain(str(error))
                code = ExitCode.BAD_INPUT
    lines = report.lines()
    if json:
        for line in lines:
            say_json({"line": "counts", **line.document()})
        say_json({"line": "uncounted", "n": report.uncounted})
    else:
        heads, *rows = table_of(lines)
        say_table(heads, rows)
        say(f"{report.uncounted} texts of which any verdict will do were not counted")
    if code is ExitCode.OK and report.false_fails:
        return ExitCode.FINDING
    return code


def _say(miss: Miss, path: Path, *, json: bool) -> None:
    said = miss.verdict
    if json:
        say_json(
            {
                "line": "miss",
                "file": path.name,
                "id": miss.id,
                "contract": miss.contract,
                "what": miss.what,
                "locale": miss.locale,
                "verdict": said.kind.value,
                "kind": said.code,
                "reason": said.detail,
            }
        )
    else:
        which = f"{path.name} {miss.id} {miss.locale or '-'}"
        say(f"{which}: {miss.what}, {miss.contract} says {said} {said.detail}")
