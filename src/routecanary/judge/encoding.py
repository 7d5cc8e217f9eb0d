"""Is the encoding of the text visibly broken?

These kinds belong to the language contract on the chat probe and to integrity on every other.

Source: language.md §5; product.md §2.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.answer import Answer
from routecanary.domain.asked import Asked
from routecanary.domain.names import Locale
from routecanary.domain.verdict import VerdictKind
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.lost_letters import lost_letters
from routecanary.judge.prose import without_code
from routecanary.judge.scripts import Script, script_of

_MAX_LETTERS: Final = 100_000  # of an answer that are read
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_BYTE_NAME: Final = re.compile(r"<0x[0-9A-Fa-f]{2}>")
_BPE_MARK: Final = re.compile(r"(?<=[^\W\d_A-Z])[ĠĊ]|[ĠĊ](?=[^\W\d_])|▁(?=[^\W\d_])|(?<=[^\W\d_])▁")
_BLOCKS: Final = re.compile("[\u2582-\u258f]|▁▁")  # bars that are drawn
_C1: Final = re.compile(r"[\x80-\x84\x86-\x9f]")
_C0: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPE: Final = re.compile(
    r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|&(?:#\d{2,6}|#x[0-9a-f]{2,5}|[a-zA-Z]{2,8});"
)
# Characters that a byte 80–BF turns into under Latin-1 or Windows-1252.
_TRAIL: Final = (
    r"[\u0080-\u00bf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c"
    r"\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]"
)
_PAIR: Final = re.compile(
    f"[\u00c2-\u00df]{_TRAIL}|[\u00e0-\u00ef]{_TRAIL}{{2}}|[\u00f0-\u00f4]{_TRAIL}{{3}}"
)
# The same of Cyrillic under Windows-1251, where each letter becomes a capital and one of these.
_CYRILLIC_PAIR: Final = re.compile(
    r"[РС][\u0402-\u040f\u0452-\u045f\u0490\u0491\u201a\u201e\u2026\u2020\u2021\u20ac\u2030\u2039\u2018\u2019\u201c\u201d"
    r"\u2022\u2013\u2014\u2122\u203a\u00a0-\u00bf\u2116]"
)
_MANY_PAIRS: Final = 4  # of those that a healthy text hardly holds
_FAR: Final = (
    "\u0400-\u04ff\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"  # letters far from Latin ones
)
_FAR_LETTER: Final = re.compile(f"[{_FAR}]")
_NEAR_LETTER: Final = re.compile("[A-Za-zÀ-ɏ]")
_MONGREL: Final = re.compile(
    rf"\b[A-Za-zÀ-ɏ]+['’]?[{_FAR}]{{1,3}}(?![{_FAR}])[A-Za-zÀ-ɏ°-»\xad]*|\b[{_FAR}]{{1,2}}[A-Za-zÀ-ɏ]{{2,}}"
)
_ABOUT_CODES: Final = re.compile(
    r"u\+[0-9a-f]{4}|\\u|\\x|fffd|replacement character|unicode|utf-?8|encod|escape|\bhtml\b|\bjson\b|regex"
    r"|mojibake|\bbytes?\b|\bhex\b|kodier|codific|encodage|кодиров|编码|文字コード|인코딩",
    re.IGNORECASE,
)

_FORMAT: Final = re.compile(r"\bjson\b", re.IGNORECASE)


def broken_encoding(answer: Answer, locale: Locale | None) -> Finding | None:
    """Find what no reader should see of an encoding; None for whole text."""
    text, asked = answer.text[:_MAX_LETTERS], answer.asked
    if text.isascii() and "\\" not in text and "<0x" not in text and "&" not in text and "?" not in text:
        return None if not _C0.search(text) else _controls(text)
    surrogate = _SURROGATE.search(text)
    if surrogate is not None:
        return fail("surrogate", f"a lone surrogate at character {surrogate.start()}")
    if answer.invalid_utf8:
        return fail("encoding", "bytes on the wire that are no UTF-8")
    about = _ABOUT_CODES.search(_without_format(asked)) is not None
    place = text.find("\ufffd")
    if place >= 0 and not about and "\ufffd" not in asked.prompt:
        return fail("replacement_char", f"{text.count(chr(0xFFFD))} × U+FFFD: {excerpt(text, place)}")
    if about:
        return None
    prose = without_code(text)
    script = Script.LATIN if locale is None else script_of(locale)
    found = [_byte_fallback(prose, asked, script), _mojibake(prose), _controls(prose)]
    if locale is not None and script is Script.LATIN:
        found.append(_mongrels(prose))
    if asked.schema is None:  # in a JSON document escapes are at home
        found.append(_escapes(prose))
        found.append(lost_letters(prose, locale))
    sure = [finding for finding in found if finding is not None and finding.kind is VerdictKind.FAIL]
    return next(iter(sure or [finding for finding in found if finding is not None]), None)


def _without_format(asked: Asked) -> str:
    """Return what a prompt is about: where a schema belongs to it, its own format is none of that."""
    return asked.prompt if asked.schema is None else _FORMAT.sub(" ", asked.prompt)


def _byte_fallback(prose: str, asked: Asked, script: Script) -> Finding | None:
    name = _BYTE_NAME.search(prose)
    if name is not None and name.group() not in asked.prompt:
        return fail("byte_fallback", f"{name.group()} in the text: {excerpt(prose, name.start())}")
    if "Ġ" in prose or "Ċ" in prose or "▁" in prose:
        marks = _BPE_MARK.findall(re.sub(r"<｜[^｜>]{1,40}｜>|<\|[^|>]{1,40}\|>", " ", prose))
        detail = f"{len(marks)} undecoded token marks: {excerpt(prose)}"
        # A script without these letters holds none; one without spaces loses few of them to marks.
        if len(marks) >= 2 or (marks and script is not Script.LATIN and _BLOCKS.search(prose) is None):
            return fail("byte_fallback", detail)
        return unsure("byte_fallback", detail) if marks else None
    return None


def _mojibake(prose: str) -> Finding | None:
    """Find UTF-8 that was read as a single-byte code page, by its being repairable."""
    first = next(
        (pair for pair in _PAIR.finditer(prose) if not prose[pair.start() - 1 : pair.start()].isupper()), None
    )
    if first is None and len(_CYRILLIC_PAIR.findall(prose)) < _MANY_PAIRS:
        return None
    from ftfy import fix_encoding  # noqa: PLC0415 - for suspicious text alone
    from ftfy.badness import badness  # noqa: PLC0415

    bad = badness(prose)
    if bad > 0:
        whole = fix_encoding(prose)
        if whole != prose and badness(whole) < bad:
            where = excerpt(prose, first.start() if first is not None else 0)
            return fail("encoding", f"UTF-8 read as a single-byte code page: {where}")
    return None


def _mongrels(prose: str) -> Finding | None:
    """Find Latin words with letters of another script inside: bytes read by another code page."""
    far = len(_FAR_LETTER.findall(prose))
    if not far or far > len(_NEAR_LETTER.findall(prose)):  # then names stand in text of another script
        return None
    mongrels = set(_MONGREL.findall(prose))
    stems = {"".join(_NEAR_LETTER.findall(word)) for word in mongrels}  # a name with several endings is one
    if len(stems) < 3:
        return None
    return fail("encoding", f"{len(mongrels)} words of two scripts: {', '.join(sorted(mongrels)[:4])}")


def _controls(prose: str) -> Finding | None:
    later = _C1.search(prose)
    if later is not None:
        return fail("encoding", f"control character U+{ord(later.group()):04X} at {later.start()}")
    if len(_C0.findall(prose)) >= 2:
        return fail("encoding", "control characters in the text")
    return None


def _escapes(prose: str) -> Finding | None:
    escapes = _ESCAPE.findall(prose)
    if len(escapes) >= 3:
        return fail("encoding", f"{len(escapes)} escapes left undecoded, such as {escapes[0]}")
    return unsure("encoding", f"an escape left undecoded: {escapes[0]}") if escapes else None
