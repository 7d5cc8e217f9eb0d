"""How is the Vercel AI Gateway asked?

By the OpenAI-compatible part of it: a listing of a model's endpoints, chat completions, and the credit that
is left. What the listing means is not known here, and its reader is handed in.

Source: docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Final, Self
from urllib.parse import quote

from routecanary.adapters.gateway.documents import credits_from_json
from routecanary.adapters.gateway.listing import ReadListing
from routecanary.adapters.gateway.transport import Reach, Transport
from routecanary.domain.account import KeyInfo
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Probe
from routecanary.domain.route import Listing
from routecanary.domain.transcript import Transcript

NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


class VercelGateway:
    """The gateway, as discovery and probing need it. Enter it before use; leaving closes the connections."""

    def __init__(self, reach: Reach, *, read_listing: ReadListing) -> None:
        """Hold what is needed; nothing is opened yet.

        Raises:
            ConfigError: The address or the key cannot be used.
        """
        self._transport = Transport(reach, headers={})
        self._clock = reach.clock
        self._read_listing = read_listing

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
        document = await self._transport.listing(path)
        return self._read_listing(
            document,
            model=model,
            at=self._clock.now(),
            place=f"GET {path}",
            facts=None,
            providers=NO_NAMES,
        )

    async def providers(self) -> Mapping[str, str]:
        """Look up the providers: display name → base slug. There is none: here a name is a slug."""
        return NO_NAMES

    async def key(self) -> KeyInfo:
        """Ask what may still be spent; here that is the account's, not the key's own.

        Raises:
            GatewayError: The gateway could not be asked, or refused the key.
        """
        return credits_from_json(await self._transport.document("/credits"), "GET /credits")
