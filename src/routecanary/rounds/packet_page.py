"""How does a packet read for people? One page that needs nothing else: no script, no picture, no other file.

Whatever a model or a listing wrote is escaped twice over: what a browser would take for mark-up, and what
would turn the direction of a line or hide in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from routecanary.domain.times import format_instant
from routecanary.rounds.packet import Count, Exhibit, Packet
from routecanary.rounds.packet_came import Came
from routecanary.rounds.packet_document import CONFIDENCE, VERIFY, counted, document_of, together

_STYLE: Final = (
    "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#111;background:#fff}"
    "pre{background:#f3f3f3;border-left:4px solid #999;padding:.7em;white-space:pre-wrap;"
    "overflow-wrap:anywhere}"
    "pre.came{border-color:#b00}table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0;"
    "vertical-align:top}code{overflow-wrap:anywhere}"
)

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page_of(packet: Packet) -> str:
    """Write a packet as one HTML document in ASCII."""
    incident = packet.incident
    title = f"Evidence: {incident.route}, {incident.model}"
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{_plain(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_plain(title)}</h1>",
        f"<p>{_plain(_introduction(packet))}</p>",
        *(line for exhibit in packet.exhibits for line in _exhibit(exhibit)),
        *_anchor(packet),
        "</body></html>",
    ]
    return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode("ascii") + "\n"


def file_of(packet: Packet) -> str:
    """Write a packet as one JSON document in ASCII."""
    return json.dumps(document_of(packet), ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def _introduction(packet: Packet) -> str:
    incident = packet.incident
    end = "and goes on" if incident.ended_at is None else f"and ended at {format_instant(incident.ended_at)}"
    effect = " (observed only: no traffic was kept away)" if incident.shadow else ""
    return (
        f"Every route of {incident.model} is asked the same questions, pinned to it alone, and its answers "
        f"are judged by code. {incident.route} was suspended at {format_instant(incident.began_at)} for "
        f"{', '.join(sorted(incident.contracts))}{effect}, {end}. Below is what was asked, what was "
        "expected, what came, how often, and how to see it yourself. Times are UTC."
    )


def _exhibit(exhibit: Exhibit) -> Iterator[str]:
    came = exhibit.came
    kind = "" if came.verdict.code is None else f": {came.verdict.code}"
    yield f"<h2>{_plain(exhibit.contract + kind)}</h2>"
    yield "<h3>Expected</h3>"
    yield f"<p>{_plain(exhibit.expected)}</p>"
    yield "<h3>What came</h3>"
    yield f"<p>{_plain(came.verdict.detail)}</p>"
    yield from _came(came)
    yield "<h3>How often</h3>"
    yield from _often(exhibit)
    yield "<h3>Ask it yourself</h3>"
    yield (
        f"<p>With a key of your own in <code>{_plain(exhibit.request.variable)}</code>. A fault that does "
        "not show every time needs several tries: the shares above say how many.</p>"
    )
    yield f'<pre class="curl">{_plain(exhibit.request.curl)}</pre>'
    yield "<p>The same in Python, which puts the text together (standard library only):</p>"
    yield f'<pre class="python">{_plain(exhibit.request.python)}</pre>'
    yield "<p>The request as it reads:</p>"
    yield f'<pre class="body">{_plain(json.dumps(exhibit.request.body, indent=1, ensure_ascii=False))}</pre>'


def _came(came: Came) -> Iterator[str]:
    for what, text in (("reasoning", came.reasoning), ("refusal", came.refusal), ("error", came.error)):
        if text:
            yield f'<p>{what}:</p><pre class="came">{_plain(text)}</pre>'
    yield f'<pre class="came">{_plain(came.text) or "(no text)"}</pre>'
    first = "none" if came.first_text_ms is None else f"{came.first_text_ms:.0f} ms"
    yield _table(
        [
            ("asked in the round of", format_instant(came.at)),
            ("asked for", came.locale or "no language"),
            ("HTTP status", "none" if came.status is None else str(came.status)),
            ("first visible text after", first),
            ("ended", f"{came.ending} after {came.ended_ms:.0f} ms"),
            ("finish reason", came.finish_reason or "none"),
            ("generation", ", ".join(came.generations) or "not told"),
            ("transcript", came.transcript),
        ]
    )


def _often(exhibit: Exhibit) -> Iterator[str]:
    failing = sum(peer.count.fails > 0 for peer in exhibit.peers)
    yield _table(
        [
            ("this route, in the rounds that led to the suspension", _share(exhibit.before)),
            ("this route, in the rounds since", _share(exhibit.since)),
            (
                f"{len(exhibit.peers)} other routes of the model, in the rounds that led to it",
                f"{_share(together(exhibit))}; {failing} of these routes failed at all",
            ),
        ]
    )
    yield (
        f"<p>In brackets the exact {CONFIDENCE:.0%} interval of the share. Counted are the attempts at every "
        f"question that is judged for {_plain(exhibit.contract)}.</p>"
    )
    if exhibit.peers:
        yield _table(
            (peer.name or f"another route, {number}", _share(peer.count))
            for number, peer in enumerate(exhibit.peers, start=1)
        )


def _share(count: Count) -> str:
    if not count.attempts:
        return "no attempt"
    bounds = counted(count)
    return f"{count.fails} of {count.attempts} attempts failed ({bounds['low']:.1%} to {bounds['high']:.1%})"


def _anchor(packet: Packet) -> Iterator[str]:
    yield "<h2>Where this is from</h2>"
    yield f"<p>{_plain(VERIFY)}</p>"
    events = [("suspension", packet.suspension)]
    events += [(f"round of {format_instant(each.at)}", each.event) for each in packet.rounds]
    events.append((f"end of the log at {format_instant(packet.made_at)}", packet.head))
    yield _table((what, f"event {head.seq}, {head.hash}") for what, head in events)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{_plain(name)}</th><td>{_plain(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


def _plain(text: str) -> str:
    """Escape a text: mark-up, and every character that is not printable, save the end of a line."""
    shown = "".join(
        each if each == "\n" or each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )
    return escape(shown)
