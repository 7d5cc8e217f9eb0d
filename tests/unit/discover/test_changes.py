"""What changed between listings, and when a shrunken one is believed."""

from __future__ import annotations

import pytest

from routecanary.discover.changes import Belief, changes_between, weigh
from routecanary.domain.route import Listing
from tests.unit.discover.listings import a_listing, a_row, read

TEN = a_listing(*"abcdefghij")


def test_changes_name_what_came_what_went_and_what_differs() -> None:
    """Each part is sorted by tag, and a change says in which fields."""
    before = read(a_row("a"), a_row("b"), a_row("c"))
    after = read(a_row("d"), a_row("c"), a_row("b", status=-2, quantization="fp4"))
    changes = changes_between(before, after)
    assert [route.tag for route in changes.appeared] == ["d"]
    assert [route.tag for route in changes.vanished] == ["a"]
    assert [(change.after.tag, change.fields()) for change in changes.changed] == [
        ("b", ("quantizations", "status"))
    ]
    assert changes


def test_equal_listings_have_no_changes() -> None:
    """Also when they were taken at different times."""
    assert not changes_between(TEN, a_listing(*"jihgfedcba"))


def test_everything_appears_in_the_first_listing() -> None:
    """Before it there was nothing."""
    assert len(changes_between(None, TEN).appeared) == 10


def weighed(*listings: Listing, start: Listing | None = TEN) -> list[bool]:
    """Say of each listing in turn whether it is the one believed after it."""
    belief = Belief(believed=start)
    results = []
    for listing in listings:
        belief = weigh(belief, listing)
        results.append(belief.believed is listing)
    return results


def test_losing_half_is_believed_at_once() -> None:
    """More than half is doubted, half is not."""
    assert weighed(a_listing(*"abcde")) == [True]


def test_losing_more_than_half_needs_two_further_listings_that_agree() -> None:
    """The third in a row is believed."""
    shrunk = [a_listing(*"abcd") for _ in range(3)]
    assert weighed(*shrunk) == [False, False, True]


def test_an_empty_listing_needs_two_further_empty_ones() -> None:
    """Also when nothing was known before."""
    empty = [a_listing() for _ in range(3)]
    assert weighed(*empty) == [False, False, True]
    assert weighed(*empty, start=None) == [False, False, True]


def test_a_listing_that_does_not_agree_starts_the_count_anew() -> None:
    """Three shrunken listings that differ prove nothing."""
    assert weighed(*(a_listing(*tags) for tags in ("abcd", "abc", "abcd", "abcd", "abcd"))) == [
        False,
        False,
        False,
        False,
        True,
    ]


def test_a_whole_listing_ends_the_doubt() -> None:
    """Two shrunken ones, a whole one, then a shrunken one again: that one is the first of its row."""
    assert weighed(a_listing("a"), a_listing("a"), TEN, a_listing("a")) == [False, False, True, False]


def test_a_route_that_came_does_not_make_up_for_one_that_went() -> None:
    """Ten routes under ten new tags are ten lost ones."""
    assert weighed(a_listing(*"klmnopqrst")) == [False]


def test_what_was_believed_stays_while_another_is_doubted() -> None:
    """The doubted one is at hand for the alert."""
    doubted = a_listing("a")
    belief = weigh(Belief(believed=TEN), doubted)
    assert belief.believed is TEN
    assert belief.doubted is doubted


@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_models_are_doubted_by_the_same_rule(count: int) -> None:
    """Of one to three routes, the loss of more than half counts."""
    start = a_listing(*"abc"[:count])
    one = a_listing("a")
    assert weighed(one, start=start) == [count < 3]


def test_an_emptied_listing_that_was_believed_may_fill_again() -> None:
    """From nothing, anything is growth."""
    assert weighed(a_listing(), a_listing(), start=a_listing()) == [True, True]
    assert weighed(a_listing("a"), start=a_listing()) == [True]
