"""How does a packet read for a program?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from routecanary import __version__
from routecanary.domain.interval import exact_interval
from routecanary.domain.log import Head
from routecanary.domain.probe import Json
from routecanary.domain.times import format_instant
from routecanary.rounds.packet import Count, Exhibit, Packet
from routecanary.rounds.packet_came import Came

FORMAT: Final = "routecanary-evidence"
VERSION: Final = 1
CONFIDENCE: Final = 0.95

VERIFY: Final = (
    "An event's hash is the SHA-256 of its content and of the hash of the event before it. Whoever holds the "
    "log can show the events of these numbers, and `routecanary store verify` recomputes the whole chain. A "
    "transcript's id ends with a hash of every byte that came and of the verdicts given then."
)
"""How the packet is tied to the log."""


def document_of(packet: Packet) -> dict[str, Json]:
    """Write a packet as JSON."""
    incident = packet.incident
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_at": format_instant(packet.made_at),
        "made_by": f"routecanary {__version__}",
        "model": incident.model,
        "route": incident.route,
        "began_at": format_instant(incident.began_at),
        "ended_at": _instant(incident.ended_at),
        "shadow": incident.shadow,
        "exhibits": [_exhibit(each) for each in packet.exhibits],
        "anchor": {
            "suspension": _head(packet.suspension),
            "rounds": [{"at": format_instant(each.at), **_head(each.event)} for each in packet.rounds],
            "head": _head(packet.head),
            "verify": VERIFY,
        },
    }


def _exhibit(exhibit: Exhibit) -> dict[str, Json]:
    weighed = exhibit.weighed
    return {
        "contract": exhibit.contract,
        "expected": exhibit.expected,
        "came": _came(exhibit.came),
        "request": {
            "body": dict(exhibit.request.body),
            "curl": exhibit.request.curl,
            "python": exhibit.request.python,
        },
        "how_often": {"before": counted(exhibit.before), "since": counted(exhibit.since)},
        "peers": {
            "routes": len(exhibit.peers),
            "routes_that_failed": sum(peer.count.fails > 0 for peer in exhibit.peers),
            "together": counted(together(exhibit)),
            "each": [{"route": peer.name, **counted(peer.count)} for peer in exhibit.peers],
        },
        "weighed": None
        if weighed is None
        else {
            "attempts": weighed.attempts,
            "fails": weighed.fails,
            "p0": weighed.p0,
            "p1": weighed.p1,
            "log_m": weighed.log_m,
            "log_threshold": weighed.log_threshold,
        },
    }


def together(exhibit: Exhibit) -> Count:
    """Add the other routes up."""
    return Count(
        attempts=sum(peer.count.attempts for peer in exhibit.peers),
        fails=sum(peer.count.fails for peer in exhibit.peers),
    )


def counted(count: Count) -> dict[str, Json]:
    """Write a count with the exact interval of its share."""
    low, high = exact_interval(count.fails, count.attempts, CONFIDENCE)
    return {
        "attempts": count.attempts,
        "fails": count.fails,
        "low": round(low, 6),
        "high": round(high, 6),
    }


def _came(came: Came) -> dict[str, Json]:
    return {
        "transcript": came.transcript,
        "at": format_instant(came.at),
        "locale": came.locale,
        "kind": came.verdict.code,
        "reason": came.verdict.detail,
        "judge_version": came.verdict.version,
        "status": came.status,
        "ending": came.ending,
        "ended_ms": round(came.ended_ms, 1),
        "first_text_ms": None if came.first_text_ms is None else round(came.first_text_ms, 1),
        "finish_reason": came.finish_reason,
        "text": came.text,
        "reasoning": came.reasoning,
        "refusal": came.refusal,
        "error": came.error,
        "generations": list(came.generations),
    }


def _head(head: Head) -> dict[str, Json]:
    return {"seq": head.seq, "hash": head.hash}


def _instant(at: datetime | None) -> str | None:
    return None if at is None else format_instant(at.astimezone(UTC))
