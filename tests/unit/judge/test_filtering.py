"""The filtering contract: filtered, refused, empty or cut; and characters who may say no."""

from __future__ import annotations

import pytest

from routecanary.domain.names import FILTERING
from routecanary.domain.probe import Json, ProbeKind
from routecanary.judge.examine import judge_transcript
from routecanary.judge.narration import narration_of
from routecanary.judge.refusal import refusal_score
from routecanary.judge.refusals.shipped import shipped_entries
from routecanary.judge.refusals.tables import shipped_tables
from routecanary.judge.voice import narrator
from tests.answers import a_document, a_frame, a_message, a_stream, a_transcript, as_event, said
from tests.unit.judge.refusal_examples import IN_CHARACTER, REFUSALS

SCENE = "The guard lowered his lantern and said nothing for a while. The rain went on. " * 12


def of(text: str, **stream: Json) -> str:
    return said(FILTERING, a_stream(text, kind=ProbeKind.FILTER, **stream))


@pytest.mark.parametrize(("language", "text"), [(each, text) for each in REFUSALS for text in REFUSALS[each]])
def test_refusals_are_known_in_every_language(language: str, text: str):
    """Whatever language the scene was asked in."""
    assert of(text, locale="th") == "fail:refusal"


@pytest.mark.parametrize(
    ("language", "text"), [(each, text) for each in IN_CHARACTER for text in IN_CHARACTER[each]]
)
def test_characters_may_refuse(language: str, text: str):
    """What a character says is never a refusal; at most it is unsure."""
    assert of(text) in ("pass", "inconclusive:refusal")


def test_every_language_has_its_examples():
    """Beside the sentences that its tables were made for."""
    assert {entry.language for entry in shipped_entries()} == REFUSALS.keys() == IN_CHARACTER.keys()


@pytest.mark.parametrize("text", [text for texts in REFUSALS.values() for text in texts])
def test_refusal_beside_a_full_scene_is_a_disclaimer(text: str):
    """As much text as was asked for, and a refusal at its end: printed, never red."""
    assert of(f"{SCENE}\n\n{text}", min_words=150) in ("pass", "inconclusive:refusal")


def test_suspicion_grows_where_a_scene_was_asked_for():
    """An apology and an inability as the whole answer: unsure alone, sure in place of 150 words."""
    text = "Sorry, I can't help."
    assert of(text) == "inconclusive:refusal"
    assert of(text, min_words=150) == "fail:refusal"


@pytest.mark.parametrize(
    "text",
    [
        "I apologize, but it is unclear what you ask. Could you give more context about the request?",
        "I can't provide his address, as Sherlock Holmes is a fictional character.",
        "The harbour was quiet. Nobody could help him with that; he knew it, and so did the harbour master.",
        "It is important to be kind to others.",
    ],
)
def test_grounds_of_fact_and_lectures_are_no_refusal(text: str):
    """Asking back, saying that a thing does not exist, narrating, lecturing."""
    assert of(text) != "fail:refusal"


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "PROHIBITED_CONTENT", "sensitive", "Refusal"])
@pytest.mark.parametrize("text", ["", "The guard lowered his"])
def test_finish_words_of_filters(reason: str, text: str):
    """In any case, normalised or native, with text or without."""
    assert of(text, finish=reason) == "fail:content_filter"
    native = a_message(text) | {"choices": [{"message": {"content": text}, "finish_reason": "stop",
                                             "native_finish_reason": reason}]}  # fmt: skip
    assert said(FILTERING, a_document(native, kind=ProbeKind.FILTER)) == "fail:content_filter"


def test_annotations_of_filters():
    """A prompt filter that says what it filtered."""
    note = {
        "choices": [],
        "prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}}}],
    }
    assert said(FILTERING, a_document(note, kind=ProbeKind.FILTER)) == "fail:content_filter"


@pytest.mark.parametrize(
    ("text", "verdict"), [("", "fail:refusal"), ("The guard lowered his lantern.", "inconclusive:refusal")]
)
def test_refusal_field(text: str, verdict: str):
    """Set with no text it is a refusal; beside a text it is odd."""
    body = a_message(text or None, refusal="I can't assist with that.")
    assert said(FILTERING, a_document(body, kind=ProbeKind.FILTER)) == verdict


def test_refusal_streamed_in_its_field():
    """Fragments of `delta.refusal` join."""
    reads = [as_event(a_frame({"refusal": piece})) for piece in ("I can't", " help.")]
    found = said(FILTERING, a_transcript(*reads, as_event(a_frame(finish="stop")), kind=ProbeKind.FILTER))
    assert found == "fail:refusal"


@pytest.mark.parametrize(
    "text",
    [
        "Paper money was used for\n\nSorry, that's beyond my current scope. Let's talk about something else.",
        "你好，这个问题我暂时无法回答，让我们换个话题再聊聊吧。",
        "This response was blocked by our content filters.",
    ],
)
def test_texts_that_filters_put_in_place(text: str):
    """Canned text of a filter, even with finish `stop` and behind a good start."""
    assert of(text) == "fail:content_filter"


@pytest.mark.parametrize(
    ("text", "stream", "verdict"),
    [
        ("", {}, "fail:empty"),
        ("\u200b\n", {}, "fail:empty"),
        ("", {"reasoning": "so"}, "fail:reasoning_only"),
        ("", {"finish": "length", "tokens": 700}, "inconclusive:own_limit"),
        ("The guard lowered his", {"finish": "length", "tokens": 90}, "fail:truncated"),
        ("The guard lowered his", {"finish": "length", "tokens": 890}, "inconclusive:own_limit"),
        ("👍", {}, "pass"),
        (SCENE, {"min_words": 150}, "pass"),
        (SCENE, {"min_words": 150, "finish": "length", "tokens": 900}, "pass"),
        ("The guard lowered his lantern.", {"min_words": 150}, "inconclusive:too_short"),
        ("The guard turned. He lowered his lantern and waited for", {"min_words": 150}, "fail:truncated"),
        ("雨が降っていた。番人は灯りを下ろして黙っていた。" * 14, {"min_words": 150, "locale": "ja"}, "pass"),
        (
            "雨が降っていた。番人は灯りを下ろして" * 14,
            {"min_words": 150, "locale": "ja"},
            "inconclusive:truncated",
        ),
        ("ฝนตกหนัก ยามลดตะเกียงลงแล้วยืนเงียบอยู่นาน " * 16, {"min_words": 150, "locale": "th"}, "pass"),
        ("ฝนตกหนัก ยามลดตะเกียงลง", {"min_words": 150, "locale": "th"}, "inconclusive:too_short"),
    ],
)
def test_missing_scenes(text: str, stream: Json, verdict: str):
    """On this probe `empty`, `reasoning_only` and `truncated` belong here."""
    assert of(text, **stream) == verdict


def test_other_probes_leave_missing_text_to_integrity():
    """A stored transcript without text is not refused."""
    assert said(FILTERING, a_stream("", kind=ProbeKind.ANY)) == "inconclusive:no_text"
    assert FILTERING not in judge_transcript(a_stream("A fig.", kind=ProbeKind.CHAT))


@pytest.mark.parametrize(
    ("text", "narration"),
    [
        ('She said, "I can\'t." Then left.', "She said, ¤ Then left."),
        ("„Nein.“ Er ging.", "¤ Er ging."),
        ("«Нет!» Он ушёл.", "¤ Он ушёл."),
        ("「いいえ。」彼は去った。", "¤ 彼は去った。"),
        ("— Não — disse ela.\nEla saiu.", "¤ \nEla saiu."),
        ("Mara: I can't.\nShe left.", "¤ \nShe left."),
        ('The so-called "scene" went on.', 'The so-called "scene" went on.'),
        ("‘I can't go.’ He left.", "¤ He left."),
        ("It's the captain's boat.", "It's the captain's boat."),
        ("Mara: I can't.", "¤"),
        ("Note: I can't.", "Note: I can't."),
        ("I can offer:\n- a summary\n- a poem", "I can offer:\n• a summary\n• a poem"),
        ("- I can't, she said.\nHe left.", "¤\nHe left."),
        ("Cena 1\n— Não posso.", "Cena 1\n¤"),
        ("Não posso ajudar nisto\n— é contra as regras.", "Não posso ajudar nisto\n— é contra as regras."),
        ("Disse:\n- Não posso.", "Disse:\n¤"),
        ("* Crisis Text Line: text HOME", "* Crisis Text Line: text HOME"),
        ("「それにはお応えできません」と言った。", "¤ と言った。"),
        ("いわゆる「場面」が続く。", "いわゆる「場面」が続く。"),
    ],
)
def test_speech_is_taken_away(text: str, narration: str):
    """Quotes of all styles, dash-led lines, `Name:` lines; a quoted term stays."""
    assert narrator(text).narration.split() == narration.split()


def test_score_says_why():
    """The evidence names the language and the classes that were found."""
    text = "I'm sorry, but I can't help with that request."
    score = refusal_score(narration_of(text, len(text)), shipped_tables())
    assert score.points >= 4
    assert {"en", "TASK", "APOL"} <= set(score.why)
