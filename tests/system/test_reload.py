"""Another configuration, taken over between the rounds or refused as a whole; and one daemon a store."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.lock import lock_path
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.operating import Reload
from routecanary.domain.operation import Reloaded, operation_draft
from routecanary.domain.policy import Policy
from routecanary.domain.route import Listing
from routecanary.domain.settings import GatewaySettings, ScheduleSettings, Settings
from routecanary.errors import ConfigError, ConfigFaultsError
from routecanary.wiring import Configuration
from tests.commandline import a_lab, called, environment
from tests.system.test_daemon import the_daemon, until
from tests.watched import NAME, START, Host, Turn, Watched, a_configuration, a_watch, run, some_settings

HOURLY = ScheduleSettings(period=timedelta(hours=1), jitter=timedelta())


def a_reloading_watch(
    settings: Settings,
    script: list[Turn],
    read: Callable[[Watched], Configuration],
    *,
    after: timedelta,
) -> Watched:
    """Run a daemon that is told to reload once, some time after its start."""
    watched: Watched

    def read_now() -> Configuration:
        return read(watched)

    watched = a_watch(settings, script, read=read_now)
    watched.clock.after(after, watched.supervisor.reload)
    return run(watched)


def test_a_new_configuration_is_in_force_from_the_next_wait_on(tmp_path: Path) -> None:
    """Another period, another policy, another gateway; the old gateway is not asked again."""
    settings = some_settings(tmp_path)
    others: list[Host] = []

    def read(watched: Watched) -> Configuration:
        other = Host(watched.clock, [None])
        other.at_end = watched.supervisor.stop
        others.append(other)
        return a_configuration(replace(settings, schedule=HOURLY, policy=Policy(floor=5)), other)

    watched = a_reloading_watch(settings, [None, None, None], read, after=timedelta(minutes=20))
    assert watched.moments == ["10:47:00", "11:00:00"]
    (other,) = others
    assert [f"{at:%H:%M}" for at in other.asked_at] == ["12:00", "13:00"]
    assert other.entered == 0, "it was entered, and left at the end"
    assert watched.operations(Reloaded) == [Reloaded(at=START + timedelta(minutes=20), ok=True)]
    assert watched.world.ledger.state(NAME).capacity_low, "three routes are fewer than the new floor"


def test_values_never_change_during_a_round(tmp_path: Path) -> None:
    """A reload that comes while the listing is read waits for the round; the next round waits for it."""
    settings = some_settings(tmp_path)
    seen: list[tuple[str, int]] = []

    class Slow(Host):
        async def listing(self, model: object) -> Listing:
            listing = await super().listing(model)  # type: ignore[arg-type]
            if len(self.asked_at) == 2:
                watched.supervisor.reload()
                for _ in range(3):
                    await self._clock.sleep(60)
                    seen.append((f"{self._clock.now():%H:%M}", watched.world.settings.policy.floor))
            return listing

    def read() -> Configuration:
        return a_configuration(replace(settings, policy=Policy(floor=3)), watched.host)

    watched = a_watch(settings, [], read=read)
    slow = Slow(watched.clock, [None, None, None])
    slow.at_end = watched.supervisor.stop
    watched.host = watched.world.gateway = slow
    run(watched)
    assert seen == [("11:01", 2), ("11:02", 2), ("11:03", 2)]
    assert watched.world.settings.policy.floor == 3
    (reloaded,) = watched.operations(Reloaded)
    assert f"{reloaded.at:%H:%M}" == "11:03"


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ConfigError("bad", place="x.toml", key="k", value=1), "x.toml: k: bad (got 1)"),
        (ConfigFaultsError([ConfigError("one"), ConfigError("two")]), "one; two"),
        (ZeroDivisionError("secret"), "an error of our own: ZeroDivisionError"),
    ],
)
def test_a_bad_configuration_changes_nothing(
    tmp_path: Path, error: Exception, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is refused as a whole, told once, and the rounds go on as before."""

    def read(_: Watched) -> Configuration:
        raise error

    watched = a_reloading_watch(
        some_settings(tmp_path), [None, None, None], read, after=timedelta(minutes=20)
    )
    assert watched.moments == ["10:47:00", "11:00:00", "11:30:00", "12:00:00"]
    at = START + timedelta(minutes=20)
    assert watched.operations(Reloaded) == [Reloaded(at=at, ok=False, detail=detail)]
    assert watched.world.ledger.operating().reload == Reload(at=at, ok=False, detail=detail)
    assert "reload" in watched.world.ledger.conditions().of(None)
    assert f"configuration refused, the old one stays error={detail}" in caplog.messages


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        (
            {"store_path": "elsewhere"},
            "store.path: cannot be changed while the daemon runs (got 'elsewhere'); allowed: 'nowhere'",
        ),
        (
            {"gateway": GatewaySettings(kind=GatewayKind.VERCEL)},
            "gateway.kind: cannot be changed while the daemon runs (got 'vercel'); allowed: 'openrouter'",
        ),
    ],
)
def test_another_store_or_gateway_needs_a_restart(
    tmp_path: Path, changes: dict[str, Any], refusal: str
) -> None:
    """The log cannot be changed under a running daemon, nor what its routes are the routes of."""
    settings = some_settings(tmp_path)

    def read(watched: Watched) -> Configuration:
        return a_configuration(replace(settings, **changes), watched.host)

    watched = a_reloading_watch(settings, [None, None], read, after=timedelta(minutes=5))
    (refused,) = watched.operations(Reloaded)
    assert isinstance(refused, Reloaded)
    assert not refused.ok
    assert refused.detail == f"configuration: {refusal} until a restart"


def test_models_come_and_go(tmp_path: Path) -> None:
    """A new model is asked at once, one that is configured no more is left alone, and the others go on."""
    two = some_settings(tmp_path, models=2)
    three = some_settings(tmp_path, models=3)
    changed = replace(three, models=three.models[1:])

    def read(watched: Watched) -> Configuration:
        return a_configuration(changed, watched.host)

    watched = a_reloading_watch(two, [None] * 7, read, after=timedelta(minutes=20))
    asked = list(zip(watched.moments, [model[-1] for model in watched.host.asked_for], strict=True))
    assert sorted(asked[:7]) == [
        ("10:47:00", "2"),
        ("10:47:00", "3"),
        ("11:00:00", "2"),
        ("11:00:00", "3"),
        ("11:07:00", "4"),
        ("11:30:00", "3"),
        ("11:30:00", "4"),
    ]


def test_a_start_with_a_good_configuration_ends_the_news_of_a_bad_one(tmp_path: Path) -> None:
    """Refused, repaired, restarted: the gauge says well again."""
    watched = a_watch(some_settings(tmp_path), [None])
    watched.world.ledger.note(operation_draft(Reloaded(at=START, ok=False, detail="x")))
    run(watched)
    assert watched.world.ledger.operating().reload == Reload(at=START, ok=True)


# As processes


def test_the_daemon_is_reloaded_by_a_command_and_keeps_the_old_values_of_a_bad_file(tmp_path: Path) -> None:
    """The command says how it went; `status` shows the two gauges; a second daemon is refused."""
    with a_lab() as lab, the_daemon(tmp_path, lab.base_url) as process:
        config = tmp_path / "routecanary.toml"
        good = config.read_text(encoding="utf-8")
        environ = environment(tmp_path)
        until(lambda: lock_path(tmp_path / "events.sqlite3").exists())

        said = called("reload", "--json", "--config", config, environ=environ)
        assert (said.code, said.err) == (0, "")
        assert said.json == {"pid": process.pid, "ok": True, "detail": ""}

        second = called("run", "--config", config, environ=environ)
        assert second.code == 5
        assert second.err == (
            f"routecanary: {tmp_path / 'events.sqlite3'}: the daemon with process id {process.pid} "
            "watches this store already\n"
        )

        # bad for the daemon alone: the command reads the settings, and no texts
        config.write_text(good.replace("[probes]", '[probes]\nlocales = ["en", "sv"]'), encoding="utf-8")
        said = called("reload", "--config", config, environ=environ)
        assert said.code == 2
        assert "the daemon refused the configuration and keeps the old one: " in said.err
        assert "'sv'" in said.err
        canary = called("status", "--json", "--config", config, environ=environ).json["canary"]
        assert canary["daemon"] == process.pid
        assert canary["last_reload"]["ok"] is False
        assert canary["alerts"] == ["reload_failed"]

        config.write_text(good.replace('period = "1s"', 'period = "2s"'), encoding="utf-8")
        process.send_signal(signal.SIGHUP)
        until(lambda: (tmp_path / "log").read_text().count("configuration taken over") == 2)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    said = called("reload", "--config", config, environ=environ)
    assert (said.code, said.out) == (1, "")
    assert said.err == f"routecanary: {tmp_path / 'events.sqlite3'}: no daemon watches this store\n"
