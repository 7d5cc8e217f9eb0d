"""Which routes does the gateway's endpoint listing name?

The listing comes from outside. A document without the shape of a listing is refused whole, with the place
named. One odd value in one row is taken as not stated and noted, so that a single provider's row cannot
stop the canary for a whole model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Final

from routecanary.discover.providers import with_provider_names
from routecanary.domain.names import ModelId, RouteId, parse_route, swallowed
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing, Route
from routecanary.errors import InputError, ListingError

MAX_ROWS: Final = 2_000
MAX_TEXT: Final = 200  # characters of a name, an id, a parameter
MAX_LIST: Final = 200  # entries of one row's `supported_parameters` or `overrides`
MAX_NOTES: Final = 50
MAX_COUNT: Final = 10**9  # tokens; no context is longer
PROBE_PROMPT_TOKENS: Final = 4_000  # a price that begins above this many prompt tokens never meets a probe

NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})

_MODEL_IDS: Final = ("id", "canonical_slug")


def listing_from_json(
    document: Json,
    *,
    model: ModelId,
    at: datetime,
    place: str = "listing",
    facts: Json = None,
    providers: Mapping[str, str] = NO_NAMES,
) -> Listing:
    """Read the answer of `GET /models/{author}/{slug}/endpoints`.

    Args:
        document: The decoded body.
        model: The id that was asked for.
        at: When it was asked, UTC.
        place: Names the document in messages.
        facts: The decoded body of `GET /model/{author}/{slug}`, which says whether the model can go without
            reasoning, and its ids; None, or anything else, says nothing.
        providers: Display name → base slug, by which the routes' display names are completed.
    Returns:
        The routes sorted by tag; rows that share a tag are one route with `rows` counted. A row without a
        usable tag cannot be pinned: it is no route, and a note says so.
    Raises:
        ListingError: There is no list of endpoints of a bearable size.
    Source: openrouter-wire.md §1.1, §1.4.
    """
    data = _object(_object(document, place, "").get("data"), place, "data")
    rows = data.get("endpoints")
    if not isinstance(rows, list):
        raise ListingError("no list of endpoints", place=place, key="data.endpoints", allowed="a list")
    if len(rows) > MAX_ROWS:
        raise ListingError(
            "too many endpoints",
            place=place,
            key="data.endpoints",
            value=len(rows),
            allowed=f"at most {MAX_ROWS}",
        )
    notes = _Notes()
    by_tag: dict[RouteId, list[_Row]] = {}
    described = facts.get("data") if isinstance(facts, dict) else None
    described = described if isinstance(described, dict) else {}
    ids = {str(model), *_texts(data, _MODEL_IDS), *_texts(described, _MODEL_IDS)}
    for index, entry in enumerate(rows):
        key = f"data.endpoints[{index}]"
        row_object = _object(entry, place, key)
        ids.update(_texts(row_object, ("model_id",)))
        row = _row(row_object, key, notes)
        if row is not None:
            by_tag.setdefault(row.tag, []).append(row)
    tiers = frozenset(tag for tag, twins in by_tag.items() if all(row.tier for row in twins))
    listing = Listing(
        model=model,
        at=at,
        routes=tuple(_route(by_tag[tag], swallowed(tag, by_tag, tiers)) for tag in sorted(by_tag)),
        accepted_models=frozenset(_with_base(ids)),
        reasoning_mandatory=_mandatory(data) or _mandatory(described),
        notes=notes.lines(),
    )
    return with_provider_names(listing, providers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One entry of `endpoints`, read; None = not stated."""

    tag: RouteId
    provider_name: str | None
    quantization: str | None
    context_length: int | None
    max_completion_tokens: int | None
    parameters: frozenset[str]
    prices: Mapping[str, Decimal]
    tier: str | None
    zero_retention: bool | None
    no_training: bool | None
    status: int | None


@dataclass(slots=True)
class _Notes:
    """What was odd, at most `MAX_NOTES` lines of it."""

    _lines: list[str] = field(default_factory=list)
    _more: int = 0

    def add(self, key: str, problem: str) -> None:
        if len(self._lines) < MAX_NOTES:
            self._lines.append(f"{key}: {problem}")
        else:
            self._more += 1

    def lines(self) -> tuple[str, ...]:
        more = (f"and {self._more} more",) if self._more else ()
        return (*self._lines, *more)


def _row(row: Mapping[str, Json], key: str, notes: _Notes) -> _Row | None:
    tag = row.get("tag")
    if tag is None or tag == "":
        notes.add(key, "no tag: cannot be pinned")
        return None
    try:
        route = parse_route(tag if isinstance(tag, str) else "")
    except InputError:
        notes.add(key, "the tag is not a slug: cannot be pinned")
        return None
    return _Row(
        tag=route,
        provider_name=_text(row, "provider_name", key, notes),
        quantization=_text(row, "quantization", key, notes),
        context_length=_count(row, "context_length", key, notes),
        max_completion_tokens=_count(row, "max_completion_tokens", key, notes),
        parameters=_parameters(row, key, notes),
        prices=_prices(row, key, notes),
        tier=_text(row, "service_tier", key, notes),
        zero_retention=_flag(row, "has_zdr"),
        no_training=_flag(row, "has_no_training"),
        status=_status(row, key, notes),
    )


def _route(twins: list[_Row], swallows: frozenset[RouteId]) -> Route:
    """Fold the rows of one tag into the route that promises least."""
    tiers = {row.tier for row in twins}
    return Route(
        tag=twins[0].tag,
        provider_names=frozenset(row.provider_name for row in twins if row.provider_name),
        rows=len(twins),
        quantizations=frozenset(row.quantization for row in twins if row.quantization),
        context_length=min((row.context_length for row in twins if row.context_length), default=None),
        max_completion_tokens=min(
            (row.max_completion_tokens for row in twins if row.max_completion_tokens), default=None
        ),
        parameters=frozenset.intersection(*(row.parameters for row in twins)),
        price_prompt=_dearest(twins, "prompt"),
        price_completion=_dearest(twins, "completion"),
        price_request=_dearest(twins, "request"),
        tier=None if None in tiers else min(tier for tier in tiers if tier),
        zero_retention=_promised(row.zero_retention for row in twins),
        no_training=_promised(row.no_training for row in twins),
        status=max((row.status for row in twins if row.status is not None), key=abs, default=None),
        swallows=swallows,
    )


def _promised(flags: Iterable[bool | None]) -> bool | None:
    """Fold what twins promise: all must, and one that does not says no for all."""
    said = set(flags)
    return False if False in said else None if None in said else True


def _dearest(twins: list[_Row], kind: str) -> Decimal | None:
    """Find the highest stated price; a twin that states none leaves the others' to stand."""
    return max((row.prices[kind] for row in twins if kind in row.prices), default=None)


def _object(value: Json, place: str, key: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise ListingError(
            "not an object", place=place, key=key or None, value=_kind(value), allowed="an object"
        )
    return value


def _kind(value: Json) -> str:
    """Name the type of a value instead of showing it: the document is not ours to print."""
    return "nothing" if value is None else type(value).__name__


def _is_clean(text: str) -> bool:
    """Say whether a text may be stored and printed: short, no control character, no lone surrogate."""
    return 0 < len(text) <= MAX_TEXT and text.isprintable()


def _text(row: Mapping[str, Json], name: str, key: str, notes: _Notes) -> str | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) and _is_clean(value):
        return value
    notes.add(key, f"{name} is not a short printable text: taken as not stated")
    return None


def _texts(row: Mapping[str, Json], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and _is_clean(value):
            yield value


def _with_base(ids: Iterable[str]) -> Iterator[str]:
    """Yield each id, and the id without its variant: an answer may carry either."""
    for one in ids:
        yield one
        yield one.split(":", maxsplit=1)[0]


def _count(row: Mapping[str, Json], name: str, key: str, notes: _Notes) -> int | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_COUNT:
        return int(value)
    notes.add(key, f"{name} is not a positive number of tokens: taken as not stated")
    return None


def _flag(row: Mapping[str, Json], name: str) -> bool | None:
    value = row.get(name)
    return value if isinstance(value, bool) else None


def _status(row: Mapping[str, Json], key: str, notes: _Notes) -> int | None:
    """Read the status, which captures also show as a string."""
    value = row.get("status")
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1_000:
        return value
    if isinstance(value, str) and len(value) <= 4 and value.removeprefix("-").isdecimal() and value.isascii():
        return int(value)
    notes.add(key, "status is not a small whole number: taken as not stated")
    return None


def _parameters(row: Mapping[str, Json], key: str, notes: _Notes) -> frozenset[str]:
    value = row.get("supported_parameters")
    if value is None:
        return frozenset()
    if not isinstance(value, list) or len(value) > MAX_LIST:
        notes.add(key, "supported_parameters is not a short list: taken as empty")
        return frozenset()
    names = [name for name in value if isinstance(name, str) and _is_clean(name)]
    if len(names) < len(value):
        notes.add(key, "supported_parameters holds entries that are no names: left out")
    return frozenset(names)


def _prices(row: Mapping[str, Json], key: str, notes: _Notes) -> dict[str, Decimal]:
    """Read the prices of one row: per token (`request`: per request), USD, discount applied.

    An override that a probe can meet counts where it is dearer, whatever its hours.
    """
    pricing = row.get("pricing")
    if pricing is None:
        return {}
    if not isinstance(pricing, dict):
        notes.add(key, "pricing is not an object: taken as not stated")
        return {}
    discount = _decimal(pricing.get("discount", 0))
    if discount is None or discount > 1:
        notes.add(key, "pricing.discount is not a number up to 1: no discount taken")
        discount = Decimal(0)
    overrides = pricing.get("overrides")
    overrides = overrides if isinstance(overrides, list) and len(overrides) <= MAX_LIST else []
    sources = [pricing, *(entry for entry in overrides if isinstance(entry, dict) and _meets_a_probe(entry))]
    prices: dict[str, Decimal] = {}
    for kind in ("prompt", "completion", "request"):
        stated = [source[kind] for source in sources if source.get(kind) is not None]
        read = [price for price in map(_decimal, stated) if price is not None and price >= 0]
        if len(read) < len(stated):
            notes.add(key, f"pricing.{kind} is not a price: taken as not stated")
        if read:
            prices[kind] = max(read) * (1 - discount)
    return prices


def _meets_a_probe(override: Mapping[str, Json]) -> bool:
    floor = _decimal(override.get("min_prompt_tokens", 0))
    return floor is None or floor < PROBE_PROMPT_TOKENS


def _decimal(value: Json) -> Decimal | None:
    """Read a number or a numeral of at most 40 characters; None when it is neither, or out of any reason."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    numeral = str(value) if not isinstance(value, int) or abs(value) < 10**12 else ""
    if not 0 < len(numeral) <= 40:
        return None
    try:
        number = Decimal(numeral)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < 10**6 else None


def _mandatory(data: Mapping[str, Json]) -> bool:
    reasoning = data.get("reasoning")
    return isinstance(reasoning, dict) and reasoning.get("mandatory") is True
