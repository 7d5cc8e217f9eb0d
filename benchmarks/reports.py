"""Complaints of users, and who served them: does the answer name the route, and does it know when not to?

    python benchmarks/reports.py [--seeds 101,102,…] [--complaints N] [--variants] [--brief]

A world a seed: three days of one model's traffic over 16 routes of 13 providers (three have two tags) with
unequal shares, in six languages; a canary that asks every route each 30 minutes, with natural failures, in a
store in memory, decided and folded as the daemon does; and two routes that go bad for different symptoms, in
windows of one to four hours, eight to twenty apart, one nearly always, one in three to five of ten answers.
Then complaints, each passed on 5 minutes to 12 hours after the answer, with what the store holds by then,
answered by the code behind `routecanary report add`.

How complaints are drawn:
- With a fault behind them (80 %): an answer that a fault spoiled, each equally likely, with its symptom.
- Without one (20 %): an answer that nothing spoiled, each equally likely, with a symptom out of the five
  contracts, each equally likely. Some fall by chance into a fault's window, or within the error of it, with
  its very symptom (`by chance`). No method can tell those apart, and they count as causeless all the same.
- The stated time is off by up to 20 minutes either way, uniformly, and said to be within 20 minutes. The
  language is stated. No id, no conversation.

`first`: the true route is in the first set of the ranking; `named`: and the answer is not "unknown".
`unknown`: of those without a fault. Brier: the sum over all explanations, 0 to 2. Beside it stand two simpler
rankings: by traffic share alone (told how many complaints have no fault), and by what the canary knew alone,
as if every set of routes had served as much.

Exits 1 when a goal is missed over all seeds: `first` 80 %, `unknown` 90 %. The constants were chosen on seeds
1 to 8; 101 to 105, the default, were not looked at before that. `--variants` adds harder ones, with the first
two seeds and half of the complaints; where there is no telemetry, prices tell the traffic to a factor of e.
`--brief` is the short version that the tests run, with goals of its own for so few complaints.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from routecanary.adapters.store.memory import MemoryStore
from routecanary.complaint.value import Complaint, Ranking, Sureness, Symptom
from routecanary.decide.rotation import locales_for, round_locale
from routecanary.domain.generation import Generation, Source
from routecanary.domain.interval import exact_interval
from routecanary.domain.names import CONTRACT_NAMES, ContractName, Locale, ModelId, RouteId
from routecanary.domain.policy import Policy
from routecanary.domain.round import Mode, Round, RouteReport, SwitchMode
from routecanary.domain.route import Listing, Route
from routecanary.domain.verdict import VerdictKind
from routecanary.rounds.record import Ledger
from routecanary.rounds.suspects import answer_to

MODEL = ModelId("acme/chat-2")
START = datetime(2026, 11, 26, tzinfo=UTC)
LENGTH = timedelta(days=3)
FIRST_COMPLAINT = timedelta(hours=12)
PERIOD = timedelta(minutes=30)
LOCALES = {"en": 0.4, "es": 0.15, "pt-BR": 0.15, "th": 0.1, "ja": 0.1, "de": 0.1}
NATURAL = 0.01  # of a healthy route's first attempts, in each contract
REPEATED = 0.3  # of chance failures that repeat in a confirmation
TRANSPORT = 0.02  # of routes in a round, that do not answer
GAP = 15.0  # mean seconds between two answers


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One route going bad in windows."""

    route: RouteId
    contract: ContractName
    rate: float  # of its answers
    windows: tuple[tuple[datetime, datetime], ...]
    locales: frozenset[str]  # that it touches

    def spoils(self, at: datetime, locale: str) -> float:
        inside = any(since <= at < until for since, until in self.windows)
        return self.rate if inside and locale in self.locales else 0.0


@dataclass(frozen=True, kw_only=True)
class Variant:
    name: str
    error: timedelta = timedelta(minutes=20)
    with_locale: bool = True
    faults: int = 2
    telemetry: bool = True
    causeless: float = 0.2
    later: timedelta | None = None  # asked again so much later
    even: bool = False  # each faulty route is complained of as often
    mode: Mode = Mode.OBSERVE


@dataclass(frozen=True, kw_only=True)
class Case:
    """A complaint, and the truth."""

    complaint: Complaint
    route: RouteId | None  # whose fault is behind it
    coincident: bool = False  # none is, and yet one was at work just then


@dataclass(kw_only=True)
class World:
    rng: random.Random
    tags: Mapping[RouteId, str]  # tag → provider
    shares: Mapping[RouteId, float]
    prices: Mapping[RouteId, Decimal]
    faults: tuple[Fault, ...]
    store: MemoryStore
    ledger: Ledger
    now: datetime = START
    spoiled: list[tuple[Generation, Fault]] = field(default_factory=list)
    healthy: list[Generation] = field(default_factory=list)


def a_world(seed: int, variant: Variant) -> World:
    rng = random.Random(seed)
    tags: dict[RouteId, str] = {}
    for number in range(13):
        suffixes = ("fp8", "turbo") if number in (2, 5, 9) else ("",)
        for suffix in suffixes:
            tags[RouteId(f"host{number:02}/{suffix}" if suffix else f"host{number:02}")] = f"Host {number:02}"
    weights = {tag: rng.lognormvariate(0, 1) for tag in tags}
    whole = sum(weights.values())
    shares = {tag: weight / whole for tag, weight in weights.items()}
    store = MemoryStore()
    world = World(
        rng=rng,
        tags=tags,
        shares=shares,
        prices=some_prices(random.Random(seed * 31 + 7), shares),
        faults=tuple(some_faults(rng, shares, variant.faults)),
        store=store,
        ledger=Ledger(store, Policy()),
    )
    world.ledger.decide(
        MODEL, lambda at, _: SwitchMode(at=at, model=MODEL, mode=variant.mode), now=lambda: world.now
    )
    return world


def some_prices(rng: random.Random, shares: Mapping[RouteId, float]) -> Mapping[RouteId, Decimal]:
    """Draw prices from which traffic can be guessed roughly, to a factor of e either way."""
    return {
        tag: Decimal(share**-0.5 * rng.lognormvariate(0, 0.5)).quantize(Decimal("0.0001"))
        for tag, share in sorted(shares.items())
    }


def some_faults(rng: random.Random, shares: Mapping[RouteId, float], count: int) -> Iterator[Fault]:
    """Draw faults of routes that have at least a hundredth of the traffic."""
    routes = rng.sample([tag for tag, share in sorted(shares.items()) if share >= 0.01], count)
    contracts = rng.sample(CONTRACT_NAMES, count)
    for place, (route, contract) in enumerate(zip(routes, contracts, strict=True)):
        windows = []
        at = START + timedelta(hours=rng.uniform(2, 14))
        while at < START + LENGTH:
            until = at + timedelta(hours=rng.uniform(1, 4))
            windows.append((at, until))
            at = until + timedelta(hours=rng.uniform(8, 20))
        touched = set(LOCALES) if contract != "language" else set(rng.sample(sorted(LOCALES), 3))
        yield Fault(
            route=route,
            contract=contract,
            rate=rng.uniform(0.85, 0.98) if place % 2 == 0 else rng.uniform(0.3, 0.5),
            windows=tuple(windows),
            locales=frozenset(touched),
        )


def live(world: World, *, kept: bool = True) -> Iterator[datetime]:
    """Let the days pass: a round each half hour, then traffic, told or not; yields when it ended."""
    while world.now < START + LENGTH:
        a_round(world)
        until = world.now + PERIOD
        served = list(traffic(world, world.now, until))
        if kept:
            world.store.keep_generations(served, at=until)
        world.now = until
        yield until


def a_round(world: World) -> None:
    state = world.ledger.state(MODEL)
    locales = [Locale(name) for name in LOCALES]
    asked = locales_for(state, locales, world.tags)
    at = world.now
    reports = {tag: a_report(world, tag, at, asked[tag]) for tag in world.tags}
    line = Round(at=at, model=MODEL, routes=reports, locale=round_locale(state, locales))
    listing = Listing(
        model=MODEL,
        at=at,
        routes=tuple(
            Route(
                tag=tag,
                provider_names=frozenset({provider}),
                price_prompt=world.prices[tag],
                price_completion=Decimal(0),
            )
            for tag, provider in sorted(world.tags.items())
        ),
    )
    world.ledger.decide(MODEL, lambda _at, _acted: line, now=lambda: at, listing=listing)


def a_report(world: World, tag: RouteId, at: datetime, locale: Locale) -> RouteReport:
    """Ask a route once for each contract, and twice more where it fails."""
    rng = world.rng
    if rng.random() < TRANSPORT:
        return RouteReport(verdicts=dict.fromkeys(CONTRACT_NAMES, VerdictKind.TRANSPORT), locale=locale)
    verdicts, attempts = {}, {}
    for contract in CONTRACT_NAMES:
        fault = max(
            (f.spoils(at, locale) for f in world.faults if (f.route, f.contract) == (tag, contract)),
            default=0.0,
        )
        tries = [rng.random() < max(NATURAL, fault)]
        if tries[0]:
            tries += [rng.random() < max(REPEATED, fault) for _ in range(2)]
            attempts[contract] = tuple(tries)
        verdicts[contract] = VerdictKind.FAIL if sum(tries) >= 2 else VerdictKind.PASS
    return RouteReport(verdicts=verdicts, attempts=attempts, locale=locale)


def traffic(world: World, since: datetime, until: datetime) -> Iterator[Generation]:
    """Serve users as the gateway would, without the routes that an enforcing canary keeps away."""
    rng, state = world.rng, world.ledger.state(MODEL)
    away = set(state.suspensions()) if state.mode is Mode.ENFORCE else set()
    tags = [tag for tag in world.tags if tag not in away]
    weights = [world.shares[tag] for tag in tags]
    hour = (since.hour + 7) % 24
    gap = GAP * (0.6 if 9 <= hour < 23 else 2.0)
    at = since + timedelta(seconds=rng.expovariate(1 / gap))
    while at < until:
        tag = rng.choices(tags, weights)[0]
        locale = rng.choices(list(LOCALES), list(LOCALES.values()))[0]
        yield a_generation(world, tag, at, locale)
        at += timedelta(seconds=rng.expovariate(1 / gap))


def a_generation(world: World, tag: RouteId, at: datetime, locale: str) -> Generation:
    rng, provider = world.rng, world.tags[tag]
    made = Generation(
        key=f"gen-{len(world.spoiled) + len(world.healthy)}",
        source=Source.HOOK,
        model=MODEL,
        started_at=at,
        provider=provider,
        candidates=frozenset(other for other, name in world.tags.items() if name == provider),
        ttft_ms=round(rng.lognormvariate(6.8, 0.5)),
        duration_ms=9_000,
        status=200,
        finish_reason="content_filter" if rng.random() < 0.002 else "stop",
        empty=False,
        locale=Locale(locale),
    )
    if rng.random() < 0.002:
        made = replace(made, ttft_ms=round(rng.uniform(10_500, 20_000)))
    for fault in world.faults:
        if fault.route == tag and rng.random() < fault.spoils(at, locale):
            made = spoiled(rng, made, fault)
            world.spoiled.append((made, fault))
            return made
    world.healthy.append(made)
    return made


def spoiled(rng: random.Random, made: Generation, fault: Fault) -> Generation:
    """Show in the numbers what they can show: waits always, half of the filtering, nothing else."""
    if fault.contract == "latency":
        return replace(made, ttft_ms=round(rng.uniform(10_500, 25_000)))
    if fault.contract == "filtering" and rng.random() < 0.5:
        return replace(made, finish_reason="content_filter")
    return made


def cases_of(world: World, variant: Variant, count: int, seed: int) -> list[Case]:
    rng = random.Random(seed * 7919 + 1)
    begin = START + FIRST_COMPLAINT
    spoilt = [pair for pair in world.spoiled if pair[0].started_at >= begin]
    healthy = [made for made in world.healthy if made.started_at >= begin]
    made_up = []
    for place in range(count):
        if place < round(count * variant.causeless):
            generation, symptom, route = rng.choice(healthy), Symptom(rng.choice(CONTRACT_NAMES)), None
        else:
            if variant.even:
                fault = rng.choice(world.faults)
                pool = [pair for pair in spoilt if pair[1] is fault] or spoilt
            else:
                pool = spoilt
            generation, fault = rng.choice(pool)
            symptom, route = Symptom(fault.contract), fault.route
        error = variant.error * rng.uniform(-1, 1)
        delay = timedelta(minutes=rng.uniform(5, 720))
        coincident = route is None and any(
            fault.contract == symptom.value
            and any(
                since - variant.error <= generation.started_at < until + variant.error
                for since, until in fault.windows
            )
            for fault in world.faults
        )
        complaint = Complaint(
            at=generation.started_at + delay,
            actor="bench",
            model=MODEL,
            readings=(generation.started_at + error,),
            within_s=round(variant.error.total_seconds()),
            symptom=symptom,
            locale=generation.locale if variant.with_locale else None,
        )
        made_up.append(Case(complaint=complaint, route=route, coincident=coincident))
    return made_up


@dataclass(frozen=True, kw_only=True)
class Simple:
    """What a simpler ranking is worth."""

    first: bool
    brier: float


@dataclass(kw_only=True)
class Answered:
    case: Case
    ranking: Ranking
    sureness: Sureness
    by_share: Simple
    by_canary: Simple

    @property
    def first(self) -> bool:
        return bool(self.ranking.suspects) and self.case.route in self.ranking.suspects[0].routes

    @property
    def brier(self) -> float:
        told = {suspect.routes: suspect.posterior for suspect in self.ranking.suspects}
        return brier(told, self.ranking.no_fault, self.case.route)


def brier(told: Mapping[tuple[RouteId, ...], float], no_fault: float, truth: RouteId | None) -> float:
    """Score every explanation at once: 0 is perfect, 2 is certain and wrong."""
    score = (no_fault - (truth is None)) ** 2
    score += sum((share - (truth in routes)) ** 2 for routes, share in told.items())
    if truth is not None and not any(truth in routes for routes in told):
        score += 1.0
    return score


def answered(store: MemoryStore, case: Case, prior: float) -> Answered:
    answer = answer_to(store, case.complaint)
    ranking = answer.ranking
    shares = {suspect.routes: suspect.share * (1 - prior) for suspect in ranking.suspects}
    # the canary alone: as if every set had served as much
    known = {s.routes: s.posterior / s.share for s in ranking.suspects if s.share}
    even = sum(known.values()) / max(len(known), 1) + ranking.no_fault
    canary = {routes: value / len(known) / even for routes, value in known.items()}
    return Answered(
        case=case,
        ranking=ranking,
        sureness=answer.sureness,
        by_share=simple(shares, prior, case.route),
        by_canary=simple(canary, ranking.no_fault / even, case.route),
    )


def simple(told: Mapping[tuple[RouteId, ...], float], no_fault: float, truth: RouteId | None) -> Simple:
    best = min(told, key=lambda routes: (-told[routes], routes), default=())
    return Simple(first=truth in best, brier=brier(told, no_fault, truth))


def play(seed: int, variant: Variant, count: int) -> list[Answered]:
    """Live through a seed twice: to draw the complaints, and to answer each with what was known then."""
    first = a_world(seed, variant)
    deque(live(first, kept=False), maxlen=0)
    later = variant.later or timedelta()
    waiting = sorted(
        (
            replace(case, complaint=replace(case.complaint, at=case.complaint.at + later))
            for case in cases_of(first, variant, count, seed)
        ),
        key=lambda case: case.complaint.at,
        reverse=True,
    )
    world = a_world(seed, variant)
    found = []
    for until in live(world, kept=variant.telemetry):
        while waiting and waiting[-1].complaint.at <= until:
            found.append(answered(world.store, waiting.pop(), variant.causeless))
    found += [answered(world.store, case, variant.causeless) for case in waiting]
    return found


@dataclass(frozen=True, kw_only=True)
class Figures:
    caused: int
    first: float
    named: float
    causeless: int
    unknown: float
    coincident: int
    brier: float
    share_first: float
    by_share: float
    canary_first: float
    by_canary: float


def figures_of(found: Sequence[Answered]) -> Figures:
    caused = [each for each in found if each.case.route is not None]
    causeless = [each for each in found if each.case.route is None]
    mean = lambda values: sum(values) / max(len(values), 1)  # noqa: E731
    return Figures(
        caused=len(caused),
        first=mean([each.first for each in caused]),
        named=mean([each.first and each.sureness is not Sureness.UNKNOWN for each in caused]),
        causeless=len(causeless),
        unknown=mean([each.sureness is Sureness.UNKNOWN for each in causeless]),
        coincident=sum(each.case.coincident for each in causeless),
        brier=mean([each.brier for each in found]),
        share_first=mean([each.by_share.first for each in caused]),
        by_share=mean([each.by_share.brier for each in found]),
        canary_first=mean([each.by_canary.first for each in caused]),
        by_canary=mean([each.by_canary.brier for each in found]),
    )


COLUMNS = ("caused", "first", "named", "causeless", "unknown", "by chance", "Brier")
SIMPLER = ("share", "Brier", "canary", "Brier")  # how often these put the true route first, and their score
HEAD = f"{'':30}" + "".join(f"{name:>10}" for name in COLUMNS + SIMPLER)


def row(name: str, figures: Figures) -> str:
    cells = (
        str(figures.caused),
        f"{figures.first:.1%}",
        f"{figures.named:.1%}",
        str(figures.causeless),
        f"{figures.unknown:.1%}" if figures.causeless else "",
        str(figures.coincident),
        f"{figures.brier:.3f}",
        f"{figures.share_first:.1%}",
        f"{figures.by_share:.3f}",
        f"{figures.canary_first:.1%}",
        f"{figures.by_canary:.3f}",
    )
    return f"{name:30}" + "".join(f"{cell:>10}" for cell in cells)


def calibration(found: Sequence[Answered]) -> Iterator[str]:
    """Lay what the best explanation, a set or no fault, was given beside how often it was the true one."""
    edges = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0001)
    pairs = []
    for each in found:
        pairs += [(one.posterior, each.case.route in one.routes) for one in each.ranking.suspects]
        pairs.append((each.ranking.no_fault, each.case.route is None))
    yield f"{'stated':>12}{'cases':>9}{'mean stated':>13}{'true':>8}"
    for low, high in pairwise(edges):
        inside = [pair for pair in pairs if low <= pair[0] < high]
        if inside:
            mean = sum(stated for stated, _ in inside) / len(inside)
            hits = sum(hit for _, hit in inside) / len(inside)
            yield f"{low:6.1f}–{min(high, 1.0):<5.1f}{len(inside):9}{mean:13.3f}{hits:8.3f}"


VARIANTS = (
    Variant(name="±60 min", error=timedelta(minutes=60)),
    Variant(name="language not stated", with_locale=False),
    Variant(name="three faulty routes", faults=3),
    Variant(name="no telemetry", telemetry=False),
    Variant(name="every complaint has a fault", causeless=0.0),
    Variant(name="both routes complained of alike", even=True),
    Variant(name="asked again a day later", later=timedelta(days=1)),
    Variant(name="enforcing: offenders kept away", mode=Mode.ENFORCE),
)


def intervals(figures: Figures) -> str:
    """Give the exact 95 % intervals of the two goals, as if complaints were independent."""
    said = []
    for name, share, count in (
        ("first", figures.first, figures.caused),
        ("named", figures.named, figures.caused),
        ("unknown", figures.unknown, figures.causeless),
    ):
        interval = exact_interval(round(share * count), count)
        said.append(f"{name} {share:.1%} ({interval.low:.1%} to {interval.high:.1%})")
    return ", ".join(said)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="101,102,103,104,105")
    parser.add_argument("--complaints", type=int, default=500, help="of each seed")
    parser.add_argument("--variants", action="store_true", help="harder ones besides")
    parser.add_argument("--brief", action="store_true", help="seed 3 alone, 40 complaints")
    chosen = parser.parse_args()
    seeds = [3] if chosen.brief else [int(seed) for seed in chosen.seeds.split(",")]
    count = 40 if chosen.brief else chosen.complaints
    began = time.monotonic()
    print(HEAD)
    everything: list[Answered] = []
    for seed in seeds:
        found = play(seed, Variant(name=""), count)
        everything += found
        print(row(f"seed {seed}", figures_of(found)), flush=True)
    figures = figures_of(everything)
    print(row("all seeds", figures))
    print(intervals(figures))
    print("\n".join(calibration(everything)))
    if chosen.variants:
        print(HEAD)
        for variant in VARIANTS:
            found = [each for seed in seeds[:2] for each in play(seed, variant, count // 2)]
            print(row(variant.name, figures_of(found)), flush=True)
    print(f"{len(everything)} complaints in {time.monotonic() - began:.0f} s")
    first, unknown = (0.7, 0.7) if chosen.brief else (0.8, 0.9)
    held = figures.first >= first and figures.unknown >= unknown
    said = "held" if held else "MISSED"
    print(f"goals: true route first in {first:.0%}, unknown for {unknown:.0%} of the causeless: {said}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
