"""Which hosts does a rival keep away, and until when?"""

from __future__ import annotations

from datetime import timedelta

from routecanary.domain.names import RouteId


class Ejections:
    """Hosts with the time until which each is kept away."""

    def __init__(self) -> None:
        self._until: dict[RouteId, timedelta] = {}

    def put(self, host: RouteId, until: timedelta) -> None:
        self._until[host] = until

    def holds(self, host: RouteId, now: timedelta) -> bool:
        return self._until.get(host, now) > now

    def count(self, now: timedelta) -> int:
        """Count the hosts that are away now."""
        return sum(until > now for until in self._until.values())

    def away(self, now: timedelta, period: timedelta) -> dict[RouteId, float]:
        """Say which share of the next period each host is away."""
        self._until = {host: until for host, until in self._until.items() if until > now}
        return {host: min(1.0, (until - now) / period) for host, until in self._until.items()}
