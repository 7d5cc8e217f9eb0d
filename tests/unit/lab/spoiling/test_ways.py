"""What the faults on the way do: frames, bytes, errors, caches, connections."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest

from routecanary.domain.sse import SseDecoder
from routecanary.lab.account import ACCOUNT_REFUSALS
from routecanary.lab.answering import Prepared
from routecanary.lab.faults import FAULT_NAMED
from routecanary.lab.host import Account
from routecanary.lab.stream import EndingMode
from routecanary.lab.wire import HTML, JSON, Wire
from tests.lab import SCENES, a_body, a_route, an_answer, payloads, struck


def text_of(wire: Wire) -> str:
    return "".join(
        choice["delta"].get("content") or ""
        for frame in payloads(wire)
        for choice in frame.get("choices", ())
    )


def finishes(wire: Wire) -> list[str]:
    return [
        choice["finish_reason"]
        for frame in payloads(wire)
        for choice in frame.get("choices", ())
        if choice["finish_reason"]
    ]


def data_of(wire: Wire) -> bytes:
    return b"".join(piece.data for piece in wire.pieces)


@pytest.mark.parametrize(
    ("fault", "reasons", "done"),
    [
        ("missing_done", ["stop"], False),
        ("missing_finish", [], True),
        ("two_finish_reasons", ["stop", "stop"], True),
    ],
)
def test_ends_of_streams_differ_and_their_text_does_not(fault: str, reasons: list[str], done: bool) -> None:
    """The text is whole whatever its end looks like."""
    wire = struck(fault).wire()
    assert finishes(wire) == reasons
    assert data_of(wire).endswith(b"data: [DONE]\n\n") is done
    assert text_of(wire) == text_of(an_answer(a_route("north-host")).wire())


def test_a_finish_reason_comes_with_every_text() -> None:
    """Each piece says stop, and more come."""
    wire = struck("finish_on_every_chunk").wire()
    assert len(finishes(wire)) > 10
    assert set(finishes(wire)) == {"stop"}


def test_an_odd_word_ends_the_stream() -> None:
    """The last word is none of the documented ones."""
    (word,) = finishes(struck("odd_finish_reason").wire())
    assert word not in {"stop", "length", "tool_calls", "content_filter", "error"}


@pytest.mark.parametrize(
    ("fault", "way", "choices"),
    [
        ("usage_only_chunks", None, []),
        ("empty_choices_chunks", "empty", []),
        ("empty_choices_chunks", "absent", None),
    ],
)
def test_chunks_without_text_come_between(fault: str, way: str | None, choices: list[Any] | None) -> None:
    """Some stand before the first text and some between, each under the answer's own id."""
    answer = struck(fault, **({} if way is None else {"with": way}))
    frames = payloads(answer.wire())
    bare = [place for place, frame in enumerate(frames[:-1]) if not frame.get("choices")]
    assert len(bare) >= 3
    assert all(frames[place].get("choices") == choices for place in bare)
    assert all(("usage" in frames[place]) is (fault == "usage_only_chunks") for place in bare)
    assert {frame["id"] for frame in frames} == {answer.turn.generation}


def test_text_comes_as_parts() -> None:
    """Each content is a list of one text part."""
    frames = payloads(struck("content_parts").wire())
    contents = [choice["delta"]["content"] for frame in frames for choice in frame["choices"]]
    parts = [content for content in contents if isinstance(content, list)]
    assert len(parts) > 5
    assert all(part["type"] == "text" and part["text"] for (part,) in parts)


def test_a_keep_alive_comes_as_data_and_a_frame_comes_broken() -> None:
    """One event is no JSON; with the keep-alive, no text is lost."""
    for fault, whole in (("keepalive_as_data", True), ("broken_frame", False)):
        wire = struck(fault).wire()
        decoder = SseDecoder()
        events = [event.data for event in decoder.feed(data_of(wire)) if event.data != "[DONE]"]
        odd = [event for event in events if not event.startswith("{") or not event.endswith("}")]
        assert len(odd) == 1
        assert (text_of_events(events, odd) == struck(fault).planned.text) is whole


def text_of_events(events: list[str], odd: list[str]) -> str:
    frames = [json.loads(event) for event in events if event not in odd]
    return "".join(c["delta"]["content"] for frame in frames for c in frame["choices"])


def test_headers_come_late_and_everything_after_them() -> None:
    """Nothing is sent before the delay, then all at the old pace."""
    late = struck("slow_headers", delay_seconds=12.0, spread=0.0).wire()
    usual = an_answer(a_route("north-host")).wire()
    assert late.headers_at == 12.0
    assert [piece.at - 12 for piece in late.pieces] == pytest.approx([piece.at for piece in usual.pieces])
    assert struck("slow_headers", delay_seconds=0.0).wire().headers_at == 0.0


def test_a_stream_is_kept_alive_and_says_nothing() -> None:
    """Only comments, for longer than any client waits, and the connection stays open."""
    wire = struck("keepalives_only").wire()
    assert all(piece.data.startswith(b":") for piece in wire.pieces)
    assert wire.pieces[-1].at > 300
    assert wire.ending is EndingMode.HELD


@pytest.mark.parametrize("after", [0.0, 0.5])
def test_a_stall_leaves_the_connection_open(after: float) -> None:
    """Some text came, no end did, and nobody hangs up."""
    wire = struck("stall_mid_stream", after=after).wire()
    assert text_of(wire)
    assert not finishes(wire)
    assert wire.ending is EndingMode.HELD


@pytest.mark.parametrize(
    ("way", "headers", "text"),
    [("before_headers", False, False), ("before_text", True, False), ("within_text", True, True)],
)
def test_a_connection_is_reset_early_or_late(way: str, headers: bool, text: bool) -> None:
    """Before the headers, before the text, or within it."""
    wire = struck("reset_connection", **{"with": way}).wire()
    assert wire.ending is EndingMode.RESET
    assert (wire.headers_at is not None) is headers
    assert bool(text_of(wire)) is text
    assert not finishes(wire)


def test_a_gateway_adds_done_to_what_was_cut() -> None:
    """The text ends in a letter, and [DONE] follows."""
    for number in range(10):
        wire = struck("cut_before_done", number=number).wire()
        assert text_of(wire)[-1].isalpha()
        assert not finishes(wire)
        assert data_of(wire).endswith(b"data: [DONE]\n\n")


SHAPES = {
    "documented": lambda frame: (
        frame["error"]["code"] == 502 and frame["choices"][0]["finish_reason"] == "error"
    ),
    "empty_choices": lambda frame: frame["error"]["code"] == 502 and frame["choices"] == [],
    "string_code": lambda frame: isinstance(frame["error"]["code"], str),
    "bare": lambda frame: set(frame) == {"error"},
    "in_choice": lambda frame: "error" not in frame and frame["choices"][0]["error"]["code"] == 502,
    "no_metadata": lambda frame: set(frame["error"]) == {"code", "message"},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_error_takes_the_place_of_the_rest(shape: str) -> None:
    """The documented shape and those seen in the wild (openrouter-wire.md §3.4); text before, none after."""
    wire = struck("error_in_stream", **{"with": shape}).wire()
    *before, last = payloads(wire)
    assert SHAPES[shape](last)
    assert not any("error" in frame for frame in before)
    assert 0 < len(text_of(wire)) < len(struck("error_in_stream").planned.text)


def test_an_error_may_be_glued_to_the_stream() -> None:
    """A bare JSON object that is no event at all ends the stream."""
    wire = struck("error_in_stream", **{"with": "glued"}).wire()
    assert json.loads(wire.pieces[-1].data)["error"]["code"] == 502
    assert not wire.pieces[-1].data.startswith(b"data:")


def test_an_error_body_comes_under_200() -> None:
    """JSON in place of a stream, status 200."""
    wire = struck("error_body", **{"with": "429"}).wire()
    assert wire.status == 200
    assert wire.headers == {"Content-Type": JSON}
    assert json.loads(data_of(wire))["error"]["code"] == 429


@pytest.mark.parametrize("status", ["500", "502", "503", "504", "529"])
def test_a_server_error_names_its_provider_unless_masked(status: str) -> None:
    """A 500 says nothing of whose it is."""
    wire = struck("server_error", **{"with": status}).wire()
    error = json.loads(data_of(wire))["error"]
    assert (wire.status, error["code"]) == (int(status), int(status))
    assert ("provider_name" in error["metadata"]) is (status != "500")


def test_the_edge_answers_with_a_page() -> None:
    """HTML with its own content type and status."""
    wire = struck("html_edge_page", **{"with": "524"}).wire()
    assert (wire.status, wire.headers["Content-Type"]) == (524, HTML)
    assert data_of(wire).startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize("account", [account for account in Account if account is not Account.OK])
def test_an_account_fault_says_what_the_account_would(account: Account) -> None:
    """One vocabulary: the fault of each state answers exactly as the gateway does in that state."""
    answer = struck(f"account_{account}")
    assert answer.planned.problem == ACCOUNT_REFUSALS[account]


def test_every_account_fault_has_its_state() -> None:
    """No fault of an account is without a state, and the other way round."""
    named = {name.removeprefix("account_") for name in FAULT_NAMED if name.startswith("account_")}
    assert named == set(ACCOUNT_REFUSALS) == set(Account) - {Account.OK}


def test_moderation_and_a_missing_endpoint_refuse() -> None:
    """403 with what was flagged, for filter questions alone; 404 without a routing step."""
    scene = SCENES["en"].replace("between single asterisks", "in one sentence")
    problem = struck("moderation_403", a_body(scene)).planned.problem
    assert problem is not None
    assert problem.status == 403
    assert problem.metadata["flagged_input"] == scene[:60]
    assert struck("moderation_403").hand.struck == []
    missing = struck("spurious_404").planned.problem
    assert missing is not None
    assert (missing.status, "failed_routing_step" in missing.metadata) == (404, False)


def test_a_cache_shows_by_its_header_or_by_its_age() -> None:
    """A hit says so, or was created long before it was asked for; a cut one was cut when it was kept."""
    hit = struck("cached_answer", **{"with": "header"}).wire()
    assert hit.headers["X-OpenRouter-Cache-Status"] == "HIT"
    old = struck("cached_answer", **{"with": "created"})
    assert {frame["created"] for frame in payloads(old.wire())} == {old.envelope.created - 3_600}
    cut = struck("cached_cut_stream").wire()
    assert cut.headers["X-OpenRouter-Cache-Status"] == "HIT"
    assert not finishes(cut)


def test_another_model_answers_under_its_own_name() -> None:
    """Of another size only where the id states one; of any other name, or of no provider, always."""
    assert struck("wrong_model").hand.struck == []
    assert {frame["model"] for frame in payloads(struck("other_model").wire())} != {"acme/chat-2-20260901"}
    assert all("provider" not in frame for frame in payloads(struck("nameless_provider").wire()))


def test_characters_are_split_between_writes() -> None:
    """Some pieces are no UTF-8 by themselves, all together are the sound answer."""
    wire = struck("split_utf8", a_body(SCENES["th"])).wire()
    assert wire.apart
    assert data_of(wire) == data_of(an_answer(a_route("north-host"), a_body(SCENES["th"])).wire())
    broken = [piece for piece in wire.pieces if not is_utf8(piece.data)]
    assert len(broken) >= 4


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("way", ["crlf", "cr", "bom", "no_space", "last_newline"])
def test_framing_is_odd_and_means_the_same(way: str) -> None:
    """The standard's own decoder reads the same events."""

    def events(answer: Prepared) -> list[str]:
        decoder = SseDecoder()
        return [event.data for event in decoder.feed(data_of(answer.wire())) + decoder.finish()]

    odd, plain = struck("odd_framing", **{"with": way}), an_answer(a_route("north-host"))
    assert data_of(odd.wire()) != data_of(plain.wire())
    assert events(odd) == events(plain)


def test_bytes_are_packed_and_the_headers_lie() -> None:
    """Half of a packed body; a packed one that nobody announces; plain bytes called packed."""
    plain = data_of(an_answer(a_route("north-host")).wire())
    cut = struck("lying_encoding", **{"with": "cut"}).wire()
    inflater = zlib.decompressobj(wbits=31)
    assert plain.startswith(inflater.decompress(data_of(cut)))
    assert not inflater.eof
    silent = struck("lying_encoding", **{"with": "undeclared"}).wire()
    assert zlib.decompress(data_of(silent), wbits=31) == plain
    assert "Content-Encoding" not in silent.headers
    claimed = struck("claimed_encoding").wire()
    assert (data_of(claimed), claimed.headers["Content-Encoding"]) == (plain, "gzip")


def test_a_code_page_writes_bytes_that_are_no_utf8() -> None:
    """Portuguese letters come as single bytes."""
    wire = struck("latin1_bytes", a_body(SCENES["pt-BR"])).wire()
    assert not is_utf8(data_of(wire))
    assert any(letter in data_of(wire).decode("cp1252") for letter in "áãçéíóõú")


def test_a_document_comes_for_a_stream_and_a_stream_for_a_document() -> None:
    """Each strikes only where the other was asked for."""
    whole = struck("document_for_stream").wire()
    assert whole.headers["Content-Type"] == JSON
    assert json.loads(data_of(whole))["object"] == "chat.completion"
    assert struck("document_for_stream", {**a_body(), "stream": False}).hand.struck == []
    streamed = struck("stream_for_document", {**a_body(), "stream": False})
    assert data_of(streamed.wire(streamed=False)).endswith(b"data: [DONE]\n\n")
    assert struck("stream_for_document").hand.struck == []
