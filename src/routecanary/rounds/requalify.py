"""What if a judge, a probe or a prompt is not the one that judged before?

Then its contract is on trial: for a while its fails are recorded and accuse nobody, and what the old one saw
is taken out of the suspicion sets. An upgrade never suspends anyone on its first day.

Source: docs/policy.md, Per contract.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from routecanary.domain.names import ContractName, ModelId
from routecanary.domain.operating import OperatingState, Requalification
from routecanary.domain.operation import Requalifying, operation_draft
from routecanary.domain.round import Requalify
from routecanary.judge.registry import CONTRACTS
from routecanary.probe.catalog import Catalog
from routecanary.rounds.act import BY_CLOCK, act
from routecanary.rounds.record import Decision
from routecanary.rounds.records import Records
from routecanary.rounds.versions import changes_between, is_new, versions_of


def enforced_contracts(records: Records, model: ModelId, at: datetime) -> frozenset[ContractName]:
    """List the contracts whose fails count: not switched to `enforce = false`, and not on trial."""
    configured = frozenset(name for name, contract in records.settings.contracts.items() if contract.enforce)
    return configured - records.ledger.operating().on_trial(model, at)


def known_versions(operating: OperatingState, model: ModelId) -> Mapping[ContractName, Requalification]:
    """Look up what judged a model's contracts last."""
    return {**operating.requalifying, **operating.model(model).requalifying}


def requalify_changed(records: Records, catalog: Catalog, model: ModelId) -> tuple[ContractName, ...]:
    """Compare what judges now with what judged the model before, and put what is new on trial.

    A model's first round begins with whatever is at work: nothing judged it before.

    Returns:
        The contracts that are on trial by this, sorted.
    """
    versions = versions_of(CONTRACTS, catalog, records.settings.probes.locales)
    known = known_versions(records.ledger.operating(), model)
    told = {name: None if name not in known else known[name].version for name in versions}
    changed = [name for name in sorted(versions) if versions[name] != told[name]]
    if not changed:
        return ()
    first = records.ledger.state(model).rounds == 0
    new = frozenset(name for name in changed if not first and is_new(versions[name], told[name]))
    if new:
        what = (f"{name}: {changes_between(versions[name], told[name])}" for name in sorted(new))
        put_on_trial(
            records,
            model,
            {name: versions[name] for name in new},
            length=records.settings.requalify,
            actor=BY_CLOCK,
            reason=f"changed: {'; '.join(what)}",
        )
    _remember(records, model, {name: versions[name] for name in changed if name not in new}, known)
    return tuple(sorted(new))


def put_on_trial(
    records: Records,
    model: ModelId,
    versions: Mapping[ContractName, str],
    *,
    length: timedelta,
    actor: str,
    reason: str,
) -> Decision:
    """Put contracts on trial for a while from now, whatever judged them before; decided, kept, published."""
    now = records.clock.now()
    return act(
        records,
        Requalify(at=now, model=model, contracts=frozenset(versions), actor=actor, reason=reason),
        operations=[
            Requalifying(
                at=now,
                model=model,
                contract=name,
                until=now + length,
                version=version,
                actor=actor,
                reason=reason,
            )
            for name, version in sorted(versions.items())
        ],
    )


def end_trial(
    records: Records, model: ModelId, contracts: Collection[ContractName], *, actor: str, reason: str
) -> None:
    """Let the fails of contracts count from now on, as far as the configuration does."""
    now = records.clock.now()

    def decide(operating: OperatingState) -> list[Requalifying]:
        on_trial = operating.on_trial(model, now) & frozenset(contracts)
        known = known_versions(operating, model)
        return [
            Requalifying(
                at=now,
                model=model,
                contract=name,
                until=now,
                version=known[name].version,
                actor=actor,
                reason=reason,
            )
            for name in sorted(on_trial)
        ]

    records.ledger.operate(decide)


def _remember(
    records: Records,
    model: ModelId,
    versions: Mapping[ContractName, str],
    known: Mapping[ContractName, Requalification],
) -> None:
    """Keep versions without a trial; a trial under way goes on."""
    now = records.clock.now()
    drafts = [
        operation_draft(
            Requalifying(
                at=now,
                model=model,
                contract=name,
                until=max(now, known[name].until) if name in known else now,
                version=version,
            )
        )
        for name, version in sorted(versions.items())
    ]
    if drafts:
        records.ledger.note(*drafts)
