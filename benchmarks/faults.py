"""Which contract sees which fault of the lab, and does any fail a healthy answer?

    python benchmarks/faults.py [--faults NAME,...] [--seeds N] [--healthy N] [--show N] [--markdown]

Each fault strikes one answer a seed and kind of probe, in all shipped locales and scenes by turns, in each of
its ways; the real judges judge. Faults of the wire are asked over real HTTP by the real client, the others
without a socket. Printed for each fault: how many answers it struck, how many of those were seen by whoever
should see it (of those that a contract of these judged at all), which contracts failed them, and by which
verdicts.

Exits 1 when a contract failed a healthy answer, or one whose fault no contract may fail. The matrix itself is
tests/matrix.py; a census of a few seeds is part of `make test`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.matrix import KINDS, Outcome, healthy, is_seen, strike

from routecanary.domain.kinds import CASE_KINDS
from routecanary.domain.names import CONTRACT_NAMES
from routecanary.domain.verdict import VerdictKind
from routecanary.lab.fault import TRIAGE, UNSEEN, Fault
from routecanary.lab.faults import FAULT_NAMED, FAULTS


@dataclass
class Tally:
    """What became of one fault's answers."""

    fault: Fault
    struck: int = 0
    judged: Counter[str] = field(default_factory=Counter)  # by kind of probe, where somebody could see it
    seen: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)  # by contract that judged
    failed: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)  # verdicts of those who should see it, best first
    missed: list[Outcome] = field(default_factory=list)
    wronged: list[Outcome] = field(default_factory=list)  # failed where nobody may fail

    def add(self, outcome: Outcome) -> None:
        self.struck += 1
        shown = is_seen(self.fault, outcome)
        if shown is not None:
            self.judged[outcome.probe.kind] += 1
            self.seen[outcome.probe.kind] += shown
        if shown is False:
            self.missed.append(outcome)
        for name, verdict in outcome.verdicts.items():
            self.asked[name] += 1
            self.failed[name] += verdict.kind is VerdictKind.FAIL
        if shown:
            self.said[self._telling(outcome)] += 1
        if outcome.failed and {TRIAGE, UNSEEN} & set(self.fault.seen_by):
            self.wronged.append(outcome)

    def _telling(self, outcome: Outcome) -> str:
        """Name the verdict that shows the fault: of those given, the one that its row lists first."""
        given = {str(verdict) for verdict in outcome.verdicts.values()}
        return next((verdict for verdict in self.fault.gives if verdict in given), "pass")

    @property
    def recall(self) -> float | None:
        total = self.judged.total()
        return self.seen.total() / total if total else None


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def per_probe(tally: Tally) -> str:
    return " · ".join(
        percent(tally.seen[kind] / tally.judged[kind]) if tally.judged[kind] else "–" for kind in KINDS
    )


def failed_by(tally: Tally) -> str:
    shares = ((name, tally.failed[name], tally.asked[name]) for name in CONTRACT_NAMES)
    return (
        ", ".join(f"{name} {percent(failed / asked)}" for name, failed, asked in shares if failed) or "none"
    )


def said(tally: Tally) -> str:
    return ", ".join(f"{verdict} {count}" for verdict, count in tally.said.most_common())


def rows(tallies: Sequence[Tally]) -> Iterator[tuple[str, ...]]:
    """State what became of each fault; who should see it stands in docs/lab.md."""
    yield "fault", "struck", "seen", "chat · filter · structured", "failed by", "as"
    for tally in tallies:
        yield (
            tally.fault.name,
            str(tally.struck),
            percent(tally.recall),
            per_probe(tally),
            failed_by(tally),
            said(tally),
        )


def kind_rows(tallies: Sequence[Tally]) -> Iterator[tuple[str, ...]]:
    """Fold the tallies by the kind of verdict that a fault leads to first."""
    by_kind: dict[str, list[Tally]] = defaultdict(list)
    for tally in tallies:
        by_kind[tally.fault.gives[0]].append(tally)
    yield "kind", "faults", "struck", "seen", "under this name"
    for verdict, kinds in CASE_KINDS.items():
        for kind in kinds:
            name = f"{verdict}:{kind}"
            of = [tally for tally in by_kind.get(name, []) if UNSEEN not in tally.fault.seen_by]
            judged = sum(tally.judged.total() for tally in of)
            if judged:
                found = sum(tally.seen.total() for tally in of) / judged
                named = sum(tally.said[name] for tally in of) / judged
                faults = ", ".join(tally.fault.name for tally in of)
                yield name, faults, str(judged), percent(found), percent(named)


def show(table: Iterator[tuple[str, ...]], *, markdown: bool) -> None:
    lines = list(table)
    if markdown:
        head, *rest = lines
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for line in rest:
            print(f"| `{line[0]}` | {' | '.join(line[1:])} |")
        return
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def told(outcome: Outcome) -> str:
    verdicts = ", ".join(f"{name} {verdict}" for name, verdict in outcome.verdicts.items())
    probe = outcome.probe
    name = f"{outcome.fault or 'healthy'} {outcome.way}".strip()
    return f"{name}, {probe.kind} {probe.locale} {probe.scene.id}, seed {outcome.seed}: {verdicts}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--faults", default="", help="only these, by name, parted by commas")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--healthy", type=int, default=3_000, help="healthy answers judged")
    parser.add_argument("--show", type=int, default=0, help="print so many unseen answers of each fault")
    parser.add_argument("--markdown", action="store_true", help="print the tables as docs/judges.md has them")
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    wanted = [FAULT_NAMED[name] for name in chosen.faults.split(",") if name] or FAULTS
    began, tallies = time.monotonic(), list[Tally]()
    for fault in wanted:
        tally = Tally(fault)
        for outcome in strike(fault, range(chosen.seeds)):
            tally.add(outcome)
        tallies.append(tally)
    show(rows(tallies), markdown=chosen.markdown)
    print()
    show(kind_rows(tallies), markdown=chosen.markdown)
    for tally in tallies:
        for outcome in tally.missed[: chosen.show]:
            print(f"unseen: {told(outcome)}")
    wronged = [outcome for tally in tallies for outcome in tally.wronged]
    doubts: Counter[str] = Counter()
    false: list[Outcome] = []
    for outcome in healthy(chosen.healthy):
        doubts.update(
            f"{name} {verdict}" for name, verdict in outcome.verdicts.items() if str(verdict) != "pass"
        )
        false += [outcome] if outcome.failed else []
    struck = sum(tally.struck for tally in tallies)
    print(f"\n{len(tallies)} faults, {struck} answers struck; {chosen.healthy} healthy answers")
    print(f"failed by a contract: healthy {len(false)}, faults that nobody may fail {len(wronged)}")
    print(f"healthy, not passed: {', '.join(f'{what} {n}' for what, n in doubts.most_common()) or 'none'}")
    for outcome in (*false, *wronged):
        print(f"FALSE FAIL: {told(outcome)}")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return 1 if false or wronged else 0


if __name__ == "__main__":
    sys.exit(main())
