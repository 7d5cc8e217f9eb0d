"""How long may one asking be, at most, whatever scene and nonce are drawn?

A confirmation asks another scene than the first attempt, so the bound is over all scenes of a text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from routecanary.domain.money import Extent
from routecanary.domain.names import ContractName, Locale
from routecanary.domain.probe import ProbeKind, ProbeSpec
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ContractSettings
from routecanary.probe.catalog import Catalog
from routecanary.probe.pin import TOKENS_AROUND_PROMPT, room_wanted
from routecanary.probe.plan import CONTRACTS_FED


class Extents:
    """The bounds of one listing's probes; what only the text decides is worked out once."""

    def __init__(self, listing: Listing, catalog: Catalog, *, reasoning_room: int) -> None:
        self._listing = listing
        self._catalog = catalog
        self._reasoning_room = reasoning_room
        self._prompts: dict[tuple[ProbeKind, Locale], int] = {}

    def of(self, route: Route, kind: ProbeKind, locale: Locale) -> Extent:
        """Bound one asking of a route.

        Raises:
            LookupError: There is no text of this kind and locale.
        """
        spec = self._catalog.find_or_fallback(kind, locale)
        if spec is None:
            raise LookupError(f"no {kind} text for {locale}")
        known = (spec.kind, spec.locale)
        if known not in self._prompts:
            self._prompts[known] = most_prompt_tokens(spec)
        room = room_wanted(self._listing, route, spec, self._reasoning_room)
        if route.max_completion_tokens is not None:
            room = min(room, route.max_completion_tokens)
        return Extent(prompt=self._prompts[known], completion=room)


def most_prompt_tokens(spec: ProbeSpec) -> int:
    """Bound the tokens of a text's longest prompt: no token is shorter than a byte.

    A schema counts too, since some hosts write it into the prompt.
    """
    fillings = {"{place}": spec.places, "{date}": spec.dates, "{name}": spec.people}
    longest = {name: max(words, key=_bytes, default="") for name, words in fillings.items()}
    prompts = []
    for scene in spec.scenes:
        prompt = scene.prompt
        for name, word in longest.items():
            prompt = prompt.replace(name, word)
        prompts.append(_bytes(prompt))
    schema = 0 if spec.schema is None else _bytes(json.dumps(spec.schema))
    return max(prompts, default=0) + _bytes(spec.system or "") + schema + TOKENS_AROUND_PROMPT


def most_askings(
    kind: ProbeKind,
    contracts: Mapping[ContractName, ContractSettings],
    enabled: Collection[ContractName],
) -> int:
    """Count how often a probe is asked in a round if every contract that it feeds fails: once, and again."""
    return 1 + max(
        (contracts[name].confirmations for name in CONTRACTS_FED[kind] if name in enabled), default=0
    )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
