"""The judges before their own planted faults: seeing, blinded, and seeing what is not there."""

from __future__ import annotations

import re
from collections.abc import Callable

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
    parse_locale,
)
from routecanary.domain.verdict import VerdictKind
from routecanary.judge import repetition, structured, tokens
from routecanary.judge.contract import Finding, fail
from routecanary.judge.examine import judge_transcript
from routecanary.judge.integrity import IntegrityContract
from routecanary.judge.planted import planted_answers
from routecanary.judge.planted.scenes import texts_of
from routecanary.judge.selfcheck import Eyesight, self_check
from routecanary.judge.settings import Settings

EN = Locale("en")
SHIPPED = Settings()
LOCALES = tuple(
    parse_locale(name)
    for name in (
        *("en", "es", "pt-BR", "fr", "de", "it", "nl", "pl", "ru", "tr", "vi", "th", "id", "tl"),
        *("ja", "ko", "zh-Hans", "uk", "ar", "hi", "zh-Hant"),
    )
)
KINDS = {
    LATENCY: {"latency"},
    FILTERING: {"content_filter", "refusal", "empty", "reasoning_only", "truncated"},
    STRUCTURED: {
        *("json_invalid", "json_fenced", "json_trailing", "json_schema", "json_double_encoded", "truncated"),
    },
    LANGUAGE: {
        *("wrong_language", "language_switch", "language_mixing"),
        *("encoding", "replacement_char", "surrogate", "byte_fallback"),
    },
    INTEGRITY: {
        *("corrupt_start", "special_token", "tool_text", "repetition", "doubled_tokens", "lost_spaces"),
        *("reasoning_leak", "limit_ignored", "stop_ignored", "wrong_model", "cross_talk"),
        *("empty", "reasoning_only", "truncated"),
        *("encoding", "replacement_char", "surrogate", "byte_fallback"),
    },
}


def sight(contract: ContractName, settings: Settings = SHIPPED, *locales: Locale) -> Eyesight:
    return next(one for one in self_check(settings, locales or (EN,)) if one.contract == contract)


def test_every_kind_of_every_contract_is_planted() -> None:
    """Each of docs/judges.md, with a fault and, where one can look like it, a look-alike."""
    planted = list(planted_answers(Settings(), [EN]))
    for contract, kinds in KINDS.items():
        assert {one.kind for one in planted if one.contract == contract and one.fault} == kinds
        assert {one.kind for one in planted if one.contract == contract and not one.fault} <= kinds
    assert set(KINDS) == set(CONTRACT_NAMES)


def test_the_shipped_judges_see_in_every_locale() -> None:
    """No fault is missed, no look-alike failed."""
    for one in self_check(Settings(), LOCALES):
        assert (one.missed, one.wronged) == ((), ()), one.contract
        assert one.faults
        assert one.lookalikes
        assert not one.blind


def test_each_fault_is_called_by_its_kind() -> None:
    """What is planted is what the judge says; one slide from Japanese into Chinese counts as a mix."""
    for one in planted_answers(Settings(), LOCALES):
        said = judge_transcript(one.transcript)[one.contract]
        if one.fault:
            assert said.kind is VerdictKind.FAIL
            assert said.code == one.kind or one.name == "language_switch/ja"
        else:
            assert said.kind is not VerdictKind.FAIL


def test_limits_of_good_sense_blind_nobody() -> None:
    """An administrator may be twice as careful and more."""
    careful = Settings(mix_share=0.3, mix_units=20, min_units=30, refusal_points=6, latency_limit_ms=20_000)
    for room in (100, 100_000):
        assert not any(
            one.blind
            for one in self_check(careful, LOCALES) + self_check(Settings(reasoning_room_tokens=room), [EN])
        )


@pytest.mark.parametrize(
    ("limits", "contract", "missed"),
    [
        (Settings(mix_share=1.0), LANGUAGE, "language_mixing/en"),
        (Settings(mix_units=500), LANGUAGE, "language_mixing/en"),
        (Settings(min_units=500), LANGUAGE, "wrong_language/en"),
        (Settings(refusal_points=20), FILTERING, "refusal/en"),
        (Settings(latency_limit_ms=30_000), LATENCY, "latency"),
    ],
)
def test_an_absurd_limit_blinds_its_contract_alone(
    limits: Settings, contract: ContractName, missed: str
) -> None:
    """What it misses is named; the others see."""
    blind = [one for one in self_check(limits, [EN]) if one.blind]
    assert [one.contract for one in blind] == [contract]
    assert missed in blind[0].missed


def test_a_limit_that_fails_the_healthy_is_as_bad() -> None:
    """A tenth of a second for the first word: every answer would be late."""
    one = sight(LATENCY, Settings(latency_limit_ms=100))
    assert (one.missed, one.blind) == ((), True)
    assert one.wronged == ("latency (look-alike)", "latency (look-alike)")


@pytest.mark.parametrize(
    ("module", "name", "contract", "missed"),
    [
        (tokens, "_TEMPLATE_MARK", INTEGRITY, "special_token"),
        (tokens, "_REASONING_OPEN", INTEGRITY, "reasoning_leak"),
        (repetition, "_HEAVILY_COMPRESSED", INTEGRITY, "repetition"),
        (structured, "_first_error", STRUCTURED, "json_schema"),
    ],
)
def test_a_broken_rule_is_found(
    module: object, name: str, contract: ContractName, missed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern that matches nothing, a threshold that nothing reaches, a validator that finds no fault."""
    broken: dict[str, object] = {
        "_HEAVILY_COMPRESSED": 0.0,
        "_first_error": lambda schema, value: None,
    }
    monkeypatch.setattr(module, name, broken.get(name, re.compile(r"(?!)")))
    if name == "_TEMPLATE_MARK":
        monkeypatch.setattr(tokens, "_TEMPLATE_END", re.compile(r"(?!)"))
    if name == "_REASONING_OPEN":
        monkeypatch.setattr(tokens, "_REASONING_CLOSE", re.compile(r"(?!)"))
    if name == "_HEAVILY_COMPRESSED":
        monkeypatch.setattr(repetition, "_CUT_COMPRESSED", 0.0)
    assert missed in sight(contract).missed


def test_a_judge_that_crashes_is_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """It sees nothing of what is planted; the others are judged by themselves."""

    def crash(*_: object) -> Finding:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(IntegrityContract, "judge", crash)
    one = sight(INTEGRITY)
    assert len(one.missed) == one.faults
    assert not sight(LANGUAGE).blind


def test_a_judge_that_fails_everybody_is_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """It misses nothing, and that proves nothing."""
    always: Callable[..., object] = lambda self, answer: fail("special_token", "always").by(self)  # noqa: E731
    monkeypatch.setattr(IntegrityContract, "judge", always)
    one = sight(INTEGRITY)
    assert one.missed == ()
    assert len(one.wronged) == one.lookalikes


def test_a_locale_without_planted_texts_is_passed_over() -> None:
    """Its own texts are missing; English stands in where none is left."""
    assert texts_of(Locale("sv")) is None
    one = sight(LANGUAGE, Settings(), Locale("sv"))
    assert one.faults == sight(LANGUAGE).faults
    assert not one.blind
    assert sight(LANGUAGE, Settings(), Locale("es-MX")).faults == one.faults
