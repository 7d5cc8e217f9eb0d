"""The evidence of one incident: what is in it, what is not, and how it reads."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from routecanary.domain.names import LANGUAGE, STRUCTURED, ContractName, Locale, RouteId
from routecanary.domain.probe import Json, ProbeKind
from routecanary.domain.redaction import Redactor, without_identities
from routecanary.domain.secret import Secret
from routecanary.domain.transcript import Chunk
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, incidents_of
from routecanary.rounds.packet import Count, Packet, Peer, packet_of
from routecanary.rounds.packet_came import MOST_SHOWN
from routecanary.rounds.packet_document import document_of
from routecanary.rounds.packet_page import file_of, page_of
from routecanary.rounds.packet_request import minimal, reproduction_of
from routecanary.rounds.records import Records
from tests.conformance.stored import a_transcript
from tests.records import some_records, tell_round, wait_until
from tests.story import MODEL, a_report, a_round, moment

A = RouteId("a")
USER = "3f9a0c5577d24b1e8a6f0b1c2d3e4f50"
KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"
PEERS = {"plover": "ok", "cindermoor": "ok", "heron": "ok"}
CONTROL = {"wrasse": a_report("language:fail", control_for=["language"])}
HOSTILE = (
    "</pre><script>alert(1)</script><img src=x onerror=alert(2)>'\"&\x1b[2J\u202e\x00\ud83d"
    f" {KEY} user_2xK9mPqLw0 {USER} ops@acme.example"
)
REQUEST: dict[str, Json] = {
    "model": MODEL,
    "stream": True,
    "max_tokens": 900,
    "temperature": 0.8,
    "stop": ["###"],
    "reasoning": {"enabled": False},
    "messages": [
        {"role": "user", "content": "It's `cold`; say $(date) \"now\"\\n \u202e ж\n'; echo pwned; '"}
    ],
    "provider": {"only": ["a"], "ignore": ["a/us"], "allow_fallbacks": False, "sort": "price"},
    "plugins": [{"id": "web", "enabled": False}],
    "user": USER,
}


def answer(text: str) -> bytes:
    frame = {
        "id": "gen-7",
        "provider": "Alpha",
        "choices": [{"delta": {"content": text}, "finish_reason": "stop"}],
    }
    return f"data: {json.dumps(frame)}\n\n".encode()


def fail_round(
    records: Records,
    at: str,
    *attempts: str,
    text: str = "No es así, \u00e9h.",
    contract: ContractName = LANGUAGE,
    peers: Mapping[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Make a round in which `a` fails a contract, and keep what it answered."""
    wait_until(records, at)
    line = a_round(at, {**PEERS, **CONTROL, **(peers or {}), "a": f"{contract}:fail"})
    tries = {contract: tuple(said == "fail" for said in attempts)}
    line = replace(line, routes={**line.routes, A: replace(line.routes[A], attempts=tries)})
    packed = [
        records.store.pack(
            a_transcript(
                model=MODEL,
                route=A,
                attempt=number,
                request=REQUEST,
                chunks=(Chunk(120.0, answer(text)),),
                headers=(("set-cookie", f"account={KEY}"),),
                **changes,
            ),
            at=moment(at),
            verdicts={
                contract: Verdict(
                    contract=contract,
                    kind=VerdictKind(said),
                    code="wrong_language",
                    detail=f"{at} {number} {text}"[:200],
                )
            },
        )
        for number, said in enumerate(attempts)
    ]
    records.ledger.decide(MODEL, lambda _at, _acted: line, now=records.clock.now, transcripts=packed)


def suspended(text: str = "No es así.", **changes: Any) -> Records:
    records = some_records()
    fail_round(records, "0m", "fail", "pass", "fail", text=text, **changes)
    fail_round(records, "30m", "fail", "fail", "fail", text=text, **changes)
    return records


def the_incident(records: Records) -> Incident:
    incident, *_ = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    return incident


def the_packet(records: Records, **options: Any) -> Packet:
    packet = packet_of(
        records.store,
        the_incident(records),
        records.settings,
        now=moment("2h"),
        hide=Redactor([Secret(KEY)]),
        **options,
    )
    assert packet is not None
    return packet


class Tags(HTMLParser):
    """Every tag with its attributes, and what stands under a class."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, tuple[tuple[str, str | None], ...]]] = set()
        self.texts: dict[str, str] = {}
        self._under: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add((tag, tuple(attrs)))
        self._under = dict(attrs).get("class") if tag == "pre" else None

    def handle_data(self, data: str) -> None:
        if self._under is not None:
            self.texts[self._under] = self.texts.get(self._under, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._under = None


def test_a_packet_says_what_was_expected_what_came_and_how_often() -> None:
    """The answer shown is the newest round's first; rounds since are counted apart; a control is no peer."""
    records = suspended()
    tell_round(records, "1h", {**PEERS, "a": "ok"})
    (exhibit,) = the_packet(records).exhibits
    assert exhibit.contract == LANGUAGE
    assert "in the language that was asked for (pt-BR)" in exhibit.expected
    assert exhibit.came.verdict.detail.startswith("30m 0 ")
    assert (exhibit.came.text, exhibit.came.first_text_ms, exhibit.came.status) == ("No es así.", 120.0, 200)
    assert (exhibit.came.locale, exhibit.came.generations) == (Locale("pt-BR"), ("gen-7",))
    assert exhibit.before == Count(attempts=6, fails=5)
    assert exhibit.since == Count(attempts=1, fails=0)
    assert exhibit.peers == (Peer(name=None, count=Count(attempts=2, fails=0)),) * 3


def test_peers_are_named_only_where_that_is_asked_for() -> None:
    """Those that failed too come first; without names neither the page nor the document tells one."""
    records = some_records()
    for at in ("0m", "30m"):
        fail_round(records, at, "fail", peers={"heron": "language:fail"})
    named = the_packet(records, name_peers=True)
    (exhibit,) = named.exhibits
    assert [(peer.name, peer.count.fails) for peer in exhibit.peers] == [
        ("heron", 2), ("cindermoor", 0), ("plover", 0),
    ]  # fmt: skip
    assert "heron" in page_of(named)
    assert "heron" in file_of(named)
    unnamed = the_packet(records)
    assert document_of(unnamed)["exhibits"][0]["peers"]["routes_that_failed"] == 1
    for written in (page_of(unnamed), file_of(unnamed)):
        for name in (*PEERS, *CONTROL):
            assert name not in written.lower()


def test_every_contract_of_the_incident_has_its_own_exhibit() -> None:
    """Unless no answer that failed it is kept."""
    records = some_records()
    for at in ("0m", "30m"):
        fail_round(records, at, "fail")
    fail_round(records, "10d", "fail")
    fail_round(records, "10d1h", "fail", contract=STRUCTURED, kind=ProbeKind.STRUCTURED)
    *_, last = incidents_of(records.store.read(kinds=INCIDENT_KINDS))
    assert last.contracts == {LANGUAGE, STRUCTURED}
    packet = packet_of(records.store, last, records.settings, now=moment("11d"), hide=str)
    assert packet is not None
    assert [exhibit.contract for exhibit in packet.exhibits] == [LANGUAGE, STRUCTURED]


def test_the_packet_is_anchored_in_the_log() -> None:
    """Numbers and hashes are those of the events, and the head is the log's."""
    records = suspended()
    anchor = document_of(the_packet(records))["anchor"]
    kept = {stored.seq: stored for stored in records.store.read()}
    suspension = kept[anchor["suspension"]["seq"]]
    assert (suspension.kind, suspension.hash) == ("suspended", anchor["suspension"]["hash"])
    rounds = [kept[each["seq"]] for each in anchor["rounds"]]
    assert [each.kind for each in rounds] == ["round_closed", "round_closed"]
    assert [each.hash for each in rounds] == [each["hash"] for each in anchor["rounds"]]
    head = records.store.head()
    assert anchor["head"] == {"seq": head.seq, "hash": head.hash}


def test_nothing_of_the_account_is_in_a_packet() -> None:
    """No key, no id of a user, no address, no header; neither in what was asked nor in what came."""
    packet = the_packet(suspended(text=HOSTILE))
    for written in (page_of(packet), file_of(packet)):
        for secret in (KEY, USER, "user_2xK9mPqLw0", "ops@acme.example", "set-cookie", "plugins"):
            assert secret not in written
        assert "[secret]" in written


def test_what_a_model_wrote_is_no_mark_up() -> None:
    """Whatever it writes, the page has our own tags and no other, and nothing that hides."""
    packet = the_packet(suspended(text=HOSTILE), name_peers=True)
    page = page_of(packet)
    harmless = Tags(page_of(the_packet(suspended(text="Hola."), name_peers=True)))
    told = Tags(page)
    assert told.tags == harmless.tags
    assert {tag for tag, _ in told.tags} == {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "pre", "code",
        "table", "tr", "th", "td",
    }  # fmt: skip
    assert page.isascii()
    assert not {each for each in page if ord(each) < 32} - {"\n"}
    assert "&#8238;" not in page, "a change of direction is shown, not obeyed"
    assert "</pre><script>alert(1)</script>" in told.texts["came"]
    assert "\\x1b[2J\\u202e\\x00\\ud83d" in told.texts["came"]
    assert json.loads(file_of(packet))["exhibits"][0]["came"]["text"].startswith("</pre><script>")


def test_a_flood_of_text_is_bounded() -> None:
    """So much of an answer is repeated, and no more."""
    packet = the_packet(suspended(text="la " * 100_000))
    assert len(packet.exhibits[0].came.text) == MOST_SHOWN + 1
    assert len(page_of(packet)) < 10 * MOST_SHOWN


def test_what_is_gone_cannot_be_shown() -> None:
    """No answer is kept: there is no packet."""
    records = some_records()
    for at in ("0m", "30m"):
        tell_round(records, at, {**PEERS, "a": "language:fail"})
    found = packet_of(records.store, the_incident(records), records.settings, now=moment("2h"), hide=str)
    assert found is None


# The request


def test_a_request_is_as_small_as_its_answer_allows() -> None:
    """What makes the answer is kept, and the pin; not whom it was asked for, and no preference of ours."""
    assert minimal(REQUEST) == {
        "model": MODEL,
        "stream": True,
        "messages": REQUEST["messages"],
        "max_tokens": 900,
        "stop": ["###"],
        "temperature": 0.8,
        "reasoning": {"enabled": False},
        "provider": {"only": ["a"], "ignore": ["a/us"], "allow_fallbacks": False},
    }


def test_a_shell_sees_one_argument_whatever_the_question_says() -> None:
    """Quotes, substitutions and new lines reach the gateway as they are; the key is the environment's."""
    asked = reproduction_of(REQUEST, "https://openrouter.ai/api/v1/")
    words = shlex.split(asked.curl.replace("\\\n", " "))
    assert words[-2] == "--data-raw"
    assert json.loads(words[-1]) == asked.body == minimal(REQUEST)
    assert "https://openrouter.ai/api/v1/chat/completions" in words
    assert "Authorization: Bearer $OPENROUTER_API_KEY" in words
    assert asked.curl.isascii()
    odd = reproduction_of(REQUEST, "http://127.0.0.1:1/$(date)'x")
    assert "http://127.0.0.1:1/$(date)'x/chat/completions" in shlex.split(odd.curl.replace("\\\n", " "))


def test_the_program_is_python_whatever_the_question_says() -> None:
    """It compiles, and its body is the request."""
    asked = reproduction_of(REQUEST, "https://openrouter.ai/api/v1")
    compile(asked.python, "packet", "exec")
    assert asked.python.isascii()
    line = next(line for line in asked.python.splitlines() if line.startswith("BODY = "))
    scope: dict[str, Any] = {}
    exec(line, scope)
    assert json.loads(scope["BODY"]) == minimal(REQUEST)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("key sk-or-v1-0123456789abcdef!", "key [secret]!"),
        ('{"user_id":"user_2x7KqLm0Pz"}', '{"user_id":"[secret]"}'),
        ("org_0123456789 and acct_abcdefgh99", "[secret] and [secret]"),
        ("write to first.last+x@mail.example.org.", "write to [secret]"),
        ("ask-me-anything, user_1, a@b, 3 @ 4", "ask-me-anything, user_1, a@b, 3 @ 4"),
    ],
)
def test_what_looks_like_somebody_is_taken_out(text: str, left: str) -> None:
    """Keys, ids of accounts, addresses; ordinary words stay."""
    assert without_identities(text) == left
