"""What goes wrong with this one answer?

Planted faults strike by their probability, window and filters. An answer that no planted fault strikes may
still fail by chance, as healthy hosts' answers do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, LATENCY, STRUCTURED, ContractName
from routecanary.domain.probe import Json, ProbeKind
from routecanary.lab.fault import Blow, Fault, defaults
from routecanary.lab.faults import FAULT_NAMED, NATURAL_FAULTS, TRANSPORT_FAULTS
from routecanary.lab.host import LabRoute, ParameterValue, PlantedFault
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.reading import Asked
from routecanary.lab.request import ChatRequest
from routecanary.lab.stream import Stream
from routecanary.lab.wire import Wire

JUDGED_ON: Final[Mapping[ProbeKind, tuple[ContractName, ...]]] = {
    ProbeKind.CHAT: (LATENCY, LANGUAGE, INTEGRITY),
    ProbeKind.FILTER: (FILTERING, INTEGRITY),
    ProbeKind.STRUCTURED: (STRUCTURED, INTEGRITY),
    ProbeKind.ANY: (LATENCY, INTEGRITY),
}
"""Which contracts an answer can fail by chance. Source: policy.md §1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """Faults that may strike, in order of preference: the first that has something to spoil does."""

    candidates: tuple[tuple[Fault, Mapping[str, ParameterValue]], ...]
    planted: bool
    rng: Random


def strikes_on(
    route: LabRoute, asked: Asked, elapsed: timedelta, rng: Random, *, number: int, cold: bool
) -> tuple[Strike, ...]:
    """Draw what strikes one answer of a route; planted faults first, chance only where none strikes.

    Args:
        rng: Of every draw, save those of a planted fault that has a seed of its own.
        number: Of the route's answers of this kind, 0-based.
        cold: The route has not seen how the prompt begins.
    """
    planted: list[Strike] = []
    for index, fault in enumerate(route.faults):
        own = rng if fault.seed is None else _seeded(fault.seed, route, asked, number, index)
        # the draw comes first, so that a filter changes nothing for the faults after it
        if own.random() < fault.probability and _meant(fault, asked, elapsed, cold=cold):
            planted.append(_planned_strike(fault, own))
    return tuple(planted) or _by_chance(route, asked, rng)


def _seeded(seed: int, route: LabRoute, asked: Asked, number: int, index: int) -> Random:
    return Random(f"{seed}|{route.tag}|{asked.kind}|{number}|{index}")  # noqa: S311 - a lab


def _meant(planted: PlantedFault, asked: Asked, elapsed: timedelta, *, cold: bool) -> bool:
    probes = planted.probes or FAULT_NAMED[planted.fault].probes
    return (
        planted.window.holds(elapsed)
        and (not planted.locales or asked.locale in planted.locales)
        and (not probes or asked.kind in probes)
        and (cold or not planted.only_cold)
    )


def _planned_strike(planted: PlantedFault, rng: Random) -> Strike:
    fault = FAULT_NAMED[planted.fault]
    if fault.stands_for is None:
        return Strike(candidates=((fault, {**defaults(fault), **planted.parameters}),), planted=True, rng=rng)
    parameters: Mapping[str, Json] = {**defaults(fault), **planted.parameters}
    listed = [FAULT_NAMED[name] for name in parameters[fault.stands_for]]
    return Strike(candidates=_shuffled(listed, rng), planted=True, rng=rng)


def _by_chance(route: LabRoute, asked: Asked, rng: Random) -> tuple[Strike, ...]:
    noise = route.noise
    if rng.random() < noise.transport_errors:
        names = [FAULT_NAMED[name] for name in TRANSPORT_FAULTS]
        return (Strike(candidates=_shuffled(names, rng), planted=False, rng=rng),)
    struck: list[Strike] = []
    for contract in JUDGED_ON[asked.kind]:
        if rng.random() < noise.natural_failure:
            able = [FAULT_NAMED[name] for name in NATURAL_FAULTS[contract]]
            struck.append(Strike(candidates=_shuffled(able, rng), planted=False, rng=rng))
    return tuple(struck)


def _shuffled(faults: Sequence[Fault], rng: Random) -> tuple[tuple[Fault, Mapping[str, ParameterValue]], ...]:
    order = rng.sample(faults, len(faults))
    return tuple((fault, defaults(fault)) for fault in order)


@dataclass(slots=True)
class Hand:
    """Applies the strikes on one answer, value by value, and remembers which faults really struck."""

    strikes: tuple[Strike, ...]
    request: ChatRequest
    others: tuple[str, ...]
    struck: list[str] = field(default_factory=list)
    _later: list[tuple[Fault, Blow]] = field(default_factory=list)

    def on_answer(self, planned: PlannedAnswer) -> PlannedAnswer:
        for strike in self.strikes:
            for fault, parameters in strike.candidates:
                blow = Blow(rng=strike.rng, parameters=parameters, request=self.request, others=self.others)
                if fault.on_answer is None:
                    self._later.append((fault, blow))
                    break
                changed = fault.on_answer(planned, blow)
                if changed is not planned:
                    planned = changed
                    self.struck.append(fault.name)
                    break
        return planned

    def on_stream(self, stream: Stream) -> Stream:
        for fault, blow in self._later:
            if fault.on_stream is not None:
                changed = fault.on_stream(stream, blow)
                if changed is not stream:
                    stream = changed
                    self.struck.append(fault.name)
        return stream

    def on_wire(self, wire: Wire) -> Wire:
        for fault, blow in self._later:
            if fault.on_wire is not None:
                changed = fault.on_wire(wire, blow)
                if changed is not wire:
                    wire = changed
                    self.struck.append(fault.name)
        return wire
