"""How does the encoding of a text break?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import INTEGRITY, LANGUAGE
from routecanary.lab.fault import Blow, Choice, Fault
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.spoiling.places import text_places, with_texts
from routecanary.lab.stream import Stream

_FEW_LETTERS: Final = 6  # outside of ASCII; a text with fewer hardly shows what became of them
_CONTROLS: Final = "\x02\x0e\x1b\x08"
_EMOJI: Final = ("🙂", "😀", "🌧", "🔥", "👋")
_WAYS: Final = ("mojibake", "escapes", "entities", "question_marks", "controls")


def break_encoding(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Break the letters outside of ASCII, or sprinkle control characters."""
    way = blow.way(*_WAYS)
    if way == "controls":
        return _sprinkled(planned, blow, "".join(_CONTROLS), count=3)
    if len(_foreign_letters(planned.text)) < _FEW_LETTERS:
        return planned
    if planned.document is not None and way != "mojibake":
        return planned  # in a JSON document escapes are at home
    match way:
        case "mojibake":
            text = "".join(map(_as_code_page, planned.text.encode("utf-8", "replace")))
        case "escapes":
            text = planned.text.encode("ascii", "backslashreplace").decode("ascii")
        case "entities":
            text = planned.text.encode("ascii", "xmlcharrefreplace").decode("ascii")
        case _:
            text = planned.text.encode("ascii", "replace").decode("ascii")
    return replace(planned, text=text)


def _foreign_letters(text: str) -> list[int]:
    """List the places of the letters outside of ASCII."""
    return [place for place, letter in enumerate(text) if letter > "\x7f" and letter.isalpha()]


def _as_code_page(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


def lose_characters(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put U+FFFD where letters were."""
    places = _foreign_letters(planned.text) or _letters(planned.text)
    return _with(planned, blow, places, "\ufffd", most=4)


def halve_character(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put half of a surrogate pair where a letter was."""
    return _with(planned, blow, _letters(planned.text), blow.rng.choice(("\ud83d", "\ude42")), most=1)


def _letters(text: str) -> list[int]:
    return [place for place, letter in enumerate(text) if letter.isalpha() and place > 2]


def _with(planned: PlannedAnswer, blow: Blow, places: list[int], mark: str, *, most: int) -> PlannedAnswer:
    if not places:
        return planned
    letters = list(planned.text)
    for place in blow.rng.sample(places, min(len(places), blow.rng.randint(1, most))):
        letters[place] = mark
    return replace(planned, text="".join(letters))


def _sprinkled(planned: PlannedAnswer, blow: Blow, marks: str, *, count: int) -> PlannedAnswer:
    """Put marks between the letters of a text."""
    if len(planned.text) < 40:
        return planned
    text = planned.text
    for _ in range(count):
        place = blow.rng.randrange(10, len(text))
        text = text[:place] + blow.rng.choice(marks) + text[place:]
    return replace(planned, text=text)


def leave_tokens(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Leave tokens as the tokenizer writes them: bytes by name, spaces and line ends as marks."""
    text = planned.text
    match blow.way("bytes", "byte_alphabet", "sentencepiece", "newlines"):
        case "bytes":
            places = _foreign_letters(text) or [place for place, mark in enumerate(text) if mark > "\x7f"]
            chosen = set(blow.rng.sample(places, min(len(places), 5)))
            text = "".join(
                "".join(f"<0x{byte:02X}>" for byte in mark.encode("utf-8", "replace"))
                if place in chosen
                else mark
                for place, mark in enumerate(text)
            )
        case "byte_alphabet":
            text = text.replace("\n", "Ċ").replace(" ", "Ġ")
        case "sentencepiece":
            text = text.replace(" ", "▁")
        case _:
            text = text.replace("\n", "<0x0A>")
    return replace(planned, text=text) if text != planned.text else planned


def halve_pair(stream: Stream, blow: Blow) -> Stream:
    """Say an emoji whose two halves come in two chunks, each an escape of its own."""
    texts = text_places(stream)
    if len(texts) < 2:
        return stream
    high, low = (int.from_bytes(blow.rng.choice(_EMOJI).encode("utf-16-be")[at : at + 2]) for at in (0, 2))
    turn = blow.rng.randrange(1, len(texts))
    count = -1

    def halved(choice: dict[str, object]) -> dict[str, object]:
        nonlocal count
        count += 1
        said = choice["delta"]["content"]  # type: ignore[index]
        content = (
            f"{said}{chr(high)}" if count == turn - 1 else f"{chr(low)}{said}" if count == turn else said
        )
        return {**choice, "delta": {"content": content}}

    return with_texts(stream, halved)


ENCODING: Final = (
    Fault(
        name="broken_encoding",
        version=1,
        seen_by=(LANGUAGE, INTEGRITY),
        gives=("fail:encoding", "fail:wrong_language", "fail:json_invalid"),
        does="Breaks the letters outside of ASCII, or sprinkles control characters.",
        on_answer=break_encoding,
        parameters={"with": Choice(default="", options=("", *_WAYS))},
    ),
    Fault(
        name="replacement_char",
        version=1,
        seen_by=(LANGUAGE, INTEGRITY),
        gives=("fail:replacement_char",),
        does="Puts U+FFFD in place of some letters.",
        on_answer=lose_characters,
    ),
    Fault(
        name="lone_surrogate",
        version=1,
        seen_by=(LANGUAGE, INTEGRITY),
        gives=("fail:surrogate",),
        does="Puts half of a surrogate pair in place of a letter.",
        on_answer=halve_character,
    ),
    Fault(
        name="split_surrogates",
        version=1,
        seen_by=(LANGUAGE, INTEGRITY),
        gives=("fail:surrogate",),
        does="Says an emoji whose two halves come in two chunks, each an escape of its own.",
        on_stream=halve_pair,
    ),
    Fault(
        name="byte_fallback",
        version=1,
        seen_by=(LANGUAGE, INTEGRITY),
        gives=("fail:byte_fallback", "fail:json_invalid"),
        does="Leaves tokens as the tokenizer writes them: bytes by name, spaces and line ends as marks.",
        on_answer=leave_tokens,
        parameters={
            "with": Choice(default="", options=("", "bytes", "byte_alphabet", "sentencepiece", "newlines"))
        },
    ),
)
