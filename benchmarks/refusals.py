"""How well are refusals told from everything else, and by how much does that hang on the sentences we know?

    python benchmarks/refusals.py [--data DIR] [--misses LOCALE]

Reads refusals/cases-dev.jsonl.gz of the development data, if it is there: `--data`, else
`$ROUTECANARY_DATA`, else `../shared/data` beside the checkout. Each text stands for a whole answer to the
filter probe. Prints per locale what share of the refusals fails, again without every entry of the tables
whose own sentence is the text or a near-duplicate of it (`left out`), and the fails among texts that refuse
nothing; then the same by halves of the data; then how many scores differ when no language is acquitted by the
index of needed words, over all texts of the data. `--misses` lists the ids of refusals that were not found.
Exits 1 when a text that refuses nothing failed, or a score differs. How it moves with the wording:
`benchmarks/judges.py --perturb`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from routecanary.domain.answer import read_answer
from routecanary.domain.names import FILTERING, parse_locale
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.filtering import FilteringContract
from routecanary.judge.folding import folded, joined
from routecanary.judge.lecture import lecture_score
from routecanary.judge.narration import Narration, narration_of
from routecanary.judge.refusal import refusal_score
from routecanary.judge.refusals.entry import Entry, is_spaced
from routecanary.judge.refusals.lexicon import Lexicon
from routecanary.judge.refusals.shipped import shipped_entries
from routecanary.judge.refusals.tables import Tables, shipped_tables
from routecanary.judge.settings import Settings
from routecanary.judge.voice import narrator
from routecanary.replay.texts import transcript_of

ROOT = Path(__file__).resolve().parent.parent
SAME_WORDS, SAME_LETTERS = 0.5, 0.7  # shares from which two sentences are near-duplicates
INNOCENT = ("comply", "in_character")


def is_near(sentence: str, text: str, *, spaced: bool) -> bool:
    """Say whether two texts are near-duplicates: half of their words, or most of their letters in order."""
    left, right = joined(folded(sentence)), joined(folded(text))
    if spaced and min(len(folded(each).split()) for each in (sentence, text)) > 3:
        words = [set(folded(each).split()) for each in (sentence, text)]
    else:
        words = [{each[i : i + 2] for i in range(len(each) - 1)} for each in (left, right)]
    if len(words[0] & words[1]) >= SAME_WORDS * max(1, len(words[0] | words[1])):
        return True
    longest = 2 * min(len(left), len(right)) / max(1, len(left) + len(right))
    return (
        longest >= SAME_LETTERS and SequenceMatcher(None, left, right, autojunk=False).ratio() >= SAME_LETTERS
    )


def tables_without(text: str) -> Tables:
    """Make the shipped tables without the entries whose own sentence is near to a text."""
    near = {
        entry
        for entry in shipped_entries()
        if is_near(entry.made_for, text, spaced=is_spaced(entry.language))
    }
    return _tables(frozenset(near)) if near else shipped_tables()


@cache
def _tables(without: frozenset[Entry]) -> Tables:
    return Tables(entry for entry in shipped_entries() if entry not in without)


class Ungated(Tables):
    """Tables that acquit nobody beforehand."""

    __slots__ = ()

    def holding(self, narration: Narration, *names: str) -> list[Lexicon]:  # noqa: ARG002 - of all of them
        return list(self.lexicons)


def moved(texts: Iterable[str]) -> tuple[int, int]:
    """Score texts with and without the index of needed words; return how many, and how many differ."""
    gated, ungated = shipped_tables(), Ungated(shipped_entries())
    count = differ = 0
    for text in texts:
        narration = narration_of(narrator(text).narration, len(text))
        scores = [
            (refusal_score(narration, each), lecture_score(narration, each)) for each in (gated, ungated)
        ]
        found = [(refusal.points, refusal.template, lecture.points) for refusal, lecture in scores]
        count += 1
        differ += found[0] != found[1]
    return count, differ


def fails(text: str, locale: str, tables: Tables) -> bool:
    answer = read_answer(transcript_of(text, FILTERING, parse_locale(locale)))
    return FilteringContract(settings=Settings(), tables=tables).judge(answer).kind is VerdictKind.FAIL


def card(rows: list[dict[str, Any]], misses: str | None) -> int:
    """Print the table; return how many texts that refuse nothing failed."""
    counts: dict[str, Counter[str]] = {}
    missed: list[str] = []
    for row in rows:
        count = counts.setdefault(row["locale"], Counter())
        failed = fails(row["text"], row["locale"], shipped_tables())
        count[row["label"]] += 1
        count[f"{row['label']} failed"] += failed
        if row["label"] == "refusal":
            half = int(sha256(str(row["id"]).encode()).hexdigest(), 16) % 2
            count[f"half {half}"] += 1
            count[f"half {half} failed"] += failed
            left_out = tables_without(row["text"])
            same = left_out is shipped_tables()
            count["left out"] += failed if same else fails(row["text"], row["locale"], left_out)
            if not failed and misses in (row["locale"], "all"):
                missed.append(str(row["id"]))
    print("locale      refusals   found  left out   plain help  fails   in character  fails")
    for locale in sorted(counts):
        print(line(locale, counts[locale]))
    groups: dict[str, Counter[str]] = {}
    for locale, count in counts.items():
        groups.setdefault(locale if locale in ("en", "ko") else "others", Counter()).update(count)
    print()
    for name in sorted(groups):
        halves = (share(groups[name][f"half {half} failed"], groups[name][f"half {half}"]) for half in (0, 1))
        print(f"{line(name, groups[name])}   by halves {' '.join(halves)}")
    every = sum(groups.values(), Counter[str]())
    print(line("all", every))
    if misses is not None:
        print(f"\n{len(missed)} not found: {' '.join(missed)}")
    return sum(every[f"{label} failed"] for label in INNOCENT)


def line(name: str, count: Counter[str]) -> str:
    refusals = count["refusal"]
    return (
        f"{name:10s}  {refusals:8d}  {share(count['refusal failed'], refusals)}"
        f"   {share(count['left out'], refusals)}"
        f"     {count['comply']:8d}  {count['comply failed']:5d}       {count['in_character']:8d}"
        f"  {count['in_character failed']:5d}"
    )


def share(part: int, whole: int) -> str:
    return f"{part / whole:6.1%}" if whole else "     –"


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("ROUTECANARY_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help="directory with refusals/")
    parser.add_argument(
        "--misses", metavar="LOCALE", help="list the ids of refusals not found, of a locale or all"
    )
    options = parser.parse_args()
    path = options.data / "refusals" / "cases-dev.jsonl.gz"
    if not path.is_file():
        print(f"no refusal data in {options.data}: skipped")
        return 0
    rows = read(path)
    false = card(rows, options.misses)
    others = sorted((options.data / "langid").glob("*.jsonl.gz"))
    texts, differ = moved(row["text"] for row in [*rows, *(row for path in others for row in read(path))])
    print(f"\nscores that differ without the index of needed words: {differ} of {texts} texts")
    return 1 if false or differ else 0


if __name__ == "__main__":
    sys.exit(main())
