"""The application's client in processes of its own: what it imports, what a fork leaves, many threads."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Any

import pytest

import routecanary
from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from tests.snapshots import MODEL, NOW, builtin, document, facts, suspended

SOURCE = Path(routecanary.__file__).parent.parent
STANDARD = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))


def run(code: str, *arguments: str, flags: tuple[str, ...] = ("-I", "-S")) -> Any:
    """Run a program in a bare interpreter that finds this package and the standard library; read its JSON."""
    prelude = f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
    finished = subprocess.run(
        [sys.executable, *flags, "-X", "dev", "-W", "error", "-c", prelude + code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return json.loads(finished.stdout)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot.json"
    write_snapshot(path, document(facts(suspensions=suspended("beta")), builtin=[builtin("filterhost")]))
    return path


def test_the_client_is_standard_library_only_and_little_of_it(path: Path) -> None:
    """Importing and using it loads nothing foreign, no other room of the house, and nothing slow."""
    loaded = run(
        """
import json, sys
from routecanary.client import Canary
with Canary(sys.argv[1], clock=lambda: float(sys.argv[2])) as canary:
    assert canary.provider_preferences("acme/chat")["ignore"] == ["beta", "filterhost"]
print(json.dumps([
    [name, getattr(sys.modules[name], "__file__", None)] for name in sorted(sys.modules)
]))
""",
        str(path),
        str(NOW.timestamp()),
    )
    ours = {name for name, _ in loaded if name.partition(".")[0] == "routecanary"}
    assert {".".join(name.split(".")[:2]) for name in ours} == {
        "routecanary",
        "routecanary.client",
        "routecanary.errors",
        "routecanary.routing",
    }
    for name, file in loaded:
        if name not in ours and name != "__main__" and file is not None:
            assert file.startswith(STANDARD), f"{name} comes from {file}"
            assert "site-packages" not in file, f"{name} comes from {file}"
    slow = {
        "asyncio",
        "dataclasses",
        "typing",
        "inspect",
        "pathlib",
        "logging",
        "socket",
        "ssl",
        "subprocess",
    }
    assert slow.isdisjoint(name for name, _ in loaded)


def test_a_forked_child_starts_a_thread_of_its_own(path: Path, tmp_path: Path) -> None:
    """At its first call; until then, and in the parent, everything goes on."""
    other = tmp_path / "other.json"
    write_snapshot(other, document(facts(suspensions=suspended("gamma"))))
    seen = run(
        """
import json, os, sys, time, warnings
from routecanary.client import Canary
warnings.simplefilter("ignore", DeprecationWarning)  # forking with a thread is what this is about
canary = Canary(sys.argv[1], clock=lambda: float(sys.argv[3]), interval=0.01)
ask = lambda: canary.provider_preferences("acme/chat")["ignore"]
def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
first = ask()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    watching = [canary.status()["watching"]]
    answers = [ask()]
    watching.append(canary.status()["watching"])
    os.write(writing, b"!")
    until(lambda: ask() == ["gamma"])
    canary.close()
    print(json.dumps({"first": first, "watching": watching, "answers": answers}), flush=True)
    os._exit(0)
assert os.read(reading, 1) == b"!"
os.rename(sys.argv[2], sys.argv[1])
until(lambda: ask() == ["gamma"])
assert os.waitpid(child, 0)[1] == 0
canary.close()
""",
        str(path),
        str(other),
        str(NOW.timestamp()),
    )
    whole = ["beta", "filterhost"]
    assert seen == {"first": whole, "watching": [False, True], "answers": [whole]}


def test_a_fork_in_the_middle_of_a_look_harms_nothing(path: Path, tmp_path: Path) -> None:
    """The child has neither the lock that the thread held nor what it had half read."""
    other = tmp_path / "other.json"
    write_snapshot(other, document(facts(suspensions=suspended("gamma"))))
    seen = run(
        """
import json, os, sys, warnings
from routecanary.client import Canary
warnings.simplefilter("ignore", DeprecationWarning)  # as above
canary = Canary(sys.argv[1], clock=lambda: float(sys.argv[3]), interval=3600)
os.rename(sys.argv[2], sys.argv[1])
with canary._watch._looking:
    canary._watch.source.read_if_changed()
    child = os.fork()
    if child == 0:
        taken = canary.refresh()
        print(json.dumps([taken, canary.provider_preferences("acme/chat")["ignore"]]), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
canary.close()
""",
        str(path),
        str(other),
        str(NOW.timestamp()),
    )
    assert seen == [True, ["gamma"]]


def test_many_threads_ask_while_the_file_changes(path: Path) -> None:
    """Every answer is that of one snapshot, whole; no call fails, and no count is lost."""
    lists = {name: sorted(["filterhost", name]) for name in ("alpha", "beta", "gamma")}
    documents = {
        name: document(facts(suspensions=suspended(name)), builtin=[builtin("filterhost")]) for name in lists
    }
    write_snapshot(path, documents["beta"])
    wrong: list[Any] = []
    done = threading.Event()
    calls = [0] * 3

    def ask(number: int) -> None:
        own = [f"own-{number}-{place}" for place in range(3)]
        while not done.wait(0.0001):
            for existing in ({"ignore": own}, {"ignore": [own[0]]}, None):
                found = canary.provider_preferences(MODEL, existing)["ignore"]
                mine = [] if existing is None else existing["ignore"]
                if found[: len(mine)] != mine or found[len(mine) :] not in lists.values():
                    wrong.append(found)
                found.append("mine to change")
            canary.provider_preferences("acme/unknown")
            calls[number] += 1

    with Canary(path, clock=NOW.timestamp, interval=0.001) as canary:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(calls))]
        for thread in threads:
            thread.start()
        for _ in range(5):
            for name in lists:
                write_snapshot(path, documents[name])
                canary.refresh()
        done.set()
        for thread in threads:
            thread.join()
        counters = canary.status()["counters"]
    assert wrong == []
    assert {name: count for name, count in counters.items() if count} == {"unknown_model": sum(calls)}
