"""Bare texts, one a line: read strictly, judged as whole healthy answers."""

from __future__ import annotations

import io
import json

import pytest

from routecanary.domain.names import (
    CONTRACT_NAMES,
    FILTERING,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
)
from routecanary.domain.verdict import VerdictKind
from routecanary.errors import CaseError
from routecanary.replay import texts
from routecanary.replay.texts import TextRow, judge_text, read_texts

STORY = "The keeper counts the boats again, and this time one of them is missing from the harbour."


def read(*lines: bytes | str, located: bool = True) -> list[TextRow | CaseError]:
    raw = b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)
    return list(read_texts(io.BytesIO(raw), "texts.jsonl", located=located))


def test_a_locale_may_be_called_lang_and_aliases_are_resolved() -> None:
    """`lang` stands for `locale`; blank lines are passed over, other keys are kept."""
    rows = read(
        '{"id": "a", "text": "x", "lang": "zh", "label": "comply"}',
        "",
        '{"id": 7, "text": "x", "locale": "pt-BR", "lang": "xx9"}',
    )
    assert [(row.id, row.locale) for row in rows if isinstance(row, TextRow)] == [
        ("a", "zh-Hans"),
        (7, "pt-BR"),
    ]
    assert isinstance(rows[0], TextRow)
    assert rows[0].document["label"] == "comply"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        (b'{"id": "a\xff"}', "not UTF-8"),
        ("[1]", "not a JSON object"),
        ('{"text": "x", "locale": "en"}', "id: is missing"),
        ('{"id": true, "text": "x", "locale": "en"}', "id: has the wrong type"),
        ('{"id": "a", "locale": "en"}', "text: is missing"),
        ('{"id": "a", "text": ["x"], "locale": "en"}', "text: has the wrong type (got 'list')"),
        ('{"id": "a", "text": "x"}', "locale: is missing"),
        ('{"id": "a", "text": "x", "locale": "English"}', "locale: not a locale (got 'English')"),
        ('{"id": "a", "text": "x", "lang": 5}', "lang: not a locale (got 5)"),
        ('{"id": "a", "id": "b", "text": "x", "locale": "en"}', "a key is repeated"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_the_next_is_read(line: bytes | str, says: str) -> None:
    """The error says file, line, key, value and what is allowed."""
    error, after = read(line, '{"id": "b", "text": "x", "locale": "en"}')
    assert isinstance(error, CaseError)
    assert str(error).startswith("texts.jsonl:1: ")
    assert says in str(error)
    assert isinstance(after, TextRow)
    assert after.id == "b"


def test_a_line_without_end_is_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many bytes of a line are read; the rest of it is thrown away in pieces."""
    monkeypatch.setattr(texts, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(texts, "_PIECE", 10)
    asked: list[int] = []

    class Watched(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            asked.append(size or 0)
            return super().readline(size)

    raw = b'{"id": "a", "text": "' + b"x" * 500 + b'"}\n{"id": "b", "text": "x"}\n'
    long, after = read_texts(Watched(raw), "f", located=False)
    assert "f:1: the line is too long; allowed: 100 bytes" in str(long)
    assert isinstance(after, TextRow)
    assert max(asked) == 101


def test_half_of_a_surrogate_pair_is_a_text_like_any_other() -> None:
    """JSON can write what UTF-8 cannot; the text reaches the judge as it stands."""
    (row,) = read('{"id": "a", "text": "' + STORY + ' \\ud83d", "locale": "en"}')
    assert isinstance(row, TextRow)
    assert row.text.endswith("\ud83d")
    verdict = judge_text(row.text, LANGUAGE, row.locale)
    assert verdict is not None
    assert str(verdict) == "fail:surrogate"


@pytest.mark.parametrize("contract", [LATENCY, FILTERING, LANGUAGE, INTEGRITY])
def test_a_healthy_text_passes_every_contract_about_text(contract: ContractName) -> None:
    """Nothing of the answer around it is odd, late, short or cut."""
    verdict = judge_text(STORY, contract, Locale("en"))
    assert verdict is not None
    assert verdict.kind is VerdictKind.PASS


@pytest.mark.parametrize(
    ("text", "contract", "expected"),
    [
        ("I'm sorry, but I can't help with that request.", FILTERING, "fail:refusal"),
        (
            "Las barcas salen temprano del puerto y vuelven cuando ya es de noche.",
            LANGUAGE,
            "fail:wrong_language",
        ),
        ("The door opens. <|im_end|>", INTEGRITY, "fail:special_token"),
        ('{"a": 1}', STRUCTURED, "pass"),
        ('Here you are: {"a": 1}', STRUCTURED, "fail:json_trailing"),
        ("[1]", STRUCTURED, "fail:json_schema"),
    ],
)
def test_each_contract_sees_its_faults(text: str, contract: ContractName, expected: str) -> None:
    """The text alone decides; `structured` asked for any one object."""
    assert str(judge_text(text, contract, Locale("en"))) == expected


def test_every_contract_can_be_asked() -> None:
    """No contract is without a probe to stand in."""
    for contract in CONTRACT_NAMES:
        assert judge_text(json.dumps({"a": STORY}), contract, Locale("en")) is not None


def test_a_template_token_is_broken_encoding_where_language_alone_is_asked() -> None:
    """In a probe it is integrity's; a collection that is put to one contract has nobody else to see it."""
    text = "The harbour lay still, and nobody came to fetch the lamp.<|im_end|> Mara waited for the bells."
    found = judge_text(text, LANGUAGE, Locale("en"))
    assert found is not None
    assert str(found) == "fail:special_token"
    assert str(judge_text(text.replace("<|im_end|>", ""), LANGUAGE, Locale("en"))) == "pass"
