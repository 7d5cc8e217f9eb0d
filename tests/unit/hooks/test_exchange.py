"""What a hook makes of a request, without a client library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from routecanary.client import Canary
from routecanary.client.canary import CALL_COUNTERS
from routecanary.hooks import scope
from routecanary.hooks.body import read_body, write_body
from routecanary.hooks.context import said
from routecanary.hooks.exchange import GATEWAY, Hook
from tests.hooked import MODEL, SPOILED, a_snapshot

URL = f"{GATEWAY}/chat/completions"
JSON = {"content-type": "application/json"}


ENCODED = [b"\xef\xbb\xbf{}", "{}".encode("utf-16"), "{}".encode("utf-16-le"), "{}".encode("utf-32")]


class Heard:
    """Whom a hook tells."""

    def __init__(self) -> None:
        self.records: list[Any] = []

    def put(self, record: Any) -> None:
        self.records.append(record)


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    with Canary(a_snapshot(tmp_path, SPOILED), thread=False) as made:
        yield made


def begun(hook: Hook, url: str = URL, method: str = "POST", body: bytes | None = None, **more: Any) -> Any:
    content = json.dumps({"model": MODEL, "messages": [], **more}).encode() if body is None else body
    return hook.begin(method, url, JSON, lambda: content)


@pytest.mark.parametrize(
    "path", ["chat/completions", "chat/completions/", "responses", "messages", "messages?x=1"]
)
def test_what_takes_preferences_gets_them(path: str, canary: Canary) -> None:
    """Three endpoints take `provider`; a query or a slash at the end changes nothing."""
    exchange = begun(Hook(canary), f"{GATEWAY}/{path}")
    assert json.loads(exchange.body)["provider"] == {"ignore": [SPOILED]}


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", URL),
        ("PUT", URL),
        ("POST", f"{GATEWAY}/completions"),
        ("POST", f"{GATEWAY}/embeddings"),
        ("POST", f"{GATEWAY}/x/chat/completions"),
        ("POST", "https://openrouter.ai/chat/completions"),
        ("POST", "http://openrouter.ai/api/v1/chat/completions"),
        ("POST", "https://openrouter.ai.evil/api/v1/chat/completions"),
        ("POST", "https://api.openai.com/v1/chat/completions"),
        ("POST", ""),
    ],
)
def test_everything_else_is_none_of_ours(method: str, url: str, canary: Canary) -> None:
    """Nothing is read, counted or told."""

    def read() -> bytes:
        raise AssertionError

    assert Hook(canary).begin(method, url, JSON, read) is None
    assert not any(canary.status()["counters"].values())


@pytest.mark.parametrize(
    ("gateway", "url"),
    [
        ("https://OpenRouter.ai:443/api/v1/", URL),
        ("http://[::1]:80/v1", "http://[::1]/v1/chat/completions"),
        ("http://127.0.0.1:7452/v1", "http://127.0.0.1:7452/v1/chat/completions"),
        ("https://gw.example", "https://gw.example/chat/completions"),
    ],
)
def test_an_address_may_be_written_in_several_ways(gateway: str, url: str, canary: Canary) -> None:
    """Client libraries write it in one."""
    assert begun(Hook(canary, gateway=gateway), url).body is not None
    assert Hook(canary, gateway=gateway).is_gateway(gateway)


@pytest.mark.parametrize("gateway", ["", "openrouter.ai/api/v1", "ftp://x", "https://", "http://x:y"])
def test_an_address_that_is_none_is_found_at_once(gateway: str, canary: Canary) -> None:
    """It would protect nobody, and nobody would see that."""
    with pytest.raises(ValueError, match=r"gateway must be|Port could not"):
        Hook(canary, gateway=gateway)
    assert not Hook(canary).is_gateway(gateway)


def test_a_list_that_is_there_already_leaves_the_bytes(canary: Canary) -> None:
    """Nothing new is to be said, so the caller's own bytes go out."""
    heard: Any = Heard()
    exchange = begun(Hook(canary, sender=heard), provider={"ignore": [SPOILED]})
    assert exchange.body is None
    exchange.finish()
    assert heard.records[0]["ignore"] == [SPOILED]
    assert "unchanged" not in heard.records[0]


def test_a_mistake_of_ours_lets_the_request_go(canary: Canary) -> None:
    """It is counted as ours."""

    def read() -> bytes:
        raise ZeroDivisionError

    assert Hook(canary).begin("POST", URL, JSON, read) is None
    assert canary.status()["counters"]["failed"] == 1


def test_a_hook_without_a_canary_is_found_at_once() -> None:
    """The application does not start with it."""
    nobody: Any = object()
    with pytest.raises(TypeError, match="takes a Canary, not object"):
        Hook(nobody)


@pytest.mark.parametrize(
    ("request_", "reason", "ignore"),
    [
        ({"preset": "x"}, "preset", []),
        ({"model": 7}, "bad_request", []),
        ({"model": "acme/unwatched"}, "unknown_model", []),
        ({"provider": {"ignore": "text"}}, "bad_existing", []),
        ({"provider": {"only": [SPOILED]}}, "merge_would_empty", []),
        ({"provider": {"ignore": ["x"]}}, None, ["x", SPOILED]),
    ],
)
def test_a_record_says_what_was_carried_or_why_not(
    request_: dict[str, Any], reason: str | None, ignore: list[str], canary: Canary
) -> None:
    """The reason of this call alone, by its counter's name; the counters hold the sum."""
    heard: Any = Heard()
    hook = Hook(canary, sender=heard)
    begun(hook, preset="another")  # another call's reason is another call's
    exchange = begun(hook, **request_)
    exchange.take_frame({"id": "gen-1", "model": MODEL, "choices": []}, streamed=False)
    exchange.finish()
    exchange.finish()
    (record,) = heard.records
    assert record.get("unchanged") == reason
    assert record["ignore"] == ignore
    assert "list_written_at" in record
    assert sum(canary.status()["counters"].values()) == 1 + (reason is not None)
    assert reason is None or reason in CALL_COUNTERS


def test_what_does_not_fit_is_not_told(canary: Canary) -> None:
    """A finish reason in prose and a conversation that is a sentence could be content."""
    heard: Any = Heard()
    with scope(conversation="what the user said", locale="th"):
        exchange = begun(Hook(canary, sender=heard))
    exchange.feed(b'data: {"id":"a b","choices":[{"finish_reason":"because I say so"}]}\n\n')
    exchange.finish()
    (record,) = heard.records
    assert {"id", "finish_reason", "conversation"}.isdisjoint(record)
    assert len(record["key"]) == 32
    assert record["locale"] == "th"


def test_a_fallback_is_named_by_the_answer(canary: Canary) -> None:
    """Of several models only the answer tells which one served."""
    heard: Any = Heard()
    exchange = begun(Hook(canary, sender=heard), models=["acme/other"])
    exchange.feed(b'{"id":"gen-1","model":"acme/other","choices":[]}')
    exchange.finish()
    assert heard.records[0]["model"] == "acme/other"


def test_a_teller_that_fails_is_nobodys_trouble(canary: Canary) -> None:
    """The answer goes on."""

    class Broken:
        def put(self, record: Any) -> None:
            raise OSError

    broken: Any = Broken()
    begun(Hook(canary, sender=broken)).finish()


def test_scopes_nest_and_belong_to_their_thread() -> None:
    """What is left out stays as outside; another thread has said nothing."""
    seen: list[Any] = []
    with scope(locale="th", needs=(name for name in ("structured",))):
        with scope(conversation="c"):
            seen.append(said())
            thread = Thread(target=lambda: seen.append(said()))
            thread.start()
            thread.join()
        seen.append(said())
    seen.append(said())
    assert [tuple(each) for each in seen] == [
        (("structured",), "th", "c"),
        (None, None, None),
        (("structured",), "th", None),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b"7", b'{"a":', b"\xff{}", b"[" * 100_000, b'{"a":' * 9000, *ENCODED]
)
def test_a_body_that_is_no_object_is_not_read(body: bytes) -> None:
    """Nothing is raised, however deep it goes."""
    assert read_body(body) is None


@pytest.mark.parametrize(
    "body", [b'{"model":"m","provider":{},"n":1e999}', b'{"model":"m","provider":{},"n":NaN}']
)
def test_a_number_that_could_not_be_written_back_is_not_written(body: bytes) -> None:
    """Then the request goes as it is."""
    request = read_body(body)
    assert request is not None
    assert write_body(body, request, {"provider": {"ignore": ["x"]}}) is None


@pytest.mark.parametrize("text", ['{"model":"m"}', '  {"model" : "m", "x": "\\ud800 é {"}', "{}"])
def test_new_keys_stand_in_front_of_the_callers_bytes(text: str) -> None:
    """Whatever precedes the object stays too."""
    body = text.encode()
    request = read_body(body)
    assert request is not None
    written = write_body(body, request, {"provider": {"ignore": ["x"]}})
    assert written is not None
    assert json.loads(written) == {"provider": {"ignore": ["x"]}, **request}
    assert written.endswith(body.lstrip()[1:])
