"""`routecanary mode`: observe or enforce, and whether observing has shown enough."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from routecanary.cli.acting import actor_of, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import complain, say, say_json, span
from routecanary.cli.status import mode_of
from routecanary.clock import SystemClock
from routecanary.domain.event import ModeChanged
from routecanary.domain.names import ModelId, parse_model
from routecanary.domain.probe import Json
from routecanary.domain.round import Mode, SwitchMode
from routecanary.errors import InputError
from routecanary.rounds.act import act, ensure_mode
from routecanary.rounds.records import Records
from routecanary.rounds.trust import LEAST_OBSERVED, LEAST_TOLD, Trust, trust_in
from routecanary.wiring import settings_at

CONFIDENCE: Final = 0.95
_DAY: Final = timedelta(days=1)


def mode(
    model: str,
    to: str | None = None,
    /,
    *,
    force: bool = False,
    reason: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Show a model's mode, or switch it between observe and enforce.

    A switch ends every suspension of the model, forgets offences and clean streaks, and keeps fail streaks: a
    route that still fails is suspended at its next failed round. To enforce needs 20 suspensions that people
    marked right or wrong, and 7 days of observing: else nothing is changed, it says what is missing, and the
    exit code is 1.

    Parameters
    ----------
    model
        A configured model, author/slug.
    to
        observe or enforce; left out, the mode in force is shown.
    force
        Enforce whatever observing has shown.
    reason
        Why; kept in the log.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    wanted = None if to is None else _mode(to)
    why = None if reason is None else reason_of(reason)
    who = None if wanted is None else actor_of(actor)
    with acting_records(settings, SystemClock(), to_act=wanted is not None) as records:
        name = records.model(parse_model(model)).model
        before = mode_of(records.ledger.state(name), settings)
        trust = trust_in(records, name) if before is Mode.OBSERVE else None
        refused = trust is not None and wanted is Mode.ENFORCE and not (force or trust.enough)
        switched = wanted is not None and not refused and _switched(records, name, wanted, who, why)
    in_force = before if refused or wanted is None else wanted
    if json:
        say_json({"model": name, "mode": in_force.value, "changed": switched, "trust": document(trust)})
    elif not refused:
        say(f"{name}: {in_force.value}" + (" (switched)" if switched else ""))
        for line in () if trust is None or wanted is not None else told(trust):
            say(f"  {line}")
    if refused and trust is not None:
        complain(f"{name} stays in observe mode: {', '.join(missing(trust))}; --force enforces all the same")
        for line in told(trust):
            complain(f"{name}: {line}")
    return ExitCode.FINDING if refused else ExitCode.OK


def _switched(records: Records, model: ModelId, to: Mode, actor: str | None, reason: str | None) -> bool:
    ensure_mode(records, model)
    decision = act(
        records, SwitchMode(at=records.clock.now(), model=model, mode=to, actor=actor, reason=reason)
    )
    return any(isinstance(event, ModeChanged) for event in decision.events)


def missing(trust: Trust) -> Iterator[str]:
    """Say what observing has not shown yet."""
    told_of, observed = trust.counts.told, trust.observed
    if told_of < LEAST_TOLD:
        yield f"{LEAST_TOLD - told_of} more suspensions must be marked right or wrong"
    if observed < LEAST_OBSERVED:
        yield f"{span(LEAST_OBSERVED - observed)} more must be observed"


def told(trust: Trust) -> Iterator[str]:
    """Say what observing has shown, against what the policy declares."""
    counts = trust.counts
    rest = ", ".join(f"{number} {what}" for number, what in _rest(trust) if number)
    yield (
        f"{counts.told} of {LEAST_TOLD} suspensions are marked right or wrong"
        + (f" ({rest})" if rest else "")
        + f", {span(trust.observed)} of {span(LEAST_OBSERVED)} are observed"
    )
    low, high = counts.interval(CONFIDENCE)
    share = (
        "of how many are wrong nothing is known" if counts.share is None else f"wrong are {counts.share:.1%}"
    )
    yield f"{share}: {low:.1%} to {high:.1%} with {CONFIDENCE:.0%} confidence"
    rate, bounds = trust.a_year, trust.interval_a_year(CONFIDENCE)
    declared = f"the policy declares {trust.declared:g}"
    if rate is None or bounds is None:
        yield f"false suspensions a year: not measured; {declared}"
        return
    yield f"false suspensions a year: {rate:.3g} ({bounds.low:.3g} to {bounds.high:.3g}); {declared}"
    if trust.exceeds(CONFIDENCE):
        yield "that is more than the policy declares, and not by chance"


def _rest(trust: Trust) -> tuple[tuple[int, str], ...]:
    return (trust.counts.unsure, "unsure"), (trust.counts.unlabelled, "not marked")


def document(trust: Trust | None) -> Json:
    """Write what observing has shown as JSON."""
    if trust is None:
        return None
    counts, rate, bounds = trust.counts, trust.a_year, trust.interval_a_year(CONFIDENCE)
    low, high = counts.interval(CONFIDENCE)
    return {
        "enough": trust.enough,
        "marked": {"told": counts.told, "needed": LEAST_TOLD, "wrong": counts.wrong},
        "unsure": counts.unsure,
        "unlabelled": counts.unlabelled,
        "observed_days": round(trust.observed / _DAY, 3),
        "observed_days_needed": LEAST_OBSERVED / _DAY,
        "confidence": CONFIDENCE,
        "false_positive_share": None if counts.share is None else round(counts.share, 6),
        "low": round(low, 6),
        "high": round(high, 6),
        "false_suspensions_per_year": {
            "measured": None if rate is None else round(rate, 6),
            "low": None if bounds is None else round(bounds.low, 6),
            "high": None if bounds is None else round(bounds.high, 6),
            "declared": trust.declared,
        },
    }


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        raise InputError("not a mode", key="TO", value=text, allowed=" or ".join(Mode)) from None
