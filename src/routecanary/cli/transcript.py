"""`routecanary transcript`: one stored answer, byte by byte or as it reads."""

from __future__ import annotations

import base64
import json as json_module
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.answer import Answer, read_answer
from routecanary.domain.archive import StoredTranscript
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.transcript import Chunk, EndingKind, Transcript
from routecanary.wiring import offline_records, settings_at

_PROBES: Final = {
    ProbeKind.CHAT: "any",
    ProbeKind.FILTER: "filtering",
    ProbeKind.STRUCTURED: "structured",
    ProbeKind.ANY: "any",
}
"""Which probe a case names, so that every contract that applies judges it."""


def transcript(
    id: str,  # noqa: A002 - the word that the list of attempts uses
    /,
    *,
    raw: bool = False,
    case: bool = False,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Show one stored answer: what was asked, what came and when, how it ended, what the contracts said.

    What a model wrote is printed escaped: it cannot move the cursor, colour, or pass for our own words.
    Exit code 1 where there is no such transcript.

    Parameters
    ----------
    id
        As `incidents show` names it.
    raw
        Every read from the socket, with its time, instead of the text.
    case
        Print it as a case file, which `routecanary judge` takes.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    with offline_records(settings, SystemClock()) as records:
        found = records.store.get(id)
    if found is None:
        complain(f"there is no transcript {id}: it was never kept, or is older than what is kept")
        return ExitCode.FINDING
    if case:
        say_json(_case(found))
    elif json:
        say_json(_document(found))
    else:
        for line in _lines(found, raw=raw):
            say(line)
    return ExitCode.OK


def _lines(found: StoredTranscript, *, raw: bool) -> Iterator[str]:
    entry, kept = found.entry, found.transcript
    yield f"transcript {entry.id}"
    yield f"{entry.model} {entry.route or ''} {entry.kind.value} {entry.locale or ''} attempt {entry.attempt}"
    yield f"asked at {instant(kept.started_at) or 'an unknown time'}, judged at {instant(entry.at)}"
    for name, said in sorted(entry.verdicts.items()):
        yield f"  {name} {said}, judge {said.version}: {said.detail}"
    yield ""
    yield f"request: {json_module.dumps(kept.request, ensure_ascii=False)}"
    yield ""
    yield f"status {kept.status}, ended by {kept.ending.kind.value} after {kept.ending.at_ms:.0f} ms"
    for header, value in kept.headers:
        yield f"  {header}: {value}"
    yield ""
    if raw:
        for chunk in kept.chunks:
            yield f"{chunk.at_ms:10.1f} ms  {_escaped(chunk.data)}"
        return
    answer = read_answer(kept)
    yield f"first text after {_ms(answer.first_text_ms)}, finish reason {answer.finish_reason}"
    for heading, text in _texts(answer):
        yield f"{heading}:"
        for line in text.split("\n"):
            yield f"  | {line}"


def _texts(answer: Answer) -> Iterator[tuple[str, str]]:
    if answer.reasoning:
        yield "reasoning", answer.reasoning
    if answer.refusal:
        yield "refusal", answer.refusal
    if answer.error is not None:
        yield "error", json_module.dumps(answer.error, ensure_ascii=False)
    if answer.body:
        yield "body", answer.body
    yield "text", answer.text


def _document(found: StoredTranscript) -> dict[str, Json]:
    entry, kept = found.entry, found.transcript
    answer = read_answer(kept)
    return {
        "id": entry.id,
        "at": instant(entry.at),
        "model": entry.model,
        "route": entry.route,
        "probe": entry.kind.value,
        "locale": entry.locale,
        "attempt": entry.attempt,
        "spec_version": kept.spec_version,
        "started_at": instant(kept.started_at),
        "verdicts": {
            name: {
                "verdict": said.kind.value,
                "kind": said.code,
                "reason": said.detail,
                "version": said.version,
            }
            for name, said in sorted(entry.verdicts.items())
        },
        "request": dict(kept.request),
        "status": kept.status,
        "headers": [[name, value] for name, value in kept.headers],
        "reads": [_read(chunk, "data") for chunk in kept.chunks],
        "ending": {
            "how": kept.ending.kind.value,
            "at_ms": kept.ending.at_ms,
            "detail": kept.ending.detail,
        },
        "connect_ms": kept.connect_ms,
        "headers_ms": kept.headers_ms,
        "first_text_ms": answer.first_text_ms,
        "lag_ms": kept.lag_ms,
        "text": answer.text,
        "reasoning": answer.reasoning,
        "refusal": answer.refusal,
        "finish_reason": answer.finish_reason,
    }


def _case(found: StoredTranscript) -> dict[str, Json]:
    """Write it as a case (tests/golden/cases/README.md); what a case cannot hold is left out."""
    entry, kept = found.entry, found.transcript
    how = kept.ending.kind
    return {
        "id": entry.id,
        "title": f"{entry.model} {entry.route or ''} {entry.kind.value} attempt {entry.attempt}",
        "probe": _PROBES[entry.kind],
        "expected_locale": entry.locale if entry.kind is ProbeKind.CHAT else None,
        "request": _sent(kept),
        "transcript": {
            "status": kept.status,
            "headers": dict(kept.headers),
            "events": [_read(chunk, "raw") for chunk in kept.chunks],
            "end": {
                "at_ms": kept.ending.at_ms,
                # we hung up: for a judge, nothing more came in our time
                "how": (EndingKind.CLIENT_TIMEOUT if how is EndingKind.BOUND_EXCEEDED else how).value,
            },
        },
    }


def _sent(kept: Transcript) -> dict[str, Json]:
    sent = dict(kept.request)
    if kept.started_at is not None:
        sent["sent_at_unix"] = int(kept.started_at.timestamp())
    return sent


def _read(chunk: Chunk, key: str) -> dict[str, Json]:
    """Write one read: as text where its bytes are UTF-8 by themselves, else as base64."""
    try:
        return {"at_ms": chunk.at_ms, key: chunk.data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"at_ms": chunk.at_ms, f"{key}_b64": base64.b64encode(chunk.data).decode("ascii")}


def _escaped(data: bytes) -> str:
    """Write bytes so that each can be told: text as it is, the rest as `\\xNN`."""
    return data.decode("utf-8", "backslashreplace")


def _ms(value: float | None) -> str:
    return "no time: there is none" if value is None else f"{value:.0f} ms"
