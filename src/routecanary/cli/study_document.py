"""How is a study written as JSON? docs/cli.md describes every key."""

from __future__ import annotations

from routecanary.cli.output import instant
from routecanary.domain.probe import Json
from routecanary.study.count import Count
from routecanary.study.quantile import Quantile
from routecanary.study.result import Against, Contrast, Result, RouteResult, Row
from routecanary.study.values import StudyAnswer
from routecanary.study.wording import CONFIDENCE


def document(result: Result, *, stopped: str | None) -> dict[str, Json]:
    """Write a study.

    Args:
        stopped: Why it ended early.
    """
    study = result.study
    first = study.questions[0]
    return {
        "study": study.id,
        "model": study.model,
        "incident": study.incident,
        "began_at": instant(study.at),
        "probe": first.kind.value,
        "locale": first.locale,
        "own_prompt": first.messages is not None,
        "seed": study.seed,
        "planned": study.planned,
        "asked": result.asked,
        "complete": result.complete,
        "stopped": stopped,
        "unable": list(study.unable),
        "cost_usd": float(result.usd),
        "confidence": CONFIDENCE,
        "contracts": list(result.contracts),
        "routes": [_route(each) for each in result.routes],
        "answers": [answer_document(each) for each in result.answers],
    }


def _route(each: RouteResult) -> dict[str, Json]:
    route = each.route
    return {
        "route": route.route,
        "precision": route.precision,
        "official": route.official,
        "suspect": route.suspect,
        "planned": route.n,
        "asked": each.asked,
        "cost_usd": float(each.usd),
        "first_text": {
            "timed": each.timed,
            "censored": each.censored,
            "median": _quantile(each.median),
            "p90": _quantile(each.slow),
        },
        "results": {contract: _row(row) for contract, row in each.rows.items()},
    }


def _quantile(of: Quantile | None) -> Json:
    return None if of is None else {"ms": of.ms, "is_floor": of.is_floor}


def _row(row: Row) -> dict[str, Json]:
    return {
        **count_document(row.count),
        **{against.value: _contrast(row.contrasts.get(against)) for against in Against},
    }


def count_document(count: Count) -> dict[str, Json]:
    """Write a count with its exact interval; without judged answers there is no share and no interval."""
    low, high = count.interval(CONFIDENCE)
    return {
        "failed": count.failed,
        "judged": count.judged,
        "share": None if count.share is None else round(count.share, 6),
        "low": round(low, 6) if count.judged else None,
        "high": round(high, 6) if count.judged else None,
        "not_judged": {kind.value: number for kind, number in count.unjudged.items()},
        "kinds": dict(count.codes),
    }


def _contrast(found: Contrast | None) -> Json:
    if found is None:
        return None
    return {"failed": found.failed, "judged": found.judged, "p": found.p, "p_holm": found.p_holm}


def answer_document(answer: StudyAnswer) -> dict[str, Json]:
    """Write one answer; its text is in the store, under the transcript's id."""
    return {
        "route": answer.route,
        "turn": answer.turn,
        "at": instant(answer.at),
        "transcript": answer.transcript,
        "cost_usd": float(answer.usd),
        "first_text_ms": answer.first_text_ms,
        "unseen_ms": answer.unseen_ms,
        "verdicts": {
            str(name): {"verdict": said.kind.value, "kind": said.code, "reason": said.detail}
            for name, said in sorted(answer.verdicts.items())
        },
    }
