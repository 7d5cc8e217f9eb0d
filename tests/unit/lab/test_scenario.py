"""What a scenario file says, and how a bad one is refused."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from routecanary.domain.probe import ProbeKind
from routecanary.errors import ScenarioError, ScenarioFaultsError
from routecanary.lab.host import Account, Expectation, Rules, Window
from routecanary.lab.keyring import LabKey
from routecanary.lab.scenario import builtin_names, builtin_scenario, scenario_from_toml

FULL = """
name = "full"
about = "Everything at once."
key = "secret-key"
account = "no_credit"
[noise]
natural_failure = 0.5
transport_errors = 0.25
[[models]]
id = "acme/chat-2"
name = "Acme: Chat 2"
dated = "acme/chat-2-20260901"
[[models.faults]]
fault = "cut_stream"
probability = 0.1
[[models.routes]]
tag = "North-Host/FP8"
provider = "North Host"
slug = "north-host"
parameters = ["max_tokens"]
rows = 2
quantization = "fp8"
price_prompt = "0.0000001"
price_completion = "0"
context_length = 8192
max_completion_tokens = 4096
status = -2
service_tier = "flex"
official = true
trains_on_data = true
keeps_data = true
first_text_seconds = 1
first_text_spread = 0.5
tokens_per_second = 50
answer_seconds = 2.5
noise = { natural_failure = 0.0 }
listed = { from = "1h", to = "2h" }
[[models.routes.faults]]
fault = "slow_first_text"
probability = 0.5
from = "30m"
every = "6h"
lasting = "2h"
locales = ["pt"]
probes = ["chat"]
only_cold = true
seed = 11
expect = "suspended"
parameters = { delay_seconds = 12 }
"""


RULES = """
name = "rules"
ignore_full_tags = false
[account]
withheld = ["Maple", "north-host/fp8"]
plugins = ["web"]
response_cache = true
[[models]]
id = "a/b"
[[models.routes]]
tag = "host"
provider = "Host"
"""


def test_what_the_gateway_does_to_every_request_arrives() -> None:
    """The account may be a word for its state, or a table; left out, nothing is done."""
    scenario = scenario_from_toml(RULES, "rules.toml")
    assert scenario.account is Account.OK
    assert scenario.rules == Rules(
        withheld=("maple", "north-host/fp8"), plugins=("web",), response_cache=True, ignore_full_tags=False
    )
    assert scenario_from_toml(FULL, "full.toml").rules == Rules()
    broke = RULES.replace("plugins =", 'state = "no_credit"\nplugins =')
    assert scenario_from_toml(broke, "rules.toml").account is Account.NO_CREDIT


ACCOUNT = """
name = "account"
guardrails_full_tags = true
[[keys]]
key = "sk-production"
name = "production"
workspace = "shop"
creator = "user_shop"
[[keys]]
key = "sk-management"
name = "management"
management = true
[[guardrails]]
name = "shield"
ignored_providers = ["maple"]
keys = ["production", "lab"]
[[guardrails]]
name = "all"
workspace = "shop"
default = true
allowed_providers = []
members = ["user_shop"]
[[models]]
id = "a/b"
[[models.routes]]
tag = "host"
provider = "Host"
"""


def test_keys_and_guardrails_arrive() -> None:
    """Beside the one key, which has a name of its own unless a table says whose it is."""
    scenario = scenario_from_toml(ACCOUNT, "account.toml")
    production, management = scenario.keys
    assert production == LabKey(key="sk-production", name="production", workspace="shop", creator="user_shop")
    assert management.management
    assert [key.name for key in scenario.all_keys()] == ["lab", "production", "management"]
    shield, default = scenario.guardrails
    assert (shield.ignored_providers, shield.allowed_providers) == (("maple",), None)
    assert (shield.keys, default.members) == (("production", "lab"), ("user_shop",))
    assert (default.default, default.allowed_providers) == (True, ())
    assert scenario.guardrails_full_tags
    named = scenario_from_toml(ACCOUNT.replace('"sk-production"', '"lab-key"').replace(', "lab"', ""), "x")
    assert [key.name for key in named.all_keys()] == ["production", "management"]


def test_every_key_arrives() -> None:
    """A file with all keys gives the values it states; a model's faults befall each of its routes."""
    scenario = scenario_from_toml(FULL, "full.toml")
    assert (scenario.name, scenario.key, scenario.account) == ("full", "secret-key", Account.NO_CREDIT)
    model = scenario.models[0]
    assert (model.id, model.dated) == ("acme/chat-2", "acme/chat-2-20260901")
    route = model.routes[0]
    assert (route.tag, route.slug, route.rows, route.status) == ("north-host/fp8", "north-host", 2, -2)
    assert (route.price_prompt, route.price_completion) == (Decimal("0.0000001"), Decimal(0))
    assert (route.pace.first_text_seconds, route.pace.answer_seconds) == (1.0, 2.5)
    assert (route.noise.natural_failure, route.noise.transport_errors) == (0.0, 0.02)
    assert route.listed == Window(start=timedelta(hours=1), end=timedelta(hours=2))
    slow, cut = route.faults
    assert slow.window == Window(
        start=timedelta(minutes=30), every=timedelta(hours=6), lasting=timedelta(hours=2)
    )
    assert slow.locales == {"pt-BR"}
    assert slow.probes == {ProbeKind.CHAT}
    assert slow.parameters == {"delay_seconds": 12.0}
    assert (slow.only_cold, slow.seed) == (True, 11)
    assert (cut.only_cold, cut.seed) == (False, None)
    assert slow.expect is Expectation.SUSPENDED
    assert (cut.fault, cut.probability) == ("cut_stream", 0.1)
    assert scenario.find("acme/chat-2", "north-host/fp8") is route
    assert scenario.find("acme/chat-2", "nobody") is None


def test_a_fault_of_the_listing_stands_in_the_same_table() -> None:
    """It arrives apart from the faults of answers, with its window; a model's befalls each of its routes."""
    text = """
name = "x"
[[models]]
id = "a/b"
[[models.faults]]
fault = "listing_emptied"
every = "6h"
lasting = "1h"
[[models.routes]]
tag = "host/fp8"
provider = "Host"
[[models.routes.faults]]
fault = "tag_renamed"
from = "2h"
expect = "either"
parameters = { tag = "host/fp4" }
[[models.routes.faults]]
fault = "spoiled_start"
"""
    route = scenario_from_toml(text, "x.toml").models[0].routes[0]
    assert [fault.fault for fault in route.faults] == ["spoiled_start"]
    renamed, emptied = route.listing_faults
    assert (renamed.fault, renamed.parameters) == ("tag_renamed", {"tag": "host/fp4"})
    assert (renamed.window, renamed.expect) == (Window(start=timedelta(hours=2)), Expectation.EITHER)
    assert emptied.window == Window(every=timedelta(hours=6), lasting=timedelta(hours=1))


def test_little_is_needed() -> None:
    """A tag and a display name make a healthy route; the slug is the tag's first part."""
    text = 'name = "x"\n[[models]]\nid = "a/b"\n[[models.routes]]\ntag = "host/fp8"\nprovider = "Host"\n'
    model = scenario_from_toml(text, "x.toml").models[0]
    assert model.dated == "a/b-20260901"
    route = model.routes[0]
    assert route.slug == "host"
    assert route.healthy
    assert "structured_outputs" in route.parameters


ROUTE = '[[models]]\nid = "a/b"\n[[models.routes]]\ntag = "host"\nprovider = "Host"\n'
FAULT = ROUTE + "[[models.routes.faults]]\n"

BAD = [
    ("", ["name: missing", "models: missing"]),
    (
        "name = 3\nmodels = 1",
        ["name: a whole number where a string belongs (got 3)", "models: a whole number"],
    ),
    ('name = "x"\nmodels = []', ["models: no model"]),
    (
        'name = "x"\nspeed = 1\n' + ROUTE,
        ["speed: unknown key; allowed: name, about, key, keys, guardrails, guardrails_full_tags, account, "],
    ),
    (
        'name = "x"\naccount = "rich"\n' + ROUTE,
        ["account: not one of the words (got 'rich'); allowed: \"ok\" or"],
    ),
    (
        'name = "x"\n[account]\nstate = "rich"\nwithheld = [1]\n' + ROUTE,
        ["account.state: not one of the words (got 'rich')", "account.withheld: a whole number where"],
    ),
    ('name = "x"\naccount = 1\n' + ROUTE, ["account: a whole number where a table belongs"]),
    ('name = "x"\n[account]\nrich = 1\n' + ROUTE, ["account.rich: unknown key; allowed: state, withheld"]),
    ('name = "x"\n[[models]]\nid = "a/b"\nroutes = []', ["models[0].routes: no route"]),
    ('name = "x"\n[[models]]\nid = "a b"\nroutes = []', ["models[0].id: not a model id (got 'a b')"]),
    ('name = "x"\n' + ROUTE + ROUTE, ["names two models (got 'a/b')", "two models (got 'a/b-2026"]),
    (
        'name = "x"\n' + ROUTE + '[[models.routes]]\ntag = "HOST"\nprovider = "H"',
        ["models[0].routes: two routes"],
    ),
    (
        'name = "x"\n' + ROUTE + "rows = 0",
        ["models[0].routes[0].rows: out of range (got 0); allowed: a whole"],
    ),
    ('name = "x"\n' + ROUTE + "rows = true", ["rows: a boolean where a whole number belongs"]),
    (
        'name = "x"\n' + ROUTE + "price_prompt = 0.1",
        ["price_prompt: not a price in quotes (got 0.1); allowed: USD"],
    ),
    ('name = "x"\n' + ROUTE + 'price_prompt = "NaN"', ["price_prompt: out of range"]),
    ('name = "x"\n' + ROUTE + 'price_prompt = "free"', ["price_prompt: not a price (got 'free')"]),
    ('name = "x"\n' + ROUTE + "first_text_seconds = inf", ["first_text_seconds: out of range"]),
    ('name = "x"\n' + ROUTE + "noise = { natural_failure = 1.5 }", ["noise.natural_failure: out of range"]),
    ('name = "x"\n' + ROUTE + "listed = { to = 3 }", ["listed.to: a whole number where a duration belongs"]),
    (
        'name = "x"\n' + ROUTE + "faults = 3",
        ["models[0].routes[0].faults: a whole number where a list of tables"],
    ),
    ('name = "x"\n' + ROUTE + "faults = [3]", ["faults[0]: a whole number where a table belongs"]),
    ('name = "x"\n' + FAULT, ["models[0].routes[0].faults[0].fault: missing"]),
    (
        'name = "x"\n' + FAULT + 'fault = "gremlin"',
        ["faults[0].fault: no such fault (got 'gremlin'); allowed: a name of the table in docs/lab.md"],
    ),
    (
        'name = "x"\n' + FAULT + 'fault = "spoilt_start"',
        ["fault: no such fault (got 'spoilt_start'); allowed: spoiled_start"],
    ),
    (
        'name = "x"\n' + FAULT + 'fault = "delisted"\nprobability = 0.5\nlocales = ["en"]',
        [
            "faults[0].locales: a fault of the listing strikes no single answer",
            "faults[0].probability: a fault of the listing strikes no single answer",
        ],
    ),
    ('name = "x"\n' + FAULT + 'fault = "flaky"\nseed = -1', ["faults[0].seed: "]),
    ('name = "x"\n' + FAULT + 'fault = "flaky"\nonly_cold = 1', ["faults[0].only_cold: "]),
    ('name = "x"\n' + FAULT + 'fault = "flaky"\nfrom = "2h"\nto = "1h"', ["faults[0].to: not after `from`"]),
    (
        'name = "x"\n' + FAULT + 'fault = "flaky"\nevery = "2h"',
        ["faults[0]: `every` and `lasting` go together"],
    ),
    (
        'name = "x"\n' + FAULT + 'fault = "flaky"\nevery = "1h"\nlasting = "2h"',
        ["lasting: longer than `every`"],
    ),
    ('name = "x"\n' + FAULT + 'fault = "flaky"\nprobes = ["poem"]', ["probes: unknown word (got 'poem')"]),
    ('name = "x"\n' + FAULT + 'fault = "flaky"\nlocales = ["EN"]', ["locales: not a locale (got 'EN')"]),
    (
        'name = "x"\n' + FAULT + 'fault = "flaky"\nexpect = "luck"',
        ["expect: not one of the words (got 'luck')"],
    ),
    (
        'name = "x"\n' + FAULT + 'fault = "flaky"\nparameters = { off = 1 }',
        ["models[0].routes[0].faults[0].parameters.off: unknown key; allowed: of"],
    ),
    (
        'name = "x"\n' + FAULT + 'fault = "fenced_json"\nparameters = { of = [] }',
        ["parameters.of: unknown key; allowed: fenced_json takes none"],
    ),
    (
        'name = "x"\n' + FAULT + 'fault = "slow_first_text"\nparameters = { delay_seconds = 1e9 }',
        ["parameters.delay_seconds: not usable (got 1000000000.0); allowed: 0 to 600"],
    ),
    (
        ACCOUNT.replace('"lab"]', '"nobody"]').replace('["user_shop"]', '["user_none"]'),
        [
            "guardrails[0].keys: no such key (got 'nobody'); allowed: lab, management, production",
            "guardrails[1].members: made no key (got 'user_none'); allowed: user_lab, user_shop",
        ],
    ),
    (ACCOUNT.replace('"management"\n', '"production"\n'), ["keys: two keys of one name"]),
    (ACCOUNT.replace('"all"', '"shield"').replace("default = true", ""), ["guardrails: two guardrails of"]),
    ("name = ", ["not readable as TOML"]),
    ('name = "x"\nname = "y"', ["not readable as TOML"]),
    ("a = " + "[" * 3_000, ["not readable as TOML"]),
    ("a = " + "9" * 5_000, ["not readable as TOML"]),
    ("#" * (2 * 1024 * 1024 + 1), ["longer than 2097152 characters"]),
]


@pytest.mark.parametrize(("text", "messages"), BAD, ids=[str(index) for index in range(len(BAD))])
def test_a_bad_file_is_refused_with_place_key_value_and_what_is_allowed(
    text: str, messages: list[str]
) -> None:
    """Every message names the file and the key; several faults of one file come together."""
    with pytest.raises(ScenarioError) as caught:
        scenario_from_toml(text, "bad.toml")
    lines = str(caught.value).splitlines()
    assert all(line.startswith("bad.toml: ") for line in lines)
    assert len(lines) == len(messages)
    for line, message in zip(lines, messages, strict=True):
        assert message in line
    assert all(len(line) < 600 for line in lines)


def test_endless_faults_are_not_all_shown() -> None:
    """Fifty lines, then how many more."""
    text = 'name = "x"\n' + ROUTE + "\n".join(f"key{number} = 1" for number in range(80))
    with pytest.raises(ScenarioFaultsError) as caught:
        scenario_from_toml(text, "bad.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 51
    assert lines[-1] == "bad.toml: and 30 more"


@pytest.mark.parametrize("name", builtin_names())
def test_the_shipped_scenarios_are_valid(name: str) -> None:
    """Each can be read, bears its file's name, and says what to expect of every planted fault."""
    scenario = builtin_scenario(name)
    assert scenario.name == name
    for model in scenario.models:
        for route in model.routes:
            assert all(fault.expect is not None for fault in route.faults), route.tag


def test_an_unknown_scenario_is_refused_by_the_known_names() -> None:
    """The message lists what there is."""
    with pytest.raises(ScenarioError, match="allowed: demo, spoiled"):
        builtin_scenario("nope")


def test_the_demo_has_room_for_every_suspension() -> None:
    """Fourteen healthy hosts, and too few faulty ones for the share or a common cause to hold them back."""
    routes = builtin_scenario("demo").models[0].routes
    healthy = [route for route in routes if route.healthy]
    suspended = [
        route for route in routes if not route.healthy and route.expectation is Expectation.SUSPENDED
    ]
    assert len(routes) >= 15
    assert len(healthy) >= 14
    assert len(suspended) * 2 <= len(routes)
    assert {fault.fault for route in routes for fault in route.faults} >= {
        "spoiled_start",
        "pt_es_mixing",
        "slow_first_text",
        "filtering_refusal",
        "schema_break",
        "fenced_json",
        "flaky",
        "rate_limit_shared_pool",
    }
    assert all(
        route.noise.natural_failure == 0.01 and route.noise.transport_errors == 0.02 for route in routes
    )
