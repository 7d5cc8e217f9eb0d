"""What a file of the built-in layer must show before anybody is accused."""

from __future__ import annotations

from importlib.resources import files

import pytest

from routecanary.domain.exclusion import BuiltinEntry
from routecanary.domain.names import FILTERING, ModelId
from routecanary.errors import ConfigError
from routecanary.routing.layers import MAX_ENTRIES, MAX_FILE, builtin_for, builtin_from_toml, runtime_for
from tests.snapshots import builtin, runtime

SHIPPED = (files("routecanary.routing") / "builtin.toml").read_text("utf-8")
ENTRY = {
    "route": '"example-host/fp4"',
    "reason": '"spoils the start"',
    "evidence": '"19 of 20"',
    "reviewer": '"A. Reviewer"',
    "date": "2026-01-05",
}


def written(**changes: str | None) -> str:
    """Write one entry as TOML; None leaves a key out."""
    values = {key: value for key, value in (ENTRY | changes).items() if value is not None}
    return "[[exclusions]]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())


def test_the_shipped_file_accuses_nobody() -> None:
    """It holds commented examples only, and they would be read if they were none."""
    assert builtin_from_toml(SHIPPED, "builtin.toml") == ()
    uncommented = "\n".join(
        line.removeprefix("# ")
        for line in SHIPPED.splitlines()
        if line.startswith("# [[") or line.partition(" = ")[1]
    )
    first, second = builtin_from_toml(uncommented, "builtin.toml")
    assert first.target == "example-host/fp4"
    assert first.models == {"example-author/example-model"}
    assert second.control_for == {FILTERING}


def test_an_entry_is_read() -> None:
    """A provider's slug or a route's tag, in lower case; the date also as a text."""
    text = written(
        route=None,
        provider='"FilterHost"',
        models='["acme/chat", "acme/other:free"]',
        date='"2026-01-05"',
        control_for='["filtering"]',
        reason='"  spoils the start "',
    )
    assert builtin_from_toml(text, "own.toml") == (
        BuiltinEntry(
            target="filterhost",
            models=frozenset({ModelId("acme/chat"), ModelId("acme/other:free")}),
            reason="spoils the start",
            evidence="19 of 20",
            reviewer="A. Reviewer",
            date="2026-01-05",
            control_for=frozenset({FILTERING}),
        ),
    )
    assert builtin_from_toml(written(), "own.toml")[0].models is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            written(reason=None),
            "own.toml: exclusions[0].reason: missing; allowed: a text of 1 to 2000 characters",
        ),
        (written(evidence=None), "own.toml: exclusions[0].evidence: missing"),
        (written(reviewer=None), "own.toml: exclusions[0].reviewer: missing"),
        (written(date=None), "own.toml: exclusions[0].date: missing; allowed: the day of the review"),
        (written(route=None), "exclusions[0].route: missing; allowed: exactly one of route, provider"),
        (written(provider='"x"'), "exclusions[0].provider: given beside route; allowed: exactly one of"),
        (written(reason='"  "'), "exclusions[0].reason: not a text (got '  ')"),
        (written(reason='"' + "x" * 2001 + '"'), "exclusions[0].reason: not a text"),
        (
            written(reviewer="3"),
            "exclusions[0].reviewer: not a text but a whole number; allowed: 1 to 200 characters",
        ),
        (written(evidence="0x" + "f" * 5000), "exclusions[0].evidence: not a text"),
        (written(date="2026-01-05T00:00:00Z"), "exclusions[0].date: not a day but a date or time"),
        (written(date='"2026-02-30"'), "exclusions[0].date: not a day (got '2026-02-30')"),
        (written(date='"20260105"'), "exclusions[0].date: not a day (got '20260105')"),
        (written(date="20260105"), "exclusions[0].date: not a day"),
        (written(route='"two words"'), "exclusions[0].route: not a route tag (got 'two words')"),
        (written(route='"a\\u0000"'), "exclusions[0].route: not a route tag"),
        (written(route='""'), "exclusions[0].route: not a text (got '')"),
        (written(route="7"), "exclusions[0].route: not a text"),
        (
            written(models="[]"),
            "exclusions[0].models: an empty list; allowed: a list, or left out for all models",
        ),
        (written(models='"acme/chat"'), "exclusions[0].models: not a list of models (got 'acme/chat')"),
        (written(models='["acme/chat", "acme"]'), "exclusions[0].models[1]: not a model id (got 'acme')"),
        (written(models="[3]"), "exclusions[0].models[0]: not a model id"),
        (written(control_for='"filtering"'), "exclusions[0].control_for: not a list of contracts"),
        (written(control_for='["taste"]'), "exclusions[0].control_for[0]: no such contract (got 'taste')"),
        (written(control_for="[{}]"), "exclusions[0].control_for[0]: no such contract"),
        (written(target='"x"'), "exclusions[0].target: unknown key; allowed: route, provider, models"),
        (written() + written(date=None), "exclusions[1].date: missing"),
        ("exclusion = []", "own.toml: exclusion: unknown key; allowed: exclusions"),
        ("exclusions = 3", "own.toml: exclusions: not a list of tables"),
        ("exclusions = [3]", "own.toml: exclusions: not a list of tables"),
        ("[exclusions]", "own.toml: exclusions: not a list of tables"),
        ("exclusions = [", "own.toml: not readable as TOML"),
        ("exclusions = " + "[" * 5000, "own.toml: not readable as TOML: nested too deeply"),
        ("#" * (MAX_FILE + 1), "own.toml: longer than"),
        ("[[exclusions]]\n" * (MAX_ENTRIES + 1), "own.toml: exclusions: too many entries (got 1001)"),
    ],
)
def test_a_bad_file_is_refused_by_place_key_and_what_is_allowed(text: str, message: str) -> None:
    """Without reason, evidence, reviewer and date nobody is excluded."""
    with pytest.raises(ConfigError) as raised:
        builtin_from_toml(text, "own.toml")
    assert message in str(raised.value)


def test_entries_apply_to_their_models_or_to_all() -> None:
    """The order of the file stays."""
    ours, theirs, everybody = builtin("a", models=["acme/chat"]), builtin("b", models=["x/y"]), builtin("c")
    assert builtin_for([everybody, theirs, ours], ModelId("acme/chat")) == (everybody, ours)
    first, second = runtime("a", models=["x/y"]), runtime("b")
    assert runtime_for([first, second], ModelId("acme/chat")) == (second,)
