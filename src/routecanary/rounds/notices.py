"""What changed for a person? Events in their order → notices, on change only.

Each event is named here with what it begins, continues or ends; `conditions` knows what was so before.
"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from routecanary.domain import event as happened
from routecanary.domain import operation as operated
from routecanary.domain.event import Event
from routecanary.domain.leak import LeakReason, leak_name
from routecanary.domain.notice import Notice, NoticeKind, Phase
from routecanary.domain.operation import Operation
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.rounds.conditions import Conditions
from routecanary.rounds.wording import notice


def notices_of(conditions: Conditions, event: Event | Operation) -> tuple[Notice, ...]:
    """Take one event in.

    Args:
        conditions: As of the event before; changed in place.
    Returns:
        What a person is told of it, in order; nothing where it only says again what is known.
    """
    match event:
        case happened.Suspended():
            return conditions.opens(
                NoticeKind.SUSPENDED,
                event,
                f"suspension:{event.route}",
                quiet=event.redundant,
                facts=_facts(
                    until=event.until,
                    offence=event.offence,
                    collateral=sorted(event.collateral) or None,
                ),
            )
        case happened.Renewed():
            facts = _facts(until=event.until, offence=event.offence, due=event.due)
            return conditions.goes_on(NoticeKind.RENEWED, event, f"suspension:{event.route}", facts)
        case happened.Reinstated():
            return conditions.closes(NoticeKind.REINSTATED, event, f"suspension:{event.route}")
        case happened.Expired():
            facts = _facts(due=event.due, why=event.why)
            return conditions.closes(NoticeKind.EXPIRED, event, f"suspension:{event.route}", facts)
        case happened.Lifted():
            facts = _facts(
                false_positive=event.false_positive or None,
                hold_until=event.hold_until,
                actor=event.actor,
                reason=event.reason,
            )
            return conditions.closes(NoticeKind.LIFTED, event, f"suspension:{event.route}", facts)
        case happened.ClosedByMode():
            return conditions.closes(NoticeKind.CLOSED_BY_MODE, event, f"suspension:{event.route}")
        case happened.SuspensionBlocked():
            facts = _facts(why=event.why)
            return conditions.said_by_round(
                NoticeKind.SUSPENSION_BLOCKED, event, f"blocked:{event.route}", facts
            )
        case happened.SuspicionCleared():
            return conditions.unblocked(event)
        case happened.ProbeWeak():
            return conditions.opens(NoticeKind.PROBE_WEAK, event, f"probe_weak:{event.contract}")
        case happened.ProbeRecovered():
            return conditions.closes(NoticeKind.PROBE_RECOVERED, event, f"probe_weak:{event.contract}")
        case happened.CommonCause():
            facts = _facts(failing=sorted(event.routes))
            return conditions.said_by_round(
                NoticeKind.COMMON_CAUSE, event, f"common_cause:{event.contract}", facts
            )
        case happened.GatewayOutage():
            return conditions.said_by_round(NoticeKind.GATEWAY_OUTAGE, event, "gateway_outage")
        case happened.ModeChanged():
            return conditions.ended_by_mode(event)
        case happened.CapacityLow():
            return conditions.opens(NoticeKind.CAPACITY_LOW, event, "capacity")
        case happened.CapacityRestored():
            return conditions.closes(NoticeKind.CAPACITY_RESTORED, event, "capacity")
        case happened.CanaryLayerReleased():
            return conditions.opens(NoticeKind.CANARY_LAYER_RELEASED, event, "release")
        case happened.CanaryLayerRestored():
            return conditions.closes(NoticeKind.CANARY_LAYER_RESTORED, event, "release")
        case happened.CanaryLayerPaused():
            facts = _facts(until=event.until, actor=event.actor, reason=event.reason)
            return conditions.opens(NoticeKind.CANARY_LAYER_PAUSED, event, "pause", facts=facts)
        case happened.PauseEndMoved():
            facts = _facts(until=event.until, actor=event.actor, reason=event.reason)
            return conditions.goes_on(NoticeKind.PAUSE_END_MOVED, event, "pause", facts)
        case happened.CanaryLayerResumed():
            facts = _facts(actor=event.actor, reason=event.reason)
            return conditions.closes(NoticeKind.CANARY_LAYER_RESUMED, event, "pause", facts)
        case happened.RoundClosed():
            return conditions.round_closed(event)
        case happened.Exclusions():
            return conditions.line_ended(event)
        case happened.RoutesNamed() | happened.LadderReset() | happened.Checkpoint():
            return ()
        case _:
            return _of_operation(conditions, event)


def _of_operation(conditions: Conditions, event: Operation) -> tuple[Notice, ...]:
    match event:
        case operated.PinViolated():
            facts = _facts(served_by=event.served_by)
            return conditions.said_by_round(NoticeKind.PIN_VIOLATED, event, f"pin:{event.route}", facts)
        case operated.AccountFault():
            facts = _facts(code=event.code, detail=event.detail or None)
            return conditions.opens(NoticeKind.ACCOUNT_FAULT, event, "account", facts=facts)
        case operated.AccountRestored():
            return conditions.closes(NoticeKind.ACCOUNT_RESTORED, event, "account")
        case operated.PromptTokensChanged():
            return (
                notice(
                    NoticeKind.PROMPT_TOKENS_CHANGED,
                    Phase.ONCE,
                    at=event.at,
                    model=event.model,
                    routes=(event.route,),
                    facts=_facts(
                        was=event.was,
                        now=event.now,
                        peers_were=event.peers_were,
                        peers=event.peers,
                        study=event.study,
                    ),
                ),
            )
        case operated.PromptTokensShifted():
            return (
                notice(
                    NoticeKind.PROMPT_TOKENS_SHIFTED,
                    Phase.ONCE,
                    at=event.at,
                    model=event.model,
                    facts=_facts(changed=len(event.routes), of=event.of),
                ),
            )
        case operated.ExclusionLeaked() | operated.ExclusionLeakPossible():
            return _leaked(conditions, event)
        case operated.ExclusionLeakEnded():
            kind = NoticeKind.EXCLUSION_LEAK_ENDED
            if not event.certain:
                kind = NoticeKind.EXCLUSION_LEAK_POSSIBLE_ENDED
            name = leak_name(event.reason, certain=event.certain)
            return conditions.closes(kind, event, name, _facts(leak=event.reason.value))
        case operated.RouteStale():
            return conditions.opens(NoticeKind.ROUTE_STALE, event, f"stale:{event.route}")
        case operated.RouteFresh():
            return conditions.closes(NoticeKind.ROUTE_FRESH, event, f"stale:{event.route}")
        case operated.ListingShrunk():
            facts = _facts(before=event.before, after=event.after)
            return conditions.opens(NoticeKind.LISTING_SHRUNK, event, "listing", facts=facts)
        case operated.ListingBelieved():
            return conditions.closes(NoticeKind.LISTING_BELIEVED, event, "listing")
        case operated.ControlAbsent():
            return conditions.opens(NoticeKind.CONTROL_ABSENT, event, f"control:{event.contract}")
        case operated.ControlPresent():
            return conditions.closes(NoticeKind.CONTROL_PRESENT, event, f"control:{event.contract}")
        case operated.JudgeCrashed():
            facts = _facts(error=event.error)
            return conditions.said_by_round(NoticeKind.JUDGE_CRASHED, event, f"judge:{event.contract}", facts)
        case operated.JudgeBlind():
            facts = _facts(missed=list(event.missed) or None, wronged=list(event.wronged) or None)
            return conditions.opens(NoticeKind.JUDGE_BLIND, event, f"blind:{event.contract}", facts=facts)
        case operated.JudgeSighted():
            return conditions.closes(NoticeKind.JUDGE_SIGHTED, event, f"blind:{event.contract}")
        case operated.RoundCrashed():
            return conditions.opens(
                NoticeKind.ROUND_CRASHED, event, "round_crashed", facts=_facts(error=event.error)
            )
        case operated.Requalifying():
            if event.until <= event.at:  # the version is noted, and nothing is on trial
                return ()
            return (
                notice(
                    NoticeKind.REQUALIFYING,
                    Phase.ONCE,
                    at=event.at,
                    model=event.model,
                    contracts=frozenset({event.contract}),
                    facts=_facts(until=event.until, version=event.version),
                ),
            )
        case operated.Reloaded(ok=True):
            return conditions.closes(NoticeKind.RELOAD_RECOVERED, event, "reload")
        case operated.Reloaded():
            return conditions.opens(
                NoticeKind.RELOAD_FAILED, event, "reload", facts=_facts(detail=event.detail)
            )
        case operated.ClockStepped():
            return conditions.opens(
                NoticeKind.CLOCK_STEPPED, event, "clock", facts=_facts(seconds=event.seconds)
            )
        case operated.RoundOverdue():
            facts = _facts(last_round_at=event.since)
            return conditions.opens(NoticeKind.ROUND_OVERDUE, event, "overdue", facts=facts)
        case operated.RoundReturned():
            return conditions.closes(NoticeKind.ROUND_RETURNED, event, "overdue")
        case operated.BudgetReached():
            facts = _facts(spent_usd=str(event.spent_usd), budget_usd=str(event.budget_usd))
            return conditions.opens(NoticeKind.BUDGET_REACHED, event, "budget", facts=facts)
        case operated.BudgetRestored():
            return conditions.closes(NoticeKind.BUDGET_RESTORED, event, "budget")
        case operated.Reserved() | operated.Settled() | operated.RoutesWithheld() | operated.IgnoreTried():
            return ()
        case operated.TrafficAudited():
            return ()
        case operated.PromptTokensRead() | operated.RoundAsked() | operated.RoundAnswered():
            return ()
        case operated.GuardrailRefused():
            facts = _facts(guardrail=event.guardrail, why=event.why.value, detail=event.detail or None)
            name = f"guardrail_refused:{event.guardrail}"
            return conditions.opens(NoticeKind.GUARDRAIL_REFUSED, event, name, facts=facts)
        case operated.GuardrailFailed():
            facts = _facts(guardrail=event.guardrail, detail=event.detail, entries=sorted(event.owned))
            name = f"guardrail_failed:{event.guardrail}"
            return conditions.opens(NoticeKind.GUARDRAIL_FAILED, event, name, facts=facts)
        case operated.GuardrailSynced():
            facts = _facts(guardrail=event.guardrail)
            refused, failed = (
                f"{what}:{event.guardrail}" for what in ("guardrail_refused", "guardrail_failed")
            )
            return (
                *conditions.closes(NoticeKind.GUARDRAIL_ACCEPTED, event, refused, facts),
                *conditions.closes(NoticeKind.GUARDRAIL_RECOVERED, event, failed, facts),
            )
        case operated.GuardrailCleared():
            facts, name = _facts(guardrail=event.guardrail), f"guardrail_failed:{event.guardrail}"
            return conditions.closes(NoticeKind.GUARDRAIL_RECOVERED, event, name, facts)
        case operated.GuardrailEntriesLost():
            facts = _facts(guardrail=event.guardrail, entries=sorted(event.entries))
            return (
                notice(NoticeKind.GUARDRAIL_ENTRIES_LOST, Phase.ONCE, at=event.at, model=None, facts=facts),
            )
        case operated.GuardrailWriteBegun() | operated.GuardrailWritten():
            return ()
        case operated.PolicyTaken():
            return ()  # whoever wrote the numbers knows
        case operated.TokenCreated() | operated.TokenRevoked():
            return ()  # `events` and `token list` tell of them
        case _:
            assert_never(event)


def _leaked(
    conditions: Conditions, event: operated.ExclusionLeaked | operated.ExclusionLeakPossible
) -> tuple[Notice, ...]:
    """Tell that requests do not heed the exclusions, once for each likely reason until it stops.

    Where the request did ignore the route and its provider has others, those will have served it: that goes
    on for as long as the suspension does, and is nobody's news.
    """
    certain = isinstance(event, operated.ExclusionLeaked)
    facts = _facts(
        leak=event.reason.value,
        excluded=sorted(event.routes),
        count=event.count,
        examples=list(event.examples) or None,
    )
    return conditions.opens(
        NoticeKind.EXCLUSION_LEAKED if certain else NoticeKind.EXCLUSION_LEAK_POSSIBLE,
        event,
        leak_name(event.reason, certain=certain),
        quiet=not certain and event.reason is LeakReason.CARRIED,
        facts=facts,
    )


def _facts(**facts: object) -> dict[str, Json]:
    """Write facts as JSON; those that are None are left out."""
    return {
        name: format_instant(fact) if isinstance(fact, datetime) else fact
        for name, fact in facts.items()
        if fact is not None
    }
