"""How a study is asked: what stops it, what it keeps, and what it leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.adapters.store.memory import MemoryStore
from routecanary.clock import ScaledClock
from routecanary.domain.log import StoredDraft
from routecanary.domain.names import INTEGRITY, LANGUAGE, Locale, ModelId, RouteId
from routecanary.domain.operation import Settled, operation_draft
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import BudgetSettings, ModelSettings, ProbeSettings, Settings
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.errors import ConfigError, InputError
from routecanary.probe.catalog import catalog_from_texts
from routecanary.rounds.record import Ledger
from routecanary.rounds.studies import KeptStudy, kept_study, study_draft
from routecanary.rounds.study import Stop, Stopped, ask_study
from routecanary.rounds.study_plan import ANY_LOCALE, askings_of, cost_of, left_of, questions_of, study_of
from routecanary.rounds.world import World
from routecanary.study.order import order_of
from routecanary.study.prompt import question_from_text
from routecanary.study.result import result_of
from routecanary.study.values import Question, Study, StudyAnswer
from routecanary.wiring import world_of

MODEL = ModelId("acme/chat")
AT = datetime(2026, 1, 5, 12, tzinfo=UTC)
CATALOG = catalog_from_texts(shipped_texts())
PRICE = Decimal("0.000001")
PARAMETERS = frozenset({"max_tokens", "reasoning", "response_format", "structured_outputs"})

Answers = Callable[[Probe], tuple[int | None, bytes]]


def text_of(said: str, provider: str) -> bytes:
    frame = f'data: {{"provider":"{provider}","choices":[{{"delta":{{"content":"{said}"}}'
    return f'{frame},"finish_reason":"stop"}}]}}\n\ndata: [DONE]\n\n'.encode()


class Scripted:
    """A gateway whose answers a test writes; status None means that no connection came about."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked: list[Probe] = []

    async def listing(self, model: ModelId) -> Listing:
        return a_listing()

    async def ask(self, probe: Probe) -> Transcript:
        self.asked.append(probe)
        await asyncio.sleep(0)
        status, body = self.answers(probe)
        unsent = status is None
        return Transcript(
            model=probe.model,
            route=probe.route,
            kind=probe.kind,
            locale=probe.locale,
            request=probe.body,
            status=status,
            headers=(),
            chunks=(Chunk(300.0, body),) if body else (),
            ending=Ending(kind=EndingKind.CONNECT_FAILED if unsent else EndingKind.EOF, at_ms=400.0),
            provider_names=probe.provider_names,
            accepted_models=probe.accepted_models,
            scene=probe.scene,
            spec_version=probe.spec_version,
            started_at=AT,
            connect_ms=None if unsent else 5.0,
        )


def sound(probe: Probe) -> tuple[int, bytes]:
    return 200, text_of("*Ada waits.*", probe.route)


def a_listing(*tags: str) -> Listing:
    return Listing(
        model=MODEL,
        at=AT,
        routes=tuple(
            Route(
                tag=RouteId(tag),
                provider_names=frozenset({tag}),
                parameters=PARAMETERS - {"structured_outputs", "response_format"}
                if tag == "plain"
                else PARAMETERS,
                price_prompt=PRICE,
                price_completion=PRICE,
            )
            for tag in tags or ("alpha", "beta", "gamma")
        ),
    )


def a_world(answers: Answers = sound, *, budget: str = "5") -> World:
    return world_of(
        Settings(
            store_path="nowhere",
            snapshot_path="nowhere",
            models=(ModelSettings(model=MODEL),),
            probes=ProbeSettings(start_spread=timedelta(0)),
            budget=BudgetSettings(per_day_usd=Decimal(budget), recovery_share=Decimal(0)),
        ),
        store=MemoryStore(),
        gateway=Scripted(answers),
        clock=ScaledClock(start=AT, rate=1.0),
        catalog=CATALOG,
        builtin=(),
        rng=Random(1),
    )


def a_study(
    world: World, *, n: int = 4, listing: Listing | None = None, questions: tuple[Question, ...] = ()
) -> Study:
    listing = listing or a_listing()
    asked = questions or questions_of(CATALOG, ProbeKind.CHAT, Locale("en"))
    return study_of(
        world,
        listing,
        asked,
        [turn % len(asked) for turn in range(n)],
        dict.fromkeys(sorted(listing.tags()), n),
        contracts=frozenset({INTEGRITY, LANGUAGE}),
    )


class Heard:
    def __init__(self) -> None:
        self.answers: list[StudyAnswer] = []

    def answered(self, answer: StudyAnswer) -> None:
        self.answers.append(answer)


def asked(world: World, study: Study, listing: Listing | None = None) -> tuple[Stopped | None, KeptStudy]:
    """Ask what is left of a study, and read it back from the log."""
    if not world.store.count(kinds={"study_begun"}):
        world.ledger.note(study_draft(study))
    left = left_of(world, kept_study(world.store, study.id), listing or a_listing())
    heard = Heard()
    stopped = asyncio.run(ask_study(world, study, listing or a_listing(), left, heard))
    kept = kept_study(world.store, study.id)
    assert all(answer in kept.answers for answer in heard.answers)
    return stopped, kept


def gateway(world: World) -> Scripted:
    assert isinstance(world.gateway, Scripted)
    return world.gateway


def committed(world: World) -> Decimal:
    return world.ledger.operating().committed(AT.date())


def test_every_scene_is_asked_of_every_route_and_no_two_prompts_begin_alike() -> None:
    """Turn by turn the same scene everywhere; the fronts are drawn anew each time."""
    world = a_world()
    stopped, kept = asked(world, a_study(world, n=4))
    assert stopped is None
    scenes: dict[str, list[str]] = {}
    for probe in gateway(world).asked:
        scenes.setdefault(probe.route, []).append(probe.scene.id)
    assert len({tuple(each) for each in scenes.values()}) == 1
    assert sorted(scenes) == ["alpha", "beta", "gamma"]
    prompts = [probe.body["messages"][0]["content"] for probe in gateway(world).asked]
    assert len(set(prompts)) == len(prompts) == 12
    assert all(probe.body["provider"]["only"] == [probe.route] for probe in gateway(world).asked)
    assert result_of(kept.study, kept.answers).complete


def test_what_was_set_aside_is_settled_and_nothing_stays_open() -> None:
    """The day has cost what the answers cost, and the study says the same."""
    world = a_world()
    _, kept = asked(world, a_study(world))
    assert not world.ledger.operating().reserved
    assert committed(world) == sum(answer.usd for answer in kept.answers) > 0


def test_the_budget_stops_it_before_it_is_overdrawn_and_the_rest_can_be_asked_later() -> None:
    """What the next asking can cost at most has to fit; another day goes on where this one ended."""
    world = a_world()
    study = a_study(world, n=6)
    most = cost_of(world, study, a_listing(), order_of(study)).most
    world.settings = replace(
        world.settings, budget=BudgetSettings(per_day_usd=most / 3, recovery_share=Decimal(0))
    )
    stopped, kept = asked(world, study)
    assert stopped is not None
    assert stopped.why is Stop.BUDGET
    assert 0 < len(kept.answers) < study.planned
    assert committed(world) <= most / 3
    assert [stored.kind for stored in world.store.read(kinds={"budget_reached"})] == ["budget_reached"]
    world.settings = replace(world.settings, budget=BudgetSettings(per_day_usd=most * 2))
    stopped, kept = asked(world, study)
    assert stopped is None
    assert len(kept.answers) == len(gateway(world).asked) == study.planned


def test_what_is_kept_for_recovery_is_not_touched() -> None:
    """A study stops where the general part of the budget ends."""
    world = a_world()
    study = a_study(world)
    most = cost_of(world, study, a_listing(), order_of(study)).most
    world.settings = replace(
        world.settings, budget=BudgetSettings(per_day_usd=most * 2, recovery_share=Decimal("0.999"))
    )
    stopped, kept = asked(world, study)
    assert stopped is not None
    assert not kept.answers
    assert not gateway(world).asked


REFUSED = b'{"error":{"code":402,"message":"Insufficient credits"}}'


def test_a_fault_of_the_account_stops_it_and_is_no_answer() -> None:
    """Nothing more is asked than was on its way; once it is mended, all askings are made."""
    world = a_world()
    study = a_study(world)
    gateway(world).answers = lambda probe: (
        sound(probe) if probe in gateway(world).asked[:4] else (402, REFUSED)
    )
    stopped, kept = asked(world, study)
    assert stopped is not None
    assert stopped.why is Stop.ACCOUNT
    assert "account:credits" in stopped.detail
    assert len(kept.answers) == 4
    assert len(gateway(world).asked) <= 6
    gateway(world).answers = sound
    stopped, kept = asked(world, study)
    assert stopped is None
    assert result_of(study, kept.answers).complete


def test_a_refusal_of_one_routes_request_is_counted_and_the_others_are_asked() -> None:
    """A 404 of the routing speaks of one request, not of the account."""
    refusal = b'{"error":{"code":404,"message":"No endpoints found","metadata":{"failed_routing_step":"x"}}}'
    world = a_world(lambda probe: (404, refusal) if probe.route == "beta" else sound(probe))
    stopped, kept = asked(world, a_study(world))
    assert stopped is None
    result = result_of(kept.study, kept.answers)
    beta = next(each for each in result.routes if each.route.route == "beta")
    assert beta.rows[INTEGRITY].count.judged == 0
    assert sum(beta.rows[INTEGRITY].count.unjudged.values()) == 4


def test_a_gateway_that_nobody_reaches_stops_it_and_leaves_nothing() -> None:
    """A request that was never sent is no asking: it costs nothing and is made again."""
    world = a_world(lambda _: (None, b""))
    study = a_study(world)
    stopped, kept = asked(world, study)
    assert stopped is not None
    assert stopped.why is Stop.GATEWAY
    assert not kept.answers
    assert len(gateway(world).asked) == 3  # one pass
    assert committed(world) == 0


def test_one_route_that_cannot_be_reached_leaves_the_study_incomplete() -> None:
    """The others are asked all the same."""
    world = a_world(lambda probe: (None, b"") if probe.route == "beta" else sound(probe))
    stopped, kept = asked(world, a_study(world))
    assert stopped is None
    assert len(kept.answers) == 8
    assert not result_of(kept.study, kept.answers).complete


def test_an_answer_from_elsewhere_is_no_evidence_and_has_no_time() -> None:
    """Who answered is checked as in a round."""
    world = a_world(lambda _: (200, text_of("*Ada waits.*", "Somebody Else")))
    _, kept = asked(world, a_study(world))
    assert {answer.verdicts[INTEGRITY].code for answer in kept.answers} == {"provider_mismatch"}
    assert {answer.first_text_ms for answer in kept.answers} == {None}


def test_it_is_kept_beside_the_rounds_and_folds_into_nothing() -> None:
    """No state, no listing, no story of a round is changed by it; a new fold can read the log."""
    world = a_world()
    asked(world, a_study(world))
    fresh = Ledger(world.store, world.settings.policy)
    assert fresh.states() == ()
    assert fresh.listing(MODEL) is None
    assert world.store.verify() is None
    assert {entry.seq for entry in world.store.find(MODEL)} == {None}  # of no round


def test_settlements_are_those_of_rounds() -> None:
    """What a study cost is no measure of a round, however many portions it had."""
    world = a_world()
    of_round = Settled(at=AT, model=MODEL, round_id=f"{MODEL} x", usd=Decimal(1), asked=3)
    world.ledger.note(operation_draft(of_round))
    asked(world, a_study(world, n=6))
    assert world.ledger.settlements(MODEL, 2) == (of_round,)
    assert world.ledger.settlements(MODEL, 48) == (of_round,)


def test_the_memory_of_who_was_left_out_of_rounds_survives_a_study() -> None:
    """Whoever the budget left out comes first in the next round, study or not."""
    world = a_world()
    left_out = StoredDraft(
        kind="reserved",
        at=AT,
        model=MODEL,
        body={
            "event": "reserved", "at": "2026-01-05T12:00:00Z", "model": MODEL, "round_id": f"{MODEL} x",
            "usd": "0", "left_out": ["beta"],
        },
    )  # fmt: skip
    world.ledger.note(left_out)
    before = world.ledger.operating().model(MODEL).left_out
    asked(world, a_study(world))
    assert world.ledger.operating().model(MODEL).left_out == before == {RouteId("beta"): AT}


def test_a_route_that_vanished_or_cannot_answer_any_more_is_left_alone() -> None:
    """The rest of the study goes on without it."""
    world = a_world()
    study = a_study(world, n=2)
    stopped, kept = asked(world, study, a_listing("alpha", "gamma"))
    assert stopped is None
    assert {answer.route for answer in kept.answers} == {"alpha", "gamma"}


def test_who_has_no_way_to_be_asked_is_named_and_not_asked() -> None:
    """A route that declares no structured output cannot break it."""
    world = a_world()
    listing = a_listing("alpha", "plain")
    study = a_study(
        world, listing=listing, questions=questions_of(CATALOG, ProbeKind.STRUCTURED, Locale("en"))
    )
    assert (study.unable, [each.route for each in study.routes]) == (("plain",), ["alpha"])
    with pytest.raises(InputError, match="no route can be asked this question"):
        a_study(
            world,
            listing=a_listing("plain"),
            questions=questions_of(CATALOG, ProbeKind.STRUCTURED, Locale("en")),
        )


def test_a_prompt_of_ones_own_goes_out_word_for_word_in_all_its_turns() -> None:
    """With every message and role; without a locale no language is judged."""
    text = '{"messages": [{"role": "system", "content": "Be {brief}."}, {"role": "user", "content": "Hi."}]}'
    world = a_world()
    question = question_from_text(text, "own.json", locale=None)
    _, kept = asked(world, a_study(world, n=2, questions=(question,)))
    for probe in gateway(world).asked:
        assert probe.body["messages"] == [
            {"role": "system", "content": "Be {brief}."},
            {"role": "user", "content": "Hi."},
        ]
        assert probe.locale == ANY_LOCALE
    assert {name for answer in kept.answers for name in answer.verdicts} == {INTEGRITY}
    spoken = question_from_text(text, "own.json", locale=Locale("en"))
    assert LANGUAGE in a_study(a_world(), questions=(spoken,)).contracts


def test_what_is_planned_comes_back_from_the_log_as_it_was() -> None:
    """Schema, lists and all: a study goes on after an upgrade that changed the texts."""
    world = a_world()
    questions = (
        *questions_of(CATALOG, ProbeKind.STRUCTURED, Locale("en")),
        *questions_of(CATALOG, ProbeKind.CHAT, Locale("th")),
    )
    study = a_study(world, questions=questions)
    world.ledger.note(study_draft(study))
    assert kept_study(world.store, study.id).study == study
    with pytest.raises(InputError, match=rf"no such study \(got 'x'\); allowed: {study.id}"):
        kept_study(world.store, "x")


def test_askings_of_suspects_and_others() -> None:
    """49 for fourteen others are three or four each; who gets one more is drawn."""
    usual = {RouteId(f"route-{number:02}") for number in range(14)}
    suspect = RouteId("suspect")
    counts = askings_of(usual, chosen=(), suspects={suspect}, n=20, others=49, rng=Random(1))
    assert counts.pop(suspect) == 20
    assert sorted(counts.values()) == [3] * 7 + [4] * 7
    assert askings_of(usual, chosen=(), suspects={suspect}, n=3, others=None, rng=Random(1)) == dict.fromkeys(
        sorted({*usual, suspect}), 3
    )
    few = askings_of(usual, chosen={RouteId("route-00")}, suspects={suspect}, n=2, others=5, rng=Random(1))
    assert few == {"route-00": 5, "suspect": 2}
    with pytest.raises(InputError, match="there are no others"):
        askings_of({suspect}, chosen=(), suspects={suspect}, n=2, others=5, rng=Random(1))


def test_a_locale_that_is_asked_for_is_not_exchanged_silently() -> None:
    """A round falls back to English; a person who names a locale means it."""
    assert questions_of(CATALOG, ProbeKind.FILTER, Locale("xx"))[0].locale == "en"
    with pytest.raises(ConfigError, match=r"--locale: no filter text for this locale \(got 'xx'\)"):
        questions_of(CATALOG, ProbeKind.FILTER, Locale("xx"), fallback=False)
