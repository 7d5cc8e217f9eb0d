"""The request that pins one route."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import Probe, ProbeKind, ProbeSpec, Scene
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import Sampling
from routecanary.probe.pin import Users, probe_for

PLACES = tuple(f"Place {n}" for n in range(20))
DATES = tuple(f"{n} May" for n in range(1, 21))
SCENE = Scene(id="inn", prompt="{place}, {date}. {name} tells of Mara and Edwin.", names=("Mara", "Edwin"))
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
DECLARED = ("max_tokens", "temperature", "reasoning")
PRODUCT = Sampling()
USERS = Users(chat="c0ffee", filter="f117e2")


def a_spec(kind: ProbeKind = ProbeKind.CHAT, **changes: Any) -> ProbeSpec:
    values: dict[str, Any] = {
        "kind": kind,
        "version": 3,
        "locale": Locale("en"),
        "scenes": (SCENE,),
        "max_tokens": 900,
        "places": PLACES,
        "dates": DATES,
        "people": ("Mara", "Orla", "Nigel"),
        "schema": SCHEMA if kind is ProbeKind.STRUCTURED else None,
    }
    return ProbeSpec(**(values | changes))


def a_route(*parameters: str, tag: str = "north-host", **changes: Any) -> Route:
    return Route(
        tag=RouteId(tag),
        provider_names=frozenset({"North Host"}),
        parameters=frozenset(parameters or DECLARED),
        **changes,
    )


def pinned(
    route: Route | None = None,
    spec: ProbeSpec | None = None,
    *,
    scene: Scene = SCENE,
    sampling: Sampling = PRODUCT,
    mandatory: bool = False,
    seed: int = 1,
    gateway: GatewayKind = GatewayKind.OPENROUTER,
) -> Probe | None:
    route = route or a_route()
    listing = Listing(
        model=ModelId("acme/chat-2"),
        at=datetime(2026, 1, 5, tzinfo=UTC),
        routes=(route,),
        accepted_models=frozenset({"acme/chat-2", "acme/chat-2-20260901"}),
        reasoning_mandatory=mandatory,
        gateway=gateway,
    )
    return probe_for(
        listing, route, spec or a_spec(), scene, attempt=1, sampling=sampling, users=USERS, rng=Random(seed)
    )


def body(*args: Any, **kwargs: Any) -> dict[str, Any]:
    probe = pinned(*args, **kwargs)
    assert probe is not None
    return dict(probe.body)


def test_the_body_is_the_recipe_of_the_gateway() -> None:
    """Pin, no fallbacks, no plugins, a stream, an opaque user, and nothing besides."""
    prompt = body()["messages"][0]["content"]
    assert body(a_route(swallows=frozenset({RouteId("north-host/us"), RouteId("north-host/eu")}))) == {
        "model": "acme/chat-2",
        "stream": True,
        "max_tokens": 900,
        "temperature": 0.8,
        "reasoning": {"enabled": False},
        "messages": [{"role": "user", "content": prompt}],
        "provider": {
            "only": ["north-host"],
            "ignore": ["north-host/eu", "north-host/us"],
            "allow_fallbacks": False,
        },
        "plugins": [
            {"id": "response-healing", "enabled": False},
            {"id": "context-compression", "enabled": False},
            {"id": "web", "enabled": False},
        ],
        "user": "c0ffee",
    }


def test_another_gateway_is_asked_by_its_own_keys() -> None:
    """Nothing of the first one's, and the provider is spelled as that gateway lists it."""
    asked = body(a_route(tag="north-host"), gateway=GatewayKind.VERCEL)
    assert asked == {
        "model": "acme/chat-2",
        "stream": True,
        "max_tokens": 900,
        "temperature": 0.8,
        "reasoning": {"enabled": False},
        "messages": asked["messages"],
        "providerOptions": {"gateway": {"only": ["North Host"]}},
        "stream_options": {"include_usage": True},
        "user": "c0ffee",
    }
    declared = a_route("max_tokens", "response_format", "structured_outputs")
    structured = body(declared, a_spec(ProbeKind.STRUCTURED), gateway=GatewayKind.VERCEL)
    assert structured["providerOptions"] == {"gateway": {"only": ["North Host"]}}
    assert structured["response_format"]["type"] == "json_schema"


def test_the_probe_says_who_may_answer() -> None:
    """Display names and model ids go along, so that an answer from elsewhere is seen."""
    probe = pinned()
    assert probe is not None
    assert (probe.route, probe.kind, probe.attempt, probe.spec_version) == (
        "north-host",
        ProbeKind.CHAT,
        1,
        3,
    )
    assert probe.provider_names == {"North Host"}
    assert probe.accepted_models == {"acme/chat-2", "acme/chat-2-20260901"}
    assert probe.scene is SCENE


def test_prompts_begin_differently_and_name_no_third_mara() -> None:
    """The nonce stands at the front, is drawn from the lists, and a seed gives it again."""
    prompts = [body(seed=seed)["messages"][0]["content"] for seed in range(40)]
    assert len({prompt[:16] for prompt in prompts}) > 30
    assert not any("{" in prompt or "Mara tells" in prompt for prompt in prompts)
    assert body(seed=7) == body(seed=7)


def test_a_scene_whose_characters_are_all_the_names_there_are_is_still_asked() -> None:
    """Better a namesake than an unfilled placeholder."""
    assert "{name}" not in body(spec=a_spec(people=("Mara", "Edwin")))["messages"][0]["content"]


def test_the_filter_probe_has_a_user_of_its_own() -> None:
    """A provider's block of one user must not hide behind the other probe."""
    assert body(spec=a_spec(ProbeKind.FILTER))["user"] == "f117e2"


def test_users_are_opaque_and_differ() -> None:
    """Thirty-two hexadecimal digits, from the generator that is handed in."""
    users = Users.drawn(Random(5))
    assert users == Users.drawn(Random(5))
    assert users.chat != users.filter
    assert len(users.chat) == 32
    assert int(users.chat, 16) >= 0


def test_only_declared_parameters_are_sent() -> None:
    """The product's sampling, as far as the route takes it."""
    sampling = Sampling(temperature=0.7, top_p=0.9, top_k=40, min_p=None)
    sent = body(a_route("max_tokens", "temperature", "top_k"), sampling=sampling)
    assert (sent["temperature"], sent["top_k"]) == (0.7, 40)
    assert not {"top_p", "min_p", "reasoning"} & sent.keys()
    assert "temperature" not in body(a_route("max_tokens"), sampling=sampling)
    assert "temperature" not in body(sampling=Sampling(temperature=None))


@pytest.mark.parametrize(
    ("parameters", "mandatory", "reasoning", "max_tokens"),
    [
        (("max_tokens", "reasoning"), False, {"enabled": False}, 900),
        (("max_tokens", "reasoning"), True, None, 2_900),
        (("max_tokens",), False, None, 2_900),
    ],
)
def test_reasoning_is_off_or_has_room(
    parameters: tuple[str, ...], mandatory: bool, reasoning: object, max_tokens: int
) -> None:
    """Where it cannot be switched off, it must not eat the answer's room."""
    sent = body(a_route(*parameters), mandatory=mandatory)
    assert sent.get("reasoning") == reasoning
    assert sent["max_tokens"] == max_tokens


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 900),
        ({"max_completion_tokens": 4_096}, 900),
        ({"max_completion_tokens": 512}, 512),
        ({"context_length": 131_072}, 900),
        ({"context_length": 600}, None),
        ({"context_length": 16}, 0),
        ({"max_completion_tokens": 15}, 0),
    ],
)
def test_the_limit_is_one_that_the_endpoint_takes(changes: dict[str, int], expected: int | None) -> None:
    """A larger limit removes the endpoint silently; without room there is no probe (0 here)."""
    probe = pinned(a_route(**changes))
    if expected == 0:
        assert probe is None
        return
    assert probe is not None
    limit = probe.body["max_tokens"]
    prompt = len(probe.body["messages"][0]["content"])
    assert limit == expected if expected else 16 <= limit <= changes["context_length"] - prompt


def test_the_limit_goes_by_the_name_that_the_route_declares() -> None:
    """One is always sent: without it the gateway reckons with the model's maximum."""
    assert body(a_route("max_completion_tokens", "reasoning"))["max_completion_tokens"] == 900
    assert body(a_route("reasoning"))["max_tokens"] == 900


def test_stop_is_sent_where_it_is_declared() -> None:
    """A scene's stop word is a promise only of routes that know the parameter."""
    scene = Scene(id="s", prompt="{place} {date}", stop="THE END")
    assert body(a_route("max_tokens", "stop"), scene=scene)["stop"] == ["THE END"]
    assert "stop" not in body(a_route("max_tokens"), scene=scene)


def test_a_system_message_goes_first() -> None:
    """The user's prompt follows it."""
    roles = [message["role"] for message in body(spec=a_spec(system="You tell stories."))["messages"]]
    assert roles == ["system", "user"]


STRICT = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("parameters", "response_format", "required"),
    [
        (("max_tokens", "structured_outputs", "response_format"), STRICT, True),
        (("max_tokens", "structured_outputs"), STRICT, None),
        (("structured_outputs", "response_format"), STRICT, None),
        (("max_tokens", "response_format"), {"type": "json_object"}, None),
    ],
)
def test_structured_output_is_asked_as_it_is_declared(
    parameters: tuple[str, ...], response_format: object, required: bool | None
) -> None:
    """A schema where enforcement is declared, JSON mode where only that is, and never more than declared."""
    sent = body(a_route(*parameters), a_spec(ProbeKind.STRUCTURED))
    assert sent["response_format"] == response_format
    assert sent["provider"].get("require_parameters") is required


def test_a_route_that_declares_no_structured_output_is_not_asked_for_it() -> None:
    """The contract is skipped there."""
    assert pinned(a_route("max_tokens", "temperature"), a_spec(ProbeKind.STRUCTURED)) is None


def test_other_probes_require_nothing() -> None:
    """A route that lacks a parameter must not become unreachable for it."""
    route = a_route("max_tokens", "structured_outputs", "response_format")
    assert "require_parameters" not in body(route)["provider"]
    assert "response_format" not in body(route)
