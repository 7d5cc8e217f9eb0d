"""Is what judges a contract still what judged it before?

A contract's version names its judge and every probe text that feeds it, such as
`chat/en=3.1f0c9a2e chat/th=1.77ab03d1 judge=4`: a text by its own number and a hash of its content, so that a
text whose author forgot to count it up is seen all the same. The log remembers the last version of each
(`Requalifying`).

Source: docs/policy.md, Per contract; docs/acts.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Final

from routecanary.domain.names import ContractName, Locale
from routecanary.domain.probe import ProbeKind, ProbeSpec
from routecanary.judge.contract import Contract
from routecanary.probe.catalog import Catalog
from routecanary.probe.plan import CONTRACTS_FED

_HASH_DIGITS: Final = 8  # 32 bits: a change goes unseen once in 4 billion


def versions_of(
    contracts: Iterable[Contract], catalog: Catalog, locales: Iterable[Locale]
) -> dict[ContractName, str]:
    """State the version of every contract, whether it is switched on or not.

    Args:
        locales: The rotation's.
    """
    rotation = tuple(locales)
    texts = {kind: _texts(kind, catalog, rotation) for kind in CONTRACTS_FED}  # each hashed once, for all
    return {contract.name: _version(contract, texts) for contract in contracts}


def is_new(version: str, known: str | None) -> bool:
    """Say whether a version holds anything that the one known before did not.

    Example: with another judge, another text or one locale more it is new; with one locale less it is not.
    """
    return known is None or not set(version.split()) <= set(known.split())


def changes_between(version: str, known: str | None) -> str:
    """Name what is new: `judge, chat/th`."""
    parts, before = _parts(version), {} if known is None else _parts(known)
    return ", ".join(name for name, value in parts.items() if before.get(name) != value)


def _parts(version: str) -> Mapping[str, str]:
    return dict(part.split("=", 1) for part in version.split() if "=" in part)


def _version(contract: Contract, texts: Mapping[ProbeKind, Mapping[str, str]]) -> str:
    parts = {"judge": str(contract.version)}
    for kind, fed in CONTRACTS_FED.items():
        if contract.name in fed:
            parts |= texts[kind]
    return " ".join(f"{name}={value}" for name, value in sorted(parts.items()))


def _texts(kind: ProbeKind, catalog: Catalog, locales: tuple[Locale, ...]) -> Mapping[str, str]:
    """State the version of every text that a kind of probe is asked in: `chat/th` → `1.77ab03d1`."""
    found = (catalog.find_or_fallback(kind, locale) for locale in locales)
    return {
        f"{kind}/{spec.locale}": f"{spec.version}.{_content_hash(spec)}" for spec in found if spec is not None
    }


def _content_hash(spec: ProbeSpec) -> str:
    """Hash everything that a spec says: wording, scenes, schema, room for the answer."""
    text = json.dumps(asdict(spec), sort_keys=True, ensure_ascii=True)
    return sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
