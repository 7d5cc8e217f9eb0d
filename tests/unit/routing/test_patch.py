"""Which models a request names, and when its `provider` must be left alone."""

from __future__ import annotations

from typing import Any

import pytest

from routecanary.routing.patch import models_of


@pytest.mark.parametrize(
    ("request_", "models"),
    [
        ({"model": "a/b"}, ("a/b",)),
        ({"model": "a/b", "models": None}, ("a/b",)),
        ({"model": "a/b", "models": []}, ("a/b",)),
        ({"model": "a/b", "models": ["c/d", "a/b"]}, ("a/b", "c/d")),
        ({"models": ["c/d", "a/b"]}, ("c/d", "a/b")),
        ({"models": ("c/d",)}, ("c/d",)),
        ({"model": "a/b", "preset": None}, ("a/b",)),
        ({"model": "a/b", "preset": "mine"}, "preset"),
        ({"model": "a/b", "preset": ""}, "preset"),
        ({"model": "@preset/mine"}, "preset"),
        ({"model": "a/b@preset/mine"}, "preset"),
        ({"model": "a/b", "models": ["@preset/mine"]}, "preset"),
        ({}, "bad_request"),
        ({"model": None}, "bad_request"),
        ({"model": ""}, "bad_request"),
        ({"model": 3}, "bad_request"),
        ({"model": ["a/b"]}, "bad_request"),
        ({"models": []}, "bad_request"),
        ({"model": "a/b", "models": "c/d"}, "bad_request"),
        ({"model": "a/b", "models": [None]}, "bad_request"),
        ({"model": "a/b", "models": {"c/d": 1}}, "bad_request"),
    ],
)
def test_the_models_of_a_request(request_: dict[str, Any], models: tuple[str, ...] | str) -> None:
    """The first choice first, each once; a preset or a malformed request is said by its word."""
    assert models_of(request_) == models
