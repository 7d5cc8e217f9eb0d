"""How does anybody ask a route the same question? The smallest request that pins it.

As a shell command and as a program. Only what makes the answer is kept of a probe's body: no id of an end
user, no plugins, nothing of the account. The key is read from the environment, and is in neither.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, assert_never

from routecanary.domain.gateway import WHEREABOUTS, GatewayKind, gateway_of_request
from routecanary.domain.probe import Json
from routecanary.domain.settings import Sampling

PATIENCE: Final = 120
"""Seconds for which the request is waited for."""

_KEPT: Final = (
    "model",
    "stream",
    "messages",
    "response_format",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "seed",
    *(field.name for field in fields(Sampling)),
    "reasoning",  # where it is switched off: a budget spent on thinking would be another question
)
_PIN: Final = ("only", "ignore", "allow_fallbacks", "require_parameters")

_PROGRAM: Final = """\
import json, os, sys, time, urllib.error, urllib.request

BODY = {body}
request = urllib.request.Request(
    {url},
    data=BODY.encode(),
    headers={{
        "Authorization": "Bearer " + os.environ[{variable}],
        "Content-Type": "application/json",
    }},
)
sys.stdout.reconfigure(errors="backslashreplace")
begun, first, raw, text, refusal, finish = time.monotonic(), None, b"", "", "", None
try:
    with urllib.request.urlopen(request, timeout={patience}) as answer:
        for line in answer:
            if time.monotonic() - begun > {patience}:
                break
            raw = (raw + line)[:4000]
            try:
                frame = json.loads(line.removeprefix(b"data:"))
                if frame.get("error"):
                    print("error:", repr(frame["error"]))
                choice = (frame.get("choices") or [{{}}])[0]
                said = choice.get("delta") or choice.get("message") or {{}}
                text += said.get("content") or ""
                refusal += said.get("refusal") or ""
                finish = choice.get("finish_reason") or finish
            except (ValueError, TypeError, AttributeError, LookupError):
                continue
            if first is None and text.strip():
                first = time.monotonic() - begun
except urllib.error.HTTPError as error:
    print("HTTP", error.code)
    raw = error.read(4000)
print("first text after", "none" if first is None else f"{{first:.2f}} s")
print("finish reason:", repr(finish))
print("refusal:", repr(refusal))
print("text:", repr(text or raw))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """One request, as data, as a shell command and as a Python program; each runs as it stands."""

    variable: str  # of the environment, where whoever runs it keeps a key of their own
    body: Mapping[str, Json]
    curl: str
    python: str


def reproduction_of(request: Mapping[str, Json], base_url: str) -> Reproduction:
    """Make the smallest request that asks what a probe asked.

    Args:
        request: The body as it was sent.
        base_url: Of the gateway, without a slash at its end.
    Example: `curl … --data-raw '{"model": "acme/chat", …, "provider": {"only": ["alpha/fp8"], …}}'`.
    """
    variable = WHEREABOUTS[gateway_of_request(request)].key_variable
    body = minimal(request)
    written = json.dumps(body, ensure_ascii=True)
    url = f"{base_url.rstrip('/')}/chat/completions"
    curl = " \\\n  ".join(
        [
            f"curl -sS -N --max-time {PATIENCE} {shlex.quote(url)}",
            f'-H "Authorization: Bearer ${variable}"',
            "-H 'Content-Type: application/json'",
            f"--data-raw {shlex.quote(written)}",
        ]
    )
    python = _PROGRAM.format(body=ascii(written), url=ascii(url), variable=ascii(variable), patience=PATIENCE)
    return Reproduction(variable=variable, body=body, curl=curl, python=python)


def minimal(request: Mapping[str, Json]) -> dict[str, Json]:
    """Keep of a probe's body what makes the answer, and the pin."""
    kept = {name: request[name] for name in _KEPT if name in request}
    match gateway_of_request(request):
        case GatewayKind.OPENROUTER:
            return {**kept, "provider": _pin(request.get("provider"))}
        case GatewayKind.VERCEL:
            options = request["providerOptions"]
            gateway = options.get("gateway") if isinstance(options, Mapping) else None
            return {**kept, "providerOptions": {"gateway": _pin(gateway)}}
        case other:
            assert_never(other)


def _pin(routing: Json) -> dict[str, Json]:
    return {name: routing[name] for name in _PIN if name in routing} if isinstance(routing, Mapping) else {}
