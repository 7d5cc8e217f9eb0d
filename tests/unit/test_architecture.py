"""The arrows of the house, read from the imports and not from memory."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import routecanary

SOURCE = Path(routecanary.__file__).parent
STAGES = {"discover", "probe", "judge", "decide", "routing"}
LOW = {"domain", "errors", "clock"}

# room -> the rooms that it may import besides itself
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "clock": {"errors"},
    "domain": {"errors"},
    **dict.fromkeys(STAGES, LOW),
    "study": LOW,
    "adapters": LOW,
    "rounds": LOW | STAGES | {"study", "telemetry", "complaint"},
    "lab": LOW | {"adapters"},
    "replay": LOW | STAGES,
    "simulate": LOW | {"decide"},
    "telemetry": LOW | {"routing"},
    "complaint": LOW,
    "wiring": LOW | STAGES | {"rounds", "adapters"},
    "daemon": LOW | STAGES | {"rounds", "wiring"},
    "web": LOW | STAGES | {"telemetry", "complaint", "rounds", "wiring", "client"},
    "proxy": LOW | {"routing", "client", "telemetry", "web", "wiring"},
    "demo": LOW | STAGES | {"rounds", "wiring", "lab", "client"},
    "cli": LOW
    | STAGES
    | {"study", "rounds", "wiring", "daemon", "replay", "simulate", "lab", "demo"}
    | {"telemetry", "complaint", "web", "proxy"},
    "client": {"routing", "domain", "errors"},  # domain only in answer.py, which the package does not import
    "hooks": {"client", "routing", "errors"},
    "__main__": {"cli"},
}

# pure-computation libraries that a judge may use; it opens no file for them
FOREIGN: dict[str, set[str]] = {
    "judge": {"jsonschema_rs", "ftfy", "wordfreq"},
    "adapters.gateway": {"aiohttp", "httptools", "yarl"},  # yarl's URL is the type that aiohttp takes
    "adapters.notify": {"aiohttp"},
    "adapters.store": {"msgspec"},
    "adapters.config": {"pydantic"},
    "adapters": set(),
    "lab": {"aiohttp", "pydantic", "uvloop"},
    "demo": {"rich"},
    "cli": {"cyclopts", "rich", "uvloop"},
    "daemon": {"uvloop"},
    "hooks.aiohttp": {"aiohttp"},  # each hooks the library that it is named for
    "hooks.httpx": {"httpx"},
    "hooks.httpx2": {"httpx2"},
    "hooks.litellm": {"litellm", "httpx"},
    "hooks.openai": {"openai"},
    "hooks.openrouter": {"httpx"},  # the SDK's own clients
    "telemetry": {"msgspec"},
    "web": {"msgspec"},
    "proxy": {"httptools", "msgspec"},
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if name:
            yield name, path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: write imports out in full"
            assert node.module is not None
            yield node.module


MODULES = dict(modules())


@pytest.mark.parametrize("name", MODULES)
def test_arrows_run_down_only(name: str) -> None:
    """A module imports only the rooms below its own."""
    room = name.split(".", maxsplit=1)[0]
    assert room in ALLOWED, f"{name}: a new room needs its place in the house"
    for imported in imports(MODULES[name]):
        if imported.startswith("routecanary."):
            target = imported.split(".")[1]
            if target in {"__version__", room}:
                continue
            assert target in ALLOWED[room], f"{name} imports {imported}"


@pytest.mark.parametrize("name", MODULES)
def test_a_foreign_library_stays_behind_its_adapter(name: str) -> None:
    """Third-party imports stand only where the table above lists them."""
    allowed: set[str] = set()
    for room, libraries in FOREIGN.items():
        if name == room or name.startswith(room + "."):
            allowed = allowed | libraries
    for imported in imports(MODULES[name]):
        top = imported.split(".", maxsplit=1)[0]
        if top != "routecanary" and top not in sys.stdlib_module_names:
            assert top in allowed, f"{name} imports {imported}"


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in MODULES
        if name.split(".", maxsplit=1)[0] in STAGES | {"domain", "study", "telemetry", "complaint"}
    ],
)
def test_a_stage_is_pure(name: str) -> None:
    """No `async`, no clock reading, no file and no global randomness under a stage or in the domain."""
    forbidden = {"time", "asyncio", "socket", "pathlib", "os", "sqlite3", "threading", "subprocess"}
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.AsyncFunctionDef), f"{name}:{node.lineno} is async"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "open", f"{name}:{node.lineno} opens a file"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            said = f"{node.value.id}.{node.attr}"
            assert said not in {"datetime.now", "datetime.utcnow"}, f"{name}:{node.lineno} reads the clock"
            assert node.value.id != "random" or node.attr == "Random", (
                f"{name}:{node.lineno} uses global chance"
            )
    for imported in imports(MODULES[name]):
        assert imported.split(".", maxsplit=1)[0] not in forbidden, f"{name} imports {imported}"


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[0] in STAGES - {"routing"}])
def test_what_decides_knows_nothing_of_telemetry(name: str) -> None:
    """What users were served comes from outside: it is no verdict, and no stage before routing can see it."""
    for imported in imports(MODULES[name]):
        assert imported not in {"routecanary.domain.generation", "routecanary.domain.leak"}, name


@pytest.mark.parametrize("name", ["event", "state", "round", "policy", "evidence", "verdict"])
def test_no_value_of_the_decision_holds_telemetry(name: str) -> None:
    """Nor can it come in by a value that is handed to the decision."""
    hidden = {"generation", "leak", "wanted", "operating", "operation"}
    for imported in imports(MODULES[f"domain.{name}"]):
        assert imported.rpartition(".")[2] not in hidden, imported


def test_the_decision_core_is_standard_library_only() -> None:
    """Deciding needs nothing that an application would have to install."""
    for name, path in MODULES.items():
        if name.split(".", maxsplit=1)[0] in {"domain", "decide", "routing", "client", "errors", "clock"}:
            for imported in imports(path):
                top = imported.split(".", maxsplit=1)[0]
                assert top == "routecanary" or top in sys.stdlib_module_names, f"{name} imports {imported}"
