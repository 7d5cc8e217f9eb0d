"""Which HTTP errors does a route answer with, and how do errors come under HTTP 200?

Source: openrouter-wire.md §3.4, §4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from routecanary.domain.probe import Json
from routecanary.lab.account import ACCOUNT_REFUSALS
from routecanary.lab.fault import TRIAGE, Amount, Blow, Choice, Fault
from routecanary.lab.host import Account
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.refusal import Refusal
from routecanary.lab.spoiling.places import changed_choice, cut_within_text, head_of, text_places
from routecanary.lab.stream import Frame, Stream
from routecanary.lab.wire import JSON, Piece, Wire, json_bytes

_STATUSES: Final = ("500", "502", "503", "504", "529")
_TYPES: Final = {
    "500": "server",
    "502": "provider_unavailable",
    "503": "provider_overloaded",
    "504": "timeout",
    "529": "provider_overloaded",
}
_PAGE: Final = (
    "<!DOCTYPE html>\n<html><head><title>{code}: {title}</title></head>\n<body><h1>{title}</h1>"
    "<p>Error code {code}. The web server reported an error.</p><hr>edge</body></html>\n"
)
_EDGE: Final = {
    "502": "Bad gateway",
    "520": "Unknown error",
    "524": "A timeout occurred",
    "403": "Access denied",
}
_SHAPES: Final = ("documented", "empty_choices", "string_code", "bare", "in_choice", "no_metadata", "glued")


def limit_rate(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Answer 429 from the provider's shared pool."""
    wait = int(blow.amount("retry_after_seconds"))
    return replace(
        planned,
        problem=Refusal(
            status=429,
            message="Provider returned error",
            metadata={
                "provider_name": planned.provider,
                "raw": f"{planned.model} is temporarily rate-limited upstream. Please retry shortly.",
                "is_byok": False,
                "limit_source": "upstream_provider_shared_pool",
                "remedy_hint": "Retry later or add your own key.",
                "error_type": "rate_limit_exceeded",
            },
            headers={"Retry-After": str(wait)},
        ),
    )


def fail_upstream(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Answer 5xx; a 500 is masked and names nobody."""
    status = blow.way(*_STATUSES)
    metadata: dict[str, Json] = {"error_type": _TYPES[status]}
    if status != "500":
        metadata |= {"provider_name": planned.provider, "raw": "upstream connect error", "is_byok": False}
    message = "Internal Server Error" if status == "500" else "Provider returned error"
    return replace(planned, problem=Refusal(status=int(status), message=message, metadata=metadata))


def find_no_endpoint(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
    """Answer 404 for a route that is listed."""
    return replace(
        planned,
        problem=Refusal(
            status=404,
            message=f"No endpoints found for {planned.model}.",
            metadata={"error_type": "not_found"},
        ),
    )


def show_edge_page(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    code = blow.way("502", "520", "524")
    page = _PAGE.format(code=code, title=_EDGE[code])
    return replace(planned, problem=Refusal(status=int(code), message=_EDGE[code], page=page))


def account_fault(account: Account) -> Callable[[PlannedAnswer, Blow], PlannedAnswer]:
    """Make the fault that answers on one route as the gateway does when the whole account is at fault."""

    def strike(planned: PlannedAnswer, _: Blow) -> PlannedAnswer:
        return replace(planned, problem=ACCOUNT_REFUSALS[account])

    return strike


def break_off_with_error(stream: Stream, blow: Blow) -> Stream:
    """Put an error object in place of what was still to come, in one of the shapes that it comes in."""
    shape = blow.way(*_SHAPES)
    texts = text_places(stream)
    if not texts:
        return stream
    cut = cut_within_text(stream, blow.amount("after"))
    last = cut.frames[-1]
    head = head_of(last)
    error: dict[str, Json] = {
        "code": 502,
        "message": "Upstream closed",
        "metadata": {"error_type": "provider_unavailable", "provider_name": head.get("provider")},
    }
    ended = changed_choice(
        last.payload, lambda choice: {**choice, "delta": {"content": ""}, "finish_reason": "error"}
    )
    payload: dict[str, Json]
    match shape:
        case "documented":
            payload = {**ended, "error": error}
        case "empty_choices":
            payload = {**head, "error": error, "choices": []}
        case "string_code":
            payload = {**ended, "error": {**error, "code": blow.rng.choice(("server_error", "502"))}}
        case "bare":
            payload = {"error": error}
        case "in_choice":
            payload = changed_choice(ended, lambda choice: {**choice, "error": error})
        case "no_metadata":
            payload = {**ended, "error": {"code": 502, "message": "Upstream closed"}}
        case _:
            return replace(
                cut, frames=(*cut.frames, Frame(last.at, raw=json_bytes({"error": error}) + b"\n"))
            )
    return replace(cut, frames=(*cut.frames, Frame(last.at, payload=payload), Frame(last.at, word="[DONE]")))


def answer_error_body(wire: Wire, blow: Blow) -> Wire:
    """Send a JSON error, and no stream, under HTTP 200."""
    code = int(blow.way("429", "502", "503"))
    error = {"code": code, "message": "Provider returned error", "metadata": {"error_type": "unmapped"}}
    at = wire.headers_at or 0.0
    return replace(
        wire, pieces=(Piece(at, json_bytes({"error": error})),), headers={"Content-Type": JSON}, apart=False
    )


ERRORS: Final = (
    Fault(
        name="rate_limit_shared_pool",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:rate_limit",),
        does="Refuses with 429: the provider limits the gateway's pooled key.",
        on_answer=limit_rate,
        parameters={"retry_after_seconds": Amount(default=20, low=0, high=86_400)},
    ),
    Fault(
        name="server_error",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:upstream_error",),
        does="Refuses with 500, 502, 503, 504 or 529.",
        on_answer=fail_upstream,
        parameters={"with": Choice(default="", options=("", *_STATUSES))},
    ),
    Fault(
        name="spurious_404",
        version=1,
        seen_by=(TRIAGE,),
        gives=("account:config",),
        does="Refuses with 404 although it is listed.",
        on_answer=find_no_endpoint,
    ),
    Fault(
        name="html_edge_page",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:html_error",),
        does="Answers with an HTML page of the network's edge.",
        on_answer=show_edge_page,
        parameters={"with": Choice(default="", options=("", "502", "520", "524"))},
    ),
    Fault(
        name="error_in_stream",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:upstream_error",),
        does="Puts an error object in place of the rest of its stream, in one of its shapes.",
        on_stream=break_off_with_error,
        parameters={
            "with": Choice(default="", options=("", *_SHAPES)),
            "after": Amount(default=0.3, low=0.0, high=1.0),
        },
    ),
    Fault(
        name="error_body",
        version=1,
        seen_by=(TRIAGE,),
        gives=("transport:upstream_error", "transport:rate_limit"),
        does="Sends a JSON error, and no stream, under HTTP 200.",
        on_wire=answer_error_body,
        parameters={"with": Choice(default="", options=("", "429", "502", "503"))},
    ),
    *(
        Fault(
            name=f"account_{account}",
            version=1,
            seen_by=(TRIAGE,),
            gives=(verdict,),
            does=does,
            on_answer=account_fault(account),
        )
        for account, verdict, does in (
            (Account.NO_CREDIT, "account:credits", "Refuses with 402 on this route: the credit is used up."),
            (
                Account.IN_FLIGHT,
                "transport:rate_limit",
                "Refuses with 402 on this route: too many paid requests in flight.",
            ),
            (
                Account.KEY_LIMIT,
                "account:quota",
                "Refuses with 403 on this route: the key's limit is reached.",
            ),
            (
                Account.RATE_LIMITED,
                "account:quota",
                "Refuses with 429 on this route: the account's own quota.",
            ),
            (Account.KEY_REVOKED, "account:auth", "Refuses with 401 on this route: nobody knows the key."),
            (Account.BLOCKED, "account:blocked", "Refuses with 403 on this route: the account is suspended."),
            (Account.REGION, "account:region", "Refuses with 403 on this route: not in the caller's region."),
        )
    ),
)
