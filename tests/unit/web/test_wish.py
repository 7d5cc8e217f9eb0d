"""What is asked of the exclusions: read strictly, refused by name."""

from __future__ import annotations

import pytest

from routecanary.errors import InputError
from routecanary.web.wish import read_wait, read_wish


def test_a_question_is_read() -> None:
    """Needs are joined by commas; none at all is another thing than not said."""
    wish = read_wish(
        {"model": ["acme/chat"], "needs": ["structured,latency"], "locale": ["pt-BR"], "wait": ["30"]}
    )
    assert (wish.model, wish.wait) == ("acme/chat", 30.0)
    assert wish.scope is not None
    assert (wish.scope.needs, wish.scope.language) == (frozenset({"structured", "latency"}), "pt")
    nothing = read_wish({"needs": [""]})
    assert nothing.scope is not None
    assert (nothing.model, nothing.scope.needs) == (None, frozenset())
    assert read_wish({}).scope is None


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("modl", ["x"], "modl: unknown parameter; allowed: locale, model, needs, wait"),
        ("model", [""], "model: not the name of a model"),
        ("model", ["x" * 201], "model: not the name of a model"),
        ("model", ["a\nb"], "model: not the name of a model"),
        ("model", ["a", "b"], "model: given more than once (got 'a, b')"),
        ("needs", ["manners"], "needs: not known (got 'manners'); allowed: filtering, integrity, language"),
        ("locale", [""], "locale: not a language tag (got '')"),
        ("locale", ["x" * 36], "locale: not a language tag"),
        ("wait", ["61"], "wait: not a time to wait (got '61'); allowed: whole seconds from 0 to 60"),
        ("wait", ["-1"], "wait: not a time to wait"),
        ("wait", ["1e1"], "wait: not a time to wait"),
        ("wait", ["٣"], "wait: not a time to wait"),
        ("wait", [""], "wait: not a time to wait"),
    ],
)
def test_what_cannot_be_read_is_refused(name: str, values: list[str], said: str) -> None:
    """With its name, its value and what is allowed."""
    with pytest.raises(InputError) as caught:
        read_wish({name: values})
    assert str(caught.value).startswith(said)


def test_the_snapshot_takes_nothing_but_a_wait() -> None:
    """A model would have no meaning there."""
    assert read_wait({"wait": ["0"]}) == 0
    with pytest.raises(InputError, match="unknown parameter"):
        read_wait({"model": ["a/b"]})
