"""Who is asked what in a study, with which requests, and what may that cost?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from random import Random
from typing import Final

from routecanary.discover.admission import UNDECLARED
from routecanary.domain.money import NOTHING, price_of
from routecanary.domain.names import LANGUAGE, ContractName, Locale, RouteId
from routecanary.domain.probe import Probe, ProbeKind, ProbeSpec
from routecanary.domain.route import Listing, Route
from routecanary.errors import ConfigError, InputError
from routecanary.probe.catalog import Catalog
from routecanary.probe.extent import Extents
from routecanary.probe.pin import probe_for
from routecanary.rounds.estimate import usual_cost
from routecanary.rounds.purse import Bound
from routecanary.rounds.studies import KeptStudy
from routecanary.rounds.world import World
from routecanary.study.kin import is_official
from routecanary.study.order import Asking, order_of, spread
from routecanary.study.values import Question, Study, StudyRoute

ANY_LOCALE: Final = Locale("und")
"""Stands in a probe for no locale: the tag of an undetermined language. No answer to it is judged by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What askings cost, in USD."""

    usual: Decimal  # if the answers are as long as such answers are
    most: Decimal  # if each is as long as it may be


def questions_of(
    catalog: Catalog, kind: ProbeKind, locale: Locale, *, fallback: bool = True
) -> tuple[Question, ...]:
    """Make a question of every scene of a probe's text.

    Args:
        fallback: Where there is no such text in this locale, take the one that a round would.
    Raises:
        ConfigError: There is no such text.
    """
    spec = (catalog.find_or_fallback if fallback else catalog.find)(kind, locale)
    if spec is None:
        allowed = ", ".join(catalog.locales(kind)) or "there is no text of this probe at all"
        raise ConfigError(f"no {kind} text for this locale", key="--locale", value=locale, allowed=allowed)
    return tuple(
        Question(
            kind=kind,
            scene=scene,
            version=spec.version,
            max_tokens=spec.max_tokens,
            locale=spec.locale,
            places=spec.places,
            dates=spec.dates,
            people=spec.people,
            schema=None if spec.schema is None else json.dumps(spec.schema),
        )
        for scene in spec.scenes
    )


def askings_of(
    usual: Collection[RouteId],
    *,
    chosen: Collection[RouteId],
    suspects: Collection[RouteId],
    n: int,
    others: int | None,
    rng: Random,
) -> dict[RouteId, int]:
    """Decide how often each route is asked.

    Args:
        usual: Whom a round asks.
        chosen: Ask these and the suspects; empty = whom a round asks, and the suspects.
        suspects: Whom the study is about.
        n: Askings of each.
        others: Askings of all that are no suspects, together; None = `n` of each.
    Raises:
        InputError: There are no others.
    """
    asked = frozenset(chosen or usual) | frozenset(suspects)
    rest = asked - frozenset(suspects)
    if others is None:
        return dict.fromkeys(sorted(asked), n)
    if others and not rest:
        raise InputError("there are no others", key="--others", value=others)
    counts = dict.fromkeys(suspects, n) | spread(others, rest, rng)
    return {route: count for route, count in sorted(counts.items()) if count}


def study_of(
    world: World,
    listing: Listing,
    questions: Sequence[Question],
    turns: Sequence[int],
    askings: Mapping[RouteId, int],
    *,
    contracts: frozenset[ContractName],
    suspects: Collection[RouteId] = (),
    incident: int | None = None,
) -> Study:
    """Plan a study; nothing is kept yet.

    A route that cannot be asked one of the questions is not asked any: its counts would rest on other
    questions than those of the others.

    Args:
        turns: Which question is asked at each turn, for as many turns as the most askings of a route.
        askings: Of each route.
        contracts: That judge, as far as they apply.
    Raises:
        InputError: A route is not listed now, or none can be asked.
    """
    routes = {route.tag: route for route in listing.routes}
    for unknown in sorted(askings.keys() - routes.keys()):
        raise InputError(
            "not a route of this model now",
            place=listing.model,
            value=str(unknown),
            allowed=", ".join(sorted(routes)),
        )
    if all(question.locale is None for question in questions):
        contracts -= {LANGUAGE}
    official = world.model(listing.model).official
    study = Study(
        id=f"{world.rng.getrandbits(40):010x}",
        at=world.clock.now(),
        model=listing.model,
        questions=tuple(questions),
        turns=tuple(turns),
        routes=tuple(
            StudyRoute(
                route=tag,
                n=n,
                quantizations=_precision(routes[tag]),
                official=is_official(routes[tag], listing.model, official),
                suspect=tag in suspects,
            )
            for tag, n in sorted(askings.items())
        ),
        contracts=contracts,
        seed=world.rng.getrandbits(32),
        incident=incident,
    )
    able = tuple(each for each in study.routes if _can_ask_all(world, study, listing, each))
    if not able:
        raise InputError("no route can be asked this question", place=listing.model)
    unable = tuple(each.route for each in study.routes if each not in able)
    return replace(study, routes=able, unable=unable)


def _precision(route: Route) -> frozenset[str]:
    """Take the declared precision class; where a row does not state one, it may be any."""
    return frozenset() if UNDECLARED in route.quantizations else route.quantizations


def _can_ask_all(world: World, study: Study, listing: Listing, route: StudyRoute) -> bool:
    return all(
        _probe(world, study.questions[number], listing, route.route) is not None
        for number in sorted(set(study.turns[: route.n]))
    )


def left_of(world: World, kept: KeptStudy, listing: Listing) -> tuple[Asking, ...]:
    """List the askings of a study that are still to be made, in their order.

    Args:
        listing: As it is now; a route that is not in it, or came to lack a way to be asked this, has none.
    """
    study, listed = kept.study, listing.tags()
    done = {(answer.route, answer.turn) for answer in kept.answers}
    able = {
        each.route
        for each in study.routes
        if each.route in listed and _can_ask_all(world, study, listing, each)
    }
    return tuple(asking for asking in order_of(study) if asking.route in able and asking not in done)


def probe_of(world: World, study: Study, listing: Listing, asking: Asking) -> Probe:
    """Make the request of one asking, with a front of its own where the question has one.

    Raises:
        LookupError: `left_of` this listing does not name the asking.
    """
    probe = _probe(world, study.question(asking.turn), listing, asking.route)
    if probe is None:
        raise LookupError(f"{asking.route} cannot be asked this")
    return probe


def _probe(world: World, question: Question, listing: Listing, tag: RouteId) -> Probe | None:
    route = next(route for route in listing.routes if route.tag == tag)
    probe = probe_for(
        listing,
        route,
        spec_of([question]),
        question.scene,
        attempt=0,
        sampling=world.settings.probes.sampling,
        users=world.users,
        rng=world.rng,
        reasoning_room=world.settings.probes.reasoning_room,
    )
    if probe is None or question.messages is None:
        return probe
    return replace(probe, body={**probe.body, "messages": json.loads(question.messages)})


def spec_of(questions: Sequence[Question]) -> ProbeSpec:
    """Make one text of questions of one kind and locale; bounds that hold for it hold for each of them."""
    first = questions[0]
    schema = max((each.schema for each in questions if each.schema is not None), key=len, default=None)
    return ProbeSpec(
        kind=first.kind,
        version=first.version,
        locale=first.locale or ANY_LOCALE,
        scenes=tuple(each.scene for each in questions),
        max_tokens=max(each.max_tokens for each in questions),
        schema=None if schema is None else json.loads(schema),
        places=_joined(each.places for each in questions),
        dates=_joined(each.dates for each in questions),
        people=_joined(each.people for each in questions),
    )


def _joined(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for entries in lists for each in entries))


def catalog_of(study: Study) -> Catalog:
    """Make a catalog of what a study asks, as costs are worked out from one."""

    def key(question: Question) -> tuple[str, str]:
        return question.kind.value, question.locale or ANY_LOCALE

    grouped = groupby(sorted(study.questions, key=key), key=key)
    return Catalog(specs=tuple(spec_of(list(group)) for _, group in grouped))


def bounds_of_study(
    world: World, study: Study, listing: Listing
) -> Mapping[tuple[RouteId, ProbeKind], Bound]:
    """Bound the cost of one asking, for every route that is listed and every kind of question."""
    catalog = catalog_of(study)
    extents = Extents(listing, catalog, reasoning_room=world.settings.probes.reasoning_room)
    asked = {each.route for each in study.routes}
    bounds: dict[tuple[RouteId, ProbeKind], Bound] = {}
    for route in listing.routes:
        if route.tag not in asked:
            continue
        price = price_of(route, listing, world.settings.budget.assumed_price)
        for spec in catalog.specs:
            bound = Bound(price=price, extent=extents.of(route, spec.kind, spec.locale))
            known = bounds.get((route.tag, spec.kind))
            if known is None or known.most < bound.most:
                bounds[route.tag, spec.kind] = bound
    return bounds


def cost_of(world: World, study: Study, listing: Listing, left: Sequence[Asking]) -> Cost:
    """State what askings will cost, before anything is spent."""
    bounds = bounds_of_study(world, study, listing)
    probes = [probe_of(world, study, listing, asking) for asking in left]
    most = (bounds[probe.route, probe.kind].most for probe in probes)
    return Cost(
        usual=usual_cost(world.settings, listing, catalog_of(study), probes),
        most=sum(most, NOTHING),
    )
