"""Every rule of the policy just before, at and just after its edge: traces with what must follow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from routecanary.domain.policy import Policy
from routecanary.replay.run import Accepted, Rejected, main, read_policy, replay_lines

FOLDER = Path(__file__).parent / "traces"
TRACES = sorted(path.stem for path in FOLDER.glob("*.jsonl") if not path.name.endswith(".expected.jsonl"))


def printed_by_line(lines: Iterable[str]) -> list[list[str]]:
    """Group printed events by the line that they follow from; their order within it is free."""
    groups: list[list[str]] = [[]]
    for line in lines:
        event = json.loads(line)
        groups[-1].append(json.dumps(event, sort_keys=True))
        if event["event"] == "exclusions":
            groups.append([])
    return [[*sorted(group[:-1]), *group[-1:]] for group in groups]


@pytest.mark.parametrize("name", TRACES)
def test_trace(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A replay prints exactly the expected events, rejects exactly the expected lines, and says so."""
    policy, refused = FOLDER / f"{name}.toml", FOLDER / f"{name}.rejected.txt"
    rejected = [int(number) for number in refused.read_text().split()] if refused.exists() else []
    arguments = [str(FOLDER / f"{name}.jsonl"), *(["--policy", str(policy)] if policy.exists() else [])]
    code = main(arguments)
    out, err = capsys.readouterr()
    expected = (FOLDER / f"{name}.expected.jsonl").read_text().splitlines()
    assert printed_by_line(out.splitlines()) == printed_by_line(expected)
    assert [int(line.split(".jsonl:")[1].split(":")[0]) for line in err.splitlines()] == rejected
    assert code == (2 if rejected else 0)


@pytest.mark.parametrize("name", TRACES)
def test_models_of_a_trace_do_not_touch_each_other(name: str) -> None:
    """Told alone, each model's lines give the events that they give among the others."""
    policy_file = FOLDER / f"{name}.toml"
    policy = read_policy(policy_file) if policy_file.exists() else Policy()
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    together = [result for result in replay_lines(lines, policy) if isinstance(result, Accepted)]
    for model in {result.line.model for result in together}:
        alone = replay_lines([line for line in lines if f'"model":"{model}"' in line], policy)
        assert [result.events for result in alone if not isinstance(result, Rejected)] == [
            result.events for result in together if result.line.model == model
        ]


def test_every_trace_says_why() -> None:
    """The table beside the traces names each of them, once, and nothing else."""
    table = re.findall(r"^\| `(\w+)` \| \S", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(table) == TRACES
