"""Which guardrails does the account have, whom do they cover, and what do they forbid?

A guardrail covers a key that it is assigned to, every key of a member that it is assigned to, and, if it is a
workspace's default, all traffic of the workspace. One that covers nobody forbids nothing. Where several cover
a key, allow-lists intersect and ignored providers add up.

Source: openrouter-wire.md §2.4; the schemas of the official SDK 1.3.84, `guardrail`, `keyassignment`,
`memberassignment`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from routecanary.domain.probe import Json
from routecanary.lab.keyring import (
    DEFAULT_WORKSPACE,
    Keyring,
    LabKey,
    default_guardrail_id,
    guardrail_id,
    workspace_id,
)
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.restriction import Restriction

ORGANIZATION: Final = "org_lab"

LISTS: Final = ("allowed_providers", "ignored_providers", "allowed_models", "ignored_models")
_OPTIONAL: Final = (
    *LISTS,
    *("description", "limit_usd", "reset_interval", "allowed_data_regions"),
    *("content_filter_builtins", "content_filters"),
    *("enforce_zdr", "enforce_zdr_anthropic", "enforce_zdr_google", "enforce_zdr_openai"),
    *("enforce_zdr_other", "enforce_zdr_xai"),
    *("allow_safety_retention_google", "allow_safety_retention_other"),
    *("enable_free_model_publication", "enable_free_model_training", "enable_paid_model_training"),
)
"""What a guardrail may leave open; null then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabGuardrail:
    """A guardrail that is there from the start."""

    name: str
    workspace: str = DEFAULT_WORKSPACE
    default: bool = False  # of its workspace
    ignored_providers: tuple[str, ...] | None = None
    allowed_providers: tuple[str, ...] | None = None
    keys: tuple[str, ...] = ()  # names of the keys that it is assigned to
    members: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return default_guardrail_id(self.workspace) if self.default else guardrail_id(self.name)


@dataclass(slots=True, kw_only=True)
class Guardrail:
    """A guardrail as it stands; `fields` are those of the API."""

    id: str
    workspace: str
    created_at: datetime
    updated_at: datetime | None = None
    fields: dict[str, Json]

    def to_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "workspace_id": workspace_id(self.workspace),
            "created_at": self.created_at.isoformat(),
            "updated_at": None if self.updated_at is None else self.updated_at.isoformat(),
            "include_byok_in_budgets": False,
            **dict.fromkeys(_OPTIONAL),
            **self.fields,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """That a guardrail covers a key, by its hash, or a member."""

    guardrail: str
    to: str
    at: datetime

    def to_json(self) -> dict[str, Json]:
        return {
            "id": str(uuid5(UUID(self.guardrail), self.to)),
            "guardrail_id": self.guardrail,
            "assigned_by": None,
            "created_at": self.at.isoformat(),
        }


@dataclass(slots=True)
class Guardrails:
    """All guardrails and assignments of the account; whoever holds it may change it at any time."""

    keyring: Keyring
    now: Callable[[], datetime]
    full_tags: bool = False  # provider lists heed full tags, not slugs and display names alone
    by_id: dict[str, Guardrail] = field(default_factory=dict)
    of_key: dict[str, Assignment] = field(default_factory=dict)  # by hash
    of_member: dict[str, Assignment] = field(default_factory=dict)  # by user id

    def begin(self, given: Iterable[LabGuardrail]) -> None:
        """Take in what a scenario starts with."""
        names = {key.name: key for key in self.keyring}
        for each in given:
            fields: dict[str, Json] = {"name": each.name}
            for name, values in (("ignored", each.ignored_providers), ("allowed", each.allowed_providers)):
                if values is not None:
                    fields[f"{name}_providers"] = list(values)
            self.by_id[each.id] = Guardrail(
                id=each.id, workspace=each.workspace, created_at=self.now(), fields=fields
            )
            self.assign_keys(each.id, [names[name].hash for name in each.keys])
            self.assign_members(each.id, each.members)

    def get(self, guardrail: str) -> Guardrail:
        """Look a guardrail up.

        Raises:
            RefusedError: With 404.
        """
        found = self.by_id.get(guardrail)
        if found is None:
            raise RefusedError(Refusal(status=404, message="Guardrail not found"))
        return found

    def create(self, workspace: str, fields: Mapping[str, Json]) -> Guardrail:
        number = len(self.by_id)
        made = guardrail_id(f"made/{number}/{fields['name']}")
        self.by_id[made] = Guardrail(id=made, workspace=workspace, created_at=self.now(), fields=dict(fields))
        return self.by_id[made]

    def update(self, guardrail: str, fields: Mapping[str, Json]) -> Guardrail:
        """Change a guardrail; the first change of a workspace's default makes it.

        Raises:
            RefusedError: With 404.
        """
        if guardrail not in self.by_id:
            for workspace in self.workspaces():
                if guardrail == default_guardrail_id(workspace):
                    name = f"Workspace {workspace_id(workspace)} Default"
                    self.by_id[guardrail] = Guardrail(
                        id=guardrail, workspace=workspace, created_at=self.now(), fields={"name": name}
                    )
        found = self.get(guardrail)
        found.fields = {**found.fields, **fields}
        found.updated_at = self.now()
        return found

    def delete(self, guardrail: str) -> None:
        self.get(guardrail)
        del self.by_id[guardrail]
        for assignments in (self.of_key, self.of_member):
            for to in [to for to, each in assignments.items() if each.guardrail == guardrail]:
                del assignments[to]

    def assign_keys(self, guardrail: str, hashes: Iterable[str]) -> int:
        """Put keys under a guardrail, each under this one alone; return how many are known."""
        known = [each for each in hashes if self.keyring.by_hash(each) is not None]
        return self._assign(self.of_key, guardrail, known)

    def assign_members(self, guardrail: str, members: Iterable[str]) -> int:
        known = [each for each in members if each in self.keyring.members()]
        return self._assign(self.of_member, guardrail, known)

    def restrictions(self, key: LabKey) -> tuple[Restriction, ...]:
        """List what the guardrails that cover a key forbid: workspace, then member, then key."""
        covering = [default_guardrail_id(key.workspace)]
        covering += [
            each.guardrail
            for each in (self.of_member.get(key.creator), self.of_key.get(key.hash))
            if each is not None
        ]
        found = [self.by_id[each].fields for each in dict.fromkeys(covering) if each in self.by_id]
        return tuple(
            Restriction(
                ignored=tuple(str(name).lower() for name in fields.get("ignored_providers") or ()),
                allowed=tuple(str(name).lower() for name in fields.get("allowed_providers") or ()) or None,
                full_tags=self.full_tags,
            )
            for fields in found
        )

    def workspaces(self) -> tuple[str, ...]:
        """Name the workspaces: those of a key or a guardrail, and the one that is always there."""
        named = {key.workspace for key in self.keyring} | {each.workspace for each in self.by_id.values()}
        return tuple(sorted(named | {DEFAULT_WORKSPACE}))

    def _assign(self, assignments: dict[str, Assignment], guardrail: str, to: Iterable[str]) -> int:
        self.get(guardrail)
        added = list(to)
        for each in added:
            assignments[each] = Assignment(guardrail=guardrail, to=each, at=self.now())
        return len(added)
