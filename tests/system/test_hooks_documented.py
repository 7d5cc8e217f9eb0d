"""Every example of docs/hooks.md is run as it stands there, with the real package, against the lab."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import routecanary
from routecanary.client.canary import CALL_COUNTERS
from tests.hooked import KEY, MODEL, SPOILED, TOKEN, Application, an_application
from tests.system.test_hook_litellm import PYTHON, environment

PAGE = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text("utf-8")
EXAMPLES = PAGE.split("## Examples")[1].split("\n## ")[0]
PREAMBLE, *SECTIONS = EXAMPLES.split("\n### ")
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
TITLES = [section.partition("\n")[0] for section in SECTIONS]
RUN = [title for title in TITLES if title != "LiteLLM proxy"]  # which has a test of its own
UNTOLD = ("OpenAI SDK, no hook at all",)


def filled_in(code: str, application: Application) -> str:
    """Put address, keys and model where the page leaves them open."""
    for left_open, filled in (
        ("https://openrouter.ai/api/v1", application.base_url),
        ("http://127.0.0.1:7450", application.receiver.url),
        ("sk-or-…", KEY),
        ("rc_…", TOKEN),
        ("author/slug", MODEL),
    ):
        code = code.replace(left_open, filled)
    assert "…" not in code
    return code


@pytest.mark.parametrize("title", RUN)
def test_an_example_is_served_by_another_route(title: str, tmp_path: Path) -> None:
    """The cheapest route, which nearly all would get, is avoided, and what was served is told."""
    (code,) = CODE.findall(SECTIONS[TITLES.index(title)])
    (preamble,) = CODE.findall(PREAMBLE)
    with an_application(tmp_path) as application:
        done = subprocess.run(
            [
                PYTHON if "litellm" in code else sys.executable,
                "-c",
                filled_in(preamble, application) + filled_in(code, application),
            ],
            env=environment(application, tmp_path),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert len(done.stdout) > 20
        (served,) = application.served
        assert served.route != SPOILED
        assert served.body["provider"]["ignore"] == [SPOILED]  # type: ignore[index,call-overload]
        told = application.told(int(title not in UNTOLD))
        assert [record["id"] for record in told] == ([] if title in UNTOLD else [served.id])


def test_without_the_list_the_same_request_meets_the_bad_route(tmp_path: Path) -> None:
    """The examples prove something: without a snapshot the plain one is spoiled."""
    (code,) = CODE.findall(SECTIONS[TITLES.index("OpenAI SDK")])
    (preamble,) = CODE.findall(PREAMBLE)
    with an_application(tmp_path) as application:
        environ = {**environment(application, tmp_path), "ROUTECANARY_SNAPSHOT": str(tmp_path / "none.json")}
        whole = filled_in(preamble, application) + filled_in(code, application)
        subprocess.run([sys.executable, "-c", whole], env=environ, timeout=200, check=True)
        (served,) = application.served
        assert served.route == SPOILED
        (record,) = application.told()
        assert (record["ignore"], record["unchanged"]) == ([], "no_snapshot")


def test_every_hook_is_on_the_page_with_an_example() -> None:
    """A new file in `hooks/` needs its row and its lines."""
    folder = Path(routecanary.__file__).parent / "hooks"
    shared = {"__init__", "body", "context", "exchange", "tapped"}
    names = {path.stem for path in folder.glob("*.py")} - shared
    assert names == {"aiohttp", "httpx", "httpx2", "litellm", "openai", "openrouter"}
    assert [name for name in sorted(names) if f"`hooks/{name}.py`" not in PAGE] == []
    assert [name for name in sorted(names) if f"from routecanary.hooks.{name} import" not in EXAMPLES] == []


def test_what_the_page_says_of_a_record_is_what_is_sent() -> None:
    """Each key that may be sent stands in the table."""
    table = PAGE.split("### What is told of an answer")[1]
    source = (Path(routecanary.__file__).parent / "hooks" / "exchange.py").read_text("utf-8")
    keys = re.findall(r'^ {12}"(\w+)": ', source, re.MULTILINE)
    assert len(keys) > 12
    assert [key for key in keys if f"`{key}`" not in table] == []
    assert "unread_body" in CALL_COUNTERS
