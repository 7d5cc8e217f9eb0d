"""What is kept of an answer, and what becomes of it while the store takes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.client.answer import AnswerReader
from routecanary.clock import ScaledClock
from routecanary.proxy.editing import Edited, Wish
from routecanary.proxy.passage import Sent
from routecanary.proxy.recorder import MAX_WAITING, Recorder, generation_of
from routecanary.telemetry.candidates import nothing_known
from routecanary.web.keeping import Keeper
from tests.serving import some_settings
from tests.snapshots import NOW, document, facts, listed, views

STARTED = NOW.timestamp()


def a_passage(**more: Any) -> Any:
    edited = {"model": "acme/chat", "ignore": ("beta",), "unchanged": None, "written_at": STARTED}
    wish = Wish(None, more.pop("locale", None), more.pop("conversation", None))
    sent = Sent(Edited(b"", **{**edited, **more}), wish, STARTED, 100.0)
    return SimpleNamespace(sent=sent, status=200, generation_id=None)


def a_reader(**facts: Any) -> AnswerReader:
    reader = AnswerReader()
    for name, value in facts.items():
        setattr(reader, name, value)
    return reader


def test_times_run_from_the_last_byte_of_the_request() -> None:
    """To the first text, and to the end."""
    kept = generation_of(a_passage(), a_reader(first_text_at=100.25), 101.5, nothing_known)
    assert kept is not None
    assert (kept.ttft_ms, kept.duration_ms, kept.started_at) == (250, 1500, NOW)


def test_the_header_names_the_generation_before_the_body_does() -> None:
    """Where neither does, a name is drawn."""
    passage = a_passage()
    passage.generation_id = "gen-header"
    known = generation_of(passage, a_reader(id="gen-body"), 101.0, nothing_known)
    drawn = [generation_of(a_passage(), a_reader(), 101.0, nothing_known) for _ in range(2)]
    assert known is not None
    assert (known.key, known.id) == ("gen-header", "gen-header")
    assert len({kept.key for kept in drawn if kept is not None and kept.id is None}) == 2


@pytest.mark.parametrize("text", ["two words", "", "x" * 129, "ключ"])
def test_what_is_no_opaque_name_is_left_out(text: str) -> None:
    """A conversation or a generation that could be somebody's words."""
    passage = a_passage(conversation=text, locale="Klingon!")
    passage.generation_id = text
    kept = generation_of(passage, a_reader(), 101.0, nothing_known)
    assert kept is not None
    assert (kept.conversation, kept.id, kept.locale) == (None, None, None)


def test_an_alias_is_kept_under_the_models_own_name() -> None:
    """The answer may name what the request left open."""
    lookup = views(document(facts(names=frozenset({"acme/chat-20260901"}), routes=listed("beta")))).facts
    kept = generation_of(a_passage(model=None), a_reader(model="acme/chat-20260901"), 101.0, lookup)
    assert kept is not None
    assert (kept.model, kept.carried) == ("acme/chat", frozenset({"beta"}))


@pytest.mark.parametrize("model", [None, "no model", "x"])
def test_without_a_model_there_is_nothing_to_keep(model: str | None) -> None:
    """Neither for what never went out."""
    assert generation_of(a_passage(model=model), a_reader(), 101.0, nothing_known) is None
    passage = a_passage()
    passage.sent = passage.sent._replace(sent_at=0.0)
    assert generation_of(passage, a_reader(), 101.0, nothing_known) is None


def test_room_is_bounded_and_what_waits_is_kept_later(tmp_path: Path) -> None:
    """Without a store records wait, the newest are dropped and counted; then all that waited is kept."""
    settings = some_settings(tmp_path)
    keeper = Keeper(settings, ScaledClock(start=NOW, rate=1.0))
    recorder = Recorder(keeper, lambda: nothing_known)
    for number in range(MAX_WAITING + 3):
        recorder.record(a_passage(), a_reader(id=f"gen-{number}"), 101.0)
    assert (recorder.waiting, recorder.dropped) == (MAX_WAITING, 3)

    async def keep() -> None:
        assert not await recorder.keep_some()
        assert recorder.problem == "StoreError"
        SqliteStore(Path(settings.store_path)).close()
        while recorder.waiting:
            assert await recorder.keep_some()

    asyncio.run(keep())
    keeper.close()
    assert (recorder.kept, recorder.problem) == (MAX_WAITING, None)
    with SqliteStore(Path(settings.store_path)) as store:
        assert store.find_generations(generation=f"gen-{MAX_WAITING - 1}")
