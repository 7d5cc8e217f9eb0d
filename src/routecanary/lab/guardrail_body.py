"""What does a request that makes or changes a guardrail say?

Source: the schemas of the official SDK 1.3.84, `createguardrailrequest`, `updateguardrailrequest`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from routecanary.domain.probe import Json
from routecanary.lab.guardrails import LISTS
from routecanary.lab.refusal import bad_request
from routecanary.lab.request import MAX_LIST

_REGIONS: Final = frozenset({"global", "europe", "us"})
_INTERVALS: Final = frozenset({"daily", "weekly", "monthly"})


def guardrail_fields(body: Mapping[str, Json], standing: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """Check the fields of a guardrail that a request sets; lists are replaced as a whole.

    Args:
        standing: What the guardrail has already; None for a new one.
    Raises:
        RefusedError: With 400 and the field.
    """
    for name, value in body.items():
        check = _CHECKS.get(name)
        if check is None:
            raise bad_request(f"Unrecognized key: {name[:100]!r}")
        if not check(value):
            raise bad_request(f"{name}: invalid value")
    after = {**(standing or {}), **body}
    if (after.get("limit_usd") is None) != (after.get("reset_interval") is None):
        raise bad_request("limit_usd: must be set together with reset_interval")
    return dict(body)


def names_in(body: Mapping[str, Json], key: str) -> list[str]:
    """Read the one list of names that a request is about.

    Raises:
        RefusedError: With 400.
    """
    names = body.get(key)
    if not _names(names) or not names:
        raise bad_request(f"{key}: expected a list of strings")
    return [str(name) for name in names]


def _names(value: Json) -> bool:
    return isinstance(value, list) and len(value) <= MAX_LIST and all(isinstance(name, str) for name in value)


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _or_null(check: Callable[[Json], bool]) -> Callable[[Json], bool]:
    return lambda value: value is None or check(value)


def _flag(value: Json) -> bool:
    return isinstance(value, bool)


_CHECKS: Final[Mapping[str, Callable[[Json], bool]]] = {
    "name": lambda value: isinstance(value, str) and 0 < len(value) <= 200,
    "include_byok_in_budgets": _flag,
    "description": _or_null(lambda value: isinstance(value, str)),
    "limit_usd": _or_null(_number),
    "reset_interval": _or_null(lambda value: value in _INTERVALS),
    "allowed_data_regions": _or_null(
        lambda value: isinstance(value, list) and bool(value) and all(each in _REGIONS for each in value)
    ),
    "content_filter_builtins": _or_null(lambda value: isinstance(value, list)),
    "content_filters": _or_null(lambda value: isinstance(value, list)),
    **dict.fromkeys(LISTS, _or_null(_names)),
    **{
        name: _or_null(_flag)
        for name in (
            "enforce_zdr",
            *(f"enforce_zdr_{of}" for of in ("anthropic", "google", "openai", "other", "xai")),
            *("allow_safety_retention_google", "allow_safety_retention_other"),
            *("enable_free_model_publication", "enable_free_model_training", "enable_paid_model_training"),
        )
    },
}
