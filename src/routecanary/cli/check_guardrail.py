"""Can the guardrail be used? What a check makes of it; nothing is changed there."""

from __future__ import annotations

from collections.abc import Iterator

from routecanary.cli.guardrail_view import notes, plan_document
from routecanary.domain.probe import Json
from routecanary.domain.settings import Settings
from routecanary.errors import GatewayError
from routecanary.rounds.guardrail import Look, Sync
from routecanary.rounds.records import Records
from routecanary.wiring import guardrail_of

GuardrailLook = Look | str | None
"""What was seen; what went wrong; or None where no guardrail is to be looked after."""


async def look_at_guardrail(records: Records) -> GuardrailLook:
    """Look at the guardrail that the daemon is to look after."""
    settings = records.settings.guardrail
    if not settings.enabled or settings.id is None:
        return None
    api = guardrail_of(records.settings, records.clock)
    try:
        return await Sync(records, api, settings.id, settings).look()
    except GatewayError as error:
        return str(error)


def guardrail_findings(look: GuardrailLook, settings: Settings) -> Iterator[str]:
    """Say what a person should look at before the daemon writes."""
    match look:
        case None:
            return
        case str():
            yield f"the guardrail cannot be looked at: {look}"
        case Look():
            if look.refused is not None:
                why = f"{look.refused.value}{': ' * bool(look.problem)}{look.problem}"
                yield f"the guardrail is refused ({why}): nothing is added to it"
            if look.coverage is not None and look.coverage.is_empty:
                yield "the guardrail is assigned to nobody, so it keeps nothing away from anybody"
    if settings.guardrail.apply and settings.notify.ping_url is None:
        yield (
            "guardrail.apply is on and notify.ping_url is not set: if this machine dies, nobody notices that "
            "entries stay in the guardrail, which do not end by themselves"
        )


def guardrail_lines(look: GuardrailLook) -> Iterator[str]:
    """Say what would be written, and what else a person should know."""
    if isinstance(look, Look):
        add, remove = (", ".join(names) or "nothing" for names in (look.plan.add, look.plan.remove))
        yield f"guardrail {look.guardrail.name}: would add {add}, and remove {remove}"
        yield from (f"guardrail {look.guardrail.name}: {note}" for note in notes(look))


def guardrail_document(look: GuardrailLook) -> Json:
    """Write what was seen."""
    match look:
        case Look():
            return plan_document(look)
        case str():
            return {"problem": look}
        case None:
            return None
