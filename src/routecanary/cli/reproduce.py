"""`routecanary reproduce`: an incident's own question once more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say, say_json
from routecanary.cli.study_document import answer_document, count_document
from routecanary.cli.studying import agreed, asked, nothing_covered, planned
from routecanary.clock import SystemClock
from routecanary.domain.probe import Json
from routecanary.domain.route import Listing
from routecanary.errors import InputError
from routecanary.rounds.incidents import Incident
from routecanary.rounds.reproduce import incident_of, study_of_incident
from routecanary.rounds.studies import KeptStudy, kept_study
from routecanary.rounds.study import Stop, Stopped
from routecanary.rounds.world import World
from routecanary.study import wording
from routecanary.study.count import ANY, Count, counted
from routecanary.study.result import Against, Result, RouteResult, result_of
from routecanary.wiring import api_key_of, offline_records, settings_at

MOST_ASKINGS: Final = 1_000


def reproduce(
    incident: int,
    /,
    *,
    n: Annotated[int, Parameter(alias="-n")] = 10,
    yes: bool = False,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Ask an incident's question again, pinned to its route, and say whether it still fails.

    The prompts are those of the transcripts that the suspension rests on: first word for word, then the same
    scenes with fresh fronts; judged by the contracts of the incident. A peer is asked the same where that is
    cheap. Nothing is decided by it. Exit code 0 when no answer fails, 1 when one does, 3 when no answer
    could be judged.

    Parameters
    ----------
    incident
        Its id, as the list of incidents shows it.
    n
        Askings of the route, and of the peer; also -n.
    yes
        Do not ask at the terminal whether to go on.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    if not 1 <= n <= MOST_ASKINGS:
        raise InputError("out of range", key="--n", value=n, allowed=f"1 to {MOST_ASKINGS}")
    with offline_records(settings, SystemClock()) as records:
        found = incident_of(records.store, incident)

    def make(world: World, listing: Listing) -> KeptStudy:
        return KeptStudy(study=study_of_incident(world, listing, found, n), answers=())

    key = api_key_of(settings)
    plan = planned(settings, key, found.model, make, is_new=True)
    if not agreed(plan, yes=yes):
        complain("nothing was asked")
        return ExitCode.FINDING
    stopped = asked(settings, key, plan)
    with offline_records(settings, SystemClock()) as records:
        kept = kept_study(records.store, plan.study.id)
    result = result_of(kept.study, kept.answers)
    if stopped is not None and stopped.why is Stop.BUDGET and not result.asked:
        raise nothing_covered(settings)
    own = next(each for each in result.routes if each.route.suspect)
    if json:
        say_json(_document(found, result, own, stopped))
    else:
        _show(found, result, own)
    if stopped is not None:
        complain(f"incident {found.id}: {result.asked} of {kept.study.planned} answers: {stopped.detail}")
    count = own.rows[ANY].count
    if not count.judged:
        return ExitCode.GATEWAY
    return ExitCode.FINDING if count.failed else ExitCode.OK


def _peer(result: Result) -> RouteResult | None:
    return next((each for each in result.routes if not each.route.suspect), None)


def _word_for_word(result: Result) -> Count:
    """Count the answers of the route to the very prompts that failed then."""
    study = result.study
    suspects = {each.route for each in study.routes if each.suspect}
    return counted(
        (
            answer
            for answer in result.answers
            if answer.route in suspects and study.question(answer.turn).messages is not None
        ),
        ANY,
    )


def _document(
    incident: Incident, result: Result, own: RouteResult, stopped: Stopped | None
) -> dict[str, Json]:
    peer = _peer(result)
    contrast = own.rows[ANY].contrasts.get(Against.REST)
    count = own.rows[ANY].count
    return {
        "incident": incident.id,
        "study": result.study.id,
        "model": incident.model,
        "route": incident.route,
        "contracts": sorted(incident.contracts),
        "still_fails": count.failed > 0 if count.judged else None,
        "complete": result.complete,
        "stopped": None if stopped is None else stopped.why.value,
        "result": count_document(count),
        "word_for_word": count_document(_word_for_word(result)),
        "peer": None
        if peer is None
        else {
            "route": peer.route.route,
            "precision": peer.route.precision,
            **count_document(peer.rows[ANY].count),
        },
        "p": None if contrast is None else contrast.p,
        "cost_usd": float(result.usd),
        "answers": [answer_document(answer) for answer in result.answers],
    }


def _show(incident: Incident, result: Result, own: RouteResult) -> None:
    count = own.rows[ANY].count
    head = (
        f"incident {incident.id}: {incident.route}, {incident.model}, {', '.join(sorted(incident.contracts))}"
    )
    if not count.judged:
        say(
            f"{head}: could not be told; no answer could be judged ({wording.unjudged(count) or 'none came'})"
        )
        return
    said = "still fails" if count.failed else "fails no more"
    kinds = f"; {wording.codes(count)}" if count.failed else ""
    besides = f"; besides {wording.unjudged(count)}" if count.unjudged else ""
    say(f"{head}: {said}: {wording.counts(count)} ({wording.interval(count)}{kinds}){besides}")
    exact = _word_for_word(result)
    if exact.judged:
        say(f"word for word: {wording.counts(exact)}; the others begin otherwise")
    peer = _peer(result)
    contrast = own.rows[ANY].contrasts.get(Against.REST)
    if peer is not None and contrast is not None:
        say(
            f"{peer.route.route}, asked the same: {contrast.failed}/{contrast.judged}; "
            f"p {wording.probability(contrast.p)} (Fisher's exact test, two-sided)"
        )
    say(f"{wording.usd(result.usd)}; `routecanary compare --resume {result.study.id}` shows the whole study")
