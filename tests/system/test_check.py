"""`check` as a preflight: what the account withholds, what is tried live, what the budget will not cover."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from routecanary.lab.gateway import LabGateway
from routecanary.lab.host import Account, Rules
from routecanary.lab.scenario import Scenario, scenario_from_toml
from tests.commandline import MODEL, SCENARIO, Ran, a_config, a_lab, called, environment
from tests.system.test_cli_documented import undocumented

MAPLE = """
[[models.routes]]
tag = "maple/fp8"
provider = "Maple"
rows = 2
trains_on_data = true
[[models.routes]]
tag = "maple/us"
provider = "Maple"
"""
SEVERAL = SCENARIO + MAPLE


def a_world(text: str = SCENARIO, **rules: Any) -> Scenario:
    scenario = scenario_from_toml(text, "check")
    return Scenario(name="check", key=scenario.key, models=scenario.models, rules=Rules(**rules))


def checked(folder: Path, lab: LabGateway, *options: str, more: str = "", json: bool = True) -> Ran:
    config = a_config(folder, lab.base_url, more=more, period="30m")
    return called(
        "check", *options, *(["--json"] if json else []), "--config", config, environ=environment(folder)
    )


def test_what_the_account_withholds_is_a_finding_and_no_capacity(tmp_path: Path) -> None:
    """It costs nothing to know; under the data policy more is withheld, which is the product's own wish."""
    with a_lab(a_world(SEVERAL, withheld=("plover",))) as lab:
        said = checked(tmp_path, lab)
        denying = checked(tmp_path, lab, more=f'[models."{MODEL}".production]\ndata_collection = "deny"\n')
        assert len(lab.ledger) == 0
    facts = said.json["models"][MODEL]
    assert facts["withheld"] == [
        {"when": "always", "step": "Filter by Guardrails", "routes": ["plover"]},
        {"when": "deny", "step": "Filter by Data Policy", "routes": ["maple/fp8", "plover"]},
    ]
    assert facts["withheld_unknown"] == []
    assert set(facts["routes"]) - set(facts["admitted"]) == {"plover"}
    (finding,) = said.json["findings"]
    assert finding.startswith(f"{MODEL}: the canary's own account withholds plover (Filter by Guardrails)")
    assert said.code == 1
    facts = denying.json["models"][MODEL]
    assert set(facts["routes"]) - set(facts["admitted"]) == {"plover", "maple/fp8"}


def test_an_account_at_fault_is_told_apart_from_one_that_withholds_nothing(tmp_path: Path) -> None:
    """What cannot be told is unknown, in the document and in words."""
    with a_lab(a_world()) as lab:
        lab.account = Account.NO_CREDIT
        said = checked(tmp_path, lab)
        words = checked(tmp_path, lab, json=False)
    facts = said.json["models"][MODEL]
    assert facts["withheld"] == []
    assert [each["when"] for each in facts["withheld_unknown"]] == ["always", "deny"]
    assert any(
        finding.startswith("the account cannot be used: HTTP 402") for finding in said.json["findings"]
    )
    assert f"{MODEL}: what is withheld whatever a request asks for is unknown: HTTP 402" in words.out


def test_plugins_that_run_unasked_are_found_for_nothing(tmp_path: Path) -> None:
    """A refusal's own metadata names them."""
    with a_lab(a_world(plugins=("web", "response-healing"))) as lab:
        said = checked(tmp_path, lab)
        assert len(lab.ledger) == 0
    assert said.json["account"] == {"plugins": ["web", "response_healing"], "response_cache": None}
    assert said.json["findings"][0].startswith("the account runs plugins that requests switch off: web, ")


@pytest.mark.parametrize("heeds", [True, False])
def test_a_live_check_tries_whether_tags_are_heeded(heeds: bool, tmp_path: Path) -> None:
    """One short question a provider, paid from the budget; what does not hold is remembered."""
    with a_lab(a_world(SEVERAL, ignore_full_tags=heeds, response_cache=True)) as lab:
        said = checked(tmp_path, lab, "--live")
        (asked,) = lab.ledger
        after = checked(tmp_path, lab)
    assert asked.body["max_tokens"] == 16
    assert asked.body["provider"] == {"only": ["maple"], "ignore": ["maple/fp8"]}
    (trial,) = said.json["live"]
    left = 1 if heeds else 3
    assert trial.pop("cost_usd") > 0
    assert trial == {
        "model": MODEL,
        "provider": "maple",
        "ignored": "maple/fp8",
        "holds": heeds,
        "why": f"ignoring maple/fp8 left {left} of 3 endpoints",
    }
    deaf = [
        finding for finding in said.json["findings"] if finding.startswith("provider.ignore does not heed")
    ]
    assert len(deaf) == (0 if heeds else 1)
    assert "a response cache is on" in " ".join(said.json["findings"])
    assert after.json["undivided"] == ([] if heeds else ["maple"])
    assert ("maple" in after.json["models"][MODEL]["routes"]) is not heeds
    assert after.json["budget"]["spent_today_usd"] == said.json["budget"]["spent_today_usd"] > 0
    assert after.json["live"] is None
    assert not undocumented("check", said.json, named=frozenset({MODEL}))


def test_a_live_check_without_such_a_provider_asks_one_route(tmp_path: Path) -> None:
    """Whether plugins or a cache are on is worth one short question."""
    with a_lab(a_world()) as lab:
        said = checked(tmp_path, lab, "--live")
        assert len(lab.ledger) == 1
        words = checked(tmp_path, lab, "--live", json=False)
    (trial,) = said.json["live"]
    assert (trial["ignored"], trial["holds"], trial["why"]) == (None, None, "")
    assert said.json["account"] == {"plugins": [], "response_cache": False}
    assert (said.code, said.json["findings"]) == (0, [])
    assert f"acme: asked a few words of {MODEL}\n" in words.out


def test_a_live_check_keeps_within_the_budget(tmp_path: Path) -> None:
    """Nothing is left: nobody is asked, and it says so."""
    with a_lab(a_world(SEVERAL)) as lab:
        said = checked(tmp_path, lab, "--live", more="[budget]\nper_day_usd = 0.000001\n")
        assert len(lab.ledger) == 0
    (trial,) = said.json["live"]
    assert (trial["holds"], trial["why"]) == (None, "the day's budget does not allow the question")
    assert said.json["undivided"] == []


def test_a_check_without_live_leaves_no_store_behind(tmp_path: Path) -> None:
    """Whoever checks need not be who runs the daemon; a live check pays, so it keeps what it paid."""
    with a_lab(a_world()) as lab:
        checked(tmp_path, lab)
        assert [path.name for path in tmp_path.iterdir()] == ["routecanary.toml"]
        checked(tmp_path, lab, "--live")
        assert (tmp_path / "events.sqlite3").exists()


def test_live_and_offline_exclude_each_other(tmp_path: Path) -> None:
    """Bad input: exit code 2 and one line."""
    said = called(
        "check", "--live", "--offline", "--config", a_config(tmp_path), environ=environment(tmp_path)
    )
    assert (said.code, said.out) == (2, "")
    assert said.err == "routecanary: --live: asks the gateway; allowed: without --offline\n"


MIDNIGHT = "UTC on, all routes are skipped until midnight UTC"
EXPECTED = ("a day is expected to cost 0.", "UTC on all routes are skipped until midnight UTC")


@pytest.mark.parametrize(
    ("budget", "findings"),
    [
        ("per_day_usd = 5", []),
        (
            "per_day_usd = 1",
            [("a day costs 2.", "at worst, and the budget is 1.00", MIDNIGHT, "save suspended ones")],
        ),
        ("per_day_usd = 1\nrecovery_share = 0", [("a day costs 2.", "at worst", MIDNIGHT)]),
        ("per_day_usd = 0.1\nrecovery_share = 0", [EXPECTED]),
        (
            "per_day_usd = 0.02\nrecovery_share = 0",
            [(f"{MODEL}: one round may cost 0.04", "0.0200 for routes", "left out of every round"), EXPECTED],
        ),
        (
            "per_day_usd = 0.001\nrecovery_share = 0",
            [(f"{MODEL}: plover may cost 0.00", "0.0010 for routes", "never asked"), EXPECTED],
        ),
    ],
)
def test_what_the_budget_will_not_cover_is_a_finding(
    budget: str, findings: list[tuple[str, ...]], tmp_path: Path
) -> None:
    """It says what is skipped, and from when on."""
    with a_lab(a_world()) as lab:
        said = checked(tmp_path, lab, more=f"[budget]\n{budget}\n")
    told = said.json["findings"]
    assert len(told) == len(findings), told
    for finding, parts in zip(told, findings, strict=True):
        assert finding.startswith(parts[0])
        assert all(part in finding for part in parts[1:]), finding
    assert said.code == (1 if findings else 0)


def test_expectations_are_measured_after_a_round(tmp_path: Path) -> None:
    """What rounds have cost goes before what the texts let expect."""
    with a_lab(a_world()) as lab:
        before = checked(tmp_path, lab).json["models"][MODEL]
        called("round", MODEL, "--config", tmp_path / "routecanary.toml", environ=environment(tmp_path))
        document = checked(tmp_path, lab).json
        words = checked(tmp_path, lab, json=False).out
    after = document["models"][MODEL]
    assert (before["expected_basis"], before["rounds_measured"]) == ("texts", 0)
    assert (after["expected_basis"], after["rounds_measured"]) == ("measured", 1)
    spent = document["budget"]["spent_today_usd"]
    assert after["expected_cost_per_round_usd"] == pytest.approx(spent, abs=1e-6)
    assert f"{MODEL}: expected by what the rounds so far have cost; measured: the last 1\n" in words
    assert "budget: 5.00 USD a UTC day, 0.5000 of it for suspended routes; today 0.0" in words


def test_a_round_by_hand_says_whom_the_budget_left_out(tmp_path: Path) -> None:
    """In words and in the document, beside what the round cost."""
    with a_lab(a_world()) as lab:
        config = a_config(tmp_path, lab.base_url, more="[budget]\nper_day_usd = 0.01\n")
        document = called("round", MODEL, "--json", "--config", config, environ=environment(tmp_path)).json
        words = called("round", MODEL, "--config", config, environ=environment(tmp_path)).out
    assert len(document["left_out"]) == 4
    assert 0 < document["cost_usd"] < 0.01
    line = next(line for line in words.splitlines() if line.startswith("not asked, for the day's budget"))
    assert len(line.split(": ")[1].split(", ")) >= 4
