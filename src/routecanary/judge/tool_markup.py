"""Does the answer show a tool call as text, in the words in which a model writes it and a parser should have?

Source: product.md §2; docs/judges.md for the list of marks.
"""

from __future__ import annotations

import json
import re
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.probe import Json
from routecanary.judge.contract import Finding, excerpt, fail

_CODE: Final = "tool_text"
_MAX_TOOLS: Final = 64  # names of offered tools that are looked for

# Tags, square brackets and template tokens of tool syntax, whatever the family that writes them.
_MARK: Final = re.compile(
    r"</?(?:\w{1,20}:)?(?:start_|end_)?(?:tool|function)_(?:calls?|uses?|requests?|responses?|results?|outputs?)>"
    r"|<function=[\w.-]+>|<parameter=[\w.-]+>|<invoke name=|</?arg_(?:key|value)>"
    r"|\[/?(?:END_)?TOOL_(?:CALLS?|REQUESTS?|RESULTS?|RESPONSES?)\]|\[/?AVAILABLE_TOOLS\]"
    r"|</?\|/?tool[▁_][\w▁]*(?:\|>|>)|<(?:tool|function)_\w{1,20}\|>|</?｜(?:tool▁|DSML)[^｜>]{0,40}｜"
    r"|<\|python_tag\|>|<\|plugin\|>|<\|channel\|>commentary|\bto=functions\.\w+|\bfunctions\.\w+:\d+\s*[{<]"
    r"|\bfunctools\[\s*\{"
)
_SIGNS: Final = ("<", "[", "functions.")
_FENCE: Final = re.compile(r"^\s*```\w*\s*|\s*```\s*$")
_CALL_FORM: Final = re.compile(r"\[?\s*(?:print\()?(?:\w{1,30}\.){0,3}(\w+)\([^\n]{0,400}\)\s*\]?")
_ARGUMENTS: Final = frozenset({"arguments", "parameters", "args", "input"})
_ARGUMENT_KEY: Final = r'\\?"(?:arguments|parameters|args|input)\\?"\s*:'


def tool_text(text: str, prose: str, asked: Asked) -> Finding | None:
    """Find the mark-up of a call, or a call of an offered tool that stands as text.

    Args:
        prose: The text without its code; a call may carry its arguments in a fence, the marks stand outside.
    """
    if any(sign in prose for sign in _SIGNS):
        match = _MARK.search(prose) or (_MARK.search(text) if asked.tools else None)
        if match is not None and match.group() not in asked.prompt:
            place = text.find(match.group())
            return fail(_CODE, f"{match.group()!r} in the text: {excerpt(text, place)}")
    if asked.tools:
        name = _whole_call(text, asked.tools) or _call_within(text, asked.tools)
        if name is not None:
            return fail(_CODE, f"a call of {name} as text: {excerpt(text)}")
    return None


def _whole_call(text: str, tools: frozenset[str]) -> str | None:
    """Find an answer that is nothing but a call: JSON with a tool's name, or `name(...)`."""
    body = _FENCE.sub("", text).strip()
    if body[:1] in ("{", "["):
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        for call in value if isinstance(value, list) else [value]:
            name = _name_of(call)
            if name in tools:
                return name
    call_form = _CALL_FORM.fullmatch(body)
    return call_form.group(1) if call_form is not None and call_form.group(1) in tools else None


def _name_of(call: Json) -> str | None:
    """Name the tool that a JSON value calls."""
    if not isinstance(call, dict):
        return None
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = inner.get("name")
    return name if isinstance(name, str) and inner.keys() & _ARGUMENTS else None


def _call_within(text: str, tools: frozenset[str]) -> str | None:
    """Find a call after words of introduction: its name beside its arguments in JSON, or a named action."""
    for name in sorted(tools)[:_MAX_TOOLS]:
        if name not in text:
            continue
        word = re.escape(name)
        beside = rf'\\?"name\\?"\s*:\s*\\?"{word}\\?"[^{{}}]{{0,60}}{_ARGUMENT_KEY}'
        before = rf'{_ARGUMENT_KEY}\s*\{{[^{{}}]{{0,400}}\}}\s*,\s*"name"\s*:\s*"{word}"'
        glued = rf'(?:^|[\s.:>]){word}(?::\d+)?\s*:?\s*\(?(?:```\w*\s*)?\{{\s*\w*"'
        tagged = rf"<{word}>\s*<\w{{1,40}}>|\bcall:{word}\{{"
        action = rf"^\s*Action\s*:\s*{word}\s*\n+\s*Action Input\s*:"
        if re.search(f"{beside}|{before}|{glued}|{tagged}|{action}", text, re.MULTILINE):
            return name
    return None
