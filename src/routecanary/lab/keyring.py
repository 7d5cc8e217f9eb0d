"""Whose keys does the lab know, and in which workspace does each of them spend?

One account with one organization. Ids are derived from names, so that a test can state them.

Source: the schemas of the official SDK 1.3.84, `getcurrentkey`, `list`, `workspace`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from uuid import NAMESPACE_DNS, UUID, uuid5

DEFAULT_WORKSPACE: Final = "default"
DEFAULT_CREATOR: Final = "user_lab"

_NAMES: Final = uuid5(NAMESPACE_DNS, "lab.routecanary.invalid")
_SHOWN: Final = (12, 3)  # characters of a key that its label shows, of its start and its end


@dataclass(frozen=True, slots=True, kw_only=True)
class LabKey:
    """One API key, with the member who made it."""

    key: str = field(repr=False)
    name: str
    workspace: str = DEFAULT_WORKSPACE
    creator: str = DEFAULT_CREATOR
    management: bool = False  # manages the account, and asks no model

    @property
    def hash(self) -> str:
        """By what the management calls name it."""
        return sha256(self.key.encode()).hexdigest()

    @property
    def label(self) -> str:
        """What of it is shown."""
        first, last = _SHOWN
        return f"{self.key[:first]}...{self.key[-last:]}" if len(self.key) > first + last else self.name


class Keyring:
    """The keys of a scenario, found by what they are."""

    def __init__(self, keys: Iterable[LabKey]) -> None:
        self._keys = {each.key: each for each in keys}

    def __iter__(self) -> Iterator[LabKey]:
        return iter(self._keys.values())

    def find(self, key: str) -> LabKey | None:
        return self._keys.get(key)

    def by_hash(self, digest: str) -> LabKey | None:
        return next((each for each in self if each.hash == digest), None)

    def members(self) -> tuple[str, ...]:
        """List who made a key, sorted."""
        return tuple(sorted({each.creator for each in self}))


def workspace_id(name: str) -> str:
    """Derive a workspace's id from its name."""
    return str(uuid5(_NAMES, f"workspace/{name}"))


def default_guardrail_id(workspace: str) -> str:
    """Derive the id of a workspace's default guardrail, which is there before anybody writes to it."""
    return str(uuid5(UUID(workspace_id(workspace)), "default guardrail"))


def guardrail_id(name: str) -> str:
    """Derive the id of a scenario's guardrail from its name."""
    return str(uuid5(_NAMES, f"guardrail/{name}"))
