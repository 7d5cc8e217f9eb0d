"""Which concrete class stands behind which port? The one file that knows all of them.

The gateway's client is imported only where the gateway is asked, and channels only where they are made: acts
and listings need not wait for an HTTP library to load.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, assert_never

from routecanary.adapters.config.files import read_text_file
from routecanary.adapters.config.load import (
    load_settings,
    read_api_key,
    read_management_key,
    read_webhook_secret,
    template_text,
)
from routecanary.adapters.config.paths import CONFIG_NAME, find_config
from routecanary.adapters.config.texts import own_texts, shipped_texts
from routecanary.adapters.lock import DaemonLock, daemon_of, held_daemon_lock
from routecanary.adapters.snapshot import held_snapshot, write_snapshot
from routecanary.adapters.store.memory import MemoryStore
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.clock import Clock
from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.names import Locale
from routecanary.domain.probe import Json, Probe
from routecanary.domain.redaction import Redactor, secret_parts
from routecanary.domain.secret import Secret
from routecanary.domain.settings import ProbeSettings, Settings
from routecanary.errors import ConfigError
from routecanary.judge.refusals.entry import Entry
from routecanary.judge.refusals.own import own_entries
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.probe.catalog import Catalog, catalog_from_texts
from routecanary.probe.pin import Users
from routecanary.rounds.ports import Channel, Gateway, GuardrailApi, Heartbeat, Store
from routecanary.rounds.record import Ledger
from routecanary.rounds.records import Records
from routecanary.rounds.world import World, judge_settings_of
from routecanary.routing.layers import builtin_from_toml

if TYPE_CHECKING:
    from routecanary.adapters.gateway.openrouter import OpenRouterGateway
    from routecanary.adapters.gateway.vercel import VercelGateway
    from routecanary.probe.recorder import Recorder


def settings_at(named: Path | None) -> Settings:
    """Read the configuration: the file named, or the one found in the usual places.

    Raises:
        ConfigError: There is none, or it has faults.
    """
    return load_settings(find_config(named, os.environ, Path.cwd()), os.environ)


def judging_at(named: Path | None) -> tuple[JudgeSettings, tuple[Locale, ...]]:
    """Read by which limits, and in which locales, the judges judge; the shipped ones where none is found.

    Raises:
        InputError: The configuration has faults, or the one that is named is not there.
    """
    try:
        found = find_config(named, os.environ, Path.cwd())
    except ConfigError:
        return JudgeSettings(), ProbeSettings().locales
    settings = load_settings(found, os.environ)
    return judging_of(settings), settings.probes.locales


def judging_of(settings: Settings) -> JudgeSettings:
    """State the judges' limits, with the administrator's own tables of refusals.

    Raises:
        InputError: A table has faults.
    """
    return judge_settings_of(settings, own_refusals_of(settings))


def api_key_of(settings: Settings) -> Secret:
    """Read the gateway's key from where the configuration says.

    Raises:
        ConfigError: It is not there.
    """
    return read_api_key(settings.gateway, os.environ)


def own_text(path: Path) -> str:
    """Read a text file that a person names.

    Raises:
        ConfigError: It cannot be read, is longer than 1 MiB, or is not UTF-8.
    """
    return read_text_file(path)


def write_template(path: Path | None) -> Path:
    """Write a commented configuration, to the working directory unless a path is named; returns where.

    Raises:
        ConfigError: It cannot be written, or a file is there already, which is left as it is.
    """
    target = Path(CONFIG_NAME) if path is None else path
    try:
        with target.open("x", encoding="utf-8") as file:
            try:
                file.write(template_text())
                file.flush()
            except OSError:
                target.unlink()  # a part of a configuration would be worse than none
                raise
    except FileExistsError:
        raise ConfigError("is there already, and is left as it is", place=str(target)) from None
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", place=str(target)) from None
    return target


class FileSnapshot:
    """The snapshot in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def held(self) -> AbstractContextManager[None]:
        return held_snapshot(self._path)

    def write(self, snapshot: Mapping[str, Json]) -> None:
        write_snapshot(self._path, snapshot)


def gateway_of(settings: Settings, api_key: Secret, clock: Clock) -> OpenRouterGateway | VercelGateway:
    """Make the gateway client as configured; the caller enters it."""
    from routecanary.adapters.gateway.openrouter import OpenRouterGateway  # noqa: PLC0415 - see above
    from routecanary.adapters.gateway.transport import Reach  # noqa: PLC0415
    from routecanary.adapters.gateway.vercel import VercelGateway  # noqa: PLC0415
    from routecanary.discover.parse import listing_from_json  # noqa: PLC0415
    from routecanary.discover.parse_vercel import vercel_listing_from_json  # noqa: PLC0415
    from routecanary.probe.recorder import Bounds, Deadlines, Recorder  # noqa: PLC0415

    gateway = settings.gateway
    deadlines = Deadlines(
        connect=gateway.connect_timeout,
        headers=gateway.headers_timeout,
        first_text=settings.latency.listen,
        gap=gateway.gap_timeout,
        total=gateway.total_timeout,
        linger=gateway.linger,
    )
    bounds = Bounds(
        bytes=gateway.max_answer_bytes, chunks=gateway.max_answer_chunks, line=gateway.max_line_bytes
    )

    def record(probe: Probe, *, at: float, started_at: datetime) -> Recorder:
        return Recorder(probe, at=at, started_at=started_at, deadlines=deadlines, bounds=bounds)

    reach = Reach(
        base_url=gateway.base_url,
        api_key=api_key,
        clock=clock,
        record=record,
        concurrency=gateway.concurrency,
        document_timeout=gateway.document_timeout,
        trust_env=gateway.proxy_from_environment,
    )
    match gateway.kind:
        case GatewayKind.OPENROUTER:
            return OpenRouterGateway(reach, read_listing=listing_from_json)
        case GatewayKind.VERCEL:
            return VercelGateway(reach, read_listing=vercel_listing_from_json)
        case _:
            assert_never(gateway.kind)


def guardrail_of(settings: Settings, clock: Clock) -> GuardrailApi:
    """Make the client of the account's guardrails.

    Raises:
        ConfigError: The management key or the canary's own is not where the configuration says.
    """
    from routecanary.adapters.gateway.guardrail import ManagementApi  # noqa: PLC0415 - see above

    return ManagementApi(
        base_url=settings.gateway.base_url,
        management_key=read_management_key(settings.guardrail, os.environ),
        canary_key=api_key_of(settings),
        clock=clock,
        timeout=settings.gateway.document_timeout,
        trust_env=settings.gateway.proxy_from_environment,
    )


def catalog_of(settings: Settings) -> Catalog:
    """Read the probes' texts: the shipped ones, and the administrator's in their place.

    Raises:
        InputError: A text is malformed, or a locale of the rotation has none.
    """
    catalog = catalog_from_texts(
        shipped_texts(), own_texts(settings.probes.texts), max_tokens=settings.probes.max_tokens
    )
    catalog.require(settings.probes.locales, place=settings.place)
    return catalog


def own_refusals_of(settings: Settings) -> tuple[Entry, ...]:
    """Read the administrator's own tables of refusals, and try them.

    Raises:
        InputError: A table is malformed, does not find its own sentences, or convicts what it should spare.
    """
    judging = settings.judging
    texts = own_texts(judging.refusals, key="contracts.filtering.refusals")
    return own_entries(texts, refusal_points=judging.refusal_points) if texts else ()


def builtin_of(settings: Settings) -> tuple[BuiltinEntry, ...]:
    """Read the built-in layer: the shipped entries, then the administrator's own.

    Raises:
        ConfigError: An entry lacks its reason, evidence, reviewer or date, or is malformed.
    """
    shipped = (files("routecanary.routing") / "builtin.toml").read_text("utf-8")
    entries = builtin_from_toml(shipped, "routecanary/routing/builtin.toml")
    if settings.builtin_path is not None:
        own = read_text_file(Path(settings.builtin_path), key="routing.builtin")
        entries += builtin_from_toml(own, settings.builtin_path)
    return entries


ON_EVENT: Final = "on_event"
"""The name of the channel that is a command; a webhook's is `webhooks.` and its name in the configuration."""


def channel_names(settings: Settings) -> tuple[str, ...]:
    """Name the channels that are configured, whether they can be used at present or not."""
    names = tuple(f"webhooks.{name}" for name in sorted(settings.notify.webhooks))
    return (*names, ON_EVENT) if settings.notify.on_event else names


def channels_of(settings: Settings, clock: Clock) -> tuple[Channel, ...]:
    """Make the channels as configured.

    Raises:
        ConfigError: The secret of a webhook is not where the configuration says.
    """
    notify, channels = settings.notify, list[Channel]()
    if notify.webhooks:
        from routecanary.adapters.notify.webhook import Webhook  # noqa: PLC0415 - see above

        channels += [
            Webhook(
                f"webhooks.{name}",
                webhook.url,
                read_webhook_secret(name, webhook, os.environ),
                clock=clock,
                timeout=notify.timeout,
                proxy_from_environment=settings.gateway.proxy_from_environment,
            )
            for name, webhook in sorted(notify.webhooks.items())
        ]
    if notify.on_event:
        from routecanary.adapters.notify.command import Command  # noqa: PLC0415 - see above

        hidden = {settings.gateway.api_key_env, settings.guardrail.key_env} | {
            webhook.secret_env for webhook in notify.webhooks.values() if webhook.secret_env is not None
        }
        channels.append(
            Command(ON_EVENT, notify.on_event, timeout=notify.timeout, environ=os.environ, hidden=hidden)
        )
    return tuple(channels)


def heartbeat_of(settings: Settings) -> Heartbeat | None:
    """Make what is asked after each round; None where nothing is."""
    if settings.notify.ping_url is None:
        return None
    from routecanary.adapters.notify.ping import Ping  # noqa: PLC0415 - see above

    return Ping(
        settings.notify.ping_url,
        timeout=settings.notify.timeout,
        proxy_from_environment=settings.gateway.proxy_from_environment,
    )


def redactor_of(settings: Settings) -> Redactor:
    """Make what takes our secrets out of texts: those that can be read now, and tokens in addresses."""
    found: list[Secret] = []
    readers: list[Callable[[], Secret]] = [
        partial(read_api_key, settings.gateway, os.environ),
        partial(read_management_key, settings.guardrail, os.environ),
    ]
    readers += [
        partial(read_webhook_secret, name, webhook, os.environ)
        for name, webhook in settings.notify.webhooks.items()
    ]
    for read in readers:
        with suppress(ConfigError):  # what is not there cannot be given away
            found.append(read())
    addresses = [webhook.url for webhook in settings.notify.webhooks.values()]
    if settings.notify.ping_url is not None:
        addresses.append(settings.notify.ping_url)
    return Redactor([*found, *(part for address in addresses for part in secret_parts(address))])


def ledger_of(settings: Settings, log: Store) -> Ledger:
    """Open the ledger on a log, with the people whom it tells."""
    return Ledger(log, settings.policy, channels=channel_names(settings), hide=redactor_of(settings))


def world_of(
    settings: Settings,
    *,
    store: Store,
    gateway: Gateway,
    clock: Clock,
    catalog: Catalog,
    builtin: Sequence[BuiltinEntry],
    rng: Random | None = None,
) -> World:
    """Put the parts together."""
    chance = rng if rng is not None else Random(secrets.randbits(128))  # noqa: S311 - nonces and jitter, no secrets
    return World(
        settings=settings,
        gateway=gateway,
        ledger=ledger_of(settings, store),
        store=store,
        transcripts=store,
        snapshot_file=FileSnapshot(Path(settings.snapshot_path)),
        catalog=catalog,
        builtin=builtin,
        clock=clock,
        rng=chance,
        users=Users.drawn(chance),
        own_refusals=own_refusals_of(settings),
    )


def trial_world(
    settings: Settings, *, gateway: Gateway, clock: Clock, catalog: Catalog, rng: Random
) -> World:
    """Put the parts together for a trial: nothing is kept but in memory, and nobody is named beforehand."""
    return world_of(
        settings,
        store=MemoryStore(),
        gateway=gateway,
        clock=clock,
        catalog=catalog,
        builtin=(),
        rng=rng,
    )


@contextmanager
def offline_records(settings: Settings, clock: Clock, *, to_act: bool = False) -> Iterator[Records]:
    """Open the log for acts and listings; nothing is asked of the gateway.

    Args:
        to_act: Make the log where there is none. A listing of what is not there is empty, and leaves no file
            behind that perhaps only its reader could write.
    Raises:
        ConfigError: An entry of the built-in layer is malformed.
        StoreError: The log cannot be opened.
    """
    builtin = builtin_of(settings)
    path = Path(settings.store_path)
    with SqliteStore(path) if to_act or not _is_missing(path) else MemoryStore() as store:
        yield Records(
            settings=settings,
            ledger=ledger_of(settings, store),
            store=store,
            transcripts=store,
            snapshot_file=FileSnapshot(Path(settings.snapshot_path)),
            builtin=builtin,
            clock=clock,
        )


def open_store(settings: Settings, *, busy_seconds: float) -> SqliteStore | None:
    """Open the store as it is, for whoever looks beside a daemon; None where there is none.

    Raises:
        StoreError: It cannot be opened, or somebody else holds it for longer than `busy_seconds`.
    """
    path = Path(settings.store_path)
    return None if _is_missing(path) else SqliteStore(path, busy_seconds=busy_seconds)


def _is_missing(path: Path) -> bool:
    """Say that there surely is no file; whatever else is wrong with a path, the store says."""
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Everything that a configuration leads to, read and checked as a whole; nothing is opened yet."""

    settings: Settings
    gateway: OpenRouterGateway | VercelGateway  # whoever uses it enters it
    catalog: Catalog
    builtin: tuple[BuiltinEntry, ...]
    own_refusals: tuple[Entry, ...]
    channels: tuple[Channel, ...]
    heartbeat: Heartbeat | None
    hide: Redactor
    guardrail: GuardrailApi | None = None  # None: nobody looks after one


def configuration_of(settings: Settings, clock: Clock) -> Configuration:
    """Read whatever the settings name: the key, the texts, the secrets of webhooks, own exclusions.

    Raises:
        InputError: Something of it is missing or malformed, or no model is configured.
    """
    if not settings.models:
        raise ConfigError(
            "no model to watch", place=settings.place, key="models", allowed='a table [models."author/slug"]'
        )
    return Configuration(
        settings=settings,
        gateway=gateway_of(settings, api_key_of(settings), clock),
        catalog=catalog_of(settings),
        builtin=builtin_of(settings),
        own_refusals=own_refusals_of(settings),
        channels=channels_of(settings, clock),
        heartbeat=heartbeat_of(settings),
        hide=redactor_of(settings),
        guardrail=guardrail_of(settings, clock) if settings.guardrail.enabled else None,
    )


def reconfigure(world: World, configuration: Configuration) -> None:
    """Replace the values that a world works with; what it knows of the models stays.

    Args:
        configuration: Its gateway is entered already; its store is the world's.
    """
    settings = configuration.settings
    world.settings = settings
    world.gateway = configuration.gateway
    world.catalog = configuration.catalog
    world.builtin = configuration.builtin
    world.own_refusals = configuration.own_refusals
    world.snapshot_file = FileSnapshot(Path(settings.snapshot_path))
    world.published = None
    world.ledger.replace_policy(settings.policy)
    world.ledger.replace_channels(channel_names(settings), configuration.hide)


def daemon_lock(settings: Settings) -> AbstractContextManager[DaemonLock]:
    """Be the one daemon of the configured store, as long as it is entered."""
    return held_daemon_lock(Path(settings.store_path))


def running_daemon(settings: Settings) -> int | None:
    """Find the process that watches the configured store; None when none does, or does not say who it is.

    Raises:
        StoreError: The lock file cannot be read.
    """
    return daemon_of(Path(settings.store_path))


@asynccontextmanager
async def configured_world(
    configuration: Configuration, clock: Clock, *, rng: Random | None = None
) -> AsyncIterator[World]:
    """Open the store and the gateway of a configuration."""
    settings = configuration.settings
    with SqliteStore(Path(settings.store_path)) as store:
        async with configuration.gateway as gateway:
            yield world_of(
                settings,
                store=store,
                gateway=gateway,
                clock=clock,
                catalog=configuration.catalog,
                builtin=configuration.builtin,
                rng=rng,
            )


@asynccontextmanager
async def online_world(
    settings: Settings, api_key: Secret, clock: Clock, *, rng: Random | None = None
) -> AsyncIterator[World]:
    """Open the store and the gateway."""
    catalog, builtin = catalog_of(settings), builtin_of(settings)
    with SqliteStore(Path(settings.store_path)) as store:
        async with gateway_of(settings, api_key, clock) as gateway:
            yield world_of(
                settings,
                store=store,
                gateway=gateway,
                clock=clock,
                catalog=catalog,
                builtin=builtin,
                rng=rng,
            )
