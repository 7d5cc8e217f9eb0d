"""Two libraries of one interface have one hook, written down twice: each takes only its own classes."""

from __future__ import annotations

from pathlib import Path

import routecanary.hooks

HOOKS = Path(routecanary.hooks.__file__).parent


def code_of(name: str) -> str:
    """Read a hook's code, without the docstring that stands before it."""
    return (HOOKS / name).read_text("utf-8").partition("from __future__")[2]


def test_the_hooks_of_httpx_and_httpx2_are_the_same_word_for_word() -> None:
    """What is mended in one is mended in the other."""
    assert code_of("httpx2.py").replace("httpx2", "httpx") == code_of("httpx.py")
