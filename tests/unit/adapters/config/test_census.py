"""Every option is documented, and the template says what the defaults are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from routecanary.adapters.config.load import settings_from_toml, template_text
from tests.unit.adapters.config.options import MODEL, Option, options

DOCS = Path(__file__).parents[4] / "docs" / "configuration.md"
ROWS = {
    cells[0].strip("`"): cells
    for line in DOCS.read_text(encoding="utf-8").splitlines()
    if line.startswith("| `") and len(cells := [cell.strip() for cell in line.strip("|").split(" | ")]) >= 3
}
OPTIONS = tuple(options())
ENVIRON = {"HOME": "/home/ada"}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.path)
def test_an_option_is_documented_with_its_default_and_range(option: Option) -> None:
    """Its row in docs/configuration.md says what the schema says."""
    cells = ROWS[option.path]
    assert cells[1].strip("`") == option.default
    assert cells[2], "a range"
    if option.allowed is not None:
        assert option.allowed.endswith(cells[2])


def test_nothing_is_documented_that_is_no_option() -> None:
    """A row of an option that went away would promise it."""
    assert set(ROWS) == {option.path for option in OPTIONS}


def settings(text: str):
    return settings_from_toml(text, "x.toml", base=Path("/etc/canary"), environ=ENVIRON)


def test_the_template_is_the_defaults() -> None:
    """The file that `init` writes changes nothing."""
    assert settings(template_text()) == settings("")


def uncommented() -> str:
    """Set every option of the template that is commented out, the model's block last."""
    head, rest = re.sub(r"^#(?=[\w.]+ = )", "", template_text(), flags=re.MULTILINE).split("initial_mode = ")
    models, rest = rest.split("\n# ---- Where the answers", 1)
    mode, models = re.sub(r"^# (?=\[|\w+ = )", "", models, flags=re.MULTILINE).split("\n", 1)
    one_key = rest.replace("\napi_key_env =", "\n# api_key_env =").replace("\nkey_env =", "\n# key_env =")
    return f"{head}initial_mode = {mode}\n# {one_key}\n{models}"


def test_the_template_shows_every_option() -> None:
    """Each option has its line, set or commented out, and each example is one that is accepted."""
    text = uncommented()
    assert settings(text).models[0].model == "author/slug"
    table = tomllib.loads(text)
    for option in OPTIONS:
        here = table
        for part in option.path.replace(MODEL, "models.author/slug").replace("NAME", "ops").split("."):
            if part in {"api_key_env", "key_env", "secret_file"}:  # not together with the other place
                break
            assert part in here, f"{option.path} is not in the template"
            here = here[part]


def test_the_template_starts_in_observe_mode_and_holds_no_key() -> None:
    """A newcomer's first run can keep no traffic away."""
    assert settings(template_text()).initial_mode == "observe"
    assert "sk-" not in template_text()
