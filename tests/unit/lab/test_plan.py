"""How an answer becomes frames and bytes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routecanary.domain.sse import SseDecoder
from routecanary.lab.plan import cut_to_limits, token_count
from routecanary.lab.stream import Frame, Stream, usage_of, whole_body
from routecanary.lab.wire import wire_of
from tests.lab import SCENES, a_body, a_request, a_route, an_answer

STOPPING = (
    SCENES["en"] + " Then write CURTAIN on a line of its own, and below it one sentence by the narrator."
)


def test_a_stream_has_the_documented_order() -> None:
    """Comment, role, text, finish, usage without choices, [DONE]; the text is whole."""
    answer = an_answer(a_route(), a_body(SCENES["th"]))
    decoder = SseDecoder()
    events = [event.data for event in decoder.feed(b"".join(piece.data for piece in answer.wire().pieces))]
    assert decoder.comments == 1
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == token_count(answer.planned.text)
    assert "".join(c["choices"][0]["delta"]["content"] for c in chunks[:-1]) == answer.planned.text
    assert len({(chunk["id"], chunk["model"], chunk["provider"], chunk["created"]) for chunk in chunks}) == 1


def test_times_never_go_back() -> None:
    """Pieces come in order, the first text after the route's delay."""
    answer = an_answer(a_route())
    times = [piece.at for piece in answer.wire().pieces]
    assert times == sorted(times)
    assert answer.planned.first_text in times


@pytest.mark.parametrize(
    ("stop", "limit", "text", "finish"),
    [
        ((), None, "one two three four", "stop"),
        (("three",), None, "one two ", "stop"),
        (("three", "two"), None, "one ", "stop"),
        (("absent",), None, "one two three four", "stop"),
        ((), 6, "one two three four", "stop"),
        ((), 5, "one two three f", "length"),
        ((), 1, "one", "length"),
        (("two",), 2, "one ", "stop"),
    ],
)
def test_stop_and_limit_are_honoured(
    stop: tuple[str, ...], limit: int | None, text: str, finish: str
) -> None:
    """The text ends before the stop word, or at the limit with finish reason `length`."""
    planned = replace(an_answer(a_route()).planned, text="one two three four")
    cut = cut_to_limits(planned, stop, limit)
    assert (cut.text, cut.finish) == (text, finish)


def test_a_wanted_stop_word_ends_a_sound_answer() -> None:
    """The same scene as without the word, ending where the word would stand."""
    plain = an_answer(a_route(), a_body(SCENES["en"])).planned
    stopped = an_answer(a_route(), a_body(STOPPING, stop=["CURTAIN"])).planned
    assert stopped.text.rstrip() == plain.text
    assert (stopped.finish, stopped.native_finish) == ("stop", "stop")


def test_a_host_that_is_deaf_to_stop_words_goes_on_to_the_afterword() -> None:
    """It writes the word on a line of its own, and a sentence below."""
    body = a_body(STOPPING, stop=["CURTAIN"])
    request, answer = a_request(body), an_answer(a_route(), body)
    whole = replace(answer.planned, heeds_stop=False, text=f"{answer.planned.text}CURTAIN\n\nGood night.")
    assert cut_to_limits(whole, request.stop, None) is whole
    assert cut_to_limits(replace(whole, heeds_stop=True), request.stop, None).text == answer.planned.text


def test_a_stop_word_that_the_prompt_does_not_want_is_not_written() -> None:
    """Stop words are a client's own affair; the prompt says whether one ends the scene."""
    assert (
        an_answer(a_route(), a_body(SCENES["en"], stop=["CURTAIN"])).planned
        == an_answer(a_route(), a_body(SCENES["en"])).planned
    )


@given(text=st.text(max_size=60), limit=st.integers(1, 20))
def test_a_limit_leaves_a_prefix_within_it(text: str, limit: int) -> None:
    """Whatever the text, what is left is a prefix within the limit."""
    planned = replace(an_answer(a_route()).planned, text=text)
    cut = cut_to_limits(planned, (), limit).text
    assert text.startswith(cut)
    assert token_count(cut) <= limit


def test_an_answer_that_is_no_stream_says_the_same() -> None:
    """The whole body carries the text, the finish reason and the same usage."""
    answer = an_answer(a_route())
    body = whole_body(answer.planned, answer.envelope)
    assert body["choices"][0]["message"]["content"] == answer.planned.text
    assert body["usage"] == usage_of(answer.planned, answer.envelope)
    assert body["object"] == "chat.completion"


def test_a_lone_surrogate_travels_as_an_escape() -> None:
    """A fault may want one; the bytes stay UTF-8 and the JSON keeps it."""
    data = wire_of(Stream(frames=(Frame(0.0, {"text": "\ud800ok"}),))).pieces[0].data
    assert json.loads(data.decode()[6:]) == {"text": "\ud800ok"}
