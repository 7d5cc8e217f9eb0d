"""How is a study asked? Pass by pass, pinned, within the day's budget; every answer is kept as it comes.

As in a round, a route is asked one question after another and all routes side by side. Otherwise than there,
an answer is judged as soon as it is whole, in a thread of its own so that no open stream waits for it: a
study is long, and whoever ends it early shall lose nothing but what was on its way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum
from typing import Final, Protocol

from routecanary.domain.answer import Answer, read_answer
from routecanary.domain.archive import PackedTranscript
from routecanary.domain.money import NOTHING
from routecanary.domain.names import ContractName, RouteId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import Operation, Reserved, operation_draft
from routecanary.domain.probe import Probe, ProbeKind
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.judge.examine import judge_answer
from routecanary.judge.registry import contracts_with
from routecanary.rounds.examine import unjudged
from routecanary.rounds.preflight import OF_ONE_REQUEST
from routecanary.rounds.purse import Bound, Purse, Till, named_at, settling, tidings
from routecanary.rounds.spending import general_part
from routecanary.rounds.studies import answer_draft
from routecanary.rounds.study_plan import bounds_of_study, probe_of
from routecanary.rounds.world import World
from routecanary.study.order import Asking
from routecanary.study.values import Study, StudyAnswer
from routecanary.study.waiting import NOTHING_SAID, Waited, waited

LOG: Final = logging.getLogger("routecanary.studies")

PORTIONS: Final = 20
"""In how many parts the money of a study is set aside at most: a death leaves one of them counted in full."""


class Stop(StrEnum):
    """Why a study ended early."""

    BUDGET = "budget"  # the day's budget does not cover the next asking
    ACCOUNT = "account"  # our own key, credit or configuration is at fault
    GATEWAY = "gateway"  # nobody could be reached


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """That a study ended early; `detail` is safe to print."""

    why: Stop
    detail: str


class Watcher(Protocol):
    """Whoever watches a study while it is asked."""

    def answered(self, answer: StudyAnswer) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """One answer, judged and ready to be kept; `answer` is None where reading it broke."""

    answer: Answer | None
    verdicts: Mapping[ContractName, Verdict]
    wait: Waited
    packed: PackedTranscript


async def ask_study(
    world: World, study: Study, listing: Listing, left: Sequence[Asking], watcher: Watcher
) -> Stopped | None:
    """Ask what is left of a study, and keep every answer as it comes.

    Args:
        listing: The one by which `left_of` found what is left.
    Returns:
        Why it ended early; None when everybody was asked.
    Raises:
        StoreError: Something could not be kept; nothing more is asked.
    """
    bounds = bounds_of_study(world, study, listing)
    size = max(len(study.routes), -(-len(left) // PORTIONS))
    asker = _Asker(world, study, listing, watcher)
    for start in range(0, len(left), size):
        portion = left[start : start + size]
        name = f"study {study.id} {named_at(world.clock.now(), world.rng)}"
        covered = _set_aside(world, study, name, [_bound(bounds, study, asking) for asking in portion])
        if covered:
            purse = Purse(study.model, name, bounds=bounds, unasked=len(portion) - covered)
            with settling(world, purse):
                await asker.ask(portion[:covered], Till(world.gateway, purse))
                settled = purse.settled(world.clock.now())
            world.ledger.note(operation_draft(settled))
        if asker.stopped is not None:
            return asker.stopped
        if covered < len(portion):
            budget = world.settings.budget.per_day_usd
            return Stopped(
                why=Stop.BUDGET, detail=f"the day's budget of {budget} USD does not cover the next asking"
            )
    return None


def _bound(bounds: Mapping[tuple[RouteId, ProbeKind], Bound], study: Study, asking: Asking) -> Bound:
    return bounds[asking.route, study.question(asking.turn).kind]


def _set_aside(world: World, study: Study, name: str, bounds: Sequence[Bound]) -> int:
    """Set aside the most that the next askings can cost, as many of them as the day's budget covers.

    What is kept for the recovery of suspended routes is not touched.

    Returns:
        How many are covered.
    """
    budget = world.settings.budget
    covered = 0

    def decide(operating: OperatingState) -> Sequence[Operation]:
        nonlocal covered
        at = world.clock.now()
        room = general_part(budget) - operating.committed(at.astimezone(UTC).date())
        covered, usd = 0, NOTHING
        for bound in bounds:
            if bound.most and usd + bound.most > room:
                break
            covered, usd = covered + 1, usd + bound.most
        said = tidings(operating, at, budget, short=covered < len(bounds))
        left_out = frozenset(operating.model(study.model).left_out)  # by its rounds: remembered as it is
        reserved = Reserved(at=at, model=study.model, round_id=name, usd=usd, left_out=left_out)
        return [*said, reserved] if covered else said

    world.ledger.operate(decide)
    return covered


class _Asker:
    """Asks one portion after another; `stopped` says why the next one would be in vain."""

    def __init__(self, world: World, study: Study, listing: Listing, watcher: Watcher) -> None:
        self.stopped: Stopped | None = None
        self._world = world
        self._study = study
        self._listing = listing
        self._watcher = watcher
        self._limits = world.judge_settings()
        self._judges = contracts_with(self._limits)
        self._keeping = asyncio.Lock()  # the ledger is for one thread at a time

    async def ask(self, portion: Sequence[Asking], till: Till) -> None:
        """Ask a portion: each route its turns one after another, all routes side by side."""
        turns: dict[RouteId, list[int]] = {}
        for asking in portion:
            turns.setdefault(asking.route, []).append(asking.turn)
        rng, spread = self._world.rng, self._world.settings.probes.start_spread.total_seconds()
        async with asyncio.TaskGroup() as tasks:
            asking_now = [
                tasks.create_task(self._in_turn(route, turns[route], till, rng.uniform(0.0, spread)))
                for route in turns
            ]
        unreached = [detail for task in asking_now for detail in task.result()]
        if len(unreached) == len(portion) and self.stopped is None:
            self.stopped = Stopped(why=Stop.GATEWAY, detail=f"no request could be sent: {unreached[0]}")

    async def _in_turn(self, route: RouteId, turns: Sequence[int], till: Till, delay: float) -> list[str]:
        """Ask one route, and return why some requests were never sent: nothing is kept of those."""
        unreached: list[str] = []
        await self._world.clock.sleep(delay)
        for turn in turns:
            if self.stopped is not None:
                break
            probe = probe_of(self._world, self._study, self._listing, Asking(route, turn))
            transcript = await till.ask(probe)
            if transcript.connect_ms is None and transcript.status is None:
                till.purse.pay(read_answer(transcript))
                unreached.append(transcript.ending.kind.value)
                continue
            # what has come shall be kept, whoever ends us meanwhile
            keeping = asyncio.create_task(self._keep(probe, turn, transcript, till.purse))
            try:
                await asyncio.shield(keeping)
            except asyncio.CancelledError:
                await keeping
                raise
        return unreached

    async def _keep(self, probe: Probe, turn: int, transcript: Transcript, purse: Purse) -> None:
        heard = await asyncio.to_thread(self._hear, transcript)
        before = purse.spent
        if heard.answer is None:
            purse.pay_unread(transcript)
        else:
            purse.pay(heard.answer)
        blame = next((said for said in heard.verdicts.values() if _is_ours(said)), None)
        if blame is not None:  # nothing to keep: this was no word of the route's
            self.stopped = Stopped(why=Stop.ACCOUNT, detail=f"the account cannot be used: {blame}")
            return
        answer = StudyAnswer(
            study=self._study.id,
            at=heard.packed.entry.at,
            model=self._study.model,
            route=probe.route,
            turn=turn,
            transcript=heard.packed.entry.id,
            usd=purse.spent - before,
            verdicts=heard.verdicts,
            first_text_ms=heard.wait.first_text_ms,
            unseen_ms=heard.wait.unseen_ms,
        )
        async with self._keeping:
            await asyncio.to_thread(self._write, heard.packed, answer)
        self._watcher.answered(answer)

    def _hear(self, transcript: Transcript) -> _Heard:
        """Judge an answer and make it ready for keeping; in a thread of its own."""
        answer: Answer | None = None
        wait = NOTHING_SAID
        verdicts: Mapping[ContractName, Verdict]
        try:
            answer = read_answer(transcript)
            verdicts = judge_answer(answer, self._limits, self._judges, only=self._study.contracts)
            wait = waited(answer, verdicts, lag_limit_ms=self._limits.lag_limit_ms)
        except Exception as error:  # whatever one route sent, the others are judged
            LOG.exception("answer not judged model=%s route=%s", transcript.model, transcript.route)
            verdicts = unjudged(error, transcript.kind, self._study.contracts)
        packed = self._world.transcripts.pack(transcript, at=self._world.clock.now(), verdicts=verdicts)
        return _Heard(answer=answer, verdicts=verdicts, wait=wait, packed=packed)

    def _write(self, packed: PackedTranscript, answer: StudyAnswer) -> None:
        self._world.transcripts.put([packed])
        self._world.ledger.note(answer_draft(answer))


def _is_ours(said: Verdict) -> bool:
    return said.kind is VerdictKind.ACCOUNT and said.code not in OF_ONE_REQUEST
