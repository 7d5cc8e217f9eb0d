"""What do the gateway's documents on guardrails, keys and workspaces say?

Strict where a mistake would change what others wrote, or let the canary's own key be covered unseen: a field
that is missing, or of another shape than the official schema's, is not taken to be empty.

Source: openrouter-wire.md §2.4; the official SDK's schemas 1.3.84.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from routecanary.domain.guardrail import Guardrail
from routecanary.domain.probe import Json
from routecanary.errors import GatewayError

MAX_ENTRIES: Final = 1_000  # of a list
MAX_TEXT: Final = 200  # characters of an entry or id

Fields = Mapping[str, Json]


def guardrail_from_json(document: Json, place: str, *, asked: str) -> Guardrail:
    """Read a guardrail.

    Raises:
        GatewayError: It is another one, or does not state its list.
    """
    data = data_of(document, place)
    if data.get("id") != asked:
        raise GatewayError(f"{place}: tells of another guardrail")
    if "ignored_providers" not in data:
        raise GatewayError(f"{place}: does not state ignored_providers")
    return Guardrail(
        id=asked,
        name=text_of(data, "name", place),
        workspace=optional_text(data, "workspace_id", place),
        ignored=_entries(data, "ignored_providers", place),
        allowed=_entries(data, "allowed_providers", place),
        allowed_models=_entries(data, "allowed_models", place),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnKey:
    """What the gateway tells a key of itself; its hash is not among it."""

    label: str = field(repr=False)
    workspace: str
    creator: str | None


def own_key_from_json(document: Json, place: str) -> OwnKey:
    """Read `GET /key` as far as it says who a key is.

    Raises:
        GatewayError: It does not say enough.
    """
    data = data_of(document, place)
    return OwnKey(
        label=text_of(data, "label", place),
        workspace=text_of(data, "workspace_id", place),
        creator=optional_text(data, "creator_user_id", place),
    )


def rows_of(document: Json, place: str) -> list[Fields]:
    """Read the rows of one page of a list.

    Raises:
        GatewayError: It is none.
    """
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise GatewayError(f"{place}: not a list")
    return rows


def total_of(document: Json, place: str) -> int:
    """Read how many rows all pages of a list have.

    Raises:
        GatewayError: It is not stated.
    """
    total = document.get("total_count") if isinstance(document, dict) else None
    if isinstance(total, bool) or not isinstance(total, int) or total < 0:
        raise GatewayError(f"{place}: does not state total_count")
    return total


def data_of(document: Json, place: str) -> Fields:
    """Read what a document is about.

    Raises:
        GatewayError: It says nothing.
    """
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict):
        raise GatewayError(f"{place}: says nothing")
    return data


def text_of(data: Fields, name: str, place: str) -> str:
    """Read a text that must be there.

    Raises:
        GatewayError: It is not.
    """
    value = data.get(name)
    if not _is_text(value):
        raise GatewayError(f"{place}: does not state {name}")
    return str(value)


def optional_text(data: Fields, name: str, place: str) -> str | None:
    """Read a text that may be null, but must be stated."""
    if name in data and data[name] is None:
        return None
    return text_of(data, name, place)


def _entries(data: Fields, name: str, place: str) -> tuple[str, ...]:
    value = data.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_ENTRIES or not all(map(_is_text, value)):
        raise GatewayError(f"{place}: {name} is no list of at most {MAX_ENTRIES} names")
    return tuple(str(entry) for entry in value)


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_TEXT and value.isprintable()
