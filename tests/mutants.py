"""Break the decision core one line at a time: each break must fail the test named beside it.

Run as `python -m tests.mutants`; `tests/system/test_mutants.py` does the same. Every break is laid into a
copy of the package, never into the source. It counts as killed only if the named test passes on the
unbroken copy and fails by an assertion on the broken one: an import that fails kills nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGE: Final = ROOT / "src" / "routecanary"
ROOMS: Final = ("decide", "domain", "replay")
UNIT: Final = "tests/unit/decide/"
GOLDEN: Final = "tests/golden/test_traces.py::test_trace"

_SIDE_BY_SIDE = 2  # processes
_PATIENCE = 120  # seconds for one test process
_START = """
import pytest, routecanary, sys
if not routecanary.__file__.startswith(sys.argv[1]):
    sys.exit(f"not the copy: {routecanary.__file__}")
sys.exit(pytest.main(sys.argv[2:]))
"""
_ASSERTION = re.compile(r"^E\s+(?:assert |AssertionError|Failed: DID NOT RAISE)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One broken line of `decide/`, and the test that must notice."""

    file: str  # under decide/
    old: str  # the whole line, without its indentation; stands once in the file
    new: str
    test: str  # node id


MUTANTS: Final = (
    Mutant(
        file="classify.py",
        old="if VerdictKind.FAIL in kinds:",
        new="if kinds == {VerdictKind.FAIL}:",
        test=f"{UNIT}test_classify.py::test_class_of_a_round[a fail beside a transport error]",
    ),
    Mutant(
        file="classify.py",
        old="if all(verdicts.get(contract) is VerdictKind.PASS for contract in suspects):",
        new="if any(kind is VerdictKind.PASS for kind in verdicts.values()):",
        test=f"{UNIT}test_classify.py::test_class_of_a_round[the suspect is unsure]",
    ),
    Mutant(
        file="streaks.py",
        old="if streak.failed and streak.last_at is not None and at - streak.last_at > policy.streak_ttl:",
        new="if streak.failed and streak.last_at is not None and at - streak.last_at >= policy.streak_ttl:",
        test=f"{UNIT}test_streaks.py::test_streaks[fail when the streak is as old as allowed]",
    ),
    Mutant(
        file="streaks.py",
        old="if streak.last_at is not None and at - streak.last_at < policy.min_round_gap:",
        new="if streak.last_at is not None and at - streak.last_at <= policy.min_round_gap:",
        test=f"{UNIT}test_streaks.py::test_streaks[second fail at the gap]",
    ),
    Mutant(
        file="streaks.py",
        old="too_soon = replace(streak, clean=0) if round_class is RoundClass.FAILED else streak",
        new="too_soon = streak",
        test=f"{UNIT}test_recovery.py::test_two_clean_rounds_reinstate[failed too soon to count in between]",
    ),
    Mutant(
        file="streaks.py",
        old="suspicion=streak.suspicion | failing,",
        new="suspicion=frozenset(failing),",
        test=f"{UNIT}test_suspension.py::test_second_counted_failed_round_suspends",
    ),
    Mutant(
        file="brakes.py",
        old="return any(kind is VerdictKind.PASS for name, kind in judged.items() if name not in controls)",
        new="return any(kind is VerdictKind.PASS for name, kind in judged.items())",
        test=f"{UNIT}test_brakes.py::"
        "test_filtering_fail_needs_another_route_that_continues_the_scene[only a control passes]",
    ),
    Mutant(
        file="brakes.py",
        old="if contract == FILTERING and not _host_is_to_blame(judged, controls):",
        new="if contract == FILTERING and not _host_is_to_blame(column, controls):",
        test=f"{GOLDEN}[host_or_weights]",
    ),
    Mutant(
        file="brakes.py",
        old="elif VerdictKind.FAIL in heard and contract in state.weak:",
        new="elif contract in state.weak:",
        test=f"{UNIT}test_brakes.py::"
        "test_probe_is_weak_and_recovers_on_change_only[silence does not recover]",
    ),
    Mutant(
        file="brakes.py",
        old="many = total >= policy.common_cause_min_routes and failed > policy.common_cause_share * total",
        new="many = total >= policy.common_cause_min_routes and failed >= policy.common_cause_share * total",
        test=f"{UNIT}test_brakes.py::test_fails_together_have_a_common_cause[half of four fail]",
    ),
    Mutant(
        file="brakes.py",
        old="everyone = total >= _FEWEST_OF_ONE_MIND and failed == total",
        new="everyone = failed == total",
        test=f"{UNIT}test_brakes.py::test_fails_together_have_a_common_cause[one alone fails]",
    ),
    Mutant(
        file="brakes.py",
        old="return reach(state, state.builtin) | controls | suspended",
        new="return reach(state, state.builtin) | controls | state.suspensions().keys()",
        test=f"{UNIT}test_brakes.py::test_route_suspended_for_another_contract_counts",
    ),
    Mutant(
        file="brakes.py",
        old="elif kind is not VerdictKind.SKIPPED:",
        new="else:",
        test=f"{UNIT}test_brakes.py::test_outage_is_nothing_but_transport_and_account[skipped aside]",
    ),
    Mutant(
        file="capacity.py",
        old="out = covered(state) | reach(state, state.suspensions())",
        new="out = covered(state) | frozenset(state.suspensions())",
        test=f"{UNIT}test_capacity.py::test_suspension_of_an_absent_route_still_swallows",
    ),
    Mutant(
        file="capacity.py",
        old="return frozenset(name for name in state.named - out if state.routes[name].admitted)",
        new="return frozenset(name for name in state.named - out)",
        test=f"{UNIT}test_capacity.py::test_production_routes[not one that is not admitted]",
    ),
    Mutant(
        file="capacity.py",
        old="return streak.was_clean and streak.last_at is not None "
        "and at - streak.last_at <= policy.stale_after",
        new="return streak.last_at is not None and at - streak.last_at <= policy.stale_after",
        test=f"{UNIT}test_capacity.py::test_proven_routes[only failed]",
    ),
    Mutant(
        file="capacity.py",
        old="if count == 0 and _may_release(state, policy):",
        new="if not at_floor and _may_release(state, policy):",
        test=f"{UNIT}test_capacity.py::test_one_production_route_left_releases_nothing",
    ),
    Mutant(
        file="floor.py",
        old="return bool(lost) and len(proven(state, at, policy) - lost) < policy.floor",
        new="return bool(lost) and len(proven(state, at, policy)) < policy.floor",
        test=f"{UNIT}test_suspension.py::test_floor_counts_out_what_would_be_swallowed",
    ),
    Mutant(
        file="floor.py",
        old="return out_then != out and len(out_then) > policy.max_suspended_share * len(counted)",
        new="return out_then != out and len(out_then) >= policy.max_suspended_share * len(counted)",
        test=f"{UNIT}test_suspension.py::test_share_of_suspended_routes[reaches the share]",
    ),
    Mutant(
        file="floor.py",
        old="counted = state.named - covered(state)",
        new="counted = state.named",
        test=f"{UNIT}test_suspension.py::test_share_leaves_out_covered_routes_and_controls",
    ),
    Mutant(
        file="suspension.py",
        old="if hold_until is not None and at < hold_until:",
        new="if hold_until is not None and at <= hold_until:",
        test=f"{UNIT}test_suspension.py::test_hold_blocks_until_its_time",
    ),
    Mutant(
        file="suspension.py",
        old="return (-len(outcome.failing), -outcome.streak.failed, name)",
        new="return (-outcome.streak.failed, -len(outcome.failing), name)",
        test=f"{UNIT}test_suspension.py::test_order_of_candidates[contracts before streak]",
    ),
    Mutant(
        file="suspension.py",
        old="if state.routes[name].suspension is not None or name in out_already:",
        new="if state.routes[name].suspension is not None or name in state.builtin:",
        test=f"{GOLDEN}[covered]",
    ),
    Mutant(
        file="ladder.py",
        old="and at - route.ended_at >= policy.forget_after",
        new="and at - route.ended_at > policy.forget_after",
        test=f"{UNIT}test_ladder.py::test_offences_are_forgotten_after_fourteen_days_in_freedom[15d30m-True]",
    ),
    Mutant(
        file="expiry.py",
        old="return tuple(name for name, held in state.suspensions().items() if at >= held.until)",
        new="return tuple(name for name, held in state.suspensions().items() if at > held.until)",
        test=f"{UNIT}test_expiry.py::test_route_returns_at_until[1d30m-True]",
    ),
    Mutant(
        file="expiry.py",
        old="why = obstacle(evolve(state, expired), route, at, policy)",
        new="why = obstacle(state, route, at, policy)",
        test=f"{UNIT}test_expiry.py::"
        "test_renewal_is_refused_when_it_could_not_be_suspended[too few proven routes]",
    ),
    Mutant(
        file="expiry.py",
        old="and at - streak.last_at <= policy.streak_ttl",
        new="and at - streak.last_at < policy.streak_ttl",
        test=f"{UNIT}test_expiry.py::test_still_failing_at_until_is_renewed[failed as long ago as allowed]",
    ),
    Mutant(
        file="recovery.py",
        old="return policy.rounds_to_recover[min(offence, len(policy.rounds_to_recover)) - 1]",
        new="return policy.rounds_to_recover[0]",
        test=f"{UNIT}test_recovery.py::test_second_offence_takes_longer_to_recover",
    ),
    Mutant(
        file="acts.py",
        old="if act.mode is state.mode:",
        new="if act.mode is Mode.OBSERVE and state.mode is Mode.OBSERVE:",
        test=f"{UNIT}test_acts.py::test_naming_the_mode_in_force_changes_nothing",
    ),
    Mutant(
        file="exclusions.py",
        old="return state.mode is Mode.ENFORCE and not state.released and (not state.paused or over)",
        new="return not state.released and (not state.paused or over)",
        test=f"{UNIT}test_exclusions.py::test_observe_merges_the_other_layers_only",
    ),
    Mutant(
        file="acts.py",
        old="early = state.paused_until is None or at < state.paused_until",
        new="early = state.paused_until is None or at <= state.paused_until",
        test=f"{UNIT}test_acts.py::test_the_clock_resumes_a_pause_at_its_end_only[3h-3h-True]",
    ),
    Mutant(
        file="streaks.py",
        old="return replace(streak, failed=0, suspicion=suspicion, retry_locale=None, locales=frozenset())",
        new="return replace(streak, suspicion=suspicion, retry_locale=None, locales=frozenset())",
        test=f"{UNIT}test_acts.py::test_requalifying_ends_a_streak_that_nothing_else_supports",
    ),
    Mutant(
        file="evolve.py",
        old="return _ended(state, event.route, ended_at=event.due)",
        new="return _ended(state, event.route, ended_at=event.at)",
        test=f"{UNIT}test_ladder.py::test_expiry_and_reset_may_share_a_line",
    ),
    Mutant(
        file="evolve.py",
        old="name: replace(route, offences=0, streak=replace(route.streak, clean=0), evidence={})",
        new="name: replace(route, streak=replace(route.streak, clean=0), evidence={})",
        test=f"{UNIT}test_acts.py::test_switch_of_mode_begins_anew[enforce-observe]",
    ),
    Mutant(
        file="evolve.py",
        old="return replace(begun, released=False, paused=False, paused_until=None)",
        new="return begun",
        test=f"{UNIT}test_acts.py::test_switch_ends_pause_and_release_silently_and_touches_no_hold",
    ),
    Mutant(
        file="rotation.py",
        old="return locales[(state.rounds - state.out_of_turn) % len(locales)]",
        new="return locales[(state.rounds + 1) % len(locales)]",
        test=f"{UNIT}test_rotation.py::test_rounds_take_the_locales_in_turn",
    ),
    Mutant(
        file="rotation.py",
        old="chosen[name] = retry if retry in locales and retry is not None else common",
        new="chosen[name] = out_of_turn or (retry if retry in locales and retry is not None else common)",
        test=f"{UNIT}test_rotation.py::test_a_failed_locale_goes_before_one_that_was_asked_for",
    ),
    Mutant(
        file="evolve.py",
        old="out_of_turn=state.out_of_turn + event.out_of_turn,",
        new="out_of_turn=state.out_of_turn,",
        test=f"{UNIT}test_rotation.py::test_a_locale_that_was_asked_for_takes_no_turn",
    ),
    Mutant(
        file="step.py",
        old="round_class = RoundClass.FROZEN if acted else classify(believed, suspects)",
        new="round_class = classify(believed, suspects)",
        test=f"{UNIT}test_streaks.py::test_route_touched_by_an_act_is_frozen_in_that_round",
    ),
    Mutant(
        file="step.py",
        old="if state.last_round_at is not None and line.at <= state.last_round_at:",
        new="if state.last_round_at is not None and line.at < state.last_round_at:",
        test=f"{UNIT}test_step.py::test_time_never_runs_backwards_for_rounds[at the last round]",
    ),
    Mutant(
        file="step.py",
        old="return line.at if last is None else max(line.at, last)",
        new="return line.at",
        test=f"{UNIT}test_acts.py::test_act_dated_back_is_taken_at_the_last_lines_time",
    ),
    Mutant(
        file="evidence.py",
        old="MIN_ROUNDS: Final = 2  # different rounds with a fail, without which no ratio suspends anybody",
        new="MIN_ROUNDS: Final = 1",
        test=f"{UNIT}test_evidence.py::test_persistent_fault_is_suspended_in_the_second_round",
    ),
    Mutant(
        file="evidence.py",
        old="if contract in self._silent or contract in report.control_for:",
        new="if contract in report.control_for:",
        test=f"{UNIT}test_evidence.py::test_attempts_that_a_brake_set_aside_do_not_count[common cause]",
    ),
    Mutant(
        file="evidence.py",
        old="if fail or not weak:",
        new="if True:",
        test=f"{UNIT}test_evidence.py::test_weak_probe_lowers_m_and_does_nothing_for_r",
    ),
    Mutant(
        file="evidence.py",
        old="if True in attempts and _reaches(walk.peak, scale.limit):",
        new="if _reaches(walk.peak, scale.limit):",
        test=f"{UNIT}test_evidence.py::test_blocked_by_the_floor_it_asks_again_at_the_next_fail",
    ),
    Mutant(
        file="evidence.py",
        old="locales = locales if locale is None else locales | {locale}",
        new="pass",
        test=f"{UNIT}test_evidence.py::test_locales_in_which_it_failed_are_remembered",
    ),
    Mutant(
        file="recovery.py",
        old="and recovered(state.routes[name], policy)",
        new="and True",
        test=f"{UNIT}test_evidence.py::test_two_clean_rounds_do_not_clear_what_evidence_suspended",
    ),
    Mutant(
        file="suspension.py",
        old="policy.trigger is not Trigger.EVIDENCE",
        new="True",
        test=f"{UNIT}test_evidence.py::test_streak_asks_only_where_it_is_a_trigger",
    ),
    Mutant(
        file="evidence.py",
        old="return peak.rounds >= MIN_ROUNDS and peak.log_m >= limit.log_m",
        new="return peak.log_m >= limit.log_m",
        test=f"{UNIT}test_evidence.py::test_no_budget_does_without_a_second_round",
    ),
    Mutant(
        file="evidence.py",
        old="log_m = max(0.0, log_m + (gain if fail else -loss))",
        new="log_m = log_m + (gain if fail else -loss)",
        test=f"{UNIT}test_evidence.py::test_the_ratio_begins_anew_within_a_round_too",
    ),
    Mutant(
        file="evidence.py",
        old="if rounds >= MIN_ROUNDS and log_m > peak.log_m:",
        new="if rounds >= MIN_ROUNDS:",
        test=f"{GOLDEN}[evidence]",
    ),
    Mutant(
        file="evidence.py",
        old="counted, failed, rounds, fresh, locales = 0, 0, 0, True, frozenset()",
        new="counted, failed, fresh = 0, 0, True",
        test=f"{UNIT}test_evidence.py::test_the_ratio_begins_anew_within_a_round_too",
    ),
    Mutant(
        file="peers.py",
        old="if name not in everybody.offenders:",
        new="if True:",
        test=f"{UNIT}test_peers.py::test_an_offender_s_own_attempts_are_not_taken_away_twice",
    ),
    Mutant(
        file="peers.py",
        old="rate = max(self._policy.p0_min, estimate)",
        new="rate = estimate",
        test=f"{UNIT}test_peers.py::test_rate_is_never_below_its_least",
    ),
    Mutant(
        file="peers.py",
        old="failing = len(everybody.failing) - (name in everybody.failing)",
        new="failing = len(everybody.failing)",
        test=f"{UNIT}test_evidence.py::"
        "test_others_that_fail_in_the_same_round_excuse[one of twelve may be chance]",
    ),
    Mutant(
        file="peers.py",
        old="if asked < self._policy.common_cause_min_routes:",
        new="if asked == 0:",
        test=f"{UNIT}test_peers.py::test_too_few_others_say_nothing_of_a_round",
    ),
    Mutant(
        file="peers.py",
        old="if _chance_of(failing, expected) >= _SURPRISE:",
        new="if False:",
        test=f"{UNIT}test_peers.py::test_a_round_in_which_many_others_fail_says_the_rate[2-False]",
    ),
    Mutant(
        file="peers.py",
        old="return 1 - math.pow(1 - failing / asked, 1 / tries)",
        new="return failing / asked",
        test=f"{UNIT}test_peers.py::test_a_round_in_which_many_others_fail_says_the_rate[8-True]",
    ),
    Mutant(
        file="attempts.py",
        old="if at - last.start < _DAY:",
        new="if at - last.start <= _DAY:",
        test=f"{UNIT}test_attempts.py::test_totals_run_on_from_day_to_day",
    ),
    Mutant(
        file="attempts.py",
        old="if day.start < since:",
        new="if day.start <= since:",
        test=f"{UNIT}test_peers.py::test_only_the_window_counts[7-0.1]",
    ),
    Mutant(
        file="thresholds.py",
        old="alarm = bisect_left(self._known, attempts) + 1",
        new="alarm = bisect_left(self._known, attempts)",
        test=f"{GOLDEN}[evidence]",
    ),
    Mutant(
        file="thresholds.py",
        old="mean += here * times[i]",
        new="mean = here * times[i]",
        test=f"{UNIT}test_thresholds.py::test_mean_attempts_of_walks_small_enough_to_solve_by_hand",
    ),
)


def problems() -> list[str]:
    """Lay in each break and name every one that survives, or that does not fit the source any more."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        scratch = Path(folder)
        found = _unbroken_problems(scratch / "unbroken")
        with ThreadPoolExecutor(max_workers=_SIDE_BY_SIDE) as pool:
            jobs = [
                pool.submit(_problem, mutant, scratch / str(number)) for number, mutant in enumerate(MUTANTS)
            ]
            for mutant, job in zip(MUTANTS, jobs, strict=True):
                verdict = job.result()
                print(f"{'killed' if verdict is None else verdict:10} {mutant.file:14} {mutant.new}")
                if verdict is not None:
                    found.append(f"{verdict}: {mutant.file}: {mutant.new}\n    by {mutant.test}")
    return found


def _unbroken_problems(copy: Path) -> list[str]:
    """Run every named test on a copy as it is: each must be found and pass."""
    _lay_out(copy)
    tests = sorted({mutant.test for mutant in MUTANTS})
    run = _pytest(copy, tests)
    return [] if run.returncode == 0 else [f"the named tests fail on unbroken code:\n{run.stdout}"]


def _problem(mutant: Mutant, copy: Path) -> str | None:
    _lay_out(copy)
    path = copy / "routecanary" / "decide" / mutant.file
    lines = path.read_text(encoding="utf-8").splitlines()
    places = [number for number, line in enumerate(lines) if line.strip() == mutant.old]
    if len(places) != 1:
        return "misfit"
    (place,) = places
    lines[place] = lines[place].replace(mutant.old, mutant.new)
    broken = "\n".join(lines) + "\n"
    compile(broken, mutant.file, "exec")
    path.write_text(broken, encoding="utf-8")
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)  # of the unbroken lines
    run = _pytest(copy, [mutant.test])
    if run.returncode == 0:
        return "survived"
    return None if run.returncode == 1 and _ASSERTION.search(run.stdout) else "no verdict"


def _lay_out(copy: Path) -> None:
    """Copy the rooms that the named tests live on."""
    shutil.copytree(PACKAGE, copy / "routecanary", ignore=_other_rooms)


def _other_rooms(folder: str, names: list[str]) -> set[str]:
    if Path(folder) != PACKAGE:
        return set()
    return {name for name in names if (PACKAGE / name).is_dir() and name not in ROOMS}


def _pytest(copy: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run tests against the copy, and against nothing else that is installed; without plugins, for speed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(copy), str(ROOT))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
    }
    options = (
        "-c",
        os.devnull,
        f"--rootdir={ROOT}",
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-x",
        "-q",
    )
    return subprocess.run(
        [sys.executable, "-c", _START, str(copy), *options, *tests],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )


def main() -> int:
    found = problems()
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(MUTANTS) - len(found)} of {len(MUTANTS)} killed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
