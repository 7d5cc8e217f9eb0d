"""Which transcripts say nothing of a route's quality, before any contract looks at them?

Transport faults, faults of our own account, answers from elsewhere. Text that came in time keeps the
latency contract in the game even if the stream breaks later; every other contract needs the whole answer.

Source: product.md §2 (latency); policy.md, verdicts; openrouter-wire.md §3.3, §4.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from routecanary.domain.answer import Answer, Form
from routecanary.domain.names import FILTERING, LATENCY, ContractName
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import EndingKind
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.completeness import is_closed
from routecanary.judge.contract import Finding, unsure
from routecanary.judge.gateway_errors import FILTERED, classify_error
from routecanary.judge.provenance import is_failure, other_host, other_model, replayed
from routecanary.judge.settings import Settings
from routecanary.judge.vocabulary import words

# Finish words that mean the provider broke off, whatever the text so far (filtering.md §2).
_BROKEN_OFF: Final = words("""
    error network_error server_error abort aborted cancelled canceled insufficient_system_resource other
    malformed_response malformed_function_call unexpected_tool_call language no_image
""")
_ALTERING: Final = frozenset(
    {"response_healing", "response-healing", "context_compression", "context-compression"}
)


class Triage(NamedTuple):
    """What triage says in place of the contracts; those in `spared` judge for themselves."""

    finding: Finding
    spared: frozenset[ContractName] = frozenset()
    # Verdicts of single contracts that differ from `finding`.
    instead: Mapping[ContractName, Finding] = {}


def triage(answer: Answer, settings: Settings) -> Triage | None:
    """Decide a transcript that no contract should judge; None lets the contracts at it."""
    transcript = answer.transcript
    if transcript.status is None:
        return Triage(_transport("connection", f"no HTTP answer: {transcript.ending.kind}"))
    started = _latency_spared(answer, settings)
    if not 200 <= transcript.status < 300:
        return _error(answer, frozenset())
    if answer.form is Form.UNREADABLE:
        return Triage(_transport("content_encoding", "the body does not decode as its encoding says"))
    if answer.form is Form.EMPTY and transcript.ending.kind is EndingKind.EOF:
        return Triage(_transport("upstream_error", "HTTP 200 and not one byte"))
    if answer.form is Form.HTML:
        return Triage(_transport("html_error", "an HTML page in place of an answer"))
    if answer.form is Form.OTHER:
        return Triage(_transport("bad_frame", "the body is neither a stream nor a JSON object"))
    if answer.form is Form.BROKEN:
        word = "stream_cut" if answer.cut_document else "bad_frame"
        return Triage(_transport(word, "the JSON body does not parse"))
    asked = answer.asked
    model = other_model(answer, asked)
    elsewhere = replayed(answer) or other_host(answer, asked) or (None if is_failure(model) else model)
    if elsewhere is not None:
        return Triage(elsewhere)
    altered = _ALTERING.intersection(answer.pipeline)
    if altered:
        return Triage(unsure("altered", f"the gateway applied {', '.join(sorted(altered))}"))
    if answer.error is not None:
        return _error(answer, started)
    return _ending(answer, started)


def _error(answer: Answer, spared: frozenset[ContractName]) -> Triage | None:
    finding = classify_error(answer)
    if finding is None:
        return None
    if finding.code != FILTERED:
        return Triage(finding, spared)
    if answer.transcript.kind in (ProbeKind.FILTER, ProbeKind.ANY):
        return Triage(unsure(FILTERED, finding.detail), spared, {FILTERING: finding})
    # A harmless probe that a filter flags is a probe to be changed (openrouter-wire.md §4.5).
    return Triage(Finding(VerdictKind.ACCOUNT, "config", finding.detail), spared)


def _ending(answer: Answer, spared: frozenset[ContractName]) -> Triage | None:
    transcript = answer.transcript
    ending = transcript.ending.kind
    if (answer.finish_reason or "").lower() in _BROKEN_OFF:
        return Triage(_transport("upstream_error", f"finish_reason {answer.finish_reason!r}"), spared)
    if answer.html_frames:
        return Triage(_transport("html_error", "an HTML page inside the stream"), spared)
    if answer.bad_frames:
        detail = f"{answer.bad_frames} frame(s) that are no JSON object: text may be missing"
        return Triage(_transport("bad_frame", detail), spared)
    if answer.exceeded:
        return Triage(unsure("own_limit", "longer than we were willing to read"), spared)
    if not answer.complete:
        word = "connection" if ending is EndingKind.RESET else "stream_cut"
        return Triage(_transport(word, f"ended ({ending}) without finish_reason or [DONE]"), spared)
    unfinished = answer.finish_reason is None and answer.form is Form.STREAM and not answer.tool_calls
    if unfinished and not (answer.has_text and is_closed(answer.text)):
        # A gateway adds [DONE] by itself after a cut: that is no word of the host's.
        return Triage(
            _transport("stream_cut", "[DONE] without finish_reason after an unfinished text"), spared
        )
    return None


def _latency_spared(answer: Answer, settings: Settings) -> frozenset[ContractName]:
    """Spare latency when its window has said enough: text came, or the window passed without any."""
    waited = answer.transcript.ending.at_ms > settings.latency_limit_ms
    if answer.first_text_ms is not None or (waited and answer.error is None):
        return frozenset({LATENCY})
    return frozenset()


def _transport(code: str, detail: str) -> Finding:
    return Finding(VerdictKind.TRANSPORT, code, detail)
