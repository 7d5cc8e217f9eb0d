"""Does anything get lost or said twice when the daemon is killed?

    python benchmarks/kills.py [--kills N] [--seed N] [--longest-life SECONDS]

A daemon in compressed time watches a lab, and is killed with SIGKILL at random moments; in between, acts are
done by hand and a receiver of messages refuses every fourth request. After each kill the hash chain must be
whole and begin with every event that was there before; after every fourth restart the client's list must be
the fold of the log; at the end every notice that the log tells of must have been received under one key.
The trial itself is tests/kills.py; 20 kills are part of `make test`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kills import run_kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest-life", type=float, default=5.0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="routecanary-kills-") as folder:
        print(run_kills(Path(folder), kills=chosen.kills, seed=chosen.seed, longest_life=chosen.longest_life))


if __name__ == "__main__":
    main()
