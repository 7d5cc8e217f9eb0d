"""How does the canary itself stand? Its daemon, its configuration, its money and its messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from routecanary.cli.guardrail_view import standing_document
from routecanary.cli.output import instant, span
from routecanary.domain.names import ContractName
from routecanary.domain.operating import ModelOperation, OperatingState
from routecanary.domain.probe import Json
from routecanary.domain.settings import Settings
from routecanary.domain.state import ModelState
from routecanary.rounds.records import Records
from routecanary.wiring import channel_names, running_daemon

NO_DAEMON: Final = "daemon_absent"


def standing_of(records: Records, now: datetime) -> Json:
    """Describe how the canary itself stands.

    Raises:
        StoreError: The store cannot be read.
    """
    settings, operating = records.settings, records.ledger.operating()
    pid = running_daemon(settings)
    reload = operating.reload
    tallies = records.store.tally()
    return {
        "daemon": pid,
        "last_reload": None
        if reload is None
        else {"at": instant(reload.at), "ok": reload.ok, "detail": reload.detail},
        "budget": {
            "per_day_usd": float(settings.budget.per_day_usd),
            "committed_usd": float(operating.committed(now.astimezone(UTC).date())),
            "reached_at": instant(operating.budget_reached_at),
        },
        "clock_stepped_at": instant(operating.clock_stepped_at),
        "channels": {
            name: {
                "pending": tallies[name].pending if name in tallies else 0,
                "failed": tallies[name].failed if name in tallies else 0,
                "problem": tallies[name].problem if name in tallies else None,
            }
            for name in channel_names(settings)
        },
        "guardrails": {
            each: standing_document(known) for each, known in sorted(operating.guardrails.items())
        },
        "alerts": [alert for alert, _ in canary_alerts(records, pid, now)],
    }


def canary_alerts(records: Records, pid: int | None, now: datetime) -> Iterator[tuple[str, str]]:
    """List what about the canary itself needs a person's eye: a name for programs, a sentence for people.

    Args:
        pid: The daemon's process; None = there is none, as far as can be seen.
    """
    operating = records.ledger.operating()
    if pid is None and records.settings.models:
        yield NO_DAEMON, "no daemon watches this store: `routecanary run` starts one"
    if operating.reload is not None and not operating.reload.ok:
        yield "reload_failed", f"the configuration was refused: {operating.reload.detail}"
    for contract, since in sorted(operating.blind.items()):
        yield f"judge_blind:{contract}", f"its judge does not see what it must, since {instant(since)}"
    if operating.budget_reached_at is not None:
        yield "budget_reached", "the day's budget did not allow all questions"
    yield from _guardrail_alerts(records, pid, now)
    tallies = records.store.tally()
    for name in channel_names(records.settings):
        if name in tallies and tallies[name].problem is not None:
            problem = tallies[name].problem
            yield f"channel_failing:{name}", f"{tallies[name].pending} messages wait: {problem}"


def _guardrail_alerts(records: Records, pid: int | None, now: datetime) -> Iterator[tuple[str, str]]:
    """List what is wrong with a guardrail, above all entries of ours that nobody looks after."""
    settings = records.settings
    for guardrail, known in sorted(records.ledger.operating().guardrails.items()):
        pending = frozenset[str]() if known.pending is None else known.pending.add
        ours = ", ".join(sorted(known.owned | pending))
        if known.refused is not None:
            problem = known.problem or "it covers the canary's own key"
            yield f"guardrail_refused:{known.refused.value}", f"{guardrail}: {problem}"
        if known.failing_since is not None:
            since = instant(known.failing_since)
            yield "guardrail_failed", f"{guardrail}: since {since}: {known.problem}"
        if not ours:
            continue
        if pid is None or not settings.guardrail.apply or settings.guardrail.id != guardrail:
            cure = "`routecanary guardrail clear` takes them out"
            yield (
                "guardrail_left",
                f"nobody looks after {ours} in {guardrail}, which do not end by themselves: {cure}",
            )
        elif known.synced_at is None or now - known.synced_at > settings.max_snapshot_age:
            since = instant(known.synced_at) or "never"
            yield "guardrail_stale", f"{guardrail} was last in step at {since}, and holds {ours}"


def model_alerts(
    state: ModelState, operating: OperatingState, settings: Settings, now: datetime
) -> Iterator[tuple[str, str]]:
    """List what about one model's watch needs a person's eye, likewise."""
    known = operating.model(state.model)
    if known.account is not None:
        yield (
            f"account_fault:{known.account.code}",
            f"the account cannot be used since {instant(known.account.since)}: {known.account.detail}",
        )
    if known.listing is not None:
        before, after = known.listing.before, known.listing.after
        yield "listing_doubted", f"it fell from {before} to {after} routes; no round is made of it"
    if known.overdue_said_at is not None:
        yield "round_overdue", f"no round for longer than {span(settings.overdue_after())}"
    for route in sorted(known.stale.keys() & state.named):
        yield f"route_stale:{route}", "it has given no evidence for a long time"
    for route, change in sorted(known.prompts.changed.items()):
        if route in state.named and known.prompts.change_shown(route, now) is not None:
            yield (
                f"prompt_tokens_changed:{route}",
                f"a fixed prompt counts {change.now} tokens there, {change.was} until {instant(change.at)}",
            )
    if known.prompts.is_shift_shown(now):
        since = instant(known.prompts.shifted_at)
        yield "prompt_tokens_shifted", f"most routes count a fixed prompt otherwise since {since}"
    for _, leaking in sorted(known.leaking.items()):
        if leaking.certain:
            routes = ", ".join(sorted(leaking.routes))
            yield f"exclusion_leaked:{leaking.reason}", f"users are answered by excluded routes: {routes}"
    for contract in sorted(known.control_absent.keys() & settings.enabled_contracts()):
        yield f"control_absent:{contract}", "no control has failed it lately, so its passes are unproven"
    for contract in sorted(operating.on_trial(state.model, now)):
        yield f"on_trial:{contract}", "it is new, so its fails are recorded and suspend nobody"
    if known.left_out:
        yield "routes_left_out", f"the budget did not allow {len(known.left_out)} routes in the last round"


def unproven(state: ModelState, known: ModelOperation, settings: Settings) -> frozenset[ContractName]:
    """List the contracts whose passes prove nothing now: no control shows that a fail would be seen."""
    return (frozenset(known.control_absent) | state.weak) & settings.enabled_contracts()
