"""`routecanary requalify`: put a contract on trial."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import actor_of, length_of, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import instant, say, say_json
from routecanary.clock import SystemClock
from routecanary.domain.names import CONTRACT_NAMES, ContractName, parse_model
from routecanary.errors import ConfigError, InputError
from routecanary.judge.registry import CONTRACTS
from routecanary.rounds.requalify import end_trial, put_on_trial
from routecanary.rounds.versions import versions_of
from routecanary.wiring import catalog_of, settings_at


def requalify(
    contract: str,
    /,
    *,
    model: str | None = None,
    for_: str | None = None,
    end: bool = False,
    reason: str,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Put a contract on trial: its fails are recorded and suspend nobody, and suspicions of it are dropped.

    A changed judge, probe text or room for an answer does so by itself; after a change that nobody can see,
    of the product's own prompt or of a limit in the configuration, say so here.

    Parameters
    ----------
    contract
        latency, filtering, structured, language or integrity.
    model
        Only for this model; left out, for every configured one.
    for_
        For how long, such as 24h; default: contracts.requalify of the configuration.
    end
        End the trial now instead: the contract's fails count again.
    reason
        Why; kept in the log.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    if contract not in CONTRACT_NAMES:
        raise InputError(
            "no such contract", key="CONTRACT", value=contract, allowed=", ".join(CONTRACT_NAMES)
        )
    if end and for_ is not None:
        raise InputError("a length of what ends", key="--for", value=for_, allowed="--for or --end")
    name = ContractName(contract)
    settings = settings_at(config)
    why, who = reason_of(reason), actor_of(actor)
    length = settings.requalify if for_ is None else length_of(for_, "--for")
    version = versions_of(CONTRACTS, catalog_of(settings), settings.probes.locales)[name]
    with acting_records(settings, SystemClock()) as records:
        models = [each.model for each in settings.models]
        if not models:
            raise ConfigError("no model is configured", place=settings.place, key="models")
        if model is not None:
            models = [records.model(parse_model(model)).model]
        for each in models:
            if end:
                end_trial(records, each, {name}, actor=who, reason=why)
            else:
                put_on_trial(records, each, {name: version}, length=length, actor=who, reason=why)
        operating, now = records.ledger.operating(), records.clock.now()
        trials = {
            each: operating.model(each).requalifying[name].until
            for each in models
            if name in operating.on_trial(each, now)
        }
    if json:
        say_json({"contract": name, "trials": {each: instant(trials.get(each)) for each in models}})
        return ExitCode.OK
    for each in models:
        until = trials.get(each)
        say(f"{each}: {name} " + ("counts" if until is None else f"is on trial until {instant(until)}"))
    return ExitCode.OK
