"""The whole way: a route suspended by real rounds, an application with a hook, one without, and the proof."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.clock import SystemClock
from routecanary.domain.token import Role
from routecanary.hooks.httpx import CanaryTransport
from routecanary.wiring import offline_records, settings_at
from tests.commandline import MODEL, SPOILED, a_config, a_lab, called, environment
from tests.hooked import AUTHORIZATION, CHEAPEST_SPOILED, PROMPT
from tests.serving import LISTEN, listening, make_tokens

BODY = {
    "model": MODEL,
    "messages": [{"role": "user", "content": PROMPT}],
    "provider": {"sort": "price"},
}
GRACE = '[traffic]\ngrace = "1s"\n'


def test_who_carries_the_list_leaks_nothing_and_who_does_not_is_found(tmp_path: Path) -> None:
    """The cheapest route is suspended: with the hook no answer is its own, with a blind one every one is."""
    environ = environment(tmp_path, COLUMNS="200")
    with a_lab(CHEAPEST_SPOILED) as lab:
        config = a_config(tmp_path, lab.base_url, more=LISTEN + GRACE, period="30m")
        settings = settings_at(config)

        def audit() -> Any:
            ran = called("leaks", MODEL, "--config", config, "--json", environ=environ)
            (report,) = ran.json
            return ran.code, report

        token = make_tokens(settings)[Role.APP]
        assert called("mode", MODEL, "enforce", "--force", "--config", config, environ=environ).code == 0
        for _ in range(2):
            assert called("round", MODEL, "--config", config, environ=environ).code == 0
        with offline_records(settings, SystemClock()) as records:
            assert SPOILED in records.ledger.state(MODEL).suspensions()
        time.sleep(1.5)  # the grace: what is asked within it is nobody's leak
        with listening(settings, SystemClock()) as (applications, _):
            sender = Sender(f"http://{applications}", token)
            with Canary(settings.snapshot_path, thread=False) as canary:
                transport = CanaryTransport(
                    httpx.HTTPTransport(), canary, sender=sender, gateway=lab.base_url
                )
                with httpx.Client(transport=transport, headers=AUTHORIZATION) as client:
                    for _ in range(8):
                        client.post(f"{lab.base_url}/chat/completions", json=BODY)
            assert sender.flush(20)
            code, report = audit()
            assert (code, report["generations"], report["unplaced"]) == (0, 8, 0)
            assert (report["leaked"], report["possible"], report["leaks"]) == (0, 0, [])
            assert SPOILED not in report["routes"]
            assert report["excluded_route_hours"] > 0

            with Canary(tmp_path / "nowhere.json", thread=False) as blind:
                transport = CanaryTransport(httpx.HTTPTransport(), blind, sender=sender, gateway=lab.base_url)
                with httpx.Client(transport=transport, headers=AUTHORIZATION) as client:
                    for _ in range(3):
                        client.post(f"{lab.base_url}/chat/completions", json=BODY)
            assert sender.flush(20)
            sender.close()
            code, report = audit()
    assert (code, report["generations"], report["leaked"], report["possible"]) == (1, 11, 3, 0)
    (leak,) = report["leaks"]
    assert (leak["reason"], leak["routes"], leak["count"]) == ("no_snapshot", [SPOILED], 3)
    assert set(leak["examples"]) <= {served.id for served in lab.ledger}
