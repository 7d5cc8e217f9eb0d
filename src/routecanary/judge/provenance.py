"""Who answered: the pinned host, with the asked model, afresh?

Source: openrouter-wire.md §0, §1.4, §3.2, §7; rule 5 of the transcript cases.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.contract import Finding, fail, unsure

_STALE_SECONDS: Final = 600  # an answer created this long before it was asked for is a replay
_LETTERS_AND_DIGITS: Final = re.compile(r"[^a-z0-9]+")
_SIZE: Final = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])")
_SNAPSHOT: Final = re.compile(
    r"(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{4}|latest)"
    r"|[-_](?:fp\d{1,2}|bf16|int[48]|[mn]\w?fp4|awq|gptq|q\d\w*))$"
)
_HIT: Final = re.compile(r"(?<![a-z])hit(?![a-z])")
_NOT_THE_ANSWERS: Final = (
    "prompt",
    "prefix",
    "kv",
    "control",
    "-key",
    "-ttl",
    "-tag",
)  # of other caches, or no state

# Display names whose slug is spelled otherwise (openrouter-wire.md §1.4), letters and digits only.
_SLUG_OF: Final = {
    "google": "googlevertex",
    "mancer2": "mancer",
}


def replayed(answer: Answer) -> Finding | None:
    """Find the marks of an answer that comes out of a cache."""
    for name, value in answer.transcript.headers:
        if "cache" in name and not any(word in name for word in _NOT_THE_ANSWERS):
            word = value.strip().lower()
            if _HIT.search(word) or (name.endswith("hit") and word in ("true", "1", "yes")):
                return unsure("cached", f"header {name}: {value}")
    started = answer.transcript.started_at
    if started is not None and answer.created is not None and answer.created > 1_500_000_000:
        age = started.timestamp() - answer.created
        if age > _STALE_SECONDS:
            return unsure("cached", f"created {age:.0f} s before the request was sent")
    return None


def other_host(answer: Answer, asked: Asked) -> Finding | None:
    """Compare the providers named in the answer with the pin."""
    allowed = answer.transcript.provider_names or frozenset(asked.pins)
    if not allowed or not answer.providers:
        return None
    known = {_host(name) for name in allowed}
    strangers = [name for name in answer.providers if _host(name) not in known]
    if not strangers:
        return None
    return unsure("provider_mismatch", f"pinned to {', '.join(sorted(allowed))}, answered by {strangers[0]}")


def unknown_host(answer: Answer, asked: Asked) -> Finding | None:
    """Say that a pinned answer names nobody, so that the pin cannot be confirmed."""
    if (answer.transcript.provider_names or asked.pins) and not answer.providers:
        return unsure("provider_unknown", "the answer names no provider")
    return None


def other_model(answer: Answer, asked: Asked) -> Finding | None:
    """Compare the models named in the answer with the one asked for.

    Only a stated size that differs is proof; any other foreign name may be an alias we do not know.
    """
    allowed = answer.transcript.accepted_models or frozenset([asked.model] if asked.model else [])
    if not allowed or not answer.models:
        return None
    known = {_model(name) for name in allowed}
    strangers = [name for name in answer.models if _model(name) not in known]
    if not strangers:
        return None
    detail = f"asked for {', '.join(sorted(allowed))}, answered by {strangers[0]}"
    sizes = {size for name in allowed for size in _SIZE.findall(name.lower())}
    others = [set(_SIZE.findall(name.lower())) for name in strangers]
    if len(strangers) == len(answer.models) and sizes and all(o and not o & sizes for o in others):
        return fail("wrong_model", detail)
    return unsure("model_mismatch", detail)


def is_failure(finding: Finding | None) -> bool:
    return finding is not None and finding.kind is VerdictKind.FAIL


def _host(name: str) -> str:
    """Fold a display name, slug or tag to what they have in common: `hosta/fp8`, `HostA` → `hosta`."""
    base = _LETTERS_AND_DIGITS.sub("", name.lower().split("/", 1)[0])
    return _SLUG_OF.get(base, base)


def _model(name: str) -> str:
    """Fold a model id: no author, no variant, no precision, no snapshot date."""
    base = name.strip().lower().rsplit("/", 1)[-1].split(":", 1)[0]
    return _SNAPSHOT.sub("", _SNAPSHOT.sub("", base))
