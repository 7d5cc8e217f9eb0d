"""What does a snapshot file say?

The reader trusts nothing: a document is taken whole or refused whole, and the refusal names the key. Keys
that it does not know are ignored, so that a daemon may add some without locking older applications out.

An application imports this module: standard library only, no dataclasses, no typing.

Source: docs/routing.md, "The snapshot file".
"""

from __future__ import annotations

from datetime import datetime

from routecanary.errors import SnapshotError, SnapshotVersionError
from routecanary.routing.index import KnownRoute, RouteIndex
from routecanary.routing.view import OPENROUTER

FORMAT = "routecanary-snapshot"
VERSION = 1  # of the format; a reader refuses a higher one


_MAX_NAME = 200  # characters


class Entry:
    """A built-in or runtime exclusion: what it names, for which models (None = all), until when (None = on).

    `expires` is in epoch seconds; at that instant the entry no longer holds.
    """

    __slots__ = ("expires", "models", "target")

    def __init__(self, target: str, models: frozenset[str] | None, expires: float | None = None) -> None:
        self.target = target
        self.models = models
        self.expires = expires

    def applies_to(self, model: str) -> bool:
        return self.models is None or model in self.models


class Suspended:
    """A route that the canary layer keeps away until `until` (epoch seconds, itself no longer held)."""

    __slots__ = ("contracts", "locales", "route", "since", "until")

    def __init__(
        self,
        route: str,
        until: float,
        contracts: tuple[str, ...] = (),
        locales: tuple[str, ...] = (),
        *,
        since: float | None = None,
    ) -> None:
        self.route = route
        self.since = since  # epoch seconds; None = not said
        self.until = until
        self.contracts = contracts
        self.locales = locales


class ModelFacts:
    """What the canary knew of one model when the snapshot was written."""

    __slots__ = ("enforced", "index", "model", "names", "paused", "paused_until", "released", "suspensions")

    def __init__(
        self,
        model: str,
        *,
        names: frozenset[str],
        enforced: bool,
        released: bool,
        paused: bool,
        paused_until: float | None,
        suspensions: tuple[Suspended, ...],
        index: RouteIndex,
    ) -> None:
        self.model = model
        self.names = names  # dated slugs and aliases
        self.enforced = enforced
        self.released = released
        self.paused = paused
        self.paused_until = paused_until  # epoch seconds; None = until resumed
        self.suspensions = suspensions
        self.index = index

    def is_paused(self, now: float) -> bool:
        """Say whether a person stopped the merging of the canary layer, and its end is not reached."""
        return self.paused and (self.paused_until is None or now < self.paused_until)


class Snapshot:
    """A snapshot file, read; times in epoch seconds, ages in seconds."""

    __slots__ = ("builtin", "gateway", "max_age", "models", "runtime", "written_at")

    def __init__(
        self,
        *,
        written_at: float,
        max_age: float,
        builtin: tuple[Entry, ...],
        runtime: tuple[Entry, ...],
        models: dict[str, ModelFacts],
        gateway: str = OPENROUTER,  # of a snapshot that names none
    ) -> None:
        self.written_at = written_at
        self.max_age = max_age
        self.builtin = builtin
        self.runtime = runtime
        self.models = models
        self.gateway = gateway  # through which the models are asked; perhaps one that is not known here


def read_snapshot(document: object) -> Snapshot:
    """Read a snapshot from its JSON document.

    Raises:
        SnapshotVersionError: It is of a later version than this reader knows.
        SnapshotError: It is not a snapshot, or one of its values is not what the format says.
    """
    top = _mapping(document, "document")
    if top.get("format") != FORMAT:
        raise SnapshotError(f"format: not a snapshot (got {_shown(top.get('format'))}); allowed: {FORMAT!r}")
    version = top.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SnapshotError(f"version: not a version (got {_shown(version)}); allowed: 1 to {VERSION}")
    if version > VERSION:
        raise SnapshotVersionError(
            f"version: later than this reader (got {version}); allowed: 1 to {VERSION}"
        )
    models = _mapping(top.get("models"), "models")
    return Snapshot(
        written_at=_instant(top.get("written_at"), "written_at"),
        max_age=_seconds(top.get("max_snapshot_age_seconds"), "max_snapshot_age_seconds"),
        builtin=_entries(top.get("builtin"), "builtin"),
        runtime=_entries(top.get("runtime"), "runtime"),
        models={name: _model(name, facts) for name, facts in models.items()},
        gateway=_text(top.get("gateway", OPENROUTER), "gateway"),
    )


def _model(name: str, document: object) -> ModelFacts:
    place = f"models.{_text(name, 'models')}"
    facts = _mapping(document, place)
    mode = facts.get("mode")
    if mode not in ("observe", "enforce"):
        raise SnapshotError(f"{place}.mode: unknown (got {_shown(mode)}); allowed: 'observe', 'enforce'")
    routes = [_route(item, f"{place}.routes") for item in _list(facts.get("routes"), f"{place}.routes")]
    swallows = _mapping(facts.get("swallows", {}), f"{place}.swallows")
    return ModelFacts(
        name,
        names=frozenset(_texts(facts.get("names"), f"{place}.names")),
        enforced=mode == "enforce",
        released=_flag(facts.get("released"), f"{place}.released"),
        paused=_flag(facts.get("paused"), f"{place}.paused"),
        paused_until=_optional_instant(facts.get("paused_until"), f"{place}.paused_until"),
        suspensions=tuple(
            _suspension(item, f"{place}.suspensions")
            for item in _list(facts.get("suspensions"), f"{place}.suspensions")
        ),
        index=RouteIndex(routes, {key: _texts(tags, f"{place}.swallows") for key, tags in swallows.items()}),
    )


def _route(document: object, place: str) -> KnownRoute:
    route = _mapping(document, place)
    return KnownRoute(
        _target(route.get("tag"), f"{place}.tag"),
        swallows=_texts(route.get("swallows"), f"{place}.swallows"),
        tier=_flag(route.get("tier"), f"{place}.tier"),
        providers=_texts(route.get("providers"), f"{place}.providers"),
    )


def _suspension(document: object, place: str) -> Suspended:
    suspension = _mapping(document, place)
    return Suspended(
        _target(suspension.get("route"), f"{place}.route"),
        _instant(suspension.get("until"), f"{place}.until"),
        tuple(_texts(suspension.get("contracts"), f"{place}.contracts")),
        tuple(_texts(suspension.get("locales", []), f"{place}.locales")),
        since=_optional_instant(suspension.get("since"), f"{place}.since"),
    )


def _entries(document: object, place: str) -> tuple[Entry, ...]:
    entries = []
    for item in _list(document, place):
        entry = _mapping(item, place)
        models = entry.get("models")
        entries.append(
            Entry(
                _target(entry.get("target"), f"{place}.target"),
                None if models is None else frozenset(_texts(models, f"{place}.models")),
                _optional_instant(entry.get("expires"), f"{place}.expires"),
            )
        )
    return tuple(entries)


def _mapping(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise SnapshotError(f"{place}: not an object (got {_shown(value)})")
    return value


def _list(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise SnapshotError(f"{place}: not a list (got {_shown(value)})")
    return value


def is_name(text: str) -> bool:
    """Say whether a text may stand in a snapshot as a name.

    What is printable holds no lone surrogate: a name can never make the caller's request unencodable.
    """
    return 0 < len(text) <= _MAX_NAME and text.isprintable()


def is_target(text: str) -> bool:
    """Say whether a text may stand in a snapshot as a tag or slug, and in the end in `provider.ignore`."""
    return is_name(text) and " " not in text


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or not is_name(value):
        raise SnapshotError(
            f"{place}: not a name (got {_shown(value)}); allowed: 1 to {_MAX_NAME} characters"
        )
    return value


def _texts(value: object, place: str) -> list[str]:
    return [_text(item, place) for item in _list(value, place)]


def _target(value: object, place: str) -> str:
    """Read a tag or slug, in lower case as the gateway wants it."""
    text = _text(value, place)
    if not is_target(text):
        raise SnapshotError(f"{place}: not a tag or slug (got {_shown(value)}); allowed: no white space")
    return text.lower()


def _flag(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise SnapshotError(f"{place}: not true or false (got {_shown(value)})")
    return value


def _seconds(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MAX_SECONDS:
        raise SnapshotError(f"{place}: not a duration (got {_shown(value)}); allowed: seconds above 0")
    return float(value)


def _instant(value: object, place: str) -> float:
    try:
        if not isinstance(value, str):
            raise ValueError("not a string")
        instant = datetime.fromisoformat(value)
        if instant.tzinfo is None:
            raise ValueError("no zone")
        return instant.timestamp()
    except (ValueError, OverflowError):
        raise SnapshotError(
            f"{place}: not a time with a zone (got {_shown(value)}); allowed: RFC 3339"
        ) from None


def _optional_instant(value: object, place: str) -> float | None:
    return None if value is None else _instant(value, place)


_MAX_SECONDS = 10 * 365 * 86_400.0  # ten years: beyond any sense, within any arithmetic


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a very large number"
    return repr(value[:80] if isinstance(value, str) else value)
