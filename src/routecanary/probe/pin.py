"""Which request makes one route, and no other, answer?

The keys of the gateway pin it (`fields.py`) and switch off whatever could repair, cache, compress or redirect
the answer; only parameters that the route declares are sent. Nothing in the body marks it as a probe.

Source: openrouter-wire.md §0, §2, §6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import Final

from routecanary.domain.probe import Json, Probe, ProbeKind, ProbeSpec, Scene
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import Sampling
from routecanary.probe.fields import pinning

REASONING_ROOM: Final = 2_000  # tokens, where reasoning cannot be switched off
LEAST_ROOM: Final = 16  # tokens; some providers refuse less
TOKENS_AROUND_PROMPT: Final = 64  # chat template, roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Users:
    """Opaque ids of the probes' end user; the filter probe has one of its own.

    Without one, a provider's policy block would hit the whole account.
    """

    chat: str
    filter: str

    @classmethod
    def drawn(cls, rng: Random) -> Users:
        return cls(chat=f"{rng.getrandbits(128):032x}", filter=f"{rng.getrandbits(128):032x}")

    def of(self, kind: ProbeKind) -> str:
        return self.filter if kind is ProbeKind.FILTER else self.chat


def probe_for(
    listing: Listing,
    route: Route,
    spec: ProbeSpec,
    scene: Scene,
    *,
    attempt: int,
    sampling: Sampling,
    users: Users,
    rng: Random,
    reasoning_room: int = REASONING_ROOM,
) -> Probe | None:
    """Make the probe that asks one scene of one route.

    Args:
        listing: The one that names the route.
        attempt: 0 for the first asking of a round, then 1, 2 … for confirmations.
        rng: Draws the nonce; handing in an equally seeded one gives an equal probe.
    Returns:
        None: The route cannot be asked this: it declares no way to ask for structured output, or has no room
        for an answer. The contract is `skipped` for it.
    """
    body = probe_body(
        listing,
        route,
        spec,
        prompt_for(spec, scene, rng),
        sampling=sampling,
        user=users.of(spec.kind),
        stop=scene.stop,
        reasoning_room=reasoning_room,
    )
    if body is None:
        return None
    return Probe(
        model=listing.model,
        route=route.tag,
        kind=spec.kind,
        locale=spec.locale,
        scene=scene,
        spec_version=spec.version,
        attempt=attempt,
        body=body,
        provider_names=route.provider_names,
        accepted_models=listing.accepted_models,
    )


def prompt_for(spec: ProbeSpec, scene: Scene, rng: Random) -> str:
    """Fill the scene's placeholders, so that no two prompts begin alike."""
    prompt = scene.prompt
    drawn = {"{place}": spec.places, "{date}": spec.dates, "{name}": _strangers(spec.people, scene)}
    for placeholder, choices in drawn.items():
        if choices:
            prompt = prompt.replace(placeholder, rng.choice(choices))
    return prompt


def _strangers(people: Sequence[str], scene: Scene) -> Sequence[str]:
    """Leave out the scene's own characters: the nonce must not name a third Mara."""
    return [name for name in people if name not in scene.names] or people


def probe_body(
    listing: Listing,
    route: Route,
    spec: ProbeSpec,
    prompt: str,
    *,
    sampling: Sampling,
    user: str,
    stop: str | None = None,
    reasoning_room: int = REASONING_ROOM,
) -> dict[str, Json] | None:
    """Write the body that pins `route`; None as for `probe_for`."""
    messages = [{"role": "user", "content": prompt}]
    if spec.system is not None:
        messages.insert(0, {"role": "system", "content": spec.system})
    declared: dict[str, Json] = {}
    if stop is not None and "stop" in route.parameters:
        declared["stop"] = [stop]
    for parameter in fields(sampling):
        value = getattr(sampling, parameter.name)
        if value is not None and parameter.name in route.parameters:
            declared[parameter.name] = value
    if spec.kind is ProbeKind.STRUCTURED:
        response_format = _response_format(spec, route)
        if response_format is None:
            return None
        declared["response_format"] = response_format
    room = _room(room_wanted(listing, route, spec, reasoning_room), route, messages)
    if room < LEAST_ROOM:
        return None
    if not reasons(listing, route):
        declared["reasoning"] = {"enabled": False}
    # A capability that vanished since the listing is then a refusal of the gateway, and not an unasked-for
    # answer in prose that would be held against the route.
    declares_all = {"max_tokens", "response_format", "structured_outputs"} <= route.parameters
    return {
        "model": listing.model,
        "stream": True,
        _limit_name(route): room,
        **declared,
        "messages": messages,
        **pinning(listing, route, whole=declares_all and spec.schema is not None),
        "user": user,
    }


def reasons(listing: Listing, route: Route) -> bool:
    """Say whether a route may reason before it answers, because nothing can switch that off."""
    return "reasoning" not in route.parameters or listing.reasoning_mandatory


def room_wanted(listing: Listing, route: Route, spec: ProbeSpec, reasoning_room: int) -> int:
    """Choose the room for an answer, in tokens, before the endpoint's own limits are looked at."""
    return spec.max_tokens + (reasoning_room if reasons(listing, route) else 0)


def _response_format(spec: ProbeSpec, route: Route) -> dict[str, Json] | None:
    """Ask for what the route declares: schema enforcement, JSON mode at least, or nothing (None)."""
    if "structured_outputs" in route.parameters:
        strict = {"name": "reply", "strict": True, "schema": dict(spec.schema or {})}
        return {"type": "json_schema", "json_schema": strict}
    return {"type": "json_object"} if "response_format" in route.parameters else None


def _limit_name(route: Route) -> str:
    """Name the limit as the route declares it; one is always sent, since none means the model's maximum."""
    if "max_tokens" not in route.parameters and "max_completion_tokens" in route.parameters:
        return "max_completion_tokens"
    return "max_tokens"


def _room(wanted: int, route: Route, messages: list[dict[str, str]]) -> int:
    """Cap the room for an answer, in tokens: a larger limit silently removes the endpoint.

    A token is at least one byte, so the bytes of the prompt bound its tokens from above.
    """
    caps = [wanted]
    if route.max_completion_tokens is not None:
        caps.append(route.max_completion_tokens)
    if route.context_length is not None:
        prompt = sum(len(message["content"].encode("utf-8", "replace")) for message in messages)
        caps.append(route.context_length - prompt - TOKENS_AROUND_PROMPT)
    return min(caps)
