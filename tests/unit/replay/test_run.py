"""The decision core driven by a trace file."""

from __future__ import annotations

import errno
import io
import json
from pathlib import Path

import pytest

from routecanary.domain.policy import Policy
from routecanary.errors import PolicyError
from routecanary.replay.run import Accepted, Rejected, main, read_lines, read_policy, replay_lines
from routecanary.replay.trace import MAX_LINE_BYTES


def a_line(at: str, model: str = "m", **fields: object) -> str:
    return json.dumps({"at": f"2026-01-05T{at}Z", "model": model, "kind": "round"} | fields)


FAILING = {"a": {"verdicts": {"language": "fail"}}} | {
    name: {"verdicts": {"language": "pass"}} for name in ("h1", "h2", "h3")
}


def test_models_are_decided_apart_and_in_file_order() -> None:
    """Interleaved models do not mix; a rejected line of one leaves the other alone."""
    results = list(
        replay_lines(
            [
                a_line("00:00:00", "m", routes=FAILING),
                a_line("00:00:00", "n", routes=FAILING),
                "",
                a_line("00:30:00", "m", routes=FAILING),
                a_line("00:00:00", "m", routes=FAILING),
                a_line("00:30:00", "n", routes={}),
            ],
            Policy(),
        )
    )
    assert [result.number for result in results] == [1, 2, 4, 5, 6]
    assert [isinstance(result, Rejected) for result in results] == [False, False, False, True, False]
    names = [
        [event.at.minute for event in result.events][-1] for result in results if isinstance(result, Accepted)
    ]
    assert names == [0, 0, 30, 30]


def test_printed_lines_and_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Events go to standard output, one error a rejected line to standard error, and the rest goes on."""
    trace = tmp_path / "trace.jsonl"
    trace.write_text(
        "\n".join([a_line("00:00:00", routes=FAILING), "nonsense", a_line("00:30:00", routes=FAILING)]),
        encoding="utf-8",
    )
    assert main([str(trace), "--json"]) == 2
    out, err = capsys.readouterr()
    assert [json.loads(line) for line in out.splitlines()] == [
        {"at": "2026-01-05T00:00:00Z", "model": "m", "event": "exclusions", "ignore": []},
        {
            "at": "2026-01-05T00:30:00Z", "model": "m", "event": "suspended", "route": "a",
            "contracts": ["language"], "until": "2026-01-06T00:30:00Z", "offence": 1,
        },
        {"at": "2026-01-05T00:30:00Z", "model": "m", "event": "exclusions", "ignore": ["a"]},
    ]  # fmt: skip
    (problem,) = err.splitlines()
    assert problem.startswith(f"{trace}:2: not JSON")


def test_trace_without_fault_gives_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also an empty one, and one that begins with a byte order mark."""
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(b"")
    assert main([str(trace)]) == 0
    trace.write_bytes(b"\xef\xbb\xbf" + a_line("00:00:00").encode() + b"\r\n\r\n")
    assert main([str(trace)]) == 0
    assert capsys.readouterr().err == ""


def test_policy_file_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `rounds_to_suspend = 1` the first failed round suspends, for the ladder's first step."""
    trace, policy = tmp_path / "trace.jsonl", tmp_path / "policy.toml"
    trace.write_text(a_line("00:00:00", routes=FAILING), encoding="utf-8")
    policy.write_text('[policy]\nrounds_to_suspend = 1\nladder = ["1h30m"]\n', encoding="utf-8")
    assert main([str(trace), "--policy", str(policy)]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["event"], first["until"]) == ("suspended", "2026-01-05T01:30:00Z")


BAD_POLICIES = {
    "not TOML": b"[policy",
    "not UTF-8": b"[policy]\n# \xff",
    "an unknown name": b"[policy]\nflor = 2",
    "a name outside the table": b"floor = 2",
    "another table": b"[policy]\n[models]\n",
    "no table": b"policy = 3",
    "a list of tables": b"[[policy]]\nfloor = 2",
    "a bad value": b"[policy]\nfloor = 0",
    "a bad duration": b'[policy]\nstreak_ttl = "6 hours"',
    "a date": b"[policy]\nstreak_ttl = 2026-01-05",
    "nested too deep": b"[policy]\nladder = " + b"[" * 100_000,
    "a number of 5,000 digits": b"[policy]\nfloor = " + b"1" * 5_000,
    "a key twice": b"[policy]\nfloor = 2\nfloor = 3",
    "too long": b"#" * (1024 * 1024 + 1),
}


@pytest.mark.parametrize("content", BAD_POLICIES.values(), ids=BAD_POLICIES)
def test_bad_policy_file_stops_before_anything_is_printed(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line that names the file."""
    trace, policy = tmp_path / "trace.jsonl", tmp_path / "policy.toml"
    trace.write_text(a_line("00:00:00"), encoding="utf-8")
    policy.write_bytes(content)
    assert main([str(trace), "--policy", str(policy)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (problem,) = err.splitlines()
    assert problem.startswith(str(policy))


def test_empty_policy_file_is_the_default(tmp_path: Path) -> None:
    """A table that is left out keeps every number."""
    policy = tmp_path / "policy.toml"
    policy.write_bytes(b"")
    assert read_policy(policy) == Policy()


@pytest.mark.parametrize("missing", ["trace", "policy"])
def test_file_that_cannot_be_read(missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file and a directory are both exit code 2 with one line."""
    good = tmp_path / "good"
    good.write_bytes(b"")
    for bad in (tmp_path / "none", tmp_path):
        arguments = [str(bad)] if missing == "trace" else [str(good), "--policy", str(bad)]
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"{bad}: cannot be read")


def test_too_long_line_is_rejected_and_the_next_is_read() -> None:
    """In bounded memory: the rest of the line is skipped."""
    stream = io.BytesIO(b"x" * (3 * MAX_LINE_BYTES + 5) + b"\n" + a_line("00:00:00").encode())
    first, second = replay_lines(read_lines(stream), Policy())
    assert isinstance(first, Rejected)
    assert first.number == 1
    assert isinstance(second, Accepted)
    assert second.number == 2


def test_line_whose_end_lies_just_past_the_bound() -> None:
    """A line of the greatest length keeps its own end of line."""
    line = a_line("00:00:00").encode()
    stream = io.BytesIO(
        line + b" " * (MAX_LINE_BYTES - len(line)) + b"\n" + b"\n" + a_line("00:30:00").encode()
    )
    results = list(replay_lines(read_lines(stream), Policy()))
    assert [(result.number, type(result)) for result in results] == [(1, Accepted), (3, Accepted)]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A trace may be piped in."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(a_line("00:00:00").encode())))
    assert main(["-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


class FullDisk(io.StringIO):
    """Standard output that takes nothing."""

    def __init__(self, file: io.TextIOBase) -> None:
        super().__init__()
        self._file = file

    def write(self, text: str, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def fileno(self) -> int:
        return self._file.fileno()


def test_output_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and one line; the trace is not to blame."""
    trace = tmp_path / "trace.jsonl"
    trace.write_text(a_line("00:00:00"), encoding="utf-8")
    with (tmp_path / "output").open("w", encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdout", FullDisk(file))
        assert main([str(trace)]) == 1
    assert capsys.readouterr().err == "standard output: cannot be written: No space left on device\n"


def test_error_of_a_policy_names_file_and_key(tmp_path: Path) -> None:
    """So that a person finds the line."""
    policy = tmp_path / "policy.toml"
    policy.write_text("[policy]\nfloor = 0\n", encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        read_policy(policy)
    assert str(caught.value) == (
        f"{policy}: [policy]: floor: out of range (got 0); allowed: a whole number from 1 to 10000"
    )
