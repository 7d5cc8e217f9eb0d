"""What does the request that is being made need, and to which conversation does it belong?

Said around the call, for the thread or the task that makes it, so that no library has to pass it on:

```python
with scope(locale="th", conversation=hashed):
    client.chat.completions.create(...)
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Said(NamedTuple):
    """What was said around a call; None = nothing."""

    needs: Iterable[str] | None = None
    locale: str | None = None
    conversation: str | None = None


_said: ContextVar[Said] = ContextVar("routecanary_scope", default=Said())  # noqa: B039 - it cannot be changed


@contextmanager
def scope(
    *, needs: Iterable[str] | None = None, locale: str | None = None, conversation: str | None = None
) -> Iterator[None]:
    """Say for all requests made within what they need; what is left out stays as it was said outside.

    Args:
        needs: As of `Canary.provider_preferences`, for a shorter list.
        locale: In which the answer is wanted, such as `th`; likewise.
        conversation: An opaque hash that telemetry carries: 1 to 128 printable ASCII characters, no space.
            Never a user's name or text.
    """
    outside = _said.get()
    token = _said.set(
        Said(
            outside.needs if needs is None else kept(needs),
            outside.locale if locale is None else locale,
            outside.conversation if conversation is None else conversation,
        )
    )
    try:
        yield
    finally:
        _said.reset(token)


def kept(needs: Iterable[str]) -> Iterable[str]:
    """Hold needs that are asked more than once; a bare text is left for the canary to refuse."""
    return needs if isinstance(needs, str) else tuple(needs)


def said() -> Said:
    """Tell what holds for a request that is made here and now."""
    return _said.get()
