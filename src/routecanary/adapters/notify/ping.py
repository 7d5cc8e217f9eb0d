"""A ping: whoever watches its address notices when it stays away."""

from __future__ import annotations

from datetime import timedelta

from routecanary.adapters.notify.http import send
from routecanary.domain.secret import Secret


class Ping:
    """An address that is asked after each round, with the meaning of `rounds.ports.Heartbeat`."""

    def __init__(self, url: Secret, *, timeout: timedelta, proxy_from_environment: bool = False) -> None:
        self._url = url
        self._timeout = timeout
        self._proxy_from_environment = proxy_from_environment

    async def beat(self) -> None:
        await send(
            "GET",
            self._url,
            within=self._timeout,
            proxy_from_environment=self._proxy_from_environment,
        )
