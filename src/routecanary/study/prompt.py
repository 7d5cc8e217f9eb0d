"""What does a file of a person's own prompt ask?

A `.json` or `.toml` file says it key by key; any other file is one user's message, as it stands. The prompt
is asked word for word, and its answers are judged by every contract that applies to them.

Source: docs/studies.md, "Your own prompt".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from routecanary.domain.names import Locale
from routecanary.domain.probe import Json, ProbeKind, Scene
from routecanary.domain.settings import DEFAULT_MAX_TOKENS
from routecanary.domain.strict_json import parse_json
from routecanary.domain.strict_toml import parse_toml
from routecanary.errors import InputError
from routecanary.study.values import Question

MAX_FILE: Final = 1024 * 1024  # bytes
MAX_MESSAGES: Final = 500
MAX_LETTERS: Final = 200_000  # characters of all messages: what the judges read of a prompt
MAX_WORDS: Final = 5_000
MOST_TOKENS: Final = 32_000
LEAST_TOKENS: Final = 16
VERSION: Final = 1  # own prompts have no number

_KEYS: Final = ("prompt", "messages", "max_tokens", "opening", "min_words", "schema")
_ROLES: Final = ("system", "user", "assistant")


def question_from_text(text: str, place: str, *, locale: Locale | None) -> Question:
    """Read a prompt file.

    Args:
        text: The file's content.
        place: Its path; the ending decides how it is read, and errors name it.
        locale: In which the answer must be; None: any language will do.
    Raises:
        InputError: It breaks a rule of docs/studies.md; the first breach is named.
    """
    ending = place.lower().rpartition(".")[2]
    match ending:
        case "json":
            table = parse_json(text, place=place)
        case "toml":
            table = parse_toml(text, place=place)
        case _:
            table = {"prompt": text}
    if not isinstance(table, dict):
        raise InputError("not an object", place=place, allowed="an object with the key prompt or messages")
    return _question(_Table(table, place), locale)


class _Table:
    """Typed access to the keys of the file."""

    def __init__(self, table: Mapping[str, Json], place: str) -> None:
        self.keys = frozenset(table)
        self._table = table
        self._place = place
        for key in table:
            if key not in _KEYS:
                raise self.error(key, "unknown key", allowed=", ".join(_KEYS))

    def error(self, key: str, problem: str, value: object = None, allowed: str | None = None) -> InputError:
        return InputError(problem, place=self._place, key=key, value=value, allowed=allowed)

    def text(self, key: str, limit: int) -> str | None:
        value = self._table.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or len(value) > limit:
            raise self.error(key, "not a text", _shown(value), f"a string of 1 to {limit} characters")
        return value

    def whole(self, key: str, low: int, high: int) -> int | None:
        value = self._table.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(key, "not such a number", _shown(value), f"a whole number from {low} to {high}")
        return value

    def schema(self) -> str | None:
        value = self._table.get("schema")
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error("schema", "not a schema", _shown(value), "a JSON schema, as a table")
        try:
            return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):  # a date of TOML's; a number that JSON does not have
            raise self.error("schema", "holds what JSON cannot say") from None

    def messages(self) -> list[dict[str, str]]:
        if "prompt" in self.keys:
            if "messages" in self.keys:
                raise self.error("messages", "a prompt and messages", allowed="one of the two")
            return [{"role": "user", "content": self.text("prompt", MAX_LETTERS) or ""}]
        listed = self._table.get("messages")
        if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_MESSAGES:
            raise self.error("messages", "no messages", allowed=f"a list of 1 to {MAX_MESSAGES} messages")
        messages = [self._message(index, each) for index, each in enumerate(listed)]
        letters = sum(len(message["content"]) for message in messages)
        if letters > MAX_LETTERS:
            raise self.error("messages", "too long", letters, f"{MAX_LETTERS} characters in all")
        if messages[-1]["role"] == "system":
            raise self.error("messages", "nobody is asked", allowed="a last message of user or assistant")
        return messages

    def _message(self, index: int, message: Json) -> dict[str, str]:
        key = f"messages[{index}]"
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            raise self.error(key, "not a message", allowed="role and content, and nothing else")
        if message["role"] not in _ROLES:
            raise self.error(f"{key}.role", "no such role", _shown(message["role"]), ", ".join(_ROLES))
        content = message["content"]
        if not isinstance(content, str) or not content.strip():
            raise self.error(f"{key}.content", "not a text", _shown(content), "a string that says something")
        return {"role": message["role"], "content": content}


def _question(read: _Table, locale: Locale | None) -> Question:
    messages = read.messages()
    schema = read.schema()
    kind = ProbeKind.ANY if schema is None else ProbeKind.STRUCTURED
    room = read.whole("max_tokens", LEAST_TOKENS, MOST_TOKENS)
    return Question(
        kind=kind,
        scene=Scene(
            id="own",
            prompt="\n".join(message["content"] for message in messages),
            opening=read.text("opening", 20),
            min_words=read.whole("min_words", 1, MAX_WORDS),
        ),
        version=VERSION,
        max_tokens=room if room is not None else DEFAULT_MAX_TOKENS[ProbeKind.CHAT],
        locale=locale,
        schema=schema,
        messages=json.dumps(messages),
    )


def _shown(value: object) -> object:
    """Keep what is worth showing of a refused value."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return None
    return value if isinstance(value, str | int | float) else None
