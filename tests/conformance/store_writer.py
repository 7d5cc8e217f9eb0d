"""A process of its own that appends to a store: `store_writer.py PATH WRITER COUNT`.

Each append is a pair of events and a transcript. After each one that is durable it prints the new head's
number. Runs until COUNT appends are done; what the appends hold tells writers and their order apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.errors import HeadMovedError
from tests.conformance.stored import NOON, a_draft, a_transcript


def main(path: Path, writer: str, count: int) -> None:
    with SqliteStore(path, busy_seconds=30) as store:
        for n in range(count):
            packed = store.pack(a_transcript(route=writer, attempt=n), at=NOON, verdicts={})
            pair = [a_draft(writer=writer, n=n, half=half, evidence=packed.entry.id) for half in (1, 2)]
            while True:
                try:
                    head = store.append(pair, store.head(), transcripts=[packed])
                    break
                except HeadMovedError:
                    continue
            print(head.seq, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
