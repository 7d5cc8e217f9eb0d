"""Planted answers whose text is damaged, and their look-alikes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from routecanary.domain.names import INTEGRITY, LANGUAGE, ContractName, Locale
from routecanary.domain.probe import ProbeKind
from routecanary.judge.planted.value import Planted, answer

_ENGLISH: Final = Locale("en")
_LOOP: Final = "The lamp turns and the sea answers. "
_TOOLS: Final = [{"type": "function", "function": {"name": "get_tide", "parameters": {"type": "object"}}}]
_CALL: Final = '<tool_call>\n{"name": "get_tide", "arguments": {"port": "Alder"}}\n</tool_call>'

# kind → (text, what else about the answer), the fault and then its look-alike
_DAMAGED: Final[Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]]] = {
    "corrupt_start": (
        (") The lamp turns above the rocks.", {}),
        ("(She turns.) The lamp is out.", {}),
    ),
    "special_token": (
        ("The lamp turns above the rocks.<|im_end|>", {}),
        ("A turn ends with `<|im_end|>` in that format.", {"prompt": "How does a turn end in ChatML?"}),
    ),
    "tool_text": (
        (_CALL, {"tools": _TOOLS}),
        (f"```\n{_CALL}\n```", {"prompt": "Show such a call in a code block."}),
    ),
    "reasoning_leak": (
        ("<think>They want a lamp.</think>The lamp turns.", {}),
        ("I think that the lamp turns too fast tonight.", {}),
    ),
    "repetition": (
        (_LOOP * 13, {"finish": "length", "limit": 120, "tokens": 120}),
        ("drip " * 12, {"prompt": "Write the word drip twelve times."}),
    ),
    "doubled_tokens": (
        ("The lamp lamp turns turns above above the the wet rocks and and the the sea.", {}),
        ("She knew that that lamp had had its day; very, very slowly it turned.", {}),
    ),
    "lost_spaces": (
        ("Thelampturnsabovetherocks.Theseaanswersandnobodycomes.Thekeepersleeps.", {}),
        ("See https://example.org/thelampturnsabovetherocksandnobodycomes for more.", {}),
    ),
}


def of_text() -> Iterator[Planted]:
    """Marks, loops, doubles and spaces, in English: the rules about them know few languages or none."""
    for kind, pair in _DAMAGED.items():
        for fault, (text, about) in zip((True, False), pair, strict=True):
            transcript = answer(text, probe=ProbeKind.CHAT, locale=_ENGLISH, **about)
            yield Planted(contract=INTEGRITY, kind=kind, fault=fault, transcript=transcript)


def of_encoding(contract: ContractName, scene: str, locale: Locale) -> Iterator[Planted]:
    """A healthy text, and the same one with its encoding broken in each way."""
    probe = ProbeKind.CHAT if contract == LANGUAGE else ProbeKind.FILTER
    half = len(scene) // 2
    texts = {
        "encoding": scene.encode("utf-8").decode("latin-1"),
        "replacement_char": f"{scene[:half]}\ufffd\ufffd{scene[half:]}",
        "surrogate": f"{scene} \ud83d",
        "byte_fallback": f"{scene[:half]}<0xE2><0x80><0x99>{scene[half:]}",
    }
    for kind, text in texts.items():
        transcript = answer(text, probe=probe, locale=locale)
        yield Planted(contract=contract, kind=kind, fault=True, transcript=transcript, locale=locale)
    healthy = answer(scene, probe=probe, locale=locale)
    yield Planted(contract=contract, kind="encoding", fault=False, transcript=healthy, locale=locale)
