"""What does one asking cost: at most, and as it turned out?

All amounts are USD and decimal. Before anything is sent a question is priced as if its answer were as long as
it may be; afterwards it is priced by what the gateway says that it charged, as far as that can be believed.
What cannot be known is counted at its most.

Source: docs/money.md; openrouter-wire.md §5.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal, InvalidOperation
from math import isfinite
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import AssumedPrice

NOTHING: Final = Decimal(0)
SMALLEST: Final = Decimal("0.000000001")  # USD; amounts are rounded up to a multiple of it

BEYOND: Final = Decimal(10) ** 12
"""USD that no budget has: what would cost more, as a listing may claim, counts as this; sums stay exact."""

CREDIBLE: Final = 10
"""A charge above so many times the most that was expected is not believed as it stands."""

CREDIBLE_USD: Final = Decimal(1)
"""Of one asking: up to here every charge is believed, whatever the listing said of the price."""

LONGEST_TOKEN: Final = 16  # bytes of visible text that a token is never more than, taken over an answer

_MOST_NUMERAL: Final = 40  # characters
_MOST_TOKENS: Final = 10**9
_MOST_USD: Final = Decimal(10) ** 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How long a question and its answer are, or may be, in tokens."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a route charges: USD per token, and per request."""

    prompt: Decimal
    completion: Decimal
    request: Decimal = NOTHING

    def of(self, extent: Extent) -> Decimal:
        """Price an extent, rounded up.

        Example: 400 and 900 tokens at 0.0000002 and 0.0000008 come to 0.0008.
        """
        return rounded(self.prompt * extent.prompt + self.completion * extent.completion + self.request)


UNSTATED: Final = Price(prompt=Decimal("0.000015"), completion=Decimal("0.000075"))
"""Where no route of a listing states a price, and none is configured: 15 and 75 USD per million tokens."""

_PER_MILLION: Final = Decimal(1_000_000)


def price_of(route: Route, listing: Listing, assumed: AssumedPrice) -> Price:
    """Look up what a route charges; what it does not state is assumed, and never free.

    Args:
        listing: The one that names the route: its dearest stated price stands in for one that is not stated.
        assumed: As configured; goes before the listing's.
    """
    prompt, completion, request = route.price_prompt, route.price_completion, route.price_request
    if prompt is None:
        prompt = _assumed(assumed.prompt, (each.price_prompt for each in listing.routes), UNSTATED.prompt)
    if completion is None:
        completion = _assumed(
            assumed.completion, (each.price_completion for each in listing.routes), UNSTATED.completion
        )
    if request is None:  # nearly no route charges by the request, so silence means nothing
        request = assumed.request or NOTHING
    return Price(prompt=prompt, completion=completion, request=request)


def _assumed(configured: Decimal | None, stated: Iterable[Decimal | None], otherwise: Decimal) -> Decimal:
    if configured is not None:
        return configured / _PER_MILLION
    return max((price for price in stated if price is not None), default=otherwise)


def is_priced(route: Route) -> bool:
    """Say whether a route states what its tokens cost."""
    return route.price_prompt is not None and route.price_completion is not None


def charged(answer: Answer, price: Price, most: Extent) -> Decimal:
    """Find what one asking is counted at, now that its answer is known.

    Args:
        price: Of the route that was asked.
        most: How long question and answer may be; what was set aside for it is `price.of(most)`.
    Returns:
        Nothing where no request was sent, or where the gateway refused it before any token and says
        nothing of a charge. Without usage, what was set aside. Otherwise the stated charge if it can be
        believed, else the stated tokens at the route's price, else what was set aside; in any case at least
        what the visible text must have cost, and at most what is credible.
    Source: docs/money.md, "What an answer is counted at".
    """
    transcript, usage = answer.transcript, answer.usage
    set_aside = price.of(most)
    if transcript.connect_ms is None and transcript.status is None:  # the request was never written
        return NOTHING
    if usage is None:
        refused = transcript.status is not None and not 200 <= transcript.status < 300
        return NOTHING if refused else set_aside
    shown = len(answer.text.encode("utf-8", "replace"))
    received = sum(len(chunk.data) for chunk in transcript.chunks)
    least = rounded(price.completion * -(-shown // LONGEST_TOKEN))
    credible = max(
        CREDIBLE_USD,
        CREDIBLE * set_aside,
        price.of(Extent(prompt=most.prompt, completion=received)),  # a token is at least a byte
    )
    stated = _stated_charge(answer)
    if stated is None or stated < least:
        stated = _by_tokens(answer, price)
    return min(max(set_aside if stated is None else stated, least), credible)


def _stated_charge(answer: Answer) -> Decimal | None:
    """Read `usage.cost`; with a key of one's own at the provider, what that provider charges comes on top."""
    usage = answer.usage or {}
    cost = amount_from(usage.get("cost"))
    if cost is None or usage.get("is_byok") is not True:
        return cost
    details = usage.get("cost_details")
    upstream = amount_from(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
    return None if upstream is None else cost + upstream


def _by_tokens(answer: Answer, price: Price) -> Decimal | None:
    usage = answer.usage or {}
    prompt, completion = (_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    if prompt is None or completion is None:
        return None
    return price.of(Extent(prompt=prompt, completion=completion))


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_TOKENS:
        return None
    return value


def amount_from(value: object) -> Decimal | None:
    """Read an amount of USD that came from outside, rounded up; None when it is none that could be true."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, int) and abs(value) > _MOST_USD:
        return None
    numeral = str(value)
    if len(numeral) > _MOST_NUMERAL:
        return None
    try:
        amount = Decimal(numeral)
    except InvalidOperation:
        return None
    return rounded(amount) if amount.is_finite() and 0 <= amount <= _MOST_USD else None


def rounded(amount: Decimal) -> Decimal:
    """Round an amount up to a multiple of `SMALLEST`, or down to `BEYOND`."""
    return min(amount, BEYOND).quantize(SMALLEST, rounding=ROUND_UP) if amount else NOTHING
