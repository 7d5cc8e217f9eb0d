"""Whom to tell: what the file says, and where the secrets are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from routecanary.adapters.config.load import read_webhook_secret, settings_from_toml
from routecanary.domain.secret import Secret
from routecanary.domain.settings import NotifySettings, Settings, WebhookSettings
from routecanary.errors import ConfigError

ADDRESS = Secret("https://hooks.example/T0K3N?key=hunter2")
LONG = "correct-horse-battery"


def settings(text: str) -> Settings:
    return settings_from_toml(text, "x.toml", base=Path("/etc/canary"), environ={"HOME": "/home/ada"})


def test_everything_of_the_table_is_taken_over() -> None:
    """Each option reaches the settings; a secret's file counts from the configuration's folder."""
    found = settings(
        """
        [notify]
        webhooks.ops = { url = "https://hooks.example/T0K3N?key=hunter2", secret_env = "HOOK" }
        webhooks.b-2 = { url = "http://127.0.0.1:9000/x", secret_file = "hook.secret" }
        on_event = ["page", "-v", "-v"]
        ping_url = "https://ping.example/uuid"
        overdue_after = "2h"
        timeout = "3s"
        max_attempts = 5
        retry_wait = ["1s", "2m"]
        keep = "7d"
        """
    )
    assert found.notify == NotifySettings(
        webhooks={
            "ops": WebhookSettings(url=ADDRESS, secret_env="HOOK"),
            "b-2": WebhookSettings(
                url=Secret("http://127.0.0.1:9000/x"), secret_file="/etc/canary/hook.secret"
            ),
        },
        on_event=("page", "-v", "-v"),
        ping_url=Secret("https://ping.example/uuid"),
        overdue_after=timedelta(hours=2),
        timeout=timedelta(seconds=3),
        max_attempts=5,
        retry_wait=(timedelta(seconds=1), timedelta(minutes=2)),
        keep=timedelta(days=7),
    )
    assert found.overdue_after() == timedelta(hours=2)


def test_a_model_is_overdue_after_two_periods_and_the_jitter() -> None:
    """Unless the file says otherwise."""
    assert settings('[schedule]\nperiod = "30m"\njitter = "2m"').overdue_after() == timedelta(minutes=62)


def test_no_address_is_shown() -> None:
    """Printing the settings gives no token away."""
    shown = repr(
        settings('[notify]\nwebhooks.ops = { url = "https://h.example/T0K3N", secret_env = "A" }')
    ) + repr(settings('[notify]\nping_url = "https://h.example/T0K3N"'))
    assert "T0K3N" not in shown


def test_a_secret_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    """White space around it is dropped."""
    (tmp_path / "hook").write_text(f"{LONG}\n")
    by_file = WebhookSettings(url=ADDRESS, secret_file=str(tmp_path / "hook"))
    by_name = WebhookSettings(url=ADDRESS, secret_env="HOOK")
    assert read_webhook_secret("ops", by_file, {}) == Secret(LONG)
    assert read_webhook_secret("ops", by_name, {"HOOK": f" {LONG} "}) == Secret(LONG)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "not set"),
        ({"HOOK": " "}, "empty"),
        ({"HOOK": "hunter2"}, "too short to be a secret; allowed: at least 16 characters"),
        ({"HOOK": f"{LONG}\x07"}, "holds what no secret holds; allowed: one printable line"),
        ({"HOOK": f"{LONG}\udc80"}, "holds what no secret holds; allowed: one printable line"),
    ],
)
def test_an_unusable_secret_is_said_without_showing_it(environ: dict[str, str], words: str) -> None:
    """The message names the variable and the option, and nothing of the value."""
    with pytest.raises(ConfigError) as caught:
        read_webhook_secret("ops", WebhookSettings(url=ADDRESS, secret_env="HOOK"), environ)
    assert str(caught.value) == f"environment variable HOOK: notify.webhooks.ops.secret_env: {words}"


def test_too_many_webhooks_are_refused() -> None:
    """Twenty are enough for anybody, and each costs a row a message."""
    lines = [f'h{n} = {{ url = "https://h.example/{n}", secret_env = "A" }}' for n in range(21)]
    with pytest.raises(ConfigError, match=r"notify\.webhooks: too many webhooks; allowed: at most 20"):
        settings("[notify.webhooks]\n" + "\n".join(lines))
