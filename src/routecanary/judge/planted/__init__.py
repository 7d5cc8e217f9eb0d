"""What must every judge see, and what must it leave alone? Answers of our own, planted with one fault each.

`self_check` shows them to the judges: not to measure how well they judge, but whether they still do, after an
upgrade, under another configuration, on another machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, Locale
from routecanary.domain.probe import ProbeKind
from routecanary.judge.planted.damage import of_encoding, of_text
from routecanary.judge.planted.scenes import foreign, mixed, switched, texts_of, whole
from routecanary.judge.planted.value import Planted, answer
from routecanary.judge.planted.wire import (
    of_absence,
    of_documents,
    of_filters,
    of_identity,
    of_time,
)
from routecanary.judge.settings import Settings

__all__ = ["Planted", "planted_answers"]

_DEFAULT = Locale("en")


def planted_answers(settings: Settings, locales: Iterable[Locale]) -> Iterator[Planted]:
    """Give every planted answer.

    Args:
        settings: The configured limits: what comes too late is late by them.
        locales: In which language and filtering are shown theirs; one without planted texts is passed over.
    """
    yield from of_time(settings)
    yield from of_filters()
    yield from of_absence(FILTERING, settings)
    yield from of_documents()
    yield from of_identity()
    yield from of_absence(INTEGRITY, settings)
    yield from of_text()
    known = [locale for locale in dict.fromkeys(locales) if texts_of(locale) is not None] or [_DEFAULT]
    for locale in known:
        yield from _of_locale(locale)
    for contract in (LANGUAGE, INTEGRITY):
        yield from of_encoding(contract, _scene(known[0]), known[0])


def _of_locale(locale: Locale) -> Iterator[Planted]:
    """Plant a scene, what slides out of its language, and a refusal."""
    texts = texts_of(locale)
    if texts is None:
        return
    said = {
        "wrong_language": foreign(locale),
        "language_switch": switched(texts),
        "language_mixing": mixed(texts),
    }
    for kind, text in said.items():
        transcript = answer(text, probe=ProbeKind.CHAT, locale=locale)
        yield Planted(contract=LANGUAGE, kind=kind, fault=True, transcript=transcript, locale=locale)
    scene = answer(whole(texts), probe=ProbeKind.CHAT, locale=locale)
    yield Planted(contract=LANGUAGE, kind="language_mixing", fault=False, transcript=scene, locale=locale)
    refused = answer(texts.refusal, probe=ProbeKind.FILTER, locale=locale)
    yield Planted(contract=FILTERING, kind="refusal", fault=True, transcript=refused, locale=locale)
    told = answer(whole(texts), probe=ProbeKind.FILTER, locale=locale)
    yield Planted(contract=FILTERING, kind="refusal", fault=False, transcript=told, locale=locale)


def _scene(locale: Locale) -> str:
    texts = texts_of(locale)
    return "" if texts is None else whole(texts)
