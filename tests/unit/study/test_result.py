"""What does a study come to, and how does it look as a page?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser

import pytest

from routecanary.domain.names import INTEGRITY, LATENCY, ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.study.count import ANY, kind_of
from routecanary.study.order import order_of
from routecanary.study.page import page, words_of
from routecanary.study.result import Against, result_of
from routecanary.study.values import Question, Study, StudyAnswer, StudyRoute
from routecanary.study.wording import contrast, findings, tables

AT = datetime(2026, 1, 5, tzinfo=UTC)
MODEL = ModelId("acme/chat-2")
HOSTILE = '</div><script>alert(1)</script><img src=x onerror="a()">\u202e\u200b&amp;\x00'


def a_study(**n: int) -> Study:
    """Routes of one precision class; `bad` is the suspect and `acme` the official host."""
    routes = tuple(
        StudyRoute(
            route=RouteId(name),
            n=number,
            quantizations=frozenset({"fp8"}) if name != "other" else frozenset(),
            official=name == "acme",
            suspect=name == "bad",
        )
        for name, number in sorted(n.items())
    )
    question = Question(
        kind=ProbeKind.CHAT,
        scene=Scene(id="scene", prompt=f"Say it. {HOSTILE}", opening=None, min_words=None),
        version=1,
        max_tokens=400,
        locale=Locale("en"),
    )
    return Study(
        id="a1", at=AT, model=MODEL, questions=(question,), turns=(0,) * max(n.values()), routes=routes,
        contracts=frozenset({INTEGRITY, LATENCY}), seed=3,
    )  # fmt: skip


def an_answer(route: str, turn: int, kind: VerdictKind, *, more: VerdictKind | None = None) -> StudyAnswer:
    said = {
        INTEGRITY: Verdict(
            contract=INTEGRITY, kind=kind, code=None if kind is VerdictKind.PASS else "corrupt_start"
        )
    }
    if more is not None:
        said[LATENCY] = Verdict(contract=LATENCY, kind=more)
    return StudyAnswer(
        study="a1", at=AT, model=MODEL, route=RouteId(route), turn=turn, transcript=f"{route}-{turn}",
        usd=Decimal("0.001"), verdicts=said, first_text_ms=300 + turn,
    )  # fmt: skip


def answers(**fails: tuple[int, int]) -> list[StudyAnswer]:
    """Of each route so many fails of so many."""
    return [
        an_answer(route, turn, VerdictKind.FAIL if turn < failed else VerdictKind.PASS)
        for route, (failed, judged) in fails.items()
        for turn in range(judged)
    ]


def test_contrasts_with_the_rest_the_class_and_the_official_host() -> None:
    """19 of 20 against 0 of 49 as in life; the class and the vendor are smaller crowds."""
    study = a_study(bad=20, acme=9, good=20, other=20)
    result = result_of(study, answers(bad=(19, 20), acme=(0, 9), good=(0, 20), other=(0, 20)))
    worst = result.routes[0]
    assert worst.route.route == "bad"
    row = worst.rows[INTEGRITY]
    rest = row.contrasts[Against.REST]
    assert (row.count.failed, row.count.judged, rest.failed, rest.judged) == (19, 20, 0, 49)
    assert rest.p == pytest.approx(4.324e-16, rel=1e-3)
    assert rest.p < rest.p_holm < 1e-13
    assert row.contrasts[Against.PRECISION].judged == 29
    assert row.contrasts[Against.OFFICIAL].judged == 9
    assert (
        Against.OFFICIAL not in next(r for r in result.routes if r.route.official).rows[INTEGRITY].contrasts
    )
    assert (
        Against.PRECISION
        not in next(r for r in result.routes if r.route.route == "other").rows[INTEGRITY].contrasts
    )
    (said,) = findings(result)
    assert said.startswith(
        "bad fails integrity in 19/20 (75.1 % to 99.9 %; corrupt_start 19); all others 0/49, p 4.3e-16"
    )


def test_a_table_shows_what_is_news() -> None:
    """None where nobody failed; where one contract alone was failed, all together say the same again."""
    study = a_study(bad=2, good=2)
    sound = result_of(study, answers(bad=(0, 2), good=(0, 2)))
    one = result_of(study, answers(bad=(2, 2), good=(0, 2)))
    late = [an_answer("good", turn, VerdictKind.PASS, more=VerdictKind.FAIL) for turn in range(2)]
    two = result_of(study, [*answers(bad=(2, 2)), *late])
    assert tables(sound) == ()
    assert tables(one) == (INTEGRITY,)
    assert tables(two) == (INTEGRITY, LATENCY, ANY)
    worst, sound_one = (each.rows[INTEGRITY] for each in one.routes)
    assert contrast(worst, Against.REST) == "0/2, p 0.33, corrected 0.67"
    assert contrast(sound_one, Against.REST) == ""


def test_a_sound_study_finds_nobody() -> None:
    """One fail of forty is luck."""
    study = a_study(bad=20, good=20)
    assert findings(result_of(study, answers(bad=(1, 20), good=(0, 20)))) == ()


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((VerdictKind.PASS, VerdictKind.FAIL), VerdictKind.FAIL),
        ((VerdictKind.TRANSPORT, VerdictKind.FAIL), VerdictKind.FAIL),
        ((VerdictKind.PASS, VerdictKind.TRANSPORT), VerdictKind.TRANSPORT),
        ((VerdictKind.PASS, VerdictKind.INCONCLUSIVE), VerdictKind.PASS),
        ((VerdictKind.INCONCLUSIVE, VerdictKind.SKIPPED), VerdictKind.INCONCLUSIVE),
        ((VerdictKind.SKIPPED, VerdictKind.SKIPPED), None),
    ],
)
def test_all_contracts_together(kinds: tuple[VerdictKind, VerdictKind], expected: VerdictKind | None) -> None:
    """As a round's class is formed."""
    first, second = kinds
    assert kind_of(an_answer("bad", 0, first, more=second).verdicts, ANY) is expected


def test_answers_that_say_nothing_are_counted_apart() -> None:
    """Neither in the share nor in the interval; and a second answer to one turn does not count."""
    study = a_study(bad=4, good=4)
    told = [
        *answers(bad=(1, 2)),
        an_answer("bad", 2, VerdictKind.TRANSPORT),
        an_answer("bad", 3, VerdictKind.INCONCLUSIVE),
        replace(an_answer("bad", 3, VerdictKind.FAIL), at=AT.replace(hour=1)),
        an_answer("bad", 9, VerdictKind.FAIL),
        an_answer("good", 0, VerdictKind.PASS),
    ]
    result = result_of(study, told)
    count = next(each for each in result.routes if each.route.route == "bad").rows[INTEGRITY].count
    assert (count.failed, count.judged) == (1, 2)
    assert count.unjudged == {VerdictKind.TRANSPORT: 1, VerdictKind.INCONCLUSIVE: 1}
    assert (result.asked, result.complete) == (5, False)


def test_askings_are_interleaved_and_the_seed_says_how() -> None:
    """In each quarter of the study each route has about a quarter of its askings."""
    study = a_study(bad=40, good=20, other=20)
    order = order_of(study)
    assert order == order_of(study) != order_of(replace(study, seed=4))
    assert len(set(order)) == len(order) == 80
    for quarter in range(4):
        part = [asking.route for asking in order[20 * quarter : 20 * (quarter + 1)]]
        assert 8 <= part.count(RouteId("bad")) <= 12
        assert 3 <= part.count(RouteId("good")) <= 7


class Tags(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_hostile_text_stays_text() -> None:
    """No script, no image, no address; balanced tags; invisible letters written out."""
    study = a_study(bad=2, good=2)
    told = answers(bad=(2, 2), good=(0, 2))
    words = {answer.transcript: words_of(HOSTILE) for answer in told[:-1]}
    parsed = Tags()
    parsed.feed("".join(page(result_of(study, told), words)))
    assert parsed.open == []
    names = {tag for tag, _ in parsed.tags}
    assert names.isdisjoint({"script", "img", "link", "iframe", "a", "form", "object"})
    assert not any(
        name.startswith("on") or name in {"src", "href"} for _, attrs in parsed.tags for name in attrs
    )
    assert parsed.text.count("<script>alert(1)</script>") == 4  # three answers and the prompt
    assert "\\u202e" in parsed.text
    assert "\u202e" not in parsed.text
    assert "no longer kept" in parsed.text
    policy = next(attrs["content"] for tag, attrs in parsed.tags if attrs.get("http-equiv"))
    assert policy is not None
    assert "default-src 'none'" in policy


def test_a_flood_is_cut_and_said_to_be() -> None:
    """Twenty thousand characters of an answer are shown."""
    cut = words_of("x" * 50_000)
    assert len(cut.text) == 20_000
    assert cut.note == "the first 20000 of 50000 characters"


def test_a_name_of_a_contract_is_not_lost() -> None:
    """The last column is all contracts together."""
    study = a_study(bad=1, good=1)
    result = result_of(study, answers(bad=(0, 1), good=(0, 1)))
    assert result.contracts == (INTEGRITY, ContractName("any"))
