"""An application with the openai package: the README's example, against a gateway with a route to avoid."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from routecanary.lab.scenario import scenario_from_toml
from tests.commandline import KEY, MODEL, SCENARIO, SPOILED, a_config, a_lab, called, environment

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")

CHEAPEST_SPOILED = scenario_from_toml(
    SCENARIO.replace(
        'provider = "Inkspill"',
        'provider = "Inkspill"\nprice_prompt = "0.00000001"\nprice_completion = "0.00000001"',
    ),
    "trial",
)
"""Whoever sorts by price is served by the route that spoils every answer."""


def the_example(base_url: str) -> str:
    """Take the application's code out of the README, with what it leaves open filled in."""
    (code,) = re.findall(r"```python\n(from openai import OpenAI\n.*?)```", README, re.DOTALL)
    for left_open, filled in (
        ("https://openrouter.ai/api/v1", base_url),
        ("api_key=…", f"api_key={KEY!r}"),
        ("messages=[…]", 'messages=[{"role": "user", "content": "How do I boil an egg?"}]'),
        ("author/slug", MODEL),
    ):
        assert left_open in code
        code = code.replace(left_open, filled)
    assert "…" not in code
    return code


def test_the_readmes_example_is_served_by_another_route_once_one_is_suspended(tmp_path: Path) -> None:
    """Without a snapshot the request goes out as it was; after the suspension, around the route."""
    environ = environment(tmp_path)
    with a_lab(scenario=CHEAPEST_SPOILED) as lab:
        config = a_config(tmp_path, lab.base_url)

        def ask() -> tuple[str, dict[str, Any]]:
            """Run the example once; returns who served it, and what the client has to say."""
            code = the_example(lab.base_url)
            with mock.patch.dict(os.environ, {"ROUTECANARY_SNAPSHOT": str(tmp_path / "snapshot.json")}):
                names: dict[str, Any] = {}
                exec(compile(code, "README.md", "exec"), names)
            names["client"].close()
            names["canary"].close()
            return list(lab.ledger)[-1].route, names["canary"].status()

        route, status = ask()
        assert route == SPOILED
        assert not status["ok"]
        assert status["counters"]["no_snapshot"] == 1
        for tokens in (
            ["mode", MODEL, "enforce", "--force", "--reason", "x"],
            ["round", MODEL],
            ["round", MODEL],
        ):
            assert called(*tokens, "--config", config, environ=environ).code == 0
        for _ in range(3):
            route, status = ask()
            assert route != SPOILED
            assert status["ok"]
            assert not any(status["counters"].values())
        pause = ["pause", MODEL, "--for", "1h", "--reason", "x"]
        assert called(*pause, "--config", config, environ=environ).code == 0
        assert ask()[0] == SPOILED


@pytest.mark.parametrize("needle", ["extra_body=", "provider_preferences(", "from routecanary.client import"])
def test_the_example_shows_what_matters(needle: str) -> None:
    """It stays an example of the real calls."""
    assert needle in the_example("http://127.0.0.1:9/api/v1")
