"""With what does no text of any kind begin?

Source: product.md §1 (a), §2; docs/judges.md.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.languages.lexicon import UNKNOWN, fold, lexicon_of
from routecanary.judge.vocabulary import words
from routecanary.judge.wishes import ends_open, is_brief

_CODE: Final = "corrupt_start"
CLOSERS: Final = ")]}）】」』》〉〕］｝"
# No sentence of any language begins with these.
FULLWIDTH: Final = "，。、；：！？．"
_NEVER_FIRST: Final = ",;،؛।" + FULLWIDTH
_EMOTICON: Final = re.compile(r"[:;=8xX][-'^]?[)(\[\]DPpOo/\\|*<>3]|\){2,}|\({2,}|[)(]?:")
# The tail of a token or tag whose head was swallowed: before `|>` of any, before `>` of a known one.
_TAG_TAIL: Final = re.compile(
    r"(?:\|(?=[a-z]))?(/?[a-z_]{1,30}|/)?(\|>|｜>|>)(?=\s|[^\W\d_]|[*\"“])", re.IGNORECASE
)
_TAGS: Final = words("""
    think thinking thought reasoning answer final assistant user system im_start im_end eot_id eom_id
    end_header_id start_header_id begin_of_text end_of_text endoftext end_of_turn start_of_turn bos eos
    message channel tool_call tool_calls tool_response response s
""")
# A role header of which the first letters went, alone on its line; a tag of which only the head came.
_CRUMB_LINE: Final = re.compile(r"(?:s?s?istant|ystem|</?|<\||\|)[ \t]*\n\s*\S")
# An empty call, a tag that never closes, a quotation mark with the mark that follows one.
_EMPTY_CALL: Final = re.compile(r"\(\)[;,.]?\s?(?=[^\W\d_])|[(\[{][)\]}];")
_OPEN_TAG: Final = re.compile(r"</(?=[^\W\d_])(?![^<>\n]{0,40}>)")
_AFTER_QUOTE: Final = re.compile(r"""["'”’][:;,]\s?(?=[^\W\d_])""")
_LONE_BAR: Final = re.compile(r"\|(?=[^\W\d_])[^|\n]*(?:\n|$)")
# Glued to a letter of a writing without capitals, in which nothing is written so.
_BEFORE_DENSE: Final = re.compile(
    r"[.:%&=^|\\](?=[\u0620-\u064a\u0900-\u0939\u0e00-\u0e2e\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3])"
)
_LONE_MARK: Final = re.compile(r"""[,;:'`’´)\]}.|\\/%&=^!?，。、；：！？।،]{1,2}[ \t]*\n\s*\S""")
_LONE_QUOTE: Final = re.compile(r'"[ \t]*\n\s*\S')
_LONE_CLOSING: Final = re.compile(r"[»”][ \t]*\n\s*\S")
_CLOSED_CRUMB: Final = re.compile(r"""["'“”’]\s?[\]})]+[\s,;]*(?=[^\W\d_]|[*"“«])""")
# What a program writes where it had nothing to write, glued to the first word.
_NOTHING: Final = re.compile(
    r"(?:undefined|null|None|NaN)(?=[A-ZÀ-ÞА-Я\u3040-\u9fff\uac00-\ud7a3*\"“«])|\[object Object\]"
)
_SURE_ENDINGS: Final = re.compile(
    r"(?:(?:i[sz]|if?ic|at|it|ut|[aiou])?a?(?:tions?|sions?)|ments?|ness|ings?|ous|ungen|ung|heit|keit|ción|ciones"
    r"|ção|ções|zione|ость|ение)(?:\s+|(?=[A-ZÀ-ÞА-Я]))[*“\"«]?[A-ZÀ-ÞА-Я]"
)
# Up to three letters of one writing before a word of another; a letter of an alphabet can be a word.
_DENSE: Final = r"\u0900-\u097f\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ALPHABETS: Final = r"\u0400-\u04ff\u0590-\u06ff"
_ALIEN_HEADS: Final = (
    (re.compile(rf"([{_DENSE}]{{1,3}})(\s*)(?=[*\"“«]?[A-Za-zÀ-ÿ\u0400-\u04ff])"), re.compile(f"[{_DENSE}]")),
    (re.compile(rf"([{_ALPHABETS}]{{1,3}})(?=[A-Za-zÀ-ÿ])"), re.compile(f"[{_ALPHABETS}]")),
)
# Ends of words that are no words, before a text in another writing.
_ALIEN_ENDINGS: Final = (
    (
        re.compile(
            r"(?:[ts]ions?|ness|ments?|ous|ungs?|ings?|ed|ly|ity|able|heit|keit|ción|ção)\s?(?=[^\W\d_])"
        ),
        re.compile("[A-Za-zÀ-ɏ]"),
    ),
    (
        re.compile(r"(?:[иы]й|ого|ость|ение|ния|ский|ция|ться|ами)\s?(?=[^\W\d_])"),
        re.compile("[\u0400-\u04ff]"),
    ),
)
_HEADLESS: Final = re.compile(r"(?:tion|ness)[a-z]{3,}(?=\s)")  # begins no word of a Latin alphabet
_OWN_ALPHABET: Final = 20  # letters of another alphabet that must follow
_LOWER_BEFORE_UPPER: Final = re.compile(r"([^\W\d_A-ZÀ-ÞА-Я]{2,8})\s+[*\"“«]?([A-ZÀ-ÞА-Я][^\W\d_]*)")
_VOWEL: Final = re.compile("[aeiouyáàâãäåéèêëíìîïóòôõöúùûüаеёиоуыэюяієї]")
_DRAWN_OUT: Final = re.compile(r"(.)\1\1")
_COMMON: Final = -3.5  # level of a word that begins many a sentence
_CONTINUE: Final = re.compile(
    r"\b(?:continue|complete|finish|fill in|go on|fortsetzen|ergänze|continúa|completa|complète"
    r"|continua|продолжи|дополни|emoticon|emoji|smiley|regex|code|symbol"
    r"|character|punctuation|bracket|brace|comma|mark|sign)\b|续写|続け|이어",
    re.IGNORECASE,
)
_ABOUT_LETTERS: Final = re.compile(
    r"\b(?:chinese|japanese|korean|thai|hindi|kanji|hanzi|hangul|letters?|translat\w*|means?)\b",
    re.IGNORECASE,
)


def impossible_first(start: str, asked: Asked, locale: Locale | None) -> Finding | None:
    """Find a first character, or a first line, that begins no text.

    Args:
        start: The text without leading white space; not empty.
    """
    first = start[0]
    shown = f"starts with {excerpt(start)}"
    if first.isalpha():
        return _fragment(start, shown, asked, locale)
    if _tag_tail(start) or _CRUMB_LINE.match(start):
        return fail(_CODE, shown)
    if unicodedata.category(first) in ("Mn", "Mc", "Cc") and not "\ufe00" <= first <= "\ufe0f":
        return fail(_CODE, f"starts with a combining mark or a control, {shown}")
    if _may_go_on(asked) or _EMOTICON.match(start):
        return None
    if first in CLOSERS or any(each.match(start) for each in _CRUMBS):
        return fail(_CODE, f"an end of something that is not there, {shown}")
    if first in _NEVER_FIRST and start[:2] not in (",,", ";;", "；；", "、、", "。。"):
        return fail(_CODE, shown)
    if _LONE_MARK.match(start) or (_LONE_QUOTE.match(start) and start.count('"') == 1):
        return fail(_CODE, f"a lone mark stands on a line of its own, {shown}")
    if _NOTHING.match(start):
        return fail(_CODE, f"a program's word for nothing, {shown}")
    if first in "»”" and not any(c in start[1:] for c in "«»„“”"):
        lone = _LONE_CLOSING.match(start) is not None
        return (fail if lone else unsure)(_CODE, f"a quotation closes that never opened, {shown}")
    if re.match(r"[.:%&=^/\\](?:\s+[^\W\d_]{2,}|[A-ZÀ-Þ][a-zà-ÿ])", start) and not start.startswith("/"):
        return unsure(_CODE, shown)
    return None


_CRUMBS: Final = (_CLOSED_CRUMB, _EMPTY_CALL, _OPEN_TAG, _AFTER_QUOTE, _LONE_BAR, _BEFORE_DENSE)


def _may_go_on(asked: Asked) -> bool:
    """Say whether the answer may begin within a sentence, or with a mark alone."""
    return _CONTINUE.search(asked.prompt) is not None and (is_brief(asked) or ends_open(asked))


def _fragment(start: str, shown: str, asked: Asked, locale: Locale | None) -> Finding | None:
    """Find a first word that is the rest of something: a tag, a header, a word, a value, a foreign token."""
    if _tag_tail(start) or _CRUMB_LINE.match(start):
        return fail(_CODE, shown)
    if _may_go_on(asked):
        return None
    if _SURE_ENDINGS.match(start) or _rest_of_word(start, locale) or _is_headless(start, locale):
        return fail(_CODE, f"a piece of a token, {shown}")
    if _NOTHING.match(start):
        return fail(_CODE, f"a program's word for nothing, {shown}")
    if _alien_fragment(start, asked) or _alien_ending(start, asked):
        return fail(_CODE, f"a piece of another script, {shown}")
    return None


def _tag_tail(start: str) -> bool:
    """Say whether a text begins with the end of a template token or of a known tag."""
    match = _TAG_TAIL.match(start)
    if match is None:
        return False
    name = (match.group(1) or "").lower()
    if match.group(2) != ">" or name in ("/", "/s"):
        return True
    name = name.lstrip("/")
    return len(name) > 1 and any(tag.endswith(name) for tag in _TAGS)


def _alien_fragment(start: str, asked: Asked) -> bool:
    """Say whether one to three letters of a script that stands nowhere else come before the first word."""
    for head, letter in _ALIEN_HEADS:
        match = head.match(start)
        if match is None:
            continue
        rest = start[match.end() :]
        if len(rest) < _OWN_ALPHABET or letter.search(rest) or match.group(1) in asked.prompt:
            return False
        parted = match.end() > match.end(1)
        anew = rest.lstrip('*"“«')[:1].isupper()  # the sentence begins behind it
        return not parted or (anew and not (_ABOUT_LETTERS.search(asked.prompt) and is_brief(asked)))
    return False


def _alien_ending(start: str, asked: Asked) -> bool:
    """Say whether the end of a word in one writing comes before a text that is all in another."""
    for head, letter in _ALIEN_ENDINGS:
        match = head.match(start)
        if match is not None:
            rest = start[match.end() :]
            return (
                len(rest) >= _OWN_ALPHABET
                and not letter.search(rest)
                and match.group().strip() not in asked.prompt
            )
    return False


def _is_headless(start: str, locale: Locale | None) -> bool:
    """Say whether the first word begins as none does, and is none."""
    match = _HEADLESS.match(start)
    lexicon = lexicon_of(locale.split("-", 1)[0]) if match is not None and locale is not None else None
    return match is not None and lexicon is not None and lexicon.level(fold(match.group())) == UNKNOWN


def _rest_of_word(start: str, locale: Locale | None) -> bool:
    """Say whether the text opens with no word of its language, in small letters, before a sentence begins."""
    match = _LOWER_BEFORE_UPPER.match(start)
    lexicon = lexicon_of(locale.split("-", 1)[0]) if match is not None and locale is not None else None
    if match is None or lexicon is None:
        return False
    first = fold(match.group(1))
    if not _VOWEL.search(first) or _DRAWN_OUT.search(first):
        return False  # `brrr`, `aaah`
    return lexicon.level(first) == UNKNOWN and lexicon.level(fold(match.group(2))) >= _COMMON
