"""Which concrete class stands behind which port? The one file that knows all of them."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from random import Random

from routecanary.adapters.config.files import read_text_file
from routecanary.adapters.config.load import load_settings, read_api_key, template_text
from routecanary.adapters.config.paths import CONFIG_NAME, find_config
from routecanary.adapters.config.texts import own_texts, shipped_texts
from routecanary.adapters.gateway.openrouter import OpenRouterGateway
from routecanary.adapters.snapshot import write_snapshot
from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.clock import Clock
from routecanary.discover.parse import listing_from_json
from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json, Probe
from routecanary.domain.route import Listing
from routecanary.domain.secret import Secret
from routecanary.domain.settings import Settings
from routecanary.domain.transcript import Transcript
from routecanary.errors import ConfigError, GatewayError
from routecanary.probe.catalog import Catalog, catalog_from_texts
from routecanary.probe.pin import Users
from routecanary.probe.recorder import Bounds, Deadlines, Recorder
from routecanary.rounds.ports import Gateway, Store
from routecanary.rounds.record import Ledger
from routecanary.rounds.world import World
from routecanary.routing.layers import builtin_from_toml


def settings_at(named: Path | None) -> Settings:
    """Read the configuration: the file named, or the one found in the usual places.

    Raises:
        ConfigError: There is none, or it has faults.
    """
    return load_settings(find_config(named, os.environ, Path.cwd()), os.environ)


def api_key_of(settings: Settings) -> Secret:
    """Read the gateway's key from where the configuration says.

    Raises:
        ConfigError: It is not there.
    """
    return read_api_key(settings.gateway, os.environ)


def write_template(path: Path | None) -> Path:
    """Write a commented configuration, to the working directory unless a path is named; returns where.

    Raises:
        ConfigError: It cannot be written, or a file is there already, which is left as it is.
    """
    target = Path(CONFIG_NAME) if path is None else path
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(template_text())
    except FileExistsError:
        raise ConfigError("is there already, and is left as it is", place=str(target)) from None
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", place=str(target)) from None
    return target


class FileSnapshot:
    """The snapshot in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, snapshot: Mapping[str, Json]) -> None:
        write_snapshot(self._path, snapshot)


class NoGateway:
    """Stands in where an act needs no gateway."""

    async def listing(self, model: ModelId) -> Listing:
        raise GatewayError(f"{model}: no gateway is connected")

    async def ask(self, probe: Probe) -> Transcript:
        raise GatewayError(f"{probe.route}: no gateway is connected")


def gateway_of(settings: Settings, api_key: Secret, clock: Clock) -> OpenRouterGateway:
    """Make the gateway client as configured; the caller enters it."""
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

    return OpenRouterGateway(
        base_url=gateway.base_url,
        api_key=api_key,
        clock=clock,
        record=record,
        read_listing=listing_from_json,
        concurrency=gateway.concurrency,
        document_timeout=gateway.document_timeout,
        trust_env=gateway.proxy_from_environment,
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
        ledger=Ledger(store, settings.policy),
        transcripts=store,
        snapshot_file=FileSnapshot(Path(settings.snapshot_path)),
        catalog=catalog,
        builtin=builtin,
        clock=clock,
        rng=chance,
        users=Users.drawn(chance),
    )


@contextmanager
def offline_world(settings: Settings, clock: Clock) -> Iterator[World]:
    """Open the store for acts and listings; nothing is asked of the gateway."""
    catalog, builtin = catalog_of(settings), builtin_of(settings)
    with SqliteStore(Path(settings.store_path)) as store:
        yield world_of(
            settings, store=store, gateway=NoGateway(), clock=clock, catalog=catalog, builtin=builtin
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
