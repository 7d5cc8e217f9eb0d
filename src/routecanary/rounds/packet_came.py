"""What came back, fit to be shown to strangers? An answer's texts, bounded, without anybody's name.

Headers and raw reads stay here: they may tell of the account, and the transcript's id, which holds a hash of
them, is enough to ask for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from routecanary.domain.answer import Answer, read_answer
from routecanary.domain.archive import StoredTranscript
from routecanary.domain.names import ContractName, Locale
from routecanary.domain.redaction import Redactor, without_identities
from routecanary.domain.secret import Secret
from routecanary.domain.verdict import Verdict

MOST_SHOWN: Final = 8_000
"""Characters of an answer that are repeated."""

_MARGIN: Final = 1_000  # characters read beyond, so that what is cut off halves no secret that is shown
_MOST_IDS: Final = 3

Hide = Callable[[str], str]
"""Takes our own secrets out of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What an answer was, as far as a reader sees it; texts are the model's own, bounded and redacted."""

    transcript: str  # its id, which holds a hash of its bytes
    at: datetime  # of its round
    locale: Locale | None
    verdict: Verdict
    status: int | None
    ending: str
    ended_ms: float
    first_text_ms: float | None
    finish_reason: str | None
    text: str
    reasoning: str
    refusal: str
    error: str | None
    generations: tuple[str, ...]  # ids by which gateway and provider find the request


def came_of(shown: StoredTranscript, contract: ContractName, hide: Hide) -> Came:
    """Read what a stored answer was.

    Args:
        contract: That judged it.
    """
    kept, entry = shown.transcript, shown.entry
    answer = read_answer(kept)
    user = kept.request.get("user")
    hide_user = Redactor([Secret(user)] if isinstance(user, str) else [])

    def told(text: str) -> str:
        text = without_identities(hide_user(hide(text[: MOST_SHOWN + _MARGIN])))
        return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"

    verdict = entry.verdicts[contract]
    return Came(
        transcript=entry.id,
        at=entry.at,
        locale=entry.locale,
        verdict=replace(verdict, detail=told(verdict.detail)),
        status=kept.status,
        ending=kept.ending.kind.value,
        ended_ms=kept.ending.at_ms,
        first_text_ms=answer.first_text_ms,
        finish_reason=None if answer.finish_reason is None else told(answer.finish_reason),
        text=told(answer.text),
        reasoning=told(answer.reasoning),
        refusal=told(answer.refusal),
        error=_error(answer, told),
        generations=tuple(told(each) for each in answer.ids[:_MOST_IDS]),
    )


def _error(answer: Answer, told: Hide) -> str | None:
    """Repeat an error's code and message; what else it holds may be about the account."""
    if answer.error is None:
        return None
    parts = (answer.error.get(name) for name in ("code", "message"))
    return told(" ".join(str(part) for part in parts if isinstance(part, str | int)))
