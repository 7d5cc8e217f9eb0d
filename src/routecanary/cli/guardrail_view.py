"""How is a guardrail shown?"""

from __future__ import annotations

from collections.abc import Iterator

from routecanary.cli.output import instant
from routecanary.domain.gateway import GatewayKind
from routecanary.domain.guardrail import Coverage, GuardrailStanding
from routecanary.domain.probe import Json
from routecanary.domain.settings import Settings
from routecanary.errors import ConfigError
from routecanary.rounds.guardrail import Look
from routecanary.routing.guardrail import LeftOut, Why

MEANINGS: dict[Why, str] = {
    Why.FOREIGN: "stands there already, and is not ours",
    Why.SWALLOWS: "would also take routes that are not excluded",
    Why.EMPTIES: "would leave too few routes",
    Why.UNSEEN: "a watched model had no round yet",
    Why.LOST: "somebody took it out; `guardrail sync` puts it back",
}


def guardrail_id(settings: Settings) -> str:
    """Look up which guardrail is meant.

    Raises:
        ConfigError: None is configured, or the gateway has none.
    """
    if settings.gateway.kind is not GatewayKind.OPENROUTER:
        raise ConfigError(
            "has no guardrails",
            place=settings.place,
            key="gateway.kind",
            value=settings.gateway.kind.value,
            allowed=GatewayKind.OPENROUTER.value,
        )
    if settings.guardrail.id is None:
        raise ConfigError(
            "missing",
            place=settings.place,
            key="guardrail.id",
            allowed="the id of a guardrail that you have made",
        )
    return settings.guardrail.id


def plan_document(look: Look) -> dict[str, Json]:
    """Write what should be done."""
    return {
        "id": look.guardrail.id,
        "add": list(look.plan.add),
        "remove": list(look.plan.remove),
        "foreign": list(look.plan.foreign),
        "lost": list(look.plan.lost),
        "left_out": [_left_out(each) for each in look.plan.left_out],
        "list": list(look.plan.list),
        "refused": None if look.refused is None else look.refused.value,
        "problem": look.problem or None,
        "notes": list(notes(look)),
    }


def _left_out(each: LeftOut) -> Json:
    return {"entry": each.entry, "why": each.why.value, "model": each.model, "routes": list(each.routes)}


def standing_document(standing: GuardrailStanding) -> dict[str, Json]:
    """Write what is remembered of a guardrail."""
    return {
        "owned": sorted(standing.owned),
        "taken_out": sorted(standing.lost),
        "synced_at": instant(standing.synced_at),
        "refused": None if standing.refused is None else standing.refused.value,
        "failing_since": instant(standing.failing_since),
        "problem": standing.problem or None,
        "pending_since": None if standing.pending is None else instant(standing.pending.at),
    }


def coverage_document(coverage: Coverage | None) -> Json:
    """Write whom a guardrail covers, in numbers; None where that could not be found out."""
    if coverage is None:
        return None
    return {
        "keys": len(coverage.keys),
        "members": len(coverage.members),
        "workspaces": len(coverage.workspaces),
    }


def left_out_line(each: LeftOut) -> str:
    """Say why an exclusion is left to the hooks."""
    where = f" of {each.model}" if each.model is not None else ""
    routes = f": {', '.join(each.routes)}" if each.routes else ""
    return f"left to the hooks: {each.entry}: {MEANINGS[each.why]}{where}{routes}"


def notes(look: Look) -> Iterator[str]:
    """Say what else a person should know before anything is written."""
    if look.coverage is not None and look.coverage.is_empty:
        yield "it is assigned to nobody, so it keeps nothing away from anybody"
    if not look.guardrail.allowed_models:
        yield "it allows every model: an entry holds for those too that are not watched"
