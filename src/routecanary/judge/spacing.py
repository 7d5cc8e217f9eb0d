"""Were the spaces between words lost, or put inside them?

Source: product.md §2; docs/judges.md. Scripts that do not part words by spaces are left alone.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.languages import MEASURED
from routecanary.judge.languages.lexicon import lexicon_of
from routecanary.judge.prose import without_addresses, without_code
from routecanary.judge.vocabulary import words
from routecanary.judge.wishes import is_brief
from routecanary.judge.word_joints import joints_of

_CODE: Final = "lost_spaces"
_FEW_LETTERS: Final = 24  # too few to tell
_IN_PIECES: Final = 2.2  # letters a piece on average, of words that were cut up
_SYLLABLES: Final = re.compile(r"[\u0900-\u097f\uac00-\ud7a3]")  # fewer letters make a word
_SHORT_PIECES: Final = 3.6  # letters a piece on average, above which no word was cut up
# Letters of scripts that part words by spaces: Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari,
# Hangul.
_LETTER: Final = (
    r"A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u058f\u05d0-\u05ea\u0620-\u064a\u0900-\u097f\uac00-\ud7a3"
    r"\u1e00-\u1eff"
)
_LETTERS: Final = re.compile(f"[{_LETTER}]")
_LONG_RUN: Final = re.compile(f"[{_LETTER}]{{18,}}")
_LONG_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]{14,}")
_GLUED_SENTENCES: Final = re.compile(f"[{_LETTER}]{{2}}[.!?,;][{_LETTER}]{{2}}")
_INNER_CAPITAL: Final = re.compile(r"[a-zà-ÿß][A-ZÀ-Þ]")
# The end of a sentence behind three letters, with the first letter of the next one glued to it, or parted.
_ENDED: Final = r"(?<=[^\s\d.!?…؟।]{3})[\"”’»)]?[.!?…؟।][\"”’»)]?"
_NEXT_GLUED: Final = re.compile(rf"{_ENDED}[«“„\"]?([^\W\d_])")
_NEXT_SPACED: Final = re.compile(rf"{_ENDED}\s+[«“„\"*]?[^\W\d_]")
_MARK_IN_WORD: Final = re.compile(r"[.!?…؟।][\"”’»)]?[«“„\"]?[^\W\d_]")  # far quicker to look for
_GLUED_PAIRS: Final = words("""
    ofthe inthe tothe onthe andthe forthe withthe fromthe atthe isthe bythe asthe wasthe intothe overthe
    thatthe itis itwas shewas hewas theywere delos enlos enlas conlos conlas porlos quelos ylos ylas
    deum deuma emuma comum comuma paraos queos
""")
_OTHER_SCRIPTS: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_SPACES_ASKED: Final = re.compile(
    r"\bspac(?:e|es|ing)\b|hash ?tag|camel ?case|one word|single word|no gaps|url|password|identifier"
    r"|long(?:est)? (?:word|compound)|compound word|in words|in letters|leerzeichen|langes? wort|lange wörter"
    r"|voluit|in lettere|en letras|en lettres|espacios?|espaços?|espaces?|\bspazi|пробел"
    r"|spelled|spell (?:out|it)"
    r"|letter by letter|buchstabier|deletre|soletr|épel",
    re.IGNORECASE,
)
# Characters a word, its space included, of nineteen in twenty healthy texts; outside it is worth a look.
_USUAL_LENGTH: Final = {
    "en": (4.3, 6.5), "es": (5.1, 6.7), "pt": (5.1, 6.5), "fr": (4.9, 6.6), "de": (5.5, 7.6),
    "it": (5.3, 7.0), "nl": (5.1, 7.0), "pl": (6.0, 7.6), "tr": (6.6, 8.5), "vi": (4.1, 5.0),
    "id": (6.2, 7.7), "tl": (5.5, 6.8), "ru": (5.3, 8.2), "uk": (5.6, 7.5), "ko": (3.5, 4.9),
    "ar": (4.9, 6.8), "hi": (4.2, 6.3),
}  # fmt: skip
_ANY_LENGTH: Final = (4.6, 8.0)
_LONG_PART: Final = 22  # characters without a space
_FEW_WORDS: Final = 60  # characters of a text too short for its average to say much


def lost_spaces(text: str, asked: Asked, locale: Locale | None) -> Finding | None:
    """Find text whose words run together, or fall into pieces.

    Args:
        locale: The one asked for, whose words tell a run from a compound; None leaves the rules of shape.
    """
    prose = without_addresses(without_code(text))
    parts = prose.split()
    language = (locale or "").split("-", 1)[0]
    if not parts or _looks_sound(prose, parts, language):
        return None
    letters = len(_LETTERS.findall(prose))
    if letters < _FEW_LETTERS or len(_OTHER_SCRIPTS.findall(prose)) * 2 > letters:
        return None
    found = _by_words(prose, language)
    if found is None or found.kind is not VerdictKind.FAIL:
        found = _glued(prose, parts, letters) or _partly_glued(prose, parts) or found
    if found is None and letters <= _SHORT_PIECES * len(parts):
        found = _single_letters(parts) or (None if language in MEASURED else _cut_up(prose, parts, letters))
    if found is not None and _SPACES_ASKED.search(asked.prompt) and is_brief(asked):
        return unsure(found.code or _CODE, found.detail)
    return found


def _looks_sound(prose: str, parts: list[str], language: str) -> bool:
    """Acquit by shape: words of usual length, none very long, sentences parted, no two small words glued."""
    if len(prose) < _FEW_WORDS:
        return False
    low, high = _USUAL_LENGTH.get(language, _ANY_LENGTH)
    if not low <= len(prose) / len(parts) <= high or max(map(len, parts)) >= _LONG_PART:
        return False
    return not _glued_sentences(prose) and _GLUED_PAIRS.isdisjoint(prose.lower().split())


def _by_words(prose: str, language: str) -> Finding | None:
    """Judge by the words of the language, where there is a table of them."""
    lexicon = lexicon_of(language) if language in MEASURED else None
    if lexicon is None:
        return None
    joints = joints_of(prose, lexicon)
    if joints.pieces >= 4 and joints.in_pieces >= 0.15:
        return fail(_CODE, f"{joints.pieces} words in pieces: {excerpt(prose.lstrip())}")
    glued = sum(map(len, joints.runs))
    if glued >= 30 and joints.in_runs >= 0.15:
        return fail(_CODE, f"words run together: {joints.runs[0][:80]}")
    if len(joints.pairs) >= 4 and joints.in_pairs >= 0.08:
        return fail(_CODE, f"words run together: {', '.join(joints.pairs[:5])}")
    if (joints.pieces >= 3 and joints.in_pieces >= 0.08) or glued >= 20 or len(joints.pairs) >= 3:
        return unsure(_CODE, f"odd spaces: {joints.pieces} words in pieces, {len(joints.pairs)} run together")
    return None


def _glued(prose: str, parts: list[str], letters: int) -> Finding | None:
    if letters < max(30, 18 * len(parts)):
        return None
    runs = _LONG_RUN.findall(prose) + _LONG_HANGUL.findall(prose)
    in_runs = sum(len(run) for run in runs)
    glued = _GLUED_SENTENCES.search(prose) is not None
    if in_runs < 0.5 * letters or not (glued or len(_INNER_CAPITAL.findall(prose)) >= 2):
        return None  # long compounds, spaced as they should be
    detail = f"{letters} letters in {len(parts)} pieces: {excerpt(prose.lstrip())}"
    return fail(_CODE, detail) if glued and letters >= 19 * len(parts) else unsure(_CODE, detail)


def _partly_glued(prose: str, parts: list[str]) -> Finding | None:
    """Find sentences that follow each other without a space, or pairs of small words that became one."""
    glued = _glued_sentences(prose)
    if glued >= 3 and glued > 2 * len(_NEXT_SPACED.findall(prose)):
        return fail(_CODE, f"{glued} sentences without a space between: {excerpt(prose.lstrip())}")
    if _GLUED_PAIRS.isdisjoint(prose.lower().split()):
        return None
    pairs = [part for part in parts if part.lower() in _GLUED_PAIRS]
    if len(pairs) >= 3:
        return fail(_CODE, f"words run together: {', '.join(pairs[:5])}")
    return unsure(_CODE, f"words run together: {', '.join(pairs)}") if len(pairs) == 2 else None


def _glued_sentences(prose: str) -> int:
    """Count the sentences that begin right behind the mark that ends the one before."""
    if not _MARK_IN_WORD.search(prose):
        return 0
    count = 0
    for match in _NEXT_GLUED.finditer(prose):
        word = prose[max(0, match.start() - _LONG_PART) : match.start()].rsplit(maxsplit=1)[-1]
        name = word[0].isupper() or any(c.isascii() and not c.isalpha() for c in word[-3:])  # `System.Text`
        count += not name and not match.group(1).islower()
    return count


def _cut_up(prose: str, parts: list[str], letters: int) -> Finding | None:
    """Find words in pieces by their shape, in an alphabet whose words are longer."""
    if len(parts) < 20 or letters > _IN_PIECES * len(parts) or len(_SYLLABLES.findall(prose)) * 10 > letters:
        return None
    return fail(_CODE, f"{letters} letters in {len(parts)} pieces: {excerpt(prose.lstrip())}")


def _single_letters(parts: list[str]) -> Finding | None:
    """Find words of which each letter stands alone."""
    bare = [part.strip(".,!?;:\"'“”’()*").lower() for part in parts]
    pieces = [part for part in bare if part.isalpha()]
    single = sum(len(piece) == 1 and piece not in "aioeyàéиявсуко" for piece in pieces)
    if len(pieces) >= 20 and single > 0.6 * len(pieces):
        return fail(_CODE, f"{single} of {len(pieces)} words are single letters: {excerpt(' '.join(parts))}")
    return None
