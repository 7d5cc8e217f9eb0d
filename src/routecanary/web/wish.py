"""What does somebody ask of the exclusions?

Read strictly: a parameter that is not known or cannot be read is refused by name, for a list that is not the
one that was meant would be worse than none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from routecanary.errors import InputError
from routecanary.routing.reading import is_name
from routecanary.routing.scope import NEEDS, Scope
from routecanary.web.http import Request

LONGEST_WAIT: Final = 60  # seconds


class Wish:
    """A model (None = all that are watched), what its callers need, and how long to wait for a change."""

    __slots__ = ("key", "model", "scope", "wait")

    def __init__(self, model: str | None, scope: Scope | None, wait: float) -> None:
        self.model = model
        self.scope = scope
        self.wait = wait  # seconds; 0 = not at all
        self.key = (model, None, None) if scope is None else (model, scope.needs, scope.language)


def read_wish(parameters: Mapping[str, Sequence[str]]) -> Wish:
    """Read a query.

    Raises:
        InputError: A parameter is not known, comes twice, or cannot be read.
    """
    values = single_values(parameters, {"model", "needs", "locale", "wait"})
    model = values.get("model")
    if model is not None and not is_name(model):
        raise InputError(
            "not the name of a model", key="model", value=model, allowed="1 to 200 printable characters"
        )
    return Wish(model, _scope(values.get("needs"), values.get("locale")), _wait(values.get("wait")))


def read_wait(parameters: Mapping[str, Sequence[str]]) -> float:
    """Read a query that may only say how long to wait; raises as `read_wish`."""
    return _wait(single_values(parameters, {"wait"}).get("wait"))


def parameters_of(request: Request) -> dict[str, list[str]]:
    """Decode a query.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return request.parameters()
    except ValueError as error:
        raise InputError(
            f"the query cannot be read: {error}", allowed="name=value, joined by &, UTF-8"
        ) from None


def single_values(parameters: Mapping[str, Sequence[str]], known: Collection[str]) -> dict[str, str]:
    """Take each parameter's one value.

    Raises:
        InputError: One is not known, or comes twice.
    """
    values = {}
    for name, given in parameters.items():
        if name not in known:
            raise InputError("unknown parameter", key=name[:80], allowed=", ".join(sorted(known)))
        if len(given) > 1:
            raise InputError("given more than once", key=name, value=", ".join(given), allowed="one value")
        values[name] = given[0]
    return values


def _scope(needs: str | None, locale: str | None) -> Scope | None:
    if needs is None and locale is None:
        return None
    words = None if needs is None else [word for word in needs.split(",") if word]
    try:
        Scope(words)
    except ValueError:
        raise InputError(
            "not known", key="needs", value=needs, allowed=f"{', '.join(sorted(NEEDS))}; with commas"
        ) from None
    try:
        return Scope(words, locale)
    except ValueError:
        raise InputError(
            "not a language tag", key="locale", value=locale, allowed="such as th or pt-BR"
        ) from None


def _wait(given: str | None) -> float:
    if given is None:
        return 0.0
    if not given.isascii() or not given.isdigit() or len(given) > 3 or int(given) > LONGEST_WAIT:
        raise InputError(
            "not a time to wait", key="wait", value=given, allowed=f"whole seconds from 0 to {LONGEST_WAIT}"
        )
    return float(given)
