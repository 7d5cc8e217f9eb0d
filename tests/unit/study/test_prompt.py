"""A file of one's own prompt: what it may say, and in which words the rest is refused."""

from __future__ import annotations

import json

import pytest

from routecanary.domain.names import Locale
from routecanary.domain.probe import ProbeKind
from routecanary.errors import InputError
from routecanary.study.prompt import MAX_LETTERS, question_from_text

LOCALE = Locale("pt-BR")
SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]


def test_any_other_file_is_one_message_as_it_stands() -> None:
    """Braces, quotes and line ends included: nothing is filled in, nothing is stripped."""
    text = ' {place} "x"\n[table]\n'
    question = question_from_text(text, "notes.txt", locale=LOCALE)
    assert json.loads(question.messages or "") == [{"role": "user", "content": text}]
    assert (question.kind, question.locale, question.varies) == (ProbeKind.ANY, LOCALE, False)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("a.json", json.dumps({"messages": SAID, "max_tokens": 64, "opening": "*", "min_words": 9})),
        (
            "a.TOML",
            """
            max_tokens = 64
            opening = "*"
            min_words = 9
            messages = [{ role = "system", content = "Be brief." }, { role = "user", content = "Hello." }]
            """,
        ),
    ],
)
def test_both_forms_say_the_same(place: str, text: str) -> None:
    """Messages keep their roles and order; the scene repeats them for whoever bounds its length."""
    question = question_from_text(text, place, locale=None)
    assert json.loads(question.messages or "") == SAID
    assert (question.max_tokens, question.scene.opening, question.scene.min_words) == (64, "*", 9)
    assert question.scene.prompt == "Be brief.\nHello."


def test_a_schema_makes_it_a_structured_question() -> None:
    """Its keys keep their order."""
    text = '{"prompt": "Fill it in.", "schema": {"type": "object", "b": 1, "a": 2}}'
    question = question_from_text(text, "a.json", locale=None)
    assert question.kind is ProbeKind.STRUCTURED
    assert question.schema == '{"type": "object", "b": 1, "a": 2}'


BAD = [
    ("a.txt", " \n", "a.txt: prompt: not a text"),
    ("a.json", "[]", "a.json: not an object; allowed: an object with the key prompt or messages"),
    ("a.json", "{", "a.json: not JSON"),
    ("a.toml", "prompt = ", "a.toml: not readable as TOML"),
    ("a.json", '{"prompt": "x", "stop": "y"}', "a.json: stop: unknown key; allowed: prompt, messages, max_"),
    ("a.json", "{}", "a.json: messages: no messages; allowed: a list of 1 to 500 messages"),
    ("a.json", '{"messages": []}', "messages: no messages"),
    ("a.json", '{"prompt": "x", "messages": []}', "messages: a prompt and messages; allowed: one of the two"),
    ("a.json", '{"prompt": 3}', "prompt: not a text (got 3)"),
    ("a.json", '{"messages": [{"role": "user"}]}', "messages[0]: not a message; allowed: role and content"),
    ("a.json", '{"messages": [{"role": "tool", "content": "x"}]}', "messages[0].role: no such role (got 'to"),
    ("a.json", '{"messages": [{"role": "user", "content": []}]}', "messages[0].content: not a text"),
    ("a.json", '{"messages": [{"role": "system", "content": "x"}]}', "messages: nobody is asked"),
    (
        "a.json",
        '{"prompt": "x", "max_tokens": true}',
        "max_tokens: not such a number (got True); allowed: a w",
    ),
    ("a.json", '{"prompt": "x", "max_tokens": 15}', "max_tokens: not such a number (got 15)"),
    ("a.json", '{"prompt": "x", "min_words": 0.5}', "min_words: not such a number (got 0.5)"),
    ("a.json", '{"prompt": "x", "opening": "' + "x" * 21 + '"}', "opening: not a text"),
    ("a.json", '{"prompt": "x", "schema": []}', "schema: not a schema"),
    ("a.toml", 'prompt = "x"\nschema = { at = 2026-01-05 }', "schema: holds what JSON cannot say"),
    ("a.toml", 'prompt = "x"\nschema = { at = nan }', "schema: holds what JSON cannot say"),
    ("a.txt", "x" * (MAX_LETTERS + 1), "prompt: not a text"),
    (
        "a.json",
        json.dumps({"messages": [{"role": "user", "content": "x" * (MAX_LETTERS // 2 + 1)}] * 2}),
        "messages: too long (got 200002); allowed: 200000 characters in all",
    ),
]


@pytest.mark.parametrize(("place", "text", "message"), BAD, ids=[str(index) for index in range(len(BAD))])
def test_a_bad_file_is_refused_with_place_key_value_and_what_is_allowed(
    place: str, text: str, message: str
) -> None:
    """The first breach is named, and the message stays short."""
    with pytest.raises(InputError) as caught:
        question_from_text(text, place, locale=None)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
