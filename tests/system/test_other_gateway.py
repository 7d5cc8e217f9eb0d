"""The whole loop over the second wire: discover, probe, judge, suspend, and an application that avoids."""

from __future__ import annotations

import asyncio
import html
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import openai
import pytest

from routecanary.client import Canary
from routecanary.hooks.openai import with_canary
from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import scenario_from_toml
from tests.commandline import CONFIG, KEY, MODEL, SCENARIO, Ran, a_lab, called, command, environment
from tests.upstreams import passing

SPOILED = "inkspill"
OTHERS = ["acme", "cindermoor", "north-host", "plover"]
CHEAPEST_SPOILED = scenario_from_toml(
    SCENARIO.replace(
        'provider = "Inkspill"',
        'provider = "Inkspill"\nprice_prompt = "0.00000001"\nprice_completion = "0.00000001"',
    ),
    "trial",
)
"""Whoever sorts by cost is served by the host that spoils every answer."""


class Place:
    """A folder with a configuration for a lab, and its commands."""

    def __init__(self, folder: Path, lab: LabGateway, *, period: str = "30m", top: str = "") -> None:
        self.folder, self.lab = folder, lab
        self.config = folder / "routecanary.toml"
        text = CONFIG.format(base_url=lab.base_url, model=MODEL, period=period)
        text = top + text.replace("[gateway]\n", '[gateway]\nkind = "vercel"\n')
        self.config.write_text(text, encoding="utf-8")
        self.environ = {**environment(folder), "AI_GATEWAY_API_KEY": KEY}
        del self.environ["OPENROUTER_API_KEY"]

    def run(self, *tokens: str) -> Ran:
        return called(*tokens, "--config", self.config, environ=self.environ)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place in which two rounds were made in enforce mode."""
    with a_lab(CHEAPEST_SPOILED, wire="vercel") as lab:
        place = Place(tmp_path_factory.mktemp("vercel"), lab)
        for tokens in (
            ["mode", MODEL, "enforce", "--force", "--reason", "x"],
            ["round", MODEL],
            ["round", MODEL],
        ):
            done = place.run(*tokens)
            assert done.code == 0, done
        yield place


def test_check_works_and_says_what_this_gateway_does_not_tell(tmp_path: Path) -> None:
    """Key, models and cost as of the other one; what only that one tells is said to be unknown."""
    with a_lab(CHEAPEST_SPOILED, wire="vercel") as lab:
        place = Place(tmp_path, lab)
        checked = place.run("check", "--live", "--json")
        assert checked.code == 0, checked
        document = checked.json
        assert document["key"]["limit_remaining_usd"] > 99
        facts = document["models"][MODEL]
        assert facts["routes"] == sorted([*OTHERS, SPOILED])
        assert facts["withheld"] == []
        assert facts["withheld_unknown"][0] == {
            "when": "always",
            "why": "this gateway does not tell what lists of the account withhold",
        }
        (trial,) = document["live"]
        assert (trial["ignored"], trial["holds"], trial["why"]) == (None, None, "")
        assert document["account"]["response_cache"] is None
        (served,) = lab.ledger
        assert served.body["providerOptions"] == {"gateway": {"only": [served.route]}}
        assert "this gateway does not tell" in place.run("check").out


def test_two_rounds_suspend_the_host_that_spoils_its_answers(place: Place) -> None:
    """Every probe was pinned as this gateway wants it, and none went elsewhere."""
    assert place.run("ignore", MODEL).out == f"{SPOILED}\n"
    document = place.run("ignore", MODEL, "--json").json
    assert (document["gateway"], document["ignore"], document["only"]) == ("vercel", [SPOILED], OTHERS)
    snapshot = json.loads((place.folder / "snapshot.json").read_bytes())
    assert snapshot["gateway"] == "vercel"
    pinned = [served for served in place.lab.ledger if "providerOptions" in served.body]
    assert len(pinned) > 20
    for served in pinned:
        only = served.body["providerOptions"]["gateway"].get("only", [])
        assert served.route.split("/")[0] in only or len(only) != 1
        assert "provider" not in served.body
        assert "plugins" not in served.body


def ask(place: Place, canary: Canary, **options: Any) -> tuple[str, str]:
    """Ask as an application does, with the real package; returns which host served, and its text."""
    request = {"model": MODEL, "providerOptions": {"gateway": {"sort": "cost"}}, **options}
    changed = canary.patch(request)
    with openai.OpenAI(base_url=place.lab.base_url, api_key=KEY, max_retries=0) as client:
        answer = client.chat.completions.create(
            model=changed.pop("model"),
            messages=[{"role": "user", "content": "How do I boil an egg?"}],
            extra_body=changed,
        )
    (metadata,) = [choice.message.model_extra["provider_metadata"] for choice in answer.choices]  # type: ignore[index]
    assert answer.choices[0].message.content
    return metadata["gateway"]["routing"]["finalProvider"], list(place.lab.ledger)[-1].route


def test_an_application_avoids_it_with_the_openai_package(place: Place, tmp_path: Path) -> None:
    """Without a snapshot the cheapest serves; with it the request carries an allow-list."""
    with Canary(tmp_path / "none.json", thread=False) as blind:
        served, route = ask(place, blind)
        assert (served, route.split("/")[0]) == (SPOILED, SPOILED)
    with mock.patch.dict(os.environ, {"ROUTECANARY_SNAPSHOT": str(place.folder / "snapshot.json")}):
        canary = Canary(thread=False)
    with canary:
        for _ in range(3):
            served, route = ask(place, canary)
            assert served in OTHERS
            assert route.split("/")[0] == served
        body = list(place.lab.ledger)[-1].body
        assert body["providerOptions"] == {"gateway": {"sort": "cost", "only": OTHERS}}
        own = {"gateway": {"sort": "cost", "only": ["plover", SPOILED]}}
        assert ask(place, canary, providerOptions=own)[0] == "plover"
        assert canary.provider_options(MODEL) == {"gateway": {"only": OTHERS}}
        assert not any(canary.status()["counters"].values())
    pause = place.run("pause", MODEL, "--for", "1h", "--reason", "x")
    assert pause.code == 0
    with Canary(place.folder / "snapshot.json", thread=False) as canary:
        assert ask(place, canary)[0] == SPOILED
    assert place.run("resume", MODEL, "--reason", "x").code == 0


CHEAPEST: Any = {"providerOptions": {"gateway": {"sort": "cost"}}}
ASKED: Any = {"model": MODEL, "messages": [{"role": "user", "content": "How do I boil an egg?"}]}


def test_a_hook_lays_the_allow_list_in_by_itself(place: Place) -> None:
    """The application's own code is as it was, and the stream too comes from another host."""
    with (
        Canary(place.folder / "snapshot.json", thread=False) as canary,
        openai.OpenAI(base_url=place.lab.base_url, api_key=KEY, max_retries=0) as given,
        with_canary(given, canary) as client,
        client.chat.completions.create(**ASKED, stream=True, extra_body=CHEAPEST) as stream,
    ):
        assert "".join(piece.choices[0].delta.content or "" for piece in stream)
    served = list(place.lab.ledger)[-1]
    assert served.body["providerOptions"] == {"gateway": {"sort": "cost", "only": OTHERS}}
    assert served.route.split("/")[0] in OTHERS


def test_the_proxy_lays_it_into_the_bytes(place: Place) -> None:
    """For an application in any language, which knows nothing of it."""

    async def go() -> None:
        async with (
            passing(place.lab.base_url, place.folder) as address,
            openai.AsyncOpenAI(base_url=f"http://{address}/v1", api_key=KEY, max_retries=0) as client,
        ):
            answer = await client.chat.completions.create(**ASKED, extra_body=CHEAPEST)
            assert answer.choices[0].message.content

    asyncio.run(go())
    served = list(place.lab.ledger)[-1]
    assert served.body["providerOptions"] == {"gateway": {"sort": "cost", "only": OTHERS}}
    assert served.route.split("/")[0] in OTHERS


def test_a_packet_asks_the_host_the_same_question_through_this_gateway(place: Place, tmp_path: Path) -> None:
    """The request in it pins by this gateway's key, and reads its key from this gateway's variable."""
    (incident,) = place.run("incidents", "--json").json
    exported = place.run("incidents", "export", incident["id"], "--out", str(tmp_path))
    assert exported.code == 0, exported
    page = html.unescape(next(tmp_path.glob("*.html")).read_text("ascii"))
    assert f'"providerOptions": {{"gateway": {{"only": ["{SPOILED}"]}}}}' in page
    assert "$AI_GATEWAY_API_KEY" in page
    assert "OPENROUTER_API_KEY" not in page
    assert '"provider":' not in page


def test_a_study_and_a_reproduction_are_asked_through_it_too(place: Place) -> None:
    """They share pins and judges with the rounds."""
    compared = place.run("compare", MODEL, "-n", "2", "--json")
    assert compared.code in (0, 1), compared
    assert {route["route"] for route in compared.json["routes"]} == {*OTHERS, SPOILED}


def test_the_daemon_makes_rounds_over_it_until_a_signal_ends_it(tmp_path: Path) -> None:
    """A process of its own: it suspends, an application avoids, and the key stands nowhere afterwards."""
    with a_lab(CHEAPEST_SPOILED, wire="vercel") as lab:
        place = Place(tmp_path, lab, period="1s", top='initial_mode = "enforce"\n')
        with (
            (tmp_path / "log").open("w") as log,
            subprocess.Popen(
                command("run", "--config", place.config, "--json"),
                cwd=tmp_path,
                env=place.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            try:
                assert process.stdout is not None
                while json.loads(process.stdout.readline()).get("ignore") != [SPOILED]:
                    pass
                with Canary(tmp_path / "snapshot.json", thread=False) as canary:
                    assert ask(place, canary)[0] in OTHERS
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=20) == 0
            finally:
                process.kill()
    assert f"gateway={lab.base_url}" in (tmp_path / "log").read_text("utf-8")
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path
