"""How does an answer lose its language? By speaking the same draft in another one, or in two."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from routecanary.domain.names import LANGUAGE, Locale
from routecanary.lab.answers import Draft, speak, speak_mixed
from routecanary.lab.fault import UNSEEN, Blow, Fault, Language
from routecanary.lab.phrases import Book, book_for, books
from routecanary.lab.plan import PlannedAnswer

_LONGEST_WORD: Final = 14  # letters of the one foreign word
_PAUSES: Final = ", ", "，", "、", "، "  # behind which a word can be put, in any language


def mix_portuguese_and_spanish(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    if planned.draft is None or planned.asked.locale not in ("pt-BR", "es"):
        return planned
    other = book_for(Locale("es" if planned.asked.locale == "pt-BR" else "pt-BR"))
    return _mixed(planned, planned.draft, other, blow)


def mix_languages(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    other = _another(planned, blow)
    if planned.draft is None or other is None:
        return planned
    return _mixed(planned, planned.draft, other, blow)


def _mixed(planned: PlannedAnswer, draft: Draft, other: Book, blow: Blow) -> PlannedAnswer:
    pair = (book_for(planned.asked.locale), other)
    return replace(planned, text=speak_mixed(draft, pair, blow.rng))


def switch_language(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Begin as asked, and go on in another language from the middle."""
    other = _another(planned, blow)
    draft = planned.draft
    if draft is None or other is None or len(draft.paragraphs) < 2:
        return planned
    turn = len(draft.paragraphs) // 2
    own = speak(replace(draft, paragraphs=draft.paragraphs[:turn]), book_for(planned.asked.locale))
    return replace(
        planned, text=f"{own}\n\n{speak(replace(draft, paragraphs=draft.paragraphs[turn:]), other)}"
    )


def speak_another_language(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    other = _another(planned, blow)
    if planned.draft is None or other is None:
        return planned
    return replace(planned, text=speak(planned.draft, other))


def stray_word(planned: PlannedAnswer, blow: Blow) -> PlannedAnswer:
    """Put one word of another language behind a pause of the text."""
    other = _another(planned, blow)
    pause = next((pause for pause in _PAUSES if pause in planned.text), None)
    if planned.draft is None or other is None or pause is None:
        return planned
    words = [word for word in blow.rng.choice(other.labels).split() if len(word) <= _LONGEST_WORD]
    if not words:
        return planned
    place = planned.text.rindex(pause) + len(pause)
    word = max(words, key=len).lower()
    return replace(planned, text=f"{planned.text[:place]}{word} {planned.text[place:]}")


def _another(planned: PlannedAnswer, blow: Blow) -> Book | None:
    """Open the book of the language that the fault names, or of any other; None for the one asked for.

    Drawn is never a variant of the one asked for, such as Chinese in its other characters.
    """
    own = planned.asked.locale.partition("-")[0]
    others = sorted(locale for locale in books() if locale.partition("-")[0] != own)
    locale = Locale(blow.word("locale")) if blow.word("locale") else blow.rng.choice(others)
    return None if locale == planned.asked.locale else book_for(locale)


LANGUAGES: Final = (
    Fault(
        name="pt_es_mixing",
        version=1,
        seen_by=(LANGUAGE,),
        gives=("fail:language_mixing",),
        does="Keeps changing between Portuguese and Spanish, also inside sentences; strikes in those two.",
        on_answer=mix_portuguese_and_spanish,
    ),
    Fault(
        name="language_mixing",
        version=1,
        seen_by=(LANGUAGE,),
        gives=("fail:language_mixing", "fail:language_switch"),
        does="Keeps changing between the language asked for and another, also inside sentences.",
        on_answer=mix_languages,
        parameters={"locale": Language()},
    ),
    Fault(
        name="language_switch",
        version=1,
        seen_by=(LANGUAGE,),
        gives=("fail:language_switch", "fail:language_mixing", "fail:wrong_language"),
        does="Begins as asked and goes on in another language from the middle of the scene.",
        on_answer=switch_language,
        parameters={"locale": Language()},
    ),
    Fault(
        name="wrong_language",
        version=1,
        seen_by=(LANGUAGE,),
        gives=("fail:wrong_language", "fail:language_mixing"),
        does="Writes the whole scene in another language.",
        on_answer=speak_another_language,
        parameters={"locale": Language()},
    ),
    Fault(
        name="stray_word",
        version=1,
        seen_by=(UNSEEN,),
        gives=("pass", "inconclusive:single_token", "inconclusive:ambiguous"),
        does="Lets one word of another language slip into the scene.",
        on_answer=stray_word,
        parameters={"locale": Language()},
    ),
)
