"""Does the gateway do what the exclusions rest on? Asked with a few words, once for each provider.

A suspension names a full tag in `provider.ignore`. Whether that is heeded beside other tags of the same
provider is documented and was never promised, so it is tried: the provider alone is allowed, one of its tags
is ignored, and the router's own count of the endpoints that are left tells. The same answer shows whether
plugins or a response cache are on.

Source: openrouter-wire.md §2.2, §3.6, §10; docs/money.md, "check --live".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Final

from routecanary.discover.providers import base_slug
from routecanary.domain.answer import read_answer
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.money import NOTHING, Extent, Price, charged, price_of
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import IgnoreTried, Operation, Reserved, Settled, operation_draft
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing, Route
from routecanary.domain.router import Routing, routing_of
from routecanary.domain.transcript import Transcript
from routecanary.probe.fields import pinning, routed
from routecanary.probe.pin import LEAST_ROOM, TOKENS_AROUND_PROMPT, Users
from routecanary.rounds.ports import Gateway
from routecanary.rounds.preflight import short_probe
from routecanary.rounds.purse import named_at, tidings
from routecanary.rounds.records import Records
from routecanary.rounds.spending import Wish, ration

CACHE_HEADER: Final = "x-openrouter-cache-status"
IGNORED_STEP: Final = "Filter by Ignored Providers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One provider of a model that has several tags."""

    model: ModelId
    provider: str  # base slug
    routes: tuple[Route, ...]  # all that the slug names and the account does not withhold
    ignored: Route  # the one that is to be ignored
    alone: bool = False  # the model has no other provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of asking a few words."""

    model: ModelId
    provider: str
    ignored: RouteId | None = None  # None: nobody was to be ignored, the answer alone was wanted
    holds: bool | None = None  # None: could not be told
    why: str = ""  # one sentence, safe to print
    usd: Decimal = NOTHING
    routing: Routing | None = None
    cached: bool | None = None  # a response cache is on; None: no answer came


def subjects(
    listing: Listing, slugs: Mapping[str, str], *, withheld: Collection[RouteId] = ()
) -> tuple[Subject, ...]:
    """Choose which providers of a model are worth a question, and which tag of each is ignored in it.

    Args:
        slugs: Of all providers, as keys: base slug → anything.
        withheld: Routes that the account itself removes: nobody counts them.
    Returns:
        Providers with at least two tags that a slug names, sorted; the tag to ignore is no base slug, and
        names no other.
    """
    by_slug: dict[str, list[Route]] = {}
    for route in listing.routes:
        if route.tier is None and route.tag not in withheld:
            by_slug.setdefault(base_slug(route.tag, slugs), []).append(route)
    found: list[Subject] = []
    for slug, routes in sorted(by_slug.items()):
        single = [route for route in routes if route.tag != slug and not route.swallows]
        if len(routes) > 1 and single:
            found.append(
                Subject(
                    model=listing.model,
                    provider=slug,
                    routes=tuple(routes),
                    ignored=single[0],
                    alone=len(by_slug) == 1,
                )
            )
    return tuple(found)


class Bench:
    """Asks short questions within the day's budget."""

    def __init__(self, records: Records, gateway: Gateway, *, users: Users, rng: Random) -> None:
        self._records = records
        self._gateway = gateway
        self._users = users
        self._rng = rng

    async def ignoring(self, subject: Subject, listing: Listing) -> Trial:
        """Try whether ignoring one tag leaves the provider's others, and remember what was seen.

        Raises:
            StoreError: The log failed.
        """
        # Fallbacks stay on, within `only`: the router then counts every endpoint that is left, not the first.
        routing = routed({"only": [subject.provider], "ignore": [subject.ignored.tag]})
        transcript, usd = await self._ask(subject.model, routing, subject.routes, listing)
        trial = Trial(model=subject.model, provider=subject.provider, ignored=subject.ignored.tag, usd=usd)
        if transcript is None:
            return replace(trial, holds=None, why="the day's budget does not allow the question")
        return self._noted(judged(trial, subject, transcript))

    async def answering(self, listing: Listing, route: Route) -> Trial:
        """Ask one route a few words, to see what else the gateway does to a request.

        Raises:
            StoreError: The log failed.
        """
        transcript, usd = await self._ask(listing.model, pinning(listing, route), (route,), listing)
        trial = Trial(model=listing.model, provider=route.tag, usd=usd)
        if transcript is None:
            return replace(trial, holds=None, why="the day's budget does not allow the question")
        seen = _seen(trial, transcript)
        return seen if listing.gateway is GatewayKind.OPENROUTER else replace(seen, cached=None)

    async def _ask(
        self, model: ModelId, routing: Mapping[str, Json], routes: Sequence[Route], listing: Listing
    ) -> tuple[Transcript | None, Decimal]:
        """Ask within the budget; None where it does not allow that."""
        budget, clock = self._records.settings.budget, self._records.clock
        probe = short_probe(model, routing, users=self._users, max_tokens=LEAST_ROOM)
        prices = [price_of(route, listing, budget.assumed_price) for route in routes]
        price = Price(
            prompt=max(price.prompt for price in prices),
            completion=max(price.completion for price in prices),
            request=max(price.request for price in prices),
        )
        words = sum(len(message["content"]) for message in probe.body["messages"])
        most = Extent(prompt=words + TOKENS_AROUND_PROMPT, completion=LEAST_ROOM)
        name = f"check {named_at(clock.now(), self._rng)}"

        def decide(operating: OperatingState) -> Sequence[Operation]:
            at = clock.now()
            wish = Wish(route=probe.route, usd=price.of(most))
            outcome = ration([wish], committed=operating.committed(at.date()), budget=budget)
            said = tidings(operating, at, budget, short=bool(outcome.refused))
            reserved = Reserved(at=at, model=model, round_id=name, usd=outcome.usd)
            return [*said, reserved] if outcome.granted else said

        happened = self._records.ledger.operate(decide)
        if not any(isinstance(operation, Reserved) for operation in happened):
            return None, NOTHING
        transcript = await self._gateway.ask(probe)
        usd = charged(read_answer(transcript), price, most)
        settled = Settled(at=clock.now(), model=model, round_id=name, usd=usd, asked=1)
        self._records.ledger.note(operation_draft(settled))
        return transcript, usd

    def _noted(self, trial: Trial) -> Trial:
        if trial.holds is not None:
            tried = IgnoreTried(
                at=self._records.clock.now(), provider=trial.provider, holds=trial.holds, detail=trial.why
            )
            self._records.ledger.note(operation_draft(tried))
        return trial


def judged(trial: Trial, subject: Subject, transcript: Transcript) -> Trial:
    """Compare the router's count of what is left with what should be left."""
    trial = _seen(trial, transcript)
    rows = sum(route.rows for route in subject.routes)
    left = rows - subject.ignored.rows
    if transcript.status == 404 and _failed_step(transcript) == IGNORED_STEP:
        return replace(
            trial, holds=False, why=f"ignoring {subject.ignored.tag} left none of {rows} endpoints"
        )
    if transcript.status != 200:
        return trial
    count = None if trial.routing is None else trial.routing.available
    if count is None:
        return replace(trial, holds=None, why="the answer does not say how many endpoints were left")
    said = f"ignoring {subject.ignored.tag} left {count} of {rows} endpoints"
    if count == left:
        return replace(trial, holds=True, why=said)
    if count == rows and subject.alone:  # the router may count what no filter has touched
        return replace(trial, holds=None, why=f"{said}, and the model has no other provider to compare with")
    if count == rows:
        return replace(trial, holds=False, why=said)
    return replace(trial, holds=None, why=f"{said}, where {left} should be left")


def _failed_step(transcript: Transcript) -> Json:
    metadata = (read_answer(transcript).error or {}).get("metadata")
    return metadata.get("failed_routing_step") if isinstance(metadata, dict) else None


def _seen(trial: Trial, transcript: Transcript) -> Trial:
    status = transcript.header(CACHE_HEADER)
    return replace(
        trial,
        routing=routing_of(transcript),
        cached=None if transcript.status != 200 else status in ("HIT", "MISS"),
        why="" if transcript.status == 200 else _answered(transcript),
    )


def _answered(transcript: Transcript) -> str:
    return "no answer came" if transcript.status is None else f"HTTP {transcript.status}"
