"""What did the administrator configure?

The configuration file is read once, at the edge; these frozen values are what the rest sees. Each default
here is the default of the file, and docs/configuration.md lists all of them with their ranges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from routecanary.domain.address import Address
from routecanary.domain.gateway import WHEREABOUTS, GatewayKind
from routecanary.domain.guardrail import Granularity, OnStop
from routecanary.domain.names import CONTRACT_NAMES, ContractName, Locale, ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.probe import ProbeKind
from routecanary.domain.round import Mode
from routecanary.domain.secret import Secret

DEFAULT_MAX_TOKENS: Final[Mapping[ProbeKind, int]] = MappingProxyType(
    {ProbeKind.CHAT: 900, ProbeKind.FILTER: 700, ProbeKind.STRUCTURED: 300}
)
"""Room for an answer, in tokens, by kind of probe."""

DEFAULT_LOCALES: Final = tuple(
    Locale(name)
    for name in (
        "en", "es", "pt-BR", "fr", "de", "it", "nl", "pl", "ru", "tr", "vi", "th", "id", "tl", "ja", "ko",
        "zh-Hans",
    )
)  # fmt: skip
"""The default rotation. Source: product.md §2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The sampling parameters of the product's own requests; None = not sent."""

    temperature: float | None = 0.8
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    top_a: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Where the gateway is, which key opens it, and how long we wait for it.

    The deadline for the first text is not here: it is `ContractSettings`' `listen` of `latency`.
    """

    kind: GatewayKind = GatewayKind.OPENROUTER
    base_url: str = WHEREABOUTS[GatewayKind.OPENROUTER].base_url
    api_key_env: str = WHEREABOUTS[GatewayKind.OPENROUTER].key_variable  # name of the environment variable
    api_key_file: str | None = None  # used instead, when given
    concurrency: int = 64  # probes at once; too many falsify the latency
    connect_timeout: timedelta = timedelta(seconds=10)  # from the start until the request is written
    headers_timeout: timedelta = timedelta(seconds=30)  # from the request's last byte to the status line
    gap_timeout: timedelta = timedelta(seconds=30)  # between two reads
    total_timeout: timedelta = timedelta(seconds=120)  # from the request's last byte to the end
    linger: timedelta = timedelta(seconds=2)  # from `[DONE]` to the end
    document_timeout: timedelta = timedelta(seconds=30)  # of one call that is no probe
    preflight_max_age: timedelta = timedelta(days=1)  # of what the gateway told of routes that it withholds
    max_answer_bytes: int = 8 * 1024 * 1024
    max_answer_chunks: int = 100_000  # reads from the socket
    max_line_bytes: int = 1024 * 1024
    proxy_from_environment: bool = False  # honour HTTPS_PROXY and its kin


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySettings:
    """The three numbers of the latency contract."""

    limit: timedelta = timedelta(seconds=10)  # text within it is in time
    listen: timedelta = timedelta(seconds=30)  # how long the probe waits, to say how late it was
    lag_limit: timedelta = timedelta(milliseconds=250)  # of our own event loop: beyond, no verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingSettings:
    """The limits of the other contracts; a unit is a word, or its like in scripts without spaces."""

    own_limit_tokens: int = 2_000  # a budget eaten by hidden reasoning is a fail from here on
    min_units: int = 12  # of an answer, below which its language is never a fail
    mix_units: int = 12  # foreign units that a mix needs
    mix_share: float = 0.2  # and their share of the answer
    refusal_points: int = 4  # score from which a text is a refusal
    refusals: str | None = None  # directory of own tables of refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSettings:
    """How one contract is used.

    `enabled` false: never asked or judged (`skipped`). `enforce` false: judged and recorded, but its fails
    count as `inconclusive` (policy.md §7). `confirmations` is even.
    """

    enabled: bool = True
    enforce: bool = True
    confirmations: int = 2  # further attempts after a first fail


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """What is asked, and how."""

    locales: tuple[Locale, ...] = DEFAULT_LOCALES  # of the rotation, in its order
    texts: str | None = None  # directory of own probe texts
    start_spread: timedelta = timedelta(seconds=10)  # routes of a round start within it
    confirm_delay: tuple[timedelta, timedelta] = (timedelta(seconds=2), timedelta(seconds=20))
    max_tokens: Mapping[ProbeKind, int] = field(default_factory=lambda: DEFAULT_MAX_TOKENS)
    reasoning_room: int = 2_000  # tokens added where a route cannot switch reasoning off
    sampling: Sampling = Sampling()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSettings:
    """When a model's round is due."""

    period: timedelta = timedelta(minutes=30)
    jitter: timedelta = timedelta(minutes=2)  # a round starts up to this much later
    max_clock_leap: timedelta = timedelta(hours=1)  # by which the wall clock may run ahead at once
    recheck: bool = False  # ask suspects and routes on probation again, before the next round
    recheck_after: timedelta = timedelta(minutes=5)  # within which that is done
    probation: timedelta = timedelta(hours=24)  # of a route that is new, changed or just back; 0 = none


@dataclass(frozen=True, slots=True, kw_only=True)
class TripwireSettings:
    """Whether, and how often, routes are asked what a fixed prompt counts."""

    enabled: bool = True
    every: timedelta = timedelta(days=1)  # once in each such span since 1970; of a day: once a UTC day


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedPrice:
    """What a route is taken to charge that does not say; None = the dearest that its listing states."""

    prompt: Decimal | None = None  # USD per million tokens
    completion: Decimal | None = None  # USD per million tokens
    request: Decimal | None = None  # USD per request


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    """How much may be spent on probes in a UTC day; the last share of it only on suspended routes."""

    per_day_usd: Decimal = Decimal(5)
    recovery_share: Decimal = Decimal("0.1")
    assumed_price: AssumedPrice = AssumedPrice()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long the store keeps what happened; what a fold needs is kept in any case."""

    events: timedelta = timedelta(days=90)
    passes: timedelta = timedelta(days=7)  # transcripts that no contract failed
    failures: timedelta = timedelta(days=90)  # transcripts that one failed
    generations: timedelta = timedelta(days=30)  # telemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSettings:
    """What is looked at in what users were served."""

    watch: bool = True  # whether odd traffic may ask for a round
    window: timedelta = timedelta(hours=1)  # that is compared with those before it
    min_conversations: int = 20  # on each side of a comparison
    min_share: Decimal = Decimal("0.05")  # of bad ones, below which nothing is odd
    false_rounds_per_week: float = 1.0  # of a model, where nothing has changed
    grace: timedelta = timedelta(seconds=5)  # within which an exclusion has to reach every request


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """One address that takes signed messages; exactly one of the two places of its secret is given."""

    url: Secret  # its path or query may hold a token
    secret_env: str | None = None  # name of the environment variable
    secret_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    """Whom to tell, and how persistently."""

    webhooks: Mapping[str, WebhookSettings] = field(default_factory=dict)  # by name
    on_event: tuple[str, ...] = ()  # a command and its arguments; empty = none
    ping_url: Secret | None = None  # asked after each round, so that its silence is noticed
    overdue_after: timedelta | None = None  # None = two periods and the jitter
    timeout: timedelta = timedelta(seconds=10)  # of one attempt
    max_attempts: int = 100  # of one message on one channel
    retry_wait: tuple[timedelta, timedelta] = (timedelta(seconds=5), timedelta(hours=1))  # first, longest
    keep: timedelta = timedelta(days=30)  # messages that are delivered or failed


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailSettings:
    """Into which guardrail of the account the exclusions go, if into any."""

    enabled: bool = False  # the daemon looks after it
    apply: bool = False  # and writes; else it only says what it would write
    id: str | None = None
    key_env: str = "OPENROUTER_MANAGEMENT_KEY"  # name of the environment variable
    key_file: str | None = None  # used instead, when given
    granularity: Granularity = Granularity.SLUG
    on_stop: OnStop = OnStop.CLEAR
    check_every: timedelta = timedelta(minutes=15)  # between two looks at list and coverage


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceCeiling:
    """`provider.max_price` of the product's requests; None = no ceiling."""

    prompt: Decimal | None = None  # USD per million tokens
    completion: Decimal | None = None  # USD per million tokens
    request: Decimal | None = None  # USD per request


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductionSettings:
    """The routing settings of the product's own requests: which routes may serve it at all."""

    only: tuple[str, ...] = ()  # tags or slugs; empty = any
    ignore: tuple[str, ...] = ()
    data_collection: str | None = None  # "allow" | "deny"
    zdr: bool = False  # zero data retention only
    quantizations: frozenset[str] = frozenset()  # empty = any
    max_price: PriceCeiling = PriceCeiling()
    required_parameters: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """One model under watch."""

    model: ModelId
    controls: Mapping[ContractName, frozenset[RouteId]] = field(default_factory=dict)
    official: tuple[RouteId, ...] = ()  # tags or slugs of the vendor; empty = whoever is named as the author
    production: ProductionSettings = ProductionSettings()

    def control_for(self, route: RouteId) -> frozenset[ContractName]:
        """List the contracts that a route is a control for."""
        return frozenset(name for name, routes in self.controls.items() if route in routes)


APPLICATIONS_AT: Final = Address(host="127.0.0.1", port=7450)
ADMINISTRATORS_AT: Final = Address(host="127.0.0.1", port=7451)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenSettings:
    """Where `routecanary serve` listens; beyond this machine only with a token."""

    applications: Address = APPLICATIONS_AT
    administrators: Address = ADMINISTRATORS_AT


PROXY_AT: Final = Address(host="127.0.0.1", port=7452)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxySettings:
    """Where `routecanary proxy` listens, and what passes through it where to."""

    listen: Address = PROXY_AT
    upstream: str | None = None  # None = the gateway's base address
    max_edit_bytes: int = 16_777_216  # of a request's body; a longer one goes on as it comes


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole configuration; paths are absolute strings."""

    store_path: str
    snapshot_path: str
    gateway: GatewaySettings = GatewaySettings()
    max_snapshot_age: timedelta = timedelta(hours=6)
    schedule: ScheduleSettings = ScheduleSettings()
    tripwire: TripwireSettings = TripwireSettings()
    traffic: TrafficSettings = TrafficSettings()
    budget: BudgetSettings = BudgetSettings()
    notify: NotifySettings = NotifySettings()
    guardrail: GuardrailSettings = GuardrailSettings()
    probes: ProbeSettings = ProbeSettings()
    latency: LatencySettings = LatencySettings()
    judging: JudgingSettings = JudgingSettings()
    contracts: Mapping[ContractName, ContractSettings] = field(
        default_factory=lambda: {name: ContractSettings() for name in CONTRACT_NAMES}
    )
    requalify: timedelta = timedelta(hours=24)  # trial of a contract whose judge, probe or prompt changed
    control_max_age: timedelta = timedelta(hours=24)  # since a control last failed a contract: unproven then
    retention: RetentionSettings = RetentionSettings()
    policy: Policy = field(default_factory=Policy)
    initial_mode: Mode = Mode.OBSERVE
    models: tuple[ModelSettings, ...] = ()  # in the order of the file
    listen: ListenSettings = ListenSettings()
    proxy: ProxySettings = ProxySettings()
    builtin_path: str | None = None  # own exclusions beside the shipped ones
    place: str = "configuration"  # how errors name the file that all this stands in

    def overdue_after(self) -> timedelta:
        """State how long after its last round a model is overdue."""
        if self.notify.overdue_after is not None:
            return self.notify.overdue_after
        return 2 * self.schedule.period + self.schedule.jitter

    def enabled_contracts(self) -> frozenset[ContractName]:
        return frozenset(name for name, contract in self.contracts.items() if contract.enabled)
