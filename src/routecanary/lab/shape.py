"""What shape has a scenario file, and what exactly is wrong with one?

One class a table, each field with its reader and its default, which is that of the value in `host.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, field_validator

from routecanary.adapters.config import readers as read
from routecanary.domain.names import Locale, RouteId, parse_locale, parse_model, parse_route
from routecanary.domain.probe import Json, ProbeKind
from routecanary.errors import InputError, ScenarioError, ScenarioFaultsError
from routecanary.lab.faults import FAULT_NAMED, LISTING_FAULT_NAMED
from routecanary.lab.host import (
    Account,
    Expectation,
    LabRoute,
    Noise,
    Pace,
    Window,
)
from routecanary.lab.keyring import DEFAULT_CREATOR, DEFAULT_WORKSPACE
from routecanary.lab.scenario import DEFAULT_KEY

MAX_MODELS: Final = 1_000
MAX_ROUTES: Final = 2_000  # of one model
MAX_KEYS: Final = 100  # and guardrails
MAX_FAULTS: Final = 20  # of one route
MOST_SHOWN: Final = 50  # faults of one file
MOST_SEED: Final = 2**53

DEFAULT_PARAMETERS: Final = (
    *("max_tokens", "temperature", "top_p", "stop", "seed"),
    *("response_format", "structured_outputs", "reasoning"),
)

_DAY: Final = timedelta(days=1)
_YEAR: Final = timedelta(days=366)
_PACE: Final = Pace()
_NOISE: Final = Noise()
_ROUTE: Final = LabRoute(tag=RouteId("default"), provider="", slug="", parameters=())


def _short(value: str) -> str:
    if len(value) > 200 or not value.isprintable():
        raise InputError("not one short line", value=value, allowed="1 to 200 printable characters")
    return value


def _state(value: object) -> object:
    if value not in set(Account):
        raise InputError("not one of the words", value=value)
    return value


def _price(value: object) -> Decimal:
    if not isinstance(value, str) or len(value) > 40:
        raise InputError("not a price in quotes", value=value if isinstance(value, str | float) else None)
    try:
        price = Decimal(value)
    except InvalidOperation:
        raise InputError("not a price", value=value) from None
    if not price.is_finite() or not 0 <= price <= 1:
        raise InputError("out of range", value=value)
    return price


def _fault_name(value: str) -> str:
    """Take the name of a fault; for any other text, say which names are like it."""
    known = (*FAULT_NAMED, *LISTING_FAULT_NAMED)
    if value not in known:
        like = get_close_matches(value, known, n=4, cutoff=0.5)
        told = f"{', '.join(like)}, or another" if like else "a name"
        raise InputError("no such fault", value=value, allowed=f"{told} of the table in docs/lab.md")
    return value


_ACCOUNT_STATE: Final = read.Reader(_state, " or ".join(f'"{state}"' for state in Account))
_Text = Annotated[str, read.text(_short, "1 to 200 printable characters")]
_Price = Annotated[Decimal, read.leaf(_price, 'USD per token in quotes, such as "0.0000002"')]
_Share = Annotated[float, read.number(0, 1)]
_Tokens = Annotated[int, read.whole(1, 100_000_000)]
_Seconds = Annotated[float, read.number(0, 600)]
_Offset = Annotated[timedelta, read.duration(timedelta(0), _YEAR)]
_Span = Annotated[timedelta, read.duration(timedelta(seconds=1), _YEAR)]


class _Table(BaseModel):
    """A table of the file: unknown keys are refused, nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


class WindowTable(_Table):
    start: _Offset = Field(default=timedelta(0), alias="from")
    end: _Span | None = Field(default=None, alias="to")
    every: _Span | None = None
    lasting: _Span | None = None

    def window(self) -> Window:
        return Window(start=self.start, end=self.end, every=self.every, lasting=self.lasting)


class FaultTable(WindowTable):
    fault: Annotated[str, read.text(_fault_name, "a fault")]
    probability: _Share = 1.0
    locales: Annotated[tuple[Locale, ...], read.texts(parse_locale, "locales")] = ()
    probes: Annotated[tuple[str, ...], read.texts(read.one_of(frozenset(ProbeKind)), "probes")] = ()
    only_cold: Annotated[bool, read.switch()] = False
    seed: Annotated[int | None, read.whole(0, MOST_SEED)] = None
    expect: Annotated[str | None, read.word(*Expectation)] = None
    parameters: dict[str, Any] = Field(default_factory=dict)


class NoiseTable(_Table):
    natural_failure: _Share = _NOISE.natural_failure
    transport_errors: _Share = _NOISE.transport_errors


class RouteTable(_Table):
    tag: Annotated[RouteId, read.text(parse_route, "slug or slug/suffix, no white space")]
    provider: _Text
    slug: Annotated[str | None, read.text(parse_route, "a provider's slug")] = None
    parameters: Annotated[
        tuple[str, ...], read.texts(_short, "parameter names, as in supported_parameters")
    ] = DEFAULT_PARAMETERS
    rows: Annotated[int, read.whole(1, 10)] = _ROUTE.rows
    quantization: _Text | None = None
    price_prompt: _Price = _ROUTE.price_prompt
    price_completion: _Price = _ROUTE.price_completion
    context_length: _Tokens = _ROUTE.context_length
    max_completion_tokens: _Tokens | None = None
    status: Annotated[int, read.whole(-10, 0)] = _ROUTE.status
    service_tier: Annotated[str | None, read.word("flex", "priority", "ultrafast")] = None
    official: Annotated[bool, read.switch()] = False
    trains_on_data: Annotated[bool, read.switch()] = False
    keeps_data: Annotated[bool, read.switch()] = False
    first_text_seconds: _Seconds = _PACE.first_text_seconds
    first_text_spread: Annotated[float, read.number(0, 3)] = _PACE.first_text_spread
    tokens_per_second: Annotated[float, read.number(0.1, 1_000_000)] = _PACE.tokens_per_second
    answer_seconds: _Seconds | None = None
    noise: NoiseTable | None = None
    listed: WindowTable = WindowTable()
    faults: Annotated[tuple[FaultTable, ...], Field(max_length=MAX_FAULTS, strict=False)] = ()


class ModelTable(_Table):
    id: Annotated[str, read.text(parse_model, "author/slug")]
    name: _Text | None = None
    dated: Annotated[str | None, read.text(parse_model, "author/slug")] = None
    noise: NoiseTable | None = None
    faults: Annotated[tuple[FaultTable, ...], Field(max_length=MAX_FAULTS, strict=False)] = ()
    routes: Annotated[tuple[RouteTable, ...], Field(max_length=MAX_ROUTES, strict=False)]


class AccountTable(_Table):
    state: Annotated[str, PlainValidator(_ACCOUNT_STATE)] = Account.OK
    withheld: Annotated[tuple[str, ...], read.texts(parse_route, "tags or provider slugs")] = ()
    plugins: Annotated[tuple[str, ...], read.texts(_short, "ids of plugins")] = ()
    response_cache: Annotated[bool, read.switch()] = False


class KeyTable(_Table):
    key: _Text
    name: _Text
    workspace: _Text = DEFAULT_WORKSPACE
    creator: _Text = DEFAULT_CREATOR
    management: Annotated[bool, read.switch()] = False


_Providers = Annotated[tuple[str, ...] | None, read.texts(_short, "provider slugs or tags")]


class GuardrailTable(_Table):
    name: _Text
    workspace: _Text = DEFAULT_WORKSPACE
    default: Annotated[bool, read.switch()] = False
    ignored_providers: _Providers = None
    allowed_providers: _Providers = None
    keys: Annotated[tuple[str, ...], read.texts(_short, "names of keys")] = ()
    members: Annotated[tuple[str, ...], read.texts(_short, "user ids")] = ()


class ScenarioTable(_Table):
    name: _Text
    about: Annotated[str, read.text(str, "a text")] = ""
    key: _Text = DEFAULT_KEY
    keys: Annotated[tuple[KeyTable, ...], Field(max_length=MAX_KEYS, strict=False)] = ()
    guardrails: Annotated[tuple[GuardrailTable, ...], Field(max_length=MAX_KEYS, strict=False)] = ()
    guardrails_full_tags: Annotated[bool, read.switch()] = False
    account: AccountTable = AccountTable()
    ignore_full_tags: Annotated[bool, read.switch()] = True
    noise: NoiseTable = NoiseTable()
    models: Annotated[tuple[ModelTable, ...], Field(max_length=MAX_MODELS, strict=False)]

    @field_validator("account", mode="before")
    @classmethod
    def _state_alone(cls, value: object) -> object:
        """Take a bare word for the account's state."""
        return {"state": _ACCOUNT_STATE(value)} if isinstance(value, str) else value


def read_shape(table: Mapping[str, Json], place: str) -> ScenarioTable:
    """Check a decoded scenario file against its shape.

    Raises:
        ScenarioError: It breaks the shape; a `ScenarioFaultsError` if in several places.
    """
    try:
        return ScenarioTable.model_validate(table)
    except ValidationError as error:
        raise one_error([_fault(place, each) for each in error.errors(include_url=False)]) from None


def one_error(faults: Sequence[ScenarioError]) -> ScenarioError:
    """Make one exception of what was found: one fault as itself, several with a line for each."""
    if len(faults) == 1:
        return faults[0]
    shown = list(faults[:MOST_SHOWN])
    if len(faults) > MOST_SHOWN:
        shown.append(ScenarioError(f"and {len(faults) - MOST_SHOWN} more", place=faults[0].place))
    return ScenarioFaultsError(shown)


def _fault(place: str, error: Mapping[str, Any]) -> ScenarioError:
    """Convert one of the validation library's errors."""
    loc: tuple[int | str, ...] = error["loc"]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, read.RefusedError):
        return ScenarioError(
            cause.problem, place=place, key=_path(loc), value=cause.value, allowed=cause.allowed
        )
    given = error["input"]
    match error["type"]:
        case "missing":
            problem, allowed = "missing", None
        case "extra_forbidden":
            problem, allowed = "unknown key", ", ".join(_keys_at(loc[:-1]))
        case "too_long":
            problem, allowed = "too many entries", f"at most {error['ctx']['max_length']}"
        case "model_type" | "model_attributes_type" | "dict_type":
            problem, allowed = f"{read.kind_of(given)} where a table belongs", None
        case "tuple_type":
            problem, allowed = f"{read.kind_of(given)} where a list of tables belongs", None
        case other:
            problem, allowed = f"refused ({other})", None
    return ScenarioError(problem, place=place, key=_path(loc), allowed=allowed)


def _path(loc: Iterable[int | str]) -> str:
    """Write where in the file, lists by 0-based index: `models[0].routes[2].tag`."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part[:80]}" if path else part[:80]
    return path


def _keys_at(loc: Sequence[int | str]) -> list[str]:
    """List the keys of the table at `loc`, under the names that the file uses."""
    table: type[BaseModel] = ScenarioTable
    for part in loc:
        if isinstance(part, str):
            table = _TABLES[part]
    return [field.alias or name for name, field in table.model_fields.items()]


_TABLES: Final[Mapping[str, type[BaseModel]]] = {
    "account": AccountTable,
    "keys": KeyTable,
    "guardrails": GuardrailTable,
    "models": ModelTable,
    "routes": RouteTable,
    "faults": FaultTable,
    "noise": NoiseTable,
    "listed": WindowTable,
}
