"""A webhook: each message as a signed POST."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from routecanary.adapters.notify.http import send
from routecanary.adapters.notify.signature import signature
from routecanary.clock import Clock
from routecanary.domain.outbox import Delivery
from routecanary.domain.secret import Secret

SIGNATURE: Final = "Routecanary-Signature"
TIMESTAMP: Final = "Routecanary-Timestamp"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"


class Webhook:
    """An address that takes messages, with the meaning of `rounds.ports.Channel`."""

    def __init__(
        self,
        name: str,
        url: Secret,
        secret: Secret,
        *,
        clock: Clock,
        timeout: timedelta,
        proxy_from_environment: bool = False,
    ) -> None:
        self.name = name
        self._url = url
        self._secret = secret
        self._clock = clock
        self._timeout = timeout
        self._proxy_from_environment = proxy_from_environment

    async def deliver(self, delivery: Delivery) -> None:
        body = delivery.body.encode("ascii")
        timestamp = str(int(self._clock.now().timestamp()))
        await send(
            "POST",
            self._url,
            within=self._timeout,
            headers={
                "Content-Type": "application/json",
                TIMESTAMP: timestamp,
                SIGNATURE: signature(self._secret, timestamp, body),
                IDEMPOTENCY_KEY: delivery.idempotency_key,
            },
            body=body,
            proxy_from_environment=self._proxy_from_environment,
        )
