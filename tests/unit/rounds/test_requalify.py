"""An upgrade never suspends anyone on its first day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.answer import Answer
from routecanary.domain.event import SuspicionCleared
from routecanary.domain.names import (
    CONTRACT_NAMES,
    INTEGRITY,
    LANGUAGE,
    LATENCY,
    STRUCTURED,
    ContractName,
    Locale,
)
from routecanary.domain.operation import Requalifying, operation_from_json
from routecanary.domain.probe import ProbeKind, ProbeSpec
from routecanary.domain.settings import ContractSettings, ProbeSettings
from routecanary.domain.transcript import Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.registry import CONTRACTS
from routecanary.probe.catalog import Catalog, catalog_from_texts
from routecanary.rounds import requalify
from routecanary.rounds.records import Records
from routecanary.rounds.requalify import (
    end_trial,
    enforced_contracts,
    put_on_trial,
    requalify_changed,
)
from routecanary.rounds.versions import changes_between, is_new, versions_of
from tests.records import some_records, tell_round, wait_until
from tests.story import HEALTHY, MODEL, moment

EN, TH = Locale("en"), Locale("th")
CATALOG = catalog_from_texts(shipped_texts())
ALL = frozenset(CONTRACT_NAMES)
CHAT_FED = {LATENCY, LANGUAGE, INTEGRITY}


class OtherJudge:
    """A contract of another version."""

    confirmations = 2

    def __init__(self, name: ContractName, version: int) -> None:
        self.name = name
        self.version = version

    def applies_to(self, transcript: Transcript) -> bool:
        return True

    def judge(self, answer: Answer) -> Verdict:
        raise NotImplementedError


def with_spec(kind: ProbeKind, locale: Locale, **changes: object) -> Catalog:
    """Change one text of the catalog."""

    def changed(spec: ProbeSpec) -> ProbeSpec:
        return replace(spec, **changes) if (spec.kind, spec.locale) == (kind, locale) else spec  # type: ignore[arg-type]

    return Catalog(specs=tuple(map(changed, CATALOG.specs)))


def versions(catalog: Catalog = CATALOG, locales: Iterable[Locale] = (EN, TH)) -> Mapping[ContractName, str]:
    return versions_of(CONTRACTS, catalog, locales)


def changed(other: Mapping[ContractName, str]) -> set[ContractName]:
    return {name for name, version in versions().items() if is_new(other[name], version)}


def test_a_version_names_the_judge_and_the_texts_that_feed_it() -> None:
    """Readable, and the same every time."""
    version = versions()[STRUCTURED]
    assert [part.split("=")[0] for part in version.split()] == ["judge", "structured/en", "structured/th"]
    assert version == versions()[STRUCTURED]
    kinds = {part.split("/")[0] for part in versions()[INTEGRITY].split()}
    judge = next(contract.version for contract in CONTRACTS if contract.name == INTEGRITY)
    assert kinds == {"chat", "filter", "structured", f"judge={judge}"}


@pytest.mark.parametrize(
    ("kind", "locale", "changes", "concerned"),
    [
        (ProbeKind.CHAT, EN, {"version": 99}, CHAT_FED),
        (ProbeKind.CHAT, TH, {"scenes": CATALOG.specs[0].scenes[:1]}, CHAT_FED),
        (ProbeKind.STRUCTURED, EN, {"max_tokens": 301}, {STRUCTURED, INTEGRITY}),
        (ProbeKind.STRUCTURED, EN, {"schema": {"type": "object"}}, {STRUCTURED, INTEGRITY}),
        (ProbeKind.CHAT, Locale("pt-BR"), {"version": 99}, set()),
    ],
)
def test_a_changed_text_concerns_the_contracts_that_it_feeds(
    kind: ProbeKind, locale: Locale, changes: dict[str, object], concerned: set[ContractName]
) -> None:
    """Also one whose author forgot to count it up; a locale outside of the rotation concerns nobody."""
    assert changed(versions(with_spec(kind, locale, **changes))) == concerned


def test_a_locale_more_is_new_and_one_less_is_not() -> None:
    """What is left of a rotation was judged before."""
    assert changed(versions(locales=(EN, TH, Locale("pt-BR")))) == ALL
    assert changed(versions(locales=(EN,))) == set()
    assert changed(versions(locales=(TH, EN))) == set()


def test_what_changed_is_named() -> None:
    """For a person who reads the log."""
    other = versions(with_spec(ProbeKind.CHAT, TH, version=99))[LANGUAGE].replace("judge=", "judge=9")
    assert changes_between(other, versions()[LANGUAGE]) == "chat/th, judge"
    assert is_new("judge=2", "judge=1")
    assert is_new("judge=2", None)


# Records


def some_trial_records(**settings: object) -> Records:
    return some_records(probes=ProbeSettings(locales=(EN, TH)), **settings)


def noted(records: Records) -> list[Requalifying]:
    found = [operation_from_json(stored.body) for stored in records.store.read(kinds={"requalifying"})]
    return [event for event in found if isinstance(event, Requalifying)]


def enforced(records: Records) -> frozenset[ContractName]:
    return enforced_contracts(records, MODEL, records.clock.now())


def test_a_models_first_round_begins_with_whatever_is_at_work() -> None:
    """The versions are noted once, and nothing is on trial."""
    records = some_trial_records()
    assert requalify_changed(records, CATALOG, MODEL) == ()
    assert {event.contract: event.version for event in noted(records)} == versions()
    assert enforced(records) == ALL
    tell_round(records, "0m", HEALTHY)
    assert requalify_changed(records, CATALOG, MODEL) == ()
    assert len(noted(records)) == len(ALL)


def test_a_changed_text_is_on_trial_for_a_day() -> None:
    """Its contracts' fails do not count, the others' do; the day over, all count."""
    records = some_trial_records()
    requalify_changed(records, CATALOG, MODEL)
    tell_round(records, "0m", {"a": "language:fail structured:fail", **HEALTHY})
    wait_until(records, "10m")
    other = with_spec(ProbeKind.CHAT, EN, version=99)
    assert requalify_changed(records, other, MODEL) == (INTEGRITY, LANGUAGE, LATENCY)
    assert enforced(records) == ALL - CHAT_FED
    streak = records.ledger.state(MODEL).routes["a"].streak  # type: ignore[index]
    assert (streak.failed, streak.suspicion) == (1, {STRUCTURED})
    (cleared,) = records.store.read(kinds={"suspicion_cleared"})
    assert cleared.body["actor"] == "routecanary"
    assert "language: chat/en" in cleared.body["reason"]
    assert requalify_changed(records, other, MODEL) == ()
    wait_until(records, "1d9m59s")
    assert enforced(records) == ALL - CHAT_FED
    wait_until(records, "1d10m")
    assert enforced(records) == ALL


def test_a_changed_judge_is_on_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is one that was changed back."""
    records = some_trial_records(requalify=timedelta(hours=2))
    requalify_changed(records, CATALOG, MODEL)
    tell_round(records, "0m", {"a": "language:fail", **HEALTHY})
    upgraded = tuple(OtherJudge(each.name, each.version + (each.name == LANGUAGE)) for each in CONTRACTS)
    with monkeypatch.context() as patch:
        patch.setattr(requalify, "CONTRACTS", upgraded)
        assert requalify_changed(records, CATALOG, MODEL) == (LANGUAGE,)
        assert enforced(records) == ALL - {LANGUAGE}
        assert records.ledger.state(MODEL).routes["a"].streak.failed == 0  # type: ignore[index]
    wait_until(records, "3h")
    assert enforced(records) == ALL
    assert requalify_changed(records, CATALOG, MODEL) == (LANGUAGE,)


def test_a_contract_that_a_running_model_never_had_is_on_trial() -> None:
    """As for a store from before versions were noted."""
    records = some_trial_records()
    tell_round(records, "0m", HEALTHY)
    assert set(requalify_changed(records, CATALOG, MODEL)) == ALL


def test_a_locale_less_is_noted_and_a_trial_goes_on() -> None:
    """It neither begins nor ends one."""
    records = some_trial_records()
    requalify_changed(records, CATALOG, MODEL)
    tell_round(records, "0m", HEALTHY)
    put_on_trial(
        records, MODEL, {LANGUAGE: versions()[LANGUAGE]}, length=timedelta(hours=5), actor="ada", reason="r"
    )
    records.settings = replace(records.settings, probes=ProbeSettings(locales=(EN,)))
    assert requalify_changed(records, CATALOG, MODEL) == ()
    assert enforced(records) == ALL - {LANGUAGE}
    wait_until(records, "5h")
    assert enforced(records) == ALL


def test_a_trial_by_hand_can_be_ended() -> None:
    """Both with who and why; what the configuration does not enforce stays so."""
    contracts = {name: ContractSettings(enforce=name != LATENCY) for name in CONTRACT_NAMES}
    records = some_trial_records(contracts=contracts)
    requalify_changed(records, CATALOG, MODEL)
    put_on_trial(records, MODEL, {LANGUAGE: "v"}, length=timedelta(days=2), actor="ada", reason="our prompt")
    assert enforced(records) == ALL - {LATENCY, LANGUAGE}
    end_trial(records, MODEL, {LANGUAGE, LATENCY}, actor="bob", reason="seen enough")
    assert enforced(records) == ALL - {LATENCY}
    assert [(event.actor, event.reason, event.until) for event in noted(records)[-2:]] == [
        ("ada", "our prompt", moment("2d")),
        ("bob", "seen enough", moment("0m")),
    ]
    before = records.store.head()
    end_trial(records, MODEL, {LANGUAGE}, actor="bob", reason="again")
    assert records.store.head() == before


def test_putting_on_trial_is_one_append() -> None:
    """The trial and the cleared suspicion are kept together or not at all."""
    records = some_trial_records()
    tell_round(records, "0m", {"a": "language:fail", **HEALTHY})
    before = records.store.head()
    decision = put_on_trial(
        records, MODEL, {LANGUAGE: "v"}, length=timedelta(days=1), actor="ada", reason="r"
    )
    assert isinstance(decision.events[0], SuspicionCleared)
    kinds = [stored.kind for stored in records.store.read(before.seq)]
    assert kinds == ["requalifying", "suspicion_cleared", "exclusions"]
