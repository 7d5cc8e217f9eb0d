"""What a host remembers of prompts."""

from __future__ import annotations

from routecanary.lab.prefixes import KEPT, PREFIX, Prefixes

HOST = ("acme/chat-2", "north-host")


def test_a_beginning_is_cold_once() -> None:
    """The first meeting is cold, later ones are warm; each host remembers for itself."""
    seen = Prefixes()
    assert seen.meet(HOST, "Lund, 3 May.")
    assert not seen.meet(HOST, "Lund, 3 May.")
    assert seen.meet(("acme/chat-2", "maple"), "Lund, 3 May.")
    assert seen.meet(HOST, "Oslo, 3 May.")


def test_only_the_beginning_counts() -> None:
    """What differs behind the prefix is the same prompt to a cache; what differs within is not."""
    seen = Prefixes()
    start = "a" * PREFIX
    assert seen.meet(HOST, start + "x")
    assert not seen.meet(HOST, start + "y")
    assert seen.meet(HOST, start[:-1] + "z")


def test_the_memory_is_bounded_and_forgets_the_oldest() -> None:
    """After as many others as are kept a beginning is cold again; one that was met meanwhile is not."""
    seen = Prefixes()
    for number in range(KEPT):
        seen.meet(HOST, f"{number:05}")
    assert not seen.meet(HOST, "00000")
    assert seen.meet(HOST, "another")
    assert not seen.meet(HOST, "00000")
    assert seen.meet(HOST, "00001")
