"""What happens to one request and its answer, whatever library carries them?

A hook asks for an `Exchange` before a request goes out, sends what it says, and lets it see the bytes of
the answer as they pass. Nothing here raises, waits or changes what the caller holds: on any doubt the request
goes as it is, and the canary's counters say why.

Source: docs/hooks.md.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from routecanary.client import Canary
from routecanary.client.advice import ENDPOINTS, Advice, advise, pass_unchanged
from routecanary.client.answer import AnswerReader
from routecanary.client.canary import UNREAD_BODY
from routecanary.client.telemetry import Sender
from routecanary.client.watch import FAILED
from routecanary.hooks.body import read_body, write_body
from routecanary.hooks.context import Said, kept, said

GATEWAY: Final = "https://openrouter.ai/api/v1"

# What says that the body was signed or packed: it must arrive as it was made.
_SEALS: Final = (
    *("content-encoding", "transfer-encoding", "content-md5", "digest", "content-digest", "repr-digest"),
    *("signature", "x-amz-content-sha256"),
)
_OPAQUE: Final = re.compile(r"[!-~]{1,128}")
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Hook:
    """One way out of an application: a canary, whom to tell, and what its requests need."""

    __slots__ = ("_canary", "_locale", "_needs", "_prefix", "_sender")

    def __init__(
        self,
        canary: Canary,
        *,
        sender: Sender | None = None,
        needs: Iterable[str] | None = None,
        locale: str | None = None,
        gateway: str = GATEWAY,
    ) -> None:
        """Take what holds for every request of a client.

        Args:
            sender: Who is told what was served; None = nobody, and answers are not looked at.
            needs: What `scope` does not say otherwise.
            locale: Likewise.
            gateway: The base address of the gateway. Requests to any other are left alone.
        Raises:
            TypeError: `canary` is no `Canary`.
            ValueError: `gateway` is no address.
        """
        if not isinstance(canary, Canary):  # found when the application starts, not at its first request
            raise TypeError(f"a hook takes a Canary, not {type(canary).__name__}")
        self._canary = canary
        self._sender = sender
        self._needs = None if needs is None else kept(needs)
        self._locale = locale
        self._prefix = _below(gateway)

    def begin(
        self, method: str, url: str, headers: Mapping[str, str], read: Callable[[], bytes | None]
    ) -> Exchange | None:
        """Look at a request that is about to go out; None: it is none that concerns us.

        Args:
            headers: With names that are found in any case.
            read: Gets its whole content; None where that cannot be had without waiting.
        """
        try:
            if not self._concerns(method, url):
                return None
            body = None if _is_sealed(headers) else read()
            request = None if body is None else read_body(body)
            if body is None or request is None:
                return self._exchange({}, pass_unchanged(self._canary, UNREAD_BODY), said(), None)
            advice = self._advise(request)
            written = None
            if any(request.get(name) != value for name, value in advice.changes.items()):
                written = write_body(body, request, advice.changes)
                if written is None:
                    advice = pass_unchanged(self._canary, UNREAD_BODY)
            return self._exchange(request, advice, said(), written)
        except Exception:
            pass_unchanged(self._canary, FAILED)
            return None

    def begin_call(self, request: Mapping[str, Any]) -> Exchange | None:
        """Look at a chat request that is a mapping still; `Exchange.changes` are its new top-level keys."""
        try:
            return self._exchange(request, self._advise(request), said(), None)
        except Exception:
            pass_unchanged(self._canary, FAILED)
            return None

    def is_gateway(self, url: str) -> bool:
        """Say whether an address is the gateway's, or one below it."""
        try:
            return _below(url).startswith(self._prefix)
        except ValueError:
            return False

    def _concerns(self, method: str, url: str) -> bool:
        if method != "POST" or not url.startswith(self._prefix):
            return False
        return url[len(self._prefix) :].partition("?")[0].partition("#")[0].strip("/") in ENDPOINTS

    def _advise(self, request: Mapping[str, Any]) -> Advice:
        here = said()
        return advise(
            self._canary,
            request,
            needs=self._needs if here.needs is None else here.needs,
            locale=self._locale if here.locale is None else here.locale,
        )

    def _exchange(
        self, request: Mapping[str, Any], advice: Advice, here: Said, body: bytes | None
    ) -> Exchange:
        locale = self._locale if here.locale is None else here.locale
        return Exchange(
            self._sender,
            advice,
            body,
            model=_model(request),
            conversation=here.conversation,
            locale=locale,
        )


class Exchange:
    """One request on its way, and its answer. Not for two threads at once."""

    __slots__ = (
        *("body", "changes", "_advice", "_asked_at", "_began", "_conversation", "_key", "_locale", "_model"),
        *("_reader", "_sender", "_status"),
    )

    def __init__(
        self,
        sender: Sender | None,
        advice: Advice,
        body: bytes | None,
        *,
        model: str | None,
        conversation: str | None,
        locale: str | None,
    ) -> None:
        self.body = body  # to be sent in place of the caller's; None = as it is
        self.changes = advice.changes
        self._sender = sender
        self._advice = advice
        self._model = model
        self._conversation = conversation
        self._locale = locale
        self._status: int | None = None
        self._reader = None if sender is None else AnswerReader()
        self._asked_at = time.time()
        self._began = time.perf_counter()

    @property
    def listens(self) -> bool:
        """Say whether anybody wants to know of the answer."""
        return self._sender is not None

    def answered(self, status: int) -> None:
        """Take the status line."""
        self._status = status if 100 <= status <= 599 else None

    def feed(self, data: bytes) -> None:
        """Take the bytes of one read of the answer's body, compressed or not."""
        if self._reader is not None:
            try:
                self._reader.feed(data, time.perf_counter())
            except Exception:  # what we cannot read, the application still can
                self._reader = None

    def take_frame(self, frame: dict[str, Any], *, streamed: bool) -> None:
        """Take one frame that a library has decoded already, or the whole answer."""
        if self._reader is not None:
            try:
                self._reader.take_frame(frame, time.perf_counter() if streamed else None)
            except Exception:  # as above
                self._reader = None

    def finish(self, *, duration: float | None = None) -> None:
        """Take the end of the answer, or that nobody waits for it any more; only the first counts.

        Args:
            duration: Seconds that it took; None = until now.
        """
        sender, self._sender = self._sender, None
        if sender is None:
            return
        try:
            record = self._record(time.perf_counter() - self._began if duration is None else duration)
            if record is not None:
                sender.put(record)
        except Exception:  # noqa: S110 - telemetry is never the application's trouble
            pass

    def _record(self, duration: float) -> dict[str, Any] | None:
        """Write down what is told: names, times and counts, never a word of what was said."""
        reader, advice = self._reader or AnswerReader(), self._advice
        reader.finish()
        model = self._model or reader.model
        if model is None:
            return None
        first = reader.first_text_at
        told = {
            "id": _matching(_OPAQUE, reader.id),
            "model": model,
            "provider": reader.provider,
            "started_at": _instant(self._asked_at),
            "ttft_ms": None if first is None else _ms(first - self._began),
            "duration_ms": _ms(duration),
            "status": self._status,
            "finish_reason": _matching(_WORD, reader.finish_reason),
            "empty": reader.empty,
            "prompt_tokens": reader.prompt_tokens,
            "completion_tokens": reader.completion_tokens,
            "conversation": _matching(_OPAQUE, self._conversation),
            "locale": self._locale,
            "ignore": advice.ignore,
            "unchanged": advice.reason,
            "list_written_at": None if advice.written_at is None else _instant(advice.written_at),
        }
        record = {name: value for name, value in told.items() if value is not None}
        if "id" not in record:
            record["key"] = uuid.uuid4().hex
        return record


def _below(address: str) -> str:
    """Write what every address below this one begins with, as client libraries write it."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("gateway must be http(s)://host[:port][/path]")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = 443 if parts.scheme == "https" else 80
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}/"


def _model(request: Mapping[str, Any]) -> str | None:
    """Name the model that was asked for, unless only the answer can tell which of several served."""
    model = request.get("model")
    return model if isinstance(model, str) and model and not request.get("models") else None


def _is_sealed(headers: Mapping[str, str]) -> bool:
    return (
        any(name in headers for name in _SEALS)
        or headers.get("authorization", "").startswith("AWS4-")
        or "json" not in headers.get("content-type", "json").lower()
    )


def _matching(pattern: re.Pattern[str], text: str | None) -> str | None:
    return text if text is not None and pattern.fullmatch(text) else None


def _instant(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).isoformat()


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))
