"""What can be handed to a provider so that they see the fault themselves? The evidence of one incident.

For each contract of the incident: the smallest request that shows it, what was expected, what came, how
often, and how often from the other routes in the same rounds. Nothing of the account is in it, nobody's name,
and no other route's unless that is asked for. Numbers and hashes of events tie it to the log that it is from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from routecanary.domain.archive import StoredTranscript
from routecanary.domain.event import Suspended, event_from_json
from routecanary.domain.evidence import Earned
from routecanary.domain.log import Head
from routecanary.domain.names import (
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
    RouteId,
)
from routecanary.domain.settings import Settings
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.incidents import Incident
from routecanary.rounds.packet_came import Came, Hide, came_of
from routecanary.rounds.packet_request import Reproduction, reproduction_of
from routecanary.rounds.ports import Store
from routecanary.rounds.story import Story, StoryRound, state_after, story_of

_EXPECTED: Final = {
    LATENCY: "The first visible text within {limit:g} s of the request's last byte. Reasoning, white space "
    "and comments of the stream are no text.",
    FILTERING: "The scene is continued: no refusal, no filter, no empty answer, about as long as was asked.",
    STRUCTURED: "A completed answer is exactly one JSON document that is valid against the request's schema.",
    LANGUAGE: "The answer as a whole is in the language that was asked for ({locale}), and its encoding is "
    "sound.",
    INTEGRITY: "A mechanically sound text: whole from its first character, without special tokens, tool "
    "mark-up, loops or lost spaces, and an answer to this question by this model.",
}
"""Contract → what a route is expected to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many conclusive attempts there were, and how many of them failed."""

    attempts: int = 0
    fails: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One other route in the same rounds."""

    name: RouteId | None  # None: not told
    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One contract that the route failed."""

    contract: ContractName
    expected: str
    came: Came
    request: Reproduction
    before: Count  # of the rounds that the suspension rests on
    since: Count  # of the rounds since, to the incident's end
    peers: tuple[Peer, ...]  # of the rounds that it rests on, the most fails first
    weighed: Earned | None  # what the evidence trigger added up, if it asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """A round that the suspension rests on, as the log knows it."""

    at: datetime
    event: Head  # number and hash of the event that closed it


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """The evidence of one incident."""

    incident: Incident
    made_at: datetime
    exhibits: tuple[Exhibit, ...]  # sorted by contract; at least one
    suspension: Head  # number and hash of the event that began it
    rounds: tuple[Anchored, ...]
    head: Head  # of the log, when the packet was made


def packet_of(
    store: Store,
    incident: Incident,
    settings: Settings,
    *,
    now: datetime,
    hide: Hide,
    name_peers: bool = False,
) -> Packet | None:
    """Gather an incident's evidence.

    Args:
        hide: Takes our own secrets out of what was answered.
        name_peers: Name the other routes.
    Returns:
        None: No answer of it is kept any more, or its own events are not.
    Raises:
        StoreError: The store cannot be read.
    """
    head = store.head()
    story = story_of(store, incident)
    began = next((stored for stored in story.events if stored.seq == incident.id), None)
    if began is None:
        return None
    happened = event_from_json(began.body)
    weighed = happened.evidence if isinstance(happened, Suspended) else {}
    controls = _controls(store, incident)
    exhibits = []
    for contract in sorted(incident.contracts):
        shown = _shown(store, story, contract)
        if shown is None:
            continue
        exhibits.append(
            Exhibit(
                contract=contract,
                expected=_expected(contract, shown.entry.locale, settings.latency.limit),
                came=came_of(shown, contract, hide),
                request=reproduction_of(shown.transcript.request, settings.gateway.base_url),
                before=_count(story.evidence, contract, {incident.route}),
                since=_count(story.rounds[len(story.evidence) :], contract, {incident.route}),
                peers=_peers(story, contract, controls.get(contract, frozenset()), named=name_peers),
                weighed=weighed.get(contract),
            )
        )
    if not exhibits:
        return None
    return Packet(
        incident=incident,
        made_at=now,
        exhibits=tuple(exhibits),
        suspension=began.head,
        rounds=tuple(
            Anchored(at=each.at, event=Head(seq=each.seq, hash=each.hash)) for each in story.evidence
        ),
        head=head,
    )


def _controls(store: Store, incident: Incident) -> Mapping[ContractName, frozenset[RouteId]]:
    """List the routes that are known to fail a contract, and are asked for that reason."""
    state = state_after(store, incident)
    if state is None:
        return {}
    return {
        contract: frozenset(name for name, route in state.routes.items() if contract in route.control_for)
        for contract in incident.contracts
    }


def _shown(store: Store, story: Story, contract: ContractName) -> StoredTranscript | None:
    """Choose the answer that is shown: the first failing one of the newest round before the suspension."""
    for each in reversed(story.evidence):
        for entry in each.attempts:
            verdict = entry.verdicts.get(contract)
            if verdict is not None and verdict.kind is VerdictKind.FAIL:
                found = store.get(entry.id)
                if found is not None:
                    return found
    return None


def _count(rounds: Sequence[StoryRound], contract: ContractName, routes: set[RouteId]) -> Count:
    tries = [
        fail
        for each in rounds
        for route, made in each.tries.get(contract, {}).items()
        if route in routes
        for fail in made
    ]
    return Count(attempts=len(tries), fails=sum(tries))


def _peers(
    story: Story, contract: ContractName, controls: frozenset[RouteId], *, named: bool
) -> tuple[Peer, ...]:
    """Count every other route that was asked in the same rounds; one that is known to fail is no peer."""
    routes = {route for each in story.evidence for route in each.tries.get(contract, {})}
    counted = {
        route: _count(story.evidence, contract, {route})
        for route in routes - {story.incident.route} - controls
    }
    order = sorted(counted, key=lambda route: (-counted[route].fails, -counted[route].attempts, route))
    return tuple(Peer(name=route if named else None, count=counted[route]) for route in order)


def _expected(contract: ContractName, locale: Locale | None, limit: timedelta) -> str:
    return _EXPECTED[contract].format(limit=limit.total_seconds(), locale=locale or "unknown")
