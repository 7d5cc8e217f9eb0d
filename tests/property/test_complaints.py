"""Whatever was served and seen: explanations add up to 1, order changes nothing, evidence only accuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.complaint.knowledge import Knowledge, Seen, Sighting, condition_of
from routecanary.complaint.posterior import rank
from routecanary.complaint.served import Served
from routecanary.complaint.value import Complaint, Ranking, Symptom
from routecanary.complaint.window import window_of
from routecanary.domain.names import CONTRACT_NAMES, Locale, ModelId, RouteId

AT = datetime(2026, 11, 29, 14, 10, tzinfo=UTC)
ROUTES = [RouteId(name) for name in "abcde"]
TIMES = st.integers(-240, 240).map(lambda minutes: AT + timedelta(minutes=minutes))
LOCALES = st.sampled_from([None, Locale("en"), Locale("th")])

SIGHTINGS = st.builds(
    Sighting,
    at=TIMES,
    route=st.sampled_from(ROUTES),
    contract=st.sampled_from(CONTRACT_NAMES),
    attempts=st.sampled_from([(False,), (True, True, True), (True, False, True), (True, False, False)]),
    locale=LOCALES,
)
SERVED = st.builds(
    Served,
    candidates=st.sets(st.sampled_from(ROUTES), max_size=3).map(frozenset),
    at=TIMES,
    weight=st.sampled_from([1.0, 0.25]),
    locale=LOCALES,
    shows=st.dictionaries(st.sampled_from(CONTRACT_NAMES), st.sampled_from([0.9, 0.3, -1.0]), max_size=2),
    broken=st.booleans(),
)
COMPLAINTS = st.builds(
    Complaint,
    at=st.just(AT + timedelta(hours=1)),
    actor=st.just("ops"),
    model=st.just(ModelId("acme/chat")),
    readings=st.lists(TIMES, min_size=1, max_size=2).map(tuple),
    within_s=st.integers(60, 7_200),
    symptom=st.sampled_from(Symptom),
    locale=LOCALES,
)


def ranked(
    complaint: Complaint, served: list[Served], sightings: list[Sighting], *, named: bool = False
) -> Ranking:
    window = window_of(complaint.readings, timedelta(seconds=complaint.within_s))
    return rank(complaint, window, served, Knowledge(ROUTES, sightings), named=named)


@settings(max_examples=60, deadline=None)
@given(
    COMPLAINTS, st.lists(SERVED, max_size=12), st.lists(SIGHTINGS, max_size=20), st.booleans(), st.randoms()
)
def test_explanations_add_up_and_no_order_matters(
    complaint: Complaint, served: list[Served], sightings: list[Sighting], named: bool, rng: object
) -> None:
    """All posteriors with no fault make 1; shares too; shuffling gives the very same ranking."""
    ranking = ranked(complaint, served, sightings, named=named)
    posteriors = [suspect.posterior for suspect in ranking.suspects]
    assert abs(sum(posteriors) + ranking.no_fault - 1) < 1e-9
    assert posteriors == sorted(posteriors, reverse=True)
    assert not ranking.suspects or abs(sum(suspect.share for suspect in ranking.suspects) - 1) < 1e-9
    shuffled, seen = served.copy(), sightings.copy()
    rng.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    rng.shuffle(seen)  # type: ignore[attr-defined]
    assert ranked(complaint, shuffled, seen, named=named) == ranking


@settings(max_examples=60, deadline=None)
@given(
    COMPLAINTS,
    st.lists(SERVED, min_size=1, max_size=12),
    st.lists(SIGHTINGS, max_size=20),
    st.sampled_from(ROUTES),
    TIMES,
)
def test_more_evidence_against_a_route_never_lowers_its_rank(
    complaint: Complaint, served: list[Served], sightings: list[Sighting], route: RouteId, at: datetime
) -> None:
    """One more failed round of it, of what the user saw, at whatever time."""
    single = [
        Served(candidates=frozenset({min(each.candidates, default=route)}), at=each.at, shows=each.shows)
        for each in served
    ]
    more = [
        *sightings,
        *(
            Sighting(at=at, route=route, contract=contract, attempts=(True, True, True))
            for contract in complaint.symptom.contracts
        ),
    ]
    before, after = ranked(complaint, single, sightings), ranked(complaint, single, more)
    assert place(after, route) <= place(before, route)


@given(st.tuples(*[st.floats(0, 20)] * 4), st.floats(0.01, 0.15), st.floats(0.001, 0.5))
def test_fails_accuse_and_passes_clear(
    counts: tuple[float, float, float, float], natural: float, onset: float
) -> None:
    """In every direction: one more of each, or a higher natural rate."""

    def rate(*more: float, natural: float = natural) -> float:
        fails, passes, again, cleared = (count + extra for count, extra in zip(counts, more, strict=True))
        seen = Seen(fails=fails, passes=passes, fails_again=again, passes_again=cleared)
        return condition_of(seen, natural=natural, onset=onset).rate

    slack = 1e-12
    assert 0 <= rate(0, 0, 0, 0) <= 0.9
    assert rate(1, 0, 0, 0) >= rate(0, 0, 0, 0) - slack
    assert rate(0, 0, 1, 0) >= rate(0, 0, 0, 0) - slack
    assert rate(0, 1, 0, 0) <= rate(0, 0, 0, 0) + slack
    assert rate(0, 0, 0, 1) <= rate(0, 0, 0, 0) + slack
    assert rate(0, 0, 0, 0, natural=natural + 0.01) <= rate(0, 0, 0, 0) + slack


def place(ranking: Ranking, route: RouteId) -> int:
    """How many sets are ahead of a route's own; ties do not count."""
    own = max((suspect.posterior for suspect in ranking.suspects if route in suspect.routes), default=None)
    if own is None:
        return 0
    return sum(suspect.posterior > own + 1e-12 for suspect in ranking.suspects)
