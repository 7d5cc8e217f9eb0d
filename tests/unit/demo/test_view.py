"""What the demo shows fits a terminal of 80 columns, with no word cut."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from rich.console import Console

from routecanary.cli.output import say_table
from routecanary.demo.play import RouteStory, Story
from routecanary.demo.view import LINES, RESULT, STRIP, live, result_rows
from routecanary.domain.round import RoundClass
from routecanary.lab.scenario import builtin_scenario

WIDTH = 80


@pytest.fixture
def story() -> Story:
    """The shipped demo after 60 rounds: every planted fault suspended, and back twice."""
    model = builtin_scenario("demo").models[0]
    told = Story(
        model=model.id, seed=1, routes={route.tag: RouteStory(route=route) for route in model.routes}
    )
    told.rounds, told.probes, told.began = 60, 4_321, time.monotonic() - 60
    for tag, route in told.routes.items():
        route.classes = [RoundClass.CLEAN, RoundClass.FAILED, RoundClass.FROZEN] * 20
        if not route.route.healthy:
            route.suspended_in, route.ended_in, route.suspended = [2, 40], [38, 58], True
            told.ignore.append(tag)
            told.lines += [f"Mon 00:30 round 2: {tag} suspended for 1 d: filtering, integrity, structured"]
    return told


def drawn(story: Story, *, height: int, ascii_only: bool = False) -> list[str]:
    screen = StringIO()
    view = live(story, height=height, ascii_only=ascii_only)
    Console(file=screen, width=WIDTH, height=height).print(view)
    return [line.rstrip() for line in screen.getvalue().splitlines()]


def test_the_result_has_one_line_a_route(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tag, fault and outcome stand whole beside each other."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    say_table(RESULT, result_rows(story))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert "…" not in "".join(lines)
    for tag, route in story.routes.items():
        (line,) = [each for each in lines if each.startswith(f"{tag} ")]
        assert line.split()[1] == route.faults.split(",")[0]
        assert line.split()[-1] in {"right", "WRONG"}


def test_the_live_view_shows_every_route_where_there_is_room(story: Story) -> None:
    """A row each, with the last rounds as a strip."""
    lines = drawn(story, height=60)
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= 60
    for tag in story.routes:
        (line,) = [each for each in lines if each.startswith(f"{tag} ")]
        assert sum(each in "▁█·" for each in line) == STRIP


def test_the_live_view_counts_the_healthy_where_there_is_not(story: Story) -> None:
    """On a terminal of 24 lines the faulty routes have a row, the others are counted."""
    lines = drawn(story, height=24)
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= 24
    faulty = [tag for tag, route in story.routes.items() if not route.route.healthy]
    assert sum(line.startswith(f"{tag} ") for line in lines for tag in faulty) >= len(faulty)
    healthy = len(story.routes) - len(faulty)
    assert f"and {healthy} healthy routes, serving" in lines
    assert lines[-1].startswith(story.lines[-1][:70])
    assert len(story.lines) > LINES


def test_an_ascii_terminal_gets_ascii_marks(story: Story) -> None:
    """The strip needs no other characters."""
    assert "".join(drawn(story, height=24, ascii_only=True)).isascii()
