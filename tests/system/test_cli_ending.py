"""However a command ends: no traceback that nobody asked for, no broken terminal, no secret."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from routecanary.cli import output
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.main import COMMANDS, call, exit_code_of
from routecanary.errors import RoutecanaryError
from tests.commandline import MODEL, a_config, called, command, environment, ran

CASE = (Path(__file__).parents[1] / "golden" / "cases" / "account-401-key.json").read_text(encoding="utf-8")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a bug into one command."""

    def status(*, json: bool = False) -> int:
        raise KeyError("a bug\nof \x1b[31mtwo lines")

    module = ModuleType("routecanary.cli.status")
    module.status = status  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "routecanary.cli.status", module)


@pytest.mark.usefixtures("broken")
def test_a_bug_is_one_line_that_asks_to_be_reported(tmp_path: Path) -> None:
    """Exit code 70, the type, the message escaped, and where it happened in our own code."""
    said = called("status", environ=environment(tmp_path))
    assert said.code == 70
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("routecanary: internal error: KeyError: ")
    assert "please report it" in line
    assert line.isprintable()
    assert "cli/main.py:" in line
    assert "ROUTECANARY_DEBUG=1" in line


@pytest.mark.usefixtures("broken")
def test_a_bug_shows_its_traceback_on_request(tmp_path: Path) -> None:
    """With ROUTECANARY_DEBUG=1 the traceback follows the line."""
    said = called("status", environ=environment(tmp_path, ROUTECANARY_DEBUG="1"))
    assert said.code == 70
    assert "Traceback (most recent call last)" in said.err
    assert said.err.splitlines()[-1].startswith("KeyError: ")


@pytest.mark.parametrize("wrap", [lambda error: error, lambda error: ExceptionGroup("tasks", [error])])
def test_a_bug_in_a_task_is_named_as_such(
    wrap: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group that tasks raise is looked into."""

    def status(*, json: bool = False) -> int:
        raise wrap(ZeroDivisionError("x"))

    module = ModuleType("routecanary.cli.status")
    module.status = status  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "routecanary.cli.status", module)
    said = called("status", environ=environment(tmp_path))
    assert said.code == 70
    assert "internal error: ZeroDivisionError: x" in said.err


def test_every_error_of_ours_has_an_exit_code() -> None:
    """None of them counts as a bug, save the base that nobody raises."""

    def below(kind: type[RoutecanaryError]) -> set[type[RoutecanaryError]]:
        return {kind}.union(*(below(each) for each in kind.__subclasses__()))

    for kind in below(RoutecanaryError) - {RoutecanaryError}:
        if kind.__module__ == "routecanary.errors":
            error = kind.__new__(kind)
            assert exit_code_of(error) is not ExitCode.INTERNAL, kind


def test_a_missing_library_is_said_with_what_installs_it(tmp_path: Path) -> None:
    """Only the client is there: one line and exit code 2, for the parser and for what a command loads."""
    for library, tokens in (("cyclopts", "status"), ("aiohttp", "lab")):
        program = (
            f"import sys; sys.modules['{library}'] = None; sys.argv = ['routecanary', '{tokens}'];"
            "from routecanary.__main__ import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"routecanary: the command line needs '{library}'")
        assert line.endswith("pip install 'routecanary[daemon]'")


@pytest.mark.parametrize("tokens", [["--help"], ["status"]])
def test_a_reader_that_is_gone_is_no_failure(tokens: list[str], tmp_path: Path) -> None:
    """As with `| head -0`: exit code 0 and not a word."""
    a_config(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(*tokens),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_output_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A full disk: exit code 4 and one line."""
    a_config(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("status"),
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr == "routecanary: standard output: cannot be written: No space left on device\n"


def test_closed_streams_are_no_failure(tmp_path: Path) -> None:
    """Started without standard streams a command still does its work and says so by its exit code."""
    done = subprocess.run(
        ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *command("init")],
        cwd=tmp_path,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert (tmp_path / "routecanary.toml").exists()


def test_ctrl_c_ends_with_130_and_no_word(tmp_path: Path) -> None:
    """Here while a trace is read from a terminal that says nothing."""
    with subprocess.Popen(
        command("replay", "-"),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write('{"at":"2026-01-05T00:00:00Z","model":"a/b","kind":"round"}\n')
        process.stdin.flush()
        process.stdout.readline()  # it is at work now
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr.read() == ""


def test_an_ascii_terminal_gets_ascii(tmp_path: Path) -> None:
    """Names that are no Unicode, and ids and reasons in any script, are escaped and never crash."""
    odd = os.fsdecode(b"nosuch-\xff.json")
    case = json.loads(CASE)
    case["id"] = "ไทย \x1b[31m\ud800"
    (tmp_path / "case.json").write_text(json.dumps(case), encoding="utf-8")
    for tokens in (["judge", odd, "case.json"], ["--help"]):
        said = ran(*tokens, folder=tmp_path, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert (said.out + said.err).isascii()
        assert "Traceback" not in said.err
        assert "\x1b" not in said.out + said.err
        assert said.code == (0 if tokens == ["--help"] else 2)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("ไทย", "ไทย"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\ud800", "\\ud800"),
        ("\u202eright to left", "\\u202eright to left"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text: str, shown: str) -> None:
    """Letters of any script stay; controls, directions and halves of pairs do not."""
    assert output.plain(text) == shown


def test_a_table_is_folded_for_a_terminal_and_for_nobody_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In 80 columns no character is lost; a program that reads the table gets one line a row."""
    row = ("route-" * 10, "word " * 20, "x" * 90)
    monkeypatch.setenv("COLUMNS", "80")
    output.say_table(("one", "two", "three"), [row])
    folded = capsys.readouterr().out
    assert max(map(len, folded.splitlines())) <= 80
    assert sorted("".join(folded.split())) == sorted("".join(["onetwothree", *row]).replace(" ", ""))
    monkeypatch.delenv("COLUMNS")
    output.say_table(("one", "two", "three"), [row])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_markup_in_a_cell_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """What a table library would take for a colour is shown as it is."""
    output.say_table(("a",), [("[red]x[/red] :smile:",)])
    assert "[red]x[/red] :smile:" in capsys.readouterr().out


def test_a_listing_loads_no_http_library_and_no_event_loop(tmp_path: Path) -> None:
    """What reads the store starts without what only a round needs; `--help` without any command."""
    a_config(tmp_path)
    for tokens, never in (
        (["--help"], {"aiohttp", "pydantic", "sqlite3", "routecanary.wiring"}),
        (["ignore", MODEL], {"aiohttp", "asyncio", "jsonschema_rs", "rich.table"}),
        (["replay", "/dev/null"], {"aiohttp", "asyncio", "pydantic", "jsonschema_rs", "sqlite3"}),
        (["judge", "nosuch"], {"aiohttp", "asyncio", "pydantic", "sqlite3"}),
    ):
        program = (
            "import sys\nfrom routecanary.cli.main import call\n"
            f"call({tokens!r})\nprint(*sorted(sys.modules), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        loaded = set(done.stderr.split())
        assert not loaded & never, tokens


def test_every_command_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """Its page opens, begins with its usage, and tells more than the sentence of the list."""
    for name, _, sentence in COMMANDS:
        assert call([*name.split(), "--help"]) == 0
        page = capsys.readouterr().out
        assert page.startswith(f"Usage: routecanary {name}"), name
        assert sentence not in page


def test_an_error_of_a_closed_standard_error_is_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If nobody listens to a complaint, the exit code is all there is."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    assert call(["frobnicate"]) == 2
