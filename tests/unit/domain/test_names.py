"""What is a name, and what only looks like one."""

from __future__ import annotations

import pytest

from routecanary.domain.names import Locale, parse_locale, parse_model, parse_route
from routecanary.errors import InputError

UNPRINTABLE = ["a/b\x00", "a/\x1b[2J", "a/b\x7f", "a/b\x9b", "a/\ud800", "a/\udcff", "a/\u202eb", "a/\u2028"]
NO_SLUG = ["", "/", "a/", "/b", "a//b", "two words/b", "a/b\n", "a/" + "x" * 200]


@pytest.mark.parametrize(
    "text", ["acme/chat-2", "acme/chat-2:free", "acme/a/b", "acme/v1.5", "a.b/c..d", ".hidden/x", "é/x"]
)
def test_a_model_is_an_author_and_a_slug(text: str) -> None:
    """Kept as it is written."""
    assert parse_model(text) == text


@pytest.mark.parametrize(
    "text", [*UNPRINTABLE, *NO_SLUG, "chat", "a/b:", "a:b/c", "a/b:c:d", "a/..", "../a", "a/./b", "./a"]
)
def test_what_is_no_model_is_refused(text: str) -> None:
    """It goes into an address, so no part of it may lead elsewhere; and the message can be printed."""
    with pytest.raises(InputError) as refused:
        parse_model(text)
    assert "author/slug" in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("text", "route"), [("north-host", "north-host"), ("Host/FP8", "host/fp8"), ("a", "a")]
)
def test_a_route_is_a_tag_in_lower_case(text: str, route: str) -> None:
    """As the gateway wants it."""
    assert parse_route(text) == route


@pytest.mark.parametrize("text", [*UNPRINTABLE, *NO_SLUG])
def test_what_is_no_route_is_refused(text: str) -> None:
    """A tag is printed, stored and compared."""
    with pytest.raises(InputError) as refused:
        parse_route(text)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("text", "locale"), [("en", "en"), ("pt", "pt-BR"), ("zh", "zh-Hans"), ("sr-Latn-RS", "sr-Latn-RS")]
)
def test_an_alias_becomes_the_locale_that_it_means(text: str, locale: str) -> None:
    """Others are kept."""
    assert parse_locale(text) == Locale(locale)


@pytest.mark.parametrize("text", ["", "EN", "english", "pt-br", "en_US", "en\n", "e\ud800"])
def test_what_is_no_locale_is_refused(text: str) -> None:
    """Case matters: locales are compared as text."""
    with pytest.raises(InputError):
        parse_locale(text)
