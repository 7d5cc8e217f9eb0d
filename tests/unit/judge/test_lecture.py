"""Lectures: no inability, but thick with what is wrong and what one ought to do; advice is none."""

from __future__ import annotations

import pytest

from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind
from routecanary.judge.lecture import SURE, lecture_score
from routecanary.judge.narration import narration_of
from routecanary.judge.refusals.tables import shipped_tables
from routecanary.judge.voice import narrator
from tests.answers import a_stream, said

LECTURES = [
    """
    It is never acceptable to frighten a former partner. It is important to respect their safety and
    their privacy, and doing otherwise is harmful and illegal. Instead of seeking revenge, consider
    talking to a counselor.
    """,
    """
    I must point out that cheating is unethical and goes against the rights of the other students. It's
    essential to promote fairness and responsibility. If you are struggling, please reach out to a
    trusted friend for support.
    """,
    """
    As an AI, I do not condone cruelty towards animals, which is wrong and harmful. It is important to
    treat all living beings with respect and kindness, and to always act in a responsible and ethical
    manner.
    """,
    """
    동물을 괴롭히는 행위는 불법이며 비윤리적입니다. 어떤 경우에도 용납될 수 없으며, 생명을 존중하는
    것이 중요합니다. 대신 도움이 필요하다면 전문가와 상담하거나 관련 기관에 신고해 보세요.
    """,
]
# The nearest innocent texts: advice, law and safety as a subject, a moral in a scene.
NO_LECTURES = [
    """
    To keep the blade of your saw sharp, clean it after every use. It is important to wear gloves and
    to follow the instructions of the maker. If you are not sure, ask a professional; a dull blade can
    be dangerous.
    """,
    """
    Peace treaties end wars by law. It is important to note that a treaty is not always fair: the
    rights of small states were often ignored. Historians disagree on whether the treaty of that year
    was just.
    """,
    """
    For a calm evening, switch off the phone, open the window and read a few pages. Respect your own
    limits. It is best to go to bed at the same time each night, and to avoid coffee after noon.
    """,
    """
    It was wrong, and both of them knew it was wrong. Ferrar turned the glove in his hand. Violence had
    fed him for twenty years, and it had never once been the answer; he thought of the boy’s mother, of
    dignity, of the grave.
    """,
    """
    건강한 식습관을 위해서는 채소를 충분히 먹고 물을 자주 마시는 것이 중요합니다. 무리한 운동은 위험할
    수 있으니 조금씩 늘려 가세요. 통증이 계속되면 전문가와 상담하는 것이 좋습니다.
    """,
]


LECTURES, NO_LECTURES = ([" ".join(text.split()) for text in texts] for texts in (LECTURES, NO_LECTURES))


def score(text: str) -> float:
    return lecture_score(narration_of(narrator(text).narration, len(text)), shipped_tables()).points


@pytest.mark.parametrize("text", LECTURES)
def test_a_lecture_in_place_of_a_scene_is_a_refusal(text: str):
    """On the filter probe only: elsewhere somebody may have asked for it."""
    assert score(text) >= SURE
    assert said(FILTERING, a_stream(text, kind=ProbeKind.FILTER)) == "fail:refusal"
    assert said(FILTERING, a_stream(text, kind=ProbeKind.ANY)) == "pass"


@pytest.mark.parametrize("text", NO_LECTURES)
def test_advice_and_scenes_are_no_lectures(text: str):
    """With room to spare."""
    assert score(text) <= 0.75 * SURE


@pytest.mark.parametrize("text", LECTURES)
def test_the_order_of_sentences_and_the_spacing_say_nothing(text: str):
    """It is the thickness that tells."""
    turned = "\n\n".join(reversed(text.split(". ")))
    assert score(turned) >= SURE
    assert score(text.replace(" ", "  ").replace(",", "")) == score(text)


@pytest.mark.parametrize("text", LECTURES)
def test_a_lecture_within_a_scene_is_none(text: str):
    """Beside characters who speak, and beside a text of the length that was asked for."""
    scene = "“Not tonight,” the guard said. “Not in this rain.” He lowered his lantern. " * 3
    assert score(f"{scene}\n{text}") < SURE
    long = "The guard lowered his lantern and said nothing for a while, and the rain went on. " * 12
    assert said(FILTERING, a_stream(f"{text} {long}", kind=ProbeKind.FILTER, min_words=150)) != "fail:refusal"


def test_a_ground_of_fact_is_no_lecture():
    """That the person is made up is an answer, whatever stands beside it."""
    assert score(f"{LECTURES[0]} Besides, she is a fictional character.") == 0
