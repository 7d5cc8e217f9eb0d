"""What a probe's text file must be, and what it may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routecanary.domain.probe import ProbeKind
from routecanary.domain.settings import DEFAULT_MAX_TOKENS
from routecanary.errors import ProbeTextError
from routecanary.probe.text import spec_from_toml

LIST = ", ".join(f'"entry {number}"' for number in range(12))
HEAD = f"""
kind = "chat"
locale = "en"
version = 3
places = [{LIST}]
dates = [{LIST}]
people = [{LIST}]
"""
SCENE = """
[[scenes]]
id = "ONE"
opening = "*"
names = ["Ada", "Bo"]
object = "lamp"
min_words = 150
prompt = "{place}, {date}: {name} says that Ada gives Bo the lamp. Begin with *."
"""
GOOD = HEAD + SCENE + SCENE.replace("ONE", "two")
SCHEMA = """
[schema]
type = "object"
additionalProperties = false
required = ["a", "b"]
[schema.properties.a]
type = "integer"
minimum = 1
[schema.properties.b]
type = "object"
additionalProperties = false
required = ["c"]
[schema.properties.b.properties.c]
enum = ["x", "y"]
"""
STRUCTURED = HEAD.replace("chat", "structured") + SCHEMA + SCENE + SCENE.replace("ONE", "two")


def read(text: str):
    return spec_from_toml(text, "x.toml", max_tokens=DEFAULT_MAX_TOKENS)


def test_a_text_becomes_a_spec() -> None:
    """Everything that the file says arrives, and the room for an answer comes from the settings."""
    spec = read(GOOD)
    assert (spec.kind, spec.locale, spec.version, spec.max_tokens) == (ProbeKind.CHAT, "en", 3, 900)
    assert [scene.id for scene in spec.scenes] == ["ONE", "two"]
    first = spec.scenes[0]
    assert (first.opening, first.names, first.object, first.min_words) == ("*", ("Ada", "Bo"), "lamp", 150)
    assert first.prompt.startswith("{place}, {date}: ")
    assert len(spec.places) == len(spec.dates) == len(spec.people) == 12


def test_a_structured_text_carries_its_schema() -> None:
    """The schema is plain data, as it goes over the wire."""
    schema = read(STRUCTURED).schema
    assert schema is not None
    assert schema["properties"]["b"]["properties"]["c"] == {"enum": ["x", "y"]}


PROMPT = "{place}, {date}: {name} says that Ada gives Bo the lamp. Begin with *."


@pytest.mark.parametrize(
    ("find", "put", "key", "problem"),
    [
        ('kind = "chat"', 'kind = "poem"', "kind", "no such probe"),
        ('kind = "chat"', "kind = 1", "kind", "a whole number where a string belongs"),
        ('kind = "chat"', "", "kind", "missing"),
        ('locale = "en"', 'locale = "english"', "locale", "not a locale"),
        ("version = 3", "version = 0", "version", "out of range"),
        ("version = 3", "version = true", "version", "a boolean where a whole number belongs"),
        ("version = 3", "version = 0x" + "f" * 6000, "version", "out of range"),
        ("version = 3", 'system = "You are"\nversion = 3', "system", "unknown key"),
        ("version = 3", 'version = 3\nschema = {type = "object"}', "schema", "only the structured probe"),
        ('id = "ONE"', 'id = "two"', "scenes", "two scenes have one id"),
        ('id = "ONE"', "id = 1979-05-27", "scenes[0].id", "a date or time where a string belongs"),
        ('id = "ONE"', 'id = "ONE"\nlabel = 1', "scenes[0].label", "unknown key"),
        ('id = "ONE"', 'id = " "', "scenes[0].id", "empty or too long"),
        ('opening = "*"', 'opening = "#"', "scenes[0].opening", "the prompt does not mention it"),
        ('object = "lamp"', 'object = "lantern"', "scenes[0].object", "the prompt does not mention it"),
        ('"Ada", "Bo"', '"Ada", "Cy"', "scenes[0].names", "the prompt does not mention it"),
        ('"Ada", "Bo"', '"Ada", "Ada"', "scenes[0].names", "two different characters"),
        ('"Ada", "Bo"', '"Ada"', "scenes[0].names", "two different characters"),
        ('"Ada", "Bo"', '"Ada", 2', "scenes[0].names[1]", "a whole number where a string belongs"),
        ("min_words = 150", "", "scenes[0].min_words", "missing"),
        ("min_words = 150", "min_words = 451", "scenes[0].min_words", "the room for an answer is too small"),
        ('"entry 3"', '"entry 2"', "scenes[0].prompt", "too few entries"),
        ('"entry 3"', '"entry\\n3"', "places[3]", "not one short line"),
        ('"entry 3"', '"{name}"', "places[3]", "not one short line"),
        ("{place}, {date}: {name}", "In {place}, {date}: {name}", "scenes[0].prompt", "does not begin"),
        ("{place}, {date}: {name}", "{place}, {plaice}", "scenes[0].prompt", "unknown placeholder"),
        ("{place}, {date}: {name}", "{place!r}, {date}", "scenes[0].prompt", "unknown placeholder"),
        ("{place}, {date}: {name}", "{place}, {date", "scenes[0].prompt", "a brace"),
        ("{place}, {date}: {name}", "{place}", "scenes[0].prompt", "varies too little"),
        ("{place}, {date}: {name}", "{place}, {date} {{x}}", "scenes[0].prompt", "a doubled brace"),
    ],
)
def test_a_breach_names_the_key(find: str, put: str, key: str, problem: str) -> None:
    """One changed line of a good text is refused, and the message says which."""
    assert find in GOOD
    with pytest.raises(ProbeTextError) as caught:
        read(GOOD.replace(find, put, 1))
    assert caught.value.place == "x.toml"
    assert caught.value.key == key
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("find", "put", "key", "problem"),
    [
        ("additionalProperties = false", "", "schema", "an open object"),
        ('required = ["c"]', "required = []", "schema.properties.b", "`required` must list every property"),
        ('type = "object"', 'type = "array"', "schema.type", "the document is one object"),
        ("minimum = 1", "minimum = nan", "schema.properties.a.minimum", "not a JSON number"),
        ("minimum = 1", "minimum = 1979-05-27", "schema.properties.a.minimum", "a date or time"),
        ("minimum = 1", "a.b.c.d.e.f.g.h = 1", "schema.properties.a.a.b.c.d.e.f", "nested too deeply"),
    ],
)
def test_a_schema_is_strict(find: str, put: str, key: str, problem: str) -> None:
    """Each object is closed and requires all its properties: strict mode demands it of hosts too."""
    assert find in STRUCTURED
    with pytest.raises(ProbeTextError) as caught:
        read(STRUCTURED.replace(find, put, 1))
    assert caught.value.key == key
    assert problem in str(caught.value)


def test_a_structured_text_needs_a_schema() -> None:
    """Without one there is nothing to keep to."""
    with pytest.raises(ProbeTextError, match="schema: missing"):
        read(HEAD.replace("chat", "structured") + SCENE + SCENE.replace("ONE", "two"))


@pytest.mark.parametrize(
    "text",
    [
        "kind = ",
        'kind = "chat"\nkind = "chat"',
        "a = " + "[" * 5_000,
        "a = " + "9" * 5_000,
        "# " + "x" * 300_000,
        "scenes = 3\n" + HEAD,
        "scenes = [3]\n" + HEAD,
        HEAD + SCENE,
        HEAD,
        ".".join("a" * 3_000) + " = 1",
        "",
    ],
    ids=["cut", "twice", "deep", "digits", "long", "number", "list", "one scene", "none", "dotted", "empty"],
)
def test_what_is_no_text_is_refused(text: str) -> None:
    """Whatever the file holds, the answer is one error that names it."""
    with pytest.raises(ProbeTextError, match=r"^x\.toml: "):
        read(text)


def test_the_example_of_the_documentation_is_a_text() -> None:
    """Whoever copies it from docs/probes.md has a text that is accepted."""
    page = (Path(__file__).parents[3] / "docs" / "probes.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    spec = read(example)
    assert (spec.locale, len(spec.scenes)) == ("nl", 2)
