"""Which questions are there to ask?

The wording of every probe is data: one TOML text per (kind, locale), shipped in `texts/`, and each of them
can be replaced by an administrator's own. A text is read strictly, because a probe that is subtly wrong
accuses everybody.

Source: docs/probes.md; product.md §2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from routecanary.domain.names import Locale
from routecanary.domain.probe import ProbeKind, ProbeSpec, Scene
from routecanary.domain.settings import DEFAULT_MAX_TOKENS
from routecanary.errors import ConfigError, ProbeTextError
from routecanary.probe.text import spec_from_toml

ASKED_KINDS = (ProbeKind.CHAT, ProbeKind.FILTER, ProbeKind.STRUCTURED)
"""The probes of a round, in the order in which a route is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The pinned probes, at most one per (kind, locale), sorted by kind and locale."""

    specs: tuple[ProbeSpec, ...]

    def find(self, kind: ProbeKind, locale: Locale) -> ProbeSpec | None:
        """Look up the spec of a kind in exactly this locale."""
        for spec in self.specs:
            if spec.kind is kind and spec.locale == locale:
                return spec
        return None

    def find_or_fallback(self, kind: ProbeKind, locale: Locale) -> ProbeSpec | None:
        """Look up the spec of a kind in this locale, else in English, else in the first locale it has.

        None: there is no text of this kind at all. The chat probe never falls back, because it is judged
        by the locale that it was asked in.
        """
        exact = self.find(kind, locale)
        if exact is not None or kind is ProbeKind.CHAT:
            return exact
        english = self.find(kind, Locale("en"))
        return english or next((spec for spec in self.specs if spec.kind is kind), None)

    def locales(self, kind: ProbeKind = ProbeKind.CHAT) -> tuple[Locale, ...]:
        """List the locales in which a kind has a text, sorted."""
        return tuple(spec.locale for spec in self.specs if spec.kind is kind)

    def require(self, locales: Iterable[Locale], *, place: str | None = None) -> None:
        """Check that every locale of the rotation has a chat text.

        Raises:
            ConfigError: One has none; the message lists those that have.
        """
        known = self.locales()
        for locale in locales:
            if locale not in known:
                raise ConfigError(
                    "no chat text for this locale",
                    place=place,
                    key="probes.locales",
                    value=str(locale),
                    allowed=", ".join(known) or "none: no chat text was found",
                )


def catalog_from_texts(
    shipped: Mapping[str, str],
    own: Mapping[str, str] | None = None,
    *,
    max_tokens: Mapping[ProbeKind, int] = DEFAULT_MAX_TOKENS,
) -> Catalog:
    """Read the texts of all probes.

    Args:
        shipped: Place (shown in errors) → TOML text.
        own: An administrator's texts, likewise; each replaces the shipped one of its kind and locale.
        max_tokens: The room for an answer, in tokens, for each kind.
    Raises:
        ProbeTextError: A text is malformed, or two texts of one set are for the same kind and locale.
    """
    specs: dict[tuple[ProbeKind, Locale], ProbeSpec] = {}
    for texts in (shipped, own or {}):
        specs.update(_read_set(texts, max_tokens))
    return Catalog(specs=tuple(specs[key] for key in sorted(specs)))


def _read_set(
    texts: Mapping[str, str], max_tokens: Mapping[ProbeKind, int]
) -> dict[tuple[ProbeKind, Locale], ProbeSpec]:
    from_place: dict[tuple[ProbeKind, Locale], str] = {}
    found: dict[tuple[ProbeKind, Locale], ProbeSpec] = {}
    for place, text in sorted(texts.items()):
        spec = spec_from_toml(text, place, max_tokens=max_tokens)
        key = (spec.kind, spec.locale)
        if key in found:
            raise ProbeTextError(
                f"{from_place[key]} is already the {spec.kind} text for {spec.locale}", place=place
            )
        found[key] = spec
        from_place[key] = place
    return found


def scene_for_round(spec: ProbeSpec, number: int, locales: int) -> Scene:
    """Choose the scene of a round, so that scenes rotate within each locale too.

    Args:
        spec: Where the scene comes from.
        number: Of the model's finished rounds, 0-based.
        locales: How many the rotation has; a locale comes every `locales` rounds.
    Example: with 3 locales and 3 scenes, rounds 0, 3, 6 (one locale) ask scenes 0, 1, 2, and rounds 0, 1, 2
        (a locale that is asked again until it passes) ask them as well.
    """
    turn, step = divmod(number, max(1, locales))
    return spec.scenes[(turn + step) % len(spec.scenes)]


def next_scene(spec: ProbeSpec, scene: Scene) -> Scene:
    """Choose the scene of a confirmation: the one after `scene`, the first after the last.

    A scene that the spec does not have (its text changed meanwhile) is followed by the first.
    """
    ids = [each.id for each in spec.scenes]
    index = ids.index(scene.id) if scene.id in ids else -1
    return spec.scenes[(index + 1) % len(ids)]
