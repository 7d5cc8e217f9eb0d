"""Which letters beyond A-Z do the words of a language hold? All of them, where it is written in Cyrillic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_CYRILLIC: Final = "абвгдежзийклмнопрстуфхцчшщьюя"

LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset("éèïëôüñæœç"),
    "es": frozenset("áéíóúüñ"),
    "pt": frozenset("áâãàéêíóôõúçü"),
    "fr": frozenset("àâæçéèêëîïôœùûüÿ"),
    "de": frozenset("äöüß"),
    "it": frozenset("àèéìíîòóùú"),
    "nl": frozenset("ëïéèöüáó"),
    "pl": frozenset("ąćęłńóśźż"),
    "tr": frozenset("çğıöşüâîû"),
    "vi": frozenset(
        "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
    ),
    "id": frozenset("é"),
    "tl": frozenset("áàâéêíîóôúûñ"),
    "ro": frozenset("ăâîșşțţ"),
    "sv": frozenset("åäöé"),
    "da": frozenset("æøå"),
    "cs": frozenset("áčďéěíňóřšťúůýž"),
    "fi": frozenset("äö"),
    "hu": frozenset("áéíóöőúüű"),
    "ru": frozenset(_CYRILLIC + "ёыэъ"),
    "uk": frozenset(_CYRILLIC + "іїєґ"),
    "bg": frozenset(_CYRILLIC + "ъ"),
}  # fmt: skip
