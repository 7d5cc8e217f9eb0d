"""One round, top to bottom: read this file first.

The listing is read and weighed; the plan makes probes of its routes; every route is asked, pinned; the
answers are judged; what failed is asked again; the settled verdicts form a `Round`; the decision follows, is
kept, and is published.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from routecanary.decide.rotation import locales_for, round_locale
from routecanary.discover.admission import is_admitted
from routecanary.discover.changes import Belief, weigh
from routecanary.discover.undivided import united
from routecanary.domain.answer import read_answer
from routecanary.domain.archive import PackedTranscript
from routecanary.domain.event import Event
from routecanary.domain.money import NOTHING
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId, swallowed
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import Operation
from routecanary.domain.policy import Trigger
from routecanary.domain.probe import Probe
from routecanary.domain.round import Round, RouteReport
from routecanary.domain.route import Listing, Route
from routecanary.domain.state import ModelState
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.examine import judge_answer, judge_transcript
from routecanary.judge.registry import contracts_with
from routecanary.probe.plan import confirmation, plan_round
from routecanary.rounds.act import ensure_mode
from routecanary.rounds.asked import asked_routes, controls_of
from routecanary.rounds.asking import answered
from routecanary.rounds.attend import attend
from routecanary.rounds.capture import Captured, capture
from routecanary.rounds.clock_watch import ClockWatch
from routecanary.rounds.examine import (
    WOULD_FAIL,
    Attempt,
    Examination,
    conclude,
    confirm,
    examined,
    unjudged,
)
from routecanary.rounds.listed import tell_listing
from routecanary.rounds.observe import Patience, Sight, doubted, observe
from routecanary.rounds.ports import UNWATCHED, Progress
from routecanary.rounds.preflight import OF_ONE_REQUEST, withheld_routes
from routecanary.rounds.purse import Till, allow, settling
from routecanary.rounds.record import Observe
from routecanary.rounds.requalify import enforced_contracts
from routecanary.rounds.world import World
from routecanary.routing.layers import builtin_for, runtime_for

LOG: Final = logging.getLogger("routecanary.rounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """What one round came to; `events` is empty when its listing was not believed."""

    model: ModelId
    listing: Listing
    believed: bool
    locale: Locale
    examinations: Mapping[RouteId, Examination]
    events: tuple[Event, ...]
    state: ModelState
    left_out: frozenset[RouteId] = frozenset()  # the day's budget did not allow them
    spent_usd: Decimal = NOTHING


@dataclass(frozen=True, slots=True)
class Locales:
    """In which locales a round asks."""

    of_round: Locale
    of_routes: Mapping[RouteId, Locale]
    out_of_turn: bool = False  # it was asked for, and takes no turn of the rotation


async def run_round(
    world: World,
    model: ModelId,
    *,
    only: Collection[RouteId] | None = None,
    out_of_turn: Locale | None = None,
    progress: Progress = UNWATCHED,
) -> RoundResult:
    """Make one round over one model.

    Args:
        only: The targets of a targeted round (`asked_routes`); a route that is not asked carries `skipped`,
            and so does one that the day's budget does not allow.
        out_of_turn: In which of the rotation's locales a targeted round was asked for. Its company is asked
            in it too, so that a fault of ours in that locale does not look like the target's.
    Raises:
        InputError: A target is not listed now; nothing is recorded.
        GatewayError: The listing could not be had; nothing is recorded.
        ClockError: The wall clock stepped back behind the model's last round, or leapt ahead during this one;
            nothing is recorded.
        StoreError: The decision could not be kept; nothing is published.
    """
    watch = ClockWatch(world.clock)
    most = world.settings.schedule.max_clock_leap
    named = await world.gateway.listing(model)
    listing = united(named, world.ledger.operating().undivided)
    if not _believe(world, listing):
        _tell_doubt(world, listing)
        state = world.ledger.state(model)
        return RoundResult(
            model=model,
            listing=listing,
            believed=False,
            locale=round_locale(state, world.settings.probes.locales),
            examinations={},
            events=(),
            state=state,
        )
    withheld = await withheld_routes(world, named)
    asked = asked_routes(world, listing, only)
    watch.now(most)
    attend(world, model)
    began = world.ledger.head()
    state = world.ledger.state(model)
    locales = world.settings.probes.locales
    locale = round_locale(state, locales) if out_of_turn is None else out_of_turn
    locale_of = locales_for(state, locales, listing.tags(), out_of_turn=out_of_turn)
    planned = plan_round(
        listing,
        world.catalog,
        number=state.rounds,
        locale_of=locale_of,
        contracts_enabled=world.settings.enabled_contracts(),
        settings=world.settings.probes,
        asked=asked,
        users=world.users,
        rng=world.rng,
    )
    allowance = allow(
        world,
        listing,
        planned,
        suspended=state.suspensions(),
        controls=controls_of(world, listing),
        targets=only or (),
    )
    purse = allowance.purse
    progress.planned(allowance.probes)
    till = Till(world.gateway, purse)
    with settling(world, purse) if allowance.probes else nullcontext():
        captured = await capture(
            allowance.probes,
            till,
            clock=world.clock,
            rng=world.rng,
            spread=world.settings.probes.start_spread,
            blames_account=lambda transcript: _blames_account(world, transcript),
            progress=progress,
        )
        examinations = await _examine(world, listing, captured, progress, till)
        watch.now(most)
        ensure_mode(world, model)
        decision = world.ledger.decide(
            model,
            lambda at, acted: _round(
                world,
                listing,
                Locales(locale, locale_of, out_of_turn=out_of_turn is not None),
                examinations,
                withheld=withheld,
                at=at,
                acted=acted,
            ),
            now=lambda: watch.now(most),
            began=began,
            listing=listing,
            transcripts=_packed(world, examinations.values()),
            operations=(purse.settled(world.clock.now()),) if allowance.probes else (),
            observe=_observer(world, listing, examinations, locale_of),
        )
    world.publish()
    return RoundResult(
        model=model,
        listing=listing,
        believed=True,
        locale=locale,
        examinations=examinations,
        events=decision.events,
        state=decision.state,
        left_out=allowance.left_out,
        spent_usd=purse.spent,
    )


def _believe(world: World, listing: Listing) -> bool:
    """Weigh a listing against those before it; a shrunken one waits for two that agree."""
    known = world.beliefs.get(listing.model) or Belief(believed=world.ledger.listing(listing.model))
    if known.believed is not None:  # a provider that became one route since has not shrunk
        undivided = world.ledger.operating().undivided
        known = replace(known, believed=united(known.believed, undivided))
    belief = world.beliefs[listing.model] = weigh(known, listing)
    if belief.doubted is None:
        tell_listing(known.believed, listing)
    return belief.doubted is None


def _tell_doubt(world: World, listing: Listing) -> None:
    believed = world.beliefs[listing.model].believed
    at = world.clock.now()
    world.ledger.operate(lambda before: doubted(listing, believed, at=at, before=before))


def _observer(
    world: World,
    listing: Listing,
    examinations: Mapping[RouteId, Examination],
    locale_of: Mapping[RouteId, Locale],
) -> Observe:
    """Look at what a round shows of the canary itself, once it is known what the round came to."""
    settings = world.settings
    sight = Sight(
        model=listing.model,
        attempts=tuple(attempt for examination in examinations.values() for attempt in examination.attempts),
        expected=asked_routes(world, listing, None),
    )
    patience = Patience(
        stale_after=settings.policy.stale_after,
        control_max_age=settings.control_max_age,
        contracts=settings.enabled_contracts(),
    )
    model = listing.model
    asked_in = {route: locale_of[route] for route, one in examinations.items() if one.attempts}

    def seen(before: OperatingState, after: ModelState, at: datetime) -> Sequence[Operation]:
        observed = observe(sight, patience, at=at, before=before, after=after)
        return (*observed, *answered(before.model(model), asked_in, model=model, at=at))

    return seen


def _blames_account(world: World, transcript: Transcript) -> bool:
    if transcript.status == 200:  # read in full only afterwards: judging must not delay other streams
        return False
    try:
        verdicts = judge_transcript(transcript, world.judge_settings())
    except Exception:  # it is judged, and told of, with all the others
        return False
    return any(
        verdict.kind is VerdictKind.ACCOUNT and verdict.code not in OF_ONE_REQUEST
        for verdict in verdicts.values()
    )


async def _examine(
    world: World,
    listing: Listing,
    captured: Mapping[RouteId, Sequence[Captured]],
    progress: Progress,
    till: Till,
) -> Mapping[RouteId, Examination]:
    """Judge every first answer, then confirm what failed, then settle; every answer is paid for."""
    enabled = world.settings.enabled_contracts()
    limits = world.judge_settings()

    judges = contracts_with(limits)

    def judge(transcript: Transcript, contracts: frozenset[ContractName]) -> Mapping[ContractName, Verdict]:
        try:
            answer = read_answer(transcript)
            verdicts = judge_answer(answer, limits, judges, only=contracts, blind=world.blind)
        except Exception as error:  # the border of one route: whatever it sent, the others are judged
            LOG.exception("answer not judged model=%s route=%s", transcript.model, transcript.route)
            till.purse.pay_unread(transcript)
            return unjudged(error, transcript.kind, contracts)
        till.purse.pay(answer)
        return verdicts

    async def ask_again(probe: Probe) -> Captured | None:
        again = confirmation(
            probe,
            listing,
            world.catalog,
            settings=world.settings.probes,
            users=world.users,
            rng=world.rng,
        )
        if again is None:
            return None
        soonest, latest = world.settings.probes.confirm_delay
        await world.clock.sleep(world.rng.uniform(soonest.total_seconds(), latest.total_seconds()))
        transcript = await till.ask(again)
        progress.answered(again, transcript)
        return Captured(probe=again, transcript=transcript)

    firsts: list[Attempt] = []
    for answers in captured.values():
        for answer in answers:
            firsts.append(examined(answer, judge, enabled))
            progress.judged(answer.probe, firsts[-1].verdicts)
            await asyncio.sleep(0)  # others may run: a round of hundreds takes a while to judge
    confirmations = {name: contract.confirmations for name, contract in world.settings.contracts.items()}
    weighed = world.settings.policy.trigger is not Trigger.STREAK
    async with asyncio.TaskGroup() as tasks:
        confirming = [
            tasks.create_task(confirm(first, judge, ask_again, confirmations, to_the_end=weighed))
            for first in firsts
        ]
    enforced = enforced_contracts(world, listing.model, world.clock.now())
    by_route: dict[RouteId, list[tuple[Attempt, ...]]] = {route.tag: [] for route in listing.routes}
    for task in confirming:
        attempts = task.result()
        by_route[attempts[0].probe.route].append(attempts)
    return {
        route: conclude(
            probes,
            enabled=enabled,
            enforced=enforced,
            confirmations=confirmations,
        )
        for route, probes in sorted(by_route.items())
    }


def _round(
    world: World,
    listing: Listing,
    locales: Locales,
    examinations: Mapping[RouteId, Examination],
    *,
    withheld: frozenset[RouteId],
    at: datetime,
    acted: frozenset[RouteId],
) -> Round:
    """Form the line that is decided on; a contract without a verdict was not asked: `skipped`.

    A contract that a person put on trial since the answers were judged accuses nobody either.
    """
    production = world.model(listing.model).production
    builtin = builtin_for(world.builtin, listing.model)
    runtime = runtime_for(world.ledger.runtime(at), listing.model)
    tiers = frozenset(route.tag for route in listing.routes if route.tier is not None)
    targets = {entry.target for entry in builtin} | {entry.target for entry in runtime}
    controls = controls_of(world, listing)
    enforced = enforced_contracts(world, listing.model, at)

    def counted(said: Verdict, control_for: frozenset[ContractName]) -> VerdictKind:
        if said.contract in control_for:  # a fail accuses nobody here: it shows that the probe still sees
            return VerdictKind.FAIL if said.code == WOULD_FAIL else said.kind
        would_fail = said.kind is VerdictKind.FAIL and said.contract not in enforced
        return VerdictKind.INCONCLUSIVE if would_fail else said.kind

    def report(route: Route) -> RouteReport:
        control_for = controls.get(route.tag, frozenset())
        verdicts = dict.fromkeys(world.settings.contracts, VerdictKind.SKIPPED)
        verdicts |= {
            name: counted(said, control_for) for name, said in examinations[route.tag].verdicts.items()
        }
        return RouteReport(
            verdicts=verdicts,
            attempts={  # of a contract on trial, nothing is evidence
                name: examinations[route.tag].conclusive(name) if name in enforced else ()
                for name in examinations[route.tag].verdicts
            },
            swallows=route.swallows,
            control_for=control_for,
            admitted=is_admitted(route, production, withheld=withheld),
            locale=locales.of_routes[route.tag],
        )

    return Round(
        at=at,
        model=listing.model,
        routes={route.tag: report(route) for route in listing.routes},
        locale=locales.of_round,
        out_of_turn=locales.out_of_turn,
        builtin=frozenset(entry.target for entry in builtin),
        runtime=frozenset(entry.target for entry in runtime),
        swallows={
            entry: swallowed(entry, listing.tags(), tiers) for entry in sorted(targets - listing.tags())
        },
        acted=acted,
    )


def _packed(world: World, examinations: Collection[Examination]) -> tuple[PackedTranscript, ...]:
    """Make the evidence ready for keeping, dated by the round."""
    at = world.clock.now()
    return tuple(
        world.transcripts.pack(attempt.transcript, at=at, verdicts=attempt.verdicts)
        for examination in examinations
        for attempt in examination.attempts
    )
