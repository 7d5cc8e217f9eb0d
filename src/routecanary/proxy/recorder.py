"""What is kept of an answer, and how does it reach the store without holding a request up?

A record is made when an answer has ended and waits in memory, where room is bounded; batches go to the store
in a thread of their own. A store that is locked or gone costs records, counted, and never a request.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from routecanary.client.answer import AnswerReader
from routecanary.domain.generation import Generation, Source
from routecanary.domain.names import Locale, parse_locale, parse_model
from routecanary.errors import InputError, StoreError
from routecanary.proxy.passage import Passage
from routecanary.telemetry.candidates import Lookup, locate
from routecanary.web.keeping import BusyError, Keeper

LOG: Final = logging.getLogger("routecanary.proxy")

MAX_WAITING: Final = 10_000  # records
_BATCH: Final = 250  # records in one transaction: some milliseconds of a thread
_PAUSE_SECONDS: Final = 0.25  # between two looks at what waits
_BREATH_SECONDS: Final = 0.05  # between two batches: the thread that keeps them must not hold requests up
_PATIENCE_SECONDS: Final = 2.0  # after a failure

_OPAQUE: Final = re.compile(r"[!-~]{1,128}")
_WORD: Final = re.compile(r"[ -~]{1,64}")


class Recorder:
    """Makes generations of ended passages and keeps them."""

    def __init__(self, keeper: Keeper, lookup: Callable[[], Lookup]) -> None:
        """Keep in a store.

        Args:
            lookup: Gives what the newest snapshot knows of a model.
        """
        self._keeper = keeper
        self._lookup = lookup
        self._waiting: deque[Generation] = deque()
        self.kept = 0
        self.dropped = 0
        self.problem: str | None = None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def record(self, passage: Passage, reader: AnswerReader, at: float) -> None:
        """Take what is known of an answer that has ended."""
        generation = generation_of(passage, reader, at, self._lookup())
        if generation is None:
            return
        if len(self._waiting) >= MAX_WAITING:
            self.dropped += 1
        else:
            self._waiting.append(generation)

    async def run(self) -> None:
        """Keep what waits, until cancelled."""
        while True:
            if self._waiting and await self.keep_some():
                await asyncio.sleep(_BREATH_SECONDS)
            else:
                await asyncio.sleep(_PAUSE_SECONDS if self.problem is None else _PATIENCE_SECONDS)

    async def keep_some(self) -> bool:
        """Keep a batch of what waits; say whether that went well."""
        batch = [self._waiting[place] for place in range(min(_BATCH, len(self._waiting)))]
        try:
            await self._keeper.keep(lambda _: batch)
        except (StoreError, BusyError) as error:
            if self.problem is None:
                LOG.warning("records wait error=%s waiting=%d", type(error).__name__, len(self._waiting))
            self.problem = type(error).__name__
            return False
        for _ in batch:
            self._waiting.popleft()
        self.kept += len(batch)
        self.problem = None
        return True


def generation_of(passage: Passage, reader: AnswerReader, at: float, lookup: Lookup) -> Generation | None:
    """Make the record of one answer; None where not even a model is known, or nothing was sent.

    Args:
        at: When the answer ended, of the monotonic clock.
    """
    sent = passage.sent
    if sent is None or not sent.sent_at:
        return None
    edited, wish = sent.edited, sent.wish
    name = edited.model or reader.model
    if name is None or (lookup(name) is None and not _is_model(name)):
        return None
    located = locate(lookup, name, provider=reader.provider, ignore=edited.ignore)
    first = reader.first_text_at
    identity = _matching(_OPAQUE, passage.generation_id) or _matching(_OPAQUE, reader.id)
    return Generation(
        key=identity or uuid4().hex,
        source=Source.PROXY,
        model=located.model,
        started_at=datetime.fromtimestamp(sent.started_at, UTC),
        id=identity,
        provider=reader.provider,
        candidates=located.candidates,
        carried=located.carried,
        unchanged=edited.unchanged,
        list_written_at=None if edited.written_at is None else datetime.fromtimestamp(edited.written_at, UTC),
        ttft_ms=None if first is None else max(0, round((first - sent.sent_at) * 1000)),
        duration_ms=max(0, round((at - sent.sent_at) * 1000)),
        status=passage.status,
        finish_reason=_matching(_WORD, reader.finish_reason),
        empty=reader.empty,
        prompt_tokens=reader.prompt_tokens,
        completion_tokens=reader.completion_tokens,
        conversation=_matching(_OPAQUE, wish.conversation),
        locale=_locale(wish.locale),
    )


def _is_model(name: str) -> bool:
    try:
        parse_model(name)
    except InputError:
        return False
    return True


def _locale(text: str | None) -> Locale | None:
    try:
        return None if text is None else parse_locale(text)
    except InputError:
        return None


def _matching(pattern: re.Pattern[str], text: str | None) -> str | None:
    return text if text is not None and pattern.fullmatch(text) else None
