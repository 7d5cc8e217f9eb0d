"""Do tokens show that no reader should see: template marks, hidden reasoning, tool calls as text?

Marks that the prompt names were asked for. Marks inside code are left alone: code may be about them.

Source: product.md §2; docs/judges.md for the list of marks.
"""

from __future__ import annotations

import re
from typing import Final

from routecanary.domain.asked import Asked
from routecanary.judge.contract import Finding, excerpt, fail, unsure
from routecanary.judge.prose import without_code
from routecanary.judge.tool_markup import tool_text
from routecanary.judge.wishes import is_brief

_THOUGHT: Final = (
    r"(?:(?:\w{1,12}[:_])?(?:think|thinking)|thoughts?|reasoning|antthinking|reflection|scratchpad|analysis"
    r"|inner_(?:thoughts|monologue)|chain_of_thought|cot)"
)
_REASONING_OPEN: Final = re.compile(
    rf"<{_THOUGHT}(?:\s[^<>\n]{{0,60}})?>|◁think▷|\[THINK(?:ING)?\]"
    r"|<\|(?:begin_of_thought|start_thinking|think(?:ing)?)\|>|<details type=\"reasoning\"",
    re.IGNORECASE,
)
_REASONING_CLOSE: Final = re.compile(
    rf"</{_THOUGHT}\s?>|◁/think▷|\[/THINK(?:ING)?\]|<\|(?:end_of_thought|end_thinking|/think(?:ing)?)\|>",
    re.IGNORECASE,
)
_TEMPLATE_MARK: Final = re.compile(
    r"<\|[A-Za-z0-9_▁ ./-]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>"
    r"|</?(?:bos|eos|pad|unk|sep|cls|mask|BOS|EOS|PAD|UNK)>|<(?:start|end)_of_(?:turn|utterance|image)>|<end_of_text>|<\|?endoftext\|?>|\[/?INST\]|<</?SYS>>"
    r"|\[(?:BOS|EOS|PAD|UNK|gMASK|SEP|CLS)\]|\[/?SYSTEM_PROMPT\]|<extra_id_\d+>|<unused\d+>"
    r"|<\|/?[a-z_]{4,30}>|<[a-z_]{4,30}\|>|<\|?EOT\|?>|\[\|/?\w{2,20}\|\]|\[(?:control|UNUSED_TOKEN)_\d+\]"
    r"|<?/?\|?(?:im_start|im_end|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|end_of_text)\|?>"
    r"|(?m:^### ?(?:Human|Assistant|User|System):)"
)
_TEMPLATE_END: Final = re.compile(rf"({_TEMPLATE_MARK.pattern}|<\|[a-z_]{{4,30}}\|?)\s*$")
_THOUGHT_FENCE: Final = re.compile(r"\s*```think(?:ing)?\s*\n")
_SENTENCE_TOKEN: Final = re.compile(r"</?s>")
# Harmony's channel names, glued to the text because their brackets were dropped.
_CHANNELS: Final = re.compile(
    r"^(?:analysis|commentary)(?=[A-Z\"“А-Я\u3040-\u9fff\uac00-\ud7a3])|assistant(?:final|analysis|commentary)"
)
# A role header whose brackets were dropped: alone on its line, at the start or glued to the sentence before.
_TURN: Final = re.compile(r"(?:^|(?<=[.!?。！？\"”*]))(?:assistant|user|system)\n\n(?=\S)")
_WANTS: Final = r"(?:wants|asks|asked|is asking|needs|said|requests|requested|is looking|would like)"
_INTERJECTION: Final = (
    r"(?:(?:okay|ok|alright|hmm|well|gut|also|bueno|vale|bien|bom|bon|allora|dobrze|хорошо|итак|tamam|好的?|嗯|首先|はい|네)"
    r"[\s,，、.。!！…]+)?"
)
_PLANNING: Final = re.compile(
    r"^(?:okay|ok|alright|hmm|so|first|well|right|let me|i need to|we need to|the user|now)\b[^\n]{0,120}"
    rf"\bthe user (?:{_WANTS}|has)\b"
    r"|^[*#\s]*(?:here(?:['’]s| is) (?:my|a|the) )?"
    r"(?:thinking process|thought process|my reasoning|reasoning|thinking|thoughts?)\s*:?[*]*:?\s*\n"
    r"|^[*>_#\s]*(?:thought for \d+(?:\.\d+)? (?:s|sec|seconds?|minutes?)\b|thinking(?:\.\.\.|…))"
    r"|^we (?:need|have|should|must|are asked) to (?:answer|respond|reply|produce|output|generate|craft)\b"
    rf"|^the user {_WANTS}\b"
    rf"|^{_INTERJECTION}(?:der (?:nutzer|benutzer) (?:möchte|will|fragt|bittet)|de gebruiker (?:wil|vraagt)"
    r"|el usuario (?:quiere|pide|pregunta|solicita)|o usuário (?:quer|pede|pergunta|está pedindo|solicita)"
    r"|l['’]utilisateur (?:veut|demande|souhaite)|l['’]utente (?:vuole|chiede)"
    r"|użytkownik (?:chce|prosi|pyta)|пользователь (?:хочет|просит|спрашивает)"
    r"|користувач (?:хоче|просить|питає)|kullanıcı (?:istiyor|benden)"
    r"|用户(?:想|要|希望|请求|让我|问)|ユーザーは|사용자(?:가|는) )",
    re.IGNORECASE,
)
_ABOUT_MARKS: Final = re.compile(
    r"special token|chat ?template|chatml|tokeni[sz]er|prompt format|\bhtml\b|\bxml\b", re.IGNORECASE
)
_ABOUT_MARKS_IN_BRIEF: Final = re.compile(r"\b[Tt]okens?\b|[Mm]arkup|\btags?\b")  # a German `Tag` is a day


def leaked_tokens(text: str, asked: Asked) -> Finding | None:
    """Find the gravest mark in the text: a tool call, hidden reasoning, a template token."""
    marked = any(sign in text for sign in _SIGNS) or text.startswith(_LOWER_STARTS)
    if not marked and not asked.tools:
        return _planning(text, asked)
    prose = without_code(text)
    return (
        tool_text(text, prose, asked)
        or _reasoning(text, prose, asked)
        or _template(text, prose, asked)
        or _planning(text, asked)
    )


_SIGNS: Final = (
    "<",
    "[",
    "◁",
    "functions.",
    "assistant",
    "{",
    "user\n",
    "system\n",
    "|>",
    "### ",
    "```think",
)
_LOWER_STARTS: Final = ("analysis", "commentary")


def _reasoning(text: str, prose: str, asked: Asked) -> Finding | None:
    if _THOUGHT_FENCE.match(text) and not ("think" in asked.prompt.lower() and is_brief(asked)):
        return fail("reasoning_leak", f"a fence of thoughts: {excerpt(text)}")
    opened, closed = _REASONING_OPEN.search(prose), _REASONING_CLOSE.search(prose)
    match = opened or closed
    if match is None:
        return None
    name = match.group().strip("<>/[]◁▷| ").lower()
    if (
        match.group() in asked.prompt
        or f"{name}>" in asked.prompt.lower()
        or re.search(rf"\b{re.escape(name)}\b[^.\n]{{0,20}}\btags?\b", asked.prompt.lower())
    ):
        return None
    detail = f"{match.group()!r} in the text: {excerpt(text, text.find(match.group()))}"
    at_front = opened is not None and not prose[: opened.start()].strip()
    if at_front or closed is not None:
        return fail("reasoning_leak", detail)
    return unsure("reasoning_leak", detail)


def _template(text: str, prose: str, asked: Asked) -> Finding | None:
    last = _TEMPLATE_END.search(text[-80:])  # also behind a fence that never closed
    if last is not None and not _named(last.group(1), asked):
        return fail("special_token", f"{last.group(1)!r} ends the text: {excerpt(text, len(text) - 40)}")
    for match in _TEMPLATE_MARK.finditer(prose):
        if match.start() == 0 and match.group()[0] not in "<[#":
            continue  # the rest of a token at the very start: a spoiled start
        if not _named(match.group(), asked):
            if _about_marks(asked) and not prose.rstrip().endswith(match.group()):
                return unsure("special_token", f"{match.group()!r}, and the request is about such marks")
            return fail("special_token", f"{match.group()!r} in the text: {excerpt(prose, match.start())}")
    balance = 0
    for match in _SENTENCE_TOKEN.finditer(prose):
        balance += 1 if match.group() == "<s>" else -1
        if balance < 0 and "<s>" not in asked.prompt and "</s>" not in asked.prompt:
            return fail("special_token", f"'</s>' closes nothing: {excerpt(prose, match.start())}")
    if balance > 0 and prose.lstrip().startswith("<s>") and not _about_marks(asked):
        return fail("special_token", f"'<s>' opens the text: {excerpt(prose)}")
    turn = _TURN.search(prose.lstrip())
    if turn is not None:
        return fail("special_token", f"a role header in the text: {excerpt(prose.lstrip(), turn.start())}")
    channel = _CHANNELS.search(prose.lstrip())
    if channel is not None and channel.group() not in asked.prompt:
        return fail(
            "special_token", f"a channel name, {channel.group()!r}: {excerpt(prose, channel.start())}"
        )
    return None


def _named(mark: str, asked: Asked) -> bool:
    """Say whether the request names a mark, or its opening, or asks about marks and has its bare name."""
    if mark in asked.prompt or mark.replace("/", "") in asked.prompt:
        return True
    name = mark.strip("<>[]|/｜ ")
    return _about_marks(asked) and re.search(rf"\b{re.escape(name)}\b", asked.prompt) is not None


def _about_marks(asked: Asked) -> bool:
    """Say whether the request is about marks of templates or of markup."""
    if _ABOUT_MARKS.search(asked.prompt):
        return True
    return _ABOUT_MARKS_IN_BRIEF.search(asked.prompt) is not None and is_brief(asked)


def _planning(text: str, asked: Asked) -> Finding | None:
    """Suspect planning prose that no mark gives away; a person has to look."""
    if _PLANNING.match(text.lstrip()[:400]) and " user" not in asked.prompt.lower():
        return unsure("reasoning_leak", f"reads like planning: {excerpt(text.lstrip())}")
    return None
