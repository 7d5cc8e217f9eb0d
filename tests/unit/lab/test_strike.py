"""Which answers are struck, and how often."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from routecanary.domain.names import Locale
from routecanary.domain.probe import ProbeKind
from routecanary.lab.desk import Desk
from routecanary.lab.faults import FAULT_NAMED, NATURAL_FAULTS, TRANSPORT_FAULTS
from routecanary.lab.host import Expectation, Noise, PlantedFault, Window
from tests.lab import SCENES, START, a_body, a_card_body, a_request, a_route, a_scenario, an_answer

HOUR = timedelta(hours=1)


def struck_share(fault: PlantedFault, body: dict[str, object] | None = None, times: int = 600) -> float:
    route = a_route("north-host", fault)
    return sum(bool(an_answer(route, body, number=number).hand.struck) for number in range(times)) / times


@pytest.mark.parametrize("probability", [0.0, 0.2, 0.95, 1.0])
def test_the_probability_is_kept(probability: float) -> None:
    """The share of struck answers is the stated one; nothing and always are exact."""
    share = struck_share(PlantedFault(fault="spoiled_start", probability=probability))
    if probability in (0.0, 1.0):
        assert share == probability
    else:
        assert abs(share - probability) < 0.05


@pytest.mark.parametrize(
    ("window", "open_at", "closed_at"),
    [
        (Window(), [0, 1000], []),
        (Window(start=HOUR), [60, 61], [0, 59]),
        (Window(end=HOUR), [0, 59], [60, 61]),
        (Window(start=HOUR, end=2 * HOUR), [60, 119], [59, 120]),
        (Window(every=9 * HOUR, lasting=3 * HOUR), [0, 179, 540, 719, 1080], [180, 539, 720, 1079]),
        (
            Window(start=HOUR, every=2 * HOUR, lasting=HOUR, end=4 * HOUR),
            [60, 119, 180],
            [0, 120, 179, 240, 300],
        ),
    ],
)
def test_a_fault_strikes_within_its_window(window: Window, open_at: list[int], closed_at: list[int]) -> None:
    """Minutes of policy time just inside and just outside each edge."""
    route = a_route("north-host", PlantedFault(fault="spoiled_start", window=window))
    for minutes in (*open_at, *closed_at):
        answer = an_answer(route, elapsed=timedelta(minutes=minutes))
        assert bool(answer.hand.struck) is (minutes in open_at), minutes


def test_a_fault_keeps_to_its_locales_and_probes() -> None:
    """Filters by language and by kind of question both hold."""
    thai = PlantedFault(fault="spoiled_start", locales=frozenset({Locale("th")}))
    assert struck_share(thai, a_body(SCENES["th"]), 5) == 1
    assert struck_share(thai, a_body(SCENES["en"]), 5) == 0
    structured = PlantedFault(fault="spoiled_start", probes=frozenset({ProbeKind.STRUCTURED}))
    assert struck_share(structured, a_card_body(), 5) == 1
    assert struck_share(structured, None, 5) == 0


def test_a_fault_of_the_prefill_leaves_warm_prompts_alone() -> None:
    """With `only_cold`, a prompt whose beginning the route has seen is answered soundly."""
    cold = a_route("north-host", PlantedFault(fault="spoiled_start", only_cold=True))
    always = a_route("north-host", PlantedFault(fault="spoiled_start"))
    assert [bool(an_answer(cold, cold=seen).hand.struck) for seen in (True, False)] == [True, False]
    assert [bool(an_answer(always, cold=seen).hand.struck) for seen in (True, False)] == [True, True]


def test_the_desk_remembers_how_prompts_began() -> None:
    """The same prompt is warm the second time, per route; another beginning is cold, another end is not."""
    scenario = a_scenario(
        *(a_route(tag, PlantedFault(fault="spoiled_start", only_cold=True)) for tag in ("one", "two"))
    )
    desk = Desk(scenario, seed=1, now=lambda: START)

    def is_struck(prompt: str, tag: str = "one") -> bool:
        body = a_body(prompt, provider={"only": [tag], "allow_fallbacks": False})
        return bool(desk.answer(a_request(body)).hand.struck)

    scene = SCENES["en"]
    assert is_struck(scene)
    assert not is_struck(scene)
    assert is_struck(scene, "two")
    assert is_struck(scene.replace("Lund", "Oslo"))
    assert not is_struck(scene + " Do not hurry.")


def test_a_fault_may_have_a_seed_of_its_own() -> None:
    """Its draws are then the same in every lab, and another seed gives others; the lab's own draws stay."""

    def struck(own: int | None, lab: int) -> list[bool]:
        route = a_route("north-host", PlantedFault(fault="spoiled_start", probability=0.5, seed=own))
        return [bool(an_answer(route, number=number, seed=lab).hand.struck) for number in range(40)]

    assert struck(7, 1) == struck(7, 2) != struck(8, 1)
    assert struck(None, 1) != struck(None, 2)
    first = PlantedFault(fault="spoiled_start", probability=0.5)
    seeded = PlantedFault(fault="wrong_provider", probability=0.5, seed=3)
    for number in range(20):
        alone = an_answer(a_route("north-host", first), number=number)
        both = an_answer(a_route("north-host", seeded, first), number=number)
        assert ("spoiled_start" in alone.hand.struck) == ("spoiled_start" in both.hand.struck)


def test_the_scenario_may_widen_where_a_fault_strikes() -> None:
    """A refusal meets filter questions by itself, and any question that the scenario names."""
    assert struck_share(PlantedFault(fault="filtering_refusal"), None, 5) == 0
    everywhere = PlantedFault(fault="filtering_refusal", probes=frozenset({ProbeKind.CHAT}))
    assert struck_share(everywhere, None, 5) == 1


def test_a_second_fault_does_not_change_what_the_first_does() -> None:
    """Adding a fault after another leaves the other's draws alone."""
    first = PlantedFault(fault="spoiled_start", probability=0.5)
    second = PlantedFault(fault="wrong_provider", probability=0.5, locales=frozenset({Locale("th")}))
    for number in range(50):
        alone = an_answer(a_route("north-host", first), number=number)
        both = an_answer(a_route("north-host", first, second), number=number)
        assert ("spoiled_start" in alone.hand.struck) == ("spoiled_start" in both.hand.struck)


def chance_faults(body: dict[str, object] | None, noise: Noise, times: int) -> Counter[str]:
    route = a_route("north-host", noise=noise)
    seen: Counter[str] = Counter()
    for number in range(times):
        answer = an_answer(route, body, number=number)
        assert not answer.planted
        if answer.planned.problem is None:
            answer.wire()
        seen.update(answer.hand.struck)
    return seen


def test_healthy_routes_fail_by_chance_in_every_contract() -> None:
    """At a rate of one, each question meets exactly the faults that its contracts see."""
    always = Noise(natural_failure=1.0, transport_errors=0.0)
    kinds = {
        "chat": (a_body(SCENES["pt-BR"]), {"latency", "language", "integrity"}),
        "structured": (a_card_body(), {"structured", "integrity"}),
        "filter": (
            a_body(SCENES["en"].replace("between single asterisks", "in one sentence")),
            {"filtering", "integrity"},
        ),
    }
    for body, contracts in kinds.values():
        seen = chance_faults(body, always, 40)
        assert seen
        for name in seen:
            assert contracts & set(FAULT_NAMED[name].seen_by), name
            assert any(name in NATURAL_FAULTS[contract] for contract in contracts), name
        for contract in contracts:
            assert any(contract in FAULT_NAMED[name].seen_by for name in seen), contract


def test_chance_failures_are_as_rare_as_stated() -> None:
    """With 5 % for each of three contracts, about 15 % of chat answers are struck."""
    seen = chance_faults(None, Noise(natural_failure=0.05, transport_errors=0.0), 800)
    assert 80 < sum(seen.values()) < 160  # expected 120


def test_transport_errors_leave_nothing_else_to_chance() -> None:
    """An answer that does not come whole is struck by exactly one transport fault."""
    seen = chance_faults(None, Noise(natural_failure=1.0, transport_errors=1.0), 40)
    assert set(seen) == set(TRANSPORT_FAULTS)
    assert sum(seen.values()) == 40


def test_a_planted_fault_leaves_nothing_to_chance() -> None:
    """An answer struck on purpose is struck by nothing else."""
    noisy = Noise(natural_failure=1.0, transport_errors=1.0)
    answer = an_answer(a_route("north-host", PlantedFault(fault="fenced_json"), noise=noisy), a_card_body())
    assert answer.hand.struck == ["fenced_json"]
    assert answer.planted


@pytest.mark.parametrize(
    ("expects", "folded"),
    [
        ([Expectation.SUSPENDED, Expectation.NOT_SUSPENDED], Expectation.SUSPENDED),
        ([Expectation.EITHER, Expectation.NOT_SUSPENDED], Expectation.EITHER),
        ([Expectation.NOT_SUSPENDED], Expectation.NOT_SUSPENDED),
        ([None], Expectation.EITHER),
        ([Expectation.SUSPENDED, None], Expectation.SUSPENDED),
    ],
)
def test_the_strongest_expectation_is_the_routes(
    expects: list[Expectation | None], folded: Expectation
) -> None:
    """One fault that should lead to a suspension is enough; nobody's expectation is any outcome."""
    faults = [PlantedFault(fault="spoiled_start", expect=expect) for expect in expects]
    assert a_route("north-host", *faults).expectation is folded


def test_an_answer_depends_on_its_turn_alone() -> None:
    """Seed, route and number decide; another seed or number gives another text."""
    route = a_route("north-host")
    again = [an_answer(route, number=3, seed=9).wire() for _ in range(2)]
    assert again[0] == again[1]
    assert an_answer(route, number=4, seed=9).wire() != again[0]
    assert an_answer(route, number=3, seed=8).wire() != again[0]
