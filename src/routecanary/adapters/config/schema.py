"""What shape has the configuration file?

One class a table; each field is an option, with its reader (type and range) and its default, which is taken
from `domain.settings` so that there is one place to change it. docs/configuration.md and template.toml are
held to this file by a census.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from routecanary.adapters.config import readers as read
from routecanary.domain.address import Address
from routecanary.domain.gateway import WHEREABOUTS, GatewayKind
from routecanary.domain.guardrail import Granularity, OnStop
from routecanary.domain.names import (
    CONTRACT_NAMES,
    Locale,
    RouteId,
    parse_locale,
    parse_model,
    parse_route,
)
from routecanary.domain.probe import ProbeKind
from routecanary.domain.secret import Secret
from routecanary.domain.settings import (
    DEFAULT_LOCALES,
    DEFAULT_MAX_TOKENS,
    BudgetSettings,
    ContractSettings,
    GatewaySettings,
    GuardrailSettings,
    JudgingSettings,
    LatencySettings,
    ListenSettings,
    NotifySettings,
    ProbeSettings,
    ProxySettings,
    RetentionSettings,
    Sampling,
    ScheduleSettings,
    TrafficSettings,
    TripwireSettings,
)
from routecanary.errors import InputError

# openrouter-wire.md §1.1
QUANTIZATIONS: Final = frozenset(
    {"int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32", "unknown"}
)
# openrouter-wire.md §1.3
PARAMETERS: Final = frozenset(
    {
        *("temperature", "top_p", "top_k", "min_p", "top_a"),
        *("frequency_penalty", "presence_penalty", "repetition_penalty"),
        *(
            "max_tokens",
            "max_completion_tokens",
            "logit_bias",
            "logprobs",
            "top_logprobs",
            "prediction",
            "seed",
        ),
        *("response_format", "structured_outputs", "stop", "tools", "tool_choice", "parallel_tool_calls"),
        *("include_reasoning", "reasoning", "reasoning_effort", "web_search_options", "verbosity"),
    }
)
SHORTCUTS: Final = (":nitro", ":floor", ":exacto")  # of a model id; they mean the base model
MAX_MODELS: Final = 1_000
MAX_WEBHOOKS: Final = 20

_MS = timedelta(milliseconds=1)
_S = timedelta(seconds=1)
_M = timedelta(minutes=1)
_H = timedelta(hours=1)
_D = timedelta(days=1)

_GATEWAY = GatewaySettings()
_BUDGET = BudgetSettings()
_LATENCY = LatencySettings()
_JUDGING = JudgingSettings()
_CONTRACT = ContractSettings()
_PROBES = ProbeSettings()
_SAMPLING = Sampling()
_SCHEDULE = ScheduleSettings()
_TRAFFIC = TrafficSettings()
_TRIPWIRE = TripwireSettings()
_RETENTION = RetentionSettings()
_NOTIFY = NotifySettings()
_GUARDRAIL = GuardrailSettings()
_LISTEN = ListenSettings()
_PROXY = ProxySettings()


class Table(BaseModel):
    """A table of the file: unknown keys are refused, nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GatewayTable(Table):
    kind: Annotated[str, read.word(*(kind.value for kind in GatewayKind))] = _GATEWAY.kind.value
    base_url: Annotated[str | None, read.base_url()] = None
    api_key_env: Annotated[str | None, read.environment_name()] = None
    api_key_file: Annotated[str | None, read.path()] = None
    concurrency: Annotated[int, read.whole(1, 2_000)] = _GATEWAY.concurrency
    connect_timeout: Annotated[timedelta, read.duration(_S, 5 * _M)] = _GATEWAY.connect_timeout
    headers_timeout: Annotated[timedelta, read.duration(_S, 10 * _M)] = _GATEWAY.headers_timeout
    gap_timeout: Annotated[timedelta, read.duration(_S, 10 * _M)] = _GATEWAY.gap_timeout
    total_timeout: Annotated[timedelta, read.duration(_S, _H)] = _GATEWAY.total_timeout
    linger: Annotated[timedelta, read.duration(0 * _S, _M)] = _GATEWAY.linger
    document_timeout: Annotated[timedelta, read.duration(_S, 10 * _M)] = _GATEWAY.document_timeout
    preflight_max_age: Annotated[timedelta, read.duration(_M, 365 * _D)] = _GATEWAY.preflight_max_age
    max_answer_bytes: Annotated[int, read.whole(65_536, 268_435_456)] = _GATEWAY.max_answer_bytes
    max_answer_chunks: Annotated[int, read.whole(1_000, 10_000_000)] = _GATEWAY.max_answer_chunks
    max_line_bytes: Annotated[int, read.whole(16_384, 67_108_864)] = _GATEWAY.max_line_bytes
    proxy_from_environment: Annotated[bool, read.switch()] = _GATEWAY.proxy_from_environment

    @model_validator(mode="after")
    def _consistent(self) -> GatewayTable:
        if {"api_key_env", "api_key_file"} <= self.model_fields_set:
            raise read.RefusedError(
                "two places for one key", key="api_key_file", allowed="either api_key_env or api_key_file"
            )
        own = GatewayKind(self.kind)
        for kind, known in WHEREABOUTS.items():
            if (
                kind is not own
                and self.base_url is not None
                and _host(self.base_url) == _host(known.base_url)
            ):
                raise read.RefusedError(
                    "the address of another gateway",
                    key="base_url",
                    value=self.base_url,
                    allowed=f'kind = "{kind.value}", or {WHEREABOUTS[own].base_url}',
                )
        if self.total_timeout < max(self.headers_timeout, self.gap_timeout):
            raise read.RefusedError(
                "shorter than a part of it",
                key="total_timeout",
                value=read.format_span(self.total_timeout),
                allowed="at least headers_timeout and gap_timeout",
            )
        if self.max_line_bytes > self.max_answer_bytes:
            raise read.RefusedError(
                "a line longer than an answer",
                key="max_line_bytes",
                value=self.max_line_bytes,
                allowed="at most max_answer_bytes",
            )
        return self


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""


class StoreTable(Table):
    path: Annotated[str | None, read.path()] = None
    keep_events: Annotated[timedelta, read.duration(_D, 3650 * _D)] = _RETENTION.events
    keep_passes: Annotated[timedelta, read.duration(_H, 3650 * _D)] = _RETENTION.passes
    keep_failures: Annotated[timedelta, read.duration(_H, 3650 * _D)] = _RETENTION.failures

    @model_validator(mode="after")
    def _consistent(self) -> StoreTable:
        if self.keep_failures < self.keep_passes:
            raise read.RefusedError(
                "failures kept shorter than passes",
                key="keep_failures",
                value=read.format_span(self.keep_failures),
                allowed="at least keep_passes",
            )
        return self


class SnapshotTable(Table):
    path: Annotated[str | None, read.path()] = None
    max_snapshot_age: Annotated[timedelta, read.duration(_M, 30 * _D)] = 6 * _H


class ScheduleTable(Table):
    period: Annotated[timedelta, read.duration(_S, 7 * _D)] = _SCHEDULE.period
    jitter: Annotated[timedelta, read.duration(0 * _S, _D)] = _SCHEDULE.jitter
    max_clock_leap: Annotated[timedelta, read.duration(_M, 7 * _D)] = _SCHEDULE.max_clock_leap
    recheck: Annotated[bool, read.switch()] = _SCHEDULE.recheck
    recheck_after: Annotated[timedelta, read.duration(_S, _D)] = _SCHEDULE.recheck_after
    probation: Annotated[timedelta, read.duration(0 * _S, 30 * _D)] = _SCHEDULE.probation

    @model_validator(mode="after")
    def _consistent(self) -> ScheduleTable:
        if self.jitter >= self.period:
            raise read.RefusedError(
                "not shorter than the period",
                key="jitter",
                value=read.format_span(self.jitter),
                allowed=f'less than "{read.format_span(self.period)}"',
            )
        return self


class TripwireTable(Table):
    enabled: Annotated[bool, read.switch()] = _TRIPWIRE.enabled
    every: Annotated[timedelta, read.duration(_H, 7 * _D)] = _TRIPWIRE.every


class AssumedPriceTable(Table):
    prompt: Annotated[Decimal | None, read.money(1_000_000)] = None
    completion: Annotated[Decimal | None, read.money(1_000_000)] = None
    request: Annotated[Decimal | None, read.money(1_000)] = None


class BudgetTable(Table):
    per_day_usd: Annotated[Decimal, read.money(1_000_000)] = _BUDGET.per_day_usd
    recovery_share: Annotated[Decimal, read.share()] = _BUDGET.recovery_share
    assumed_price: AssumedPriceTable = AssumedPriceTable()


class MaxTokensTable(Table):
    chat: Annotated[int, read.whole(200, 32_000)] = DEFAULT_MAX_TOKENS[ProbeKind.CHAT]
    filter: Annotated[int, read.whole(200, 32_000)] = DEFAULT_MAX_TOKENS[ProbeKind.FILTER]
    structured: Annotated[int, read.whole(100, 32_000)] = DEFAULT_MAX_TOKENS[ProbeKind.STRUCTURED]


class SamplingTable(Table):
    temperature: Annotated[float | None, read.number(0, 2, unset=True)] = _SAMPLING.temperature
    top_p: Annotated[float | None, read.number(0, 1)] = None
    top_k: Annotated[int | None, read.whole(0, 100_000)] = None
    min_p: Annotated[float | None, read.number(0, 1)] = None
    top_a: Annotated[float | None, read.number(0, 1)] = None
    frequency_penalty: Annotated[float | None, read.number(-2, 2)] = None
    presence_penalty: Annotated[float | None, read.number(-2, 2)] = None
    repetition_penalty: Annotated[float | None, read.number(0, 2)] = None


class ProbesTable(Table):
    locales: Annotated[
        tuple[Locale, ...], read.texts(parse_locale, "locales such as en, pt-BR, th", at_least_one=True)
    ] = DEFAULT_LOCALES
    texts: Annotated[str | None, read.path()] = None
    start_spread: Annotated[timedelta, read.duration(0 * _S, 10 * _M)] = _PROBES.start_spread
    confirm_delay: Annotated[tuple[timedelta, timedelta], read.duration_pair(0 * _S, 10 * _M)] = (
        _PROBES.confirm_delay
    )
    reasoning_room: Annotated[int, read.whole(0, 100_000)] = _PROBES.reasoning_room
    max_tokens: MaxTokensTable = MaxTokensTable()
    sampling: SamplingTable = SamplingTable()


class ContractTable(Table):
    enabled: Annotated[bool, read.switch()] = _CONTRACT.enabled
    enforce: Annotated[bool, read.switch()] = _CONTRACT.enforce
    confirmations: Annotated[int, read.whole(0, 10, even=True)] = _CONTRACT.confirmations


class LatencyTable(ContractTable):
    limit: Annotated[timedelta, read.duration(100 * _MS, 10 * _M)] = _LATENCY.limit
    listen: Annotated[timedelta, read.duration(100 * _MS, 10 * _M)] = _LATENCY.listen
    lag_limit: Annotated[timedelta, read.duration(10 * _MS, 10 * _S)] = _LATENCY.lag_limit

    @model_validator(mode="after")
    def _consistent(self) -> LatencyTable:
        if self.listen < self.limit:
            raise read.RefusedError(
                "shorter than the limit: a late answer would never be seen",
                key="listen",
                value=read.format_span(self.listen),
                allowed=f'at least "{read.format_span(self.limit)}"',
            )
        return self


class FilteringTable(ContractTable):
    refusal_points: Annotated[int, read.whole(3, 20)] = _JUDGING.refusal_points
    refusals: Annotated[str | None, read.path()] = None


class LanguageTable(ContractTable):
    min_units: Annotated[int, read.whole(5, 500)] = _JUDGING.min_units
    mix_units: Annotated[int, read.whole(5, 500)] = _JUDGING.mix_units
    mix_share: Annotated[float, read.number(0.05, 1)] = _JUDGING.mix_share


class ContractsTable(Table):
    requalify: Annotated[timedelta, read.duration(0 * _S, 90 * _D)] = timedelta(hours=24)
    control_max_age: Annotated[timedelta, read.duration(_M, 90 * _D)] = timedelta(hours=24)
    own_limit_tokens: Annotated[int, read.whole(100, 100_000)] = _JUDGING.own_limit_tokens
    latency: LatencyTable = LatencyTable()
    filtering: FilteringTable = FilteringTable()
    structured: ContractTable = ContractTable()
    language: LanguageTable = LanguageTable()
    integrity: ContractTable = ContractTable()


class MaxPriceTable(Table):
    prompt: Annotated[Decimal | None, read.money(1_000_000)] = None
    completion: Annotated[Decimal | None, read.money(1_000_000)] = None
    request: Annotated[Decimal | None, read.money(1_000)] = None


class ProductionTable(Table):
    only: Annotated[tuple[str, ...], read.texts(parse_route, "tags or provider slugs")] = ()
    ignore: Annotated[tuple[str, ...], read.texts(parse_route, "tags or provider slugs")] = ()
    data_collection: Annotated[str | None, read.word("allow", "deny")] = None
    zdr: Annotated[bool, read.switch()] = False
    quantizations: Annotated[
        frozenset[str], read.texts(read.one_of(QUANTIZATIONS), "precision classes such as fp8", frozenset)
    ] = frozenset()
    max_price: MaxPriceTable = MaxPriceTable()
    required_parameters: Annotated[
        frozenset[str],
        read.texts(read.one_of(PARAMETERS), "parameters such as structured_outputs", frozenset),
    ] = frozenset()


_ContractName = Annotated[str, read.text(read.one_of(frozenset(CONTRACT_NAMES)), "the name of a contract")]
_Tags = Annotated[frozenset[str], read.texts(parse_route, "route tags", frozenset, at_least_one=True)]


class ModelTable(Table):
    controls: dict[_ContractName, _Tags] = Field(default_factory=dict)
    official: Annotated[tuple[RouteId, ...], read.texts(parse_route, "route tags or provider slugs")] = ()
    production: ProductionTable = ProductionTable()


class WebhookTable(Table):
    url: Annotated[Secret | None, read.secret_address()] = None
    secret_env: Annotated[str | None, read.environment_name()] = None
    secret_file: Annotated[str | None, read.path()] = None

    @model_validator(mode="after")
    def _consistent(self) -> WebhookTable:
        if self.url is None:
            raise read.RefusedError("missing", key="url", allowed="the address that takes the messages")
        if (self.secret_env is None) == (self.secret_file is None):
            problem = "no secret to sign with" if self.secret_env is None else "two places for one secret"
            raise read.RefusedError(problem, key="secret_file", allowed="either secret_env or secret_file")
        return self


_WebhookName = Annotated[str, read.text(read.channel_name, "a name of a-z, 0-9, - and _, such as ops")]


class NotifyTable(Table):
    webhooks: dict[_WebhookName, WebhookTable] = Field(default_factory=dict, max_length=MAX_WEBHOOKS)
    on_event: Annotated[tuple[str, ...], read.command()] = _NOTIFY.on_event
    ping_url: Annotated[Secret | None, read.secret_address()] = None
    overdue_after: Annotated[timedelta | None, read.duration(_S, 30 * _D)] = None
    timeout: Annotated[timedelta, read.duration(_S, _M)] = _NOTIFY.timeout
    max_attempts: Annotated[int, read.whole(1, 10_000)] = _NOTIFY.max_attempts
    retry_wait: Annotated[tuple[timedelta, timedelta], read.duration_pair(_S, _D)] = _NOTIFY.retry_wait
    keep: Annotated[timedelta, read.duration(_H, 3650 * _D)] = _NOTIFY.keep


class ListenTable(Table):
    applications: Annotated[Address, read.listening()] = _LISTEN.applications
    administrators: Annotated[Address, read.listening()] = _LISTEN.administrators

    @model_validator(mode="after")
    def _consistent(self) -> ListenTable:
        if self.applications == self.administrators and self.applications.port:
            raise read.RefusedError(
                "two listeners at one address",
                key="administrators",
                value=str(self.administrators),
                allowed="another address than applications",
            )
        return self


class ProxyTable(Table):
    listen: Annotated[Address, read.listening()] = _PROXY.listen
    upstream: Annotated[str | None, read.base_url()] = None
    max_edit_bytes: Annotated[int, read.whole(1_024, 268_435_456)] = _PROXY.max_edit_bytes


class TelemetryTable(Table):
    keep: Annotated[timedelta, read.duration(_H, 3650 * _D)] = _RETENTION.generations


class TrafficTable(Table):
    watch: Annotated[bool, read.switch()] = _TRAFFIC.watch
    window: Annotated[timedelta, read.duration(10 * _M, _D)] = _TRAFFIC.window
    min_conversations: Annotated[int, read.whole(5, 1_000)] = _TRAFFIC.min_conversations
    min_share: Annotated[Decimal, read.share()] = _TRAFFIC.min_share
    false_rounds_per_week: Annotated[float, read.number(0.01, 100)] = _TRAFFIC.false_rounds_per_week
    grace: Annotated[timedelta, read.duration(_S, 10 * _M)] = _TRAFFIC.grace


class GuardrailTable(Table):
    enabled: Annotated[bool, read.switch()] = _GUARDRAIL.enabled
    apply: Annotated[bool, read.switch()] = _GUARDRAIL.apply
    id: Annotated[str | None, read.text(read.opaque_id, "the guardrail's id")] = None
    key_env: Annotated[str, read.environment_name()] = _GUARDRAIL.key_env
    key_file: Annotated[str | None, read.path()] = None
    granularity: Annotated[str, read.word(*Granularity)] = _GUARDRAIL.granularity
    on_stop: Annotated[str, read.word(*OnStop)] = _GUARDRAIL.on_stop
    check_every: Annotated[timedelta, read.duration(_S, _D)] = _GUARDRAIL.check_every

    @model_validator(mode="after")
    def _consistent(self) -> GuardrailTable:
        if {"key_env", "key_file"} <= self.model_fields_set:
            raise read.RefusedError(
                "two places for one key", key="key_file", allowed="either key_env or key_file"
            )
        if self.enabled and self.id is None:
            raise read.RefusedError("missing", key="id", allowed="the id of a guardrail that you have made")
        if self.apply and not self.enabled:
            raise read.RefusedError(
                "without enabled", key="apply", value=True, allowed="true only with enabled = true"
            )
        return self


class RoutingTable(Table):
    builtin: Annotated[str | None, read.path()] = None


def _model_id(value: str) -> str:
    for shortcut in SHORTCUTS:
        if value.endswith(shortcut):
            raise InputError("a routing shortcut, which is not a model of its own", value=value)
    return parse_model(value)


_ModelId = Annotated[str, read.text(_model_id, 'author/slug, optionally with a variant such as ":free"')]


class ConfigFile(Table):
    """The whole file; `policy` is read by the policy's own reader."""

    initial_mode: Annotated[str, read.word("observe", "enforce")] = "observe"
    gateway: GatewayTable = GatewayTable()
    store: StoreTable = StoreTable()
    snapshot: SnapshotTable = SnapshotTable()
    schedule: ScheduleTable = ScheduleTable()
    tripwire: TripwireTable = TripwireTable()
    budget: BudgetTable = BudgetTable()
    probes: ProbesTable = ProbesTable()
    contracts: ContractsTable = ContractsTable()
    policy: dict[str, Any] = Field(default_factory=dict)
    routing: RoutingTable = RoutingTable()
    guardrail: GuardrailTable = GuardrailTable()
    listen: ListenTable = ListenTable()
    proxy: ProxyTable = ProxyTable()
    telemetry: TelemetryTable = TelemetryTable()
    traffic: TrafficTable = TrafficTable()
    notify: NotifyTable = NotifyTable()
    models: dict[_ModelId, ModelTable] = Field(default_factory=dict, max_length=MAX_MODELS)

    @model_validator(mode="after")
    def _consistent(self) -> ConfigFile:
        if self.guardrail.id is not None and self.gateway.kind != GatewayKind.OPENROUTER:
            raise read.RefusedError(
                "this gateway has no guardrails",
                key="guardrail",
                allowed=f'an id only with gateway.kind = "{GatewayKind.OPENROUTER}"',
            )
        return self
