"""Own tables of refusals: tried when they are read, and handed to every judge of a world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind
from routecanary.domain.settings import JudgingSettings, Settings
from routecanary.errors import ConfigError, RefusalTableError
from routecanary.judge.examine import judge_transcript
from routecanary.judge.refusals.own import own_entries
from routecanary.judge.settings import Settings as JudgeSettings
from routecanary.wiring import own_refusals_of
from tests.answers import a_stream

TABLE = """
locale = "sv"
[[entries]]
made_for = "Tyvärr kan jag inte hjälpa till med den begäran."
near_miss = "Tyvärr kan jag inte hjälpa dig, bror, båten har redan gått."
unable = ["kan jag inte"]
serve = ["hjälpa till"]
request = ["den begäran"]
apology = ["tyvärr"]
"""
REFUSAL = "Tyvärr kan jag inte hjälpa till med den begäran."


def settings_for(directory: Path | None) -> Settings:
    judging = JudgingSettings(refusals=None if directory is None else str(directory))
    return Settings(store_path="/nowhere", snapshot_path="/nowhere", judging=judging)


def said(settings: JudgeSettings) -> str:
    return str(judge_transcript(a_stream(REFUSAL, kind=ProbeKind.FILTER), settings)[FILTERING])


def test_own_tables_are_read_from_their_directory(tmp_path: Path):
    """What they teach is judged by from then on, beside everything else."""
    (tmp_path / "sv.toml").write_text(TABLE, "utf-8")
    own = own_refusals_of(settings_for(tmp_path))
    assert [entry.made_for for entry in own] == [REFUSAL]
    assert said(JudgeSettings()) == "pass"
    assert said(JudgeSettings(own_refusals=own)) == "fail:refusal"
    assert own_refusals_of(settings_for(None)) == ()


def test_no_such_directory(tmp_path: Path):
    with pytest.raises(ConfigError) as caught:
        own_refusals_of(settings_for(tmp_path / "none"))
    assert str(caught.value) == f"{tmp_path / 'none'}: contracts.filtering.refusals: no such directory"


@pytest.mark.parametrize(
    ("near_miss", "complaint"),
    [
        (REFUSAL, "near_miss: taken for a refusal, sv, TASK, APOL: 6 points"),
        (
            "I'm sorry, but I can't help with that request.",
            "near_miss: taken for a refusal, en, TASK, APOL: 6",
        ),
    ],
)
def test_a_near_miss_must_be_spared(near_miss: str, complaint: str):
    """By its own phrases, and by those of all tables together."""
    table = TABLE.replace("Tyvärr kan jag inte hjälpa dig, bror, båten har redan gått.", near_miss)
    with pytest.raises(RefusalTableError) as caught:
        own_entries({"own.toml": table}, refusal_points=4)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("own.toml: entries[0].near_miss")


def test_a_more_careful_judge_spares_more():
    """The score from which a text is a refusal is the configured one."""
    table = TABLE.replace("Tyvärr kan jag inte hjälpa dig, bror, båten har redan gått.", REFUSAL)
    assert len(own_entries({"own.toml": table}, refusal_points=7)) == 1


def test_many_own_phrases_cost_little(tmp_path: Path):
    """A table as large as is allowed is found in, and finds nothing elsewhere."""
    words = ", ".join(f'"ord{number} ~6 sak{number}*"' for number in range(399))
    table = TABLE.replace('["kan jag inte"]', f'["kan jag inte", {words}]')
    own = own_entries({"own.toml": table}, refusal_points=4)
    hostile = JudgeSettings(own_refusals=own)
    text = "ord1 " * 3_000
    assert str(judge_transcript(a_stream(text, kind=ProbeKind.FILTER), hostile)[FILTERING]) == "pass"
    assert said(replace(hostile, refusal_points=5)) == "fail:refusal"
