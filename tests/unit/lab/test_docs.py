"""The lab's page is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routecanary.lab import shape
from routecanary.lab.fault import Amount, Fault, ListingFault
from routecanary.lab.faults import FAULTS, LISTING_FAULTS
from routecanary.lab.host import Account, Expectation
from routecanary.lab.scenario import builtin_names

PAGE = (Path(__file__).parents[3] / "docs" / "lab.md").read_text(encoding="utf-8")
TABLES = (
    *(shape.ScenarioTable, shape.ModelTable, shape.RouteTable, shape.FaultTable, shape.NoiseTable),
    *(shape.KeyTable, shape.GuardrailTable),
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_key_is_documented(table: type[shape.Table]) -> None:
    """Each key of a scenario file stands on the page under the name that the file uses."""
    for name, field in table.model_fields.items():
        key = field.alias or name
        assert f"`{key}`" in PAGE or f"noise.{key}" in PAGE, key


@pytest.mark.parametrize("fault", [*FAULTS, *LISTING_FAULTS], ids=lambda fault: fault.name)
def test_every_fault_is_documented(fault: Fault | ListingFault) -> None:
    """A row names the fault, whoever sees it, its parameters and their defaults."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{fault.name}` |"))
    _, _, seers, verdicts, *_ = (cell.strip() for cell in row.split("|"))
    assert seers == ", ".join(fault.seen_by)
    assert verdicts == ", ".join(fault.gives)
    for key, parameter in fault.parameters.items():
        assert f"`{key}`" in row
        if isinstance(parameter, Amount):
            assert f"`{key}` {parameter.default:g} (" in row


def test_every_fault_has_its_figures() -> None:
    """The page of the judges keeps a row of the matrix for each fault: `benchmarks/faults.py --markdown`."""
    page = (Path(__file__).parents[3] / "docs" / "judges.md").read_text(encoding="utf-8")
    section = page[page.index("## Against the lab") :]
    named = re.findall(r"^\| `(\w+)` \| \d+ \|", section, re.MULTILINE)
    assert sorted(named) == sorted(fault.name for fault in FAULTS)


def test_every_word_is_documented() -> None:
    """States of the account, expectations and shipped scenarios are all named."""
    for word in (*Account, *Expectation, *builtin_names()):
        assert f"`{word}`" in PAGE, word
