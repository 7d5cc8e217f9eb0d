"""`routecanary compare`: a pinned study, many answers a route, counted with exact intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, say, say_json
from routecanary.cli.study_document import document
from routecanary.cli.study_tables import show
from routecanary.cli.studying import Planned, agreed, asked, ended, nothing_covered, planned
from routecanary.clock import SystemClock
from routecanary.domain.answer import read_answer
from routecanary.domain.archive import StoredTranscript
from routecanary.domain.names import RouteId, parse_locale, parse_model, parse_route
from routecanary.domain.probe import ProbeKind
from routecanary.domain.route import Listing
from routecanary.domain.settings import Settings
from routecanary.errors import InputError, OutputError
from routecanary.probe.catalog import ASKED_KINDS
from routecanary.rounds.asked import usual_routes
from routecanary.rounds.records import Records
from routecanary.rounds.studies import KeptStudy, kept_study
from routecanary.rounds.study import Stop, Stopped
from routecanary.rounds.study_plan import askings_of, questions_of, study_of
from routecanary.rounds.world import World
from routecanary.study.page import Words, page, words_of
from routecanary.study.prompt import question_from_text
from routecanary.study.result import Result, result_of
from routecanary.study.values import Question
from routecanary.wiring import api_key_of, offline_records, own_text, settings_at

MOST_ASKINGS: Final = 1_000  # of one route
MOST_OTHERS: Final = 20_000  # of all others together


def compare(
    model: str | None = None,
    /,
    *,
    routes: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    suspect: list[str] | None = None,
    n: Annotated[int, Parameter(alias="-n")] = 20,
    others: int | None = None,
    probe: str | None = None,
    locale: str | None = None,
    prompt: Path | None = None,
    resume: str | None = None,
    html: Path | None = None,
    yes: bool = False,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Ask routes the same question many times, pinned, interleaved in time, and compare how often each fails.

    Every answer is judged by the enabled contracts and kept as it comes. No verdict of a study enters the
    decision on a route. The cost is stated before anything is spent, and the day's budget is kept to. Exit
    code 1 when the study is not complete; 3 when the gateway or the account ended it.

    Parameters
    ----------
    model
        A configured model, author/slug.
    routes
        Ask these alone, and the suspects; left out, whoever a round asks.
    suspect
        Whom the study is about. May be given several times.
    n
        Askings of a route; also -n.
    others
        Askings of all but the suspects together, spread evenly; left out, N of each.
    probe
        chat, filter or structured; left out, chat.
    locale
        In which it is asked, and its language judged; left out, the first of the rotation.
    prompt
        Ask what this file says instead, word for word (docs/studies.md).
    resume
        Go on with a study that ended early, or tell again of one that is complete.
    html
        Also write a page with the answers side by side.
    yes
        Do not ask at the terminal whether to go on.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    _check_page(html)
    if resume is not None:
        _check_resumed(
            model=model,
            routes=routes,
            suspect=suspect,
            others=others,
            probe=probe,
            locale=locale,
            prompt=prompt,
        )
        return _resumed(settings, resume, yes=yes, html=html, json=json)
    if model is None:
        raise InputError("missing", key="MODEL", allowed="a configured model, or --resume STUDY")
    name = parse_model(model)
    chosen, suspects = ({parse_route(tag) for tag in tags or ()} for tags in (routes, suspect))
    _check_numbers(n, others, suspects)
    kind = _kind(probe)
    spoken = None if locale is None else parse_locale(locale)
    first = settings.probes.locales[0]
    own: Question | None = None
    if prompt is not None:
        if probe is not None:
            raise InputError("two questions", key="--prompt", allowed="either --probe or --prompt")
        own = question_from_text(own_text(prompt), str(prompt), locale=spoken)

    def make(world: World, listing: Listing) -> KeptStudy:
        questions = (
            (own,)
            if own is not None
            else questions_of(world.catalog, kind, spoken or first, fallback=spoken is None)
        )
        askings = askings_of(
            usual_routes(listing, world.model(name).production),
            chosen=chosen,
            suspects=suspects,
            n=n,
            others=others,
            rng=world.rng,
        )
        study = study_of(
            world,
            listing,
            questions,
            [turn % len(questions) for turn in range(max(askings.values(), default=0))],
            askings,
            contracts=settings.enabled_contracts(),
            suspects=suspects,
        )
        return KeptStudy(study=study, answers=())

    key = api_key_of(settings)
    plan = planned(settings, key, name, make, is_new=True)
    return _carried_out(settings, plan, yes=yes, html=html, json=json)


def _resumed(settings: Settings, study_id: str, *, yes: bool, html: Path | None, json: bool) -> int:
    with offline_records(settings, SystemClock()) as records:
        kept = kept_study(records.store, study_id)
    if result_of(kept.study, kept.answers).complete:
        return _told(settings, study_id, None, html=html, json=json)
    plan = planned(settings, api_key_of(settings), kept.study.model, lambda *_: kept, is_new=False)
    if not plan.left:
        complain(f"study {study_id}: no route of it that is still to be asked can be asked now")
        return _told(settings, study_id, None, html=html, json=json)
    return _carried_out(settings, plan, yes=yes, html=html, json=json)


def _carried_out(settings: Settings, plan: Planned, *, yes: bool, html: Path | None, json: bool) -> int:
    if not agreed(plan, yes=yes):
        complain("nothing was asked")
        return ExitCode.FINDING
    stopped = asked(settings, api_key_of(settings), plan)
    return _told(settings, plan.study.id, stopped, html=html, json=json)


def _told(
    settings: Settings, study_id: str, stopped: Stopped | None, *, html: Path | None, json: bool
) -> int:
    """Tell what the log has of a study."""
    with offline_records(settings, SystemClock()) as records:
        kept = kept_study(records.store, study_id)
        result = result_of(kept.study, kept.answers)
        if stopped is not None and stopped.why is Stop.BUDGET and not result.asked:
            raise nothing_covered(settings)
        if html is not None:
            _write_page(html, result, _words(records, result))
    if json:
        say_json(document(result, stopped=None if stopped is None else stopped.why.value))
    else:
        show(result)
        if html is not None:
            say(f"the answers side by side: {html}")
    return ended(kept.study, stopped, complete=result.complete)


def _words(records: Records, result: Result) -> Mapping[str, Words]:
    found: dict[str, Words] = {}
    for answer in result.answers:
        stored = records.store.get(answer.transcript)
        if stored is not None:
            found[answer.transcript] = _words_of(stored)
    return found


def _words_of(stored: StoredTranscript) -> Words:
    answer = read_answer(stored.transcript)
    if answer.text:
        return words_of(answer.text)
    if answer.refusal:
        return words_of(answer.refusal, note="a refusal field, and no text")
    if answer.reasoning:
        return words_of(answer.reasoning, note="reasoning, and no text")
    return words_of(answer.body, note="no text")


def _write_page(path: Path, result: Result, words: Mapping[str, Words]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(page(result, words))
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def _check_page(path: Path | None) -> None:
    """Find out before anything is spent whether a page can be written."""
    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(
            "no place for a file", key="--html", value=str(path), allowed="a file in a folder that is there"
        )


def _check_resumed(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            key = "MODEL" if name == "model" else f"--{name}"
            raise InputError("the study says that already", key=key, allowed="--resume without it")


def _check_numbers(n: int, others: int | None, suspects: set[RouteId]) -> None:
    if not 1 <= n <= MOST_ASKINGS:
        raise InputError("out of range", key="--n", value=n, allowed=f"1 to {MOST_ASKINGS}")
    if others is None:
        return
    if not 0 <= others <= MOST_OTHERS:
        raise InputError("out of range", key="--others", value=others, allowed=f"0 to {MOST_OTHERS}")
    if not suspects:
        raise InputError("others than whom?", key="--others", allowed="together with --suspect")


def _kind(word: str | None) -> ProbeKind:
    for kind in ASKED_KINDS:
        if word in (None, kind.value):
            return kind
    raise InputError("no such probe", key="--probe", value=word, allowed=", ".join(ASKED_KINDS))
