"""How do the frames of an answer read on the wire of the Vercel AI Gateway?

The lab's answers are made, and struck, in the usual shape; here they are put into the other one, frame by
frame: no comments, no provider on each chunk, and one last chunk that carries the finish reason, the usage
and how the request was routed. What is no JSON stays as it came.

Source: docs/gateway.md, "The Vercel AI Gateway".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from routecanary.domain.probe import Json
from routecanary.lab.host import LabModel
from routecanary.lab.vercel.routing import NOBODY
from routecanary.lab.wire import JSON, Piece, Wire, json_bytes

_DATA: Final = b"data: "
_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "insufficient_funds",
    403: "forbidden",
    404: "model_not_found",
    429: "rate_limit_exceeded",
}


class Dresser:
    """Puts answers into the other shape; it knows the providers' slugs and the models' ids."""

    def __init__(self, models: Iterable[LabModel]) -> None:
        known = tuple(models)
        self._slugs = {route.provider: route.slug for model in known for route in model.routes}
        self._ids = {model.dated: model.id for model in known}

    def slug(self, provider: str) -> str:
        return self._slugs.get(provider, provider.lower().replace(" ", "-"))

    def wire(self, wire: Wire) -> Wire:
        """Dress a response whose pieces are one frame, or one document, each."""
        headers = {name.replace("X-OpenRouter-", "X-Gateway-"): value for name, value in wire.headers.items()}
        kind = headers.get("Content-Type", "")
        if kind == JSON:
            pieces = [Piece(piece.at, self._document(piece.data)) for piece in wire.pieces]
        elif kind.startswith("text/event-stream"):
            pieces = self._stream(wire.pieces)
        else:
            pieces = list(wire.pieces)
        return replace(wire, pieces=tuple(pieces), headers=headers)

    def refusal(self, body: Mapping[str, Json]) -> dict[str, Json]:
        """Dress an error envelope, with whom the router asked where a host is at fault."""
        error = body.get("error")
        error = error if isinstance(error, dict) else {"message": str(error)}
        if "code" not in error and "type" in error:
            return dict(body)  # dressed already
        metadata = _table(error.get("metadata"))
        code = error.get("code")
        status = code if isinstance(code, int) else 500
        nobody = metadata.get("error_type") == NOBODY
        kind = NOBODY if nobody else _TYPES.get(status, "internal_server_error")
        param = {"name": "RestrictedProvidersError" if nobody else "AI_APICallError", "statusCode": status}
        dressed: dict[str, Json] = {
            "error": {"message": error.get("message", ""), "type": kind, "param": param}
        }
        router, host = body.get("openrouter_metadata"), metadata.get("provider_name")
        if isinstance(router, dict) and (host or status >= 500 or status == 404):
            dressed["providerMetadata"] = {"gateway": {"routing": self._routing(router, None)}}
        elif host:
            attempts = {"attempts": [{"provider": host, "status": status}]}
            dressed["providerMetadata"] = {"gateway": {"routing": self._routing(attempts, None)}}
        return dressed

    def _document(self, data: bytes) -> bytes:
        body = _decoded(data)
        if body is None or "generationId" in body:  # dressed already
            return data
        if body.get("error"):
            return json_bytes(self.refusal(body))
        dressed = self._chunk(body)
        for choice in dressed["choices"]:
            choice["message"]["provider_metadata"] = self._metadata(body)
        return json_bytes({**dressed, "usage": body.get("usage"), "generationId": body.get("id")})

    def _stream(self, pieces: Iterable[Piece]) -> list[Piece]:
        dressed: list[Piece] = []
        # the chunk that ends the answer, until its usage comes
        held: tuple[Piece, dict[str, Any]] | None = None
        for piece in pieces:
            if piece.data.startswith(b": "):
                continue
            frame = _decoded(piece.data.removeprefix(_DATA)) if piece.data.startswith(_DATA) else None
            if frame is not None and "usage" in frame and not frame.get("choices"):
                dressed.append(self._event(piece.at, self._last(frame, None if held is None else held[1])))
                held = None
                continue
            if held is not None:  # it was not the end
                dressed.append(self._event(held[0].at, self._chunk(held[1])))
                held = None
            if frame is None:
                dressed.append(piece)
            elif frame.get("error"):
                dressed.append(self._event(piece.at, {**self._chunk(frame), **self.refusal(frame)}))
            elif _ends(frame):
                held = (piece, frame)
            else:
                dressed.append(self._event(piece.at, self._chunk(frame)))
        if held is not None:
            dressed.append(self._event(held[0].at, self._chunk(held[1])))
        return dressed

    def _event(self, at: float, payload: Json) -> Piece:
        return Piece(at, _DATA + json_bytes(payload) + b"\n\n")

    def _chunk(self, frame: Mapping[str, Json]) -> dict[str, Any]:
        """Leave out what this gateway does not send."""
        kept = {key: frame[key] for key in ("id", "object", "created") if key in frame}
        if "model" in frame:
            kept["model"] = self._ids.get(frame["model"], frame["model"])
        choices = []
        for choice in frame.get("choices") or ():
            plain = {key: value for key, value in choice.items() if key != "native_finish_reason"}
            if isinstance(plain.get("delta"), dict):
                plain["delta"] = {
                    key: value for key, value in plain["delta"].items() if value not in ("", None)
                }
            if plain.get("error"):
                plain["error"] = self.refusal({"error": plain["error"]})["error"]
            choices.append(plain)
        return {**kept, "choices": choices}

    def _last(self, frame: Mapping[str, Json], ending: Mapping[str, Json] | None) -> dict[str, Any]:
        """Put the end of an answer, its usage and its routing into one chunk."""
        chunk = self._chunk(ending if ending is not None else frame)
        nothing: dict[str, Any] = {"index": 0, "logprobs": None, "finish_reason": None}
        choice: dict[str, Any] = chunk["choices"][0] if chunk["choices"] else nothing
        delta = {**_table(choice.get("delta")), "provider_metadata": self._metadata(frame)}
        return {
            **chunk,
            "choices": [{**choice, "delta": delta}],
            "usage": frame["usage"],
            "generationId": frame.get("id"),
        }

    def _metadata(self, frame: Mapping[str, Json]) -> dict[str, Json]:
        provider = frame.get("provider")
        final = self.slug(provider) if isinstance(provider, str) else None
        cost = _table(frame.get("usage")).get("cost", 0)
        routing = self._routing(frame.get("openrouter_metadata") or {}, final)
        return {"gateway": {"routing": routing, "cost": str(cost), "generationId": frame.get("id")}}

    def _routing(self, router: Mapping[str, Json], final: str | None) -> dict[str, Json]:
        """Tell of the routing; who served is not told where the answer names nobody."""
        attempts = [
            {
                "provider": self.slug(attempt["provider"]),
                "credentialType": "system",
                "success": attempt["status"] == 200,
                "statusCode": attempt["status"],
            }
            for attempt in router.get("attempts", ())
            if final is not None or attempt["status"] != 200
        ]
        told: dict[str, Json] = {
            "fallbacksAvailable": [],
            "modelAttemptCount": 1,
            "modelAttempts": [{"success": final is not None, "providerAttempts": attempts}],
            "totalProviderAttemptCount": len(attempts),
        }
        return told if final is None else {**told, "finalProvider": final}


def _table(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _decoded(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _ends(frame: Mapping[str, Json]) -> bool:
    return any(
        choice.get("finish_reason") for choice in frame.get("choices") or () if isinstance(choice, dict)
    )
