"""What do the judges cost? The second half of `benchmarks/judges.py`, or by itself:

    python benchmarks/cost.py [--data DIR]

Times reading and every judge on healthy answers in 200 frames, one read each: passages of 150 to 250 words of
the development data (langid/clean.jsonl.gz) in every locale, or texts of our own, half as long, where there
are no data. Then starts the judges in processes of their own (Linux) and prints CPU and memory after their
first verdicts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the texts of the tests

from routecanary.domain.answer import Answer, read_answer  # noqa: E402 - see above
from routecanary.domain.names import Locale, parse_locale  # noqa: E402
from routecanary.domain.probe import ProbeKind  # noqa: E402
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript  # noqa: E402
from routecanary.judge.examine import judge_answer  # noqa: E402
from routecanary.judge.planted.scenes import texts_of, whole  # noqa: E402
from routecanary.judge.registry import CONTRACTS  # noqa: E402
from routecanary.judge.settings import Settings  # noqa: E402
from routecanary.judge.triage import triage  # noqa: E402
from routecanary.replay.collection import rows_of  # noqa: E402
from routecanary.replay.texts import TextRow  # noqa: E402

FRAMES = 200
WORDS = range(150, 251)
LETTERS_A_WORD = 2.5  # where words are not parted by spaces
PASSAGES = 6  # of a locale
LOCALES = (
    *("en", "es", "pt-BR", "fr", "de", "it", "nl", "pl", "ru", "tr", "vi", "th", "id", "tl"),
    *("ja", "ko", "zh-Hans", "uk", "ar", "hi", "zh-Hant"),
)
LIMITS = Settings()


def transcript_of(text: str, kind: ProbeKind, locale: Locale | None, prompt: str = "Continue.") -> Transcript:
    """Wrap a text as a whole, healthy stream in one read."""
    return streamed([text], kind, locale, prompt)


def streamed(
    pieces: Sequence[str], kind: ProbeKind, locale: Locale | None, prompt: str = "Continue."
) -> Transcript:
    """Wrap pieces of a text as a healthy stream: a frame and a read for each, and usage at the end."""
    about = {"id": "gen-1", "object": "chat.completion.chunk", "created": 1790000000, "model": "lab/m"}
    frames: list[dict[str, Any]] = []
    for piece in pieces:
        choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        frames.append({**about, "provider": "Host", "choices": [choice]})
    frames.append({**about, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    frames.append({**about, "choices": [], "usage": {"completion_tokens": sum(map(len, pieces)) // 4 + 1}})
    reads = [*(f"data: {json.dumps(frame)}\n\n".encode() for frame in frames), b"data: [DONE]\n\n"]
    return Transcript(
        model=None,
        route=None,
        kind=kind,
        locale=locale,
        request={"model": "lab/m", "max_tokens": 4000, "messages": [{"role": "user", "content": prompt}]},
        status=200,
        headers=(("content-type", "text/event-stream"),),
        chunks=tuple(Chunk(900.0 + 20 * place, read) for place, read in enumerate(reads)),
        ending=Ending(kind=EndingKind.EOF, at_ms=900.0 + 20 * len(reads)),
    )


def passages(data: Path) -> list[tuple[Locale, str]]:
    """Find healthy passages of about 200 words, some of each locale."""
    path = data / "langid" / "clean.jsonl.gz"
    if not path.is_file():
        return [(parse_locale(name), own_text(name)) for name in LOCALES]
    found: dict[Locale, list[str]] = {}
    for row in rows_of(path, located=True):
        assert isinstance(row, TextRow)
        assert row.locale is not None
        words = len(row.text.split())
        if words < len(row.text) / 25:
            words = int(len(row.text) / LETTERS_A_WORD)
        if words in WORDS and len(found.setdefault(row.locale, [])) < PASSAGES:
            found[row.locale].append(row.text)
    return [(locale, text) for locale, texts in sorted(found.items()) for text in texts]


def own_text(name: str) -> str:
    """Put a scene of the planted ones and a text of the tests together."""
    from tests.unit.judge.language_texts import TEXTS  # noqa: PLC0415 - only without the data

    texts = texts_of(parse_locale(name))
    assert texts is not None
    return f"{whole(texts)} {TEXTS[name]}"


def pieces_of(text: str) -> list[str]:
    """Cut a text into about as many pieces as an answer has frames."""
    size = -(-len(text) // FRAMES)
    return [text[place : place + size] for place in range(0, len(text), size)]


def structured_of(locale: Locale) -> Transcript:
    """Make the healthy answer to a schema: a document of about 200 pieces."""
    document = json.dumps({"title": "Low Tide", "notes": [f"note {number}" for number in range(60)]})
    schema = {"type": "object", "required": ["title", "notes"], "properties": {"title": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "notes", "strict": True, "schema": schema}}
    transcript = streamed(pieces_of(document), ProbeKind.STRUCTURED, locale)
    return replace(transcript, request={**transcript.request, "response_format": form})


def cost(data: Path) -> None:
    """Print what the parts cost, and all that becomes of the answer to each probe."""
    spent: dict[str, list[float]] = {}
    chosen = passages(data)
    for locale, text in chosen:
        probes = [streamed(pieces_of(text), kind, locale) for kind in (ProbeKind.CHAT, ProbeKind.FILTER)]
        for transcript in (*probes, structured_of(locale)):
            answer = read_answer(transcript)
            judge_answer(answer, LIMITS, CONTRACTS)  # whatever is loaded once
            whole_us = 0.0
            for label, us in parts(answer):
                spent.setdefault(f"{label}, {transcript.kind}", []).append(us)
                whole_us += us
            spent.setdefault(f"all, {transcript.kind}", []).append(whole_us)
    print(
        f"\nCPU on {len(chosen)} healthy answers in {FRAMES} frames, {len(LOCALES)} locales [µs, best of 5]"
    )
    print(f"  {'':26s} {'median':>8s} {'p95':>8s}")
    for label, each in sorted(spent.items(), key=lambda item: item[0].split(", ")[::-1]):
        each.sort()
        print(f"  {label:26s} {statistics.median(each):8.0f} {each[int(0.95 * (len(each) - 1))]:8.0f}")
    print(f"  {'(decoding the JSON alone)':26s} {floor():8.0f}")


def parts(answer: Answer) -> Iterator[tuple[str, float]]:
    """Time what becomes of one answer, part by part."""
    transcript = answer.transcript
    yield "reading", best(read_answer, transcript)
    yield "triage", best(triage, answer, LIMITS)
    for contract in CONTRACTS:
        if contract.applies_to(transcript):
            yield contract.name, best(contract.judge, answer)


def floor() -> float:
    """Time the standard library on the frames of one answer: how fast this machine is at present."""
    chunks = streamed(pieces_of(own_text("en")), ProbeKind.CHAT, None).chunks
    frames = [chunk.data[6:] for chunk in chunks if b"{" in chunk.data]
    return best(lambda: [json.loads(frame) for frame in frames])


def best(action: Callable[..., object], *arguments: object) -> float:
    """Take the shortest of five runs, in microseconds of CPU."""
    fastest = float("inf")
    for _ in range(5):
        start = time.process_time_ns()
        action(*arguments)
        fastest = min(fastest, time.process_time_ns() - start)
    return fastest / 1000


START = """
import sys, time
began = time.process_time()
from benchmarks.cost import first_verdicts
first_verdicts(sys.argv[1:])
spent = time.process_time() - began
with open("/proc/self/status") as status:
    kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(f"{spent:.2f} s CPU, {kilobytes / 1024:.0f} MB at most")
"""


def first_verdicts(locales: Sequence[str]) -> None:
    """Judge an answer to each probe in some locales, as a daemon does after its start."""
    for name in locales:
        locale, pieces = parse_locale(name), pieces_of(own_text(name))
        for kind in (ProbeKind.CHAT, ProbeKind.FILTER):
            judge_answer(read_answer(streamed(pieces, kind, locale)), LIMITS, CONTRACTS)
        judge_answer(read_answer(structured_of(locale)), LIMITS, CONTRACTS)


def memory() -> None:
    """Start the judges in processes of their own."""
    print("\nfrom the start of a process to the first verdicts of every judge, everything imported")
    for label, chosen in (("en", ("en",)), ("pt-BR", ("pt-BR",)), (f"all {len(LOCALES)} locales", LOCALES)):
        command = [sys.executable, "-c", START, *chosen]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        print(f"  {label:26s} {said.strip()}")


def data_option(parser: argparse.ArgumentParser) -> None:
    default = Path(os.environ.get("ROUTECANARY_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help="directory with langid/ and refusals/")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data_option(parser)
    cost(parser.parse_args().data)
    memory()
    return 0


if __name__ == "__main__":
    sys.exit(main())
