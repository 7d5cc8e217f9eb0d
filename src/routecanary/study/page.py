"""How does a study look as one page that needs nothing else?

No script, no picture, nothing is fetched: the page's own policy forbids it, and allows the one style that it
brings by its hash. Whatever a model or a listing wrote is text between tags, escaped, and cannot leave its
place: what would turn the direction of reading or hide itself is written out.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from routecanary.domain.names import ContractName
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.study import wording
from routecanary.study.count import ANY, kind_of
from routecanary.study.result import Against, Result, RouteResult
from routecanary.study.values import Question, StudyAnswer

MOST_LETTERS: Final = 20_000  # of one answer that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What an answer said; `note` says what is shown in place of a text, or what is missing of it."""

    text: str = ""
    note: str = ""


def words_of(text: str, *, note: str = "") -> Words:
    """Bound what is shown of a text."""
    if len(text) <= MOST_LETTERS:
        return Words(text=text, note=note)
    return Words(
        text=text[:MOST_LETTERS],
        note=f"the first {MOST_LETTERS} of {len(text)} characters; {note}".rstrip("; "),
    )


def page(result: Result, words: Mapping[str, Words]) -> Iterator[str]:
    """Write a study as HTML, piece by piece.

    Args:
        words: What the answers said, by transcript; one that is missing is no longer kept.
    """
    style = (files("routecanary.study") / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    study = result.study
    title = f"Study {study.id}: {study.model}"
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; '
        f'style-src &#39;sha256-{digest}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{shown(title)}</h1>\n"
    )
    yield from _summary(result)
    for contract in wording.tables(result):
        yield from _table(result, contract)
    yield from _times(result)
    for number, question in enumerate(study.questions):
        yield from _answers(result, number, question, words)
    yield "</main>\n</body>\n</html>\n"


def shown(text: str) -> str:
    """Make any text safe to stand between tags or in a quoted attribute."""
    return escape("".join(each if _is_plain(each) else _spelled(each) for each in text), quote=True)


def _is_plain(letter: str) -> bool:
    return letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"


def _spelled(letter: str) -> str:
    """Write out a letter that cannot be seen, or that moves others: `\\u202e`."""
    return letter.encode("unicode_escape").decode("ascii")


def _summary(result: Result) -> Iterator[str]:
    study = result.study
    yield (
        f"<p>{result.asked} of {study.planned} answers of {len(study.routes)} routes, asked since "
        f"{study.at:%Y-%m-%d %H:%M} UTC, {wording.usd(result.usd)}.</p>\n"
    )
    if study.unable:
        yield f"<p>Not asked, for they declare no way to answer this: {shown(', '.join(study.unable))}.</p>\n"
    found = wording.findings(result)
    yield "<h2>Findings</h2>\n<ul>\n"
    for sentence in found or (
        "No route fails more often than the others, as far as so few answers can tell.",
    ):
        yield f"<li>{shown(sentence)}</li>\n"
    yield (
        "</ul>\n<p>In a count: failed of judged. Intervals are exact (Clopper and Pearson), at 95 %. "
        "p: Fisher’s exact test, two-sided, then corrected after Holm.</p>\n"
    )


def _table(result: Result, contract: ContractName) -> Iterator[str]:
    total = result.totals[contract]
    name = "Any contract" if contract == ANY else contract
    heads = (
        "Route",
        "Precision",
        "Failed",
        "95 % interval",
        "Not judged",
        *(wording.AGAINST[a] for a in Against),
    )
    yield _table_start(f"{name}: {wording.counts(total)} failed ({wording.codes(total)})", heads)
    for each in result.routes:
        row = each.rows[contract]
        yield _table_row(
            wording.role(each.route),
            each.route.precision or "",
            wording.counts(row.count),
            wording.interval(row.count),
            wording.unjudged(row.count),
            *(wording.contrast(row, against) for against in Against),
        )
    yield _TABLE_END


def _times(result: Result) -> Iterator[str]:
    heads = ("Route", "Answers", "First text: median", "9 in 10 within", "Timed", "Never came", "Cost")
    yield _table_start("Time to the first text, and cost", heads)
    for each in result.routes:
        yield _table_row(
            each.route.route,
            f"{each.asked}/{each.route.n}",
            wording.milliseconds(each.median),
            wording.milliseconds(each.slow),
            str(each.timed),
            str(each.censored),
            wording.usd(each.usd),
        )
    yield _TABLE_END


_TABLE_END: Final = "</tbody>\n</table>\n</div>\n"


def _table_start(caption: str, heads: tuple[str, ...]) -> str:
    cells = "".join(f'<th scope="col">{shown(head)}</th>' for head in heads)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{shown(caption)}">\n<table>\n'
        f"<caption>{shown(caption)}</caption>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n"
    )


def _table_row(head: str, *cells: str) -> str:
    rest = "".join(f"<td>{shown(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{shown(head)}</th>{rest}</tr>\n'


def _answers(result: Result, number: int, question: Question, words: Mapping[str, Words]) -> Iterator[str]:
    """Lay the answers to one question side by side: a column for each route, whoever fails most first."""
    turns = {turn for turn, asked in enumerate(result.study.turns) if asked == number}
    columns = [
        (each, here)
        for each in result.routes
        if (here := [one for one in result.answers if one.route == each.route.route and one.turn in turns])
    ]
    if not columns:
        return
    label = f"Scene {question.scene.id}, {question.kind.value}" + (
        f", {question.locale}" if question.locale is not None else ""
    )
    yield (
        f"<section>\n<h2>{shown(label)}</h2>\n<details><summary>What was asked</summary>\n"
        f'<div class="said" dir="auto">{shown(question.scene.prompt)}</div></details>\n'
        f'<div class="wide" role="region" tabindex="0" aria-label="{shown(f"Answers: {label}")}">\n'
        '<div class="columns">\n'
    )
    for each, here in columns:
        name = shown(wording.role(each.route))
        yield f'<section class="column">\n<h3>{name}</h3>\n<p>{_standing(each)}</p>\n'
        for answer in here:
            yield _article(answer, question, words.get(answer.transcript, Words(note="no longer kept")))
        yield "</section>\n"
    yield "</div>\n</div>\n</section>\n"


def _standing(each: RouteResult) -> str:
    count = each.rows[ANY].count
    return shown(f"{wording.counts(count)} failed" if count.judged else "none could be judged")


def _article(answer: StudyAnswer, question: Question, words: Words) -> str:
    kind = kind_of(answer.verdicts, ANY) or VerdictKind.SKIPPED
    verdicts = "".join(
        f"<li>{_badge(said)}{f' {shown(said.detail)}' if said.detail else ''}</li>\n"
        for _, said in sorted(answer.verdicts.items())
    )
    lang = f' lang="{shown(question.locale)}"' if question.locale is not None else ""
    text = f'<div class="said" dir="auto"{lang}>{shown(words.text)}</div>\n' if words.text else ""
    note = f"<p>{shown(words.note)}</p>\n" if words.note else ""
    return (
        f'<article class="{kind.value}">\n<h4>Answer {answer.turn + 1}: {kind.value}</h4>\n'
        f"<ul>\n{verdicts}</ul>\n{text}{note}"
        f"<p><small>{shown(_timed(answer))}, {wording.usd(answer.usd)}, transcript "
        f"<code>{shown(answer.transcript)}</code></small></p>\n</article>\n"
    )


def _badge(said: Verdict) -> str:
    return f'<b class="badge {said.kind.value}">{shown(f"{said.contract} {said}")}</b>'


def _timed(answer: StudyAnswer) -> str:
    if answer.first_text_ms is not None:
        return f"first text after {answer.first_text_ms} ms"
    return "not timed" if answer.unseen_ms is None else f"no text within {answer.unseen_ms} ms"
