"""`routecanary judge --stored`: what would the judges of today say of what is kept?"""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import time_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.output import complain, instant, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.probe import Json
from routecanary.domain.verdict import Verdict
from routecanary.rounds.rejudge import Changed, Rejudging, Unread
from routecanary.wiring import judging_of, offline_records, settings_at


def judge_stored(*, since: str | None, config: Path | None, json: bool) -> int:
    """Judge kept transcripts again; print each verdict that would be another one, then the counts.

    Raises:
        InputError: The configuration has faults, or `since` is no time.
        StoreError: The store cannot be read.
    """
    settings, clock = settings_at(config), SystemClock()
    begin = None if since is None else time_of(since, "--since", now=clock.now())
    code = ExitCode.OK
    with offline_records(settings, clock) as records:
        work = Rejudging(store=records.transcripts, settings=judging_of(settings))
        models = {*records.store.models(), *(model.model for model in settings.models)}
        for found in work.run(sorted(models), begin):
            if isinstance(found, Unread):
                complain(found.problem)
                code = ExitCode.FILES
            elif json:
                say_json({"line": "changed", **_document(found)})
            else:
                say(_sentence(found))
    _say_counts(work, json=json)
    return code


def _say_counts(work: Rejudging, *, json: bool) -> None:
    counts = sorted(work.counts.items())
    if json:
        for (contract, version), count in counts:
            say_json(
                {
                    "line": "counts",
                    "contract": contract,
                    "version_then": version,
                    "version_now": count.now,
                    "verdicts": count.verdicts,
                    "changed": count.changed,
                    "new_fails": count.new_fails,
                    "gone_fails": count.gone_fails,
                }
            )
        say_json({"line": "transcripts", "n": work.transcripts})
        return
    say(f"{work.transcripts} transcripts were judged again; nothing of it is kept")
    if counts:
        say_table(
            ("contract", "judge then", "judge now", "verdicts", "changed", "new fails", "fails gone"),
            [
                (
                    contract,
                    str(version),
                    str(count.now),
                    *(str(n) for n in (count.verdicts, count.changed, count.new_fails, count.gone_fails)),
                )
                for (contract, version), count in counts
            ],
        )


def _document(found: Changed) -> dict[str, Json]:
    entry = found.entry
    return {
        "id": entry.id,
        "at": instant(entry.at),
        "model": entry.model,
        "route": entry.route,
        "probe": entry.kind.value,
        "locale": entry.locale,
        "attempt": entry.attempt,
        "contract": found.was.contract,
        "then": _said(found.was),
        "now": _said(found.now),
    }


def _said(verdict: Verdict) -> dict[str, Json]:
    return {
        "verdict": verdict.kind.value,
        "kind": verdict.code,
        "reason": verdict.detail,
        "version": verdict.version,
    }


def _sentence(found: Changed) -> str:
    entry, was, now = found.entry, found.was, found.now
    asked = f"{entry.model} {entry.route or ''} {entry.kind.value} {entry.locale or ''}"
    versions = f"judge {was.version}" + (f" → {now.version}" if now.version != was.version else "")
    return f"{entry.id} {asked}: {was.contract} {was} → {now} ({versions}) {now.detail}".rstrip()
