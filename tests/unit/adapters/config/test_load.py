"""From the file and the environment to the settings."""

from __future__ import annotations

import os
import tomllib
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routecanary import client
from routecanary.adapters.config.files import read_text_file
from routecanary.adapters.config.load import load_settings, read_api_key, settings_from_toml
from routecanary.adapters.config.paths import default_snapshot_path, find_config
from routecanary.adapters.config.texts import own_texts, shipped_texts
from routecanary.domain.names import CONTRACT_NAMES
from routecanary.domain.policy import Policy
from routecanary.domain.probe import ProbeKind
from routecanary.domain.settings import (
    ContractSettings,
    GatewaySettings,
    JudgingSettings,
    LatencySettings,
    PriceCeiling,
    ProbeSettings,
    ProductionSettings,
    Sampling,
    ScheduleSettings,
    Settings,
)
from routecanary.errors import ConfigError, ConfigFaultsError
from routecanary.probe.catalog import catalog_from_texts

ENVIRON = {"HOME": "/home/ada"}
BASE = Path("/etc/canary")


def settings(text: str) -> Settings:
    return settings_from_toml(text, "x.toml", base=BASE, environ=ENVIRON)


def test_an_empty_file_is_the_defaults_of_the_domain() -> None:
    """No default is written down twice."""
    assert settings("") == Settings(
        place="x.toml",
        store_path="/home/ada/.local/share/routecanary/events.sqlite3",
        snapshot_path="/home/ada/.local/state/routecanary/snapshot.json",
    )
    assert settings("").contracts == dict.fromkeys(CONTRACT_NAMES, ContractSettings())


FULL = """
initial_mode = "enforce"
[gateway]
base_url = "http://127.0.0.1:8080/api/v1/"
api_key_file = "key.txt"
concurrency = 8
connect_timeout = "3s"
headers_timeout = "4s"
gap_timeout = "5s"
total_timeout = "1m"
linger = "0s"
document_timeout = "6s"
max_answer_bytes = 100000
max_answer_chunks = 2000
max_line_bytes = 20000
proxy_from_environment = true
[store]
path = "data/log.sqlite3"
[snapshot]
path = "~/snap.json"
max_snapshot_age = "2h30m"
[schedule]
period = "1h"
jitter = "30s"
[probes]
locales = ["th", "pt", "zh"]
texts = "/srv/texts"
start_spread = "1s"
confirm_delay = ["500ms", "1s"]
reasoning_room = 0
max_tokens = { chat = 1000, filter = 800, structured = 400 }
sampling = { temperature = "unset", top_p = 1, top_k = 40, repetition_penalty = 1.05 }
[contracts]
own_limit_tokens = 3000
[contracts.latency]
enforce = false
limit = "2s"
listen = "3s"
lag_limit = "50ms"
[contracts.filtering]
enabled = false
refusal_points = 5
refusals = "words"
[contracts.structured]
confirmations = 4
[contracts.language]
min_units = 20
mix_units = 15
mix_share = 0.3
[policy]
floor = 3
max_suspended_share = 0.29
ladder = ["12h", "1d"]
[routing]
builtin = "../builtin.toml"
[models."acme/chat:free"]
[models."acme/chat"]
controls = { filtering = ["Filter-Host", "other/fp8"], language = ["x"] }
[models."acme/chat".production]
only = ["North-Host", "b/fp8"]
ignore = ["c"]
data_collection = "deny"
zdr = true
quantizations = ["fp8", "bf16"]
max_price = { prompt = 0.1, completion = 2, request = 0.015 }
required_parameters = ["tools"]
"""


def test_every_option_arrives() -> None:
    """A file that sets everything gives exactly these values."""
    full = settings(FULL)
    seconds = [timedelta(seconds=number) for number in range(7)]
    assert full == Settings(
        place="x.toml",
        store_path="/etc/canary/data/log.sqlite3",
        snapshot_path="/home/ada/snap.json",
        max_snapshot_age=timedelta(hours=2, minutes=30),
        gateway=GatewaySettings(
            base_url="http://127.0.0.1:8080/api/v1",
            api_key_file="/etc/canary/key.txt",
            concurrency=8,
            connect_timeout=seconds[3],
            headers_timeout=seconds[4],
            gap_timeout=seconds[5],
            total_timeout=timedelta(minutes=1),
            linger=seconds[0],
            document_timeout=seconds[6],
            max_answer_bytes=100_000,
            max_answer_chunks=2_000,
            max_line_bytes=20_000,
            proxy_from_environment=True,
        ),
        schedule=ScheduleSettings(period=timedelta(hours=1), jitter=timedelta(seconds=30)),
        probes=ProbeSettings(
            locales=("th", "pt-BR", "zh-Hans"),
            texts="/srv/texts",
            start_spread=seconds[1],
            confirm_delay=(timedelta(milliseconds=500), seconds[1]),
            max_tokens={ProbeKind.CHAT: 1000, ProbeKind.FILTER: 800, ProbeKind.STRUCTURED: 400},
            reasoning_room=0,
            sampling=Sampling(temperature=None, top_p=1.0, top_k=40, repetition_penalty=1.05),
        ),
        latency=LatencySettings(limit=seconds[2], listen=seconds[3], lag_limit=timedelta(milliseconds=50)),
        judging=JudgingSettings(
            own_limit_tokens=3_000,
            min_units=20,
            mix_units=15,
            mix_share=0.3,
            refusal_points=5,
            refusals="/etc/canary/words",
        ),
        contracts={
            "latency": ContractSettings(enforce=False),
            "filtering": ContractSettings(enabled=False),
            "structured": ContractSettings(confirmations=4),
            "language": ContractSettings(),
            "integrity": ContractSettings(),
        },
        policy=Policy(
            floor=3,
            max_suspended_share=Fraction(29, 100),
            ladder=(timedelta(hours=12), timedelta(days=1)),
            round_period=timedelta(hours=1),  # the schedule's
            attempts_per_round=5,  # one contract, and its probe, are off
        ),
        initial_mode="enforce",
        models=full.models,
        builtin_path="/etc/canary/../builtin.toml",
    )
    free, paid = full.models
    assert (free.model, free.production) == ("acme/chat:free", ProductionSettings())
    assert paid.controls == {"filtering": {"filter-host", "other/fp8"}, "language": {"x"}}
    assert paid.production == ProductionSettings(
        only=("north-host", "b/fp8"),
        ignore=("c",),
        data_collection="deny",
        zdr=True,
        quantizations=frozenset({"fp8", "bf16"}),
        max_price=PriceCeiling(prompt=Decimal("0.1"), completion=Decimal(2), request=Decimal("0.015")),
        required_parameters=frozenset({"tools"}),
    )
    assert paid.control_for("x") == {"language"}
    assert full.enabled_contracts() == set(CONTRACT_NAMES) - {"filtering"}


def test_a_language_may_be_named_by_an_alias() -> None:
    """Chinese, Portuguese and Malay go by more than one name, and all of these have a shipped text."""
    aliases = settings('[probes]\nlocales = ["ms", "zh", "zh-TW", "pt"]').probes.locales
    assert aliases == ("id", "zh-Hans", "zh-Hant", "pt-BR")
    catalog_from_texts(shipped_texts()).require(aliases)
    with pytest.raises(ConfigError, match="named twice"):
        settings('[probes]\nlocales = ["zh-CN", "zh"]')


def test_all_faults_are_reported_at_once() -> None:
    """One reading finds them all, also those of the policy, and ends after fifty."""
    with pytest.raises(ConfigFaultsError) as caught:
        settings("[gateway]\nconcurrency = 0\n[policy]\nfloor = 0\nflor = 2\n")
    assert [fault.key for fault in caught.value.faults] == [
        "gateway.concurrency",
        "policy.floor",
        "policy.flor",
    ]
    with pytest.raises(ConfigFaultsError) as caught:
        settings("\n".join(f"x{number} = 1" for number in range(300)))
    assert len(caught.value.faults) == 51
    assert str(caught.value).endswith("x.toml: and 250 more")


@pytest.mark.parametrize("address", ["http://localhost:1", "http://127.9.9.9", "http://[::1]:8080/v1"])
def test_the_own_machine_needs_no_encryption(address: str) -> None:
    """The key does not leave it."""
    assert settings(f'[gateway]\nbase_url = "{address}"').gateway.base_url == address


@pytest.mark.parametrize(
    "address", ["http://localhost.example", "http://10.0.0.1", "http://0.0.0.0", "http://[::]"]
)
def test_what_looks_like_the_own_machine_is_refused(address: str) -> None:
    """Only loopback addresses are the own machine."""
    with pytest.raises(ConfigError, match="the key would travel in the clear"):
        settings(f'[gateway]\nbase_url = "{address}"')


@pytest.mark.parametrize(
    ("kind", "base_url", "variable"),
    [
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("vercel", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY"),
    ],
)
def test_a_gateways_address_and_key_follow_its_kind(kind: str, base_url: str, variable: str) -> None:
    """What the file says goes before it."""
    gateway = settings(f'[gateway]\nkind = "{kind}"').gateway
    assert (gateway.kind, gateway.base_url, gateway.api_key_env) == (kind, base_url, variable)
    own = settings(f'[gateway]\nkind = "{kind}"\nbase_url = "https://host/v1"\napi_key_env = "KEY"').gateway
    assert (own.base_url, own.api_key_env) == ("https://host/v1", "KEY")


@pytest.mark.parametrize(
    ("kind", "address"),
    [("vercel", "https://openrouter.ai/api/v1"), ("openrouter", "https://ai-gateway.vercel.sh/v1")],
)
def test_the_address_of_the_other_gateway_is_refused(kind: str, address: str) -> None:
    """Its requests would be refused there, or worse, pin nobody."""
    with pytest.raises(ConfigError, match=r"gateway\.base_url: the address of another gateway"):
        settings(f'[gateway]\nkind = "{kind}"\nbase_url = "{address}"')


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_guardrail_is_named_only_where_the_gateway_has_guardrails(enabled: str) -> None:
    """Elsewhere nobody would be protected by it, and a command would take the key to a stranger."""
    with pytest.raises(ConfigError, match=r"guardrail: this gateway has no guardrails"):
        settings(f'[gateway]\nkind = "vercel"\n[guardrail]\nenabled = {enabled}\nid = "x"')


def test_the_number_of_models_is_bounded() -> None:
    """A thousand is enough for anybody's gateway."""
    names = [f'[models."acme/m{number}"]' for number in range(1_001)]
    assert len(settings("\n".join(names[:-1])).models) == 1_000
    with pytest.raises(ConfigError, match="too many models; allowed: at most 1000"):
        settings("\n".join(names))


@given(st.sampled_from(FULL.splitlines()), st.integers(0, 60), st.sampled_from('abc0"[]{}=.,\\#\x00ü\n -'))
def test_a_damaged_file_is_read_or_refused(line: str, at: int, character: str) -> None:
    """One stray character never causes anything but a ConfigError."""
    with suppress(ConfigError):
        settings(FULL.replace(line, line[:at] + character + line[at:]))


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    """Editors of another world write one."""
    path = tmp_path / "routecanary.toml"
    path.write_bytes(b"\xef\xbb\xbfinitial_mode = 'enforce'\r\n")
    assert load_settings(path, ENVIRON).initial_mode == "enforce"


def test_relative_paths_count_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the command was started does not matter."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "c.toml").write_text("[store]\npath = 'log.sqlite3'\n")
    monkeypatch.chdir(tmp_path)
    assert load_settings(Path("etc/c.toml"), ENVIRON).store_path == str(tmp_path / "etc" / "log.sqlite3")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "no such file"),
        (lambda path: path.mkdir(), "a directory where a file belongs"),
        (lambda path: path.write_bytes(b"#" * (1024 * 1024 + 1)), "longer than 1048576 bytes"),
        (lambda path: path.write_bytes(b"a = '\xff'"), "not UTF-8 at byte 5"),
        (lambda path: path.symlink_to(path), "cannot be read: "),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, make, words: str) -> None:
    """Each way of failing is one error that begins with the path."""
    path = tmp_path / "c.toml"
    make(path)
    with pytest.raises(ConfigError) as caught:
        load_settings(path, ENVIRON)
    assert str(caught.value).startswith(f"{path}: {words}")


def test_a_path_that_no_system_takes_is_refused() -> None:
    """A NUL in a path is the caller's mistake and not a traceback."""
    with pytest.raises(ConfigError, match="not a usable path"):
        read_text_file(Path("a\x00b"))


def test_the_key_comes_from_the_environment() -> None:
    """White space around it is dropped, and it never shows."""
    key = read_api_key(GatewaySettings(), {"OPENROUTER_API_KEY": " sk-or-v1-abc \n"})
    assert key.reveal() == "sk-or-v1-abc"
    assert "sk-or" not in repr(key)


def test_the_key_comes_from_a_file(tmp_path: Path) -> None:
    """The variable is not looked at then."""
    (tmp_path / "key").write_text("sk-or-v1-abc\n")
    gateway = GatewaySettings(api_key_file=str(tmp_path / "key"))
    assert read_api_key(gateway, {"OPENROUTER_API_KEY": "other"}).reveal() == "sk-or-v1-abc"


AT_KEY = "environment variable CANARY_KEY: gateway.api_key_env"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, f"{AT_KEY}: not set"),
        ({"CANARY_KEY": ""}, f"{AT_KEY}: empty"),
        ({"CANARY_KEY": " \n"}, f"{AT_KEY}: empty"),
        (
            {"CANARY_KEY": "sk-1 sk-2"},
            f"{AT_KEY}: holds what no key holds; allowed: printable ASCII on one line",
        ),
        (
            {"CANARY_KEY": "sk-\u00e9"},
            f"{AT_KEY}: holds what no key holds; allowed: printable ASCII on one line",
        ),
    ],
)
def test_a_missing_key_is_said_without_showing_it(environ: dict[str, str], words: str) -> None:
    """The message names the variable and the option, and nothing of the value."""
    with pytest.raises(ConfigError) as caught:
        read_api_key(GatewaySettings(api_key_env="CANARY_KEY"), environ)
    assert str(caught.value) == words


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    """So is a key file that is far too long to be one."""
    path = tmp_path / "key"
    gateway = GatewaySettings(api_key_file=str(path))
    with pytest.raises(ConfigError, match=r"key: gateway\.api_key_file: no such file"):
        read_api_key(gateway, {})
    path.write_text("x" * 5_000)
    with pytest.raises(ConfigError, match=r"key: gateway\.api_key_file: longer than 4096 bytes"):
        read_api_key(gateway, {})


def test_the_configuration_is_found_in_this_order(tmp_path: Path) -> None:
    """Command line, environment, working directory, the user's own."""
    cwd, home = tmp_path / "work", tmp_path / "home"
    (home / ".config" / "routecanary").mkdir(parents=True)
    cwd.mkdir()
    environ = {"HOME": str(home)}
    with pytest.raises(ConfigError, match=r"no configuration file; allowed: one of .*routecanary\.toml"):
        find_config(None, environ, cwd)
    own = home / ".config" / "routecanary" / "routecanary.toml"
    own.touch()
    assert find_config(None, environ, cwd) == own
    (cwd / "routecanary.toml").touch()
    assert find_config(None, environ, cwd) == cwd / "routecanary.toml"
    environ["ROUTECANARY_CONFIG"] = "/elsewhere.toml"
    assert find_config(None, environ, cwd) == Path("/elsewhere.toml")
    assert find_config(Path("named.toml"), environ, cwd) == Path("named.toml")


@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": "/home/ada"},
        {"HOME": "/home/ada", "XDG_STATE_HOME": "/var/state"},
        {"HOME": "/home/ada", "ROUTECANARY_SNAPSHOT": "/run/snap.json"},
    ],
)
def test_daemon_and_application_agree_on_the_snapshot(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one writes by default is what the other reads by default."""
    for name in ("XDG_STATE_HOME", "ROUTECANARY_SNAPSHOT", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert default_snapshot_path(os.environ) == Path(client.default_path())


def test_own_texts_are_read_from_a_directory(tmp_path: Path) -> None:
    """Only `.toml` files count, by name."""
    (tmp_path / "b.toml").write_text("b = 1")
    (tmp_path / "a.toml").write_text("a = 1")
    (tmp_path / "notes.md").write_text("x")
    assert list(own_texts(str(tmp_path)).values()) == ["a = 1", "b = 1"]
    assert own_texts(None) == {}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "no such directory"),
        (lambda path: path.touch(), "a file where a directory belongs"),
        (lambda path: path.mkdir(), "wrong number of .toml files (got 0); allowed: 1 to 500"),
    ],
)
def test_a_directory_without_texts_is_named(tmp_path: Path, make, words: str) -> None:
    """An empty directory is a mistake: the shipped texts would be asked instead of one's own."""
    path = tmp_path / "texts"
    make(path)
    with pytest.raises(ConfigError) as caught:
        own_texts(str(path))
    assert str(caught.value) == f"{path}: probes.texts: {words}"


def test_the_shipped_texts_are_toml() -> None:
    """Each of them, named as in the package."""
    texts = shipped_texts()
    assert {"chat.en.toml", "filter.en.toml", "structured.en.toml"} <= {Path(place).name for place in texts}
    assert all(tomllib.loads(text)["locale"] in place for place, text in texts.items())
