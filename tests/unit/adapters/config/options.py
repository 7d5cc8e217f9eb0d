"""Every option of the configuration file, read from its schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import timedelta
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, PlainValidator

from routecanary.adapters.config.readers import Reader, format_span
from routecanary.adapters.config.schema import ConfigFile, ModelTable, WebhookTable
from routecanary.domain.address import Address
from routecanary.domain.policy import Policy

MODEL = 'models."author/slug"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    path: str  # as docs/configuration.md writes it
    default: str  # in TOML; "not set" where there is none
    allowed: str | None  # None: the policy's own reader knows


def options() -> Iterator[Option]:
    yield from _of(ConfigFile, "")
    yield Option(path=f"{MODEL}.controls", default="{}", allowed="a table: contract → a list of route tags")
    yield from _of(ModelTable, MODEL + ".")
    yield from _of(WebhookTable, "notify.webhooks.NAME.")
    for field in fields(Policy):
        yield Option(path=f"policy.{field.name}", default=toml(getattr(Policy(), field.name)), allowed=None)


def _of(table: type[BaseModel], prefix: str) -> Iterator[Option]:
    for name, field in table.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _of(field.annotation, f"{prefix}{name}.")
            continue
        for mark in field.metadata:
            if isinstance(mark, PlainValidator):
                assert isinstance(mark.func, Reader)
                default = field.get_default(call_default_factory=True)
                yield Option(path=prefix + name, default=toml(default), allowed=mark.func.allowed)


def toml(value: Any) -> str:
    """Write a default as the file would."""
    match value:
        case None:
            return "not set"
        case bool():
            return "true" if value else "false"
        case str() | Address():
            return f'"{value}"'
        case timedelta():
            return f'"{format_span(value)}"'
        case Fraction():
            return f"{float(value):g}"
        case tuple() | frozenset():
            return "[" + ", ".join(toml(each) for each in value) + "]"
        case _:
            return str(value)
