"""Which frames are taken by their text alone, and which are not."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from routecanary.domain.answer import read_answer
from routecanary.domain.reading import Reading
from routecanary.domain.shortcut import shortcut_of
from tests.answers import DONE, a_transcript


def read(text: str = " the", *, choice: object = None, delta: object = None, **beside: object) -> bytes:
    """Make a read of one frame, with something beside its text."""
    said = {"content": text, **({} if not isinstance(delta, dict) else delta)}
    chosen = {"index": 0, "delta": said, **({} if not isinstance(choice, dict) else choice)}
    return f"data: {json.dumps({'id': 'gen-1', 'choices': [chosen], **beside})}\n\n".encode()


@pytest.mark.parametrize(
    "frame",
    [
        read(),
        read(""),
        read('say "content", \\ and é'),
        read(choice={"finish_reason": None, "logprobs": None}, delta={"role": "assistant", "refusal": None}),
        read(usage={"completion_tokens": 5}, provider="Acme", created=1_790_000_000),
        read(delta={"reasoning": "", "tool_calls": []}),
        read().replace(b"data: ", b"data:").replace(b"\n", b"\r\n"),
    ],
)
def test_a_piece_of_text_has_a_shortcut(frame: bytes) -> None:
    """Nothing in it that would count twice if it came again."""
    shortcut = shortcut_of(frame)
    assert shortcut is not None
    assert shortcut.text_in(shortcut.head + b"\\u00e9*" + shortcut.tail) == "é*"


@pytest.mark.parametrize(
    "frame",
    [
        read(choice={"finish_reason": "stop"}),
        read(choice={"index": 1}),
        read(choice={"text": "x"}),
        read(choice={"message": {"role": "assistant"}}),
        read(delta={"reasoning": "hm"}),
        read(delta={"tool_calls": [{"index": 0}]}),
        read(delta={"content": [{"type": "text", "text": "x"}]}),
        read(error={"message": "x"}),
        read(object="error"),
        read().replace(b'"index"', b'"\\u0069ndex"'),
        read().replace(b'"delta": {', b'"delta": {"c\\u006fntent": " the", '),
        read().replace(b'"delta": {', b'"delta": {"content": " the", '),
        read().replace(b" the", b"\xff"),
        read() + read(),
        read()[:-1],
        b"event: error\n" + read(),
        b": comment\n\n",
        b"data: [DONE]\n\n",
        b'data: "content"\n\n',
        b"data:\n\n",
        b"",
        read("x" * 70_000),
    ],
)
def test_what_says_more_has_none(frame: bytes) -> None:
    """It ends the answer, stands beside its text, is misspelled, or is not one whole frame."""
    assert shortcut_of(frame) is None


def test_most_frames_of_a_usual_stream_are_not_parsed() -> None:
    """Of a hundred that differ in their text, a handful; each is counted, and the last in full."""
    pieces = [f" word {number}" for number in range(100)]
    reads = [*(read(piece) for piece in pieces), read("", choice={"finish_reason": "stop"}), DONE]
    with mock.patch.object(Reading, "take_frame", autospec=True, side_effect=Reading.take_frame) as parsed:
        answer = read_answer(a_transcript(*reads))
    assert (answer.text, answer.frames, answer.finish_reason) == ("".join(pieces), 101, "stop")
    assert parsed.call_count < 10


def test_frames_that_are_never_alike_are_given_up() -> None:
    """A host that counts its frames is not looked at twice for ever."""
    reads = [read(f" {number}", number=number) for number in range(100)]
    with mock.patch("routecanary.domain.answer.shortcut_of", side_effect=shortcut_of) as looked:
        assert read_answer(a_transcript(*reads)).frames == 100
    assert looked.call_count < 20
