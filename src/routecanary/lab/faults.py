"""In which ways can a host of the lab misbehave?

A fault is one row: a name, a version, who sees it and by which verdict, and a change of one of the three
values that an answer goes through (plan.py). Only a change counts as struck. A second kind of row changes a
route's place in the listing (presence.py). A new fault is one function and one row in a file of `spoiling/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, LATENCY, STRUCTURED, ContractName
from routecanary.lab.fault import Fault, FaultNames, ListingFault
from routecanary.lab.spoiling.connection import CONNECTION
from routecanary.lab.spoiling.damage import DAMAGE
from routecanary.lab.spoiling.encoding import ENCODING
from routecanary.lab.spoiling.errors import ERRORS
from routecanary.lab.spoiling.filtering import FILTERS
from routecanary.lab.spoiling.frames import FRAMES
from routecanary.lab.spoiling.language import LANGUAGES
from routecanary.lab.spoiling.length import LENGTH
from routecanary.lab.spoiling.listed import LISTED
from routecanary.lab.spoiling.octets import OCTETS
from routecanary.lab.spoiling.provenance import PROVENANCE
from routecanary.lab.spoiling.start import START
from routecanary.lab.spoiling.structured import SCHEMAS
from routecanary.lab.spoiling.tempo import TEMPO
from routecanary.lab.spoiling.tokens import TOKENS

_SIMPLE: Final[tuple[Fault, ...]] = (
    *START,
    *LANGUAGES,
    *ENCODING,
    *DAMAGE,
    *TOKENS,
    *LENGTH,
    *TEMPO,
    *FILTERS,
    *SCHEMAS,
    *PROVENANCE,
    *ERRORS,
    *CONNECTION,
    *FRAMES,
    *OCTETS,
)

FAULTS: Final[tuple[Fault, ...]] = (
    *_SIMPLE,
    Fault(
        name="flaky",
        version=1,
        seen_by=(INTEGRITY, STRUCTURED),
        gives=("fail:corrupt_start", "fail:json_trailing", "fail:json_invalid", "fail:json_schema"),
        does="Spoils an answer by one of several other faults; its probability says how often.",
        stands_for="of",
        parameters={
            "of": FaultNames(
                default=("spoiled_start", "schema_break"), options=tuple(fault.name for fault in _SIMPLE)
            )
        },
    ),
)

LISTING_FAULTS: Final[tuple[ListingFault, ...]] = LISTED

LISTING_FAULT_NAMED: Final[Mapping[str, ListingFault]] = {fault.name: fault for fault in LISTING_FAULTS}

FAULT_NAMED: Final[Mapping[str, Fault]] = {fault.name: fault for fault in FAULTS}

NATURAL_FAULTS: Final[Mapping[ContractName, tuple[str, ...]]] = {
    LATENCY: ("slow_first_text",),
    FILTERING: ("filtering_refusal",),
    STRUCTURED: ("spoiled_start", "schema_break", "fenced_json"),
    LANGUAGE: ("pt_es_mixing", "wrong_language"),
    INTEGRITY: ("spoiled_start",),
}
"""What healthy routes do now and then, by the contract that it fails."""

TRANSPORT_FAULTS: Final = ("rate_limit_shared_pool", "cut_stream")
"""What befalls healthy routes now and then on the way."""
