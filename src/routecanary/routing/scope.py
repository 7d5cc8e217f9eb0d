"""Which suspensions touch a request that says what it needs?

A host that breaks JSON need not be lost to plain chat, nor one that slides into Spanish to requests in Thai.
In doubt a suspension touches: one that says no contract or no locale.

An application imports this module on its request path: standard library only, no dataclasses, no typing.

Source: policy.md §12.
"""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Earned(Protocol):
        """A suspension, of a snapshot or of a state: what earned it."""

        @property
        def contracts(self) -> Iterable[str]: ...

        @property
        def locales(self) -> Iterable[str]: ...


NEEDS = frozenset({"latency", "filtering", "structured", "language", "integrity"})
"""What a caller may say that it needs: the contracts."""

_ALIASES = {"ms": "id"}  # judged as one language
_MAX_LOCALE = 35  # characters of a language tag


class Scope:
    """What a request needs, and the locale of its answer; None = not said."""

    __slots__ = ("language", "needs")

    def __init__(self, needs: Iterable[str] | None = None, locale: str | None = None) -> None:
        """Take a caller's words.

        Args:
            needs: Names of `NEEDS`; a single name counts as a set of it.
            locale: A language tag, such as `th` or `pt-BR`.
        Raises:
            ValueError: A need is not known, or the locale is no text of a tag's length.
        """
        words = None if needs is None else frozenset([needs] if isinstance(needs, str) else needs)
        if words is not None and not words <= NEEDS:
            raise ValueError(f"needs: not known; allowed: {', '.join(sorted(NEEDS))}")
        tag: object = locale  # whatever its annotation says
        if tag is not None and not (isinstance(tag, str) and 0 < len(tag) <= _MAX_LOCALE):
            raise ValueError(f"locale: not a language tag; allowed: 1 to {_MAX_LOCALE} characters")
        self.needs = words
        self.language = None if locale is None else _language(locale)

    def touches(self, suspension: Earned) -> bool:
        """Say whether a suspension keeps its route away from this request."""
        contracts = tuple(suspension.contracts)
        return not contracts or any(self._touches(contract, suspension.locales) for contract in contracts)

    def _touches(self, contract: str, locales: Iterable[str]) -> bool:
        if contract == "structured":
            return self.needs is None or "structured" in self.needs
        if contract == "language":
            failing = {_language(locale) for locale in locales}
            return self.language is None or not failing or self.language in failing
        return True


def _language(locale: str) -> str:
    """Reduce a tag to its language: a host that fails Brazilian Portuguese is not trusted with any."""
    language = locale.lower().replace("_", "-").split("-", 1)[0]
    return _ALIASES.get(language, language)
