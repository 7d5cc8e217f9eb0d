"""`routecanary selfcheck`: do the judges still see what they must?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say_json, say_table
from routecanary.judge.selfcheck import Eyesight, self_check
from routecanary.wiring import judging_at


def selfcheck(*, config: Path | None = None, json: bool = False) -> int:
    """Show every judge its own planted faults and their look-alikes.

    The daemon does so when it starts and after each reload; a judge that is blind answers `inconclusive`
    until it sees again. Exit code 1 when one is.

    Parameters
    ----------
    config
        The configuration file, by whose limits and locales the judges are checked. Without it and where none
        is found: the shipped ones.
    json
        Print one JSON object.
    """
    limits, locales = judging_at(config)
    eyesight = self_check(limits, locales)
    blind = [one.contract for one in eyesight if one.blind]
    if json:
        say_json(
            {"blind": blind, "locales": list(locales), "contracts": [_document(one) for one in eyesight]}
        )
    else:
        heads = (
            "contract",
            "version",
            "planted",
            "seen",
            "look-alikes",
            "wrongly failed",
            "missed or wronged",
        )
        say_table(heads, [_row(one) for one in eyesight])
    for name in blind:
        complain(f"the judge of {name} is blind: it must judge nobody")
    return ExitCode.FINDING if blind else ExitCode.OK


def _document(one: Eyesight) -> dict[str, Any]:
    return {
        "contract": one.contract,
        "version": one.version,
        "planted": one.faults,
        "seen": one.faults - len(one.missed),
        "missed": list(one.missed),
        "lookalikes": one.lookalikes,
        "wrongly_failed": list(one.wronged),
        "blind": one.blind,
    }


def _row(one: Eyesight) -> tuple[str, ...]:
    return (
        one.contract,
        str(one.version),
        str(one.faults),
        str(one.faults - len(one.missed)),
        str(one.lookalikes),
        str(len(one.wronged)),
        ", ".join((*one.missed, *one.wronged)),
    )
