"""How is whoever reads a gateway's listing called? Discovery is a stage, so its reader is handed in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing


class ReadListing(Protocol):
    def __call__(
        self,
        document: Json,
        *,
        model: ModelId,
        at: datetime,
        place: str,
        facts: Json,
        providers: Mapping[str, str],
    ) -> Listing: ...
