"""What does a probe's text file say?

The file is TOML, one probe spec a file. Everything in it is checked: a placeholder that nobody fills or a
name that the prompt never mentions would make healthy routes fail. The rules, with an example, stand in
docs/probes.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from string import Formatter
from typing import Final

from routecanary.domain.names import Locale, parse_locale
from routecanary.domain.probe import Json, ProbeKind, ProbeSpec, Scene
from routecanary.domain.strict_toml import TomlError, parse_toml
from routecanary.errors import InputError, ProbeTextError
from routecanary.probe.table import TextTable

MAX_TEXT: Final = 256 * 1024  # characters of a file
MAX_PROMPT: Final = 8_000  # characters of a prompt
MAX_SCENES: Final = 64
MIN_ENTRIES: Final = 12  # of a nonce list that is used: fewer, and prompts begin alike too often
MIN_SCENES: Final = 2  # a confirmation asks the next scene
MAX_SCHEMA_DEPTH: Final = 8
TOKENS_PER_WORD: Final = 2  # at least; more in most languages

PLACEHOLDERS: Final = {"place": "places", "date": "dates", "name": "people"}
"""Placeholder of a prompt → the list that fills it."""

_KINDS: Final = (ProbeKind.CHAT, ProbeKind.FILTER, ProbeKind.STRUCTURED)
_TOP_KEYS: Final = ("kind", "locale", "version", "places", "dates", "people", "schema", "scenes")
_SCENE_KEYS: Final = ("id", "prompt", "opening", "names", "object", "min_words", "stop")


def spec_from_toml(text: str, place: str, *, max_tokens: Mapping[ProbeKind, int]) -> ProbeSpec:
    """Read one probe text.

    Args:
        text: The file's content.
        place: How errors name the file.
        max_tokens: The room for an answer, in tokens, for each kind.
    Raises:
        ProbeTextError: The text breaks a rule of docs/probes.md; the first breach is named.
    """
    table = _parse(text, place)
    read = TextTable(table, place, "")
    read.only(_TOP_KEYS)
    kind = _kind(read)
    lists = {key: read.lines(key) for key in PLACEHOLDERS.values()}
    scene_tables = read.tables("scenes")
    if not MIN_SCENES <= len(scene_tables) <= MAX_SCENES:
        raise read.error(
            "scenes", "wrong number of scenes", len(scene_tables), f"{MIN_SCENES} to {MAX_SCENES}"
        )
    scenes = tuple(
        _scene(TextTable(each, place, f"scenes[{index}]."), kind, lists, max_tokens[kind])
        for index, each in enumerate(scene_tables)
    )
    ids = [scene.id for scene in scenes]
    if len(set(ids)) < len(ids):
        raise read.error("scenes", "two scenes have one id", next(i for i in ids if ids.count(i) > 1))
    return ProbeSpec(
        kind=kind,
        version=read.integer("version", 1, 1_000_000),
        locale=_locale(read),
        scenes=scenes,
        max_tokens=max_tokens[kind],
        schema=_schema(read, kind),
        places=lists["places"],
        dates=lists["dates"],
        people=lists["people"],
    )


def _parse(text: str, place: str) -> Mapping[str, Json]:
    if len(text) > MAX_TEXT:
        raise ProbeTextError(f"longer than {MAX_TEXT} characters", place=place)
    try:
        return parse_toml(text)
    except TomlError as error:
        raise ProbeTextError(error.problem, place=place) from None


def _kind(read: TextTable) -> ProbeKind:
    word = read.string("kind", 40)
    for kind in _KINDS:
        if kind.value == word:
            return kind
    raise read.error("kind", "no such probe", word, ", ".join(_KINDS))


def _locale(read: TextTable) -> Locale:
    try:
        return parse_locale(read.string("locale", 40))
    except InputError as error:
        raise read.error("locale", error.problem, error.value, error.allowed) from None


def _scene(read: TextTable, kind: ProbeKind, lists: Mapping[str, tuple[str, ...]], max_tokens: int) -> Scene:
    read.only(_SCENE_KEYS)
    prompt = read.string("prompt", MAX_PROMPT).strip()
    _check_placeholders(read, prompt, lists)
    continuation = kind is not ProbeKind.STRUCTURED
    if continuation:
        read.present("names", "object", "min_words")
    names = read.lines("names")
    if names and (len(names) != 2 or names[0] == names[1]):
        raise read.error("names", "a scene has two different characters", len(names), "2 names")
    opening = read.optional_string("opening", 20)
    scene_object = read.optional_string("object", 100)
    for key, mention in (("names", names), ("object", (scene_object,)), ("opening", (opening,))):
        for each in mention:
            if each is not None and each not in prompt:
                raise read.error(key, "the prompt does not mention it", each)
    min_words = read.integer("min_words", 1, 5_000) if read.has("min_words") else None
    if min_words is not None and min_words * TOKENS_PER_WORD > max_tokens:
        raise read.error(
            "min_words",
            "the room for an answer is too small",
            min_words,
            f"at most {max_tokens // TOKENS_PER_WORD}, or more room in probes.max_tokens.{kind}",
        )
    return Scene(
        id=read.string("id", 60),
        prompt=prompt,
        opening=opening,
        names=names,
        object=scene_object,
        min_words=min_words,
        stop=read.optional_string("stop", 100),
    )


def _check_placeholders(read: TextTable, prompt: str, lists: Mapping[str, tuple[str, ...]]) -> None:
    """Hold that the prompt begins with a placeholder, uses at least two, and that each can be filled."""
    allowed = "{place}, {date}, {name}"
    try:
        pieces = list(Formatter().parse(prompt))
    except ValueError:
        raise read.error("prompt", "a brace that opens or closes no placeholder", allowed=allowed) from None
    fields = [(field, spec, conversion) for _, field, spec, conversion in pieces if field is not None]
    for field, spec, conversion in fields:
        if field not in PLACEHOLDERS or spec or conversion:
            raise read.error("prompt", "unknown placeholder", f"{{{field}}}", allowed)
    if len({field for field, _, _ in fields}) < 2:
        raise read.error("prompt", "the front varies too little", allowed=f"at least two of {allowed}")
    if not prompt.startswith("{"):
        raise read.error("prompt", "does not begin with a placeholder", prompt[:40], allowed)
    if "{{" in prompt or "}}" in prompt:
        raise read.error("prompt", "a doubled brace", allowed=allowed)
    for field in {field for field, _, _ in fields}:
        key = PLACEHOLDERS[str(field)]
        entries = lists[key]
        if len(set(entries)) < MIN_ENTRIES:
            raise read.error(
                "prompt",
                f"{{{field}}} is drawn from {key!r}, which has too few entries",
                len(set(entries)),
                f"at least {MIN_ENTRIES} different ones",
            )


def _schema(read: TextTable, kind: ProbeKind) -> Mapping[str, Json] | None:
    if kind is not ProbeKind.STRUCTURED:
        if read.has("schema"):
            raise read.error("schema", "only the structured probe has a schema")
        return None
    schema = read.table("schema")
    _check_strict(read, schema, "schema", MAX_SCHEMA_DEPTH)
    if schema.get("type") != "object":
        raise read.error("schema.type", "the document is one object", schema.get("type"), '"object"')
    return schema


def _check_strict(read: TextTable, node: Json, key: str, depth: int) -> None:
    """Hold that a schema is plain JSON and that each object in it is closed, with every property required."""
    if depth == 0:
        raise read.error(key, "nested too deeply", allowed=f"at most {MAX_SCHEMA_DEPTH} levels")
    match node:
        case dict():
            if node.get("type") == "object":
                if node.get("additionalProperties") is not False:
                    raise read.error(key, "an open object", allowed="additionalProperties = false")
                properties, required = node.get("properties"), node.get("required")
                if not isinstance(properties, dict) or required != list(properties):
                    raise read.error(key, "`required` must list every property, in the order of `properties`")
            for name, child in node.items():
                _check_strict(read, child, f"{key}.{name}", depth - 1)
        case list():
            for index, child in enumerate(node):
                _check_strict(read, child, f"{key}[{index}]", depth - 1)
        case float() if not isfinite(node):
            raise read.error(key, "not a JSON number", node)
        case str() | bool() | int() | float():
            return
        case _:
            raise read.error(key, "a date or time, which JSON does not have")
