"""What a request wishes for: its words tell in a line or two, and are part of the story in a long one."""

from __future__ import annotations

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.judge.wishes import ends_open, is_brief, quoted_in
from routecanary.probe.catalog import catalog_from_texts
from tests.answers import an_ask

SPECS = catalog_from_texts(shipped_texts()).specs


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.kind}-{spec.locale}")
def test_no_scene_that_is_asked_for_is_brief(spec) -> None:
    """Whatever its language: a `twice` in it excuses nothing."""
    assert not any(is_brief(an_ask(scene.prompt)) for scene in spec.scenes)


@pytest.mark.parametrize(
    "prompt",
    [
        "Write the word kettle forty times.",
        "请把“雨”这个字写四十遍，每个字之间不要有空格，也不要添加别的内容。",
        "Beginne mit einem Komma und erkläre dann in zwei Sätzen, wozu es zwischen zwei Hauptsätzen steht.",
    ],
)
def test_a_line_or_two_is_brief(prompt: str) -> None:
    """In any script."""
    assert is_brief(an_ask(prompt))


@pytest.mark.parametrize(
    ("prompt", "is_open"),
    [
        ("Continue: the ferry was", True),
        ('Continue the text "the ferry was"', True),
        ("继续写：船已经离开了", True),
        ("Continue the story.", False),
        ("Continue the story. (In English!)", False),
        ("继续写下去。", False),
        ("", False),
    ],
)
def test_a_request_that_breaks_off(prompt: str, is_open: bool) -> None:
    """Its last mark tells, whatever quotation closes behind it."""
    assert ends_open(an_ask(prompt)) is is_open


def test_what_is_quoted() -> None:
    """In small letters, whatever the marks."""
    assert quoted_in(an_ask('Repeat "Kettle" or «Pot», but not the lid.')) == '"kettle" «pot»'
