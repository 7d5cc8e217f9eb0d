"""Were the spaces between words lost, or put inside them?

Source: product.md §2; docs/judges.md. Scripts that do not part words by spaces are left alone.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.prose import without_addresses, without_code
from routecanary.judge.vocabulary import words

_CODE: Final = "lost_spaces"
_FEW_LETTERS: Final = 24  # too few to tell
_SHORT_PIECES: Final = 3.6  # letters a piece on average, above which no word was cut up
# Letters of scripts that part words by spaces: Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari,
# Hangul.
_LETTER: Final = (
    r"A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u058f\u05d0-\u05ea\u0620-\u064a\u0900-\u097f\uac00-\ud7a3"
    r"\u1e00-\u1eff"
)
_LETTERS: Final = re.compile(f"[{_LETTER}]")
_LONG_RUN: Final = re.compile(f"[{_LETTER}]{{22,}}")
_LONG_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]{14,}")
_GLUED_SENTENCES: Final = re.compile(f"[{_LETTER}]{{2}}[.!?,;][{_LETTER}]{{2}}")
_INNER_CAPITAL: Final = re.compile(r"[a-zà-ÿß][A-ZÀ-Þ]")
_NEXT_SENTENCE_GLUED: Final = re.compile(r"[a-zà-ÿа-яё]{3}[.!?][A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё]")
_NEXT_SENTENCE: Final = re.compile(r"[a-zà-ÿа-яё]{3}[.!?]\s+[A-ZÀ-ÞА-ЯЁ]")
_GLUED_PAIRS: Final = words("""
    ofthe inthe tothe onthe andthe forthe withthe fromthe atthe isthe bythe asthe wasthe intothe overthe
    thatthe itis itwas shewas hewas theywere delos enlos enlas conlos conlas porlos quelos ylos ylas
    deum deuma emuma comum comuma paraos queos
""")
_OTHER_SCRIPTS: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_SPACES_ASKED: Final = re.compile(
    r"\bspac(?:e|es|ing)\b|hash ?tag|camel ?case|one word|single word|no gaps|url|password|identifier"
    r"|leerzeichen|espacios?|espaços?|espaces?|\bspazi|пробел|spelled|spell (?:out|it)"
    r"|letter by letter|buchstabier|deletre|soletr|épel",
    re.IGNORECASE,
)
# Short words of English, to tell a fragment (`qu`, `bo`) from a word (`on`, `go`).
_SHORT_WORDS: Final = words("""
    a i o ad ah am an as at ax be by do eh go ha he hi if in is it la me my no of oh ok on or ox pa so
    to up us we ace act add age ago aid aim air ale all and ant any ape apt arc are arm art ash ask ate
    awe bad bag ban bar bat bay bed bee beg bet bid big bin bit bow box boy bud bug bun bus but buy can
    cap car cat cow cry cub cup cut dad dam day den dew did die dig dim dip dog dot dry due dug dye ear
    eat ebb egg ego elm end era eve eye fan far fat fed fee few fig fin fir fit fix flu fly fog for fox
    fun fur gap gas gem get god got gum gun gut guy had hag ham has hat hay hem hen her hey hid him hip
    his hit hog hop hot how hub hue hug hum hut ice ill ink inn ion its ivy jam jar jaw job jog joy jug
    key kid kin kit lab lad lap law lay led leg let lid lie lip lit log lot low mad man map mat may men
    met mid mix mob mom mop mud mug nap net new nod nor not now nun nut oak oar odd off oil old one orb
    ore our out owe owl own pad pan pat paw pay pea pen pet pie pig pin pit ply pot pub put rag ram ran
    rat raw ray red rib rid rim rip rob rod rot row rub rug rum run rye sad sat saw say sea see set sew
    she shy sin sip sir sit six ski sky sly sob son sow spy sum sun tab tag tan tap tar tax tea ten the
    tie tin tip toe ton too top toy try tub tug two use van vat vow wag war was wax way web wed wet who
    why wig win wit woe won wow yes yet you zoo
""")


def lost_spaces(text: str, asked: Asked) -> Finding | None:
    """Find text whose words run together, or fall into pieces."""
    prose = without_addresses(without_code(text))
    letters = len(_LETTERS.findall(prose))
    if letters < _FEW_LETTERS or len(_OTHER_SCRIPTS.findall(prose)) * 2 > letters:
        return None
    parts = prose.split()
    found = _glued(prose, parts, letters) or _partly_glued(prose, parts)
    if found is None and letters <= _SHORT_PIECES * len(parts):
        found = _in_pieces(parts)
    if found is not None and _SPACES_ASKED.search(asked.prompt):
        return unsure(found.code or _CODE, found.detail)
    return found


def _glued(prose: str, parts: list[str], letters: int) -> Finding | None:
    if letters < max(40, 18 * len(parts)):
        return None
    runs = _LONG_RUN.findall(prose) + _LONG_HANGUL.findall(prose)
    in_runs = sum(len(run) for run in runs)
    glued = _GLUED_SENTENCES.search(prose) is not None
    if in_runs < 0.5 * letters or not (glued or len(_INNER_CAPITAL.findall(prose)) >= 2):
        return None  # long compounds, spaced as they should be
    detail = f"{letters} letters in {len(parts)} pieces: {excerpt(prose.lstrip())}"
    return fail(_CODE, detail) if glued and letters >= 25 * len(parts) else unsure(_CODE, detail)


def _partly_glued(prose: str, parts: list[str]) -> Finding | None:
    """Find sentences that follow each other without a space, or pairs of small words that became one."""
    glued = len(_NEXT_SENTENCE_GLUED.findall(prose))
    if glued >= 3 and glued > 2 * len(_NEXT_SENTENCE.findall(prose)):
        return fail(_CODE, f"{glued} sentences without a space between: {excerpt(prose.lstrip())}")
    if _GLUED_PAIRS.isdisjoint(prose.lower().split()):
        return None
    pairs = [part for part in parts if part.lower() in _GLUED_PAIRS]
    if len(pairs) >= 3:
        return fail(_CODE, f"words run together: {', '.join(pairs[:5])}")
    return unsure(_CODE, f"words run together: {', '.join(pairs)}") if len(pairs) == 2 else None


def _in_pieces(parts: list[str]) -> Finding | None:
    """Find words cut up by spaces: fragments of English, or single letters of any script."""
    bare = [part.strip(".,!?;:\"'“”’()*").lower() for part in parts]
    pieces = [part for part in bare if part.isalpha()]
    if len(pieces) < 20:
        return None
    single = sum(len(piece) == 1 and piece not in "aioeyàéиявсуко" for piece in pieces)
    if single > 0.6 * len(pieces):
        return fail(_CODE, f"{single} of {len(pieces)} words are single letters: {excerpt(' '.join(parts))}")
    if not all(piece.isascii() for piece in pieces):
        return None
    mean = sum(map(len, pieces)) / len(pieces)
    short = [piece for piece in pieces if len(piece) <= 3]
    unknown = [piece for piece in short if piece not in _SHORT_WORDS]
    english = sum(piece in ("the", "and", "is", "of", "to", "in", "it", "on", "was") for piece in pieces)
    if mean <= 3.3 and len(unknown) > 0.45 * len(short) and len(unknown) >= 12 and english:
        return fail(_CODE, f"{len(unknown)} fragments in {len(pieces)} words: {excerpt(' '.join(parts))}")
    return None
