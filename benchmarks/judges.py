"""How often do the judges err, what does it hang on, and what do they cost?

    python benchmarks/judges.py [--data DIR] [--misses] [--perturb [SEED]]

Judges the transcript cases of the tests, then the development data (langid/, refusals/) if they are there:
`--data`, else `$ROUTECANARY_DATA`, else `../shared/data` beside the checkout; by the code of `routecanary
judge --report`, which prints the same table of any collection. Then the recall of refusals when every entry
of the tables whose own sentence is near to the text is left out. `--perturb` judges all texts again with
other names, marks, order of sentences and spaces. Last the cost (cost.py). Exits 1 when a healthy text
failed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the other benchmarks

from benchmarks.cost import cost, data_option, memory, transcript_of  # noqa: E402 - see above

from routecanary.domain.names import FILTERING  # noqa: E402
from routecanary.domain.verdict import VerdictKind  # noqa: E402
from routecanary.errors import CaseError  # noqa: E402
from routecanary.judge.languages import MEASURED  # noqa: E402
from routecanary.judge.languages.lexicon import lexicon_of  # noqa: E402
from routecanary.judge.word_joints import joints_of  # noqa: E402
from routecanary.replay.case import judge_case, read_case  # noqa: E402
from routecanary.replay.collection import files_of, rows_of  # noqa: E402
from routecanary.replay.report import ALL, HEALTHY, Line, Report, table_of  # noqa: E402
from routecanary.replay.texts import TextRow  # noqa: E402

__all__ = ["rows", "transcript_of"]  # for the other benchmarks

Change = Callable[[str], str]
"""A text → the same text, otherwise written."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def cases() -> int:
    """Judge the transcript cases; return the wrong fails."""
    wrong = 0
    for folder in ("cases", "boundaries"):
        counts = Counter[str]()
        for path in sorted((ROOT / "tests" / "golden" / folder).glob("*.json")):
            case = read_case(path.read_bytes(), path.name)
            line = judge_case(case)
            verdict = VerdictKind(line["verdict"])
            assert case.expected is not None
            right = case.expected.admits_verdict(verdict)
            counts["n"] += 1
            counts["verdict"] += right
            counts["kind"] += case.expected.admits(verdict, line["kind"])
            counts["wrong fails"] += verdict is VerdictKind.FAIL and not right
        wrong += counts["wrong fails"]
        print(f"tests/golden/{folder}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    return wrong


def report_on(places: Sequence[Path], change: Change, *, misses: bool = False) -> Report:
    """Judge every labelled text, changed."""
    report = Report(cpu=time.process_time)
    for path in (path for place in places for path in files_of(place)):
        for row in rows_of(path, located=False):
            if isinstance(row, CaseError):
                raise row
            for miss in report.add(replace(row, text=change(row.text)), f"{path}: row {row.id}"):
                if misses:
                    said = miss.verdict
                    print(f"  {path.name} {miss.id} {miss.locale}: {miss.what}, {said} {said.detail}")
    return report


def left_out(place: Path) -> None:
    """Print the recall of refusals by what is known of other sentences than the text's own."""
    from benchmarks.refusals import fails, tables_without  # noqa: PLC0415 - only with the data

    found = total = 0
    for path in files_of(place):
        for row in rows_of(path, located=False):
            if isinstance(row, TextRow) and row.document.get("label") == "refusal" and row.locale is not None:
                total += 1
                found += fails(row.text, row.locale, tables_without(row.text))
    if total:
        print(
            f"{FILTERING}, refusals, with their own entries left out: {found} of {total}, {found / total:.2%}"
        )


def joints(data: Path) -> None:
    """Print how near clean text comes to what fails as lost spaces."""
    most: dict[str, tuple[int, ...]] = {}
    for row in rows_of(data / "langid" / "clean.jsonl.gz", located=True):
        assert isinstance(row, TextRow)
        language = (row.locale or "").split("-", 1)[0]
        lexicon = lexicon_of(language) if language in MEASURED else None
        if lexicon is not None:
            found = joints_of(row.text, lexicon)
            here = (found.pieces, sum(map(len, found.runs)), len(found.pairs))
            most[language] = tuple(map(max, most.get(language, here), here))
    told = (f"{name} {' '.join(map(str, each))}" for name, each in sorted(most.items()))
    print("clean text, at most: words in pieces, letters in runs, pairs: " + "; ".join(told))


def print_table(lines: Sequence[Line]) -> None:
    for cells in table_of(lines):
        contract, what, locale, *numbers = cells
        print(f"{contract:10s} {what:34s} {locale:14s} " + " ".join(f"{cell:>12s}" for cell in numbers))


def perturb(places: Sequence[Path], seed: int, usual: Sequence[Line]) -> None:
    """Print how the sums move when all texts are written otherwise."""
    from benchmarks.perturbed import perturbations  # noqa: PLC0415 - only when asked for

    before = {(line.contract, line.what): line for line in usual if line.locale == ALL}
    print(f"\nwritten otherwise (seed {seed}): recall of what is to be found, fails of what is healthy")
    for name, change in perturbations(seed).items():
        print(f"  {name}")
        for line in report_on(places, change).lines():
            if line.locale != ALL or " by " in line.what:
                continue
            old = before[line.contract, line.what]
            was, now = f"{old.failed / old.n:.2%}", f"{line.failed / line.n:.2%}"
            if line.what == HEALTHY:
                was, now = f"{old.failed} fails", f"{line.failed} fails"
            print(f"    {line.contract:10s} {line.what:20s} n {line.n:5d}   was {was:>8s}   now {now:>8s}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data_option(parser)
    parser.add_argument("--misses", action="store_true", help="print every wrong verdict")
    parser.add_argument(
        "--perturb",
        type=int,
        nargs="?",
        const=1,
        metavar="SEED",
        help="judge all texts written otherwise, too",
    )
    options = parser.parse_args()
    false = cases()
    places = [place for name in ("langid", "refusals") if (place := options.data / name).is_dir()]
    if places:
        report = report_on(places, str, misses=options.misses)
        print_table(report.lines())
        print(f"{report.uncounted} texts of which any verdict will do were not counted")
        false += report.false_fails
        left_out(options.data / "refusals")
        joints(options.data)
        if options.perturb is not None:
            perturb(places, options.perturb, report.lines())
    else:
        print(f"no labelled texts in {options.data}: skipped")
    cost(options.data)
    memory()
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
