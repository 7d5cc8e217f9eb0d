"""By which words does a verdict say what is wrong?

The words of the transcript cases (`tests/golden/cases/`). Besides them judges have words for what they could
not tell, such as `own_lag`; those stand beside their rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from routecanary.domain.verdict import VerdictKind

CASE_KINDS: Final[Mapping[VerdictKind, tuple[str, ...]]] = {
    VerdictKind.FAIL: (
        "latency",
        *("refusal", "content_filter", "empty", "reasoning_only", "truncated"),
        *("json_invalid", "json_fenced", "json_trailing", "json_schema", "json_double_encoded"),
        *("wrong_language", "language_switch", "language_mixing", "encoding"),
        *("corrupt_start", "special_token", "reasoning_leak", "tool_text", "repetition", "doubled_tokens"),
        *("lost_spaces", "byte_fallback", "replacement_char", "surrogate"),
        *("limit_ignored", "stop_ignored", "wrong_model", "cross_talk"),
    ),
    VerdictKind.INCONCLUSIVE: (
        *("provider_mismatch", "provider_unknown", "model_mismatch", "cached", "own_limit"),
        *("limit_semantics", "too_short", "single_token", "bad_frame", "reasoning_leak"),
    ),
    VerdictKind.TRANSPORT: (
        *("upstream_error", "rate_limit", "html_error", "connection", "stream_cut", "bad_frame"),
        "content_encoding",
    ),
    VerdictKind.ACCOUNT: ("auth", "credits", "quota", "config", "region", "blocked"),
}
"""Verdict → its kinds, in the order of the cases' README."""

CASE_VERDICTS: Final = frozenset(
    f"{verdict}:{kind}" for verdict, kinds in CASE_KINDS.items() for kind in kinds
)
"""The same as verdicts print themselves: `fail:refusal`."""
