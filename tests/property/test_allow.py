"""An allow-list is never empty, never more than the caller admits, and keeps away whom it must."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from routecanary.domain.names import RouteId
from routecanary.routing.allow import allow
from routecanary.routing.merge import EMPTYING
from routecanary.routing.snapshot import ListedRoute
from tests.snapshots import builtin, document, facts, runtime, suspended, view

HOSTS = ("alpha", "beta", "gamma", "delta", "Omega")
KNOWN = st.sets(st.sampled_from(HOSTS), min_size=1)
SOME = st.sets(st.sampled_from(HOSTS), max_size=4)
OWN = st.lists(st.sampled_from((*HOSTS, "ALPHA", "newcomer")), max_size=6)


@given(listed=KNOWN, out=SOME, standing=SOME, by_hand=SOME, own=OWN)
def test_what_an_allow_list_holds(
    listed: set[str], out: set[str], standing: set[str], by_hand: set[str], own: list[str]
) -> None:
    """Whatever is suspended, built in or excluded by hand, and whatever the caller admits."""
    routes = tuple(
        ListedRoute(tag=RouteId(name.lower()), providers=frozenset({name})) for name in sorted(listed)
    )
    held = view(
        document(
            facts(routes=routes, suspensions=suspended(*(name.lower() for name in out))),
            builtin=[builtin(name.lower()) for name in standing],
            runtime=[runtime(name.lower()) for name in by_hand],
        )
    )
    counts = {EMPTYING: 0}
    names = allow([held], own, counts)
    base = own or sorted(listed)
    administrators = {name.lower() for name in standing | by_hand}
    avoided = administrators | {name.lower() for name in out}
    kept = [name for name in base if name.lower() not in avoided]
    serving = {name.lower() for name in listed} & {name.lower() for name in kept}
    if len(kept) == len(base):
        assert (names, counts[EMPTYING]) == (None, 0)
    elif serving:
        assert (names, counts[EMPTYING]) == (kept, 0)
    else:
        left = [name for name in base if name.lower() not in administrators]
        assert names == (left if left and len(left) < len(base) else None)
        assert names != []
        assert counts[EMPTYING] == (names != kept)
