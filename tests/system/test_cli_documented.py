"""docs/cli.md says everything: every command, option, default, exit code, variable and JSON key."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.main import COMMANDS
from routecanary.demo.full import Caught, FullStory
from routecanary.demo.full_view import full_document
from routecanary.demo.play import RouteStory, Story
from routecanary.demo.view import document as document_of_demo
from routecanary.lab.faults import FAULT_NAMED
from routecanary.lab.scenario import builtin_scenario
from tests.commandline import MODEL, SPOILED, a_config, a_lab, called, environment

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "cli.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([\w ]+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
CASE = Path(__file__).parents[1] / "golden" / "cases" / "account-401-key.json"
FUNCTIONS = {name: place for name, place, _ in COMMANDS}

# default in the signature → how the page may write it
WRITTEN = {False: {"off", "on"}, None: {"none", "see above", "all", "your login name", "the defaults"}}


def function(name: str) -> Callable[..., int]:
    module, _, attribute = FUNCTIONS[name].partition(":")
    found: Callable[..., int] = getattr(importlib.import_module(module), attribute)
    return found


def documented_options(name: str) -> dict[str, str]:
    """Read the table of a section: option → default as written."""
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| .+ \|$", SECTIONS[name], re.MULTILINE)
    return {option: default.strip("`") for option, default in rows}


def options(name: str) -> Iterator[tuple[str, inspect.Parameter]]:
    for parameter in inspect.signature(function(name)).parameters.values():
        spelled = parameter.name.replace("_", "-").strip("-")
        yield f"--{spelled}" if parameter.kind is parameter.KEYWORD_ONLY else spelled.upper(), parameter


def test_every_command_has_a_section_in_the_order_of_the_help() -> None:
    """None is missing and none is left over."""
    assert list(SECTIONS) == list(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_is_documented_with_its_default(name: str) -> None:
    """The table has the options of the signature, in its order, and their defaults."""
    documented = documented_options(name)
    assert list(documented) == [option for option, _ in options(name)]
    for option, parameter in options(name):
        default: Any = parameter.default
        if default is inspect.Parameter.empty:
            assert documented[option] == "required"
        elif default is None or default is False:
            assert documented[option] in WRITTEN[default] or option == "PATH", option
        else:
            assert documented[option] == str(default), option


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_is_explained_by_help(name: str) -> None:
    """Each has a paragraph in the command's own docstring, which its help page shows."""
    explained = inspect.getdoc(function(name)) or ""
    for _, parameter in options(name):
        assert re.search(rf"^{parameter.name}\n    \S", explained, re.MULTILINE), parameter.name


def test_every_exit_code_is_documented() -> None:
    """The table is the enumeration."""
    rows = re.findall(r"^\| `(\d+)` \| `(\w+)` \| .+ \|$", PAGE, re.MULTILINE)
    assert rows == [(str(code.value), code.name) for code in ExitCode]


def test_every_variable_is_documented() -> None:
    """Whatever the sources look up in the environment under our name stands in the table."""
    source = Path(inspect.getfile(function("init"))).parents[1]
    named = {
        found
        for path in source.rglob("*.py")
        for found in re.findall(r'"(ROUTECANARY_[A-Z]+)"', path.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE))


def test_every_command_that_reads_files_says_so() -> None:
    """The table of files names each command."""
    table = PAGE[PAGE.index("## Files that the commands touch") :]
    for name in FUNCTIONS:
        assert re.search(rf"`{name}\b", table), name


def keys_of(document: object, *, named: frozenset[str] = frozenset()) -> set[str]:
    """Collect the keys of a document, save the names of things: models, routes, contracts."""
    if isinstance(document, list):
        return {key for each in document for key in keys_of(each, named=named)}
    if not isinstance(document, dict):
        return set()
    own = {key for key in document if key not in named}
    return own | {key for each in document.values() for key in keys_of(each, named=named)}


def undocumented(name: str, document: object, *, named: frozenset[str] = frozenset()) -> set[str]:
    """Find the keys of a command's document that its section does not name."""
    return {key for key in keys_of(document, named=named) if f"`{key}`" not in SECTIONS[name]}


def test_every_key_of_the_demo_is_documented() -> None:
    """As printed at the end of `demo --json`, with `--full` and without."""
    model = builtin_scenario("spoiled").models[0]
    story = Story(
        model=model.id, seed=1, routes={route.tag: RouteStory(route=route) for route in model.routes}
    )
    assert not undocumented("demo", document_of_demo(story))
    caught = Caught(fault=FAULT_NAMED["missing_done"], seed=1, shown=[1])
    assert not undocumented("demo", full_document(FullStory(caught=[caught])))


def test_every_key_of_the_lab_is_documented(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As printed by `lab --json` once it listens."""

    async def serve(*_: object, ready: Callable[[str], None], **__: object) -> None:
        ready("http://127.0.0.1:1/api/v1")

    monkeypatch.setattr("routecanary.cli.lab.serve", serve)
    document = called("lab", "--json", environ=environment(tmp_path)).json
    assert set(document) == {"base_url", "api_key", "models"}
    assert not undocumented("lab", document)


def test_every_key_of_the_json_is_documented(tmp_path: Path) -> None:
    """What each command prints with --json is named in its section."""
    names = frozenset(
        {MODEL, "acme", "cindermoor", "north-host/fp8", "plover", SPOILED}
        | {"latency", "filtering", "structured", "language", "integrity"}
    )
    with a_lab() as lab:
        config = a_config(tmp_path, lab.base_url, period="30m")  # a day of rounds is within the budget
        environ = environment(tmp_path)
        calls: dict[str, list[Any]] = {
            "check": ["check", "--config", config],
            "mode": ["mode", MODEL, "enforce", "--force", "--config", config],
            "first": ["round", MODEL, "--config", config],
            "round": ["round", MODEL, "--config", config],
            "status": ["status", "--config", config],
            "routes": ["routes", MODEL, "--config", config],
            "ignore": ["ignore", MODEL, "--config", config],
            "init": ["init", tmp_path / "other.toml"],
            "judge": ["judge", CASE],
        }
        said = {name: called(*tokens, "--json", environ=environ) for name, tokens in calls.items()}
    for name, ran in said.items():
        assert ran.code == 0, (name, ran.err)
        document = ran.json
        if name in {"first", "round"}:
            assert document.pop("events")  # those of a replay, which docs/policy.md describes
        assert not undocumented("round" if name == "first" else name, document, named=names), name
