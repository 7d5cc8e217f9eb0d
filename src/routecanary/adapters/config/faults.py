"""What exactly is wrong with a configuration file?

The validation library's errors → `ConfigError`s that name file, key path, value and what is allowed. A value
is shown only where it cannot be a secret; the value of an unknown key never is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from re import compile as compile_pattern
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

from routecanary.adapters.config import readers
from routecanary.adapters.config.schema import MAX_MODELS, MAX_WEBHOOKS, ConfigFile
from routecanary.errors import ConfigError, ConfigFaultsError

MOST_SHOWN: Final = 50  # faults of one file

_BARE = compile_pattern(r"[A-Za-z0-9_-]{1,80}")
_KEY_MARK = "[key]"  # the library's last step to the key of a mapping, as opposed to its value


def faults_from(error: ValidationError, place: str) -> list[ConfigError]:
    """List the faults that the schema found, in its order."""
    return [
        _fault(place, each["loc"], each["type"], cause=each.get("ctx", {}).get("error"), given=each["input"])
        for each in error.errors(include_url=False)
    ]


def raise_faults(faults: Sequence[ConfigError]) -> None:
    """Raise what was found: one fault as itself, several as one error with a line for each."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        shown = list(faults[:MOST_SHOWN])
        if len(faults) > MOST_SHOWN:
            shown.append(ConfigError(f"and {len(faults) - MOST_SHOWN} more", place=faults[0].place))
        raise ConfigFaultsError(shown)


def key_path(parts: Iterable[object]) -> str:
    """Write a key path as TOML does; a part that is no bare key is quoted, and made safe to print."""
    return ".".join(_part(str(part)) for part in parts)


def _part(part: str) -> str:
    if _BARE.fullmatch(part):
        return part
    shown = part if len(part) <= 80 else part[:77] + "..."
    if not shown.isprintable():
        shown = ascii(shown)[1:-1]
    return f'"{shown}"'


def _fault(place: str, loc: tuple[int | str, ...], kind: str, *, cause: object, given: object) -> ConfigError:
    if isinstance(cause, readers.RefusedError):
        if loc and loc[-1] == _KEY_MARK:
            loc = loc[:-2]
        if cause.key is not None:
            loc = (*loc, cause.key)
        return ConfigError(
            cause.problem, place=place, key=key_path(loc), value=cause.value, allowed=cause.allowed
        )
    match kind:
        case "extra_forbidden" if loc[-1] == "api_key":
            return ConfigError(
                "a key does not belong in this file",
                place=place,
                key=key_path(loc),
                allowed="api_key_env (name of an environment variable) or api_key_file",
            )
        case "extra_forbidden" if loc[-1] == "secret":
            return ConfigError(
                "a secret does not belong in this file",
                place=place,
                key=key_path(loc),
                allowed="secret_env (name of an environment variable) or secret_file",
            )
        case "extra_forbidden":
            return ConfigError(
                "unknown key", place=place, key=key_path(loc), allowed=", ".join(_keys_at(loc[:-1]))
            )
        case "model_type" | "model_attributes_type" | "dict_type":
            return ConfigError(
                f"{readers.kind_of(given)} where a table belongs", place=place, key=key_path(loc)
            )
        case "too_long" if loc[0] == "notify":
            return ConfigError(
                "too many webhooks", place=place, key=key_path(loc), allowed=f"at most {MAX_WEBHOOKS}"
            )
        case "too_long":
            return ConfigError(
                "too many models", place=place, key=key_path(loc), allowed=f"at most {MAX_MODELS}"
            )
        case _:  # the schema can raise no other; a future one is still shown, without the value
            return ConfigError(f"refused ({kind})", place=place, key=key_path(loc))


def _keys_at(loc: tuple[int | str, ...]) -> list[str]:
    """List the keys of the table at `loc`."""
    table: Any = ConfigFile
    for part in loc:
        if isinstance(table, type) and issubclass(table, BaseModel):
            table = table.model_fields[str(part)].annotation
        else:
            table = get_args(table)[1]
    return list(table.model_fields)
