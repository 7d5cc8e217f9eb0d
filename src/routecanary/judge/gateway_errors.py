"""Whose fault is an error object, and what does it say of the route?

`transport` freezes the route, `account` stops the round, and a filter's decision is left to the filtering
contract. An error object decides by its own code and type, not by the HTTP status around it.

Source: openrouter-wire.md §4.1–§4.5 (its order of tests within a code); filtering.md §2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from routecanary.domain.answer import Answer, Form
from routecanary.domain.gateway import GatewayKind, gateway_of_request
from routecanary.domain.probe import Json
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.contract import Finding
from routecanary.judge.vocabulary import words

FILTERED: Final = "content_filter"  # the code of a finding that the filtering contract decides

_MAX_TEXT: Final = 4_000  # characters of an error's words that are looked at
_SOON_SECONDS: Final = 900  # a limit that resets within this time is a rate limit, not a quota

# Words in `type`, `code`, `status`, `error_type` → the HTTP code that they mean (§4.2 and neighbours).
_CODE_OF_WORD: Final = {
    "invalid_request": 400, "invalid_request_error": 400, "invalid_prompt": 400, "invalid_value": 400,
    "context_length_exceeded": 400, "max_tokens_exceeded": 400, "token_limit_exceeded": 400,
    "string_too_long": 400, "bad_request": 400, "invalid_argument": 400, "unsupported_parameter": 400,
    "authentication": 401, "authentication_error": 401, "invalid_api_key": 401, "unauthenticated": 401,
    "unauthorized": 401, "payment_required": 402, "insufficient_credits": 402, "billing_error": 402,
    "permission_denied": 403, "permission_error": 403, "forbidden": 403, "request_forbidden": 403,
    "not_found": 404, "not_found_error": 404, "model_not_found": 404, "precondition_failed": 412,
    "payload_too_large": 413, "request_too_large": 413, "unprocessable": 422, "rate_limit_exceeded": 429,
    "rate_limit_error": 429, "rate_limited": 429, "too_many_requests": 429, "resource_exhausted": 429,
    "insufficient_quota": 429, "server": 500, "server_error": 500, "internal_error": 500,
    "internal_server_error": 500, "api_error": 500, "provider_unavailable": 502, "bad_gateway": 502,
    "provider_overloaded": 503, "overloaded_error": 503, "overloaded": 503, "unavailable": 503,
    "service_unavailable": 503, "timeout": 504, "timeout_error": 504, "gateway_timeout": 504,
}  # fmt: skip

# Of these, the ones that any error may carry: they speak only where the HTTP status does not.
_GENERIC_WORDS: Final = words("""
    invalid_request invalid_request_error bad_request invalid_value invalid_argument server server_error
    internal_error internal_server_error api_error
""")

_LIMIT_SOURCES: Final = {
    "upstream_provider_shared_pool": (VerdictKind.TRANSPORT, "rate_limit"),
    "upstream_provider_byok": (VerdictKind.ACCOUNT, "config"),
    "openrouter_credits": (VerdictKind.ACCOUNT, "credits"),
    "openrouter_in_flight_budget": (VerdictKind.TRANSPORT, "rate_limit"),
}
_AVAILABILITY: Final = {
    "model_unavailable_upstream": (VerdictKind.TRANSPORT, "upstream_error"),
    "capacity_exhausted": (VerdictKind.TRANSPORT, "upstream_error"),
    "temporarily_unavailable": (VerdictKind.TRANSPORT, "upstream_error"),
    "region_restricted": (VerdictKind.ACCOUNT, "region"),
}  # every other code of this list is about our request

_FILTER_WORDS: Final = re.compile(
    r"content[ _]?(?:policy|filter|management policy)|content_filter|responsibleaipolicy"
    r"|data_?inspection_?failed"
    r"|may contain inappropriate content|content exists risk|considered high risk|new_sensitive"
    r"|output blocked by content|safety_check_type|violates? (?:our |the )?(?:usage|content|safety)"
    r"|flagged (?:by|for) (?:moderation|content|safety)|your input was flagged|prohibited_content"
)
_REGION: Final = re.compile(
    r"(?:country|region|territory|location)[^.]{0,40}"
    r"(?:not (?:supported|available|allowed)|unsupported|restricted)"
    r"|unsupported_country|region_restricted|not available in your (?:country|region|location)"
)
_BLOCKED: Final = re.compile(
    r"\b(?:banned|suspended|deactivated|terminated|disabled|blocked|blacklisted|denied by (?:waf|firewall))\b"
)
_CREDITS: Final = re.compile(
    r"insufficient[ _](?:balance|credit|fund)|(?:credit )?balance is too low|more credits|can only afford"
    r"|out of credits|payment required|top up|余额不足"
)
_QUOTA: Final = re.compile(
    r"insufficient[ _]quota|billing|exceeded your current quota|free-models-per"
    r"|(?:key|monthly|daily|weekly|spending|usage) limit (?:exceeded|reached)"
)
_SHORT_WINDOW: Final = re.compile(r"per_?-? ?(?:minute|second)|retrydelay|retry_after|try again in \d+")
_KEY: Final = re.compile(
    r"api[ _-]?key|\btoken\b|credential|\bauth|permission|not authorized|unauthorized|user not found"
)
_EDGE: Final = re.compile(r"error code: 10\d\d|cloudflare|attention required|access denied \| ")


def classify_error(answer: Answer) -> Finding | None:
    """Say what an error means; None when the answer holds no error.

    Returns:
        A finding of kind `transport` or `account`; or `fail:content_filter` for a filter's decision, which
        only the filtering contract may pronounce.
    """
    status = answer.transcript.status or 0
    error = answer.error
    if error is None and 200 <= status < 300:
        return None
    found = _words(error)
    text = " ".join(found)[:_MAX_TEXT].lower()
    if error is None:
        text = answer.body.lower()
    outside = status if not 200 <= status < 300 else 0
    code = _code(error) or _code_of_words(found, generic=not outside) or outside
    metadata = _mapping((error or {}).get("metadata"))
    detail = f"HTTP {status}" + (f", error {code}" if code and code != status else "")
    message = (error or {}).get("message")
    if isinstance(message, str):
        detail += f": {message[:120]}"

    kind, word = _by_metadata(error or {}, metadata, text) or _by_code(answer, code, text, metadata)
    if word == FILTERED and not _is_hosts_filter(answer):
        kind, word = VerdictKind.TRANSPORT, "upstream_error"
    return Finding(kind, word, detail)


def _is_hosts_filter(answer: Answer) -> bool:
    """Say whether a filter's decision is the host's: a gateway that names whom it asked may have its own."""
    match gateway_of_request(answer.transcript.request):
        case GatewayKind.OPENROUTER:
            return True
        case GatewayKind.VERCEL:
            return bool(answer.tried)
        case other:
            assert_never(other)


def _by_metadata(
    error: Mapping[str, Json], metadata: Mapping[str, Json], text: str
) -> tuple[VerdictKind, str] | None:
    """Look at what a gateway adds to an error: limit source, routing step, moderation, guardrail."""
    source = metadata.get("limit_source")
    if isinstance(source, str) and source:
        if source in _LIMIT_SOURCES:
            return _LIMIT_SOURCES[source]
        own = source.startswith(("openrouter_", "free_models", "free-models"))
        return (VerdictKind.ACCOUNT, "quota") if own else (VerdictKind.TRANSPORT, "rate_limit")
    if metadata.get("failed_routing_step") or error.get("type") == "no_providers_available":
        return VerdictKind.ACCOUNT, "config"
    availability = _mapping(error.get("availability") or metadata.get("availability")).get("code")
    if isinstance(availability, str) and availability:
        return _AVAILABILITY.get(availability, (VerdictKind.ACCOUNT, "config"))
    if metadata.get("patterns") or metadata.get("guardrail_id"):
        return VerdictKind.ACCOUNT, "config"
    if metadata.get("reasons") or metadata.get("flagged_input") or _FILTER_WORDS.search(text):
        return VerdictKind.FAIL, FILTERED
    if str(error.get("code")) == "1301":  # one provider's number for its filter
        return VerdictKind.FAIL, FILTERED
    return None


def _by_code(answer: Answer, code: int, text: str, metadata: Mapping[str, Json]) -> tuple[VerdictKind, str]:
    upstream = bool(answer.tried) or _is_providers(metadata, text)
    html = answer.form is Form.HTML
    transport, account = VerdictKind.TRANSPORT, VerdictKind.ACCOUNT
    if code == 404 and not upstream:  # an HTML page for an API path is a wrong address, too
        return account, "config"
    if html:
        return transport, "rate_limit" if code == 429 else "html_error"
    match code:
        case 401 | 402 | 403 if upstream:
            return transport, "upstream_error"
        case 401:
            return account, "auth"
        case 402:
            return account, "credits"
        case 403:
            return account, _why_forbidden(text)
        case 400 | 413 | 422:
            return (transport, "upstream_error") if upstream else (account, _money(text) or "config")
        case 451:
            return account, "region"
        case 429:
            return _why_limited(answer, text, metadata, upstream=upstream)
        case 405 | 406 | 410 | 411 | 412 | 414 | 415 | 421 | 426 | 431:
            return account, "config"
        case _ if 300 <= code < 400:
            return account, "config"
        case _:
            return transport, "upstream_error"


def _money(text: str) -> str | None:
    """Tell an empty balance from a quota that is used up."""
    if _CREDITS.search(text):
        return "credits"
    return "quota" if _QUOTA.search(text) else None


def _why_forbidden(text: str) -> str:
    if _REGION.search(text):
        return "region"
    money = _money(text)
    if money is not None:
        return money
    if _BLOCKED.search(text):
        return "blocked"
    if _KEY.search(text):
        return "auth"
    return "config"


def _why_limited(
    answer: Answer, text: str, metadata: Mapping[str, Json], *, upstream: bool
) -> tuple[VerdictKind, str]:
    """Tell a rate limit, which clears by itself, from a quota, which does not."""
    limited = (VerdictKind.TRANSPORT, "rate_limit")
    if upstream or _SHORT_WINDOW.search(text.replace("-", "_")):
        return limited
    money = _money(text)
    if money is not None:
        return VerdictKind.ACCOUNT, money
    headers = {**_mapping(metadata.get("headers")), **dict(answer.transcript.headers)}
    for name, value in headers.items():
        if str(name).lower() == "x-ratelimit-reset" and _seconds_until(value, answer) > _SOON_SECONDS:
            return VerdictKind.ACCOUNT, "quota"
    return limited


def _seconds_until(value: object, answer: Answer) -> float:
    """Read an `X-RateLimit-Reset`: epoch milliseconds at this gateway, seconds to wait elsewhere."""
    try:
        number = float(str(value)[:32])
    except ValueError:
        return 0.0
    if number < 1e9:
        return number
    started = answer.transcript.started_at
    if started is None:
        return 0.0
    return (number / 1000 if number > 1e11 else number) - started.timestamp()


def _is_providers(metadata: Mapping[str, Json], text: str) -> bool:
    name = metadata.get("provider_name")
    return (isinstance(name, str) and bool(name)) or "provider returned error" in text


def _code(error: Mapping[str, Json] | None) -> int:
    for key in ("code", "http_status", "status", "status_code"):
        value = (error or {}).get(key)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
            return value
    return 0


def _code_of_words(found: list[str], *, generic: bool) -> int:
    for word in found:
        key = word.strip().lower().replace(" ", "_").replace("-", "_")
        if key in _CODE_OF_WORD and (generic or key not in _GENERIC_WORDS):
            return _CODE_OF_WORD[key]
    return 0


def _words(error: Mapping[str, Json] | None) -> list[str]:
    """Collect the strings of an error object, the most telling first; `raw` may be JSON in a string."""
    if error is None:
        return []
    metadata = _mapping(error.get("metadata"))
    telling = [error.get(key) for key in ("code", "type", "error_type", "status")]
    telling += [metadata.get("error_type"), metadata.get("provider_code")]
    found = [value for value in telling if isinstance(value, str)]
    found += list(_strings(error, 0))
    raw = metadata.get("raw")
    if isinstance(raw, str) and raw.lstrip()[:1] in ("{", "["):
        try:
            found += list(_strings(json.loads(raw[:_MAX_TEXT]), 0))
        except (ValueError, RecursionError):
            pass  # a cut or odd `raw` still stands in the list as it came
    return found


def _strings(value: object, depth: int) -> Iterator[str]:
    if depth > 5:
        return
    if isinstance(value, str):
        yield value[:1000]
    elif isinstance(value, dict):
        for key, item in list(value.items())[:40]:
            yield str(key)[:60]
            yield from _strings(item, depth + 1)
    elif isinstance(value, list):
        for item in value[:20]:
            yield from _strings(item, depth + 1)


def _mapping(value: object) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
