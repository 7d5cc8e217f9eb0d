"""Do the judges see? They are shown what is planted for them, and what has changed is told.

A judge that is blind judges nobody until it sees again; everything else goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from routecanary.decide.rotation import round_locale
from routecanary.domain.names import CONTRACT_NAMES, ContractName, Locale, ModelId
from routecanary.domain.operating import OperatingState
from routecanary.domain.operation import JudgeBlind, JudgeSighted, Operation
from routecanary.judge.registry import CONTRACTS
from routecanary.judge.selfcheck import Eyesight, self_check
from routecanary.judge.settings import Settings
from routecanary.rounds.world import World

LOG: Final = logging.getLogger("routecanary.rounds")

_MOST_NAMED: Final = 20  # planted answers in an event


def eyesight_of(limits: Settings, locales: Iterable[Locale]) -> tuple[Eyesight, ...]:
    """Show the judges, as configured, what is planted for them in the locales of the rotation.

    Never raises: where the check itself breaks, nothing is known of any judge, and all count as blind.
    """
    try:
        return self_check(limits, locales)
    except Exception:  # a bug of ours must not end the watch
        LOG.exception("judges not checked")
        return tuple(
            Eyesight(
                contract=contract.name,
                version=contract.version,
                faults=0,
                missed=("the check itself crashed",),
                lookalikes=0,
                wronged=(),
            )
            for contract in CONTRACTS
        )


def blind_of(eyesight: Iterable[Eyesight]) -> frozenset[ContractName]:
    """List the contracts whose judges must not judge."""
    return frozenset(one.contract for one in eyesight if one.blind)


def changed_sight(
    eyesight: Sequence[Eyesight], *, at: datetime, before: OperatingState
) -> tuple[Operation, ...]:
    """Say which judges went blind, and which see again; of the others nothing."""
    blind = {one.contract: one for one in eyesight if one.blind}
    return (
        *(
            JudgeBlind(
                at=at,
                contract=name,
                version=one.version,
                missed=one.missed[:_MOST_NAMED],
                wronged=one.wronged[:_MOST_NAMED],
            )
            for name, one in blind.items()
            if name not in before.blind
        ),
        *(
            JudgeSighted(at=at, contract=name)
            for name in CONTRACT_NAMES
            if name in before.blind and name not in blind
        ),
    )


def check_judges(world: World, model: ModelId) -> None:
    """Check the judges before a round that stands alone, in its locale only, and tell who is blind.

    Whether a judge sees again in every locale is for the daemon to find.

    Raises:
        StoreError: The log failed; the judges are checked all the same.
    """
    locale = round_locale(world.ledger.state(model), world.settings.probes.locales)
    eyesight = eyesight_of(world.judge_settings(), [locale])
    world.blind = blind_of(eyesight)
    at = world.clock.now()

    def blinded(before: OperatingState) -> list[Operation]:
        changed = changed_sight(eyesight, at=at, before=before)
        return [operation for operation in changed if isinstance(operation, JudgeBlind)]

    world.ledger.operate(blinded)
