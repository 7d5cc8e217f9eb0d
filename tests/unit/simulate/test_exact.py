"""Is the exact chain what the real decision does?"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path
from random import Random

import pytest

from routecanary.decide.evidence import scale_at
from routecanary.decide.thresholds import mean_attempts
from routecanary.domain.names import CONTRACT_NAMES
from routecanary.domain.policy import Policy, Trigger
from routecanary.simulate.alarms import P0, check_alarms
from routecanary.simulate.curve import Point, budget_curve, curve_chart
from routecanary.simulate.exact import chances_to_fire, delay, hazard

DOCS = Path(__file__).parents[3] / "docs"
POLICY_PAGE = (DOCS / "policy.md").read_text(encoding="utf-8")
EVIDENCE = Policy(trigger=Trigger.EVIDENCE, false_suspensions_per_year=0.1)
SCALE = scale_at(P0, EVIDENCE, routes=30)


def walked(rate: float, firsts: int, rng: Random) -> int:
    """Walk one fault by the letter of docs/policy.md, attempt by attempt, until it fires; in rounds."""
    log_m, fired_by, number = 0.0, set[int](), 0
    while True:
        number += 1
        for _ in range(firsts):
            attempts = [rng.random() < rate]
            if attempts[0]:
                attempts += [rng.random() < rate, rng.random() < rate]
            for fail in attempts:
                log_m = max(0.0, log_m + (SCALE.gain if fail else -SCALE.loss))
                if log_m == 0.0:
                    fired_by.clear()
                elif fail:
                    fired_by.add(number)
                    if len(fired_by) >= 2 and log_m >= SCALE.limit.log_m:
                        return number


@pytest.mark.parametrize(("rate", "firsts"), [(0.208, 1), (0.208, 3), (0.6, 1), (1.0, 3)])
def test_delays_are_those_of_walks(rate: float, firsts: int) -> None:
    """Two thousand walks lie as the chances say, at each of several rounds."""
    rng = Random(8)
    lengths = [walked(rate, firsts, rng) for _ in range(2_000)]
    rounds = max(lengths)
    chances = list(islice(chances_to_fire(rate, firsts, SCALE), rounds))
    for by in sorted({2, 3, rounds // 4 + 1, rounds // 2 + 1}):
        expected = sum(chances[:by])
        seen = sum(length <= by for length in lengths) / len(lengths)
        assert abs(seen - expected) < 5 * math.sqrt(max(expected * (1 - expected), 1e-4) / len(lengths)), by


def test_never_in_one_round_and_surely_in_two() -> None:
    """However many attempts of one round fail, fails of two rounds are needed."""
    chances = list(islice(chances_to_fire(1.0, 3, SCALE), 2))
    assert chances == pytest.approx([0.0, 1.0])
    assert delay(1.0, 1, SCALE, 0.95) == 2


def test_a_rate_that_never_fires_is_never_found() -> None:
    """Nothing fails, nothing fires."""
    assert delay(0.0, 1, SCALE, 0.5, most=50) is None


def test_hazard_is_the_threshold_s_own_chain() -> None:
    """Where one round alone never fires, both chains say the same; a round of many attempts fires less."""
    steps = 4
    step = SCALE.loss / steps
    up, alarm = round(SCALE.gain / step), round(SCALE.limit.log_m / step)
    attempts = mean_attempts(P0, up, steps, alarm)
    per_round = hazard(P0, 1, SCALE, steps_of_a_pass=steps, rounds=150)
    assert (1 + 2 * P0) / per_round == pytest.approx(attempts, rel=1e-3)
    assert hazard(P0, 3, SCALE, steps_of_a_pass=steps, rounds=150) < 3 * per_round


def test_acceptance_by_the_exact_chain() -> None:
    """At 0.1 false suspensions a year: 30 rounds seen by one attempt, 12 by three; 2 if always there."""
    (point,) = budget_curve(0.2, budgets=(0.1,))
    assert point.median[0] is not None
    assert point.median[0] <= 30
    assert point.median[1] is not None
    assert point.median[1] <= 12
    (persistent,) = budget_curve(1.0, budgets=(0.1,))
    assert persistent.p95 == (2, 2)


@pytest.fixture(scope="module")
def curve() -> tuple[Point, ...]:
    return budget_curve(0.2)


def test_a_larger_budget_never_takes_longer(curve: tuple[Point, ...]) -> None:
    """Neither the threshold nor a delay grows with it."""
    for before, after in pairwise(curve):
        assert after.log_threshold <= before.log_threshold
        for earlier, later in zip(before.median + before.p95, after.median + after.p95, strict=True):
            assert earlier is not None
            assert later is not None
            assert later <= earlier


def test_the_page_shows_the_curve_as_it_is(curve: tuple[Point, ...]) -> None:
    """Table and drawing are what the command prints and draws."""
    table = re.findall(r"^\| ([\d.]+) \| ([\d,]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", POLICY_PAGE, re.M)
    assert [tuple(float(cell.replace(",", "")) for cell in row) for row in table] == [
        (
            point.budget,
            round(math.exp(point.log_threshold)),
            *(value for pair in zip(point.median, point.p95, strict=True) for value in pair),
        )
        for point in curve
    ]
    assert (DOCS / "evidence-curve.svg").read_text(encoding="utf-8") == curve_chart(curve, 0.2) + "\n"


@pytest.mark.timeout(600)
def test_false_alarms_of_five_model_years_are_as_frequent_as_the_chain_says() -> None:
    """For each contract the exact interval of the count contains it, and no budget is exceeded.

    Five years of a model with four routes, at a budget large enough that something is counted.
    """
    checks = check_alarms(5, seed=1, budget=50, hosts=4, steps_of_a_pass=8)
    assert [check.contract for check in checks] == list(CONTRACT_NAMES)
    assert all(check.contained for check in checks), [
        (check.contract, check.alarms, check.exact * check.attempts) for check in checks
    ]
    assert all(check.exact <= check.declared for check in checks)
    counted: Counter[str] = Counter({check.contract: check.alarms for check in checks})
    assert counted.total() > 100
