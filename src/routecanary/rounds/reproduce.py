"""Does an incident's question still fail? The study that asks it again.

The question is taken from the transcripts that the suspension rests on: first word for word, then the same
scenes with fresh fronts, since a host may have kept what it read before. A peer is asked the same beside it
where that is cheap.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from routecanary.domain.archive import StoredTranscript
from routecanary.domain.names import RouteId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import InputError
from routecanary.probe.catalog import ASKED_KINDS, Catalog
from routecanary.rounds.asked import controls_of, usual_routes
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, incidents_of
from routecanary.rounds.ports import EventLog, TranscriptStore
from routecanary.rounds.story import Story, story_of
from routecanary.rounds.study_plan import bounds_of_study, study_of
from routecanary.rounds.world import World
from routecanary.routing.layers import builtin_for, runtime_for
from routecanary.study.kin import same_precision
from routecanary.study.values import Question, Study

PEER_COSTS: Final = 2
"""How many times as dear as the route itself a peer may be that is asked for comparison."""


def incident_of(log: EventLog, number: int) -> Incident:
    """Look up an incident.

    Raises:
        InputError: There is none of this number.
    """
    for incident in incidents_of(log.read(kinds=INCIDENT_KINDS)):
        if incident.id == number:
            return incident
    raise InputError(
        "no such incident", key="INCIDENT", value=number, allowed="those that `routecanary incidents` lists"
    )


def study_of_incident(world: World, listing: Listing, incident: Incident, n: int) -> Study:
    """Plan the study that asks an incident's question again, `n` times of its route and of a peer.

    Raises:
        InputError: None of its failing transcripts is kept any more, or the route is not listed now.
        StoreError: The store cannot be read.
    """
    failed = tuple(_failed(world.store, story_of(world.store, incident)))
    if not failed:
        raise InputError(
            "none of its failing transcripts is kept any more, so its question is not known",
            key="INCIDENT",
            value=incident.id,
            allowed="incidents younger than store.keep_failures",
        )
    questions, turns = _questions(failed, world.catalog, world.settings.probes.max_tokens, n)

    def planned(routes: Collection[RouteId]) -> Study:
        return study_of(
            world,
            listing,
            questions,
            turns,
            dict.fromkeys(sorted(routes), n),
            contracts=incident.contracts,
            suspects={incident.route},
            incident=incident.id,
        )

    alone = planned({incident.route})
    peer = _peer(world, listing, planned({incident.route, *_candidates(world, listing)}), incident.route)
    return alone if peer is None else planned({incident.route, peer})


def _failed(store: TranscriptStore, story: Story) -> Iterator[StoredTranscript]:
    """Bring back the transcripts that failed a contract of the incident, the newest of its evidence first."""
    contracts = story.incident.contracts
    for rounds in (story.evidence, story.rounds[len(story.evidence) :]):
        found = False
        for entry in (entry for each in reversed(rounds) for entry in reversed(each.attempts)):
            if any(
                name in contracts and said.kind is VerdictKind.FAIL for name, said in entry.verdicts.items()
            ):
                kept = store.get(entry.id)
                if kept is not None:
                    found = True
                    yield kept
        if found:
            return


def _questions(
    failed: Sequence[StoredTranscript], catalog: Catalog, room: Mapping[ProbeKind, int], n: int
) -> tuple[tuple[Question, ...], tuple[int, ...]]:
    """Make the questions and say which is asked at each of `n` turns.

    At most half of the turns repeat a prompt word for word; the others vary the front of the same scenes.
    """
    exact: dict[str, Question] = {}
    varied: dict[tuple[ProbeKind, str, str], Question] = {}
    for kept in failed:
        question = _word_for_word(kept.transcript, catalog, room)
        if question is None or question.messages is None:
            continue
        exact.setdefault(question.messages, question)
        fresh = _varied(kept.transcript, question, catalog)
        if fresh is not None:
            varied.setdefault((fresh.kind, fresh.locale or "", fresh.scene.id), fresh)
    if not exact:
        raise InputError("its transcripts do not say what was asked", key="INCIDENT")
    again = _by_turns(varied.values())
    first = _by_turns(exact.values())[: max(1, n // 2) if again else n]
    turns = [
        turn % len(first) if turn < len(first) or not again else len(first) + (turn - len(first)) % len(again)
        for turn in range(n)
    ]
    return (*first, *again), tuple(turns)


def _by_turns(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Mix questions so that each kind of probe has its turn, in their order within each kind."""
    places: Counter[ProbeKind] = Counter()
    placed: list[tuple[int, int, Question]] = []
    for question in questions:
        placed.append((places[question.kind], ASKED_KINDS.index(question.kind), question))
        places[question.kind] += 1
    return tuple(question for *_, question in sorted(placed, key=lambda each: each[:2]))


def _word_for_word(
    transcript: Transcript, catalog: Catalog, room: Mapping[ProbeKind, int]
) -> Question | None:
    messages = transcript.request.get("messages")
    scene, kind = transcript.scene, transcript.kind
    if not isinstance(messages, list) or scene is None or kind not in room:
        return None
    texts = (message.get("content") for message in messages if isinstance(message, dict))
    return Question(
        kind=kind,
        scene=replace(scene, prompt="\n".join(text for text in texts if isinstance(text, str))),
        version=transcript.spec_version or 0,
        max_tokens=room[kind],
        locale=transcript.locale,
        schema=_schema(transcript, catalog),
        messages=json.dumps(messages),
    )


def _schema(transcript: Transcript, catalog: Catalog) -> str | None:
    """Find the schema that was asked for; a route in JSON mode was told none, and the text's stands in."""
    if transcript.kind is not ProbeKind.STRUCTURED:
        return None
    match transcript.request.get("response_format"):
        case {"json_schema": {"schema": dict() as schema}}:
            return json.dumps(schema)
        case _:
            spec = None if transcript.locale is None else catalog.find(transcript.kind, transcript.locale)
            return None if spec is None or spec.schema is None else json.dumps(spec.schema)


def _varied(transcript: Transcript, question: Question, catalog: Catalog) -> Question | None:
    """Make the same scene with a fresh front; None where no text of today has words for it."""
    scene: Scene | None = transcript.scene
    spec = None if transcript.locale is None else catalog.find(transcript.kind, transcript.locale)
    if scene is None or spec is None:
        return None
    return replace(
        question,
        scene=scene,
        messages=None,
        places=spec.places,
        dates=spec.dates,
        people=spec.people,
    )


def _candidates(world: World, listing: Listing) -> frozenset[RouteId]:
    """List whom a route may be compared with: nobody who is out, or known to fail."""
    model, now = listing.model, world.clock.now()
    targets = {entry.target for entry in builtin_for(world.builtin, model)}
    targets |= {entry.target for entry in runtime_for(world.ledger.runtime(now), model)}
    out = frozenset(world.ledger.state(model).suspensions()) | frozenset(controls_of(world, listing))
    return frozenset(
        tag
        for tag in usual_routes(listing, world.model(model).production)
        if tag not in out and not any(tag == target or tag.startswith(f"{target}/") for target in targets)
    )


def _peer(world: World, listing: Listing, study: Study, route: RouteId) -> RouteId | None:
    """Choose one route to compare with: of the same precision class if there is one, then the cheapest."""
    bounds = bounds_of_study(world, study, listing)
    kinds = {question.kind for question in study.questions}
    most: dict[RouteId, Decimal] = {
        each.route: sum((bounds[each.route, kind].most for kind in kinds), Decimal()) for each in study.routes
    }
    own = next((each for each in study.routes if each.route == route), None)
    if own is None:
        return None
    cheap = [
        each for each in study.routes if each.route != route and most[each.route] <= PEER_COSTS * most[route]
    ]
    chosen = min(
        cheap, key=lambda each: (not same_precision(own, each), most[each.route], each.route), default=None
    )
    return None if chosen is None else chosen.route
