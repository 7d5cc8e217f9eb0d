"""LiteLLM in an environment of its own: the async SDK, the Router, sync calls and the proxy."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import routecanary
from tests.hooked import KEY, MODEL, PROMPT, SPOILED, TOKEN, Application, an_application, holds
from tests.system.wire import closed_port

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-litellm" / "bin" / "python"
SOURCE = str(Path(routecanary.__file__).parents[1])
DOCS = (ROOT / "docs" / "hooks.md").read_text("utf-8")


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    assert PYTHON.exists(), "make .venv-litellm/.installed"
    with an_application(tmp_path) as running:
        yield running


def environment(application: Application, folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": SOURCE,
        "ROUTECANARY_SNAPSHOT": application.canary.path,
        "OPENROUTER_API_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no network
        "LITELLM_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
        "LITELLM_MASTER_KEY": "sk-for-tests",
    }


PREAMBLE = """
import asyncio, litellm
from routecanary.client import Canary
from routecanary.client.telemetry import Sender
from routecanary.hooks import scope
from routecanary.hooks.litellm import CanaryLogger, async_client, client
GATEWAY, canary, sender = {base_url!r}, Canary(), Sender({receiver!r}, {token!r})
call = dict(model="openrouter/{model}", api_base=GATEWAY, api_key={key!r},
            messages=[{{"role": "user", "content": {prompt!r}}}])
"""


def run(application: Application, folder: Path, code: str) -> str:
    """Run lines after the preamble, with LiteLLM's own interpreter."""
    preamble = PREAMBLE.format(
        base_url=application.base_url,
        receiver=application.receiver.url,
        token=TOKEN,
        model=MODEL,
        key=KEY,
        prompt=PROMPT,
    )
    done = subprocess.run(
        [PYTHON, "-c", preamble + code],
        env=environment(application, folder),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_async_calls_and_the_router_carry_the_list(application: Application, tmp_path: Path) -> None:
    """With and without a stream, with preferences of their own in either place, by prefix or by address."""
    code = f"""
litellm.callbacks = [CanaryLogger(canary, sender=sender, gateway=GATEWAY)]
own = {{"sort": "price"}}
async def main():
    with scope(conversation="c0ffee", locale="en"):
        await litellm.acompletion(**call, extra_body={{"provider": own, "user": "u"}})
        async for _ in await litellm.acompletion(**call, provider=own, stream=True): pass
    await litellm.acompletion(**{{**call, "model": "openai/{MODEL}"}}, extra_body={{"provider": own}})
    await litellm.acompletion(**{{**call, "model": "openai/{MODEL}"}}, provider=own)
    params = {{name: call[name] for name in ("model", "api_base", "api_key")}}
    router = litellm.Router([{{"model_name": "chat", "litellm_params": params}}])
    await router.acompletion(model="chat", messages=call["messages"], provider=own)
    try:
        await litellm.acompletion(**{{**call, "api_key": "wrong"}})
    except litellm.AuthenticationError:
        pass
    await asyncio.sleep(1)
asyncio.run(main())
assert own == {{"sort": "price"}}
assert not any(canary.status()["counters"].values()), canary.status()
"""
    run(application, tmp_path, code)
    served = {each.id: each for each in application.served}
    assert len(served) == 5
    assert {json.dumps(each.body["provider"]) for each in served.values()} == {
        json.dumps({"sort": "price", "ignore": [SPOILED]})
    }
    *answered, refused = application.told(6)
    assert refused["status"] == 401
    for record in answered:
        each = served.pop(record["id"])
        more = {"provider": None} if each.streamed else {}  # which LiteLLM drops
        holds(record, each, **more)
    assert served == {}
    assert [record.get("conversation") for record in answered].count("c0ffee") == 2


def test_sync_calls_take_a_client(application: Application, tmp_path: Path) -> None:
    """And so may async ones, which then tell all that came off the wire."""
    code = """
own = {"sort": "price"}
http = client(canary, sender=sender, gateway=GATEWAY)
litellm.completion(**call, provider=own, client=http)
for _ in litellm.completion(**call, provider=own, stream=True, client=http): pass
async def main():
    http = async_client(canary, sender=sender, gateway=GATEWAY)
    async for _ in await litellm.acompletion(**call, provider=own, stream=True, client=http): pass
    await http.close()
asyncio.run(main())
"""
    run(application, tmp_path, code)
    served = {each.id: each for each in application.served}
    assert SPOILED not in application.lab.ledger.by_route
    for record in application.told(3):
        each = served.pop(record["id"])
        holds(record, each)
        assert ("ttft_ms" in record) == each.streamed
    assert served == {}


def test_calls_to_others_and_calls_that_fail_to_be_read_go_as_they_are(
    application: Application, tmp_path: Path
) -> None:
    """Another provider's call is returned untouched; a broken canary breaks nothing."""
    code = """
logger = CanaryLogger(canary, sender=sender, gateway=GATEWAY)
hook = logger.async_pre_call_deployment_hook
async def main():
    for other in (
        {"model": "gpt-x"},
        {"model": "openai/gpt-x", "api_base": "https://api.openai.com/v1"},
        {"model": "azure/gpt-x", "api_base": GATEWAY.replace("/api", "x/api")},
        {"model": None},
        {},
    ):
        assert await hook(other, litellm.types.utils.CallTypes.acompletion) is None, other
    assert await hook(dict(call), litellm.types.utils.CallTypes.aembedding) is None
    assert await hook({**call, "extra_body": {"preset": "x"}}, "acompletion") is None
    assert canary.status()["counters"]["preset"] == 1
    canary._watch = None
    assert await hook(dict(call), "acompletion") is None
    assert canary._counts["failed"] == 1
asyncio.run(main())
"""
    run(application, tmp_path, code)


def the_proxys_files(application: Application, folder: Path) -> Path:
    """Take callback and configuration out of the page, with what it leaves open filled in."""
    section = DOCS.split("### LiteLLM proxy")[1].split("\n## ")[0]
    callback = section.split("```python\n")[1].split("```")[0]
    config = section.split("```yaml\n")[1].split("```")[0]
    callback = callback.replace("http://127.0.0.1:7450", application.receiver.url).replace("rc_…", TOKEN)
    assert "…" not in callback
    (folder / "canary_callback.py").write_text(callback, "utf-8")
    config = config.replace("https://openrouter.ai/api/v1", application.base_url).replace(
        "author/slug", MODEL
    )
    path = folder / "config.yaml"
    path.write_text(config, "utf-8")
    return path


def test_the_proxy_carries_the_list(application: Application, tmp_path: Path) -> None:
    """As the page says: a file beside the configuration, and one line in it."""
    config, port = the_proxys_files(application, tmp_path), closed_port()
    url = f"http://127.0.0.1:{port}"
    command = [PYTHON, "-c", "from litellm import run_server; run_server()"]
    log = tmp_path / "proxy.log"
    with log.open("wb") as output:
        proxy = subprocess.Popen(
            [*command, "--config", config, "--host", "127.0.0.1", "--port", str(port)],
            cwd=tmp_path,
            env=environment(application, tmp_path),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        with httpx2.Client(headers={"Authorization": "Bearer sk-for-tests"}, timeout=60) as client:
            wait_for(client, f"{url}/health/readiness", proxy, log)
            body: dict[str, Any] = {**application.body(), "model": "chat"}
            answer = client.post(f"{url}/chat/completions", json=body)
            assert answer.status_code == 200, answer.text
            streamed = client.post(f"{url}/chat/completions", json={**body, "stream": True})
            assert streamed.text.rstrip().endswith("data: [DONE]")
        served = {each.id: each for each in application.served}
        assert [each.body["provider"] for each in served.values()] == [
            {"sort": "price", "ignore": [SPOILED]}
        ] * 2
        for record in application.told(2):
            each = served.pop(record["id"])
            holds(record, each, **({"provider": None} if each.streamed else {}))
    finally:
        proxy.terminate()
        proxy.wait(60)


def wait_for(client: httpx2.Client, url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 200
    while True:
        assert process.poll() is None, log.read_text("utf-8")
        assert time.monotonic() < deadline, log.read_text("utf-8")
        try:
            if client.get(url).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
