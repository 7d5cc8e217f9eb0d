"""The judges: whatever arrives, nothing raises, nothing is nondeterministic, and noise convicts nobody."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from routecanary.domain.answer import Form, read_answer
from routecanary.domain.names import LATENCY, Locale
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import EndingKind, Transcript
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.examine import judge_transcript
from routecanary.judge.lecture import lecture_score
from routecanary.judge.narration import narration_of
from routecanary.judge.prose import without_code
from routecanary.judge.refusal import refusal_score
from routecanary.judge.refusals.tables import shipped_tables
from routecanary.judge.start import spoiled_start
from routecanary.judge.vocabulary import words
from routecanary.judge.voice import narrator
from tests.answers import DONE, JSON, SSE, a_frame, a_request, a_stream, a_transcript, an_ask, as_event

CRASHED = "inconclusive:judge_crashed"
# The machine may be busy: how long an example takes says nothing.
UNTIMED = settings(deadline=None)

KINDS = st.sampled_from(list(ProbeKind))
LOCALES = st.sampled_from(["en", "pt-BR", "th", "ja", "ru", "zh-Hans", "eu", None])
STATUSES = st.sampled_from(
    [None, 200, 200, 200, 204, 301, 400, 401, 402, 403, 404, 418, 429, 500, 502, 524, 529]
)
ENDINGS = st.sampled_from(list(EndingKind))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    sorted(
        words("""
            id model provider choices delta message content reasoning refusal tool_calls finish_reason error
            code metadata raw usage completion_tokens type text index function name arguments status
            limit_source
        """)
    )
)
REQUEST_MEMBERS = st.sampled_from(
    ["model", "messages", "provider", "stop", "tools", "max_tokens", "response_format"]
)
FRAMES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=6),
    max_leaves=20,
)
SCRIPTS = st.sampled_from(
    [
        *("abcDE ", "é ", "ñ", "ção ", "你好", "こんにちは", "한국 ", "русский ", "ไทย", "العربية "),
        *tuple('.,!?"“”*_<>/|\\\n `{}[]😀\ufffd\u200b'),
    ]
)
TEXTS = st.lists(SCRIPTS, max_size=60).map("".join)


def judged(transcript: Transcript) -> dict[str, str]:
    return {name: str(verdict) for name, verdict in judge_transcript(transcript).items()}


HEADERS = st.sampled_from(
    [SSE, JSON, (), (("content-encoding", "gzip"),), (("content-encoding", "deflate"),)]
)
NOISE = st.builds(
    lambda reads, **about: a_transcript(*reads, **about),
    reads=st.lists(st.binary(max_size=80), max_size=6),
    status=STATUSES,
    ending=ENDINGS,
    kind=KINDS,
    locale=LOCALES,
    headers=HEADERS,
)


@UNTIMED
@given(transcript=NOISE)
def test_noise_convicts_nobody(transcript: Transcript):
    """Random bytes are transport or account, whatever their status; no evidence of any quality."""
    found = judge_transcript(transcript)
    assert found == judge_transcript(transcript)
    allowed = {VerdictKind.TRANSPORT, VerdictKind.ACCOUNT}
    if transcript.ending.kind is EndingKind.BOUND_EXCEEDED:
        allowed.add(VerdictKind.INCONCLUSIVE)  # our own bound
    assert {verdict.kind for verdict in found.values()} <= allowed


@UNTIMED
@given(frames=st.lists(FRAMES, max_size=6), kind=KINDS, locale=LOCALES, status=STATUSES)
def test_hostile_frames_never_raise(
    frames: list[Any], kind: ProbeKind, locale: str | None, status: int | None
):
    """Frames of any shape are judged, alike each time, and no judge crashes."""
    transcript = a_transcript(*map(as_event, frames), DONE, kind=kind, locale=locale, status=status)
    found = judged(transcript)
    assert found == judged(transcript)
    assert CRASHED not in found.values()


@given(
    text=TEXTS,
    kind=KINDS,
    locale=LOCALES,
    finish=st.sampled_from(["stop", "length", "content_filter", "odd"]),
)
@settings(max_examples=150, deadline=None)
def test_hostile_text_never_crashes_a_judge(text: str, kind: ProbeKind, locale: str | None, finish: str):
    """Any mixture of scripts, quotes, fences and mark-up."""
    assert (
        "inconclusive:judge_crashed"
        not in judged(a_stream(text, kind=kind, locale=locale, finish=finish)).values()
    )


@UNTIMED
@given(request=st.dictionaries(REQUEST_MEMBERS, VALUES | FRAMES), kind=KINDS)
def test_hostile_requests_never_crash_a_judge(request: dict[str, Any], kind: ProbeKind):
    """A stored request may have any shape."""
    assert CRASHED not in judged(a_stream("A fig.", kind=kind, request=request)).values()


@UNTIMED
@given(
    data=st.data(),
    pieces=st.lists(
        st.sampled_from(["The ", "ferry ", "waits. ", "“Yes,” ", "she said. ", "\n"]), min_size=1
    ),
)
def test_borders_of_deltas_and_reads_change_nothing(data: st.DataObject, pieces: list[str]):
    """The joined text is judged: the same text in other deltas and reads has the same verdicts."""
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = judged(a_stream(text, kind=ProbeKind.ANY))
    assert judged(a_stream(*parts, kind=ProbeKind.ANY)) == whole
    deltas = b"".join(as_event(a_frame({"content": part})) for part in parts)
    stream = deltas + as_event(a_frame(finish="stop")) + DONE
    assert judged(a_transcript(stream, kind=ProbeKind.ANY)) == whole


@UNTIMED
@given(body=st.binary(max_size=200))
def test_reading_names_every_body(body: bytes):
    """Whatever came, it has a form, and text only where a frame held it."""
    answer = read_answer(a_transcript(body))
    assert answer.form in Form
    assert answer.frames or not answer.text


@UNTIMED
@given(text=st.text(max_size=200))
def test_text_rules_are_total(text: str):
    """The rules over text take any string."""
    narration = narration_of(narrator(text).narration, len(text))
    refusal_score(narration, shipped_tables())
    lecture_score(narration, shipped_tables())
    without_code(text)
    spoiled_start(text, an_ask(opening="*"), Locale("en"))


@UNTIMED
@given(late=st.floats(10_001, 29_000), early=st.floats(0, 10_000))
def test_later_text_is_never_better(late: float, early: float):
    """Latency is monotone in the arrival of the first text."""
    request = a_request(provider=None)
    assert judged(a_stream("A fig.", first_ms=early, request=request))[LATENCY] == "pass"
    assert judged(a_stream("A fig.", first_ms=late, request=request))[LATENCY] == "fail:latency"


def test_frames_are_valid_json():
    """The strategy of frames makes what the wire could carry."""
    assert json.loads(as_event(a_frame({"content": "é"}))[6:])["choices"][0]["delta"]["content"] == "é"
