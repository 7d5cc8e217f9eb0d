"""Tags in `If-None-Match`: lists, weak ones, any, and what is none."""

from __future__ import annotations

import pytest

from routecanary.web.conditional import has_it

ETAG = '"a1"'


@pytest.mark.parametrize(
    "header",
    [
        '"a1"',
        'W/"a1"',
        "*",
        " * ",
        '"b", "a1"',
        '"b","a1"',
        'W/"b" , W/"a1"',
        ', ,"x",, "a1" ,',
        '"a,b", "a1"',
        '"", "a1"',
        '"é", "a1"',
    ],
)
def test_a_tag_that_is_named_is_had(header: str) -> None:
    """Comparison is weak, as for every GET."""
    assert has_it(header, ETAG)


@pytest.mark.parametrize(
    "header",
    [None, "", '"b"', "a1", '"a1', '"A1"', 'w/"a1"', '"b" "a1"', '"a1" x', "*, *", '"a1"b', '"x,"a1"', "W/*"],
)
def test_in_doubt_the_whole_is_sent(header: str | None) -> None:
    """Another tag, none, or what is no list of tags."""
    assert not has_it(header, ETAG)


def test_a_long_header_costs_no_more_than_its_length() -> None:
    """What nearly matches is not tried again and again."""
    assert not has_it('"x", ' * 10_000 + "x", ETAG)
    assert not has_it(" ," * 30_000 + "x", ETAG)
