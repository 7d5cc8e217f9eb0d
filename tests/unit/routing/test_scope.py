"""Which suspensions touch a request that says what it needs?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from routecanary.adapters.snapshot import write_snapshot
from routecanary.client import Canary
from routecanary.domain.names import LANGUAGE, STRUCTURED, Locale
from routecanary.routing.reading import Suspended
from routecanary.routing.scope import Scope
from tests.snapshots import MODEL, NOW, after, document, facts, suspended, views

ROWS = [
    # contracts, failing locales, needs, locale, touched
    (("latency",), (), {"structured"}, "th", True),
    (("filtering",), (), set(), None, True),
    (("integrity",), (), {"language"}, "en", True),
    (("structured",), (), {"structured"}, None, True),
    (("structured",), (), {"language"}, None, False),
    (("structured",), (), set(), "th", False),
    (("structured",), (), None, "th", True),
    (("language",), ("pt-BR",), {"language"}, None, True),
    (("language",), ("pt-BR",), None, "th", False),
    (("language",), ("pt-BR", "th"), None, "th", True),
    (("language",), ("pt-BR",), None, "pt-PT", True),
    (("language",), ("pt-BR",), None, "PT_br", True),
    (("language",), ("id",), None, "ms", True),
    (("language",), ("zh-Hans",), None, "zh-Hant", True),
    (("language",), (), None, "th", True),
    (("language", "structured"), ("pt-BR",), {"language"}, "th", False),
    (("language", "latency"), ("pt-BR",), {"language"}, "th", True),
    (("a contract of later days",), (), {"structured"}, "th", True),
    ((), (), {"structured"}, "th", True),
]


@pytest.mark.parametrize(("contracts", "locales", "needs", "locale", "touched"), ROWS)
def test_what_touches(
    contracts: tuple[str, ...], locales: tuple[str, ...], needs: set[str] | None, locale: str, touched: bool
) -> None:
    """policy.md §12, and in doubt the suspension touches."""
    assert Scope(needs, locale).touches(Suspended("alpha", 0.0, contracts, locales)) is touched


@pytest.mark.parametrize(
    "bad", [{"needs": {"strutured"}}, {"needs": ["", "language"]}, {"locale": ""}, {"locale": "x" * 40}]
)
def test_what_cannot_be_read_is_refused(bad: dict) -> None:
    """A typing mistake must not make a list shorter."""
    with pytest.raises(ValueError, match="allowed"):
        Scope(**bad)


def test_a_single_name_is_a_set_of_it() -> None:
    """The letters of a text are no needs."""
    assert Scope("structured").needs == {"structured"}


def test_a_client_without_a_snapshot_has_no_scope_either(tmp_path: Path) -> None:
    """Nothing known, nothing merged; nothing raised for what cannot be read."""
    with Canary(tmp_path / "none.json", thread=False) as canary:
        assert canary.provider_preferences("acme/chat", {"sort": "price"}, locale="th") == {"sort": "price"}
        assert canary.provider_preferences("acme/chat", None, needs={"nonsense"}) == {}
        assert canary.provider_preferences("acme/chat", None, needs=7) == {}  # type: ignore[arg-type]
        counters = canary.status()["counters"]
    assert counters["bad_scope"] == 2
    assert counters["no_snapshot"] == 3


def test_a_client_leaves_what_the_request_does_not_need(tmp_path: Path) -> None:
    """Views of a scope are kept apart, end on time, and know several models at once."""
    wall = [NOW.timestamp()]
    breaks_json = suspended("alpha", contracts=(STRUCTURED,), until=after(hours=1))
    slides = tuple(
        replace(one, locales=frozenset({Locale("pt-BR")})) for one in suspended("beta", contracts=(LANGUAGE,))
    )
    write_snapshot(tmp_path / "snapshot.json", document(facts(suspensions=(*breaks_json, *slides))))
    with Canary(tmp_path / "snapshot.json", thread=False, clock=lambda: wall[0]) as canary:

        def ignored(**scope: object) -> list[str]:
            merged = canary.provider_preferences(MODEL, None, **scope)  # type: ignore[arg-type]
            asked = canary.patch({"model": MODEL}, **scope)  # type: ignore[arg-type]
            several = canary.patch({"models": [MODEL, f"{MODEL}:nitro"]}, **scope)  # type: ignore[arg-type]
            assert asked.get("provider", {}) == several.get("provider", {}) == merged
            return merged.get("ignore", [])

        assert ignored() == ["alpha", "beta"]
        assert ignored(needs=set(), locale="th") == []
        assert ignored(needs={"structured"}, locale="th") == ["alpha"]
        assert ignored(locale="pt") == ["alpha", "beta"]
        assert ignored(needs={"language"}) == ["beta"]
        assert ignored(needs={"nonsense"}) == ["alpha", "beta"]
        wall[0] = after(hours=1).timestamp()
        assert ignored(needs={"structured"}, locale="th") == []
        assert ignored() == ["beta"]


def test_scopes_that_a_caller_makes_up_are_not_kept_without_end() -> None:
    """A thousand locales leave a few hundred views at most."""
    known = views(document(facts(suspensions=suspended("alpha"))))
    for number in range(1_000):
        known.find_scoped(MODEL, NOW.timestamp(), Scope(None, f"x{number}"))
    assert len(known._scoped) <= 256
