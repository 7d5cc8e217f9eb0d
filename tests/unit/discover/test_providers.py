"""Display names and slugs, from two sources."""

from __future__ import annotations

from routecanary.discover.providers import with_provider_names
from tests.unit.discover.listings import a_row, read

SLUGS = {
    "Google": "google-vertex",
    "Bedrock": "amazon-bedrock",
    "Claude on AWS": "amazon-bedrock/claude-on-aws",
}


def names(*rows: object) -> dict[str, frozenset[str]]:
    return {route.tag: route.provider_names for route in with_provider_names(read(*rows), SLUGS).routes}


def test_a_missing_name_is_found_by_the_longest_slug() -> None:
    """Some slugs have a slash themselves."""
    assert names(
        a_row("google-vertex/us-east5", provider_name=None),
        a_row("amazon-bedrock/us", provider_name=None),
        a_row("amazon-bedrock/claude-on-aws/us", provider_name=None),
        a_row("nobody/fp8", provider_name=None),
    ) == {
        "google-vertex/us-east5": {"Google"},
        "amazon-bedrock/us": {"Bedrock"},
        "amazon-bedrock/claude-on-aws/us": {"Claude on AWS"},
        "nobody/fp8": frozenset(),
    }


def test_agreement_is_not_noted() -> None:
    """The usual case changes nothing."""
    listing = read(a_row("google-vertex", provider_name="Google"))
    assert with_provider_names(listing, SLUGS) == listing


def test_where_the_sources_disagree_both_names_are_accepted_and_noted() -> None:
    """A doubt that voids every answer of a route needs more than a renamed company."""
    listing = with_provider_names(read(a_row("google-vertex", provider_name="Google Vertex")), SLUGS)
    assert listing.routes[0].provider_names == {"Google", "Google Vertex"}
    assert listing.notes == ("google-vertex: listed as Google Vertex, known as Google",)
