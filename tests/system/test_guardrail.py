"""The exclusions in a guardrail, by daemon and commands over HTTP, and what they do to production."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from routecanary.lab.gateway import LabGateway
from routecanary.lab.guardrails import LabGuardrail
from routecanary.lab.keyring import LabKey, guardrail_id
from routecanary.lab.scenario import Scenario
from tests.commandline import (
    KEY,
    MODEL,
    SPOILED,
    Ran,
    a_config,
    a_lab,
    a_scenario,
    called,
    environment,
    ran,
)
from tests.lab import a_body
from tests.system.test_daemon import the_daemon, until

CANARY = LabKey(key=KEY, name="canary", workspace="watch", creator="user_watch")
PRODUCTION = LabKey(key="sk-or-v1-production-key", name="production")
MANAGEMENT = LabKey(key="sk-or-v1-management-never-shown", name="management", management=True)
SHIELD = guardrail_id("shield")
SLUG = SPOILED.split("/")[0]
TABLE = f"""
[guardrail]
enabled = true
apply = true
id = "{SHIELD}"
check_every = "1s"
"""


def an_account(*ignored: str, keys: tuple[str, ...] = ("production",), **more: Any) -> Scenario:
    trial = a_scenario()
    return Scenario(
        name="account",
        key=KEY,
        models=trial.models,
        keys=(CANARY, PRODUCTION, MANAGEMENT),
        guardrails=(LabGuardrail(name="shield", ignored_providers=ignored, keys=keys, **more),),
    )


def variables(folder: Path) -> dict[str, str]:
    return environment(folder, OPENROUTER_MANAGEMENT_KEY=MANAGEMENT.key)


def command(folder: Path, *tokens: str) -> Ran:
    """Run one of the guardrail's commands with the daemon's configuration."""
    return called("guardrail", *tokens, "--config", folder / "routecanary.toml", environ=variables(folder))


def ignored(lab: LabGateway) -> list[str]:
    return list(lab.guardrails.get(SHIELD).fields.get("ignored_providers") or [])


def served(lab: LabGateway, requests: int = 30) -> set[str]:
    """Send production's own requests, without any list, and tell who served them."""

    async def go() -> None:
        headers = {"Authorization": f"Bearer {PRODUCTION.key}"}
        async with aiohttp.ClientSession() as session:
            for _ in range(requests):
                address = f"{lab.base_url}/chat/completions"
                async with session.post(address, json=a_body(), headers=headers) as response:
                    assert response.status == 200, await response.text()
                    await response.read()

    before = len(lab.ledger)
    asyncio.run(go())
    return {each.route for each in list(lab.ledger)[before:] if each.key == "production"}


@dataclass
class Watching:
    lab: LabGateway
    folder: Path
    stop: Callable[[], int]


@contextmanager
def a_daemon(folder: Path, lab: LabGateway, table: str = TABLE, **more: str) -> Iterator[Watching]:
    """Run the daemon in enforce mode with a guardrail."""
    keys = {"OPENROUTER_MANAGEMENT_KEY": MANAGEMENT.key}
    with the_daemon(folder, lab.base_url, more=table, **keys, **more) as process:

        def stop() -> int:
            process.send_signal(signal.SIGTERM)
            return process.wait(timeout=30)

        yield Watching(lab, folder, stop)


@pytest.fixture(scope="module")
def suspended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that knows a suspended route, whose exclusion is in force."""
    folder = tmp_path_factory.mktemp("suspended")
    config, environ = a_config(folder), environment(folder)
    with a_lab() as lab:
        config = a_config(folder, lab.base_url)
        assert called("mode", MODEL, "enforce", "--force", "--config", config, environ=environ).code == 0
        for _ in range(2):
            assert called("round", MODEL, "--config", config, environ=environ).code == 0
    assert SPOILED in called("ignore", MODEL, "--config", config, environ=environ).out
    return folder


@pytest.fixture
def folder(suspended: Path, tmp_path: Path) -> Path:
    """A copy of that store, which a daemon or a command goes on with."""
    for path in suspended.glob("events.sqlite3*"):
        shutil.copy(path, tmp_path)
    return tmp_path


def configured(folder: Path, lab: LabGateway, table: str = TABLE) -> None:
    """Configure a guardrail beside the store."""
    config = a_config(folder, lab.base_url, more=table)
    text = config.read_text(encoding="utf-8").replace('document_timeout = "5s"', 'document_timeout = "1s"')
    config.write_text(text, encoding="utf-8")


def log(folder: Path) -> str:
    return (folder / "log").read_text(encoding="utf-8")


def test_production_avoids_a_suspended_route_without_changing_a_request(folder: Path) -> None:
    """The daemon writes it, the canary still probes it, an ending daemon takes it out; theirs stays."""
    with a_lab(an_account("plover")) as lab:
        assert SPOILED in served(lab)
        with a_daemon(folder, lab) as daemon:
            until(lambda: ignored(lab) == ["plover", SLUG])
            assert served(lab) == {"acme", "cindermoor", "north-host/fp8"}
            probed = sum(each.route == SPOILED and each.key == "canary" for each in lab.ledger)
            until(lambda: sum(each.route == SPOILED and each.key == "canary" for each in lab.ledger) > probed)
            status = called(
                "status", "--json", "--config", folder / "routecanary.toml", environ=variables(folder)
            )
            (standing,) = status.json["canary"]["guardrails"].values()
            assert (standing["owned"], standing["refused"]) == ([SLUG], None)
            assert daemon.stop() == 0
        assert ignored(lab) == ["plover"]
    assert f"guardrail written id={SHIELD} added={SLUG} removed=-" in log(folder)
    for path in folder.iterdir():
        for secret in (MANAGEMENT.key, KEY, PRODUCTION.key, MANAGEMENT.hash, CANARY.hash):
            assert secret.encode() not in path.read_bytes(), path


def test_a_daemon_that_is_killed_is_cleared_after_and_its_successor_knows_what_is_its_own(
    folder: Path,
) -> None:
    """What a dead daemon left is told, and taken out by the next one or by the command; theirs stays."""
    with a_lab(an_account("plover")) as lab:
        with a_daemon(folder, lab):
            until(lambda: SLUG in ignored(lab))
        assert ignored(lab) == ["plover", SLUG], "it was killed"
        status = called("status", "--config", folder / "routecanary.toml", environ=variables(folder))
        assert f"guardrail_left: nobody looks after {SLUG}" in status.out
        with a_daemon(folder, lab) as daemon:
            until(lambda: "watching model" in log(folder))
            assert daemon.stop() == 0
        assert ignored(lab) == ["plover"]
        with a_daemon(folder, lab):
            until(lambda: SLUG in ignored(lab))
        done = ran(
            "guardrail",
            "clear",
            "--json",
            "--config",
            folder / "routecanary.toml",
            folder=folder,
            OPENROUTER_MANAGEMENT_KEY=MANAGEMENT.key,
        )
        assert done.json == {"guardrails": {SHIELD: [SLUG]}}
        assert ignored(lab) == ["plover"]


def test_a_daemon_told_to_keep_its_entries_leaves_them(folder: Path) -> None:
    """They stay over a restart, and are still its own."""
    with a_lab(an_account()) as lab:
        with a_daemon(folder, lab, TABLE + 'on_stop = "keep"\n') as daemon:
            until(lambda: SLUG in ignored(lab))
            assert daemon.stop() == 0
        assert ignored(lab) == [SLUG]
        assert command(folder, "clear").out == f"{SHIELD}: taken out: {SLUG}\n"
        assert ignored(lab) == []


def test_without_apply_the_daemon_only_says_what_it_would_write(folder: Path) -> None:
    """Two steps: a dry run first, then one writing by hand."""
    with a_lab(an_account("plover")) as lab:
        with a_daemon(folder, lab, TABLE.replace("apply = true", "apply = false")) as daemon:
            until(lambda: f"guardrail not written, apply is off id={SHIELD} add={SLUG}" in log(folder))
            assert daemon.stop() == 0
        assert (ignored(lab), lab.management.writes) == (["plover"], [])
        planned = command(folder, "plan", "--json")
        assert (planned.code, planned.json["add"], planned.json["foreign"]) == (0, [SLUG], ["plover"])
        shown = command(folder, "show", "--json").json
        assert (shown["covers"], shown["owned"]) == ({"keys": 1, "members": 0, "workspaces": 0}, [])
        assert lab.management.writes == []
        synced = command(folder, "sync", "--json")
        assert (synced.code, synced.json["added"]) == (0, [SLUG])
        assert "no daemon takes these entries out" in synced.err
        assert ignored(lab) == ["plover", SLUG]


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (an_account(keys=("production", "canary")), "covers_key"),
        (an_account(members=("user_watch",)), "covers_member"),
        (an_account(workspace="watch", default=True), "covers_workspace"),
    ],
    ids=["key", "member", "workspace"],
)
def test_a_guardrail_that_covers_the_canary_is_refused(folder: Path, scenario: Scenario, why: str) -> None:
    """By daemon, commands and check alike; nothing is ever written, and it is told once."""
    (shield,) = scenario.guardrails
    table = TABLE.replace(SHIELD, shield.id)
    with a_lab(scenario) as lab:
        with a_daemon(folder, lab, table) as daemon:
            until(lambda: f"guardrail refused id={shield.id} why={why}" in log(folder))
            assert daemon.stop() == 0
        for tokens in (["plan"], ["sync"], ["show"]):
            done = command(folder, *tokens)
            assert done.code == 1
            assert f"the guardrail is refused: {why}" in done.err
        checked = called(
            "check", "--json", "--config", folder / "routecanary.toml", environ=variables(folder)
        )
        assert checked.json["guardrail"]["refused"] == why
        assert any("guardrail is refused" in finding for finding in checked.json["findings"])
        assert lab.management.writes == []
        events = called(
            "events", "--json", "--config", folder / "routecanary.toml", environ=variables(folder)
        )
        assert events.out.count('"event": "guardrail_refused"') == 1


def test_a_guardrail_that_comes_to_cover_the_canary_is_left_at_once(folder: Path) -> None:
    """The entries go, the canary reaches the route again, and a critical notice is written."""
    with a_lab(an_account("plover")) as lab, a_daemon(folder, lab) as daemon:
        until(lambda: SLUG in ignored(lab))
        lab.guardrails.assign_keys(SHIELD, [CANARY.hash])
        until(lambda: ignored(lab) == ["plover"])
        until(lambda: "why=covers_key" in log(folder))
        lab.guardrails.assign_keys(SHIELD, [PRODUCTION.hash])
        del lab.guardrails.of_key[CANARY.hash]
        until(lambda: SLUG in ignored(lab))
        assert daemon.stop() == 0


def answering(status: int, body: bytes = b"{}") -> Callable[[str, str], Awaitable[web.StreamResponse | None]]:
    async def answer(_: str, path: str) -> web.StreamResponse | None:
        return web.Response(status=status, body=body, content_type="application/json")

    return answer


async def slow(_: str, __: str) -> web.StreamResponse | None:
    await asyncio.sleep(30)
    return None


TROUBLES = {
    "down": (answering(503), "HTTP 503"),
    "unauthorized": (answering(401), "the management key was refused"),
    "forbidden": (answering(403), "must be a management key"),
    "limited": (answering(429), "the gateway limits our calls"),
    "rubbish": (answering(200, b"<html>"), "not JSON"),
    "empty": (answering(200, b'{"data": {}}'), "tells of another guardrail"),
    "silent": (
        answering(200, f'{{"data": {{"id": "{SHIELD}", "name": "x", "workspace_id": null}}}}'.encode()),
        "does not state ignored_providers",
    ),
    "endless": (answering(200, b'"' + b"x" * 3_000_000), "more than"),
    "slow": (slow, "no whole answer within"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_with_the_account_loses_nothing(folder: Path, name: str) -> None:
    """The commands say what is wrong and exit with 3; nothing is written, here or there."""
    meddler, said = TROUBLES[name]
    with a_lab(an_account("plover")) as lab:
        configured(folder, lab)
        assert command(folder, "sync", "--json").json["added"] == [SLUG]
        lab.management.meddler = meddler
        for tokens in ("plan", "sync", "clear"):
            done = command(folder, tokens)
            assert (done.code, said in done.err) == (3, True), done.err
            assert MANAGEMENT.key not in done.err
        lab.management.meddler = None
        assert ignored(lab) == ["plover", SLUG]
        assert command(folder, "clear", "--json").json == {"guardrails": {SHIELD: [SLUG]}}
        assert ignored(lab) == ["plover"]


@pytest.mark.parametrize("path", ["/keys", "/assignments", "/workspaces"])
def test_a_coverage_that_cannot_be_read_refuses(folder: Path, path: str) -> None:
    """One call of several that fails is enough."""

    async def failing(_: str, asked: str) -> web.StreamResponse | None:
        return web.Response(status=500) if path in asked else None

    with a_lab(an_account()) as lab:
        configured(folder, lab)
        lab.management.meddler = failing
        done = command(folder, "sync", "--json")
        assert (done.code, done.json["refused"], done.json["added"]) == (1, "unclear", [])
        assert done.json["add"] == [SLUG]
        assert ignored(lab) == []


def test_a_key_that_the_lists_do_not_name_is_found_by_asking_the_routing(
    folder: Path,
) -> None:
    """Where an assignment is not told, the canary's own requests tell: the entry is taken out again."""
    with a_lab(an_account(keys=("production", "canary"))) as lab:
        configured(folder, lab)

        async def hiding(_: str, path: str) -> web.StreamResponse | None:
            nobody = {"data": [], "total_count": 0}
            return web.json_response(nobody) if path.endswith("/assignments/keys") else None

        lab.management.meddler = hiding
        done = command(folder, "sync", "--json")
        assert (done.code, done.json["refused"], done.json["removed"]) == (1, "withheld", [SLUG])
        assert SPOILED in done.json["problem"]
        assert ignored(lab) == []


def test_an_edit_by_somebody_else_while_we_are_at_it_is_kept(folder: Path) -> None:
    """Between our reading and our write, and right after it: nothing of theirs is lost, and it is told."""
    with a_lab(an_account("plover")) as lab:
        configured(folder, lab)
        edits = [["plover", "new"], ["plover"]]

        async def editing(method: str, path: str) -> web.StreamResponse | None:
            if (path.startswith("/workspaces") and len(edits) == 2) or (
                method == "GET" and path.endswith(SHIELD) and lab.management.writes and len(edits) == 1
            ):
                lab.guardrails.update(SHIELD, {"ignored_providers": edits.pop(0)})
            return None

        lab.management.meddler = editing
        done = command(folder, "sync", "--json")
        assert done.code == 0, done.err
        assert lab.management.writes == [{"ignored_providers": ["plover", "new", SLUG]}]
        assert (ignored(lab), done.json["added"]) == (["plover"], [SLUG])
        events = called(
            "events", "--json", "--config", folder / "routecanary.toml", environ=variables(folder)
        )
        (lost,) = (line["body"] for line in events.lines if line["kind"] == "guardrail_entries_lost")
        assert lost["entries"] == [SLUG]


def test_a_list_of_assignments_in_pages_is_read_as_a_whole(folder: Path) -> None:
    """The canary's key on the second page is found."""
    many = tuple(LabKey(key=f"sk-{number}", name=f"k{number}") for number in range(120))
    scenario = an_account(keys=tuple(key.name for key in many))
    keys = (*scenario.keys, *many)
    scenario = Scenario(
        name="many", key=KEY, models=scenario.models, keys=keys, guardrails=scenario.guardrails
    )
    with a_lab(scenario) as lab:
        (folder / "routecanary.toml").write_text(
            f'[gateway]\nbase_url = "{lab.base_url}"\n[store]\npath = "s"\n{TABLE}[models."{MODEL}"]\n'
        )
        assert command(folder, "show", "--json").json["covers"]["keys"] == 120
        lab.guardrails.assign_keys(SHIELD, [CANARY.hash])
        assert command(folder, "show", "--json").json["refused"] == "covers_key"


def test_a_key_that_has_another_hash_is_known_by_its_label(folder: Path) -> None:
    """Where no key has the hash that is expected, all of that workspace with the same label count."""
    other = LabKey(key=KEY, name="canary", workspace="watch", creator="user_watch")
    with a_lab(an_account(keys=("production", "canary"))) as lab:

        async def unknown(_: str, path: str) -> web.StreamResponse | None:
            return web.Response(status=404) if path == f"/keys/{other.hash}" else None

        async def nobody(_: str, path: str) -> web.StreamResponse | None:
            if path == f"/keys/{other.hash}":
                return web.Response(status=404)
            return web.json_response({"data": []}) if path == "/keys" else None

        (folder / "routecanary.toml").write_text(
            f'[gateway]\nbase_url = "{lab.base_url}"\n[store]\npath = "s"\n{TABLE}[models."{MODEL}"]\n'
        )
        lab.management.meddler = unknown
        assert command(folder, "show", "--json").json["refused"] == "covers_key"
        lab.management.meddler = nobody
        shown = command(folder, "show", "--json").json
        assert shown["refused"] == "unclear"
        assert "not among those of the account" in shown["problem"]
