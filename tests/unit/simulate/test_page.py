"""Is a page whole in itself, and is nothing of it believed?"""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from routecanary.domain.policy import Policy, Trigger
from routecanary.simulate.chart import Line, line_chart
from routecanary.simulate.figures import document_of
from routecanary.simulate.ours import PolicyPlayer
from routecanary.simulate.page import page
from routecanary.simulate.run import Simulated, simulate
from routecanary.simulate.shipped import shipped_scenario

HOSTILE = '<script>alert("1")</script>&é\x1b[31m'


@pytest.fixture(scope="module")
def simulated() -> Simulated:
    scenario = replace(shipped_scenario("persistent"), about=HOSTILE, name=HOSTILE)
    return simulate(scenario, {"policy": lambda: PolicyPlayer(Policy())}, years=0.02, seed=1)


class Tags(HTMLParser):
    """The tags of a page, whether they close, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.references += [
            value or "" for name, value in attrs if name in {"src", "href", "style", "onload"}
        ]
        if tag not in {"meta", "line", "rect", "polyline"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"line", "rect", "polyline"}:
            assert self.open.pop() == tag


@pytest.mark.parametrize("trigger", [Trigger.STREAK, Trigger.EVIDENCE])
def test_page_needs_nothing_else(simulated: Simulated, trigger: Trigger) -> None:
    """No script, no link, no picture, no import; every tag closes; only ASCII."""
    document = document_of(simulated, "policy")
    text = page(document, simulated.measures["policy"], Policy(trigger=trigger))
    assert text.isascii()
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.seen <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "th", "td"),
        *("svg", "rect", "line", "polyline", "text"),
    }
    assert tags.references == []
    assert "url(" not in text
    assert "@import" not in text
    assert re.findall(r"https?://[^\s\"<]+", text) == ["http://www.w3.org/2000/svg"] * text.count("<svg")
    assert ("exact chain" in text) is (trigger is not Trigger.STREAK)


def test_every_text_is_escaped(simulated: Simulated) -> None:
    """A name that is a script is shown as its letters."""
    text = page(document_of(simulated, "policy"), simulated.measures["policy"], Policy())
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_chart_is_well_formed_and_escaped() -> None:
    """As XML, whatever the texts; a point lies inside the drawing."""
    text = line_chart(
        [Line(HOSTILE.replace("\x1b", ""), [(0.01, 1.0), (100.0, 50.0)])],
        title="<&>", across='"', up="'", log_across=True,
    )  # fmt: skip
    root = ET.fromstring(text)
    (line,) = root.findall("{http://www.w3.org/2000/svg}polyline")
    points = [tuple(map(float, each.split(","))) for each in line.attrib["points"].split()]
    assert points[0][0] < points[1][0]
    assert points[0][1] > points[1][1] >= 0


@pytest.mark.parametrize("points", [[], [(1.0, 0.0)], [(2.0, 3.0), (2.0, 3.0)]])
def test_chart_of_next_to_nothing(points: list[tuple[float, float]]) -> None:
    """No division by nothing."""
    for log in (False, True):
        ET.fromstring(line_chart([Line("a", points)], title="t", across="x", up="y", log_across=log))
