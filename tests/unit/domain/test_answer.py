"""Reading an answer: every shape that hosts send, and the first visible text."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest

from routecanary.domain.answer import Form, ToolCall, read_answer, visible_text_in
from routecanary.domain.transcript import EndingKind
from tests.answers import (
    DONE,
    SSE,
    a_document,
    a_frame,
    a_message,
    a_stream,
    a_transcript,
    an_answer,
    as_event,
)


def test_deltas_are_joined_and_the_end_is_read():
    """Text, finish reason, names and the done mark of a plain stream."""
    answer = an_answer("A ", "fig", ".", tokens=3)
    assert (answer.text, answer.finish_reason, answer.done, answer.complete) == ("A fig.", "stop", True, True)
    assert (answer.providers, answer.ids, answer.completion_tokens) == (("HostA",), ("gen-1",), 3)


def test_whole_document_is_read_like_a_frame():
    """A body that is not streamed has the same view; its text is there when the last byte is."""
    answer = read_answer(a_document(a_message("A fig."), at_ms=7000))
    assert (answer.form, answer.text, answer.first_text_ms) == (Form.DOCUMENT, "A fig.", 7000)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}], "b"),
        ([{"type": "text"}, {"type": "image_url"}, "x", None, 7], ""),
        (None, ""),
        (7, ""),
        ({"text": "no"}, ""),
    ],
)
def test_content_may_come_in_parts(content: object, text: str):
    """Text parts join; thinking and odd parts are not visible text."""
    assert read_answer(a_document(a_message(content))).text == text


@pytest.mark.parametrize(
    ("frame", "visible"),
    [
        (a_frame({"content": "x"}), True),
        (a_frame({"content": "👍"}), True),
        (a_frame({"content": ""}), False),
        (a_frame({"content": " \n\t\u00a0\u3000"}), False),
        (a_frame({"content": "\u200b\u2060\ufeff\u00ad\u200d"}), False),
        (a_frame({"content": None, "reasoning": "hm"}), False),
        (a_frame({"role": "assistant"}), False),
        (a_frame({"content": [{"type": "text", "text": "x"}]}), True),
        (a_frame({"content": [{"type": "thinking", "thinking": "x"}]}), False),
        (a_frame(choices=[], usage={}), False),
        (a_frame(choices=None), False),
        (a_frame(choices=[None]), False),
        (a_frame(choices=[{"message": {"content": "x"}}]), True),
        ([1], False),
    ],
)
def test_first_text_is_defined_once(frame: object, visible: bool):
    """The listening client and the reader agree on which frame holds visible text."""
    assert visible_text_in(json.dumps(frame)) is visible
    answer = read_answer(a_transcript(as_event(frame), as_event(a_frame(finish="stop"))))
    assert (answer.first_text_ms is not None) is visible


@pytest.mark.parametrize(
    "data", ["", "[DONE]", "{", '"content"', '{"content"', "null", "[" * 100_000 + '"content"']
)
def test_text_is_not_seen_in_what_is_no_frame(data: str):
    """Nothing raises, whatever an event holds."""
    assert visible_text_in(data) is False


def test_first_text_is_the_read_that_completes_its_frame():
    """A frame cut over three reads counts when its last byte is there, not before."""
    event = as_event(a_frame({"content": "A"}))
    reads = (event[:20], event[20:40], event[40:], as_event(a_frame(finish="stop")))
    assert read_answer(a_transcript(*reads, first_ms=100, step_ms=50)).first_text_ms == 200


def test_last_non_empty_finish_reason_counts():
    """A reason on a reasoning chunk, an empty one and a null do not end an answer."""
    frames = [a_frame({"content": "a"}, "length"), a_frame(finish=""), a_frame(finish="stop"), a_frame()]
    assert read_answer(a_transcript(*map(as_event, frames))).finish_reason == "stop"


def test_reasoning_is_read_from_one_channel():
    """Two aliases of the reasoning field repeat each other."""
    answer = read_answer(
        a_transcript(as_event(a_frame({"reasoning": "so", "reasoning_content": "so"})), DONE)
    )
    assert answer.reasoning == "so"


def test_reasoning_details_are_read_where_nothing_else_is():
    """The structured form of reasoning counts when it is the only one."""
    details = [{"type": "reasoning.text", "text": "so"}, {"type": "reasoning.encrypted", "data": "x"}]
    assert read_answer(a_document(a_message("A", reasoning_details=details))).reasoning == "so"


def test_tool_calls_are_joined_by_index():
    """Argument fragments join; an index that is null or missing falls back to the id or the position."""
    frames = [
        a_frame({"tool_calls": [{"index": 0, "function": {"name": "ping", "arguments": '{"a":'}}]}),
        a_frame({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
        a_frame({"tool_calls": [{"id": "x", "function": {"name": "pong", "arguments": "{}"}}]}),
        a_frame({"tool_calls": [None, {"index": True}, {}]}),
    ]
    calls = read_answer(a_transcript(*map(as_event, frames))).tool_calls
    assert calls[:2] == (ToolCall("ping", '{"a":1}'), ToolCall("pong", "{}"))


@pytest.mark.parametrize(
    "frame",
    [
        {"error": {"code": 502, "message": "x"}, "choices": []},
        {"error": {"code": 502, "message": "x"}},
        a_frame(choices=[{"error": {"code": 502}, "finish_reason": "error"}]),
        {"error": "upstream closed"},
        {"object": "error", "message": "bad", "code": 400},
    ],
)
def test_errors_inside_a_stream_are_found(frame: object):
    """At top level, without choices, inside a choice, or as a bare string."""
    assert read_answer(a_transcript(as_event(a_frame({"content": "a"})), as_event(frame))).error is not None


def test_bare_json_error_after_a_stream_is_found():
    """An error glued on without `data:` still counts."""
    tail = b'{\n"error": {"code": 503, "message": "overloaded"}\n}\n'
    answer = read_answer(a_transcript(as_event(a_frame({"content": "Okay"})), tail))
    assert answer.error == {"code": 503, "message": "overloaded"}


@pytest.mark.parametrize("data", [b'{"message": "overloaded"}', b"overloaded"])
def test_event_named_error_is_an_error(data: bytes):
    """Some hosts say it in the name of the event alone."""
    answer = read_answer(a_transcript(b"event: error\ndata: " + data + b"\n\n"))
    assert answer.error == {"message": "overloaded"}


def test_html_inside_a_stream_is_told_from_a_broken_frame():
    """An edge's page sent as data."""
    answer = read_answer(a_transcript(b"data: <!DOCTYPE html><html></html>\n\n"))
    assert (answer.html_frames, answer.bad_frames) == (1, 0)


def test_another_choice_is_another_answer():
    """Only the choice of index 0 is read, wherever it stands in the list."""
    both = [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]
    reads = [as_event(a_frame(choices=both)), as_event(a_frame(choices=both[:1]))]
    assert read_answer(a_transcript(*reads)).text == "yes"


def test_error_in_the_text_is_text():
    """An error object that the answer speaks about is none."""
    assert an_answer('{"error": {"code": 429}}').error is None


@pytest.mark.parametrize(
    "frame",
    [
        {"choices": [], "prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}}}]},
        a_frame(choices=[{"delta": {}, "content_filter_results": {"violence": {"filtered": True}}}]),
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}},
    ],
)
def test_annotations_of_filters_are_read(frame: object):
    """What a filter says it removed; a category that is not filtered says nothing."""
    assert read_answer(a_transcript(as_event(frame))).filtered is not None
    harmless = json.dumps(frame).replace("true", "false").replace("SAFETY", "").replace("new_sensitive", "ok")
    assert read_answer(a_transcript(as_event(json.loads(harmless)))).filtered is None


@pytest.mark.parametrize(
    ("data", "bad", "keepalive"),
    [
        (b"data: : keepalive\n\n", 0, 1),
        (b"data: ping\n\n", 0, 1),
        (b"data: \n\n", 0, 0),
        (b"data: [DONE] \n\n", 0, 0),
        (b'data: {"id": "gen\n\n', 1, 0),
        (b"data: [1, 2]\n\n", 1, 0),
        (b"data: " + b'{"a":' * 100_000 + b"\n\n", 1, 0),
    ],
)
def test_data_that_is_no_frame_is_counted(data: bytes, bad: int, keepalive: int):
    """A keep-alive sent as data is told from a damaged frame."""
    answer = read_answer(a_transcript(data))
    assert (answer.bad_frames, answer.keepalive_frames) == (bad, keepalive)


@pytest.mark.parametrize(
    ("body", "form"),
    [
        (b"", Form.EMPTY),
        (b"  \n", Form.EMPTY),
        (b"<!DOCTYPE html><html></html>", Form.HTML),
        (b"upstream connect error", Form.OTHER),
        (b'{"choices":[{"mess', Form.BROKEN),
        (b"[1,2]", Form.OTHER),
        (b'{"a":' * 50_000, Form.BROKEN),
        (b'[{"error":{"code":400}}]', Form.DOCUMENT),
        (b"data: [DONE]\n\n", Form.STREAM),
        (b": hello\n\n", Form.STREAM),
    ],
)
def test_form_is_what_the_body_is(body: bytes, form: Form):
    """The body decides, not its headers."""
    assert read_answer(a_document(body)).form is form


def test_json_under_an_event_stream_header_is_a_document():
    """A host that promises a stream and sends one JSON body is read all the same."""
    body = json.dumps(a_message("A fig.")).encode()
    assert read_answer(a_document(body, headers=SSE)).text == "A fig."


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes), ("gzip", bytes)],
    ids=["gzip", "deflate", "identity", "decoded by the client"],
)
def test_content_encoding_is_undone(encoding: str, packed: object):
    """Also when the client has undone it already."""
    body = packed(json.dumps(a_message("A fig.")).encode())  # type: ignore[operator]
    headers = (("content-type", "application/json"), ("content-encoding", encoding))
    assert read_answer(a_document(body, headers=headers)).text == "A fig."


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b'{"a": 1}')[:-9]),
        ("gzip", b"\x1f\x8bgarbage"),
        ("br", b"\x8b\x02\x80"),
        ("identity", gzip.compress(b"{}")),
    ],
    ids=["half", "no gzip", "unknown", "undeclared"],
)
def test_content_encoding_that_does_not_decode_is_said(encoding: str, body: bytes):
    """Half a compressed body, an unknown encoding, an undeclared one."""
    assert read_answer(a_document(body, headers=(("content-encoding", encoding),))).form is Form.UNREADABLE


def test_decompression_is_bounded():
    """A small body that would inflate without end is not read."""
    bomb = gzip.compress(b"\n" * 80_000_000)
    assert read_answer(a_document(bomb, headers=(("content-encoding", "gzip"),))).form is Form.UNREADABLE


def test_lone_surrogates_are_kept():
    """Halves in two chunks stay halves; a pair in one string is one character."""
    assert an_answer("\ud83d", "\udc4b").text == "\ud83d\udc4b"
    assert len(read_answer(a_document(b'{"choices":[{"message":{"content":"\\ud83d\\udc4b"}}]}')).text) == 1


def test_whole_message_beside_the_deltas_is_not_read_twice():
    """A last chunk that repeats the message in full adds nothing."""
    frames = [a_frame({"content": "A fig."}), a_frame(choices=[{"message": {"content": "A fig."}}])]
    assert read_answer(a_transcript(*map(as_event, frames))).text == "A fig."


def test_bound_of_the_client_shows():
    """A capture that stopped at our own bound is marked."""
    assert read_answer(a_stream("A", ending=EndingKind.BOUND_EXCEEDED)).exceeded


@pytest.mark.parametrize(
    "frame",
    [
        {"choices": "x", "usage": [], "provider": 7, "model": None, "id": {}},
        {"choices": [[]], "created": True},
        {"choices": [{"delta": "x", "finish_reason": 7, "native_finish_reason": []}]},
        {"choices": [{"delta": {"tool_calls": "x", "reasoning_details": {"a": 1}, "refusal": []}}]},
        {"choices": {}, "error": 0, "openrouter_metadata": {"pipeline": "x"}},
        {"usage": {"completion_tokens": -1, "completion_tokens_details": []}},
        {"choices": [{"delta": {"content": {}}, "text": 5}]},
    ],
)
def test_members_of_wrong_type_are_passed_over(frame: object):
    """Hostile frames neither raise nor leave a trace."""
    answer = read_answer(a_transcript(as_event(frame), DONE))
    assert (answer.text, answer.error, answer.completion_tokens, answer.finish_reason) == (
        "",
        None,
        None,
        None,
    )
