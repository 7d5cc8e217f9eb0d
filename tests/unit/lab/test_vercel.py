"""What the lab heeds, refuses and says in the wire of the Vercel AI Gateway."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from routecanary.domain.gateway import GatewayKind
from routecanary.lab.face import face_of
from routecanary.lab.host import Account, LabRoute, Rules
from routecanary.lab.refusal import RefusedError
from routecanary.lab.vercel import listing
from routecanary.lab.vercel.request import vercel_request
from routecanary.lab.vercel.routing import candidates
from tests.lab import a_body, a_model, a_route, a_scenario, an_answer, payloads

MAPLE = a_route("maple/fp8", price_prompt=Decimal("0.0000001"), keeps_data=True)
TWIN = a_route("maple/us")
BIRCH = a_route("birch", trains_on_data=True)
CAPITAL = a_route("cedar", slug="cedarWorks", price_prompt=Decimal("0.0000009"))
TIER = a_route("birch/priority", service_tier="priority")
ALL = (MAPLE, TWIN, BIRCH, CAPITAL, TIER)


def tried(rules: Rules = Rules(), routes: tuple[LabRoute, ...] = ALL, **body: Any) -> list[str]:  # noqa: B008 - frozen
    request = vercel_request(json.dumps(a_body(**body)).encode())
    found = candidates(a_model(*routes), request, timedelta(0), Random(1), rules)
    return [route.tag for route in found]


def gateway(**options: Any) -> dict[str, Any]:
    return {"providerOptions": {"gateway": options}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"maple/fp8", "maple/us", "birch", "cedar"}),
        (gateway(only=["maple"]), {"maple/fp8", "maple/us"}),
        (gateway(only=["cedarWorks", "birch"]), {"cedar", "birch"}),
        (gateway(only=[]), {"maple/fp8", "maple/us", "birch", "cedar"}),
        (gateway(zeroDataRetention=True), {"maple/us", "birch", "cedar"}),
        (gateway(disallowPromptTraining=True), {"maple/fp8", "maple/us", "cedar"}),
        ({"provider": {"only": ["birch"]}}, {"birch"}),
        # passed over in silence: whoever thinks that these exclude is mistaken
        (gateway(ignore=["birch"], exclude=["birch"]), {"maple/fp8", "maple/us", "birch", "cedar"}),
        ({"provider": {"ignore": ["birch"]}}, {"maple/fp8", "maple/us", "birch", "cedar"}),
        ({"plugins": 7}, {"maple/fp8", "maple/us", "birch", "cedar"}),
    ],
)
def test_whom_a_request_admits(body: dict[str, Any], expected: set[str]) -> None:
    """A provider as a whole, by its slug; a service tier never."""
    assert set(tried(**body)) == expected


def test_order_and_sort_say_who_is_tried_first() -> None:
    """And leave the others to come after."""
    assert tried(**gateway(order=["cedarWorks", "birch"]))[:2] == ["cedar", "birch"]
    assert tried(**gateway(sort="cost"))[0] == "maple/fp8"
    assert tried(**gateway(sort="cost"))[-1] == "cedar"


@pytest.mark.parametrize(
    ("body", "rules", "status"),
    [
        (gateway(only=["oak"]), Rules(), 400),
        (gateway(only=["cedarworks"]), Rules(), 400),  # letter by letter
        (gateway(only=["birch"], disallowPromptTraining=True), Rules(), 400),
        (gateway(only=["birch"]), Rules(withheld=("birch",)), 403),
        ({"providerOptions": []}, Rules(), 400),
        (gateway(only="birch"), Rules(), 400),
        (gateway(only=[7]), Rules(), 400),
        (gateway(sort="price"), Rules(), 400),
        ({"provider": "birch"}, Rules(), 400),
    ],
)
def test_what_cannot_be_served_is_refused(body: dict[str, Any], rules: Rules, status: int) -> None:
    """Before any host is asked."""
    with pytest.raises(RefusedError) as error:
        tried(rules, **body)
    assert error.value.refusal.status == status


def test_fallback_models_are_read_from_the_routing_options() -> None:
    """After those that stand at the top."""
    body = a_body(models=["acme/other"], **gateway(models=["acme/third"]))
    assert vercel_request(json.dumps(body).encode()).models == (body["model"], "acme/other", "acme/third")


def test_the_listing_has_slugs_and_no_tags() -> None:
    """Rows of one provider stand side by side, and tiers are not shown."""
    rows = listing.endpoints(a_model(*ALL), timedelta(0))["data"]["endpoints"]
    assert [row["provider_name"] for row in rows] == ["maple", "maple", "birch", "cedarWorks"]
    assert all("tag" not in row for row in rows)
    assert [row["has_zdr"] for row in rows] == [False, True, True, True]
    assert [row["has_no_training"] for row in rows] == [True, True, False, True]


def test_credit_that_is_used_up_is_told() -> None:
    """As texts, in USD."""
    assert listing.credits_of(Account.OK, 0.5) == {"balance": "99.500000", "total_used": "0.500000"}
    assert listing.credits_of(Account.NO_CREDIT, 0.5)["balance"] == "0.000000"


def test_a_stream_ends_with_one_chunk_that_says_everything() -> None:
    """No comments, and no provider on the chunks before."""
    face = face_of(GatewayKind.VERCEL, a_scenario(MAPLE))
    wire = an_answer(MAPLE).wire(dress=face.dress)
    frames = payloads(wire)
    assert not any(piece.data.startswith(b":") for piece in wire.pieces)
    assert all("provider" not in frame and len(frame["choices"]) == 1 for frame in frames)
    *before, last = frames
    assert all("usage" not in frame for frame in before)
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["usage"]["completion_tokens"] > 0
    routing = last["choices"][0]["delta"]["provider_metadata"]["gateway"]["routing"]
    assert routing["finalProvider"] == "maple"
    assert last["model"] == "acme/chat-2"
