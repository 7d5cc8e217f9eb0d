"""What the gateway makes of a request body."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from routecanary.lab.refusal import RefusedError
from routecanary.lab.request import chat_request
from tests.lab import CARD, a_body, a_card_body, a_request


def test_a_full_request_is_read() -> None:
    """Every field that the gateway acts on arrives as a checked value."""
    request = a_request(
        a_card_body(
            "Hello",
            models=["acme/other"],
            max_tokens=7,
            stop="END",
            temperature=0.8,
            plugins=[{"id": "web", "enabled": False}, {"id": "healing"}],
            provider={
                "only": ["North-Host/FP8"],
                "allow_fallbacks": False,
                "max_price": {"prompt": "0.5"},
                "sort": {"by": "price", "partition": "model"},
                "data_collection": "deny",
            },
        )
    )
    assert request.models == ("acme/chat-2", "acme/other")
    assert request.prompt == "Hello"
    assert request.stream
    assert request.max_tokens == 7
    assert request.stop == ("END",)
    assert request.plugins == ("healing",)
    assert request.parameters == {"max_tokens", "stop", "temperature", "response_format"}
    assert request.preferences.only == ("north-host/fp8",)
    assert not request.preferences.allow_fallbacks
    assert request.preferences.max_price_prompt == Decimal("0.5")
    assert request.preferences.sort == "price"
    assert request.preferences.deny_data_collection


def test_content_parts_are_joined() -> None:
    """Text parts count as text, other parts are passed over, a missing content is empty."""
    body = a_body()
    body["messages"] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    assert a_request(body).prompt == "Be brief.\n\nOne"


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in a_body().items() if name != key}


@pytest.mark.parametrize(
    "body",
    [
        [],
        "text",
        None,
        7,
        without("model"),
        without("messages"),
        a_body(model=7),
        a_body(model=""),
        a_body(models="acme/chat-2"),
        a_body(models=[None]),
        a_body(messages=[]),
        a_body(messages={}),
        a_body(messages=["hello"]),
        a_body(messages=[{"content": "no role"}]),
        a_body(messages=[{"role": "user", "content": 7}]),
        a_body(messages=[{"role": "user", "content": ["text"]}]),
        a_body(messages=[{"role": "user", "content": [{"type": "text"}]}]),
        a_body(messages=[{"role": "user", "content": "x"}] * 2_001),
        a_body(stream="yes"),
        a_body(max_tokens=0),
        a_body(max_tokens=True),
        a_body(max_tokens=1.5),
        a_body(max_tokens=10**30),
        a_body(max_completion_tokens="9"),
        a_body(stop=7),
        a_body(stop=[7]),
        a_body(stop=["x"] * 17),
        a_body(response_format="json"),
        a_body(response_format={"type": "poem"}),
        a_body(response_format={"type": "json_schema"}),
        a_body(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": []}}),
        a_body(response_format={"type": "json_schema", "json_schema": {"name": "", "schema": {}}}),
        a_body(response_format={"type": "json_schema", "json_schema": {"name": "n" * 65, "schema": CARD}}),
        a_body(service_tier=1),
        a_body(plugins={}),
        a_body(plugins=["web"]),
        a_body(plugins=[{"id": "web", "enabled": 1}]),
        a_body(provider=[]),
        a_body(provider={"onyl": ["north-host"]}),
        a_body(provider={"only": "north-host"}),
        a_body(provider={"only": [1]}),
        a_body(provider={"ignore": ["x"] * 501}),
        a_body(provider={"allow_fallbacks": "no"}),
        a_body(provider={"data_collection": "maybe"}),
        a_body(provider={"sort": "beauty"}),
        a_body(provider={"sort": []}),
        a_body(provider={"sort": {"by": ["price"]}}),
        a_body(provider={"max_price": 3}),
        a_body(provider={"max_price": {"prompt": "cheap"}}),
        a_body(provider={"max_price": {"prompt": "NaN"}}),
        a_body(provider={"max_price": {"prompt": -1}}),
        a_body(provider={"max_price": {"prompt": [1]}}),
        a_body(provider={"max_price": {"prompt": 10**4000}}),
    ],
)
def test_a_malformed_body_is_refused_with_400(body: Any) -> None:
    """Whatever is wrong with the body, the answer is a 400 that says where."""
    with pytest.raises(RefusedError) as caught:
        a_request(body) if isinstance(body, dict) else chat_request(json.dumps(body).encode())
    assert caught.value.refusal.status == 400
    assert len(caught.value.refusal.message) < 400


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"model": NaN}',
        b'{"model": Infinity}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"model":"a/b","messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"model":"a/b","n":' + b"9" * 5_000 + b"}",
    ],
    ids=["empty", "cut", "not utf-8", "nan", "infinity", "deep list", "deep object", "surrogate", "digits"],
)
def test_what_is_not_strict_json_is_refused_with_400(data: bytes) -> None:
    """Broken, endless, deep and impossible documents are refused before anything is read from them."""
    with pytest.raises(RefusedError) as caught:
        chat_request(data)
    assert caught.value.refusal.status == 400


def test_a_paired_surrogate_is_an_ordinary_letter() -> None:
    """Escaped emoji pass."""
    body = json.dumps(a_body("Smile \U0001f600")).encode()
    assert b"\\ud83d" in body
    assert chat_request(body).prompt.endswith("\U0001f600")
