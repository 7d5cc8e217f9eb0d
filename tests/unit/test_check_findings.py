"""What `check` finds wrong with a key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from routecanary.cli.check_findings import findings
from routecanary.cli.checked import Checked, Looked, ModelCheck
from routecanary.discover.withheld import Withheld
from routecanary.domain.account import KeyInfo
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.route import Listing, Route
from routecanary.domain.settings import ModelSettings, ScheduleSettings, Settings
from routecanary.domain.times import parse_duration
from routecanary.rounds.estimate import Basis, Estimate
from routecanary.rounds.preflight import Preflight

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
MODEL = ModelSettings(model=ModelId("acme/chat"))
TAGS = [RouteId(tag) for tag in ("alpha", "beta", "gamma")]
LISTING = Listing(
    model=MODEL.model,
    at=NOW,
    routes=tuple(Route(tag=tag, provider_names=frozenset()) for tag in TAGS),
)
A_DAY = Decimal("0.48")  # USD, in 48 rounds


def found(
    key: KeyInfo, *, expected: Decimal = A_DAY / 48, known_through: GatewayKind | None = None
) -> list[str]:
    estimate = Estimate(
        probes=9,
        expected=expected,
        basis=Basis.TEXTS,
        rounds=0,
        worst=expected * 4,
        dearest=expected,
        dearest_route=TAGS[0],
        unpriced=(),
    )
    told = Withheld(by_step={}, reached=frozenset(TAGS))
    one = ModelCheck(
        model=MODEL,
        named=LISTING,
        listing=LISTING,
        preflights={"always": Preflight(told=told, routing=None)},
        admitted=frozenset(TAGS),
        estimate=estimate,
        known_through=known_through,
    )
    settings = Settings(store_path="nowhere", snapshot_path="nowhere", models=(MODEL,))
    looked = Looked(key=key, models=(one,), trials=None)
    return findings(
        Checked(settings=settings, now=NOW, committed=Decimal(0), undivided=frozenset(), looked=looked)
    )


FINE = KeyInfo(limit_remaining=A_DAY, is_free_tier=False, byok_usage=Decimal(0))


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({}, None),
        ({"limit_remaining": None}, None),
        ({"limit_remaining": Decimal(0)}, "the key's limit is used up"),
        ({"limit_remaining": Decimal("-1")}, "the key's limit is used up"),
        (
            {"limit_remaining": Decimal("0.47")},
            "the key's limit leaves 0.4700 USD, and a day is expected to cost 0.4800",
        ),
        ({"expires_at": NOW}, "the key expired at 2026-01-05T12:00:00Z"),
        (
            {"expires_at": NOW + timedelta(days=7)},
            "the key expires in 7d, at 2026-01-12T12:00:00Z",
        ),
        ({"expires_at": NOW + timedelta(days=7, seconds=1)}, None),
        ({"is_management_key": True}, "the key is a management key"),
        ({"is_free_tier": True}, "the key is of the free tier"),
        (
            {"byok_usage": Decimal("0.5")},
            "0.5000 USD were spent through keys of your own at providers (BYOK)",
        ),
    ],
)
def test_what_is_wrong_with_a_key_is_found(change: dict[str, object], finding: str | None) -> None:
    """At the edge: what a day needs is enough, and a week is soon."""
    told = found(replace(FINE, **change))  # type: ignore[arg-type]
    if finding is None:
        assert told == []
    else:
        assert len(told) == 1
        assert told[0].startswith(finding)


def test_a_key_of_the_free_tier_is_enough_for_free_models() -> None:
    """Where nothing costs anything, it is no finding."""
    assert found(replace(FINE, is_free_tier=True), expected=Decimal(0)) == []


@pytest.mark.parametrize(
    ("recheck", "gap", "says"),
    [
        (False, "3m", None),
        (True, "20m", "such a round costs money and never counts"),
        (True, "5m", "trouble that passes within minutes counts as reproduced"),
    ],
)
def test_rechecks_are_warned_of(recheck: bool, gap: str, says: str | None) -> None:
    """Within the gap they cannot count; a gap lowered for them is a choice to be aware of."""
    settings = Settings(
        store_path="nowhere",
        snapshot_path="nowhere",
        models=(MODEL,),
        schedule=ScheduleSettings(recheck=recheck),
        policy=Policy(min_round_gap=parse_duration(gap)),
    )
    said = findings(
        Checked(settings=settings, now=NOW, committed=Decimal(0), undivided=frozenset(), looked=None)
    )
    assert [says in one for one in said if says] == ([True] if says else [])
    assert len(said) == (1 if says else 0)


def test_a_store_of_another_gateway_is_told_of() -> None:
    """Both may have a route of one name, which are two routes."""
    ample = KeyInfo()
    assert found(ample, known_through=GatewayKind.OPENROUTER) == found(ample) == []
    (finding,) = found(ample, known_through=GatewayKind.VERCEL)
    assert finding.startswith("acme/chat: the store knows its routes through vercel, and openrouter is asked")
