"""What did the administrator configure?

One file and the environment → frozen values. Every fault of a file is reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from routecanary.adapters.config.faults import faults_from, key_path, raise_faults
from routecanary.adapters.config.files import read_text_file
from routecanary.adapters.config.paths import default_snapshot_path, default_store_path, resolve
from routecanary.adapters.config.schema import (
    BudgetTable,
    ConfigFile,
    ContractsTable,
    GatewayTable,
    GuardrailTable,
    ModelTable,
    NotifyTable,
    ProbesTable,
    ProductionTable,
)
from routecanary.domain.gateway import WHEREABOUTS, GatewayKind
from routecanary.domain.guardrail import Granularity, OnStop
from routecanary.domain.names import (
    CONTRACT_NAMES,
    FILTERING,
    INTEGRITY,
    STRUCTURED,
    ContractName,
    ModelId,
    RouteId,
)
from routecanary.domain.policy import Policy, policy_from_mapping
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.round import Mode
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    AssumedPrice,
    BudgetSettings,
    ContractSettings,
    GatewaySettings,
    GuardrailSettings,
    JudgingSettings,
    LatencySettings,
    ListenSettings,
    ModelSettings,
    NotifySettings,
    PriceCeiling,
    ProbeSettings,
    ProductionSettings,
    ProxySettings,
    RetentionSettings,
    Sampling,
    ScheduleSettings,
    Settings,
    TrafficSettings,
    TripwireSettings,
    WebhookSettings,
)
from routecanary.domain.strict_toml import TomlError, parse_toml
from routecanary.errors import ConfigError, PolicyError

MAX_KEY: Final = 4_096  # bytes of a key file
SHORTEST_SECRET: Final = 16  # characters of a webhook's secret

_UNQUOTED_MODEL = re.compile(r"^[ \t]*\[models\.[^\"'\]\n]*/", re.MULTILINE)  # the likeliest slip of all


def load_settings(path: Path, environ: Mapping[str, str]) -> Settings:
    """Read the configuration file.

    Raises:
        ConfigError: It cannot be read, or has a fault; a `ConfigFaultsError` if it has several.
    """
    return settings_from_toml(read_text_file(path), str(path), base=path.absolute().parent, environ=environ)


def settings_from_toml(text: str, place: str, *, base: Path, environ: Mapping[str, str]) -> Settings:
    """Read a configuration.

    Args:
        text: The file's content.
        place: How errors name the file.
        base: The directory that relative paths count from.
        environ: For the home directory and the default paths; no key is read here.
    Raises:
        ConfigError: As for `load_settings`.
    """
    table = _parse(text, place)
    faults: list[ConfigError] = []
    policy = _policy(table.get("policy"), place, faults)
    try:
        file = ConfigFile.model_validate(table)
    except ValidationError as error:
        faults = faults_from(error, place) + faults
        file = ConfigFile()
    raise_faults(faults)
    settings = replace(_settings(file, policy, base, environ), place=place)
    return replace(settings, policy=_scheduled(policy, settings, stated=table.get("policy", {})))


def read_api_key(gateway: GatewaySettings, environ: Mapping[str, str]) -> Secret:
    """Read the gateway's key from where the configuration says; white space around it is dropped.

    Raises:
        ConfigError: It is not there, empty, or not printable ASCII. The message never shows it.
    """
    return _key(
        environ,
        name=gateway.api_key_env,
        file=gateway.api_key_file,
        keys=("gateway.api_key_env", "gateway.api_key_file"),
    )


def read_management_key(guardrail: GuardrailSettings, environ: Mapping[str, str]) -> Secret:
    """Read the key that may manage the account, likewise.

    Raises:
        ConfigError: As `read_api_key`.
    """
    return _key(
        environ,
        name=guardrail.key_env,
        file=guardrail.key_file,
        keys=("guardrail.key_env", "guardrail.key_file"),
    )


def read_webhook_secret(name: str, webhook: WebhookSettings, environ: Mapping[str, str]) -> Secret:
    """Read the secret that a webhook's messages are signed with; white space around it is dropped.

    Raises:
        ConfigError: It is not there, empty, or too short to be one. The message never shows it.
    """
    value, place, key = _secret_text(
        environ,
        name=webhook.secret_env or "",
        file=webhook.secret_file,
        keys=(f"notify.webhooks.{name}.secret_env", f"notify.webhooks.{name}.secret_file"),
    )
    if len(value) < SHORTEST_SECRET:
        raise ConfigError(
            "too short to be a secret", place=place, key=key, allowed=f"at least {SHORTEST_SECRET} characters"
        )
    if not value.isprintable():
        raise ConfigError("holds what no secret holds", place=place, key=key, allowed="one printable line")
    return Secret(value)


def _key(environ: Mapping[str, str], *, name: str, file: str | None, keys: tuple[str, str]) -> Secret:
    value, place, key = _secret_text(environ, name=name, file=file, keys=keys)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            "holds what no key holds", place=place, key=key, allowed="printable ASCII on one line"
        )
    return Secret(value)


def _secret_text(
    environ: Mapping[str, str], *, name: str, file: str | None, keys: tuple[str, str]
) -> tuple[str, str, str]:
    """Read what stands in a file, or else in an environment variable; return it, its place and its option."""
    if file is not None:
        place, key = file, keys[1]
        value = read_text_file(Path(place), key=key, limit=MAX_KEY).strip()
    else:
        place, key = f"environment variable {name}", keys[0]
        if name not in environ:
            raise ConfigError("not set", place=place, key=key)
        value = environ[name].strip()
    if not value:
        raise ConfigError("empty", place=place, key=key)
    return value, place, key


def template_text() -> str:
    """Return the commented configuration file that `routecanary init` writes: every option at its default."""
    return files("routecanary.adapters.config").joinpath("template.toml").read_text("utf-8")


def _parse(text: str, place: str) -> dict[str, Json]:
    try:
        return parse_toml(text)
    except TomlError as error:
        unquoted = _UNQUOTED_MODEL.search(text)
        hint = 'a model id in quotes, as in [models."author/slug"]' if unquoted else None
        raise ConfigError(error.problem, place=place, allowed=hint) from None


def _policy(table: object, place: str, faults: list[ConfigError]) -> Policy:
    """Read `[policy]` name by name, so that each fault is found."""
    if not isinstance(table, dict):
        return Policy()  # absent, or refused by the schema
    sound: dict[str, object] = {}
    for name, value in table.items():
        try:
            policy_from_mapping({name: value}, place)
        except PolicyError as error:
            faults.append(
                ConfigError(
                    error.problem,
                    place=place,
                    key=key_path(("policy", name)),
                    value=error.value,
                    allowed=error.allowed,
                )
            )
        else:
            sound[name] = value
    return policy_from_mapping(sound, place)


def _scheduled(policy: Policy, settings: Settings, *, stated: Collection[str]) -> Policy:
    """Tell the policy how many attempts the schedule makes, where the file does not."""
    on = settings.enabled_contracts()
    probes = 1 + len(on & {FILTERING, STRUCTURED})
    attempts = len(on - {INTEGRITY}) + (probes if INTEGRITY in on else 0)
    if "round_period" not in stated:
        policy = replace(policy, round_period=settings.schedule.period)
    if "attempts_per_round" not in stated and attempts:
        policy = replace(policy, attempts_per_round=attempts)
    return policy


def _settings(file: ConfigFile, policy: Policy, base: Path, environ: Mapping[str, str]) -> Settings:
    def at(text: str | None) -> str | None:
        return None if text is None else str(resolve(text, base, environ))

    return Settings(
        store_path=at(file.store.path) or str(default_store_path(environ)),
        snapshot_path=at(file.snapshot.path) or str(default_snapshot_path(environ)),
        max_snapshot_age=file.snapshot.max_snapshot_age,
        gateway=_gateway(file.gateway, at(file.gateway.api_key_file)),
        schedule=ScheduleSettings(
            period=file.schedule.period,
            jitter=file.schedule.jitter,
            max_clock_leap=file.schedule.max_clock_leap,
            recheck=file.schedule.recheck,
            recheck_after=file.schedule.recheck_after,
            probation=file.schedule.probation,
        ),
        tripwire=TripwireSettings(enabled=file.tripwire.enabled, every=file.tripwire.every),
        traffic=TrafficSettings(
            watch=file.traffic.watch,
            window=file.traffic.window,
            min_conversations=file.traffic.min_conversations,
            min_share=file.traffic.min_share,
            false_rounds_per_week=file.traffic.false_rounds_per_week,
            grace=file.traffic.grace,
        ),
        budget=_budget(file.budget),
        notify=_notify(file.notify, at),
        guardrail=_guardrail(file.guardrail, at(file.guardrail.key_file)),
        probes=_probes(file.probes, at(file.probes.texts)),
        latency=LatencySettings(
            limit=file.contracts.latency.limit,
            listen=file.contracts.latency.listen,
            lag_limit=file.contracts.latency.lag_limit,
        ),
        judging=JudgingSettings(
            own_limit_tokens=file.contracts.own_limit_tokens,
            min_units=file.contracts.language.min_units,
            mix_units=file.contracts.language.mix_units,
            mix_share=file.contracts.language.mix_share,
            refusal_points=file.contracts.filtering.refusal_points,
            refusals=at(file.contracts.filtering.refusals),
        ),
        contracts=_contracts(file.contracts),
        requalify=file.contracts.requalify,
        control_max_age=file.contracts.control_max_age,
        retention=RetentionSettings(
            events=file.store.keep_events,
            passes=file.store.keep_passes,
            failures=file.store.keep_failures,
            generations=file.telemetry.keep,
        ),
        policy=policy,
        initial_mode=Mode(file.initial_mode),
        models=tuple(_model(ModelId(name), table) for name, table in file.models.items()),
        listen=ListenSettings(
            applications=file.listen.applications, administrators=file.listen.administrators
        ),
        proxy=ProxySettings(
            listen=file.proxy.listen,
            upstream=file.proxy.upstream,
            max_edit_bytes=file.proxy.max_edit_bytes,
        ),
        builtin_path=at(file.routing.builtin),
    )


def _gateway(table: GatewayTable, key_file: str | None) -> GatewaySettings:
    kind = GatewayKind(table.kind)
    own = ("kind", "base_url", "api_key_env", "api_key_file")
    values = {name: getattr(table, name) for name in GatewayTable.model_fields if name not in own}
    return GatewaySettings(
        kind=kind,
        base_url=table.base_url or WHEREABOUTS[kind].base_url,
        api_key_env=table.api_key_env or WHEREABOUTS[kind].key_variable,
        api_key_file=key_file,
        **values,
    )


def _guardrail(table: GuardrailTable, key_file: str | None) -> GuardrailSettings:
    return GuardrailSettings(
        enabled=table.enabled,
        apply=table.apply,
        id=table.id,
        key_env=table.key_env,
        key_file=key_file,
        granularity=Granularity(table.granularity),
        on_stop=OnStop(table.on_stop),
        check_every=table.check_every,
    )


def _budget(table: BudgetTable) -> BudgetSettings:
    return BudgetSettings(
        per_day_usd=table.per_day_usd,
        recovery_share=table.recovery_share,
        assumed_price=AssumedPrice(**table.assumed_price.model_dump()),
    )


def _notify(table: NotifyTable, at: Callable[[str | None], str | None]) -> NotifySettings:
    values = {name: getattr(table, name) for name in NotifyTable.model_fields if name != "webhooks"}
    webhooks = {
        name: WebhookSettings(
            url=webhook.url, secret_env=webhook.secret_env, secret_file=at(webhook.secret_file)
        )
        for name, webhook in table.webhooks.items()
        if webhook.url is not None  # the schema sees to it
    }
    return NotifySettings(**values, webhooks=webhooks)


def _probes(table: ProbesTable, texts: str | None) -> ProbeSettings:
    return ProbeSettings(
        locales=table.locales,
        texts=texts,
        start_spread=table.start_spread,
        confirm_delay=table.confirm_delay,
        max_tokens={
            ProbeKind.CHAT: table.max_tokens.chat,
            ProbeKind.FILTER: table.max_tokens.filter,
            ProbeKind.STRUCTURED: table.max_tokens.structured,
        },
        reasoning_room=table.reasoning_room,
        sampling=Sampling(**table.sampling.model_dump()),
    )


def _contracts(table: ContractsTable) -> dict[ContractName, ContractSettings]:
    names = ("enabled", "enforce", "confirmations")
    return {
        contract: ContractSettings(**{name: getattr(getattr(table, contract), name) for name in names})
        for contract in CONTRACT_NAMES
    }


def _model(model: ModelId, table: ModelTable) -> ModelSettings:
    return ModelSettings(
        model=model,
        controls={
            ContractName(name): frozenset(RouteId(tag) for tag in tags)
            for name, tags in table.controls.items()
        },
        official=table.official,
        production=_production(table.production),
    )


def _production(table: ProductionTable) -> ProductionSettings:
    return ProductionSettings(
        only=table.only,
        ignore=table.ignore,
        data_collection=table.data_collection,
        zdr=table.zdr,
        quantizations=table.quantizations,
        max_price=PriceCeiling(**table.max_price.model_dump()),
        required_parameters=table.required_parameters,
    )
