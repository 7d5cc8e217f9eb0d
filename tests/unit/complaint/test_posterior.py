"""The ranking: the worked number of the page, what shows by itself, and how sure an answer may be."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from routecanary.complaint.knowledge import Knowledge, Sighting, Spell
from routecanary.complaint.posterior import rank, sureness_of
from routecanary.complaint.served import Served, guessed, served_of
from routecanary.complaint.value import Complaint, Ranking, Sureness, Suspect, Symptom
from routecanary.complaint.window import window_of
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import LANGUAGE, STRUCTURED, ContractName, Locale, ModelId, RouteId

AT = datetime(2026, 11, 29, 14, 10, tzinfo=UTC)
A, B, C, D = map(RouteId, ("a", "b", "c", "d"))
WITHIN = timedelta(minutes=20)


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def seen(
    route: RouteId, at: float, *attempts: bool, contract: ContractName = STRUCTURED, locale: str = "en"
) -> Sighting:
    return Sighting(
        at=AT + minutes(at),
        route=route,
        contract=contract,
        attempts=attempts or (False,),
        locale=Locale(locale),
    )


def a_complaint(symptom: Symptom = Symptom.STRUCTURED, **facts: object) -> Complaint:
    told = Complaint(
        at=AT + timedelta(hours=1),
        actor="ops",
        model=ModelId("acme/chat"),
        readings=(AT,),
        within_s=round(WITHIN.total_seconds()),
        symptom=symptom,
    )
    return replace(told, **facts)  # type: ignore[arg-type]  # by name, as the tests choose


def served(route: RouteId, count: int = 1, at: float = 0.0, locale: str | None = None) -> list[Served]:
    one = Served(
        candidates=frozenset({route}),
        at=AT + minutes(at),
        locale=None if locale is None else Locale(locale),
        shows={},
    )
    return [one] * count


def a_generation(**facts: object) -> Generation:
    told: dict[str, object] = {
        "key": "k",
        "source": Source.HOOK,
        "model": ModelId("acme/chat"),
        "started_at": AT,
        "candidates": frozenset({A}),
    }
    return Generation(**(told | facts))  # type: ignore[arg-type]  # by name, as the tests choose


WORKED = Knowledge(
    (A, B, C, D),
    [
        *(seen(route, at) for route in (B, C, D) for at in (-40, -10, 20, 50)),
        seen(A, -40),
        seen(A, -10, True, True, True),
        seen(A, 20, True, True, False),
        seen(A, 50),
    ],
)
HEALTHY = Knowledge((A, B, C, D), [seen(route, at) for route in (A, B, C, D) for at in (-40, -10, 20, 50)])


def of(ranking: Ranking, route: RouteId) -> Suspect:
    (found,) = (suspect for suspect in ranking.suspects if route in suspect.routes)
    return found


def test_the_worked_number_of_the_page() -> None:
    """docs/reports.md: A 97 %, no fault 3.1 %."""
    traffic = [*served(A, 10), *served(B, 50), *served(C, 30), *served(D, 10)]
    ranking = rank(a_complaint(), window_of([AT], WITHIN), traffic, WORKED)
    assert ranking.suspects[0].routes == (A,)
    assert ranking.suspects[0].posterior == pytest.approx(0.967, abs=0.0005)
    assert ranking.no_fault == pytest.approx(0.031, abs=0.0005)
    assert (ranking.suspects[0].attempts, ranking.suspects[0].fails) == (8, 5)
    assert (ranking.suspects[0].generations, ranking.generations) == (10, 100)
    condition = WORKED.condition(A, STRUCTURED, AT, None)
    assert (condition.faulty, condition.rate) == (
        pytest.approx(0.703, abs=0.0005),
        pytest.approx(0.443, abs=0.0005),
    )
    assert sureness_of(ranking) is Sureness.LIKELY


def test_the_example_of_two_hosts() -> None:
    """As the docstring of `rank` has it: two hosts alike but for what the canary saw."""
    ranking = rank(a_complaint(), window_of([AT], WITHIN), [*served(A), *served(B)], WORKED)
    assert of(ranking, A).share == of(ranking, B).share == 0.5
    assert of(ranking, A).posterior > 0.98


def test_where_everybody_is_healthy_nobody_is_named() -> None:
    """Traffic alone ranks, and no fault outweighs everybody."""
    ranking = rank(a_complaint(), window_of([AT], WITHIN), [*served(A, 9), *served(B, 1)], HEALTHY)
    assert ranking.suspects[0].routes == (A,)
    assert ranking.no_fault > 0.8
    assert sureness_of(ranking) is Sureness.UNKNOWN


def test_what_all_routes_do_is_no_routes_fault() -> None:
    """A prompt, a model or a judge that fails everywhere names nobody."""
    everywhere = Knowledge(
        (A, B, C, D), [seen(route, at, True, True, True) for route in (A, B, C, D) for at in (-10, 20)]
    )
    ranking = rank(a_complaint(), window_of([AT], WITHIN), [*served(A, 9), *served(B, 1)], everywhere)
    assert ranking.no_fault > 0.9
    assert sureness_of(ranking) is Sureness.UNKNOWN


def test_nothing_that_may_be_meant_is_no_fault() -> None:
    """Without any answer in the window there is no suspect, and the whole is still 1."""
    ranking = rank(a_complaint(), window_of([AT], WITHIN), served(A, at=120), WORKED)
    assert (ranking.suspects, ranking.no_fault) == ((), 1.0)
    assert sureness_of(ranking) is Sureness.UNKNOWN


def test_nearer_in_time_and_language_weighs_more() -> None:
    """An answer at the edge, or in another language, takes a smaller share than one that fits."""
    window = window_of([AT], WITHIN)
    ranking = rank(a_complaint(), window, [*served(A, at=0), *served(B, at=35)], WORKED)
    assert of(ranking, A).share > 0.7
    told = a_complaint(locale=Locale("th"))
    ranking = rank(told, window, [*served(A, locale="th"), *served(B), *served(C, locale="en")], WORKED)
    assert of(ranking, A).share > of(ranking, B).share > of(ranking, C).share


def test_a_fault_of_one_language_is_looked_for_in_it() -> None:
    """Passes in English hardly clear a route that failed in Thai; a fail in Thai says less of English."""
    sightings = [
        *(seen(A, at, contract=LANGUAGE) for at in (-30, 0, 30)),
        seen(A, -15, True, True, True, contract=LANGUAGE, locale="th"),
        *(seen(route, at, contract=LANGUAGE) for route in (B, C, D) for at in (-30, 0, 30)),
    ]
    knowledge = Knowledge((A, B, C, D), sightings)
    thai = knowledge.condition(A, LANGUAGE, AT, Locale("th")).rate
    english = knowledge.condition(A, LANGUAGE, AT, Locale("en")).rate
    assert thai > 0.1
    assert english < 0.01


def test_a_suspension_in_force_raises_suspicion() -> None:
    """Though the probes around the time say little."""
    sightings = [seen(A, -10, True, False, False), seen(A, 20)]
    spell = Spell(route=A, contracts=frozenset({STRUCTURED}), since=AT - minutes(60), until=AT + minutes(60))
    plain, suspended = Knowledge((A, B), sightings), Knowledge((A, B), sightings, [spell])
    assert (
        suspended.condition(A, STRUCTURED, AT, None).rate > 5 * plain.condition(A, STRUCTURED, AT, None).rate
    )
    later = AT + timedelta(hours=2)
    assert suspended.condition(A, STRUCTURED, later, None) == plain.condition(A, STRUCTURED, later, None)


def test_a_route_that_no_round_named_is_not_cleared() -> None:
    """Little is known of it, which is more suspicious than passes and less than fails."""
    rates = [WORKED.condition(route, STRUCTURED, AT, None).rate for route in (A, RouteId("new"), B)]
    assert rates == sorted(rates, reverse=True)
    assert len(set(rates)) == 3


@pytest.mark.parametrize(
    ("symptom", "facts"),
    [
        (Symptom.LATENCY, {"ttft_ms": 15_000}),
        (Symptom.FILTERING, {"finish_reason": "content_filter"}),
        (Symptom.FILTERING, {"finish_reason": "stop", "empty": True}),
    ],
)
def test_many_answers_that_show_the_trouble_name_their_route(
    symptom: Symptom, facts: dict[str, object]
) -> None:
    """Without one probe that failed; a single one among many healthy answers names nobody."""
    window = window_of([AT], WITHIN)
    bad = [served_of(a_generation(**facts)) for _ in range(6)]
    good = [served_of(a_generation(ttft_ms=900, finish_reason="stop", empty=False)) for _ in range(60)]
    others = [served_of(a_generation(candidates=frozenset({B}), ttft_ms=900)) for _ in range(60)]
    many = rank(a_complaint(symptom), window, [*bad, *good[:6], *others], HEALTHY)
    assert many.suspects[0].routes == (A,)
    assert sureness_of(many) is Sureness.LIKELY
    one = rank(a_complaint(symptom), window, [bad[0], *good, *others], HEALTHY)
    assert sureness_of(one) is Sureness.UNKNOWN


def test_a_prompt_answer_was_not_late() -> None:
    """What the numbers speak against is hardly it, whatever the probes saw."""
    knowledge = Knowledge(
        (A, B, C), [seen(A, at, True, True, True, contract=ContractName("latency")) for at in (-10, 20)]
    )
    window = window_of([AT], WITHIN)
    prompt = rank(a_complaint(Symptom.LATENCY), window, [served_of(a_generation(ttft_ms=800))], knowledge)
    unsaid = rank(a_complaint(Symptom.LATENCY), window, [served_of(a_generation())], knowledge)
    assert of(prompt, A).posterior < of(unsaid, A).posterior


def test_an_error_explains_other_trouble_only() -> None:
    """It is trouble of no contract, and raises nothing else."""
    window = window_of([AT], WITHIN)
    broken = [served_of(a_generation(status=502)), *served(B, 3)]
    assert sureness_of(rank(a_complaint(Symptom.OTHER), window, broken, HEALTHY)) is Sureness.LIKELY
    assert sureness_of(rank(a_complaint(Symptom.STRUCTURED), window, broken, HEALTHY)) is Sureness.UNKNOWN


def test_tags_of_one_provider_stay_one_set_unless_told_apart() -> None:
    """A tag that the request ignored is left out; within a set the likelier tag stands first."""
    both = a_generation(candidates=frozenset({B, A}))
    told = replace(both, carried=frozenset({B}))
    window = window_of([AT], WITHIN)
    assert rank(a_complaint(), window, [served_of(both)], WORKED).suspects[0].routes == (A, B)
    assert rank(a_complaint(), window, [served_of(told)], WORKED).suspects[0].routes == (A,)
    leaked = replace(both, carried=frozenset({A, B}))
    assert rank(a_complaint(), window, [served_of(leaked)], WORKED).suspects[0].routes == (A, B)


def test_an_answer_of_an_unknown_provider_may_be_anybodys() -> None:
    """It is a set of all routes, which names none, not even where an id names the answer."""
    window, unknown = window_of([AT], WITHIN), served_of(a_generation(candidates=frozenset()))
    ranking = rank(a_complaint(), window, [unknown], WORKED, named=True)
    assert set(ranking.suspects[0].routes) == {A, B, C, D}
    assert not ranking.exact
    nobody = rank(a_complaint(), window, [unknown], Knowledge((), ()), named=True)
    assert (nobody.suspects, nobody.no_fault, sureness_of(nobody)) == ((), 1.0, Sureness.UNKNOWN)


@pytest.mark.parametrize(
    ("posterior", "no_fault", "facts", "expected"),
    [
        (0.30, 0.2, {}, Sureness.POSSIBLE),
        (0.2999, 0.2, {}, Sureness.UNKNOWN),
        (0.45, 0.46, {}, Sureness.UNKNOWN),
        (0.60, 0.4, {}, Sureness.LIKELY),
        (0.5999, 0.4, {}, Sureness.POSSIBLE),
        (0.99, 0.01, {"guessed": True}, Sureness.POSSIBLE),
        (0.01, 0.99, {"exact": True}, Sureness.EXACT),
    ],
)
def test_how_sure_an_answer_may_be(
    posterior: float, no_fault: float, facts: dict[str, bool], expected: Sureness
) -> None:
    """Just below, at and above each bound."""
    suspect = Suspect(routes=(A,), posterior=posterior, share=1.0)
    ranking = Ranking(suspects=(suspect,), no_fault=no_fault, **facts)  # type: ignore[arg-type]  # as the table says
    assert sureness_of(ranking) is expected


def test_a_guess_spreads_over_the_window() -> None:
    """Its shares are those of the guess, whatever the step."""
    window = window_of([AT], WITHIN)
    ranking = rank(
        a_complaint(),
        window,
        guessed({A: 0.25, B: 0.75}, window.since, window.until, minutes(5)),
        WORKED,
        guessed=True,
    )
    assert of(ranking, A).share == pytest.approx(0.25)
    assert (ranking.guessed, ranking.generations) == (True, 0)
