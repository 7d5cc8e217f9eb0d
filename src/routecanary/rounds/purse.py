"""What does this round spend? Set aside before anything is sent, settled when it is over.

The budget of a day stands in the log and nowhere else, so that the daemon and a round made by hand share it,
and a crash between setting aside and settling leaves the more careful number.

Source: docs/money.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from random import Random

from routecanary.domain.answer import Answer
from routecanary.domain.money import NOTHING, Extent, Price, charged, price_of
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import (
    BudgetReached,
    BudgetRestored,
    Operation,
    Reserved,
    Settled,
    operation_draft,
)
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.route import Listing
from routecanary.domain.settings import BudgetSettings, Settings
from routecanary.domain.times import format_instant
from routecanary.domain.transcript import Transcript
from routecanary.errors import StoreError
from routecanary.probe.catalog import Catalog
from routecanary.probe.extent import Extents, most_askings
from routecanary.rounds.ports import Gateway
from routecanary.rounds.spending import Ration, Wish, in_order, ration
from routecanary.rounds.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What one asking may cost."""

    price: Price
    extent: Extent

    @property
    def most(self) -> Decimal:
        """The most that it may cost, in USD."""
        return self.price.of(self.extent)


class Purse:
    """The money of one round: what its answers turn out to cost."""

    def __init__(
        self,
        model: ModelId,
        round_id: str,
        *,
        bounds: Mapping[tuple[RouteId, ProbeKind], Bound],
        unasked: int = 0,
    ) -> None:
        """Hold what is needed to price an answer.

        Args:
            bounds: What one asking of each route and kind may cost.
            unasked: Planned probes that the budget did not allow.
        """
        self.spent = NOTHING  # USD, on answers
        self._asked = 0
        self._again = 0
        self._under_way: Counter[tuple[RouteId, ProbeKind]] = Counter()  # sent, and not paid for yet
        self._model = model
        self._round_id = round_id
        self._bounds = bounds
        self._unasked = unasked

    def sent(self, probe: Probe) -> None:
        """Count a probe that is about to be sent at its most, until its answer is paid for."""
        self._asked += 1
        self._again += probe.attempt > 0
        self._under_way[probe.route, probe.kind] += 1

    def pay(self, answer: Answer) -> None:
        """Count one answer; each is handed in once."""
        bound = self._arrived(answer.transcript)
        self.spent += charged(answer, bound.price, bound.extent)

    def pay_unread(self, transcript: Transcript) -> None:
        """Count an answer that we could not read at the most that it can have cost."""
        self.spent += self._arrived(transcript).most

    def _arrived(self, transcript: Transcript) -> Bound:
        if transcript.route is None:
            raise LookupError("only the answer of a pinned probe has a price")
        key = transcript.route, transcript.kind
        self._under_way[key] -= 1
        return self._bounds[key]

    def settled(self, at: datetime) -> Settled:
        """Make the event that puts what was spent, or may have been, in the place of what was set aside."""
        under_way = (self._bounds[key].most * count for key, count in self._under_way.items())
        return Settled(
            at=at,
            model=self._model,
            round_id=self._round_id,
            usd=self.spent + sum(under_way, NOTHING),
            asked=self._asked,
            again=self._again,
            unasked=self._unasked,
        )


class Till:
    """The gateway, as a round asks it that pays: whatever is sent is counted first."""

    def __init__(self, gateway: Gateway, purse: Purse) -> None:
        self._gateway = gateway
        self.purse = purse

    async def listing(self, model: ModelId) -> Listing:
        """Discover the routes of a model, which costs nothing."""
        return await self._gateway.listing(model)

    async def ask(self, probe: Probe) -> Transcript:
        """Ask one probe, as the gateway does."""
        self.purse.sent(probe)
        return await self._gateway.ask(probe)


@contextmanager
def settling(world: World, purse: Purse) -> Iterator[None]:
    """Settle a round that ends before it is decided, stopped or broken by an error.

    Nothing of it is recorded, and yet it was paid for: what was sent and not answered counts at its most.
    Only a death of the whole process leaves everything set aside.
    """
    try:
        yield
    except BaseException:
        with suppress(StoreError):  # what is wrong already shall be seen, and what was set aside still counts
            world.ledger.note(operation_draft(purse.settled(world.clock.now())))
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Which probes of a round the budget allows."""

    probes: tuple[Probe, ...]
    left_out: frozenset[RouteId]  # routes of the plan that are not asked
    purse: Purse


def allow(
    world: World,
    listing: Listing,
    probes: Sequence[Probe],
    *,
    suspended: Collection[RouteId],
    controls: Collection[RouteId],
    targets: Collection[RouteId] = (),
) -> Allowance:
    """Set aside the most that a round can cost, of as many of its routes as the day's budget covers.

    Args:
        probes: The plan: the first askings of a round.
        suspended: Routes that the last share of the budget is kept for.
        targets: Of a targeted round.
    Raises:
        StoreError: The log failed; nothing was set aside, so nothing may be asked.
    """
    settings = world.settings
    bounds = bounds_of(settings, world.catalog, listing, probes)
    costs = most_of_routes(probes, bounds, settings)
    round_id = f"{listing.model} {named_at(world.clock.now(), world.rng)}"

    @cache
    def wishes() -> tuple[Wish, ...]:
        return in_order(
            costs,
            suspended=suspended,
            controls=controls,
            targets=targets,
            left_out=world.ledger.operating().model(listing.model).left_out,
            rng=world.rng,
        )

    outcome = Ration(granted=(), refused=(), usd=NOTHING)

    def decide(operating: OperatingState) -> Sequence[Operation]:
        nonlocal outcome
        at = world.clock.now()
        outcome = ration(
            wishes(), committed=operating.committed(at.astimezone(UTC).date()), budget=settings.budget
        )
        reserved = Reserved(
            at=at,
            model=listing.model,
            round_id=round_id,
            usd=outcome.usd,
            left_out=frozenset(outcome.refused),
        )
        said = tidings(operating, at, settings.budget, short=bool(outcome.refused))
        return [*said, reserved] if outcome.granted else said

    world.ledger.operate(decide)
    granted = frozenset(outcome.granted)
    allowed = tuple(probe for probe in probes if probe.route in granted)
    return Allowance(
        probes=allowed,
        left_out=frozenset(outcome.refused),
        purse=Purse(listing.model, round_id, bounds=bounds, unasked=len(probes) - len(allowed)),
    )


def named_at(at: datetime, rng: Random) -> str:
    """Make a name of its own for what is spent now."""
    return f"{format_instant(at)} {rng.getrandbits(64):016x}"


def is_of_a_round(round_id: str, model: ModelId) -> bool:
    """Say whether money was set aside under this name for a round, and not for a trial of `check`."""
    return round_id.startswith(f"{model} ")


def bounds_of(
    settings: Settings, catalog: Catalog, listing: Listing, probes: Sequence[Probe]
) -> Mapping[tuple[RouteId, ProbeKind], Bound]:
    """Bound the cost of one asking, for every route and kind of a plan."""
    extents = Extents(listing, catalog, reasoning_room=settings.probes.reasoning_room)
    routes = {route.tag: route for route in listing.routes}
    prices = {tag: price_of(route, listing, settings.budget.assumed_price) for tag, route in routes.items()}
    return {
        (probe.route, probe.kind): Bound(
            price=prices[probe.route], extent=extents.of(routes[probe.route], probe.kind, probe.locale)
        )
        for probe in probes
    }


def most_of_routes(
    probes: Sequence[Probe], bounds: Mapping[tuple[RouteId, ProbeKind], Bound], settings: Settings
) -> dict[RouteId, Decimal]:
    """Work out the most that asking each route can cost in a round, every confirmation included, in USD."""
    enabled = settings.enabled_contracts()
    costs: dict[RouteId, Decimal] = {}
    for probe in probes:
        bound = bounds[probe.route, probe.kind]
        most = bound.most * most_askings(probe.kind, settings.contracts, enabled)
        costs[probe.route] = costs.get(probe.route, NOTHING) + most
    return costs


def tidings(
    operating: OperatingState, at: datetime, budget: BudgetSettings, *, short: bool
) -> list[Operation]:
    """Tell that the day's budget is reached, once a day, and that a new day or a larger budget restored it.

    Args:
        short: The budget did not cover what a round would ask.
    """
    said: list[Operation] = []
    today = at.astimezone(UTC).date()
    reached_at, reached_usd = operating.budget_reached_at, operating.budget_reached_usd
    if reached_at is not None and (
        reached_at.astimezone(UTC).date() < today
        or (reached_usd is not None and budget.per_day_usd > reached_usd)
    ):
        said.append(BudgetRestored(at=at))
        reached_at = None
    if short and reached_at is None:
        said.append(BudgetReached(at=at, spent_usd=operating.committed(today), budget_usd=budget.per_day_usd))
    return said
