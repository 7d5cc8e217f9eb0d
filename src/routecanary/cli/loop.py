"""What does a long run run on? The best event loop there is, and a collector that stays out of the way."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_async(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end, on uvloop where there is one: it halves the loop's share of a probe."""
    try:
        import uvloop  # noqa: PLC0415 - optional by platform
    except ModuleNotFoundError:
        return asyncio.run(main)
    return uvloop.run(main)


def calm_collector() -> None:
    """Let the garbage collector halt open streams seldom and briefly.

    What is loaded stays, so it is not gone over again. A round makes hundreds of thousands of values that
    hold no cycles; looking over them at the usual pace was a sixth of the cost of capturing a probe
    (`benchmarks/round.py`).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
