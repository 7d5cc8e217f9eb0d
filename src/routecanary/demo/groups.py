"""Which faults are tried side by side, among how many healthy routes, and by which questions?

A group is small enough that neither the floor nor the share nor a common cause decides. Every fault of the
lab is in some group. Two of them show only where the question lets them: `stop_ignored` in scenes with a stop
word, which are one in twelve of the shipped ones, and `cross_talk` where the prompt gives a code, which none
does. Rounds in which they cannot show would part those in which they do; so each is asked only where it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Final

from routecanary.domain.names import Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.lab.fault import UNSEEN, Fault, ListingFault
from routecanary.lab.faults import FAULTS, LISTING_FAULTS
from routecanary.lab.host import (
    Expectation,
    LabModel,
    LabRoute,
    PlantedFault,
    PlantedListingFault,
    Window,
)
from routecanary.lab.scenario import Scenario
from routecanary.lab.shape import DEFAULT_PARAMETERS
from routecanary.probe.catalog import Catalog

FAULTY: Final = 5  # routes of a group, at most
HEALTHY: Final = 15
MODEL: Final = ModelId("acme/chat-70b")  # its id states a size, so that another size is a wrong model
CODE: Final = "KITE-4821"
EVERY_FAULT: Final[tuple[Fault | ListingFault, ...]] = (*FAULTS, *LISTING_FAULTS)
_CHANGED: Final = Window(start=timedelta(minutes=20), end=timedelta(minutes=50))  # the second round


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Some faulty routes among healthy ones, and what they are asked."""

    faults: tuple[Fault | ListingFault, ...]
    scenario: Scenario
    catalog: Catalog
    locales: tuple[Locale, ...]

    def tag(self, fault: Fault | ListingFault) -> RouteId:
        """Name the route in which a fault is planted."""
        return RouteId(fault.name.replace("_", "-"))


def expectation_of(fault: Fault | ListingFault) -> Expectation:
    """Say what shall become of a route with this fault: what a contract can fail leads to a suspension."""
    if isinstance(fault, ListingFault) or UNSEEN in fault.seen_by:
        return Expectation.NOT_SUSPENDED
    if fault.gives[0].startswith("fail:"):
        return Expectation.SUSPENDED
    fails = any(verdict.startswith("fail:") for verdict in fault.gives)
    return Expectation.EITHER if fails else Expectation.NOT_SUSPENDED


def groups_for(faults: Sequence[Fault | ListingFault], catalog: Catalog, *, seed: int) -> Iterator[Group]:
    """Make the groups of one seed, which shuffles the faults and turns the rotation of the locales."""
    rng = Random(seed)  # noqa: S311 - a lab
    usual: list[Fault | ListingFault] = []
    accounts: list[Fault | ListingFault] = []
    for fault in faults:
        if fault.name == "stop_ignored":
            yield _group([fault], _with_stops(catalog), rng)
        elif fault.name == "cross_talk":
            yield _group([fault], _with_codes(catalog), rng)
        elif fault.gives[0].startswith("account:"):
            accounts.append(fault)  # each of them ends the round for everybody
        else:
            usual.append(fault)
    rng.shuffle(usual)
    for some in (*_parted(usual), *_parted(accounts)):
        yield _group(some, catalog, rng)


def _parted(faults: Sequence[Fault | ListingFault]) -> Iterator[Sequence[Fault | ListingFault]]:
    for start in range(0, len(faults), FAULTY):
        yield faults[start : start + FAULTY]


def _group(faults: Sequence[Fault | ListingFault], catalog: Catalog, rng: Random) -> Group:
    locales = catalog.locales()
    turn = rng.randrange(len(locales))
    routes = (*(_faulty(fault) for fault in faults), *(_healthy(number) for number in range(HEALTHY)))
    model = LabModel(id=MODEL, dated=f"{MODEL}-20260901", name="Acme: Chat 70B", routes=routes)
    return Group(
        faults=tuple(faults),
        scenario=Scenario(name="full", models=(model,)),
        catalog=catalog,
        locales=(*locales[turn:], *locales[:turn]),
    )


def _faulty(fault: Fault | ListingFault) -> LabRoute:
    route = _route(fault.name.replace("_", "-"), fault.name.replace("_", " ").capitalize())
    if isinstance(fault, ListingFault):
        return replace(route, listing_faults=(PlantedListingFault(fault=fault.name, window=_CHANGED),))
    return replace(route, faults=(PlantedFault(fault=fault.name),))


def _healthy(number: int) -> LabRoute:
    return _route(f"healthy-{number + 1:02}/fp8", f"Healthy {number + 1}")


def _route(tag: str, provider: str) -> LabRoute:
    slug = tag.split("/", maxsplit=1)[0]
    return LabRoute(tag=RouteId(tag), provider=provider, slug=slug, parameters=DEFAULT_PARAMETERS)


def _with_stops(catalog: Catalog) -> Catalog:
    """Keep the chat scenes with a stop word; a locale without one is not asked."""
    kept = (
        replace(spec, scenes=tuple(scene for scene in spec.scenes if scene.stop is not None))
        if spec.kind is ProbeKind.CHAT
        else spec
        for spec in catalog.specs
    )
    return Catalog(specs=tuple(spec for spec in kept if spec.scenes))


def _with_codes(catalog: Catalog) -> Catalog:
    """Let every chat prompt ask for a code."""

    def coded(scene: Scene) -> Scene:
        return replace(scene, prompt=f"{scene.prompt}\n\nBelow the scene put the code {CODE}.")

    return Catalog(
        specs=tuple(
            replace(spec, scenes=tuple(map(coded, spec.scenes))) if spec.kind is ProbeKind.CHAT else spec
            for spec in catalog.specs
        )
    )
