"""How does a host fill a JSON schema?

The schema comes from the request: it is walked with bounds, and whatever the walk does not understand is
filled as well as can be. Understood: types, `enum`, `const`, nested objects with `required`, ranges of
numbers, lengths, arrays, `anyOf`/`oneOf`, `allOf`, local `$ref`, a few formats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil, floor
from random import Random
from typing import Final

from routecanary.domain.probe import Json
from routecanary.lab.phrases import Book

MAX_DEPTH: Final = 24
MAX_VALUES: Final = 2_000  # of one document
MAX_LENGTH: Final = 2_000  # characters of one string
MAX_ITEMS: Final = 50
WIDE: Final = 100  # span of a number with no upper bound

_FORMATS: Final = {
    "date": "2026-03-14",
    "date-time": "2026-03-14T21:30:00Z",
    "time": "21:30:00Z",
    "email": "nora@example.org",
    "uri": "https://example.org/scene",
    "hostname": "example.org",
    "ipv4": "192.0.2.7",
    "uuid": "0d9a2f4e-6c1b-4a52-9f3e-2b7c8d1e5a60",
}


def document_for(schema: Json, book: Book, rng: Random) -> Json:
    """Make a document that a schema accepts; `True` stands for any object."""
    if schema is True or not isinstance(schema, Mapping):
        return {"title": rng.choice(book.labels), "rating": rng.randint(1, 10)}
    return _Walk(schema, book, rng).value(schema, 0)


def written(document: Json) -> str:
    """Write a document the way that hosts do: on several lines, letters as they are."""
    return json.dumps(document, ensure_ascii=False, indent=2)


class _Walk:
    def __init__(self, root: Mapping[str, Json], book: Book, rng: Random) -> None:
        self._root = root
        self._book = book
        self._rng = rng
        self._values = 0

    def value(self, schema: Json, depth: int) -> Json:
        self._values += 1
        if depth > MAX_DEPTH or self._values > MAX_VALUES or not isinstance(schema, Mapping):
            return None
        node = self._resolved(schema, depth)
        if "const" in node:
            return node["const"]
        choices = node.get("enum")
        if isinstance(choices, list) and choices:
            return self._rng.choice(choices)
        for key in ("anyOf", "oneOf"):
            options = node.get(key)
            if isinstance(options, list) and options:
                rest = {name: each for name, each in node.items() if name != key}
                return self.value(_merged(rest, self._rng.choice(options)), depth + 1)
        return self._typed(node, depth)

    def _resolved(self, schema: Mapping[str, Json], depth: int) -> Mapping[str, Json]:
        """Follow local references and fold `allOf` in, a bounded number of times."""
        node: Mapping[str, Json] = schema
        for _ in range(MAX_DEPTH - min(depth, MAX_DEPTH - 1)):
            if isinstance(node.get("$ref"), str):
                rest = {name: each for name, each in node.items() if name != "$ref"}
                node = _merged(rest, self._pointed(node["$ref"]))
            elif isinstance(node.get("allOf"), list):
                parts = node["allOf"][:MAX_ITEMS]
                node = {name: each for name, each in node.items() if name != "allOf"}
                for part in parts:
                    node = _merged(node, part)
            else:
                break
        return node

    def _pointed(self, reference: str) -> Json:
        target: Json = self._root
        if not reference.startswith("#"):
            return {}
        for step in reference.lstrip("#").split("/")[1 : MAX_DEPTH + 1]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        return target if isinstance(target, Mapping) else {}

    def _typed(self, node: Mapping[str, Json], depth: int) -> Json:
        kind = node.get("type")
        if isinstance(kind, list):
            kind = next((each for each in kind if each != "null"), "null")
        if kind is None:
            kind = "object" if "properties" in node else "array" if "items" in node else "string"
        match kind:
            case "object":
                return self._object(node, depth)
            case "array":
                return self._array(node, depth)
            case "integer" | "number":
                return self._number(node, whole=kind == "integer")
            case "boolean":
                return self._rng.random() < 0.5
            case "null":
                return None
            case _:
                return self._string(node)

    def _object(self, node: Mapping[str, Json], depth: int) -> Json:
        declared = node.get("properties")
        properties: Mapping[str, Json] = declared if isinstance(declared, Mapping) else {}
        wanted = node.get("required")
        required = [each for each in wanted if isinstance(each, str)] if isinstance(wanted, list) else []
        made: dict[str, Json] = {}
        for name, child in properties.items():
            if name in required or self._rng.random() < 0.7:
                made[name] = self.value(child, depth + 1)
        others = node.get("additionalProperties")
        for name in required:
            if name not in made:
                made[name] = self.value(others if isinstance(others, Mapping) else {}, depth + 1)
        return made

    def _array(self, node: Mapping[str, Json], depth: int) -> Json:
        least = _bound(node.get("minItems"), 0, MAX_ITEMS)
        most = max(least, _bound(node.get("maxItems"), least + 2, MAX_ITEMS))
        count = self._rng.randint(max(least, min(1, most)), min(most, max(least, 1) + 2))
        items = node.get("items", {})
        made = [self.value(items, depth + 1) for _ in range(count)]
        if node.get("uniqueItems") is True:
            seen = {json.dumps(each, sort_keys=True): each for each in made}
            for _ in range(MAX_ITEMS):  # draw more until there are enough that differ
                if len(seen) >= max(least, 1):
                    break
                drawn = self.value(items, depth + 1)
                seen[json.dumps(drawn, sort_keys=True)] = drawn
            made = list(seen.values())
        return made

    def _number(self, node: Mapping[str, Json], *, whole: bool) -> Json:
        step = _number(node.get("multipleOf")) or (1 if whole else 0)
        low, high = _number(node.get("minimum")), _number(node.get("maximum"))
        over, under = _number(node.get("exclusiveMinimum")), _number(node.get("exclusiveMaximum"))
        nudge = step or 0.001
        if over is not None and (low is None or over >= low):
            low = over + nudge
        if under is not None and (high is None or under <= high):
            high = under - nudge
        if low is None:
            low = 0 if high is None or high >= 0 else high - WIDE
        if high is None:
            high = low + WIDE
        if high < low:
            return int(low) if whole else low
        if step:
            first, last = ceil(low / step), floor(high / step)
            drawn = self._rng.randint(first, max(first, last)) * step
            return int(drawn) if whole else drawn
        return round(self._rng.uniform(low, high), 3)

    def _string(self, node: Mapping[str, Json]) -> str:
        fixed = _FORMATS.get(str(node.get("format")))
        if fixed is not None:
            return fixed
        least = _bound(node.get("minLength"), 0, MAX_LENGTH)
        most = max(least, _bound(node.get("maxLength"), MAX_LENGTH, MAX_LENGTH))
        text = self._rng.choice(self._book.labels)
        while len(text) < least:
            text = f"{text}, {self._rng.choice(self._book.labels)}"
        return text[:most]


def _merged(node: Mapping[str, Json], other: Json) -> Mapping[str, Json]:
    """Lay a second schema over the first; properties and required names are united."""
    if not isinstance(other, Mapping):
        return node
    merged = {**node, **other}
    if isinstance(node.get("properties"), Mapping) and isinstance(other.get("properties"), Mapping):
        merged["properties"] = {**node["properties"], **other["properties"]}
    if isinstance(node.get("required"), list) and isinstance(other.get("required"), list):
        merged["required"] = [*node["required"], *other["required"]]
    return merged


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15:
        return None
    return value


def _bound(value: Json, default: int, most: int) -> int:
    number = _number(value)
    return default if number is None or number < 0 else min(most, int(number))
