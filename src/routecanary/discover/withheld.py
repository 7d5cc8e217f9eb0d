"""Which routes does the gateway keep from us, although its listing names them?

A request that nobody can serve is refused before any provider is called, and the refusal lists the tags that
each step of the routing removed. It is a text without a version, so it is read strictly, and what does not
add up is "could not tell", never "nothing is removed".

Source: openrouter-wire.md §1.6, §4.4; docs/money.md, "The preflight".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from routecanary.domain.names import RouteId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing

FIRST_STEP: Final = "Initial Endpoints"
LAST_STEP: Final = "Filter by Fallback"
"""The step at which a request without fallbacks ends whose `order` names nobody."""

MAX_MESSAGE: Final = 100_000  # characters
MAX_STEPS: Final = 50

_TELLS: Final = "Every candidate endpoint was removed during routing: "
_CLAUSE: Final = re.compile(r"([A-Z][A-Za-z]*(?: [A-Za-z]+)*) removed ")
_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._:-]*(?:/[a-z0-9._:-]+)*", re.IGNORECASE)
_STEP: Final = re.compile(r"[A-Za-z][A-Za-z ]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """What the steps before the last one removed."""

    by_step: Mapping[str, frozenset[RouteId]]  # steps that removed something, in the order of the routing
    reached: frozenset[RouteId]  # what was left for the last step: these would have been asked

    @property
    def routes(self) -> frozenset[RouteId]:
        """List the routes that are removed by any step."""
        return frozenset().union(*self.by_step.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """Nothing can be said of any route."""

    why: str  # safe to print


class _Clause(NamedTuple):
    step: str
    tags: frozenset[RouteId]


class _DriftError(Exception):
    """The text is not the one that is known."""


def withheld_from_refusal(
    status: int | None, error: Mapping[str, Json] | None, listing: Listing
) -> Withheld | Untold:
    """Read the refusal of a request that names nobody in `order` and allows no fallbacks.

    Args:
        status: HTTP; None when no answer came.
        error: The error object of the answer.
        listing: Of the same model, which says how many rows a tag has: the text names tags, the funnel counts
            rows.
    Returns:
        What each step removed, when text and funnel agree in every count; otherwise why nothing can be told.
    Example: "Filter by Guardrails removed a (Provider not allowed (account settings)); Filter by Fallback
        removed b, c." with a funnel of 3, 2 and 0 endpoints tells that `a` is withheld.
    """
    if status is None:
        return Untold(why="no answer came")
    if status != 404:
        return Untold(why=f"HTTP {status} where a refusal with 404 was expected")
    try:
        drops = _drops(_mapping((error or {}).get("metadata")))
        clauses = tuple(_clauses((error or {}).get("message")))
        _reconcile(drops, clauses, {route.tag: route.rows for route in listing.routes})
    except _DriftError as drift:
        return Untold(why=f"the refusal does not read as it used to: {drift}")
    removed = {clause.step: clause.tags for clause in clauses}
    return Withheld(
        reached=removed.pop(LAST_STEP, frozenset()),
        by_step={step: removed[step] for step in drops if step in removed},
    )


def withheld_from_listing(listing: Listing, *, deny: bool, zdr: bool) -> Withheld | Untold:
    """Read who is withheld where the listing says of each route what becomes of a request.

    Args:
        deny: Of requests that admit nobody who trains on them.
        zdr: Of requests that admit nobody who keeps them.
    Returns:
        Whom such a request does not reach: whoever does not promise it. What an account withholds by lists of
        its own is in no listing.
    """
    if not deny and not zdr:
        return Untold(why="this gateway does not tell what lists of the account withhold")
    by_step: dict[str, frozenset[RouteId]] = {}
    if deny:
        by_step["does not promise not to train"] = frozenset(
            route.tag for route in listing.routes if route.no_training is not True
        )
    if zdr:
        by_step["does not promise to keep nothing"] = frozenset(
            route.tag for route in listing.routes if route.zero_retention is not True
        )
    gone = frozenset[RouteId]().union(*by_step.values())
    return Withheld(
        by_step={step: tags for step, tags in by_step.items() if tags}, reached=listing.tags() - gone
    )


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _drops(metadata: Mapping[str, Json]) -> dict[str, int]:
    """Read the funnel: step → how many rows it removed, in the order of the steps."""
    funnel = metadata.get("routing_funnel")
    if not isinstance(funnel, list) or not 1 <= len(funnel) <= MAX_STEPS:
        raise _DriftError("no routing funnel")
    counts: dict[str, int] = {}
    for entry in funnel:
        step, count = _mapping(entry).get("step"), _mapping(entry).get("endpoint_count")
        if not isinstance(step, str) or not _STEP.fullmatch(step) or step in counts:
            raise _DriftError("a step of the funnel has no name of its own")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise _DriftError("a step of the funnel has no count")
        counts[step] = count
    steps = list(counts)
    if steps[0] != FIRST_STEP:
        raise _DriftError(f"the funnel does not begin with {FIRST_STEP!r}")
    if steps[-1] != LAST_STEP or metadata.get("failed_routing_step", LAST_STEP) != LAST_STEP:
        raise _DriftError(f"the routing ended at {steps[-1]!r}, as if every route were withheld")
    drops = {step: counts[before] - counts[step] for before, step in pairwise(steps)}
    if min(drops.values(), default=0) < 0 or counts[LAST_STEP]:
        raise _DriftError("the funnel does not narrow to nothing")
    return drops


def _clauses(message: Json) -> Iterator[_Clause]:
    """Read the text: one clause a step, each with its tags and perhaps a reason in parentheses."""
    if not isinstance(message, str) or len(message) > MAX_MESSAGE:
        raise _DriftError("no message")
    _, told, text = message.partition(_TELLS)
    if not told or not text.endswith("."):
        raise _DriftError("the message lists no removed tags")
    text = text[:-1]
    at = 0
    while True:
        clause = _CLAUSE.match(text, at)
        if clause is None:
            raise _DriftError("a clause names no step")
        tags, at = _tags(text, clause.end())
        yield _Clause(clause[1], tags)
        if text.startswith(" (", at):
            at = _after_reason(text, at + 1)
        if at == len(text):
            return
        if not text.startswith("; ", at):
            raise _DriftError("a clause has no end")
        at += 2


def _tags(text: str, at: int) -> tuple[frozenset[RouteId], int]:
    tags: list[RouteId] = []
    while True:
        tag = _TAG.match(text, at)
        if tag is None:
            raise _DriftError("a name that is no tag")
        tags.append(RouteId(tag[0].lower()))
        at = tag.end()
        if not text.startswith(", ", at):
            break
        at += 2
    if len(set(tags)) < len(tags):
        raise _DriftError("a tag stands twice in one clause")
    return frozenset(tags), at


def _after_reason(text: str, at: int) -> int:
    """Find the end of a reason, whose parentheses may be nested."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    raise _DriftError("a reason without an end")


def _reconcile(drops: Mapping[str, int], clauses: tuple[_Clause, ...], rows: Mapping[RouteId, int]) -> None:
    """Hold that text and funnel tell of the same steps, and that each step's tags make up its rows."""
    named = [tag for clause in clauses for tag in clause.tags]
    steps = [clause.step for clause in clauses]
    if len(set(named)) < len(named) or len(set(steps)) < len(steps):
        raise _DriftError("a tag or a step is told of twice")
    if set(steps) != {step for step, drop in drops.items() if drop}:
        raise _DriftError("the text and the funnel tell of different steps")
    for clause in clauses:
        if sum(rows.get(tag, 1) for tag in clause.tags) != drops[clause.step]:
            raise _DriftError(f"the tags of {clause.step!r} do not make up its count")
