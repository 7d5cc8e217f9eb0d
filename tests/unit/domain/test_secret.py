"""A secret does not print itself."""

from __future__ import annotations

import pickle

import pytest

from routecanary.domain.secret import Secret


def test_a_secret_shows_its_value_only_when_asked() -> None:
    """Not in `repr`, `str`, formatting or a container."""
    secret = Secret("sk-abc")
    shown = f"{secret} {secret!r} {[secret]} {{}}".format(secret)
    assert "sk-abc" not in shown
    assert secret.reveal() == "sk-abc"


def test_a_secret_is_not_pickled() -> None:
    """Nor does it leave the process by accident."""
    with pytest.raises(TypeError):
        pickle.dumps(Secret("sk-abc"))


def test_secrets_compare_by_value() -> None:
    """An empty one is false."""
    assert Secret("a") == Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a")}) == 1
    assert not Secret("")
    assert Secret("a") != "a"
