"""Did a request reach a route that was excluded when it was built? By a table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from routecanary.client.canary import CALL_COUNTERS
from routecanary.domain.exclusion import Layer
from routecanary.domain.generation import Source
from routecanary.domain.leak import LeakReason
from routecanary.domain.names import LANGUAGE, LATENCY, STRUCTURED, ContractName, Locale, RouteId
from routecanary.telemetry.leaks import History, Span, leak_of
from tests.story import START, moment
from tests.traffic import served, tags

GRACE = timedelta(seconds=5)
NEW = moment("2h")  # a list from after every exclusion here


def a_span(name: str, *contracts: ContractName, locales: str = "", layer: Layer = Layer.CANARY) -> Span:
    return Span(
        name=name,
        layer=layer,
        since=moment("1h"),
        until=moment("3h"),
        contracts=frozenset(contracts),
        locales=frozenset(map(Locale, locales.split())),
    )


HISTORY = History(
    spans={
        "slow": [a_span("slow", LATENCY)],
        "odd/fp4": [a_span("odd/fp4", LATENCY)],
        "json": [a_span("json", STRUCTURED)],
        "thai": [a_span("thai", LANGUAGE, locales="th")],
        "base": [a_span("base", layer=Layer.BUILTIN)],
        "by-hand": [a_span("by-hand", layer=Layer.RUNTIME)],
    },
    tiers=frozenset({RouteId("base/priority")}),
)


def found(by: str, at: str = "2h", **facts: Any) -> tuple[bool, str, str] | None:
    leak = leak_of(served(by, at, **{"list_written_at": NEW, **facts}), HISTORY, GRACE)
    return None if leak is None else (leak.certain, leak.reason.value, " ".join(sorted(leak.routes)))


@pytest.mark.parametrize(
    ("by", "facts", "expected"),
    [
        # who may have served it
        ("slow", {}, (True, "not_carried", "slow")),
        ("slow odd/fp4", {}, (True, "not_carried", "odd/fp4 slow")),
        ("odd odd/fp4", {}, (False, "not_carried", "odd/fp4")),
        ("fine", {}, None),
        ("", {}, None),
        # a slug names what is below it, never a tier; a tag never names a slug
        ("base/us", {}, (True, "not_carried", "base/us")),
        ("base/priority", {}, None),
        ("odd", {}, None),
        # what the request says
        ("slow", {"carried": tags("slow")}, (True, "carried", "slow")),
        ("odd odd/fp4", {"carried": tags("odd/fp4")}, (False, "carried", "odd/fp4")),
        ("slow odd/fp4", {"carried": tags("slow")}, (True, "not_carried", "odd/fp4 slow")),
        ("slow", {"unchanged": "preset"}, (True, "preset", "slow")),
        ("slow", {"unchanged": "whatever_is_new"}, (True, "other", "slow")),
        ("slow", {"unchanged": "carried"}, (True, "other", "slow")),
        ("slow", {"source": Source.BROADCAST, "list_written_at": None}, (True, "no_hook", "slow")),
        ("slow", {"source": Source.API, "list_written_at": None}, (True, "not_said", "slow")),
        ("slow", {"list_written_at": moment("59m59s")}, (True, "old_list", "slow")),
        ("slow", {"list_written_at": moment("1h")}, (True, "not_carried", "slow")),
        # left out by design
        ("slow", {"unchanged": "merge_would_empty"}, None),
        ("by-hand", {"unchanged": "merge_would_empty"}, (True, "merge_would_empty", "by-hand")),
        ("thai", {"locale": Locale("de")}, None),
        ("thai", {"locale": Locale("th")}, (False, "by_scope", "thai")),
        ("slow", {"locale": Locale("de")}, (True, "not_carried", "slow")),
        # left out by what the request may have said that it needs: never certain
        ("json", {}, (False, "by_scope", "json")),
        ("json slow", {}, (True, "not_carried", "json slow")),
        ("json", {"unchanged": "stale"}, (True, "stale", "json")),
        ("json", {"source": Source.BROADCAST}, (True, "no_hook", "json")),
        ("json", {"list_written_at": START}, (True, "old_list", "json")),
        ("base/us json", {}, (True, "not_carried", "base/us json")),
    ],
)
def test_each_generation_is_judged_by_what_is_told_of_it(
    by: str, facts: dict[str, Any], expected: tuple[bool, str, str] | None
) -> None:
    """Certain where all candidates were excluded and nothing says that it was meant so."""
    assert found(by, **facts) == expected


@pytest.mark.parametrize(
    ("at", "leaks"),
    [
        ("1h4s", False),
        ("1h5s", True),
        ("2h59m54s", True),
        ("2h59m55s", False),
        ("3h", False),
        ("59m", False),
    ],
)
def test_clocks_may_be_a_grace_apart(at: str, leaks: bool) -> None:
    """An exclusion counts from a grace after its beginning to a grace before its end."""
    assert (found("slow", at) is not None) is leaks


def test_what_has_no_end_goes_on() -> None:
    """Until the log says otherwise."""
    endless = History(spans={"a": [Span(name="a", layer=Layer.BUILTIN, since=START)]})
    assert leak_of(served("a", "30d"), endless, GRACE) is not None


def test_every_word_of_the_client_is_a_reason() -> None:
    """A reason that no client states any more is none; `other` is for words to come."""
    assert set(CALL_COUNTERS) <= set(LeakReason)


def test_time_that_two_layers_name_counts_once() -> None:
    """Within the window, and for each name."""
    twice = [a_span("a"), Span(name="a", layer=Layer.RUNTIME, since=moment("2h"), until=moment("4h"))]
    history = History(spans={"a": twice, "b": [a_span("b")]})
    assert history.seconds(moment("0s"), moment("1d")) == 5 * 3600
    assert history.seconds(moment("90m"), moment("2h30m")) == 2 * 3600
    assert history.seconds(moment("5h"), moment("6h")) == 0
