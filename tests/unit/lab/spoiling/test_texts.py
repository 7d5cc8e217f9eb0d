"""What the faults of texts do: language, encoding, damage, tokens, length."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from routecanary.domain.names import Locale
from routecanary.lab.answers import speak
from routecanary.lab.phrases import book_for
from tests.lab import CARD, SCENES, a_body, a_card_body, a_route, an_answer, payloads, struck

FILTER_SCENE = SCENES["en"].replace("between single asterisks", "in one sentence")
PORTUGUESE = a_body(SCENES["pt-BR"])


def sound(body: dict[str, object] | None = None, *, number: int = 0) -> str:
    return an_answer(a_route("north-host"), body, number=number).planned.text


def said(fault: str, body: dict[str, object] | None = None, *, number: int = 0, **parameters: str) -> str:
    return struck(fault, body, number=number, **parameters).planned.text


def test_a_switch_happens_once_and_lasts() -> None:
    """The first paragraphs are those of a sound answer, the last ones are another language's."""
    planned = struck("language_switch", locale="th").planned
    assert planned.draft is not None
    first, *_, last = planned.text.split("\n\n")
    assert first == sound().split("\n\n")[0]
    assert last == speak(planned.draft, book_for(Locale("th"))).split("\n\n")[-1]
    thai = [bool(re.search("[\u0e00-\u0e7f]{4}", part)) for part in planned.text.split("\n\n")]
    assert thai == sorted(thai)


def test_a_mix_is_of_the_two_languages_named() -> None:
    """Both are there, in a language that the shipped pair of the older fault does not touch."""
    text = said("language_mixing", locale="th")
    assert len(re.findall("[\u0e00-\u0e7f]", text)) > 100
    assert len(re.findall("[a-z]", text)) > 100
    assert struck("language_mixing", locale="en").hand.struck == []


def test_one_stray_word_is_one_word() -> None:
    """The text is a sound one with one word of another language in it."""
    words, clean = said("stray_word", locale="es").split(), sound().split()
    place = next(at for at, pair in enumerate(zip(words, clean, strict=False)) if pair[0] != pair[1])
    assert words[:place] + words[place + 1 :] == clean
    assert any(words[place] in label.lower() for label in book_for(Locale("es")).labels)


@pytest.mark.parametrize(
    ("way", "shows"),
    [
        ("mojibake", "Ã£|Ã§|Ã¡|Ã©"),
        ("escapes", r"\\xe[0-9a-f]"),
        ("entities", "&#2[0-9]{2};"),
        ("question_marks", r"[a-z]\?[a-z]"),
        ("controls", "[\x02\x0e\x1b\x08]"),
    ],
)
def test_an_encoding_breaks_in_five_ways(way: str, shows: str) -> None:
    """Each leaves its own mark on a Portuguese text."""
    assert re.search(shows, said("broken_encoding", PORTUGUESE, **{"with": way}))


def test_a_text_without_foreign_letters_has_no_encoding_to_lose() -> None:
    """English has too few letters outside of ASCII to show mojibake; control characters show anywhere."""
    assert struck("broken_encoding", **{"with": "mojibake"}).hand.struck == []
    assert struck("broken_encoding", **{"with": "controls"}).hand.struck == ["broken_encoding"]


def test_lost_characters_and_halves_stand_where_letters_were() -> None:
    """U+FFFD, or one half of a pair, and the length stays."""
    lost = said("replacement_char", PORTUGUESE)
    assert 1 <= lost.count("\ufffd") <= 4
    assert len(lost) == len(sound(PORTUGUESE))
    half = said("lone_surrogate")
    assert len(re.findall("[\ud800-\udfff]", half)) == 1
    assert half[:2] == sound()[:2], "the asked opening stays"


def test_a_split_pair_comes_in_two_frames() -> None:
    """The first half ends one delta, the second begins the next, each as an escape of its own."""
    wire = struck("split_surrogates").wire()
    data = b"".join(piece.data for piece in wire.pieces)
    data.decode()  # no raw surrogate on the wire
    deltas = [choice["delta"]["content"] for frame in payloads(wire) for choice in frame["choices"]]
    high = next(place for place, text in enumerate(deltas) if re.search("[\ud800-\udbff]$", text))
    assert re.match("[\udc00-\udfff]", deltas[high + 1])


@pytest.mark.parametrize(
    ("way", "shows"),
    [("bytes", "<0x[0-9A-F]{2}>"), ("byte_alphabet", "Ġ"), ("sentencepiece", "▁"), ("newlines", "<0x0A>")],
)
def test_tokens_are_left_as_the_tokenizer_writes_them(way: str, shows: str) -> None:
    """Each spelling of raw tokens shows."""
    assert re.search(shows, said("byte_fallback", PORTUGUESE, **{"with": way}))


@pytest.mark.parametrize("way", ["sentence", "word", "letter"])
@pytest.mark.parametrize("body", [a_body(max_tokens=400), a_card_body(max_tokens=300)], ids=["scene", "card"])
def test_a_loop_runs_into_the_limit(body: dict[str, object], way: str) -> None:
    """The text begins soundly, then says the same until the limit ends it."""
    planned = struck("repetition", body, **{"with": way}).planned
    assert planned.finish == "length"
    assert planned.text.startswith(sound(body)[:20])
    tail = planned.text[-150:]
    assert any(tail[:-period] == tail[period:] for period in range(1, 120))


def test_tokens_double_as_a_whole_in_pieces_or_by_words() -> None:
    """The whole text twice; each piece twice; or some words and nothing else."""
    clean = sound()
    assert said("doubled_tokens", **{"with": "whole"}) == f"{clean}\n\n{clean}"
    assert len(said("doubled_tokens", **{"with": "pieces"})) > 1.9 * len(clean)
    words = said("doubled_tokens", **{"with": "words"}).split()
    twice = sum(one == two for one, two in itertools.pairwise(words))
    assert 3 <= twice == len(words) - len(clean.split())


def test_spaces_are_lost_only_where_they_part_words() -> None:
    """English loses them in three ways; Thai, and a document, have none to lose."""
    assert " " not in said("lost_spaces", **{"with": "all"})
    assert not re.search(r"[.!?] [A-Z]", said("lost_spaces", **{"with": "sentences"}))
    assert max(map(len, re.findall(r"\w+", said("lost_spaces", **{"with": "inside"})))) <= 2
    assert struck("lost_spaces", a_body(SCENES["th"])).hand.struck == []
    assert struck("lost_spaces", a_card_body()).hand.struck == []


def test_marks_stand_before_behind_and_inside() -> None:
    """Tokens of templates, reasoning and tool calls surround a text that is otherwise sound."""
    clean = sound()
    assert said("special_token", **{"with": "end"}).startswith(clean)
    assert said("special_token", **{"with": "start"}).endswith(clean)
    inside = said("special_token", **{"with": "inside"})
    assert inside[0] == clean[0]
    assert inside[-1] == clean[-1]
    assert inside != clean
    assert said("reasoning_leak", **{"with": "tagged"}).endswith(clean)
    assert said("planning_prose").endswith(clean)
    assert said("tool_text", **{"with": "before"}).endswith(clean)
    assert clean not in said("tool_text", **{"with": "alone"})


def test_thinking_aside_leaves_the_text_alone() -> None:
    """The reasoning comes in its own field and before the text."""
    answer = struck("thinks_aside")
    assert answer.planned.text == sound()
    deltas = [choice["delta"] for frame in payloads(answer.wire()) for choice in frame["choices"]]
    thought = [place for place, delta in enumerate(deltas) if delta.get("reasoning")]
    spoken = [place for place, delta in enumerate(deltas) if delta.get("content")]
    assert 0 < max(thought) < min(spoken)


def test_limits_are_run_past_kept_or_miscounted() -> None:
    """Far past, cut at it, or within it and stated beyond it; without a limit nothing strikes."""
    body = a_body(max_tokens=400)
    far = payloads(struck("limit_ignored", body).wire())[-1]["usage"]["completion_tokens"]
    assert far > 2 * 400 + 16
    cut = struck("long_winded", body).planned
    assert cut.finish == "length"
    counted = struck("token_overcount", body)
    assert counted.planned.text == sound(body)
    assert payloads(counted.wire())[-1]["usage"]["completion_tokens"] == 620
    for fault in ("limit_ignored", "long_winded", "token_overcount"):
        assert struck(fault).hand.struck == [], "no limit was set"


def test_a_document_may_outgrow_its_room() -> None:
    """A talkative host fills the last string of a document until the limit cuts it."""
    planned = struck("long_winded", a_card_body(max_tokens=300)).planned
    assert planned.finish == "length"
    assert planned.text.startswith("{")
    with pytest.raises(json.JSONDecodeError):
        json.loads(planned.text)


def test_a_stop_word_is_run_past_only_where_there_is_one() -> None:
    """The text goes on behind it; a request without one, or whose text ends there, is not struck."""
    scene = SCENES["en"] + " Below the scene put the line THE END, then one sentence more."
    answer = struck("stop_ignored", a_body(scene, stop=["THE END"]))
    assert answer.hand.struck == ["stop_ignored"]
    assert answer.planned.text.partition("THE END")[2].strip()
    assert "THE END" not in sound(a_body(scene, stop=["THE END"]))
    assert struck("stop_ignored").hand.struck == []
    assert struck("stop_ignored", a_body(stop=["never said"])).hand.struck == []


def test_an_answer_is_cut_short_at_no_limit_of_ours() -> None:
    """It stops within a sentence, well below half, as `length` or as if that were all."""
    for number in range(10):
        for way, finish in (("length", "length"), ("stop", "stop")):
            planned = struck("cut_short", number=number, **{"with": way}).planned
            assert planned.finish == finish
            assert sound(number=number).startswith(planned.text)
            assert planned.text[-1].isalpha()
            assert len(planned.text) < 0.5 * len(sound(number=number))


@pytest.mark.parametrize("way", ["nothing", "zero_width", "spaces"])
def test_an_empty_answer_shows_nothing(way: str) -> None:
    """What comes leaves nothing on the screen, and is finished."""
    planned = struck("empty_answer", **{"with": way}).planned
    assert not re.sub(r"[\s\u200b\u2060]", "", planned.text)
    assert planned.finish == "stop"


def test_reasoning_alone_is_no_text() -> None:
    """All of it stands in the reasoning field, and the usage says so."""
    answer = struck("reasoning_only")
    assert answer.planned.text == ""
    usage = payloads(answer.wire())[-1]["usage"]
    assert usage["completion_tokens"] == usage["completion_tokens_details"]["reasoning_tokens"] > 50
    assert struck("reasoning_only", **{"with": "length"}).planned.finish == "length"


@pytest.mark.parametrize(
    ("way", "head", "tail"),
    [("before", r"[^{]+\{", r"\}$"), ("after", r"\{", r"\}[^}]*[.}]$"), ("twice", r"\{", r"\}\n\{.*\}$")],
)
def test_words_surround_a_document(way: str, head: str, tail: str) -> None:
    """Before, after, or the document again; the document itself is whole."""
    text = said("json_trailing", a_card_body(), **{"with": way})
    assert re.match(head, text)
    assert re.search(tail, text, re.DOTALL)
    document, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    assert set(document) == set(CARD["properties"])


@pytest.mark.parametrize("way", ["comma", "quotes", "newline", "unclosed", "literals"])
def test_broken_json_is_none(way: str) -> None:
    """Each way leaves a text that no parser takes."""
    for number in range(5):
        answer = struck("json_invalid", a_card_body(), number=number, **{"with": way})
        assert answer.hand.struck == ["json_invalid"]
        with pytest.raises(json.JSONDecodeError):
            json.loads(answer.planned.text)


def test_a_document_encoded_twice_is_a_string() -> None:
    """Decoding twice gives the document."""
    text = said("json_double_encoded", a_card_body())
    assert json.loads(json.loads(text)) == json.loads(sound(a_card_body()))


def test_somebody_elses_answer_has_somebody_elses_people() -> None:
    """Neither of the two names of the prompt is in it; a code that the prompt gave becomes another."""
    coded = a_body(f"{FILTER_SCENE} Below it put the code LAMP-4711.")
    for text in (said("other_scene", a_body(FILTER_SCENE)), said("cross_talk", coded)):
        assert "Petra" not in text
        assert "Silvan" not in text
    assert re.search(r"LAMP-\d{4}$", said("cross_talk", coded))
    assert "LAMP-4711" not in said("cross_talk", coded)
    assert struck("cross_talk").hand.struck == []
