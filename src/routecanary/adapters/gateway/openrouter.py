"""How is OpenRouter asked?

Beside the listing it tells what the model itself can do, and which provider has which name; what the listing
means is not known here, and its reader is handed in.

Source: openrouter-wire.md §0, §1, §5.3, §6.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from routecanary.adapters.gateway.documents import key_info_from_json, providers_from_json
from routecanary.adapters.gateway.listing import ReadListing
from routecanary.adapters.gateway.transport import Reach, Transport
from routecanary.domain.account import KeyInfo
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json, Probe
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Transcript
from routecanary.errors import GatewayError

NAMES_KEPT: Final = timedelta(days=1)  # of clock time

HEADERS: Final = {"X-OpenRouter-Cache": "false", "X-OpenRouter-Metadata": "enabled"}


class OpenRouterGateway:
    """The gateway, as discovery and probing need it. Enter it before use; leaving closes the connections."""

    def __init__(self, reach: Reach, *, read_listing: ReadListing) -> None:
        """Hold what is needed; nothing is opened yet.

        Raises:
            ConfigError: The address or the key cannot be used.
        """
        self._transport = Transport(reach, headers=HEADERS)
        self._clock = reach.clock
        self._read_listing = read_listing
        self._naming = asyncio.Lock()
        self._names: Mapping[str, str] = {}  # display name → base slug
        self._named_at: float | None = None

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    async def ask(self, probe: Probe) -> Transcript:
        """Ask one probe and keep whatever comes."""
        return await self._transport.ask(probe)

    async def listing(self, model: ModelId) -> Listing:
        """Discover the routes of a model.

        Raises:
            GatewayError: The gateway could not be asked, or does not know the model.
            ListingError: It answered something that is not a listing.
        """
        path = f"/models/{quote(model, safe='/:')}/endpoints"
        place = f"GET {path}"
        document = await self._transport.listing(path)
        facts = await self._facts(model)
        names = await self._provider_names()
        return self._read_listing(
            document, model=model, at=self._clock.now(), place=place, facts=facts, providers=names
        )

    async def _facts(self, model: ModelId) -> Json:
        """Ask for what the gateway says of the model itself; None where that cannot be had."""
        try:
            return await self._transport.document(f"/model/{quote(model, safe='/:')}")
        except GatewayError:
            return None

    async def _provider_names(self) -> Mapping[str, str]:
        """Look up the providers at most once a day; without an answer, what was known stands."""
        async with self._naming:
            now = self._clock.elapsed()
            if self._named_at is None or now - self._named_at >= NAMES_KEPT.total_seconds():
                try:
                    self._names = await self.providers()
                except GatewayError:
                    pass  # the listing names most of them by itself
                self._named_at = now
            return self._names

    async def providers(self) -> Mapping[str, str]:
        """Look up the providers: display name → base slug.

        Raises:
            GatewayError: The gateway could not be asked, or answered no list of providers.
        """
        return providers_from_json(await self._transport.document("/providers"), "GET /providers")

    async def key(self) -> KeyInfo:
        """Ask what our key may still spend.

        Raises:
            GatewayError: The gateway could not be asked, or refused the key.
        """
        return key_info_from_json(await self._transport.document("/key"), "GET /key")
