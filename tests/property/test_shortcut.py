"""A read that is taken by its text alone adds what it would have added read in full."""

from __future__ import annotations

import json
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from routecanary.domain import answer
from routecanary.domain.answer import read_answer
from routecanary.domain.shortcut import shortcut_of
from tests.answers import a_transcript

TEXTS = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["", " the", '"content"', "\\", "\u2028", "\ud800", "é", "content_filter", "[DONE]"]),
)
WORTH = st.sampled_from([None, "", [], {}, 0, False, "stop", {"a": 1}, "content"])


@st.composite
def frames(draw: st.DrawFn) -> str:
    """Draw a frame, mostly of one kind, with what hosts put beside the text, and some that are malformed."""
    delta: dict[str, object] = {"content": draw(TEXTS)}
    frame: dict[str, object] = {"id": "gen-1", "model": draw(st.sampled_from(["m", "m", "m", "n"]))}
    for key in draw(st.lists(st.sampled_from(["role", "reasoning", "refusal", "tool_calls"]), max_size=1)):
        delta[key] = draw(WORTH)
    choice: dict[str, object] = {"index": draw(st.sampled_from([0, 0, 0, None, 1])), "delta": delta}
    for key in draw(st.lists(st.sampled_from(["finish_reason", "logprobs", "text", "message"]), max_size=1)):
        choice[key] = draw(WORTH)
    for key in draw(st.lists(st.sampled_from(["usage", "error", "object", "base_resp"]), max_size=1)):
        frame[key] = draw(WORTH)
    frame["choices"] = [choice] * draw(st.sampled_from([1, 1, 1, 0, 2]))
    line = json.dumps(frame, ensure_ascii=draw(st.booleans()))
    if draw(st.integers(0, 19)) == 0:
        line = line.replace('"content": ', '"c\\u006fntent": "x", "content": ', 1)
    return line


@st.composite
def streams(draw: st.DrawFn) -> list[bytes]:
    """Draw the reads of a stream: frames that come again with another text, in reads of their own or not."""
    models = draw(st.lists(frames(), min_size=1, max_size=3))
    reads: list[bytes] = []
    for _ in range(draw(st.integers(1, 12))):
        line = draw(st.sampled_from(models))
        if draw(st.booleans()):
            frame = json.loads(line)
            for choice in frame["choices"]:
                choice["delta"]["content"] = draw(TEXTS)
            line = json.dumps(frame, ensure_ascii=draw(st.booleans()))
        end = draw(st.sampled_from(["\n\n"] * 6 + ["\r\n\r\n", "\n", "\r\r", ""]))
        head = draw(st.sampled_from(["data: "] * 6 + ["data:", "", ": ", "event: error\ndata: ", "x"]))
        reads.append((head + line + end).encode("utf-8", "surrogatepass"))
    cut = draw(st.integers(0, 40))
    if cut < len(reads[-1]):
        reads[-1:] = [reads[-1][:cut], reads[-1][cut:]]
    return reads


def in_full(_: bytes) -> None:
    """Find nothing in common: every read is read in full."""


@given(streams())
def test_an_answer_reads_the_same_by_the_shortcut_and_in_full(reads: list[bytes]) -> None:
    """Text, names, usage, errors, notes of filters, counts and times: all of it."""
    transcript = a_transcript(*reads)
    short = read_answer(transcript)
    with mock.patch.object(answer, "shortcut_of", in_full):
        assert short == read_answer(transcript)


@given(frames(), TEXTS)
def test_a_read_that_is_taken_by_its_text_holds_that_text(line: str, text: str) -> None:
    """What is found in common leads back to the text of the frame, and to that of its like."""
    read = f"data: {line}\n\n".encode("utf-8", "surrogatepass")
    shortcut = shortcut_of(read)
    if shortcut is not None:
        assert shortcut.text_in(read) == json.loads(line)["choices"][0]["delta"]["content"]
        other = shortcut.head + json.dumps(text)[1:-1].encode() + shortcut.tail
        assert shortcut.text_in(other) == text
        assert shortcut.text_in(read[:-1]) is None
        assert shortcut.text_in(shortcut.head + b'x"' + shortcut.tail) is None
