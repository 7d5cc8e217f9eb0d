"""Does the cheap acquittal of the language judge move a verdict, and what do its tables cost?

    python benchmarks/language.py [--data DIR]

Judges every text of the development data (langid/; `--data`, else `$ROUTECANARY_DATA`, else `../shared/data`
beside the checkout) with and without the acquittal, and prints each verdict that differs, and CPU per healthy
answer, with and without. Then, in processes of their own (Linux): CPU and memory from the start to the last
verdict, for one locale, for all, and for all with mixes of every pair. Exits 1 when a verdict moved.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the texts of the tests

from benchmarks.judges import rows, transcript_of  # noqa: E402 - see above
from tests.unit.judge.language_texts import TEXTS  # noqa: E402

from routecanary.domain.answer import Answer, read_answer  # noqa: E402
from routecanary.domain.names import parse_locale  # noqa: E402
from routecanary.domain.probe import ProbeKind  # noqa: E402
from routecanary.judge.language import LanguageContract  # noqa: E402
from routecanary.judge.settings import Settings  # noqa: E402

FILES = ("clean", "legit", "mixes", "damage")
HEALTHY_WORDS = range(150, 251)  # of the answers that are timed


def answer_of(text: str, locale: str) -> Answer:
    return read_answer(transcript_of(text, ProbeKind.CHAT, parse_locale(locale)))


def compare(data: Path) -> int:
    """Print the verdicts that differ, and what an answer costs; return how many differ."""
    cheap = LanguageContract(settings=Settings())
    thorough = LanguageContract(settings=Settings(), thorough=True)
    moved = texts = 0
    costs: list[tuple[float, float]] = []
    for name in FILES:
        for row in rows(data / f"{name}.jsonl.gz"):
            answer = answer_of(row["text"], row["lang"])
            texts += 1
            first, second = cheap.judge(answer), thorough.judge(answer)
            if first != second:
                moved += 1
                print(f"  moved: {row['id']} {row['lang']}: {first}, thoroughly {second}")
            if name == "clean" and row.get("words", 0) in HEALTHY_WORDS:
                costs.append((cpu_us(cheap, answer), cpu_us(thorough, answer)))
    print(f"{texts} texts, {moved} verdicts moved by the acquittal")
    for place, label in enumerate(("with the acquittal", "without it")):
        each = sorted(cost[place] for cost in costs)
        p95 = each[int(0.95 * len(each))]
        print(
            f"  {label:20s} n {len(each)}   median {statistics.median(each):5.0f}   p95 {p95:5.0f} [µs CPU]"
        )
    return moved


def cpu_us(contract: LanguageContract, answer: Answer) -> float:
    fastest = float("inf")
    for _ in range(5):
        start = time.process_time()
        contract.judge(answer)
        fastest = min(fastest, time.process_time() - start)
    return fastest * 1e6


def start(locales: list[str], *, mixed: bool) -> None:
    """Judge a text in each locale, and print what that took since the process began."""
    contract = LanguageContract(settings=Settings())
    for locale in locales:
        for text in (TEXTS[locale], *(TEXTS[locale] + other for other in TEXTS.values() if mixed)):
            contract.judge(answer_of(text, locale))
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    memory = int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) // 1024
    label = locales[0] if len(locales) == 1 else f"{len(locales)} locales{', mixed' if mixed else ''}"
    print(f"  {label:20s} CPU {time.process_time():.2f} s   memory {memory} MB")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("ROUTECANARY_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help="directory with langid/")
    parser.add_argument("--start", help="only: judge texts in these locales, with commas between")
    parser.add_argument("--mixed", action="store_true", help="with --start: mixes of every pair, too")
    options = parser.parse_args()
    if options.start:
        start(options.start.split(","), mixed=options.mixed)
        return 0
    moved = 0
    if (options.data / "langid").is_dir():
        moved = compare(options.data / "langid")
    else:
        print(f"no language data in {options.data}: skipped")
    print("from the start to the last verdict, everything imported", flush=True)
    for arguments in (["pt-BR"], [",".join(TEXTS)], [",".join(TEXTS), "--mixed"]):
        subprocess.run([sys.executable, __file__, "--start", *arguments], check=True)
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
