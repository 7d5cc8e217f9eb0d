"""How is a person told? One sentence and a severity for each kind of notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from routecanary.domain.names import ContractName, ModelId, RouteId
from routecanary.domain.notice import Notice, NoticeKind, Phase, Severity
from routecanary.domain.probe import Json

MOST_SHOWN: Final = 10  # entries of a list within a sentence
LONGEST_FACT: Final = 500  # characters of one text that came from outside


class Wording(NamedTuple):
    """What a kind of notice says; `{route}`, `{contracts}` and the names of facts are filled in."""

    severity: Severity
    sentence: str


_INFO, _WARNING, _CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL

WORDINGS: Final[Mapping[NoticeKind, Wording]] = {
    NoticeKind.SUSPENDED: Wording(_WARNING, "{route} suspended until {until} for {contracts}"),
    NoticeKind.RENEWED: Wording(_WARNING, "{route} still fails {contracts}: suspended until {until}"),
    NoticeKind.REINSTATED: Wording(_INFO, "{route} has recovered and is back"),
    NoticeKind.EXPIRED: Wording(_INFO, "{route} is back: its suspension reached its end"),
    NoticeKind.LIFTED: Wording(_INFO, "{route} is back: its suspension was lifted"),
    NoticeKind.CLOSED_BY_MODE: Wording(_INFO, "{route} is back: the mode was switched"),
    NoticeKind.SUSPENSION_BLOCKED: Wording(_WARNING, "{route} fails {contracts} and is not suspended"),
    NoticeKind.SUSPENSION_UNBLOCKED: Wording(_INFO, "{route} is not held back from a suspension any more"),
    NoticeKind.CAPACITY_LOW: Wording(_CRITICAL, "fewer production routes are left than the floor"),
    NoticeKind.CAPACITY_RESTORED: Wording(_INFO, "production routes are at the floor again"),
    NoticeKind.CANARY_LAYER_RELEASED: Wording(
        _CRITICAL, "no production route is left: the canary layer is not merged for now"
    ),
    NoticeKind.CANARY_LAYER_RESTORED: Wording(_INFO, "the canary layer is not released any more"),
    NoticeKind.CANARY_LAYER_PAUSED: Wording(_WARNING, "the merging of the canary layer is paused"),
    NoticeKind.PAUSE_END_MOVED: Wording(_WARNING, "the pause of the canary layer has another end"),
    NoticeKind.CANARY_LAYER_RESUMED: Wording(_INFO, "the canary layer is not paused any more"),
    NoticeKind.PROBE_WEAK: Wording(
        _WARNING, "a control passes {contracts}: the probe does not see that failure, passes prove nothing"
    ),
    NoticeKind.PROBE_RECOVERED: Wording(_INFO, "the controls fail {contracts} again as they should"),
    NoticeKind.CONTROL_ABSENT: Wording(
        _WARNING, "no control has failed {contracts} for a long time: its passes are unproven"
    ),
    NoticeKind.CONTROL_PRESENT: Wording(_INFO, "a control fails {contracts} again as it should"),
    NoticeKind.COMMON_CAUSE: Wording(
        _WARNING, "so many routes fail {contracts} together that the cause is not theirs: {failing}"
    ),
    NoticeKind.COMMON_CAUSE_ENDED: Wording(_INFO, "routes do not fail {contracts} together any more"),
    NoticeKind.GATEWAY_OUTAGE: Wording(
        _CRITICAL, "no route could be asked: the gateway or the account is down"
    ),
    NoticeKind.GATEWAY_OUTAGE_ENDED: Wording(_INFO, "routes can be asked again"),
    NoticeKind.ACCOUNT_FAULT: Wording(_CRITICAL, "the account cannot be used: {code}"),
    NoticeKind.ACCOUNT_RESTORED: Wording(_INFO, "the account can be used again"),
    NoticeKind.PIN_VIOLATED: Wording(_WARNING, "a question pinned to {route} was answered by somebody else"),
    NoticeKind.PIN_HELD: Wording(_INFO, "questions pinned to {route} are answered by it again"),
    NoticeKind.PROMPT_TOKENS_CHANGED: Wording(
        _WARNING,
        "{route} counts {now} tokens in a fixed prompt where it counted {was}, other routes {peers} (before: "
        "{peers_were}): words of its own in front of yours, another tokenizer, or another way of counting",
    ),
    NoticeKind.PROMPT_TOKENS_SHIFTED: Wording(
        _WARNING,
        "most routes count a fixed prompt otherwise at once ({changed} of {of}): the model's tokenizer or "
        "the gateway's way of counting has changed",
    ),
    NoticeKind.EXCLUSION_LEAKED: Wording(
        _WARNING,
        "users were answered by routes that were excluded when they asked: {excluded} ({count} answers, "
        "likely reason: {leak})",
    ),
    NoticeKind.EXCLUSION_LEAK_POSSIBLE: Wording(
        _INFO,
        "users may have been answered by routes that were excluded when they asked: {excluded} ({count} "
        "answers, likely reason: {leak})",
    ),
    NoticeKind.EXCLUSION_LEAK_ENDED: Wording(_INFO, "no answers come from excluded routes any more ({leak})"),
    NoticeKind.EXCLUSION_LEAK_POSSIBLE_ENDED: Wording(
        _INFO, "no answers seem to come from excluded routes any more ({leak})"
    ),
    NoticeKind.ROUTE_STALE: Wording(_WARNING, "{route} has given no evidence for a long time"),
    NoticeKind.ROUTE_FRESH: Wording(_INFO, "{route} is not stale any more"),
    NoticeKind.LISTING_SHRUNK: Wording(
        _WARNING,
        "the listing shows {after} routes where {before} were known: it is not believed, no round is made",
    ),
    NoticeKind.LISTING_BELIEVED: Wording(_INFO, "the listing is believed again"),
    NoticeKind.BUDGET_REACHED: Wording(
        _CRITICAL, "the day's budget is reached ({spent_usd} of {budget_usd} USD): routes go unasked"
    ),
    NoticeKind.BUDGET_RESTORED: Wording(_INFO, "the budget allows all questions again"),
    NoticeKind.CLOCK_STEPPED: Wording(
        _CRITICAL, "the wall clock stepped by {seconds} s: a round was not recorded"
    ),
    NoticeKind.CLOCK_STEADY: Wording(_INFO, "rounds are recorded again since the clock stepped"),
    NoticeKind.ROUND_OVERDUE: Wording(_CRITICAL, "no round has been made for too long"),
    NoticeKind.ROUND_RETURNED: Wording(_INFO, "rounds are made again"),
    NoticeKind.ROUND_CRASHED: Wording(_CRITICAL, "a round ended by an error of the canary: {error}"),
    NoticeKind.ROUND_RECOVERED: Wording(_INFO, "a round was made again after one that crashed"),
    NoticeKind.JUDGE_CRASHED: Wording(
        _CRITICAL, "the judge of {contracts} crashed, which counts against nobody: {error}"
    ),
    NoticeKind.JUDGE_RECOVERED: Wording(_INFO, "the judge of {contracts} works again"),
    NoticeKind.JUDGE_BLIND: Wording(
        _CRITICAL,
        "the judge of {contracts} does not see its own planted faults, or sees faults in healthy answers:"
        " its verdicts are inconclusive",
    ),
    NoticeKind.JUDGE_SIGHTED: Wording(_INFO, "the judge of {contracts} sees again"),
    NoticeKind.REQUALIFYING: Wording(
        _INFO, "what judges {contracts} is new: its fails count from {until} on"
    ),
    NoticeKind.RELOAD_FAILED: Wording(
        _CRITICAL, "the new configuration was refused and the old one stays: {detail}"
    ),
    NoticeKind.RELOAD_RECOVERED: Wording(_INFO, "the configuration was read anew"),
    NoticeKind.GUARDRAIL_REFUSED: Wording(
        _CRITICAL,
        "nothing is added to the guardrail {guardrail}, which covers the canary's own key, or may: {why}",
    ),
    NoticeKind.GUARDRAIL_ACCEPTED: Wording(
        _INFO, "the guardrail {guardrail} leaves the canary's own key alone again"
    ),
    NoticeKind.GUARDRAIL_FAILED: Wording(
        _CRITICAL,
        "the guardrail {guardrail} cannot be read or changed, and what stands there does not end by itself: "
        "{entries}",
    ),
    NoticeKind.GUARDRAIL_RECOVERED: Wording(_INFO, "the guardrail {guardrail} is kept in step again"),
    NoticeKind.GUARDRAIL_ENTRIES_LOST: Wording(
        _WARNING, "somebody took {entries} out of the guardrail {guardrail}; it is not put back"
    ),
}

_SHADOW: Final = "[shadow] "

# facts that follow the sentence where they are there and it does not name them already
_TAILS: Final = (
    ("offence", "offence {}"),
    ("collateral", "taken away with it: {}"),
    ("why", "because of {}"),
    ("false_positive", "a false positive"),
    ("hold_until", "held until {}"),
    ("until", "until {}"),
    ("mode", "mode {}"),
    ("served_by", "answered by {}"),
    ("missed", "missed: {}"),
    ("wronged", "wrongly failed: {}"),
    ("detail", "{}"),
    ("study", "`routecanary compare --resume {}` shows a study of it"),
    ("last_round_at", "the last one at {}"),
    ("actor", "by {}"),
    ("reason", "reason: {}"),
    ("since", "began at {}"),
)


def notice(
    kind: NoticeKind,
    phase: Phase,
    *,
    at: datetime,
    model: ModelId | None,
    facts: Mapping[str, Json],
    condition: str | None = None,
    routes: Sequence[RouteId] = (),
    contracts: frozenset[ContractName] = frozenset(),
    shadow: bool = False,
) -> Notice:
    """Put a change into words.

    Args:
        facts: Plain JSON; texts in them may come from outside and are bounded and made printable.
        contracts: Which it is about; a fact of their own.
        shadow: Nothing was kept away, so that nobody need hurry: the severity is `info`.
    """
    told: dict[str, Json] = {name: _tame(fact) for name, fact in facts.items()}
    if contracts:
        told["contracts"] = sorted(contracts)
    wording = WORDINGS[kind]
    return Notice(
        kind=kind,
        phase=phase,
        at=at,
        severity=Severity.INFO if shadow else wording.severity,
        text=(_SHADOW if shadow else "") + _sentence(wording.sentence, routes, told),
        model=model,
        condition=condition,
        routes=tuple(routes),
        shadow=shadow,
        facts=told,
    )


def printable(text: str, longest: int = LONGEST_FACT) -> str:
    """Escape what a terminal or a chat would obey, and cut what is too long."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    if cut.isprintable():
        return cut
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in cut
    )


def _sentence(pattern: str, routes: Sequence[RouteId], facts: Mapping[str, Json]) -> str:
    said = {name: _shown(fact) for name, fact in facts.items()}
    said["route"] = _shown([_tame(route) for route in routes])
    main = pattern.format_map(_Lenient(said))
    tails = [
        form.format(said[name]) for name, form in _TAILS if name in said and f"{{{name}}}" not in pattern
    ]
    return "; ".join([main, *tails])


class _Lenient(dict[str, str]):
    """What an event does not say is left open in its sentence."""

    def __missing__(self, key: str) -> str:
        return "?"


def _shown(fact: Json) -> str:
    if not isinstance(fact, list):
        return str(fact)
    shown = ", ".join(map(str, fact[:MOST_SHOWN]))
    return shown if len(fact) <= MOST_SHOWN else f"{shown} and {len(fact) - MOST_SHOWN} more"


def _tame(fact: Json) -> Json:
    match fact:
        case str():
            return printable(fact)
        case list():
            return [_tame(one) for one in fact]
        case _:
            return fact
