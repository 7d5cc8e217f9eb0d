"""What an application sees of the daemon's list, what it is spared, and what `status()` tells of it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from routecanary.adapters.config.paths import default_snapshot_path
from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary, default_path
from routecanary.client.canary import CALL_COUNTERS
from routecanary.client.watch import LOOK_COUNTERS
from routecanary.domain.round import Mode
from tests.snapshots import MODEL, NOW, after, builtin, document, facts, runtime, suspended

GOOD = document(
    facts(names=frozenset({"acme/chat-20260101"}), suspensions=suspended("beta", until=after(hours=8))),
    facts("acme/other", suspensions=suspended("beta", "gamma")),
    builtin=[builtin("filterhost")],
    runtime=[runtime("slowhost", expires=after(hours=7))],
)
WHOLE = ["beta", "filterhost", "slowhost"]


class Wall:
    """A wall clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot.json"
    write_snapshot(path, GOOD)
    return path


@pytest.fixture
def canary(path: Path, wall: Wall) -> Iterator[Canary]:
    with Canary(path, clock=wall, thread=False) as canary:
        yield canary


def counted(canary: Canary) -> dict[str, int]:
    """Return the counters that are not 0."""
    return {name: count for name, count in canary.status()["counters"].items() if count}


def ignored(canary: Canary, model: str = MODEL) -> list[str]:
    return canary.provider_preferences(model).get("ignore", [])


def test_the_list_reaches_the_request(canary: Canary) -> None:
    """All three layers, united with the caller's own entries; nothing is counted."""
    existing = {"ignore": ["Zeta"], "sort": "price"}
    assert canary.provider_preferences(MODEL, existing) == {"ignore": ["Zeta", *WHOLE], "sort": "price"}
    assert existing == {"ignore": ["Zeta"], "sort": "price"}
    assert canary.provider_preferences("acme/chat-20260101:floor") == {"ignore": WHOLE}
    assert counted(canary) == {}


def test_any_mapping_may_be_handed_in(canary: Canary) -> None:
    """The result is a plain dict."""
    found = canary.provider_preferences(MODEL, MappingProxyType({"zdr": True, "ignore": ("a",)}))
    assert found == {"zdr": True, "ignore": ["a", *WHOLE]}
    assert type(found) is dict


def test_time_passes_without_the_daemon(canary: Canary, wall: Wall) -> None:
    """After 6 h the canary layer goes, the others stay; runtime entries still end on time."""
    wall.now = after(hours=6)
    assert ignored(canary) == WHOLE
    wall.now = after(hours=6, seconds=1)
    assert ignored(canary) == ["filterhost", "slowhost"]
    assert canary.status()["stale"]
    wall.now = after(hours=7)
    assert ignored(canary) == ["filterhost"]
    assert counted(canary) == {"stale": 2}


def test_a_snapshot_from_the_future_is_not_believed(canary: Canary, wall: Wall) -> None:
    """Its age cannot be known: the canary layer stays out until our clock has come near it."""
    wall.now = after(minutes=-6)
    assert ignored(canary) == ["filterhost", "slowhost"]
    status = canary.status()
    assert (status["from_future"], status["ok"]) == (True, False)
    wall.now = after(minutes=-5)
    assert ignored(canary) == WHOLE
    assert counted(canary) == {"from_future": 1}


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ({"ignore": "beta"}, {"ignore": "beta"}),
        ({"ignore": [1], "order": ["alpha"]}, {"ignore": [1], "order": ["alpha"]}),
        ({"only": "beta"}, {"only": "beta"}),
        ("price", "price"),
        (["ignore"], ["ignore"]),
        ([["ignore", []]], [["ignore", []]]),
        (7, 7),
        (False, False),
    ],
)
def test_what_is_no_preferences_object_comes_back_as_it_is(
    canary: Canary, existing: Any, expected: object
) -> None:
    """It is for the gateway to refuse; we count it."""
    assert canary.provider_preferences(MODEL, existing) == expected
    assert counted(canary) == {"bad_existing": 1}
    assert canary.patch({"model": MODEL, "provider": existing}) == {"model": MODEL, "provider": expected}


class Broken(Mapping[str, Any]):
    """A mapping that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("broken")

    def __len__(self) -> int:
        return 1


def test_our_own_trouble_is_never_the_requests(canary: Canary, path: Path) -> None:
    """Whatever raises, the caller's preferences come back and the failure is counted."""
    broken = Broken()
    assert canary.provider_preferences(MODEL, broken) is broken
    assert canary.provider_preferences(["no", "hash"], {"sort": "price"}) == {"sort": "price"}  # type: ignore[arg-type]
    assert counted(canary) == {"failed": 2}

    def no_time() -> float:
        raise OSError("no clock")

    stopped = Canary(path, clock=lambda: 0.0, thread=False)
    stopped._clock = no_time
    assert stopped.provider_preferences(MODEL, {"ignore": ["a"]}) == {"ignore": ["a"]}
    assert stopped.patch({"models": [MODEL, "acme/other"]}) == {"models": [MODEL, "acme/other"]}
    assert stopped._counts["failed"] == 2


@pytest.mark.parametrize("model", [None, 3, b"acme/chat", ("acme/chat",)])
def test_a_model_that_is_no_text_is_counted(canary: Canary, model: Any) -> None:
    """The request will fail at the gateway, not here."""
    assert canary.provider_preferences(model, {"ignore": ["a"]}) == {"ignore": ["a"]}
    assert counted(canary) == {"bad_request": 1}


def test_an_unknown_model_gets_what_holds_for_all(canary: Canary) -> None:
    """Built-in and runtime entries for all models apply, and it is counted."""
    assert ignored(canary, "acme/chat:free") == ["filterhost", "slowhost"]
    assert counted(canary) == {"unknown_model": 1}


@pytest.mark.parametrize(
    ("request_", "provider", "counters"),
    [
        ({"model": MODEL}, {"ignore": WHOLE}, {}),
        ({"model": MODEL, "provider": None}, {"ignore": WHOLE}, {}),
        (
            {"model": MODEL, "provider": {"ignore": ["a"], "zdr": True}},
            {"ignore": ["a", *WHOLE], "zdr": True},
            {},
        ),
        ({"model": MODEL, "models": ["acme/other"]}, {"ignore": WHOLE}, {}),
        ({"models": ["acme/other", MODEL]}, {"ignore": WHOLE}, {}),
        ({"models": ["acme/other"]}, {"ignore": ["beta", "filterhost", "gamma", "slowhost"]}, {}),
        (
            {"model": MODEL, "models": ["acme/new"]},
            {"ignore": ["filterhost", "slowhost"]},
            {"unknown_model": 1},
        ),
        (
            {"models": ["acme/other", MODEL], "provider": {"only": ["beta"]}},
            {"only": ["beta"], "ignore": ["filterhost", "slowhost"]},
            {"merge_would_empty": 1},
        ),
        ({"model": MODEL, "preset": "mine"}, ..., {"preset": 1}),
        ({"model": f"{MODEL}@preset/mine", "provider": {"zdr": True}}, {"zdr": True}, {"preset": 1}),
        ({"messages": []}, ..., {"bad_request": 1}),
        ({"model": MODEL, "models": "acme/other"}, ..., {"bad_request": 1}),
    ],
)
def test_a_request_is_patched_by_what_it_names(
    canary: Canary, request_: dict[str, Any], provider: Any, counters: dict[str, int]
) -> None:
    """A new request with the merged `provider`; all else is as it was, and so is the old one."""
    request_ = {"messages": [{"role": "user", "content": "…"}], **request_}
    before = json.dumps(request_)
    patched = canary.patch(request_)
    expected = dict(request_) if provider is ... else {**request_, "provider": provider}
    assert patched == expected
    assert patched is not request_
    assert patched["messages"] is request_["messages"]
    assert json.dumps(request_) == before
    assert counted(canary) == counters


@pytest.mark.parametrize("request_", [None, "text", [], 3])
def test_what_is_no_request_comes_back(canary: Canary, request_: Any) -> None:
    """Also from `patch`, without an exception."""
    assert canary.patch(request_) == ({} if request_ is None else request_)
    assert counted(canary) == {"bad_request": 1}


def test_a_preset_named_as_model_passes(canary: Canary) -> None:
    """Also where only the preferences are asked for."""
    assert canary.provider_preferences("@preset/mine", {"zdr": True}) == {"zdr": True}
    assert counted(canary) == {"preset": 1}


def test_nothing_to_merge_adds_no_provider(tmp_path: Path, wall: Wall) -> None:
    """A request without exclusions is a plain copy."""
    write_snapshot(tmp_path / "snapshot.json", document(facts()))
    canary = Canary(tmp_path / "snapshot.json", clock=wall, thread=False)
    assert canary.patch({"model": MODEL}) == {"model": MODEL}
    assert canary.patch({"model": MODEL, "provider": None}) == {"model": MODEL, "provider": None}


def test_before_the_first_snapshot_nothing_is_merged(tmp_path: Path, wall: Wall) -> None:
    """The application may start before the daemon, and takes its first snapshot when it comes."""
    path = tmp_path / "snapshot.json"
    canary = Canary(path, clock=wall, thread=False)
    assert canary.provider_preferences(MODEL, {"ignore": ["a"]}) == {"ignore": ["a"]}
    assert canary.patch({"models": [MODEL, "acme/other"]}) == {"models": [MODEL, "acme/other"]}
    status = canary.status()
    assert (status["ok"], status["loaded"], status["fault"]) == (False, False, "missing_file")
    assert counted(canary) == {"missing_file": 1, "no_snapshot": 2}
    write_snapshot(path, GOOD)
    assert canary.refresh()
    assert ignored(canary) == WHOLE
    assert canary.status()["ok"]


def unreadable(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def missing(path: Path) -> None:
    path.unlink()


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def content(data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


WRITTEN = json.dumps(GOOD).encode()


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (missing, "missing_file"),
        (unreadable, "unreadable"),
        (a_directory, "malformed"),
        (a_pipe, "malformed"),
        (content(b""), "malformed"),
        (content(WRITTEN[: len(WRITTEN) // 2]), "malformed"),
        (content(b"\xff\xfe"), "malformed"),
        (content(b"[" * 100_000), "malformed"),
        (content(b"1" * 5_000), "malformed"),
        (content(b"NaN"), "malformed"),
        (content(b"null"), "malformed"),
        (content(WRITTEN.replace(b'"enforce"', b'"shadow"')), "malformed"),
        (content(WRITTEN.replace(b'"version": 1', b'"version": 2')), "future_version"),
    ],
)
def test_a_bad_file_leaves_the_last_good_snapshot_in_use(
    canary: Canary, path: Path, spoil: Callable[[Path], None], fault: str
) -> None:
    """It is counted at each look, `status()` says what it was, and a good file is taken up again."""
    spoil(path)
    assert not canary.refresh()
    assert not canary.refresh()
    assert ignored(canary) == WHOLE
    status = canary.status()
    assert (status["ok"], status["loaded"], status["fault"]) == (False, True, fault)
    assert status["problem"]
    assert counted(canary) == {fault: 2}
    if path.is_dir():
        path.rmdir()
    elif not path.is_file():
        path.unlink(missing_ok=True)
    write_snapshot(path, GOOD)
    assert canary.refresh()
    assert canary.status()["ok"]
    assert counted(canary) == {fault: 2}


def test_a_file_too_large_is_not_read(canary: Canary, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is on bytes, before anything is parsed."""
    monkeypatch.setattr("routecanary.client.file.MAX_BYTES", 100)
    with path.open("ab") as file:
        file.write(b" ")
    assert not canary.refresh()
    assert "too large" in canary.status()["problem"]
    assert ignored(canary) == WHOLE


def test_an_error_of_our_own_is_not_blamed_on_the_file(path: Path) -> None:
    """The same file is read again at the next look."""
    broken = True

    def clock() -> float:
        if broken:
            raise LookupError("no time")
        return NOW.timestamp()

    canary = Canary(path, clock=clock, thread=False)
    broken = False
    assert (canary.status()["fault"], canary.status()["problem"]) == ("failed", "LookupError: no time")
    assert canary.refresh()
    assert canary.status()["ok"]
    assert counted(canary) == {"failed": 1}


def test_an_unchanged_file_is_not_read_again(canary: Canary, path: Path) -> None:
    """A look at a file that has settled is one `stat`; its content counts, not its stamp."""
    assert not canary.refresh()
    old = time.time() - 60
    os.utime(path, (old, old))
    assert not canary.refresh()
    canary._watch.source._content = b"what was read stays as long as the stamp stays"
    assert not canary.refresh()
    os.utime(path, (old + 1, old + 1))
    assert canary.refresh()
    assert canary.status()["loads"] == 2


def test_a_second_change_within_one_stamp_is_seen(canary: Canary, path: Path) -> None:
    """Same inode, size and time as before, as a quick second change may have: a fresh file is read again."""
    stamp = path.stat()
    changed = WRITTEN.replace(b"filterhost", b"otherhost2")
    original = path.read_bytes()
    path.write_bytes(original.replace(b"filterhost", b"otherhost2"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert len(changed) == len(WRITTEN)
    assert canary.refresh()
    assert ignored(canary) == ["beta", "otherhost2", "slowhost"]


def test_a_new_snapshot_replaces_the_old_at_once(canary: Canary, path: Path, wall: Wall) -> None:
    """A lift, a pause or a new entry is in the next call after the look."""
    assert ignored(canary) == WHOLE
    write_snapshot(path, document(facts(paused=True, suspensions=suspended("beta"))))
    assert canary.refresh()
    assert ignored(canary) == []
    wall.now = after(minutes=30)
    write_snapshot(path, document(facts(suspensions=suspended("gamma")), written_at=wall.now))
    assert canary.refresh()
    assert ignored(canary) == ["gamma"]


def test_status_is_plain_json_for_a_health_check(canary: Canary, path: Path, wall: Wall) -> None:
    """Every counter is named from the start."""
    wall.now = after(minutes=1)
    status = json.loads(json.dumps(canary.status()))
    assert status == {
        "ok": True,
        "path": str(path),
        "loaded": True,
        "gateway": "openrouter",
        "loads": 1,
        "models": 2,
        "written_at": NOW.timestamp(),
        "age_seconds": 60.0,
        "stale": False,
        "from_future": False,
        "released": [],
        "paused": [],
        "fault": None,
        "problem": None,
        "watching": False,
        "counters": dict.fromkeys((*CALL_COUNTERS, *LOOK_COUNTERS), 0),
    }


def test_status_names_the_models_whose_layer_is_left_out_on_purpose(path: Path, wall: Wall) -> None:
    """Released, or paused until its end; in observe mode there is nothing to leave out."""
    end = after(hours=1)
    models = (
        facts("a/released", released=True),
        facts("b/paused", paused=True, paused_until=end),
        facts("c/observed", mode=Mode.OBSERVE, released=True, paused=True),
    )
    write_snapshot(path, document(*models))
    with Canary(path, clock=wall, thread=False) as canary:
        status = canary.status()
        assert (status["released"], status["paused"]) == (["a/released"], ["b/paused"])
        wall.now = end
        assert canary.status()["paused"] == []


def test_a_thread_takes_new_snapshots_up(path: Path, wall: Wall) -> None:
    """Until it is closed; afterwards calls go on with the last one."""
    with Canary(path, clock=wall, interval=0.01) as canary:
        assert canary.status()["watching"]
        write_snapshot(path, document(facts(suspensions=suspended("gamma"))))
        wait_for(lambda: ignored(canary) == ["gamma"])
    assert not canary.status()["watching"]
    write_snapshot(path, GOOD)
    canary.close()
    assert ignored(canary) == ["gamma"]


def test_where_no_thread_can_be_started_calls_go_on(
    path: Path, wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later call tries again; until then the list is the one that was read."""

    def no_room(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", no_room)
        canary = Canary(path, clock=wall)
        assert ignored(canary) == WHOLE
        assert not canary.status()["watching"]
        assert canary.status()["problem"] == "no background thread: can't start new thread"
    assert ignored(canary) == WHOLE
    assert canary.status()["watching"]
    assert canary.status()["problem"] is None
    canary.close()


def test_a_canary_that_nobody_has_ends_its_thread(path: Path) -> None:
    """The thread keeps no canary alive."""
    canary = Canary(path, interval=0.01)
    thread = canary._watch._thread
    assert thread is not None
    del canary
    wait_for(lambda: not thread.is_alive())


@pytest.mark.parametrize("interval", [0, -1, float("nan")])
def test_an_interval_must_be_a_time(path: Path, interval: float) -> None:
    """A thread that never rests is refused where the mistake is made."""
    with pytest.raises(ValueError, match="interval must be above 0"):
        Canary(path, interval=interval)


@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": "/home/ann"},
        {"HOME": "/home/ann", "XDG_STATE_HOME": "/state"},
        {"HOME": "/home/ann", "XDG_STATE_HOME": "relative"},
        {"HOME": "/home/ann", "XDG_STATE_HOME": ""},
        {"HOME": "/home/ann", "ROUTECANARY_SNAPSHOT": "/var/lib/snapshot.json"},
        {"HOME": "/home/ann", "ROUTECANARY_SNAPSHOT": ""},
    ],
)
def test_daemon_and_application_look_in_the_same_place(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing configured, both derive one path from the environment."""
    for name in ("HOME", "XDG_STATE_HOME", "ROUTECANARY_SNAPSHOT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert default_path() == str(default_snapshot_path(environ))
    assert Canary(thread=False).path == default_path()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; how long it took is not asserted, only that it came."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
