"""Do simulated attempts settle as those of a real round do?"""

from __future__ import annotations

import itertools

import pytest

from routecanary.domain.names import CONTRACT_NAMES, FILTERING, INTEGRITY, LANGUAGE, LATENCY, STRUCTURED
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.confirm import NEEDS_MORE, fold_integrity, settle
from routecanary.probe.plan import CONTRACTS_FED
from routecanary.simulate.asking import ALL_LOST, ALL_WELL, CONFIRMATIONS, SLOTS, Signal, asked, settled
from routecanary.simulate.scenario import PROBES

NEVER = lambda: False  # noqa: E731 - a table of one line


def test_probes_are_judged_by_the_contracts_that_they_feed() -> None:
    """As the plan of a real round has it."""
    fed = [CONTRACTS_FED[kind] for kind in CONTRACTS_FED if kind.value in {"chat", "filter", "structured"}]
    assert [frozenset(contracts) for contracts in PROBES] == fed
    assert len(SLOTS) == 7


@pytest.mark.parametrize("tries", [t for n in (1, 2, 3) for t in itertools.product((False, True), repeat=n)])
def test_settled_as_the_real_confirmation_settles(tries: tuple[bool, ...]) -> None:
    """A first pass stands alone; of three attempts the majority; too few leave it open."""
    if not tries[0]:
        assert settled(tries) is VerdictKind.PASS
        return
    said = [Verdict(contract=LANGUAGE, kind=VerdictKind.FAIL if each else VerdictKind.PASS) for each in tries]
    lost = [Verdict(contract=LANGUAGE, kind=VerdictKind.TRANSPORT)] * (1 + CONFIRMATIONS - len(tries))
    real = settle(said + lost)
    assert real is not NEEDS_MORE
    assert settled(tries) is real.kind


def test_nothing_wrong_is_what_is_shared() -> None:
    """The common case, built attempt by attempt, equals the object that stands for it."""
    assert asked((), (), lambda *_: True, NEVER) == ALL_WELL
    assert asked((), (0, 1, 2), lambda *_: True, NEVER) == ALL_LOST


def test_a_fail_is_asked_twice_more() -> None:
    """By the contract that failed only; the requests are counted one by one."""
    found = asked({(0, LANGUAGE)}, (), lambda _, number: number == 0, NEVER, by_chance={(0, LANGUAGE)})
    assert found.report.verdicts == {
        **dict.fromkeys(CONTRACT_NAMES, VerdictKind.PASS),
        LANGUAGE: VerdictKind.FAIL,
    }
    assert found.report.attempts[LANGUAGE] == (True, True, False)
    assert found.report.attempts[INTEGRITY] == (False, False, False)
    assert found.requests == (Signal.FAULTY, Signal.FAULTY, Signal.WELL, Signal.WELL, Signal.WELL)
    assert (found.confirmed, found.repeated) == (2, 1)


def test_a_fail_that_does_not_come_again_is_a_pass_with_its_attempts() -> None:
    """The outvoted attempt stays on record: it is evidence."""
    found = asked({(2, STRUCTURED)}, (), lambda *_: False, NEVER)
    assert set(found.report.verdicts.values()) == {VerdictKind.PASS}
    assert found.report.attempts[STRUCTURED] == (True, False, False)
    assert found.confirmed == 0  # something was behind it


def test_integrity_is_folded_over_its_probes() -> None:
    """Its attempts stand probe by probe, each with its confirmations; a lost probe is worse than a pass."""
    found = asked({(1, INTEGRITY)}, {0}, lambda *_: True, NEVER)
    assert found.report.attempts[INTEGRITY] == (True, True, True, False)
    kinds = [VerdictKind.TRANSPORT, VerdictKind.FAIL, VerdictKind.PASS]
    folded = fold_integrity([Verdict(contract=INTEGRITY, kind=kind) for kind in kinds])
    assert found.report.verdicts[INTEGRITY] is folded.kind is VerdictKind.FAIL
    assert found.report.verdicts[LATENCY] is VerdictKind.TRANSPORT
    assert found.report.verdicts[FILTERING] is VerdictKind.PASS


def test_lost_confirmations_leave_it_open() -> None:
    """One fail and nothing else decides nothing."""
    found = asked({(2, STRUCTURED)}, (), lambda *_: True, lambda: True)
    assert found.report.verdicts[STRUCTURED] is VerdictKind.INCONCLUSIVE
    assert found.requests[-2:] == (Signal.LOST, Signal.LOST)
