"""The tests of the decision core can fail."""

from __future__ import annotations

import pytest

from tests.mutants import MUTANTS, problems


@pytest.mark.timeout(600)
def test_every_listed_break_of_the_decision_core_is_noticed() -> None:
    """Each one-line break fails, by an assertion, the test that is named beside it."""
    assert len(MUTANTS) >= 12
    assert problems() == []
