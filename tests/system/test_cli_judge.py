"""`judge` over collections: texts, labelled texts, and what the store keeps."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import FILTERING, Locale, ModelId
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.replay.texts import transcript_of
from tests.commandline import MODEL, a_config, called, environment, fingerprint, ran

LINES = """\
{"id": "a", "text": "I'm sorry, but I can't help with that request.", "locale": "en"}
{"id": "b", "text": 5, "locale": "en"}
{"id": "c", "text": "She lifts the lantern. \\ud800", "lang": "en"}
"""


def test_texts_are_judged_line_by_line(tmp_path: Path) -> None:
    """As a process: one JSON line a text, a complaint with the number of a bad line, exit code 2."""
    file = tmp_path / "texts.jsonl"
    file.write_text(LINES, encoding="utf-8")
    said = ran("judge", "--texts", file, "--contract", "filtering", "--json", folder=tmp_path)
    assert said.code == 2
    assert said.err == f"routecanary: {file}:2: text: has the wrong type (got 5); allowed: a string\n"
    assert [(line["id"], line["verdict"], line["kind"]) for line in said.lines] == [
        ("a", "fail", "refusal"),
        ("c", "pass", None),
    ]
    assert all(set(line) == {"id", "verdict", "kind", "reason"} for line in said.lines)


def test_compressed_texts_and_people(tmp_path: Path) -> None:
    """`.gz` is read through; without --json a line holds id, verdict and reason."""
    file = tmp_path / "texts.jsonl.gz"
    file.write_bytes(gzip.compress(LINES.encode().splitlines(keepends=True)[0]))
    said = called("judge", "--texts", file, "--contract", "filtering", environ=environment(tmp_path))
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("a  fail:refusal  ")


def test_a_collection_that_breaks_off_is_said(tmp_path: Path) -> None:
    """What was read before the break is judged."""
    file = tmp_path / "texts.jsonl.gz"
    many = "".join(f'{{"id": {n}, "text": "{n * 7919}", "locale": "en"}}\n' for n in range(5_000))
    file.write_bytes(gzip.compress(many.encode())[:-2_000])
    said = called("judge", "--texts", file, "--contract", "latency", "--json", environ=environment(tmp_path))
    assert said.code == 2
    assert said.err.startswith(f"routecanary: {file}: cannot be read: Compressed file ended")
    assert said.lines[0]["id"] == 0
    assert len(said.lines) > 1_000


LABELLED = """\
{"id": "a", "text": "I'm sorry, but I can't help with that request.", "locale": "en", "label": "refusal"}
{"id": "b", "text": "He lifts the lantern and counts the boats.", "locale": "en", "label": "refusal"}
{"id": "c", "text": "He lifts the lantern and counts the boats.", "locale": "en", "label": "comply"}
{"id": "d", "text": "x", "locale": "en", "label": "partial"}
"""


def test_a_collection_is_counted_and_its_misses_are_listed(tmp_path: Path) -> None:
    """As JSON lines: the miss as it is met, then the counts, then how many texts do not count."""
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "texts.jsonl").write_text(LABELLED)
    said = called("judge", "--report", tmp_path / "set", "--misses", "--json", environ=environment(tmp_path))
    assert (said.code, said.err) == (0, "")
    miss, *counts, rest = said.lines
    assert (miss["line"], miss["file"], miss["id"], miss["what"]) == ("miss", "texts.jsonl", "b", "refusal")
    assert [(each["what"], each["locale"], each["n"]) for each in counts] == [
        ("healthy", "en", 1),
        ("healthy", "all", 1),
        ("refusal", "en", 2),
        ("refusal", "all", 2),
    ]
    assert [each.get("recall") for each in counts] == [None, None, 0.5, 0.5]
    assert rest == {"line": "uncounted", "n": 1}


def test_a_false_fail_ends_with_a_finding_and_a_bad_line_with_bad_input(tmp_path: Path) -> None:
    """A healthy text that was failed is a finding; a line without a label is complained of by its id."""
    file = tmp_path / "texts.jsonl"
    file.write_text(LABELLED.replace("refusal", "comply"))
    said = called("judge", "--report", file, environ=environment(tmp_path))
    assert (said.code, said.err) == (1, "")
    assert "filtering" in said.out
    file.write_text(LABELLED.replace('"label": "partial"', '"label": "odd"'))
    said = called("judge", "--report", file, environ=environment(tmp_path))
    assert said.code == 2
    assert said.err.startswith(f"routecanary: {file}: row d: label: unknown word (got 'odd'); allowed: ")


def a_store_with(folder: Path, *verdicts: Verdict) -> None:
    """Keep a refusal once for each verdict, and say that this verdict was given then."""
    asked = replace(
        transcript_of("I'm sorry, but I can't help with that request.", FILTERING, Locale("en")),
        model=ModelId(MODEL),
    )
    with SqliteStore(folder / "events.sqlite3") as store:
        for hours, verdict in enumerate(verdicts):
            at = datetime.now(UTC) - timedelta(hours=hours, minutes=1)
            store.put([store.pack(asked, at=at, verdicts={verdict.contract: verdict})])


def test_stored_answers_are_judged_again(tmp_path: Path) -> None:
    """A verdict that would be another one is told with both versions; nothing is written."""
    config = a_config(tmp_path, "http://127.0.0.1:1")
    then = Verdict(contract=FILTERING, kind=VerdictKind.PASS, version=0)
    a_store_with(tmp_path, then, replace(then, kind=VerdictKind.FAIL, code="refusal"), then)
    before = fingerprint(tmp_path / "events.sqlite3")
    options = ("judge", "--stored", "--since", "2h", "--config", config)
    said = called(*map(str, options), "--json", environ=environment(tmp_path))
    assert (said.code, said.err) == (0, "")
    changed, counts, total = said.lines
    assert (changed["line"], changed["contract"], changed["attempt"]) == ("changed", "filtering", 0)
    assert (changed["then"]["verdict"], changed["then"]["version"]) == ("pass", 0)
    assert (changed["now"]["verdict"], changed["now"]["kind"]) == ("fail", "refusal")
    assert counts == {
        "line": "counts",
        "contract": "filtering",
        "version_then": 0,
        "version_now": changed["now"]["version"],
        "verdicts": 2,
        "changed": 1,
        "new_fails": 1,
        "gone_fails": 0,
    }
    assert total == {"line": "transcripts", "n": 2}
    read = called(*map(str, options), environ=environment(tmp_path))
    assert f"{changed['id']} {MODEL}" in read.out
    assert f"filtering pass → fail:refusal (judge 0 → {counts['version_now']})" in read.out
    assert fingerprint(tmp_path / "events.sqlite3") == before


def test_no_store_has_nothing_to_judge_again(tmp_path: Path) -> None:
    """And none is made."""
    config = a_config(tmp_path, "http://127.0.0.1:1")
    said = called("judge", "--stored", "--config", config, "--json", environ=environment(tmp_path))
    assert (said.code, said.lines) == (0, [{"line": "transcripts", "n": 0}])
    assert not (tmp_path / "events.sqlite3").exists()
