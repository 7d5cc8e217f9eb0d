"""A key that the other side repeats is not kept."""

from __future__ import annotations

import pytest

from routecanary.adapters.gateway.blacken import blackened
from routecanary.domain.probe import ProbeKind
from routecanary.domain.secret import Secret
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript

KEY = Secret("sk-or-v1-secret")
STARS = b"***************"


def a_transcript(*reads: bytes, headers: tuple[tuple[str, str], ...] = ()) -> Transcript:
    return Transcript(
        model=None,
        route=None,
        kind=ProbeKind.ANY,
        locale=None,
        request={},
        status=401,
        headers=headers,
        chunks=tuple(Chunk(float(number), data) for number, data in enumerate(reads)),
        ending=Ending(kind=EndingKind.EOF, at_ms=9.0),
    )


@pytest.mark.parametrize(
    ("reads", "kept"),
    [
        ([b'{"key": "sk-or-v1-secret"}'], [b'{"key": "' + STARS + b'"}']),
        ([b"sk-or-v1-secretsk-or-v1-secret"], [STARS * 2]),
        ([b"a sk-or", b"", b"-v1-", b"secret b"], [b"a *****", b"", b"****", b"****** b"]),
        ([b"sk-or-v1-secre", b"x"], [b"sk-or-v1-secre", b"x"]),
        ([], []),
    ],
)
def test_the_key_is_overwritten_in_its_place(reads: list[bytes], kept: list[bytes]) -> None:
    """Also where it lies across reads, whose lengths and times stay as they were."""
    transcript = a_transcript(*reads)
    black = blackened(transcript, KEY)
    assert [chunk.data for chunk in black.chunks] == kept
    assert [chunk.at_ms for chunk in black.chunks] == [chunk.at_ms for chunk in transcript.chunks]
    assert [len(chunk.data) for chunk in black.chunks] == list(map(len, reads))


def test_the_key_is_overwritten_in_headers() -> None:
    """The other headers stay."""
    headers = (("x-asked-with", "Bearer sk-or-v1-secret"), ("server", "x"))
    assert blackened(a_transcript(headers=headers), KEY).headers == (
        ("x-asked-with", "Bearer " + STARS.decode()),
        ("server", "x"),
    )


@pytest.mark.parametrize("key", ["a", "rain", "weather", "12", "été"])
def test_a_key_that_is_a_word_is_left_in_the_answer(key: str) -> None:
    """Somebody who tries things out with a key of one letter must not see every route fail."""
    transcript = a_transcript(f"data: a weather of 12 rains, été {key}".encode())
    assert blackened(transcript, Secret(key)) is transcript


def test_what_holds_no_key_is_left_alone() -> None:
    """The very same transcript comes back: nothing is copied."""
    transcript = a_transcript(b"data: hello\n\n", headers=(("server", "x"),))
    assert blackened(transcript, KEY) is transcript
