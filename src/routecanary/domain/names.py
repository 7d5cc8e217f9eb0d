"""What are things called?

Names are parsed once, at the edge; inside they are plain strings of a distinct type, so they sort, hash
and print as themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NewType

from routecanary.errors import InputError

ModelId = NewType("ModelId", str)
"""A gateway model id, `author/slug`, with its variant if it has one."""

RouteId = NewType("RouteId", str)
"""A tag: what a probe can be pinned to and `provider.ignore` can name."""

ContractName = NewType("ContractName", str)
"""The name of a contract; the decision core takes any, the judges are the five below."""

Locale = NewType("Locale", str)
"""A BCP 47 tag as the probes use it: `en`, `pt-BR`, `zh-Hans`."""

LATENCY: Final = ContractName("latency")
FILTERING: Final = ContractName("filtering")
STRUCTURED: Final = ContractName("structured")
LANGUAGE: Final = ContractName("language")
INTEGRITY: Final = ContractName("integrity")
CONTRACT_NAMES: Final = (LATENCY, FILTERING, STRUCTURED, LANGUAGE, INTEGRITY)

LOCALE_ALIASES: Final = {
    "zh": Locale("zh-Hans"),
    "zh-CN": Locale("zh-Hans"),
    "zh-TW": Locale("zh-Hant"),
    "pt": Locale("pt-BR"),
    "ms": Locale("id"),
}

_MODEL = re.compile(r"[^\s/:]+(?:/[^\s/:]+)+(?::[^\s/:]+)?")
_TAG = re.compile(r"[^\s/]+(?:/[^\s/]+)*")
_LOCALE = re.compile(r"[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|[0-9]{3}))?")
_DOTS = frozenset({".", ".."})
_MAX_NAME = 200  # characters


def parse_model(text: str) -> ModelId:
    """Read a model id.

    Raises:
        InputError: It is not `author/slug[:variant]`, holds what cannot be printed, or has a part `.` or
            `..`, which would lead elsewhere in an address.
    """
    if not _is_name(text) or not _MODEL.fullmatch(text) or not _DOTS.isdisjoint(text.split("/")):
        raise InputError("not a model id", value=text, allowed="author/slug, optionally :variant")
    return ModelId(text)


def parse_route(text: str) -> RouteId:
    """Read a tag; the gateway wants it in lower case.

    Raises:
        InputError: It is empty, holds white space or empty parts, or what cannot be printed.
    """
    if not _is_name(text) or not _TAG.fullmatch(text):
        raise InputError("not a route tag", value=text, allowed="slug or slug/suffix, no white space")
    return RouteId(text.lower())


def parse_locale(text: str) -> Locale:
    """Read a locale; aliases such as `zh` and `pt` become the locale that they mean.

    Raises:
        InputError: It is not a language tag of the form `xx[-Script][-REGION]`.
    """
    alias = LOCALE_ALIASES.get(text)
    if alias is not None:
        return alias
    if not _LOCALE.fullmatch(text):
        raise InputError("not a locale", value=text, allowed="a tag such as en, pt-BR, zh-Hans")
    return Locale(text)


def _is_name(text: str) -> bool:
    """Say whether a text can be a name: short, no control character, no lone surrogate."""
    return len(text) <= _MAX_NAME and text.isprintable()


def swallowed(name: str, listed: Iterable[RouteId], tiers: frozenset[RouteId]) -> frozenset[RouteId]:
    """Find the routes that naming `name` also names.

    Args:
        name: A tag or a bare provider slug.
        listed: All tags of the model.
        tiers: Those of `listed` that are service tiers; a base slug does not name them.
    Example: `fireworks` swallows `fireworks/us`, not `fireworks/priority` when that is a tier. A name that
        has a suffix of its own is matched exactly and swallows nothing, save where some tag is longer by a
        part and the name is itself a listed base (`amazon-bedrock/claude-on-aws`): then, for safety, its
        longer tags count as swallowed.
    Source: openrouter-wire.md §1.4.
    """
    prefix = name + "/"
    return frozenset(tag for tag in listed if tag.startswith(prefix) and tag not in tiers)
