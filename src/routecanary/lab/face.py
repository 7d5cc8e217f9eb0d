"""Whose wire does the lab speak?

The hosts, their faults and the desk are the same; a face says how a request is read, who may serve it, and in
which shape answers and refusals go out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from routecanary.domain.gateway import GatewayKind
from routecanary.domain.probe import Json
from routecanary.lab.refusal import Refusal
from routecanary.lab.request import ChatRequest, chat_request
from routecanary.lab.routing import Candidates, candidates
from routecanary.lab.scenario import Scenario
from routecanary.lab.vercel.dress import Dresser
from routecanary.lab.vercel.request import vercel_request
from routecanary.lab.vercel.routing import candidates as vercel_candidates
from routecanary.lab.wire import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One gateway's way of reading and speaking."""

    kind: GatewayKind
    prefix: str  # of the API's addresses
    read: Callable[[bytes], ChatRequest]
    candidates: Candidates
    dress: Callable[[Wire], Wire]
    refusal: Callable[[Refusal], dict[str, Json]]
    slug: Callable[[str], str]  # of a provider's display name, where answers carry that


def face_of(kind: GatewayKind, scenario: Scenario) -> Face:
    """Make the face of a gateway for the hosts of a scenario."""
    match kind:
        case GatewayKind.OPENROUTER:
            return Face(
                kind=kind,
                prefix="/api/v1",
                read=chat_request,
                candidates=candidates,
                dress=lambda wire: wire,
                refusal=Refusal.body,
                slug=lambda name: name,
            )
        case GatewayKind.VERCEL:
            dresser = Dresser(scenario.models)
            return Face(
                kind=kind,
                prefix="/v1",
                read=vercel_request,
                candidates=vercel_candidates,
                dress=dresser.wire,
                refusal=lambda refusal: dresser.refusal(refusal.body()),
                slug=dresser.slug,
            )
        case _:
            assert_never(kind)
