"""Whatever a client sends, the lab answers or refuses."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routecanary.lab.desk import Desk
from routecanary.lab.host import PlantedFault
from routecanary.lab.refusal import RefusedError
from routecanary.lab.request import PROVIDER_KEYS, chat_request
from tests.lab import SCENES, START, a_body, a_card_body, a_route, a_scenario

DESK = Desk(
    a_scenario(
        a_route("north-host/fp8", quantization="fp8", rows=2),
        a_route("north-host/us", max_completion_tokens=100),
        a_route("maple/flex", service_tier="flex"),
        a_route("rush-hour", PlantedFault(fault="rate_limit_shared_pool")),
        a_route("coinflip", PlantedFault(fault="flaky", probability=0.5)),
    ),
    seed=0,
    now=lambda: START,
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["north-host", "north-host/us", "maple/flex", "Rush Hour", "nobody", "", "/"])
PROVIDER = st.dictionaries(
    st.sampled_from(sorted(PROVIDER_KEYS)),
    st.lists(NAMES, max_size=3) | st.booleans() | st.sampled_from(["price", "deny", "fp8"]) | ANYTHING,
    max_size=3,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["acme/chat-2", "acme/chat-2:nitro", "acme/none"]) | ANYTHING,
        "models": ANYTHING,
        "messages": st.sampled_from([[{"role": "user", "content": text}] for text in SCENES.values()])
        | ANYTHING,
        "stream": st.booleans() | ANYTHING,
        "max_tokens": st.integers(-1, 300) | ANYTHING,
        "stop": st.text(max_size=2) | ANYTHING,
        "provider": PROVIDER | ANYTHING,
        "response_format": st.just(a_card_body()["response_format"]) | ANYTHING,
        "plugins": ANYTHING,
        "service_tier": st.just("flex") | ANYTHING,
        "tools": ANYTHING,
    },
)


def answered(data: bytes) -> bool:
    """Say whether a body is answered; a refusal is a 4xx with a message."""
    refusal = None
    try:
        request = chat_request(data)
        prepared = DESK.answer(request, wants_metadata=True)
    except RefusedError as error:
        refusal = error.refusal
    if refusal is not None:
        assert 400 <= refusal.status < 500
        assert json.loads(json.dumps(refusal.body()))["error"]["message"]
        return False
    if prepared.status == 200:
        assert prepared.wire().pieces
    DESK.enter(prepared, request)
    return True


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fields=FIELDS)
def test_any_fields_are_answered_or_refused(fields: dict[str, Any]) -> None:
    """A sound request with some fields replaced by anything at all."""
    answered(json.dumps({**a_body(), **fields}).encode())


@settings(max_examples=100, deadline=None)
@given(body=ANYTHING)
def test_any_document_is_refused(body: Any) -> None:
    """A small JSON value is never a chat request."""
    assert not answered(json.dumps(body).encode())


@given(data=st.binary(max_size=60))
def test_any_bytes_are_refused(data: bytes) -> None:
    """Bytes at random are never a chat request."""
    assert not answered(data)


def test_a_sound_request_is_answered() -> None:
    """The desk of these tests can say yes."""
    assert answered(json.dumps(a_body()).encode())
