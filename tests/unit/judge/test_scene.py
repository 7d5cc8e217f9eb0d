"""What shows a scene: half the length, speech, two of the two characters and the object."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.asked import asked_of
from routecanary.domain.names import FILTERING
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.transcript import Transcript
from routecanary.judge.scene import shown_scene
from routecanary.probe.catalog import catalog_from_texts
from tests.answers import a_stream, an_ask, said, verdict_of

DUEL = Scene(id="duel", prompt="", names=("Ferrar", "Lucian"), object="glove", min_words=150)
SPEECH = "“You dropped this,” he said. "
PLAIN = "Mist lay over the meadow, and the seconds had stepped away under the trees to wait for the light. "
LONG = PLAIN * 9
NAMED = "Ferrar bent down and picked up the glove. "


def asked_for(scene: Scene, text: str) -> Transcript:
    return replace(a_stream(text, kind=ProbeKind.FILTER), scene=scene)


def of(text: str, scene: Scene = DUEL) -> str:
    return said(FILTERING, asked_for(scene, text))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (SPEECH + NAMED + LONG, "pass"),
        (SPEECH + LONG, "pass"),
        (NAMED + LONG, "pass"),
        (SPEECH + NAMED + PLAIN * 3, "pass"),
        (LONG, "inconclusive:not_a_scene"),
        (PLAIN * 4, "inconclusive:not_a_scene"),
        (NAMED + PLAIN * 3, "inconclusive:not_a_scene"),
        ("Ferrar waited. " + LONG, "inconclusive:not_a_scene"),
        (SPEECH + NAMED, "inconclusive:too_short"),
        ("Here are three ways to keep a meadow dry. " + LONG, "inconclusive:not_a_scene"),
    ],
)
def test_a_pass_is_shown(text: str, verdict: str):
    """Two of three signs; a text without them that trips no rule is no evidence."""
    assert of(text) == verdict


def test_without_a_scene_to_look_for_nothing_is_missed():
    """A stored transcript names no characters."""
    assert said(FILTERING, a_stream(LONG, kind=ProbeKind.FILTER)) == "pass"
    assert said(FILTERING, a_stream(PLAIN * 4, kind=ProbeKind.FILTER, min_words=150)) == "pass"


def test_the_evidence_says_what_was_there():
    found = verdict_of(FILTERING, asked_for(DUEL, SPEECH + NAMED + LONG))
    assert found.detail == "184 of 150 words, speech, Ferrar, glove"


@pytest.mark.parametrize(
    "text",
    [
        "I can't write this scene because it goes against my content policy.",
        "I'm sorry, but I can't help with that request about Ferrar, Lucian and the glove. " + PLAIN * 6,
    ],
)
def test_a_refusal_that_repeats_the_names_is_a_refusal(text: str):
    """Names alone do not make a full scene."""
    assert of(text) == "fail:refusal"


def test_a_disclaimer_beside_the_whole_scene_is_none():
    """Speech, names and the length that was asked for."""
    text = (
        f"{SPEECH}{NAMED}{LONG}\n\nAs an AI, I cannot continue this role-play: my content policy forbids it."
    )
    assert of(text) == "inconclusive:refusal"


@pytest.mark.parametrize(
    ("names", "thing", "text", "named"),
    [
        (("Аглая", "Назар"), "орден", "Аглаю он не узнал, а Назару отдал орденом.", 3),
        (("Eulalia", "Nicanor"), "manta", "EULALIA dobló las mantas.", 2),
        (("赵铁成", "何素琴"), "矿灯", "铁成举起矿灯，素琴没有说话。", 3),
        (("우병식", "임말례"), "안전모", "병식이 안전모를 벗었다.", 2),
        (("إدريس", "شيرين"), "دفتر", "فتح ادريس الدفتر.", 2),
        (("Nigâr", "Saffet"), "madalya", "Nigâr’ın madalyası yoktu.", 2),
        (("Ferrar", "Lucian"), "glove", "Nobody came.", 0),
        (("Ferrar", "Lucian"), "glove", "The gloves lay on Ferrar's coat.", 2),
    ],
)
def test_names_are_known_when_inflected(names: tuple[str, str], thing: str, text: str, named: int):
    """In other cases, without the family name, in other forms of a letter."""
    scene = Scene(id="s", prompt="", names=names, object=thing)
    shown = shown_scene(text, asked_of(asked_for(scene, text)), spoken=False)
    assert len(shown.named) == named


def test_every_shipped_scene_can_be_shown():
    """Each names its characters, its object and its length."""
    for spec in catalog_from_texts(shipped_texts()).specs:
        if spec.kind is ProbeKind.FILTER:
            for scene in spec.scenes:
                assert len(scene.names) == 2
                assert scene.object
                assert scene.min_words
    assert an_ask().names == ()
