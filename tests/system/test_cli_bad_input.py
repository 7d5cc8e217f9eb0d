"""Whatever is wrong with what a command is given: one clear line, the documented exit code, no change."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.names import ModelId
from tests.commandline import (
    KEY,
    MODEL,
    Ran,
    a_config,
    a_gateway_that_says,
    a_lab,
    called,
    environment,
    fingerprint,
)
from tests.privilege import bound_by_permissions

DEEP = b"[" * 100_000
GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a bad command is called: a configuration and a store that has seen a round."""

    folder: Path
    config: Path
    environ: dict[str, str]

    def file(self, name: str, content: bytes | str) -> str:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def configured(self, text: str) -> str:
        """Write a configuration of its own beside the sound one."""
        return self.file("other.toml", text)


@dataclass(frozen=True, kw_only=True)
class Bad:
    """One way to be wrong: how to call, and what must be said."""

    call: Callable[[Place], list[str]]
    says: tuple[str, ...]  # words of the one line, in their order
    code: int = 2
    lines: int = 1
    environ: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # variables that are not set


def use(*tokens: str) -> Callable[[Place], list[str]]:
    """Call a command with the sound configuration."""
    return lambda place: [*tokens, "--config", str(place.config)]


def plain(*tokens: str) -> Callable[[Place], list[str]]:
    return lambda _: list(tokens)


def with_file(*tokens: str, content: bytes | str) -> Callable[[Place], list[str]]:
    """Call a command with a file whose name takes the place of `FILE`."""

    def call(place: Place) -> list[str]:
        name = place.file("given", content)
        return [name if token == "FILE" else token for token in tokens]

    return call


def with_config(text: str, *tokens: str) -> Callable[[Place], list[str]]:
    return lambda place: [*tokens, "--config", place.configured(text)]


def with_more(text: str, *tokens: str) -> Callable[[Place], list[str]]:
    """Call a command with the sound configuration and something added to it."""
    return lambda place: [
        *tokens,
        "--config",
        place.configured(place.config.read_text(encoding="utf-8") + text),
    ]


def with_changed(old: str, new: str, *tokens: str) -> Callable[[Place], list[str]]:
    def call(place: Place) -> list[str]:
        text = place.config.read_text(encoding="utf-8")
        assert old in text
        return [*tokens, "--config", place.configured(text.replace(old, new))]

    return call


def with_folder(*tokens: str) -> Callable[[Place], list[str]]:
    return lambda place: [str(place.folder) if token == "FOLDER" else token for token in tokens]


CASE = (GOLDEN / "cases" / "account-401-key.json").read_text(encoding="utf-8")
ROUND = '{"at":"2026-01-05T00:00:00Z","model":"a/b","kind":"round"}\n'

ARGUMENTS = {
    "unknown command": Bad(call=plain("frobnicate"), says=("Unknown command", "frobnicate")),
    "unknown option": Bad(call=plain("status", "--jso"), says=("Unknown option", "--jso")),
    "option without value": Bad(call=plain("status", "--config"), says=("--config", "requires an argument")),
    "missing argument": Bad(call=plain("routes"), says=("MODEL", "requires an argument")),
    "one argument too many": Bad(call=use("status", "extra"), says=("extra",)),
    "not a number": Bad(call=plain("demo", "--seed", "one"), says=("--seed", "one")),
    "a number of too many digits": Bad(call=plain("demo", "--seed", "9" * 5000), says=("--seed",)),
    "no length": Bad(call=plain("demo", "--seconds", "0"), says=("--seconds", "0", "allowed: above 0")),
    "endless length": Bad(call=plain("demo", "--seconds", "inf"), says=("--seconds", "inf", "allowed")),
    "not a length": Bad(call=plain("demo", "--seconds", "nan"), says=("--seconds", "nan", "allowed")),
    "unknown demo": Bad(call=plain("demo", "--scenario", "nosuch"), says=("nosuch", "allowed", "demo")),
    "full demo with a length": Bad(
        call=plain("demo", "--full", "--seconds", "1"), says=("--full", "--seconds")
    ),
    "no seed": Bad(call=plain("demo", "--full", "--seeds", "0"), says=("--seeds", "0", "allowed: 1 to 1000")),
    "seeds for one scenario": Bad(
        call=plain("demo", "--seeds", "3"), says=("--seeds", "only with --full", "3")
    ),
    "not a factor": Bad(call=plain("lab", "--time-scale", "0"), says=("--time-scale", "0", "allowed")),
    "not a port": Bad(call=plain("lab", "--port", "70000"), says=("--port", "70000", "allowed: 0 to 65535")),
    "not a host": Bad(call=plain("lab", "--host", "256.1.1.1.invalid"), says=("--host", "cannot listen")),
    "not a mode": Bad(call=use("mode", MODEL, "on"), says=("'on'", "allowed: observe or enforce")),
    "malformed model": Bad(call=use("routes", "acme"), says=("not a model id", "'acme'", "author/slug")),
    "unknown model": Bad(call=use("ignore", "a/b"), says=("models", "'a/b'", f"allowed: {MODEL}")),
    "unknown model of a round": Bad(call=use("round", "a/b"), says=("models", "'a/b'", f"allowed: {MODEL}")),
    "unknown model of an act": Bad(
        call=use("mode", "a/b", "enforce"), says=("models", "'a/b'", f"allowed: {MODEL}")
    ),
    "malformed route": Bad(call=use("round", MODEL, "--route", "a b"), says=("route tag", "'a b'")),
    "unlisted route": Bad(
        call=use("round", MODEL, "--route", "nosuch"), says=(MODEL, "'nosuch'", "allowed: acme, cindermoor")
    ),
    "no case": Bad(call=plain("judge"), says=("no case file is named",)),
    "texts without a contract": Bad(
        call=plain("judge", "--texts", "x"), says=("--contract", "allowed: latency")
    ),
    "texts and an unknown contract": Bad(
        call=plain("judge", "--texts", "x", "--contract", "grammar"),
        says=("--contract", "'grammar'", "latency"),
    ),
    "texts and cases": Bad(
        call=plain("judge", "x", "--texts", "y", "--contract", "language"),
        says=("x and --texts do not go together",),
    ),
    "two collections": Bad(
        call=plain("judge", "--texts", "x", "--report", "y"), says=("--texts and --report do not go",)
    ),
    "cases and the store": Bad(
        call=plain("judge", "x", "--stored"), says=("x and --stored do not go together",)
    ),
    "a time for cases": Bad(
        call=plain("judge", "x", "--since", "30d"), says=("--since", "only --stored", "'30d'")
    ),
    "not a time to judge from": Bad(
        call=use("judge", "--stored", "--since", "soon"), says=("--since", "'soon'", "allowed")
    ),
    "misses of no report": Bad(call=plain("judge", "x", "--misses"), says=("--misses", "only --report")),
    "a report on no file": Bad(call=plain("judge", "--report", "nosuch"), says=("nosuch", "cannot be read")),
    "a report on an empty folder": Bad(
        call=with_folder("judge", "--report", "FOLDER"), says=("got 0", ".jsonl or .jsonl.gz")
    ),
    "a contract for cases": Bad(
        call=plain("judge", "x", "--contract", "language"), says=("--texts", "language")
    ),
}

FILES = {
    "no configuration": Bad(call=plain("status"), says=("no configuration file", "allowed", "init")),
    "no such configuration": Bad(
        call=plain("status", "--config", "nosuch.toml"), says=("nosuch.toml", "no such file")
    ),
    "a directory for a configuration": Bad(
        call=with_folder("status", "--config", "FOLDER"), says=("a directory where a file belongs",)
    ),
    "a configuration that is not UTF-8": Bad(
        call=with_file("check", "--config", "FILE", content=b"# \xff\n"),
        says=("given", "not UTF-8 at byte 2"),
    ),
    "a configuration that is no TOML": Bad(
        call=with_config("[gateway\n", "check"), says=("other.toml", "not readable as TOML")
    ),
    "an unknown option of the configuration": Bad(
        call=with_config("[gateway]\nurl = 1\n", "run"), says=("other.toml", "gateway.url", "allowed")
    ),
    "several faults of a configuration": Bad(
        call=with_config("[gateway]\nurl = 1\nconcurrency = 0\n", "run"), says=("other.toml",), lines=2
    ),
    "nothing to run": Bad(call=with_config("", "run"), says=("other.toml", "models", "no model to watch")),
    "a store for a configuration": Bad(
        call=lambda place: ["status", "--config", str(place.folder / "events.sqlite3")], says=("not UTF-8",)
    ),
    "init over a directory": Bad(call=lambda place: ["init", str(place.folder)], says=("is there already",)),
    "init in no directory": Bad(
        call=lambda place: ["init", str(place.folder / "no" / "where")], says=("cannot be written",)
    ),
    "no such text": Bad(
        call=with_changed("[probes]", '[probes]\ntexts = "nosuch"', "round", MODEL),
        says=("nosuch", "probes.texts", "no such directory"),
    ),
    "a locale without a text": Bad(
        call=with_changed("[probes]", '[probes]\nlocales = ["cy"]', "check", "--offline"),
        says=("cy", "allowed"),
    ),
    "no such tables of refusals": Bad(
        call=with_more('[contracts.filtering]\nrefusals = "nosuch"\n', "check", "--offline"),
        says=("nosuch", "contracts.filtering.refusals", "no such directory"),
    ),
    "no such built-in layer": Bad(
        call=with_more('[routing]\nbuiltin = "nosuch.toml"\n', "ignore", MODEL),
        says=("nosuch.toml", "no such file"),
    ),
    "a built-in entry without evidence": Bad(
        call=lambda place: with_more(
            f'[routing]\nbuiltin = "{place.file("own.toml", "[[exclusions]]")}"\n', "ignore", MODEL
        )(place),
        says=("own.toml", "exclusions[0]"),
    ),
    "no such case": Bad(call=plain("judge", "nosuch.json"), says=("nosuch.json", "cannot be read")),
    "a directory for a case": Bad(call=with_folder("judge", "FOLDER"), says=("cannot be read",)),
    "a case that is no JSON": Bad(call=with_file("judge", "FILE", content="{"), says=("given", "not JSON")),
    "a case that is not UTF-8": Bad(
        call=with_file("judge", "FILE", content=b'"\xff"'), says=("given", "not UTF-8")
    ),
    "a case without end": Bad(call=with_file("judge", "FILE", content=DEEP), says=("given", "nested")),
    "a case of another shape": Bad(call=with_file("judge", "FILE", content="[]"), says=("given", "case")),
    "a case with an unknown key": Bad(
        call=with_file("judge", "FILE", content=CASE.replace('"probe"', '"prob"', 1)), says=("given", "prob")
    ),
    "no such texts": Bad(
        call=plain("judge", "--texts", "nosuch", "--contract", "language"), says=("nosuch", "cannot be read")
    ),
    "texts that are not compressed": Bad(
        call=lambda place: ["judge", "--texts", place.file("t.gz", "{}"), "--contract", "language"],
        says=("t.gz", "cannot be read", "gzip"),
    ),
    "no such trace": Bad(call=plain("replay", "nosuch"), says=("nosuch", "cannot be read")),
    "a directory for a trace": Bad(call=with_folder("replay", "FOLDER"), says=("cannot be read",)),
    "a line that is no JSON": Bad(
        call=with_file("replay", "FILE", content="{\n"), says=("given:1", "not JSON")
    ),
    "a line without end": Bad(
        call=with_file("replay", "FILE", content=DEEP + b"\n"), says=("given:1", "nested too deep")
    ),
    "a line that is not UTF-8": Bad(
        call=with_file("replay", "FILE", content=b"\xff\n"), says=("given:1", "not UTF-8")
    ),
    "a line with a number that is none": Bad(
        call=with_file("replay", "FILE", content='{"at": NaN}'), says=("given:1", "NaN")
    ),
    "a kind that is none": Bad(
        call=with_file("replay", "FILE", content='{"kind": "rond"}'), says=("given:1", "kind", "'rond'")
    ),
    "an option for a trace": Bad(call=plain("replay", "--polcy"), says=("unknown option", "--polcy")),
    "no such policy": Bad(
        call=with_file("replay", "FILE", "--policy", "nosuch.toml", content=ROUND), says=("nosuch.toml",)
    ),
    "a policy that is no TOML": Bad(
        call=with_file("replay", "/dev/null", "--policy", "FILE", content="["), says=("given", "not TOML")
    ),
    "an unknown number of the policy": Bad(
        call=with_file("replay", "/dev/null", "--policy", "FILE", content="[policy]\nflor = 1"),
        says=("given", "flor", "allowed"),
    ),
    "a number of the policy out of range": Bad(
        call=with_file("replay", "/dev/null", "--policy", "FILE", content="[policy]\nfloor = 0"),
        says=("given", "floor", "0", "allowed"),
    ),
    "no such scenario": Bad(call=plain("lab", "--scenario", "nosuch"), says=("nosuch", "allowed")),
    "a directory for a scenario": Bad(
        call=with_folder("lab", "--scenario", "FOLDER"), says=("a directory where a file belongs",)
    ),
    "a scenario that is not UTF-8": Bad(
        call=with_file("lab", "--scenario", "FILE", content=b"\xff"), says=("given", "UTF-8")
    ),
    "a scenario without end": Bad(
        call=plain("lab", "--scenario", "/dev/zero"), says=("/dev/zero", "longer than")
    ),
    "a scenario that is no TOML": Bad(
        call=with_file("lab", "--scenario", "FILE", content="["), says=("given", "TOML")
    ),
    "a scenario of another shape": Bad(
        call=with_file("lab", "--scenario", "FILE", content="name = 1"), says=("given", "name"), lines=2
    ),
}

KEYS = {
    "no key": Bad(
        call=use("round", MODEL),
        says=("OPENROUTER_API_KEY", "gateway.api_key_env", "not set"),
        without=("OPENROUTER_API_KEY",),
    ),
    "an empty key": Bad(call=use("check"), says=("empty",), environ={"OPENROUTER_API_KEY": " "}),
    "two keys on two lines": Bad(
        call=use("run"), says=("holds what no key holds",), environ={"OPENROUTER_API_KEY": f"{KEY}\n{KEY}"}
    ),
    "no such key file": Bad(
        call=with_changed("[gateway]", '[gateway]\napi_key_file = "nosuch"', "round", MODEL),
        says=("nosuch", "gateway.api_key_file", "no such file"),
    ),
    "a wrong key of a check": Bad(
        call=use("check"),
        says=("GET /key", "the key was refused (HTTP 401)"),
        code=3,
        environ={"OPENROUTER_API_KEY": f"{KEY}-of-another"},
    ),
    "a wrong key of a round": Bad(
        call=use("round", MODEL),
        says=(f"GET /models/{MODEL}/endpoints", "the key was refused (HTTP 401)"),
        code=3,
        environ={"OPENROUTER_API_KEY": f"{KEY}-of-another"},
    ),
}


def _another_database(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()


def _damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:16384] = b"\x55" * 8192
    path.write_bytes(content)


STORES: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("not a database" * 100), "is not a database"),
    "another database": (lambda path: path.unlink() or _another_database(path), "another program"),
    "a directory": (lambda path: path.unlink() or path.mkdir(), "is not a regular file"),
    "a damaged file": (_damaged, "damaged"),
}
"""What lies where the store should → what is said of it."""

LISTINGS: dict[str, tuple[int, bytes, dict[str, str], int, str]] = {
    "a page": (200, b"<html>busy</html>", {}, 2, "not JSON"),
    "nothing": (200, b"", {}, 2, "not JSON"),
    "not UTF-8": (200, b'{"data": "\xff"}', {}, 2, "not UTF-8"),
    "another document": (200, b"[]", {}, 2, "allowed"),
    "no data": (200, b'{"data": null}', {}, 2, "data"),
    "no list": (200, b'{"data": {"endpoints": 7}}', {}, 2, "endpoints"),
    "without end": (200, DEEP, {}, 2, "nested"),
    "a key twice": (200, b'{"data": {}, "data": {}}', {}, 2, "repeated"),
    "a number that is none": (200, b'{"data": NaN}', {}, 2, "not a JSON number"),
    "a huge number": (200, b'{"data": ' + b"9" * 10_000 + b"}", {}, 2, "digits"),
    "an unknown model": (404, b"{}", {}, 3, "does not know it (HTTP 404)"),
    "trouble": (500, b"{}", {}, 3, "HTTP 500"),
    "another place": (302, b"", {"Location": "/elsewhere"}, 3, "HTTP 302"),
}
"""What a gateway may answer instead of a listing → the exit code and some words."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A lab, a configuration and a store with a round in it."""
    folder = tmp_path_factory.mktemp("sound")
    with a_lab() as lab:
        place = Place(folder=folder, config=a_config(folder, lab.base_url), environ=environment(folder))
        made = called("round", MODEL, "--config", place.config, environ=place.environ)
        assert made.code == 0, made.err
        yield place


@pytest.fixture
def place(sound: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A copy of all that, in a working directory of its own."""
    shutil.copytree(sound.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return Place(folder=tmp_path, config=tmp_path / "routecanary.toml", environ=environment(tmp_path))


@pytest.fixture
def permissions() -> Iterator[None]:
    """Let permissions bind us, root or not."""
    with bound_by_permissions():
        yield


def refuse(place: Place, bad: Bad) -> Ran:
    """Call, and hold everything that is promised of every refusal."""
    tokens = bad.call(place)
    environ = {**place.environ, **bad.environ}
    for name in bad.without:
        environ.pop(name)
    kept = ("events.sqlite3", "snapshot.json")
    held = [place.folder / name for name in kept if (place.folder / name).is_file()]
    before = [fingerprint(path) for path in held]
    said = called(*tokens, environ=environ)
    assert said.code == bad.code, said
    assert said.out == ""
    assert "Traceback" not in said.err
    assert "internal error" not in said.err
    lines = said.err.splitlines()
    assert len(lines) == bad.lines, said.err
    for line in lines:
        assert line.startswith("routecanary: ")
        assert line.isprintable()
    position = 0
    for words in bad.says:
        assert words in said.err[position:], (words, said.err)
        position = said.err.index(words, position)
    assert [fingerprint(path) for path in held] == before
    assert KEY not in said.err
    assert not [path for path in held if os.access(path, os.R_OK) and KEY.encode() in path.read_bytes()]
    return said


@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments(name: str, place: Place) -> None:
    """The line names the option or argument, its value and what is allowed."""
    refuse(place, ARGUMENTS[name])


@pytest.mark.parametrize("name", FILES)
def test_bad_files(name: str, place: Place) -> None:
    """The line names the file, the key and what is allowed there."""
    refuse(place, FILES[name])


@pytest.mark.parametrize("name", KEYS)
def test_bad_keys(name: str, place: Place) -> None:
    """The line says where the key was looked for, and never what it is."""
    refuse(place, KEYS[name])


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize(
    "tokens", [["status"], ["mode", MODEL, "enforce"], ["round", MODEL], ["check", "--offline"]]
)
def test_bad_stores(name: str, tokens: list[str], place: Place) -> None:
    """Exit code 4; the line names the file, which is left as it is."""
    lay, words = STORES[name]
    lay(place.folder / "events.sqlite3")
    refuse(place, Bad(call=use(*tokens), says=("events.sqlite3", words), code=4))


@pytest.mark.parametrize("name", LISTINGS)
def test_bad_listings(name: str, place: Place) -> None:
    """No round is made of it and nothing is kept, not even that it was tried."""
    status, body, headers, code, words = LISTINGS[name]
    with a_gateway_that_says(status, body, **headers) as base_url:
        a_config(place.folder, base_url)
        refuse(
            place,
            Bad(call=use("round", MODEL), says=(f"GET /models/{MODEL}/endpoints", words), code=code),
        )


def test_a_gateway_that_quotes_the_key_is_not_quoted(place: Place) -> None:
    """An error that repeats our own headers is kept as evidence without the key, and printed without it."""
    rows = [{"tag": tag, "provider_name": tag, "name": tag} for tag in ("acme", "cindermoor", "plover")]
    listing = json.dumps({"data": {"id": MODEL, "endpoints": rows}}).encode()
    with a_gateway_that_says(200, listing) as base_url:
        a_config(place.folder, base_url)
        said = called("round", MODEL, "--json", "--config", place.config, environ=place.environ)
    assert said.code == 3
    assert "account:" in said.err
    assert KEY not in said.out + said.err
    with SqliteStore(place.folder / "events.sqlite3") as store:
        newest = max(entry.at for entry in store.find(ModelId(MODEL)))
        quoted = [
            found.transcript
            for entry in store.find(ModelId(MODEL), since=newest)
            if (found := store.get(entry.id)) is not None
        ]
    assert quoted
    for transcript in quoted:
        answer = b"".join(chunk.data for chunk in transcript.chunks)
        assert b"Authorization: Bearer ***" in answer
        assert KEY.encode() not in answer
        assert dict(transcript.headers)["x-quoted"].startswith("Bearer ***")


def test_a_listing_that_is_none_leaves_a_new_store_empty(tmp_path: Path) -> None:
    """Before there is a listing nothing is recorded: not a mode, not what judges, no event at all."""
    with a_gateway_that_says(200, b'{"data": 7}') as base_url:
        config = a_config(tmp_path, base_url)
        said = called("round", MODEL, "--config", config, environ=environment(tmp_path))
    assert said.code == 2, said.err
    with SqliteStore(tmp_path / "events.sqlite3") as store:
        assert store.count() == 0


def test_a_gateway_that_is_not_there(place: Place) -> None:
    """Exit code 3; the line says that no connection came about."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        a_config(place.folder, f"http://127.0.0.1:{nobody.getsockname()[1]}/api/v1")
        for tokens in (["check"], ["round", MODEL]):
            refuse(place, Bad(call=use(*tokens), says=("GET /", "not connected"), code=3))


def test_a_gateway_that_says_nothing(place: Place) -> None:
    """A listing has a deadline of its own."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        config = a_config(place.folder, f"http://127.0.0.1:{silent.getsockname()[1]}/api/v1")
        config.write_text(config.read_text().replace('document_timeout = "5s"', 'document_timeout = "1s"'))
        refuse(place, Bad(call=use("check"), says=("GET /key", "within 1 s"), code=3))


def test_a_port_that_is_taken(place: Place) -> None:
    """The line names the address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        bad = Bad(
            call=plain("lab", "--port", str(port)), says=("--host, --port", "in use", f"127.0.0.1:{port}")
        )
        refuse(place, bad)


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("tokens", [["status"], ["mode", MODEL, "enforce"], ["round", MODEL]])
def test_a_store_that_may_not_be_written(tokens: list[str], place: Place) -> None:
    """Exit code 4; even a listing needs to write beside the log."""
    (place.folder / "events.sqlite3").chmod(0o400)
    refuse(place, Bad(call=use(*tokens), says=("events.sqlite3", "cannot be written"), code=4))


@pytest.mark.usefixtures("permissions")
def test_files_that_may_not_be_read(place: Place) -> None:
    """The line says so."""
    secret = Path(place.file("secret", CASE))
    secret.chmod(0)
    for tokens in (["judge"], ["replay"], ["status", "--config"], ["lab", "--scenario"]):
        refuse(place, Bad(call=plain(*tokens, str(secret)), says=("secret", "cannot be read")))


def test_a_snapshot_that_cannot_be_written_is_said_after_the_act_is_kept(place: Place) -> None:
    """The log comes first: the act is decided and kept, and exit code 4 says that nobody was told."""
    (place.folder / "snapshot.json").unlink()
    (place.folder / "snapshot.json").mkdir()
    said = called("mode", MODEL, "enforce", "--force", "--config", place.config, environ=place.environ)
    assert said.code == 4
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith(f"routecanary: {place.folder / 'snapshot.json'}: not written: ")
    shown = called("mode", MODEL, "--json", "--config", place.config, environ=place.environ)
    assert shown.json["mode"] == "enforce"


def test_a_bad_file_among_good_ones_is_passed_over(place: Place) -> None:
    """The good case is judged, the bad one named, and the exit code tells of it."""
    good, bad = place.file("good.json", CASE), place.file("bad.json", "{}")
    said = called("judge", good, bad, good, "--json", environ=place.environ)
    assert said.code == 2
    assert len(said.lines) == 2
    (line,) = said.err.splitlines()
    assert line.startswith(f"routecanary: {bad}: ")


def test_a_rejected_line_changes_nothing_of_the_rest(place: Place) -> None:
    """The events are those of the trace without the line."""
    later = ROUND.replace("T00:", "T01:")
    said = called("replay", place.file("trace", ROUND + "{}\n" + later), environ=place.environ)
    alone = called("replay", place.file("trace", ROUND + later), environ=place.environ)
    assert (said.code, alone.code) == (2, 0)
    assert said.out == alone.out
    assert json.loads(said.out.splitlines()[-1])["event"] == "exclusions"
