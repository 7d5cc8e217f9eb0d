"""Which world does a scenario file mean? Its tables become the values of `host.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from routecanary.domain.names import parse_model
from routecanary.domain.probe import Json, ProbeKind
from routecanary.errors import InputError, ScenarioError
from routecanary.lab.fault import Fault, ListingFault
from routecanary.lab.faults import FAULT_NAMED, LISTING_FAULT_NAMED
from routecanary.lab.guardrails import LabGuardrail
from routecanary.lab.host import (
    Account,
    Expectation,
    LabModel,
    LabRoute,
    Noise,
    Pace,
    ParameterValue,
    PlantedFault,
    PlantedListingFault,
    Rules,
)
from routecanary.lab.keyring import DEFAULT_CREATOR, LabKey
from routecanary.lab.scenario import DEFAULT_KEY_NAME, Scenario
from routecanary.lab.shape import (
    FaultTable,
    ModelTable,
    NoiseTable,
    RouteTable,
    ScenarioTable,
    WindowTable,
    one_error,
    read_shape,
)


def scenario_from_table(table: Mapping[str, Json], place: str) -> Scenario:
    """Convert a decoded scenario file.

    Raises:
        ScenarioError: As for `scenario_from_toml`.
    """
    shape = read_shape(table, place)
    conversion = _Conversion(place)
    models = tuple(
        conversion.model(model, f"models[{index}]", shape.noise) for index, model in enumerate(shape.models)
    )
    if not models:
        conversion.refuse("no model", "models")
    names = Counter(name for model in models for name in {model.id, model.dated})
    for name, count in sorted(names.items()):
        if count > 1:
            conversion.refuse("names two models", "models", value=name)
    keys = conversion.keys(shape)
    guardrails = conversion.guardrails(shape, keys)
    if conversion.faults:
        raise one_error(conversion.faults)
    return Scenario(
        name=shape.name,
        about=shape.about,
        key=shape.key,
        keys=keys,
        guardrails=guardrails,
        guardrails_full_tags=shape.guardrails_full_tags,
        account=Account(shape.account.state),
        rules=Rules(
            withheld=shape.account.withheld,
            plugins=shape.account.plugins,
            response_cache=shape.account.response_cache,
            ignore_full_tags=shape.ignore_full_tags,
        ),
        models=models,
    )


_OF_ANSWERS: Final = frozenset({"probability", "locales", "probes", "only_cold", "seed"})


class _Everywhere(NamedTuple):
    """What befalls each route of a model."""

    faults: tuple[PlantedFault, ...]
    listing_faults: tuple[PlantedListingFault, ...]


def _expectation(shape: FaultTable) -> Expectation | None:
    return None if shape.expect is None else Expectation(shape.expect)


class _Conversion:
    """Converts tables and collects what is wrong between their fields."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.faults: list[ScenarioError] = []

    def refuse(self, problem: str, key: str, *, value: object = None, allowed: str | None = None) -> None:
        self.faults.append(ScenarioError(problem, place=self._place, key=key, value=value, allowed=allowed))

    def keys(self, shape: ScenarioTable) -> tuple[LabKey, ...]:
        keys = tuple(LabKey(**each.model_dump()) for each in shape.keys)
        for field, values in (("key", [each.key for each in keys]), ("name", [each.name for each in keys])):
            if len(set(values)) < len(values):
                self.refuse(f"two keys of one {field}", "keys")
        return keys

    def guardrails(self, shape: ScenarioTable, keys: Sequence[LabKey]) -> tuple[LabGuardrail, ...]:
        named = {each.name for each in keys} | {DEFAULT_KEY_NAME}
        members = {each.creator for each in keys} | {DEFAULT_CREATOR}
        for index, each in enumerate(shape.guardrails):
            at = f"guardrails[{index}]"
            for name in sorted(set(each.keys) - named):
                self.refuse("no such key", f"{at}.keys", value=name, allowed=", ".join(sorted(named)))
            for name in sorted(set(each.members) - members):
                self.refuse("made no key", f"{at}.members", value=name, allowed=", ".join(sorted(members)))
        guardrails = tuple(LabGuardrail(**each.model_dump()) for each in shape.guardrails)
        for name, count in sorted(Counter(each.id for each in guardrails).items()):
            if count > 1:
                self.refuse(
                    "two guardrails of one name, or two defaults of one workspace", "guardrails", value=name
                )
        return guardrails

    def model(self, shape: ModelTable, key: str, noise: NoiseTable) -> LabModel:
        everywhere = _Everywhere(
            self._planted(shape.faults, f"{key}.faults"),
            self._planted_in_listing(shape.faults, f"{key}.faults"),
        )
        routes = tuple(
            self._route(route, f"{key}.routes[{index}]", shape.noise or noise, everywhere)
            for index, route in enumerate(shape.routes)
        )
        if not routes:
            self.refuse("no route", f"{key}.routes")
        for tag, count in sorted(Counter(route.tag for route in routes).items()):
            if count > 1:
                self.refuse(
                    "two routes have this tag (twin rows are one route: rows = 2)", f"{key}.routes", value=tag
                )
        return LabModel(
            id=parse_model(shape.id),
            dated=shape.dated or f"{shape.id}-20260901",
            name=shape.name or shape.id,
            routes=routes,
        )

    def _route(self, shape: RouteTable, key: str, noise: NoiseTable, everywhere: _Everywhere) -> LabRoute:
        own = shape.noise or noise
        self._check_window(shape.listed, f"{key}.listed")
        return LabRoute(
            tag=shape.tag,
            provider=shape.provider,
            slug=shape.slug or shape.tag.split("/", maxsplit=1)[0],
            parameters=shape.parameters,
            rows=shape.rows,
            quantization=shape.quantization,
            price_prompt=shape.price_prompt,
            price_completion=shape.price_completion,
            context_length=shape.context_length,
            max_completion_tokens=shape.max_completion_tokens,
            status=shape.status,
            service_tier=shape.service_tier,
            official=shape.official,
            trains_on_data=shape.trains_on_data,
            keeps_data=shape.keeps_data,
            pace=Pace(
                first_text_seconds=shape.first_text_seconds,
                first_text_spread=shape.first_text_spread,
                tokens_per_second=shape.tokens_per_second,
                answer_seconds=shape.answer_seconds,
            ),
            noise=Noise(natural_failure=own.natural_failure, transport_errors=own.transport_errors),
            listed=shape.listed.window(),
            faults=self._planted(shape.faults, f"{key}.faults") + everywhere.faults,
            listing_faults=self._planted_in_listing(shape.faults, f"{key}.faults")
            + everywhere.listing_faults,
        )

    def _planted(self, shapes: Sequence[FaultTable], key: str) -> tuple[PlantedFault, ...]:
        return tuple(
            PlantedFault(
                fault=shape.fault,
                probability=shape.probability,
                window=shape.window(),
                locales=frozenset(shape.locales),
                probes=frozenset(ProbeKind(probe) for probe in shape.probes),
                parameters=self._parameters(shape, FAULT_NAMED[shape.fault], at),
                only_cold=shape.only_cold,
                seed=shape.seed,
                expect=_expectation(shape),
            )
            for at, shape in self._named(shapes, key, FAULT_NAMED)
        )

    def _planted_in_listing(self, shapes: Sequence[FaultTable], key: str) -> tuple[PlantedListingFault, ...]:
        planted: list[PlantedListingFault] = []
        for at, shape in self._named(shapes, key, LISTING_FAULT_NAMED):
            for name in sorted(shape.model_fields_set & _OF_ANSWERS):
                self.refuse("a fault of the listing strikes no single answer", f"{at}.{name}")
            planted.append(
                PlantedListingFault(
                    fault=shape.fault,
                    window=shape.window(),
                    parameters=self._parameters(shape, LISTING_FAULT_NAMED[shape.fault], at),
                    expect=_expectation(shape),
                )
            )
        return tuple(planted)

    def _named(
        self, shapes: Sequence[FaultTable], key: str, known: Container[str]
    ) -> Iterator[tuple[str, FaultTable]]:
        """Go through the tables of one kind of fault, each with its place in the file."""
        for index, shape in enumerate(shapes):
            if shape.fault in known:
                at = f"{key}[{index}]"
                self._check_window(shape, at)
                yield at, shape

    def _parameters(
        self, shape: FaultTable, fault: Fault | ListingFault, key: str
    ) -> dict[str, ParameterValue]:
        known = fault.parameters
        given: dict[str, ParameterValue] = {}
        for name, value in shape.parameters.items():
            at = f"{key}.parameters.{name[:80]}"
            if name not in known:
                allowed = ", ".join(known) or f"{shape.fault} takes none"
                self.refuse("unknown key", at, allowed=allowed)
                continue
            try:
                given[name] = known[name].read(value)
            except InputError as error:
                self.refuse(error.problem, at, value=error.value, allowed=error.allowed)
        return given

    def _check_window(self, shape: WindowTable, key: str) -> None:
        if shape.end is not None and shape.end <= shape.start:
            self.refuse("not after `from`", f"{key}.to")
        if (shape.every is None) != (shape.lasting is None):
            self.refuse("`every` and `lasting` go together", key)
        elif shape.every is not None and shape.lasting is not None and shape.lasting > shape.every:
            self.refuse("longer than `every`", f"{key}.lasting")
