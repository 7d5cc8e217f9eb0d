"""What does a request need, as `--needs` and `--locale` say it?"""

from __future__ import annotations

from routecanary.domain.names import parse_locale
from routecanary.errors import InputError
from routecanary.routing.scope import NEEDS, Scope


def scope_of(needs: tuple[str, ...] | None, locale: str | None) -> Scope | None:
    """Read the two options; None when neither is given: the whole list.

    Raises:
        InputError: A need is not known, or the locale is no language tag.
    """
    if not needs and locale is None:
        return None
    for need in needs or ():
        if need not in NEEDS:
            raise InputError("no such need", key="--needs", value=need, allowed=", ".join(sorted(NEEDS)))
    return Scope(needs or None, None if locale is None else parse_locale(locale))
