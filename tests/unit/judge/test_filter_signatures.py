"""How hosts filter: each wire signature has its verdict, and the nearest innocent look-alike none.

The rows are those of the maintainers' notes (filtering.md §2), a host or an engine a row; words and codes are
the hosts', everything else is ours.
"""

from __future__ import annotations

from typing import Any

import pytest

from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind
from routecanary.domain.transcript import Transcript
from tests.answers import a_document, a_frame, a_message, a_transcript, as_event, said

SCENE = "The guard lowered his lantern. The rain went on, and nobody spoke for a while."
CUT = "The guard lowered his"
FILTER = {"kind": ProbeKind.FILTER}


def answered(text: str | None = None, finish: str | None = "stop", **beside: Any) -> Transcript:
    """A whole answer; `beside` goes into the choice."""
    body = a_message(text, finish)
    body["choices"][0].update(beside)
    return a_document(body, **FILTER)


def refused(status: int, error: Any, **beside: Any) -> Transcript:
    """An HTTP error with its body."""
    return a_document({"error": error, **beside}, status=status, **FILTER)


def streamed(*frames: Any) -> Transcript:
    return a_transcript(*map(as_event, frames), **FILTER)


def categories(*, filtered: bool) -> dict[str, Any]:
    return {"violence": {"filtered": filtered, "severity": "medium" if filtered else "safe"}}


SIGNATURES = {
    "finish word, empty": (answered("", "content_filter"), "fail:content_filter"),
    "finish word, cut": (answered(CUT, "content_filter"), "fail:content_filter"),
    "finish word, null": (answered(None, "content_filter"), "fail:content_filter"),
    "refusal field": (
        a_document(a_message(None, refusal="I can't assist with that."), **FILTER),
        "fail:refusal",
    ),
    "refusal streamed": (
        streamed(a_frame({"refusal": "I can't "}), a_frame({"refusal": "help."}), a_frame(finish="stop")),
        "fail:refusal",
    ),
    "azure, prompt": (
        refused(400, {"code": "content_filter", "message": "The response was filtered due to the prompt."}),
        "fail:content_filter",
    ),
    "azure, category": (
        answered(CUT, "stop", content_filter_results=categories(filtered=True)),
        "fail:content_filter",
    ),
    "azure, flag in a later frame": (
        streamed(
            a_frame({"content": SCENE}),
            a_frame(finish="stop"),
            a_frame(
                choices=[], prompt_filter_results=[{"content_filter_results": categories(filtered=True)}]
            ),
        ),
        "fail:content_filter",
    ),
    "openrouter, flagged input": (
        refused(
            403,
            {
                "code": 403,
                "message": "flagged",
                "metadata": {"reasons": ["violence"], "flagged_input": "a word", "provider_name": "HostA"},
            },
        ),
        "fail:content_filter",
    ),
    "native word decides": (answered("", "stop", native_finish_reason="SAFETY"), "fail:content_filter"),
    "normalised word decides": (
        answered("", "content_filter", native_finish_reason="STOP"),
        "fail:content_filter",
    ),
    "nothing counted": (
        a_document({**a_message("", "content_filter"), "usage": {"completion_tokens": 0}}, **FILTER),
        "fail:content_filter",
    ),
    "prompt feedback": (
        a_document({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "choices": []}, **FILTER),
        "fail:content_filter",
    ),
    **{
        f"gemini {word}": (answered(None, word), "fail:content_filter")
        for word in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR")
    },
    "anthropic stop reason": (
        answered(CUT, None, stop_reason="refusal", stop_details={"category": "violence"}),
        "fail:content_filter",
    ),
    "anthropic error": (
        refused(
            400, {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}
        ),
        "fail:content_filter",
    ),
    "anthropic error, mid-stream": (
        streamed(
            a_frame({"content": CUT}),
            {"error": {"type": "api_error", "message": "Output blocked by content filtering policy"}},
        ),
        "fail:content_filter",
    ),
    "bedrock intervened": (answered(None, "guardrail_intervened"), "fail:content_filter"),
    "bedrock filtered": (answered(CUT, "content_filtered"), "fail:content_filter"),
    "bedrock text": (answered("Sorry, the model cannot answer this question."), "fail:content_filter"),
    "deepseek": (
        refused(400, {"message": "Content Exists Risk", "type": "invalid_request_error"}),
        "fail:content_filter",
    ),
    "deepseek chat": (
        answered("灯光渐渐暗了下来。你好，这个问题我暂时无法回答，让我们换个话题再聊聊吧。"),
        "fail:content_filter",
    ),
    "alibaba": (
        refused(
            400,
            {
                "code": "data_inspection_failed",
                "message": "Output data may contain inappropriate content.",
            },
        ),
        "fail:content_filter",
    ),
    "alibaba, camel case": (
        refused(400, {"code": "DataInspectionFailed", "message": "x"}),
        "fail:content_filter",
    ),
    "zhipu code": (refused(400, {"code": "1301", "message": "敏感内容"}), "fail:content_filter"),
    "zhipu finish": (answered("", "sensitive"), "fail:content_filter"),
    "moonshot": (
        refused(
            400,
            {
                "type": "content_filter",
                "message": "The request was rejected because it was considered high risk",
            },
        ),
        "fail:content_filter",
    ),
    "minimax": (
        a_document(
            {"choices": None, "base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}},
            **FILTER,
        ),
        "fail:content_filter",
    ),
    "xai": (
        refused(
            403,
            "Content violates usage guidelines. Team: t. Failed check: SAFETY_CHECK_TYPE_BIO",
        ),
        "fail:content_filter",
    ),
    "stop and no text": (answered("", "stop"), "fail:empty"),
    "stop, billed and no text": (
        a_document({**a_message(""), "usage": {"completion_tokens": 412}}, **FILTER),
        "fail:empty",
    ),
    "answer in the reasoning": (
        a_document(a_message(None, reasoning=SCENE), **FILTER),
        "fail:reasoning_only",
    ),
    "responses, incomplete": (
        a_document({**a_message(CUT), "incomplete_details": {"reason": "content_filter"}}, **FILTER),
        "fail:content_filter",
    ),
    "apology, streamed": (
        streamed(
            a_frame({"content": CUT}),
            a_frame({"content": "Sorry.", "hiddenText": SCENE, "contentOrigin": "Apology"}),
            a_frame(finish="stop"),
        ),
        "fail:content_filter",
    ),
    "apology in place of the answer": (
        a_document(
            a_message("My apologies, I have to stop here.", hiddenText=SCENE, contentOrigin="Apology"),
            **FILTER,
        ),
        "fail:content_filter",
    ),
}

LOOK_ALIKES = {
    "nothing filtered": (answered(SCENE, content_filter_results=categories(filtered=False)), "pass"),
    "a prompt that was looked at": (
        streamed(
            a_frame(
                choices=[], prompt_filter_results=[{"content_filter_results": categories(filtered=False)}]
            ),
            a_frame({"content": SCENE}),
            a_frame(finish="stop"),
        ),
        "pass",
    ),
    "an empty refusal field": (a_document(a_message(SCENE, refusal=""), **FILTER), "pass"),
    "a null refusal field": (a_document(a_message(SCENE, refusal=None), **FILTER), "pass"),
    "a feedback without a block": (
        a_document({"promptFeedback": {"safetyRatings": []}, **a_message(SCENE)}, **FILTER),
        "pass",
    ),
    "a status without a fault": (
        a_document({**a_message(SCENE), "base_resp": {"status_code": 0, "status_msg": ""}}, **FILTER),
        "pass",
    ),
    "a scene about a filter": (
        answered("The clerk had blocked the letter. “The censor cannot answer this,” he said. She left."),
        "pass",
    ),
    "a plain key fault": (refused(403, {"code": 403, "message": "Key limit exceeded"}), "account:quota"),
    "a network fault": (answered("", "network_error"), "transport:upstream_error"),
    **{
        f"gemini {word}": (answered(None, word), "transport:upstream_error")
        for word in ("OTHER", "LANGUAGE", "MALFORMED_RESPONSE", "NO_IMAGE")
    },
    "an odd end with text": (answered(SCENE * 6, "other"), "transport:upstream_error"),
    "own origin": (
        a_document(a_message(SCENE, contentOrigin="DeepLeo"), **FILTER),
        "pass",
    ),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_has_its_verdict(name: str):
    transcript, verdict = SIGNATURES[name]
    assert said(FILTERING, transcript) == verdict


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_no_filter(name: str):
    transcript, verdict = LOOK_ALIKES[name]
    assert said(FILTERING, transcript) == verdict
