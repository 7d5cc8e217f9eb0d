"""The packet's request, run as it is written by a real shell with a real curl, against the real lab."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import Json, ProbeKind, Scene
from routecanary.domain.transcript import Chunk, Ending, EndingKind, Transcript
from routecanary.domain.verdict import Verdict
from routecanary.judge.examine import judge_transcript
from routecanary.judge.settings import Settings
from routecanary.lab.scenario import scenario_from_toml
from tests.commandline import KEY, MODEL, SCENARIO, Ran, a_config, a_lab, called, environment
from tests.system.test_cli_documented import SECTIONS, keys_of

FAULTY = {
    "spoiled/fp4": ("spoiled_start", "integrity"),
    "rambling": ("schema_break", "structured"),
    "prudish": ("filtering_refusal", "filtering"),
}
"""Route → its fault, and the contract that it is suspended for."""

HEALTHY = ["acme", "cindermoor", "north-host/fp8", "plover"]
PROVIDERS = ["Acme", "Cindermoor", "North Host", "Plover"]
SEVERAL = SCENARIO[: SCENARIO.index('[[models.routes]]\ntag = "inkspill')] + "".join(
    f"""
[[models.routes]]
tag = "{tag}"
provider = "{tag.split("/")[0].title()}"
[[models.routes.faults]]
fault = "{fault}"
probability = 1.0
expect = "suspended"
"""
    for tag, (fault, _) in FAULTY.items()
)
MORE = """
[[models.routes]]
tag = "heron"
provider = "Heron"
[[models.routes]]
tag = "teal"
provider = "Teal"
"""
KINDS = {"integrity": ProbeKind.CHAT, "structured": ProbeKind.STRUCTURED, "filtering": ProbeKind.FILTER}


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A folder with a store, a lab that still answers, and a packet for each faulty route."""

    folder: Path
    incidents: dict[str, int]

    def call(self, *tokens: object) -> Ran:
        config = self.folder / "routecanary.toml"
        return called(*map(str, tokens), "--config", config, environ=environment(self.folder))

    def packet(self, route: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            (self.folder / "out" / f"incident-{self.incidents[route]}.json").read_text("ascii")
        )
        return found

    def page(self, route: str) -> str:
        return (self.folder / "out" / f"incident-{self.incidents[route]}.html").read_text("ascii")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exported]:
    """Suspend three faulty routes beside six healthy ones, and export each incident."""
    folder = tmp_path_factory.mktemp("exported")
    with a_lab(scenario_from_toml(SEVERAL + MORE, "packets")) as lab:
        config = a_config(folder, lab.base_url)
        environ = environment(folder)
        for tokens in (["mode", MODEL, "enforce", "--force"], ["round", MODEL], ["round", MODEL]):
            done = called(*tokens, "--config", config, environ=environ)
            assert done.code == 0, done.err
        listed = called("incidents", "--json", "--config", config, environ=environ).json
        world = Exported(folder=folder, incidents={each["route"]: each["id"] for each in listed})
        assert set(world.incidents) == set(FAULTY)
        for number in world.incidents.values():
            done = world.call("incidents", "export", number, "--out", folder / "out")
            assert (done.code, done.err) == (0, "")
        yield world


class Pre(HTMLParser):
    """What a reader copies out of a page: the texts of `pre`, by class."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self._under: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._under = dict(attrs).get("class") if tag == "pre" else None
        if self._under is not None:
            self.found.setdefault(self._under, []).append("")

    def handle_data(self, data: str) -> None:
        if self._under is not None:
            self.found[self._under][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._under = None


def by_shell(exported: Exported, command: str) -> bytes:
    """Run a command line as a person would who copied it."""
    assert shutil.which("curl"), "this test needs curl"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=environment(exported.folder),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def judged(exhibit: dict[str, Any], output: bytes) -> Verdict:
    """Judge what curl printed, as if the canary had heard it."""
    body: Json = exhibit["request"]["body"]
    kind = KINDS[exhibit["contract"]]
    transcript = Transcript(
        model=ModelId(MODEL),
        route=RouteId(body["provider"]["only"][0]),
        kind=kind,
        locale=None if exhibit["came"]["locale"] is None else Locale(exhibit["came"]["locale"]),
        request=body,
        status=200,
        headers=(("content-type", "text/event-stream"),),
        chunks=(Chunk(100.0, output),),
        ending=Ending(kind=EndingKind.EOF, at_ms=200.0),
        scene=Scene(id="s", prompt="p", opening="*" if kind is ProbeKind.CHAT else None),
    )
    return judge_transcript(transcript, Settings())[ContractName(exhibit["contract"])]


def the_exhibit(exported: Exported, route: str) -> dict[str, Any]:
    contract = FAULTY[route][1]
    (found,) = (each for each in exported.packet(route)["exhibits"] if each["contract"] == contract)
    return dict(found)


@pytest.mark.parametrize("route", FAULTY)
def test_the_curl_line_shows_the_fault(exported: Exported, route: str) -> None:
    """Run as written, it brings an answer that fails the same contract; from a healthy route, none."""
    exhibit = the_exhibit(exported, route)
    verdict = judged(exhibit, by_shell(exported, exhibit["request"]["curl"]))
    assert verdict.kind == "fail", verdict
    assert exhibit["came"]["kind"] is not None
    elsewhere = exhibit["request"]["curl"].replace(f'"only": ["{route}"]', '"only": ["teal"]')
    assert elsewhere != exhibit["request"]["curl"]
    healthy = {**exhibit, "request": {"body": {**exhibit["request"]["body"], "provider": {"only": ["teal"]}}}}
    assert judged(healthy, by_shell(exported, elsewhere)).kind == "pass"


@pytest.mark.parametrize("route", FAULTY)
def test_the_page_has_the_same_line(exported: Exported, route: str) -> None:
    """What a reader copies out of the page is the document's line, program and request."""
    found = Pre(exported.page(route)).found
    requests = [each["request"] for each in exported.packet(route)["exhibits"]]
    assert found["curl"] == [each["curl"] for each in requests]
    assert found["python"] == [each["python"] for each in requests]
    assert [json.loads(text) for text in found["body"]] == [each["body"] for each in requests]


@pytest.mark.parametrize("route", FAULTY)
def test_the_program_shows_the_fault_without_any_library(exported: Exported, route: str) -> None:
    """It runs apart from everything that is installed, and prints the text that the fault is in."""
    exhibit = the_exhibit(exported, route)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", exhibit["request"]["python"]],
        env=environment(exported.folder, PYTHONIOENCODING="ascii"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    frame = {
        "choices": [
            {"delta": {"content": eval(lines["text"])}, "finish_reason": eval(lines["finish reason"])}
        ]
    }
    frame |= {"model": MODEL, "provider": route.split("/", maxsplit=1)[0].title()}
    verdict = judged(exhibit, f"data: {json.dumps(frame)}\n\ndata: [DONE]\n\n".encode())
    assert verdict.kind == "fail", verdict


def test_a_packet_tells_nothing_but_the_routes_own(exported: Exported) -> None:
    """No key, no peer's name, no end user; with `--name-peers` the peers, and still no key."""
    with SqliteStore(exported.folder / "events.sqlite3") as store:
        users = {
            kept.transcript.request["user"]
            for entry in store.find(ModelId(MODEL))
            if (kept := store.get(entry.id)) is not None
        }
    assert users
    for route in FAULTY:
        others = {*HEALTHY, *PROVIDERS, *FAULTY, "heron", "teal", "Heron", "Teal"} - {
            route,
            route.split("/")[0],
        }
        for written in (exported.page(route), json.dumps(exported.packet(route))):
            assert KEY not in written
            assert not [user for user in users if user in written]
            assert not [name for name in others - {"acme", "Acme"} if name in written]
            assert '"acme"' not in written, "the model's name may stand there, the route's may not"
    route = "spoiled/fp4"
    named = exported.folder / "named"
    done = exported.call(
        "incidents", "export", exported.incidents[route], "--out", named, "--name-peers", "--json"
    )
    told = json.loads(Path(done.json["document"]).read_text("ascii"))
    (exhibit,) = (each for each in told["exhibits"] if each["contract"] == "integrity")
    assert {peer["route"] for peer in exhibit["peers"]["each"]} == {
        *HEALTHY,
        "heron",
        "teal",
        "rambling",
        "prudish",
    }
    assert exhibit["how_often"]["before"]["fails"] >= 4
    assert exhibit["peers"]["together"]["fails"] == 0
    assert KEY not in Path(done.json["page"]).read_text("ascii")


def test_the_anchor_is_found_in_the_log(exported: Exported) -> None:
    """A number and a hash can be looked up with the command that lists events."""
    anchor = exported.packet("prudish")["anchor"]
    for each in (anchor["suspension"], *anchor["rounds"], anchor["head"]):
        (event,) = exported.call("events", "--after", each["seq"] - 1, "--limit", "1", "--json").lines
        assert event["hash"] == each["hash"]
    assert exported.call("store", "verify").code == 0


def test_what_cannot_be_exported_says_why(exported: Exported, tmp_path: Path) -> None:
    """No such incident; a place that is no directory; nothing is left behind."""
    missing = exported.call("incidents", "export", "999999", "--out", tmp_path)
    assert (missing.code, missing.out) == (1, "")
    assert "there is no incident 999999" in missing.err
    (tmp_path / "file").write_text("mine")
    blocked = exported.call("incidents", "export", exported.incidents["prudish"], "--out", tmp_path / "file")
    assert (blocked.code, blocked.out) == (2, "")
    assert "--out: cannot be written" in blocked.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_every_key_of_a_packet_is_documented(exported: Exported) -> None:
    """The command's own answer in docs/cli.md, the packet's keys in docs/incidents.md."""
    done = exported.call(
        "incidents", "export", exported.incidents["prudish"], "--out", exported.folder / "out", "--json"
    )
    assert not {key for key in keys_of(done.json) if f"`{key}`" not in SECTIONS["incidents export"]}
    page = (Path(__file__).parents[2] / "docs" / "incidents.md").read_text(encoding="utf-8")
    document = exported.packet("prudish")
    for exhibit in document["exhibits"]:
        exhibit["request"]["body"] = None
    assert not {key for key in keys_of(document) if f"`{key}`" not in page}
