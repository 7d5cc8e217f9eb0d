"""What does one fixed prompt count at every route today? Asked with a few words, once a day.

Otherwise than a probe's, the prompt never changes, so that the count can be compared: with the route's last
ones, and with what the model's other routes count. Nothing is judged, and no decision rests on it.

Source: docs/operating.md, Tripwires; openrouter-wire.md §5.1.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from routecanary.domain.answer import read_answer
from routecanary.domain.money import Extent, price_of
from routecanary.domain.names import Locale, RouteId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import Operation, Reserved
from routecanary.domain.probe import Probe, ProbeKind, ProbeSpec, Scene
from routecanary.domain.prompts import PromptReading
from routecanary.domain.route import Listing
from routecanary.probe.extent import most_prompt_tokens
from routecanary.probe.pin import LEAST_ROOM, probe_for
from routecanary.rounds.asked import asked_routes, controls_of
from routecanary.rounds.capture import Captured, capture
from routecanary.rounds.ports import UNWATCHED
from routecanary.rounds.prompt_change import changed_in, confirmed, count_of, odd_ones, told_of
from routecanary.rounds.purse import Bound, Purse, Till, named_at, settling, tidings
from routecanary.rounds.spending import in_order, ration
from routecanary.rounds.studies import study_draft
from routecanary.rounds.tripwire_study import ask_of_change, study_of_change
from routecanary.rounds.world import World
from routecanary.study.values import Study

LOG: Final = logging.getLogger("routecanary.rounds")

WORDS: Final = (
    "Which of these words mean tomorrow: ontem, завтра, χθες, 明日, bukas? Name them, without comment."
)
"""Several scripts, so that another tokenizer shows; short, so that no host keeps it in a cache. To change it
is to begin all counts anew."""

SPEC: Final = ProbeSpec(
    kind=ProbeKind.ANY,
    version=1,
    locale=Locale("en"),
    scenes=(Scene(id="tomorrow", prompt=WORDS),),
    max_tokens=LEAST_ROOM,
)
ASKINGS: Final = 2  # of a route, at most: once, and again where the count is odd

_OF_THE_ACCOUNT: Final = frozenset({401, 402})  # HTTP: every further answer would say the same


def is_due(last: datetime | None, now: datetime, every: timedelta) -> bool:
    """Say whether another span of time began since the last reading, or the clock was set back behind it."""
    if last is None:
        return True
    span = every.total_seconds()
    return last.timestamp() // span != now.timestamp() // span


async def tripwire(world: World, listing: Listing) -> None:
    """Read what the fixed prompt counts, if that is due, and begin a study of the routes where it changed.

    Raises:
        StoreError: The log failed.
    """
    study = await read_prompts(world, listing)
    if study is not None:
        await ask_of_change(world, study, listing)


async def read_prompts(world: World, listing: Listing) -> Study | None:
    """Ask whoever a round asks what the fixed prompt counts, if that is due and the day's budget allows it.

    Returns:
        The study, not asked yet, of the routes that count it otherwise than before; None where none does.
    Raises:
        StoreError: The log failed; nothing was asked, or nothing is kept of it but what it had cost.
    """
    settings, model = world.settings, listing.model
    known = world.ledger.operating().model(model).prompts
    if not settings.tripwire.enabled or not is_due(known.read_at, world.clock.now(), settings.tripwire.every):
        return None
    probes, purse = _allowed(world, listing, _planned(world, listing, asked_routes(world, listing, None)))
    if not probes:
        return None
    till = Till(world.gateway, purse)
    with settling(world, purse):
        first = await _counts(world, probes, till)
        odd = odd_ones(known, first)
        again = _planned(world, listing, odd, attempt=1)
        second = await _counts(world, again, till) if again else {}
        readings = confirmed(first, second, asked_again=odd)

        changed = changed_in(told_of(model, world.clock.now(), known, readings))
        study = study_of_change(world, listing, changed) if changed else None
        if study is not None:  # first, so that what a notice names is there
            world.ledger.note(study_draft(study))

        def decide(operating: OperatingState) -> Sequence[Operation]:
            at, before = world.clock.now(), operating.model(model).prompts
            told = told_of(model, at, before, readings, study=None if study is None else study.id)
            return (purse.settled(at), *told)

        world.ledger.operate(decide)
    LOG.info(
        "fixed prompt model=%s asked=%d read=%d odd=%d changed=%d",
        model,
        len(probes),
        len(readings),
        len(odd),
        len(changed),
    )
    return study


def _planned(
    world: World, listing: Listing, asked: Collection[RouteId], *, attempt: int = 0
) -> tuple[Probe, ...]:
    """Make the fixed request of each route that has room for an answer; no room is kept for reasoning."""
    made = (
        probe_for(
            listing,
            route,
            SPEC,
            SPEC.scenes[0],
            attempt=attempt,
            sampling=world.settings.probes.sampling,
            users=world.users,
            rng=world.rng,
            reasoning_room=0,
        )
        for route in listing.routes
        if route.tag in asked
    )
    return tuple(probe for probe in made if probe is not None)


def _allowed(world: World, listing: Listing, probes: Sequence[Probe]) -> tuple[tuple[Probe, ...], Purse]:
    """Set aside the most that the readings can cost, for as many routes as the day's budget covers."""
    budget, model = world.settings.budget, listing.model
    most = Extent(prompt=most_prompt_tokens(SPEC), completion=LEAST_ROOM)
    asked = {probe.route for probe in probes}
    bounds = {
        (route.tag, SPEC.kind): Bound(price=price_of(route, listing, budget.assumed_price), extent=most)
        for route in listing.routes
        if route.tag in asked
    }
    wishes = in_order(
        {route: ASKINGS * bound.most for (route, _), bound in bounds.items()},
        suspended=world.ledger.state(model).suspensions(),
        controls=controls_of(world, listing),
        targets=(),
        left_out={},
        rng=world.rng,
    )
    name = f"tripwire {model} {named_at(world.clock.now(), world.rng)}"
    granted: frozenset[RouteId] = frozenset()

    def decide(operating: OperatingState) -> Sequence[Operation]:
        nonlocal granted
        at = world.clock.now()
        outcome = ration(wishes, committed=operating.committed(at.astimezone(UTC).date()), budget=budget)
        granted = frozenset(outcome.granted)
        left_out = frozenset(operating.model(model).left_out)  # by rounds: remembered as it is
        reserved = Reserved(at=at, model=model, round_id=name, usd=outcome.usd, left_out=left_out)
        said = tidings(operating, at, budget, short=bool(outcome.refused))
        return [*said, reserved] if granted else said

    world.ledger.operate(decide)
    allowed = tuple(probe for probe in probes if probe.route in granted)
    return allowed, Purse(model, name, bounds=bounds, unasked=len(probes) - len(allowed))


async def _counts(world: World, probes: Sequence[Probe], till: Till) -> Mapping[RouteId, PromptReading]:
    """Ask each route once, and read what can be believed of its answer."""
    captured = await capture(
        probes,
        till,
        clock=world.clock,
        rng=world.rng,
        spread=world.settings.probes.start_spread,
        blames_account=lambda transcript: transcript.status in _OF_THE_ACCOUNT,
        progress=UNWATCHED,
    )
    limits = world.judge_settings()
    readings: dict[RouteId, PromptReading] = {}
    for answers in captured.values():
        for each in answers:
            try:
                answer = read_answer(each.transcript)
                tokens = count_of(answer, limits)
            except Exception:  # whatever one route sent, the others are read
                LOG.exception("answer not read model=%s route=%s", each.probe.model, each.probe.route)
                till.purse.pay_unread(each.transcript)
                continue
            till.purse.pay(answer)
            if tokens is not None:
                readings[each.probe.route] = PromptReading(tokens=tokens, asked=_fingerprint(each))
    return readings


def _fingerprint(captured: Captured) -> str:
    """Name what was sent that may count: a request that we changed is no change of the route's."""
    body = captured.probe.body
    sent = json.dumps([body["messages"], body.get("reasoning")])
    return hashlib.sha256(sent.encode()).hexdigest()[:16]
