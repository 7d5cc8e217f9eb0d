"""Which event loop runs? uvloop where the platform has it: it halves the loop's share of a probe."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_async(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end on the best loop there is."""
    try:
        import uvloop  # noqa: PLC0415 - optional by platform
    except ModuleNotFoundError:
        return asyncio.run(main)
    return uvloop.run(main)
