"""What if the other side repeats our key to us?

An error may quote the request's headers. A transcript is kept for long and shown to many, so the key is
overwritten in it before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from routecanary.domain.redaction import SHORTEST
from routecanary.domain.secret import Secret
from routecanary.domain.transcript import Chunk, Transcript


def blackened(transcript: Transcript, key: Secret) -> Transcript:
    """Overwrite the key wherever an answer holds it, each character by an asterisk.

    A key that may be a word or a number in an ordinary answer is left: no gateway gives such a key, and
    asterisks in its place would make an answer look broken that is not.

    Returns:
        The same transcript where the key is not in it; otherwise one with the same reads, lengths and times.
    """
    plain = key.reveal()
    if len(plain) < SHORTEST or plain.isalpha():
        return transcript
    stars = "*" * len(plain)
    if any(plain in value for _, value in transcript.headers):
        headers = tuple((name, value.replace(plain, stars)) for name, value in transcript.headers)
        transcript = replace(transcript, headers=headers)
    whole = b"".join(chunk.data for chunk in transcript.chunks)  # it may lie across two reads
    if plain.encode() not in whole:
        return transcript
    return replace(
        transcript, chunks=_cut_like(transcript.chunks, whole.replace(plain.encode(), stars.encode()))
    )


def _cut_like(chunks: Sequence[Chunk], data: bytes) -> tuple[Chunk, ...]:
    """Lay data of the same length into the same reads."""
    cut = []
    start = 0
    for chunk in chunks:
        cut.append(Chunk(chunk.at_ms, data[start : start + len(chunk.data)]))
        start += len(chunk.data)
    return tuple(cut)
