"""Complaints over HTTP: who may pass them on, who may read them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.token import Role
from tests.complained import BAD, MODEL, serve, tell_rounds
from tests.serving import Answered, Served, ask, served
from tests.snapshots import NOW

HOUR = timedelta(hours=1)
AT = (NOW - HOUR / 2).strftime("%Y-%m-%dT%H:%M:%S+00:00")
TOLD = {"model": MODEL, "at": AT, "symptom": "language", "locale": "th"}


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Served]:
    """Four hours in a store, the last two of which one route was bad; wall time stands at their end."""
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        tell_rounds(store, NOW - 4 * HOUR, NOW - 2 * HOUR)
        tell_rounds(store, NOW - 2 * HOUR, NOW, bad={BAD})
        serve(store, NOW - 4 * HOUR, NOW)
    with served(tmp_path, tokens=True) as found:
        yield found


def tell(there: Served, path: str, role: Role, body: Any) -> Answered:
    return ask(there.at(path), path, method="POST", token=there.tokens[role], body=body)


def look(there: Served, path: str, role: Role) -> Answered:
    return ask(there.at(path), path, token=there.tokens[role])


def test_an_application_passes_a_complaint_on(there: Served) -> None:
    """It is told who may have served it; an administrator reads it, under the token's name."""
    told = tell(there, "/v1/reports", Role.APP, TOLD)
    assert told.status == 201
    assert told.json["answer"]["suspects"][0]["routes"] == [BAD]
    assert (told.json["answer"]["sureness"], told.json["actor"]) == ("likely", "token app")
    again = tell(there, "/api/v1/reports", Role.OPERATOR, TOLD)
    assert (again.status, again.json["id"], again.json["known"]) == (200, told.json["id"], True)
    (listed,) = look(there, f"/api/v1/reports?model={MODEL}", Role.READ).json
    assert listed["answer"] == told.json["answer"]
    shown = look(there, f"/api/v1/reports/{listed['id']}", Role.READ).json
    assert shown["now"]["suspects"][0]["routes"] == [BAD]


def test_an_application_reads_nobodys_complaints(there: Served) -> None:
    """Nor does a reader pass one on."""
    assert look(there, "/api/v1/reports", Role.APP).status == 403
    assert tell(there, "/api/v1/reports", Role.APP, TOLD).status == 403
    assert tell(there, "/v1/reports", Role.READ, TOLD).status == 403
    assert ask(there.applications, "/v1/reports", method="POST", body=TOLD).status == 401
    assert look(there, "/v1/reports", Role.ADMIN).status == 405


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"at": "2026-01-05 21:10"}, "at: has no zone"),
        ({"at": None}, "at: missing"),
        ({"at": 7}, "at: not a text"),
        ({"model": "other/model"}, "not a configured model"),
        ({"symptom": "sad"}, "symptom: no such symptom"),
        ({"within": "1y"}, "within: not a duration"),
        ({"ask": "yes"}, "ask: not a yes or no"),
        ({"answer": "the text"}, "answer: unknown key"),
        ({"note": "two\nlines"}, "note: not a short line"),
        ({"conversation": "\ud800"}, "body: not JSON"),
    ],
)
def test_a_bad_complaint_is_refused_by_name(there: Served, changes: dict[str, Any], said: str) -> None:
    """The key is named, and nothing is kept."""
    told = tell(there, "/v1/reports", Role.APP, TOLD | changes)
    assert told.status == 400
    assert said in told.json["error"]["message"]
    assert look(there, "/api/v1/reports", Role.READ).json == []


@pytest.mark.parametrize("number", ["1", "999", "x", "9" * 30, "-1"])
def test_there_is_no_such_complaint(there: Served, number: str) -> None:
    """Also for the number of another event."""
    assert look(there, f"/api/v1/reports/{number}", Role.READ).status == 404


@pytest.mark.parametrize("query", ["limit=3", "model=a/b&model=c/d", "model=nobody/knows"])
def test_a_bad_question_is_refused(there: Served, query: str) -> None:
    """By its name."""
    assert look(there, f"/api/v1/reports?{query}", Role.READ).status == 400
