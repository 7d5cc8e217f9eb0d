"""How often do the judges err on real text, and what do they cost?

    python benchmarks/judges.py [--data DIR] [--show N]

Reads the development data (langid/, refusals/) if they are there: `--data`, else `$ROUTECANARY_DATA`, else
`../shared/data` beside the checkout. Prints per contract and locale: n, false fails, recall, inconclusive
share; then the cost of all judges on one healthy answer. Exits 1 when clean text failed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from routecanary.domain.answer import read_answer
from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, Locale, parse_locale
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.examine import judge_answer, judge_transcript
from routecanary.judge.registry import CONTRACTS
from routecanary.judge.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
HEALTHY = (
    '*Mara lifts the brass lantern and studies the wet stones of the stairwell.* "We should not'
    ' stay here," she says, and the light trembles over the old wall. Behind her, Teo counts '
    "the steps under his breath, one hand on the rope. The sea is loud tonight; every wave that"
    ' breaks against the tower sends a fine rain through the cracks. "Then tell me where the '
    'keeper went," he answers. *He sets the rope down slowly.* Nobody has lit the lamp for '
    "three nights, and the boats in the harbour have stopped leaving before dawn. Mara touches "
    "the cold glass, wipes the salt away with her sleeve and looks for the small door that the "
    "letter described. It is there, half hidden by a coat on a nail, and the key still hangs in"
    " it. "
)


def transcript_of(text: str, kind: ProbeKind, locale: Locale | None, prompt: str = "Continue.") -> Transcript:
    """Wrap a text as a whole, healthy stream in one read."""
    frame = {
        "id": "g",
        "model": "lab/m",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }
    stop = {"id": "g", "model": "lab/m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    body = "".join(f"data: {json.dumps(item)}\n\n" for item in (frame, stop)) + "data: [DONE]\n\n"
    return Transcript(
        model=None,
        route=None,
        kind=kind,
        locale=locale,
        request={"model": "lab/m", "max_tokens": 4000, "messages": [{"role": "user", "content": prompt}]},
        status=200,
        headers=(("content-type", "text/event-stream"),),
        chunks=(Chunk(900.0, body.encode()),),
        ending=Ending(kind=EndingKind.EOF, at_ms=1000.0),
    )


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def judged(row: dict[str, Any], kind: ProbeKind, locale: str) -> dict[Any, Verdict]:
    return judge_transcript(transcript_of(row["text"], kind, parse_locale(locale)))


class Table:
    """Outcomes by (group, locale), printed as one line each."""

    def __init__(self, show: int) -> None:
        self.counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.shown = show

    def add(self, group: str, locale: str, verdict: Verdict, *, wrong: bool, text: str) -> None:
        self.counts[group, locale][verdict.kind.value] += 1
        if wrong and self.shown > 0:
            self.shown -= 1
            print(f"  [{group} {locale}] {verdict}: {verdict.detail}\n      {text[:200]!r}")

    def print(self, group: str, column: str) -> tuple[int, int]:
        total: Counter[str] = Counter()
        for (name, locale), counts in sorted(self.counts.items()):
            if name == group:
                total += counts
                print(self._line(locale, counts, column))
        if total:
            print(self._line("all", total, column))
        return total["fail"], total.total()

    @staticmethod
    def _line(locale: str, counts: Counter[str], column: str) -> str:
        n = counts.total()
        return (
            f"  {locale:14s} n {n:5d}   {column} {counts['fail']:5d} ({counts['fail'] / n:7.2%})"
            f"   inconclusive {counts['inconclusive'] / n:7.2%}"
        )


def language(data: Path, show: int) -> int:
    table = Table(show)
    damage_elsewhere = Table(show)
    for name in ("clean", "legit"):
        for row in rows(data / f"{name}.jsonl.gz"):
            if row["expect"] != "PASS":
                continue
            verdicts = judged(row, ProbeKind.CHAT, row["lang"])
            verdict = verdicts[LANGUAGE]
            table.add(name, row["lang"], verdict, wrong=verdict.kind == "fail", text=row["text"])
            whole = verdicts[INTEGRITY]
            damage_elsewhere.add(name, row["lang"], whole, wrong=whole.kind == "fail", text=row["text"])
    for row in rows(data / "mixes.jsonl.gz"):
        verdict = judged(row, ProbeKind.CHAT, row["lang"])[LANGUAGE]
        group = row["expect"] if row["expect"] in ("FAIL-MIX", "FAIL-SWITCH") else "EITHER"
        missed = group != "EITHER" and verdict.kind == "pass"
        table.add(group, f"{row['lang']}+{row['other']}", verdict, wrong=missed, text=row["text"])
    for row in rows(data / "damage.jsonl.gz"):
        verdicts = judged(row, ProbeKind.CHAT, row["lang"])
        verdict = min(verdicts.values(), key=lambda v: v.kind != "fail")
        table.add("damage", row["how"], verdict, wrong=verdict.kind == "pass", text=row["text"])
    print("\nlanguage, clean text (false fails)")
    false = table.print("clean", "false fails")[0]
    print("\nlanguage, legitimate foreign matter (false fails)")
    false += table.print("legit", "false fails")[0]
    print("\nlanguage, sustained mixes (recall)")
    table.print("FAIL-MIX", "found")
    print("\nlanguage, whole switches (recall)")
    table.print("FAIL-SWITCH", "found")
    print("\nencoding damage, by any contract (recall)")
    table.print("damage", "found")
    print("\nintegrity, clean and legitimate text (false fails)")
    false += (
        damage_elsewhere.print("clean", "false fails")[0] + damage_elsewhere.print("legit", "false fails")[0]
    )
    return false


def filtering(path: Path, show: int) -> int:
    table = Table(show)
    for row in rows(path):
        verdict = judged(row, ProbeKind.FILTER, row["locale"])[FILTERING]
        label = row["label"]
        if verdict.kind == "fail" and verdict.code not in ("refusal", "content_filter"):
            # Some passages were cut by their collectors: the judge is right to say so, and it is no refusal.
            table.add("cut", row["locale"], verdict, wrong=False, text=row["text"])
            continue
        wrong = (verdict.kind == "fail") != (label == "refusal") and label != "partial"
        table.add(label, row["locale"], verdict, wrong=wrong, text=row["text"])
    print("\nfiltering, in-character text (false fails)")
    false = table.print("in_character", "false fails")[0]
    print("\nfiltering, plain help (false fails)")
    false += table.print("comply", "false fails")[0]
    print("\nfiltering, refusals (recall)")
    table.print("refusal", "found")
    print("\nfiltering, partial refusals")
    table.print("partial", "failed")
    print("\nfiltering, passages that their collectors cut in the middle of a sentence")
    table.print("cut", "truncated")
    return false


def cost() -> None:
    """Time all judges on a healthy English answer of about 200 words in 200 frames."""
    pieces = [word + " " for word in (HEALTHY + HEALTHY[:330]).split()]
    frames = [
        {
            "id": "gen-1",
            "object": "chat.completion.chunk",
            "created": 1790000000,
            "model": "lab/m",
            "provider": "North Host",
            "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}],
        }
        for piece in pieces
    ]
    frames.append(
        {"id": "gen-1", "model": "lab/m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    )
    base = transcript_of("", ProbeKind.CHAT, parse_locale("en"))
    chunks = tuple(Chunk(500.0 + 20 * i, f"data: {json.dumps(f)}\n\n".encode()) for i, f in enumerate(frames))
    print(f"\ncost, one core ({len(pieces)} words in {len(frames)} frames), best of 7 × 100 [µs CPU]")
    scale = best(json.loads, json.dumps(frames[0]), times=2000)
    print(f"  for scale, json.loads of one frame: {scale:.1f}")
    for kind in (ProbeKind.CHAT, ProbeKind.FILTER):
        transcript = Transcript(
            **{
                name: getattr(base, name)
                for name in ("model", "route", "locale", "request", "status", "headers")
            },
            kind=kind,
            chunks=chunks,
            ending=Ending(kind=EndingKind.EOF, at_ms=9000.0),
        )
        answer = read_answer(transcript)
        settings = Settings()
        read_us = best(read_answer, transcript)
        judge_us = best(judge_answer, answer, settings, CONTRACTS)
        print(f"  {kind:10s} read {read_us:7.0f}   judge {judge_us:7.0f}   both {read_us + judge_us:7.0f}")


def best(action: Any, *arguments: Any, times: int = 100) -> float:
    fastest = float("inf")
    for _ in range(7):
        start = time.process_time()
        for _ in range(times):
            action(*arguments)
        fastest = min(fastest, (time.process_time() - start) / times)
    return fastest * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("ROUTECANARY_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help="directory with langid/ and refusals/")
    parser.add_argument("--show", type=int, default=0, help="print so many errors of each part")
    options = parser.parse_args()
    false = 0
    if (options.data / "langid").is_dir():
        false += language(options.data / "langid", options.show)
    else:
        print(f"no language data in {options.data}: skipped")
    refusals = options.data / "refusals" / "cases-dev.jsonl.gz"
    if refusals.is_file():
        false += filtering(refusals, options.show)
    else:
        print(f"no refusal data in {options.data}: skipped")
    cost()
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
