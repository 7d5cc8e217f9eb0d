"""The lab gateway over real HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp

from routecanary.lab.gateway import LabGateway
from routecanary.lab.scenario import builtin_scenario

SCENE = (
    "Lund, 3 May. The story has come to the harbour.\n\n"
    "Petra waits on the quay with a rope over her shoulder. Silvan is late, "
    "and she has dropped the rope twice.\n\n"
    "Write the next part in English, in the third person. Both Petra and Silvan speak, in quotation marks. "
    "The rope plays a part. Write at least 150 words. Open with an action by Petra between single asterisks."
)


def texts_of(raw: str) -> list[dict[str, Any]]:
    return [
        json.loads(line[6:])
        for line in raw.splitlines()
        if line.startswith("data: ") and line != "data: [DONE]"
    ]


async def ask(session: aiohttp.ClientSession, base: str, **body: Any) -> tuple[int, str]:
    full = {"model": "acme/chat-2", "stream": True, "messages": [{"role": "user", "content": SCENE}], **body}
    async with session.post(f"{base}/chat/completions", json=full) as response:
        return response.status, await response.text()


def test_a_pinned_route_streams_its_planted_fault() -> None:
    """The faulty route spoils its start and a healthy one begins as asked, each under its own name."""

    async def run() -> dict[str, str]:
        texts: dict[str, str] = {}
        async with (
            LabGateway(builtin_scenario("spoiled"), seed=3, time_scale=200) as lab,
            aiohttp.ClientSession(headers={"Authorization": "Bearer lab-key"}) as session,
        ):
            for tag in ("inkspill/fp4", "north-host/fp8"):
                status, raw = await ask(
                    session, lab.base_url, provider={"only": [tag], "allow_fallbacks": False}
                )
                assert status == 200
                assert raw.startswith(": OPENROUTER PROCESSING\n\n")
                assert raw.endswith("data: [DONE]\n\n")
                frames = texts_of(raw)
                assert len({frame["provider"] for frame in frames}) == 1
                assert frames[-1]["choices"] == []
                assert frames[-1]["usage"]["cost"] > 0
                texts[frames[0]["provider"]] = "".join(
                    choice["delta"]["content"] for frame in frames for choice in frame["choices"]
                )
        return texts

    texts = asyncio.run(run())
    assert texts["North Host"].startswith("*Petra ")
    assert not texts["Inkspill"].startswith("*")
    assert "Silvan" in texts["North Host"]
    assert "rope" in texts["North Host"]
