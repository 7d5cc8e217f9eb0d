"""Our policies and other people's rules, on the same simulated rounds.

    python benchmarks/policies.py [--scenario NAME ...] [--scale X] [--seed N] [--check]
    python benchmarks/policies.py --curve [FILE.svg]
    python benchmarks/policies.py --check-chain [--years N] [--budget X]
    python benchmarks/policies.py --speed
    python benchmarks/policies.py --knobs

The first prints a block for each scenario and a row for each policy; all of them decide on the same rounds,
drawn from the same seed. `--scale` multiplies how many years of each scenario are simulated. With `--check`
it exits 1 when a figure that docs/policy.md promises is missed, or a policy of ours breached floor or share.
A fault that began while its host was away is not counted as found or missed; `+n` says how many there were.

`--curve` prints delay against budget by the exact chain, and draws it. `--check-chain` counts false alarms
over so many simulated model-years and lays them beside the chain; it exits 1 when an interval misses.
`--speed` says how many route-rounds a second one core decides. `--knobs` shows what a policy's numbers do.

Rivals are given the canary's verdicts as if they were status codes (routecanary.simulate.rivals): more than
they would ever see. "At our pace" stretches a rival's own times, and changes nothing else: a minute or an
interval becomes a round, and for the success rate, which wants a hundred requests in an interval, a day.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from random import Random

from routecanary.decide.step import decided
from routecanary.domain.interval import exact_count_interval
from routecanary.domain.names import CONTRACT_NAMES
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.state import ModelState
from routecanary.replay.printed import printed
from routecanary.replay.run import Accepted, replay_lines
from routecanary.simulate.alarms import check_alarms
from routecanary.simulate.curve import FIRSTS, budget_curve, curve_chart
from routecanary.simulate.figures import quantile
from routecanary.simulate.lines import line_of
from routecanary.simulate.measures import Measures
from routecanary.simulate.ours import BREACHES, PolicyPlayer
from routecanary.simulate.player import Player
from routecanary.simulate.rivals.envoy import EnvoyConsecutive, EnvoySuccessRate
from routecanary.simulate.rivals.litellm import LiteLlm
from routecanary.simulate.rivals.strikes import one_strike, two_rounds
from routecanary.simulate.rounds import MODEL, rounds_of
from routecanary.simulate.run import Simulated, simulate
from routecanary.simulate.scenario import Scenario
from routecanary.simulate.shipped import shipped_names, shipped_scenario

Makers = Mapping[str, Callable[[], Player]]

ROUND = timedelta(minutes=30)
A_DAY = timedelta(days=1)  # brings a host the hundred requests that a success rate needs
BUDGET = 0.1  # false suspensions a year and model of 30 routes

STREAK = Policy()
EVIDENCE = Policy(trigger=Trigger.EVIDENCE, false_suspensions_per_year=BUDGET)
BOTH = Policy(trigger=Trigger.BOTH, false_suspensions_per_year=BUDGET)
OURS = {
    "streak (the default)": STREAK,
    f"evidence, {BUDGET:g} a year": EVIDENCE,
    f"both, {BUDGET:g} a year": BOTH,
}

YEARS = {
    "quiet": 3.0, "repeats": 0.6, "persistent": 1.1, "intermittent-one": 2.8, "intermittent-three": 2.8,
    "faint": 1.8, "drifting": 1.0, "diurnal": 1.0, "correlated": 1.0, "relapsing": 1.0, "weather": 1.0,
    "churn": 1.0, "judge-regression": 0.3, "judge-few": 0.6, "judge-question": 0.3, "few-hosts": 2.0,
}  # fmt: skip


def rivals() -> Makers:
    return {
        "LiteLLM cooldowns, as documented": lambda: LiteLlm(ROUND),
        "LiteLLM cooldowns, at our pace": lambda: LiteLlm(ROUND, minute=ROUND),
        "Envoy consecutive 5xx, as documented": lambda: EnvoyConsecutive(ROUND),
        "Envoy consecutive 5xx, at our pace": lambda: EnvoyConsecutive(ROUND, interval=ROUND),
        "Envoy success rate, as documented": lambda: EnvoySuccessRate(ROUND),
        "Envoy success rate, at our pace": lambda: EnvoySuccessRate(ROUND, interval=A_DAY),
        "one strike": lambda: one_strike(ROUND),
        "one strike, confirmed": lambda: one_strike(ROUND, confirmed=frozenset(CONTRACT_NAMES)),
        "two rounds, language alone confirmed": lambda: two_rounds(ROUND),
    }


def ours(policies: Mapping[str, Policy]) -> Makers:
    return {name: lambda policy=policy: PolicyPlayer(policy) for name, policy in policies.items()}


# The table


def compare(scenarios: Sequence[Scenario], scale: float, seed: int) -> list[Simulated]:
    players = {**ours(OURS), **rivals()}
    results = []
    for scenario in scenarios:
        years = YEARS.get(scenario.name, 1.0) * scale
        simulated = simulate(scenario, players, years=years, seed=seed)
        show(simulated, list(players))
        same = sum(replays_alike(scenario, policy, seed) for policy in OURS.values())
        print(
            f"  events equal to a replay's over the first {SAMPLE} rounds: {same} of {len(OURS)} policies\n"
        )
        results.append(simulated)
    return results


HEAD = (
    f"  {'policy':38} {'false a year (95 %)':>24} {'found':>9} {'rounds':>11} {'hours':>11} "
    f"{'bad answers':>11} {'kept off':>8} {'healthy lost':>12}"
)


def show(simulated: Simulated, names: Sequence[str]) -> None:
    scenario = simulated.scenario
    print(f"{scenario.name}: {scenario.about}")
    without = next(iter(simulated.measures.values()))
    bad = without.faulty_answers_without / max(1, without.rounds)
    print(
        f"  {simulated.model_years:.2f} model-years in {simulated.lives} lives, {simulated.route_rounds:,} "
        f"route-rounds, {simulated.probes:,} probes for ${simulated.dollars:,.0f}; "
        f"{simulated.repeated:,} of {simulated.confirmed:,} confirmations of a chance failure failed again; "
        f"bad answers without anybody: {100 * bad:.3f} %"
    )
    print(HEAD)
    for name in names:
        print(f"  {name:38} {row(simulated, simulated.measures[name])}")
    for name in names:
        noted = {
            key: count for key, count in sorted(simulated.measures[name].noted.items()) if key not in BREACHES
        }
        if noted:
            print(f"    {name}: " + ", ".join(f"{key} {count:,}" for key, count in noted.items()))


def row(simulated: Simulated, measures: Measures) -> str:
    years, rounds = simulated.model_years, max(1, measures.rounds)
    low, high = exact_count_interval(measures.false_suspensions)
    false = f"{measures.false_suspensions / years:,.2f} ({low / years:,.2f}–{high / years:,.2f})"
    faults = len(measures.delay_rounds) + measures.missed
    found = f"{len(measures.delay_rounds)}/{faults}" if faults else "–"
    found += f"+{measures.out_already}" if measures.out_already else ""
    bad, left = measures.faulty_answers_without, measures.faulty_answers_with
    off = f"{100 * (1 - left / bad):.1f} %" if bad else "–"
    return (
        f"{false:>24} {found:>9} {delays(measures.delay_rounds, faults, '.0f'):>11} "
        f"{delays(measures.delay_hours, faults, '.1f'):>11} {100 * left / rounds:>9.3f} % {off:>8} "
        f"{measures.healthy_hours_lost / years:>10,.0f} h"
    )


def delays(found: Sequence[float], faults: int, form: str) -> str:
    """Write median and 95 %; – where so many were never found."""
    if not faults:
        return "–"
    both = [quantile(found, faults, share) for share in (0.5, 0.95)]
    return " / ".join("–" if value is None else format(value, form) for value in both)


SAMPLE = 300  # rounds


def replays_alike(scenario: Scenario, policy: Policy, seed: int) -> bool:
    """Write the beginning of the first life as a trace, replay it, and compare every printed event."""
    state, lines, events = ModelState.empty(MODEL), [], []
    for number, told in enumerate(rounds_of(scenario, Random(f"{seed}/0"))):
        if number == SAMPLE:
            break
        lines.append(line_of(told.line))
        followed, state = decided(state, told.line, policy)
        events += [shown for event in followed if (shown := printed(event)) is not None]
    replayed = list(replay_lines(lines, policy))
    assert all(isinstance(each, Accepted) for each in replayed)
    again = [printed(event) for each in replayed for event in each.events]  # type: ignore[union-attr]
    return events == [shown for shown in again if shown is not None]


def promises(results: Sequence[Simulated]) -> list[str]:
    """Name what docs/policy.md promises and these results miss."""
    missed = []
    most = {"persistent": 2, "intermittent-one": 30, "intermittent-three": 12}
    for simulated in results:
        for name in OURS:
            measures = simulated.measures[name]
            missed += [
                f"{simulated.scenario.name}: {name}: {breach}"
                for breach in BREACHES
                if measures.noted[breach]
            ]
        measures = simulated.measures[f"evidence, {BUDGET:g} a year"]
        bound = most.get(simulated.scenario.name)
        median = quantile(measures.delay_rounds, len(measures.delay_rounds) + measures.missed, 0.5)
        if bound is not None and (median is None or median > bound):
            missed.append(f"{simulated.scenario.name}: median of {median} rounds, not at most {bound}")
        low, _ = exact_count_interval(measures.false_suspensions)
        if simulated.scenario.name == "quiet" and low / simulated.model_years > BUDGET:
            missed.append(f"quiet: {measures.false_suspensions} false suspensions are more than the budget")
    return missed


# The exact chain


def curve(file: Path | None) -> None:
    rate = 0.2
    points = budget_curve(rate)
    print(f"Rounds until evidence finds a fault of {rate:.0%}: exact chain, 30 routes, 1 % natural failure")
    heads = [
        f"{name}, {firsts} attempt{'s' * (firsts > 1)}" for firsts in FIRSTS for name in ("median", "95 %")
    ]
    print(f"{'budget a year':>13} {'M at least':>12} " + " ".join(f"{head:>18}" for head in heads))
    for point in points:
        said = [value for place in range(len(FIRSTS)) for value in (point.median[place], point.p95[place])]
        print(
            f"{point.budget:>13g} {math.exp(point.log_threshold):>12,.0f} "
            + " ".join(f"{'–' if value is None else value:>18}" for value in said)
        )
    if file is not None:
        file.write_text(curve_chart(points, rate) + "\n", encoding="utf-8")


def check_chain(years: float, budget: float, seed: int, hosts: int) -> bool:
    began = time.process_time()
    checks = check_alarms(years, seed=seed, budget=budget, hosts=hosts)
    print(
        f"False alarms over {years:g} model-years of {hosts} healthy routes that fail 1 % of their attempts; "
        f"declared: {budget:g} a year. Seed {seed}, {time.process_time() - began:.0f} s"
    )
    print(
        f"{'contract':12} {'attempts at risk':>17} {'alarms':>7} {'by the chain':>13} {'declared':>9} "
        f"{'alarms per million attempts (99 %)':>36} {'by the chain':>13}"
    )
    for check in checks:
        verdict = "contained" if check.contained else "MISSED"
        low, high = (1e6 * each for each in check.interval)
        seen = f"{1e6 * check.alarms / check.attempts:.3f} ({low:.3f}–{high:.3f})"
        print(
            f"{check.contract:12} {check.attempts:>17,} {check.alarms:>7,} "
            f"{check.exact * check.attempts:>13.1f} {check.declared * check.attempts:>9.1f} {seen:>36} "
            f"{1e6 * check.exact:>13.3f} {verdict}"
        )
    total = sum(check.alarms for check in checks)
    expected = sum(check.exact * check.attempts for check in checks)
    low, high = exact_count_interval(total)
    inside = low <= expected <= high
    print(
        f"all: {total} alarms, {total / years:.3f} a year ({low / years:.3f}–{high / years:.3f}); "
        f"by the chain {expected / years:.3f}; {'contained' if inside else 'MISSED'}"
    )
    return inside and all(check.contained for check in checks)


# What the numbers change


def knobs(seed: int, scale: float) -> None:
    """Show how budget, confidence, floor and share change what a policy does."""
    policies = {"streak": STREAK, "streak, rounds_to_suspend = 3": replace(STREAK, rounds_to_suspend=3)}
    for budget in (0.01, 0.1, 1.0, 10.0):
        policies[f"evidence, {budget:g} a year"] = replace(EVIDENCE, false_suspensions_per_year=budget)
    policies["evidence, evidence_to_recover = 1000"] = replace(EVIDENCE, evidence_to_recover=1_000.0)
    policies["evidence, p0_min = 0.05"] = replace(EVIDENCE, p0_min=0.05)
    policies["evidence, p1_min = 0.1"] = replace(EVIDENCE, p1_min=0.1)
    for name, years in (("intermittent-one", 1.4), ("faint", 0.9), ("repeats", 0.4)):
        knob(name, policies, years * scale, seed)
    bounds = {}
    for floor, share in ((1, "1/2"), (2, "1/2"), (3, "1/2"), (2, "1/3"), (2, "2/3"), (1, "1")):
        bounded = replace(BOTH, floor=floor, max_suspended_share=Fraction(share))
        bounds[f"both, floor = {floor}, share = {share}"] = bounded
    knob("few-hosts", bounds, 2.0 * scale, seed)


def knob(name: str, policies: Mapping[str, Policy], years: float, seed: int) -> None:
    simulated = simulate(shipped_scenario(name), ours(policies), years=years, seed=seed)
    print(f"{name}: {simulated.model_years:.2f} model-years")
    print(HEAD)
    for each in policies:
        print(f"  {each:38} {row(simulated, simulated.measures[each])}", flush=True)


def speed() -> None:
    """Time the whole simulator, and the decision alone, on quiet rounds."""
    scenario = replace(shipped_scenario("quiet"), life=timedelta(days=20))
    for name, policy in (("streak", STREAK), ("evidence", EVIDENCE)):
        players = ours({name: policy})
        simulate(scenario, players, years=0.01, seed=7)  # warm: thresholds are kept
        began = time.process_time()
        simulated = simulate(scenario, players, years=0.2, seed=1)
        whole = simulated.route_rounds / (time.process_time() - began)
        rounds = [told.line for told in rounds_of(scenario, Random("1/0"))]
        gc.freeze()  # the rounds are not the decision's to look through
        state = ModelState.empty(MODEL)
        began = time.process_time()
        for line in rounds:
            state = decided(state, line, policy).state
        alone = sum(len(line.routes) for line in rounds) / (time.process_time() - began)
        print(
            f"{name:9} {whole:>9,.0f} route-rounds a second of CPU, the whole simulator; "
            f"{alone:>9,.0f} through decide.step alone"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenario", nargs="+", choices=shipped_names(), default=list(YEARS))
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual years of each scenario")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="exit 1 when a promise is missed")
    parser.add_argument("--curve", nargs="?", const="", metavar="FILE.svg")
    parser.add_argument("--check-chain", action="store_true")
    parser.add_argument("--years", type=float, default=60.0, help="of one model, for --check-chain")
    parser.add_argument("--budget", type=float, default=5.0, help="declared, a year, for --check-chain")
    parser.add_argument("--hosts", type=int, default=30, help="of the model, for --check-chain")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--knobs", action="store_true")
    options = parser.parse_args()
    if options.curve is not None:
        curve(Path(options.curve) if options.curve else None)
        return 0
    if options.check_chain:
        return 0 if check_chain(options.years, options.budget, options.seed, options.hosts) else 1
    if options.speed:
        speed()
        return 0
    if options.knobs:
        knobs(options.seed, options.scale)
        return 0
    results = compare([shipped_scenario(name) for name in options.scenario], options.scale, options.seed)
    missed = promises(results)
    for each in missed:
        print(f"missed: {each}")
    if not missed:
        print("every promise kept; no policy of ours breached floor or share")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
