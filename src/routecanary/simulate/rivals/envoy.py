"""Outlier detection of Envoy: consecutive 5xx, and success rate.

Source: https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier and
https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/outlier_detection.proto (API v3), with
their defaults: consecutive_5xx 5, interval 10 s, base_ejection_time 30 s, max_ejection_time 300 s,
max_ejection_percent 10 (one host in any case), success_rate_minimum_hosts 5, success_rate_request_volume 100,
success_rate_stdev_factor 1900, both enforced at 100 %. Local and upstream errors share a bucket, as they do
by default.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from statistics import fmean, pstdev
from typing import Final

from routecanary.domain.names import RouteId
from routecanary.simulate.asking import Signal
from routecanary.simulate.player import Begun, Played
from routecanary.simulate.rivals.ejections import Ejections
from routecanary.simulate.rounds import Told

CONSECUTIVE: Final = 5  # errors in a row
INTERVAL: Final = timedelta(seconds=10)
BASE_EJECTION: Final = timedelta(seconds=30)
MAX_EJECTION: Final = timedelta(seconds=300)
MOST_EJECTED: Final = 0.1  # of the hosts; one in any case
MINIMUM_HOSTS: Final = 5
REQUEST_VOLUME: Final = 100  # of a host in an interval
STDEV_FACTOR: Final = 1.9


class _Outliers:
    """What both detections do with a host that they find."""

    def __init__(self, period: timedelta, interval: timedelta) -> None:
        self._period, self._interval = period, interval
        self._factor = interval / INTERVAL  # the times that go with the interval stretch with it
        self._ejected = Ejections()
        self._in_a_row: dict[RouteId, int] = defaultdict(int)  # ejections, less the healthy intervals since
        self._last = timedelta()

    def settle(self, told: Told, found: Iterable[RouteId]) -> Played:
        """Eject what was found, as far as may be."""
        now, begun = told.since, []
        intervals = int((now - self._last) / self._interval)
        self._last = now
        for host in list(self._in_a_row):
            if not self._ejected.holds(host, now):
                self._in_a_row[host] = max(0, self._in_a_row[host] - intervals)
        for host in found:
            out = self._ejected.count(now)
            if self._ejected.holds(host, now) or (out and out + 1 > MOST_EJECTED * len(told.requests)):
                continue
            self._in_a_row[host] += 1
            length = min(BASE_EJECTION * self._in_a_row[host], MAX_EJECTION) * self._factor
            self._ejected.put(host, now + length)
            begun.append(Begun(host, None))
        return Played(self._ejected.away(now, self._period), tuple(begun))

    def holds(self, host: RouteId, now: timedelta) -> bool:
        return self._ejected.holds(host, now)


class EnvoyConsecutive:
    """So many errors in a row eject a host."""

    def __init__(self, period: timedelta, *, interval: timedelta = INTERVAL) -> None:
        """Set its pace.

        Args:
            period: Between two rounds.
            interval: Between two of its sweeps; its other times stretch with it.
        """
        self._outliers = _Outliers(period, interval)
        self._errors: dict[RouteId, int] = defaultdict(int)

    def play(self, told: Told) -> Played:
        found = []
        for host, requests in told.requests.items():
            if not any(requests):
                self._errors.pop(host, None)
                continue
            for signal in requests:
                self._errors[host] = 0 if signal is Signal.WELL else self._errors[host] + 1
                if self._errors[host] == CONSECUTIVE:
                    found.append(host)
                    self._errors[host] = 0
        return self._outliers.settle(told, dict.fromkeys(found))


class EnvoySuccessRate:
    """A host whose success rate lies far below the others' of the same interval is ejected."""

    def __init__(self, period: timedelta, *, interval: timedelta = INTERVAL) -> None:
        """Set its pace.

        Args:
            period: Between two rounds; the requests of one fall into one interval.
            interval: Between two of its sweeps; its other times stretch with it.
        """
        self._outliers = _Outliers(period, interval)
        self._interval = interval
        self._sweep = interval  # when it looks next
        self._requests: dict[RouteId, int] = defaultdict(int)
        self._well: dict[RouteId, int] = defaultdict(int)

    def play(self, told: Told) -> Played:
        for host, requests in told.requests.items():
            if not self._outliers.holds(host, told.since):
                self._requests[host] += len(requests)
                self._well[host] += requests.count(Signal.WELL)
        if told.since < self._sweep:
            return self._outliers.settle(told, ())
        self._sweep = told.since + self._interval
        rates = {
            host: self._well[host] / asked
            for host, asked in self._requests.items()
            if asked >= REQUEST_VOLUME
        }
        self._requests.clear()
        self._well.clear()
        found: list[RouteId] = []
        if len(rates) >= MINIMUM_HOSTS:
            least = fmean(rates.values()) - STDEV_FACTOR * pstdev(rates.values())
            found = [host for host, rate in rates.items() if rate < least]
        return self._outliers.settle(told, found)
