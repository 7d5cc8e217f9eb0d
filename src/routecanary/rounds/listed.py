"""What does the log say of a listing that is believed?

Who came, who went, who promises something else now, and what was odd in the document: each once, compared
with the listing that was believed before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from itertools import islice
from typing import Final

from routecanary.discover.changes import changes_between
from routecanary.domain.route import Listing

LOG: Final = logging.getLogger("routecanary.rounds")

MAX_NAMED: Final = 20  # routes in one line; the others are counted


def tell_listing(before: Listing | None, listing: Listing) -> None:
    """Log what is new about a listing.

    Args:
        before: The one believed before it; None says of the first only how many routes it names.
    """
    if before is None:
        LOG.info("listed model=%s routes=%d", listing.model, len(listing.routes))
    else:
        changes = changes_between(before, listing)
        told: dict[str, list[str]] = {
            "appeared": [route.tag for route in changes.appeared],
            "vanished": [route.tag for route in changes.vanished],
            "changed": [f"{change.after.tag} ({' '.join(change.fields())})" for change in changes.changed],
        }
        for what, routes in told.items():
            if routes:
                LOG.info("routes %s model=%s routes=%s", what, listing.model, _few(routes))
    known = () if before is None else before.notes
    for note in listing.notes:
        if note not in known:
            LOG.info("listing odd model=%s what=%s", listing.model, note)


def _few(names: Iterable[str]) -> str:
    rest = iter(names)
    shown = ", ".join(islice(rest, MAX_NAMED))
    more = sum(1 for _ in rest)
    return f"{shown} and {more} more" if more else shown
