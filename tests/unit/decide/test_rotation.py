"""In which locale is each route asked next?"""

from __future__ import annotations

from routecanary.decide.rotation import locales_for, round_locale
from routecanary.domain.names import Locale, RouteId
from tests.story import Story, a_report, a_story_with_suspended

LOCALES = [Locale("en"), Locale("pt-BR"), Locale("th")]
BAD = "language:fail"


def asked(story: Story, route: str = "a") -> str:
    return locales_for(story.state, LOCALES, [RouteId(route)])[RouteId(route)]


def test_rounds_take_the_locales_in_turn() -> None:
    """Round k uses locale k mod n, counting finished rounds."""
    story = Story()
    seen = []
    for number in range(5):
        seen.append(round_locale(story.state, LOCALES))
        story.round(f"{30 * number}m", {"a": "ok"}, locale=seen[-1])
    assert seen == ["en", "pt-BR", "th", "en", "pt-BR"]


def test_failed_locale_is_asked_again_until_it_passes() -> None:
    """A fail in one locale is not escaped by the rotation moving on."""
    story = Story()
    story.round("0m", {"a": BAD, "h": "ok"}, locale="en")
    assert (asked(story), asked(story, "h")) == ("en", "pt-BR")
    story.round("30m", {"a": a_report(BAD, locale="en"), "h": "ok"}, locale="pt-BR")
    assert asked(story) == "en"
    story.round("1h", {"a": a_report("ok", locale="en"), "h": "ok"}, locale="th")
    assert asked(story) == asked(story, "h") == "en"
    story.round("90m", {"a": "ok", "h": "ok"}, locale="en")
    assert asked(story) == "pt-BR"


def test_frozen_round_keeps_the_failed_locale() -> None:
    """Silence is no pass."""
    story = Story()
    story.round("0m", {"a": BAD, "h": "ok"}, locale="en")
    story.round("30m", {"a": a_report("transport", locale="en"), "h": "ok"}, locale="pt-BR")
    assert asked(story) == "en"


def test_pass_in_a_round_that_failed_otherwise_frees_the_locale() -> None:
    """The locale passed; another contract failed."""
    story = Story()
    story.round("0m", {"a": BAD, "h": "ok"}, locale="en")
    story.round("30m", {"a": a_report("structured:fail", locale="en"), "h": "ok"}, locale="pt-BR")
    assert asked(story) == "th"
    story.round("1h", {"a": "structured:fail", "h": "ok"}, locale="th")
    assert asked(story) == "en"


def test_end_of_the_streak_frees_the_locale() -> None:
    """By age or by a lift."""
    aged = Story()
    aged.round("0m", {"a": BAD, "h": "ok"}, locale="en")
    aged.round("6h1s", {"a": "none", "h": "ok"}, locale="pt-BR")
    assert asked(aged) == "th"
    lifted = a_story_with_suspended("a", fault=BAD)
    lifted.lift("1h", "a")
    assert asked(lifted) == "th"


def test_locale_that_is_no_longer_configured_is_not_asked() -> None:
    """The route rejoins the rotation."""
    story = Story()
    story.round("0m", {"a": BAD, "h": "ok"}, locale="fr")
    assert asked(story) == "pt-BR"


def test_unknown_route_joins_the_rotation() -> None:
    """A route without history is asked in the round's locale."""
    assert asked(Story(), "new") == "en"


def test_a_locale_that_was_asked_for_takes_no_turn() -> None:
    """Whoever is asked out of turn, the rotation goes on where it was."""
    story = Story()
    story.round("0m", {"a": "ok", "b": "ok"}, locale="en")
    assert locales_for(story.state, LOCALES, [RouteId("a")], out_of_turn=Locale("th")) == {"a": "th"}
    story.round("20m", {"a": "ok", "b": "none"}, locale="th", out_of_turn=True)
    assert (asked(story), story.state.rounds) == ("pt-BR", 2)


def test_a_failed_locale_goes_before_one_that_was_asked_for() -> None:
    """A pass elsewhere, out of turn, must not clear what failed."""
    story = Story()
    story.round("0m", {"a": BAD, "h": "ok"}, locale="en")
    routes = [RouteId("a"), RouteId("h")]
    assert locales_for(story.state, LOCALES, routes, out_of_turn=Locale("th")) == {"a": "en", "h": "th"}
