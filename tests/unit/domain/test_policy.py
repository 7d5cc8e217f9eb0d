"""Which numbers does the decision use?"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from routecanary.domain.policy import Policy, Trigger, policy_from_mapping, policy_to_mapping
from routecanary.errors import PolicyError

ALL = {
    "rounds_to_suspend": 3,
    "rounds_to_recover": [1, 2],
    "streak_ttl": "5h",
    "min_round_gap": "0s",
    "ladder": ["6h", "1d12h"],
    "forget_after": "30d",
    "floor": 1,
    "max_suspended_share": 0.29,
    "stale_after": "90m",
    "common_cause_min_routes": 5,
    "common_cause_share": 1,
    "release_when_empty": False,
    "trigger": "both",
    "false_suspensions_per_year": 0.1,
    "round_period": "10m",
    "attempts_per_round": 3,
    "p0_min": 0.01,
    "p0_window": "2d",
    "p0_prior": [2, 48],
    "p1_min": 0.3,
    "p1_ratio": 5,
    "evidence_to_recover": 100,
}


def test_defaults_are_the_policys() -> None:
    """An empty table is the policy as it is documented."""
    assert policy_from_mapping({}, "policy.toml") == Policy()
    assert Policy() == Policy(
        rounds_to_suspend=2,
        rounds_to_recover=(2,),
        streak_ttl=timedelta(hours=6),
        min_round_gap=timedelta(minutes=20),
        ladder=(timedelta(days=1), timedelta(days=3), timedelta(days=7)),
        forget_after=timedelta(days=14),
        floor=2,
        max_suspended_share=Fraction(1, 2),
        stale_after=timedelta(hours=6),
        common_cause_min_routes=4,
        common_cause_share=Fraction(1, 2),
        release_when_empty=True,
        trigger=Trigger.STREAK,
        false_suspensions_per_year=1.0,
        round_period=timedelta(minutes=30),
        attempts_per_round=7,
        p0_min=0.005,
        p0_window=timedelta(days=7),
        p0_prior=(1.0, 99.0),
        p1_min=0.2,
        p1_ratio=4.0,
        evidence_to_recover=20.0,
    )


def test_every_name_is_read() -> None:
    """Each number of the policy can be set, and to nothing but what was written."""
    assert set(ALL) == {field.name for field in fields(Policy)}
    assert policy_from_mapping(ALL, "policy.toml") == Policy(
        rounds_to_suspend=3,
        rounds_to_recover=(1, 2),
        streak_ttl=timedelta(hours=5),
        min_round_gap=timedelta(),
        ladder=(timedelta(hours=6), timedelta(hours=36)),
        forget_after=timedelta(days=30),
        floor=1,
        max_suspended_share=Fraction(29, 100),
        stale_after=timedelta(minutes=90),
        common_cause_min_routes=5,
        common_cause_share=Fraction(1),
        release_when_empty=False,
        trigger=Trigger.BOTH,
        false_suspensions_per_year=0.1,
        round_period=timedelta(minutes=10),
        attempts_per_round=3,
        p0_min=0.01,
        p0_window=timedelta(days=2),
        p0_prior=(2.0, 48.0),
        p1_min=0.3,
        p1_ratio=5.0,
        evidence_to_recover=100.0,
    )


def test_a_policy_is_written_as_it_was_read() -> None:
    """Every name, as plain JSON values; what an event keeps is the policy."""
    assert policy_to_mapping(Policy()).keys() == ALL.keys()
    for policy in (Policy(), policy_from_mapping(ALL, "p")):
        table = json.loads(json.dumps(policy_to_mapping(policy)))
        assert policy_from_mapping(table, "log") == policy


BAD = [
    ("flooor", 2), ("triger", "streak"), ("", 2),
    ("rounds_to_suspend", 0), ("rounds_to_suspend", True), ("rounds_to_suspend", 2.0),
    ("rounds_to_suspend", "2"), ("rounds_to_suspend", 10**40),
    ("rounds_to_recover", 2), ("rounds_to_recover", []), ("rounds_to_recover", [0]),
    ("rounds_to_recover", [2, True]), ("rounds_to_recover", [[2]]), ("rounds_to_recover", [2] * 101),
    ("streak_ttl", 21600), ("streak_ttl", "0s"), ("streak_ttl", "six hours"), ("streak_ttl", None),
    ("min_round_gap", "-1m"), ("min_round_gap", True),
    ("ladder", "1d"), ("ladder", []), ("ladder", ["1d", 3]), ("ladder", ["0s"]), ("ladder", {"1": "1d"}),
    ("forget_after", "0s"), ("forget_after", "40000d"),
    ("floor", 0), ("floor", -1), ("floor", True), ("floor", 1.5),
    ("max_suspended_share", 1.01), ("max_suspended_share", -0.1), ("max_suspended_share", True),
    ("max_suspended_share", "0.5"), ("max_suspended_share", float("nan")),
    ("max_suspended_share", float("inf")),
    ("stale_after", ""), ("stale_after", ["6h"]),
    ("common_cause_min_routes", 0), ("common_cause_min_routes", False),
    ("common_cause_share", 2), ("common_cause_share", None), ("common_cause_share", 10**400),
    ("release_when_empty", 1), ("release_when_empty", "yes"),
    ("trigger", "Streak"), ("trigger", 1), ("trigger", None), ("trigger", ["both"]),
    ("false_suspensions_per_year", 0), ("false_suspensions_per_year", -1.0),
    ("false_suspensions_per_year", True), ("false_suspensions_per_year", float("nan")),
    ("round_period", "0s"), ("round_period", 1800), ("attempts_per_round", 0), ("attempts_per_round", 7.0),
    ("p0_min", 0), ("p0_min", 0.6), ("p0_min", "0.01"), ("p0_window", "31d"), ("p0_window", "0s"),
    ("p0_prior", 1), ("p0_prior", [1]), ("p0_prior", [1, 0]), ("p0_prior", [1, "99"]),
    ("p1_min", 1), ("p1_min", 0), ("p1_ratio", 1), ("p1_ratio", float("inf")),
    ("evidence_to_recover", 0.5), ("evidence_to_recover", False),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), BAD, ids=[f"{key}={value!r:.20}" for key, value in BAD])
def test_bad_value_is_refused(key: str, value: object) -> None:
    """The error names the file, the key and what is allowed, on one line."""
    with pytest.raises(PolicyError) as caught:
        policy_from_mapping({key: value}, "policy.toml")
    error = caught.value
    assert error.place == "policy.toml"
    assert error.key == key
    assert error.allowed
    assert "\n" not in str(error)


def test_every_number_is_documented_with_its_default() -> None:
    """The table of docs/policy.md is the policy: each name once, with the default that ships."""
    page = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| .+ \| .+ \|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == [field.name for field in fields(Policy)]
    table = tomllib.loads("\n".join(f"{name} = {default}" for name, default in rows))
    assert policy_from_mapping(table, "docs/policy.md") == Policy()
