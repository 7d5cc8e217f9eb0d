"""Which rounds and acts does the log tell of?"""

from __future__ import annotations

from dataclasses import replace

from routecanary.domain.event import Checkpoint, Exclusions, Expired, RoundClosed
from routecanary.domain.names import LANGUAGE, Locale
from routecanary.domain.operation import Requalifying
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import Pause, Requalify, Round
from routecanary.rounds.history import lines_of
from tests.story import HEALTHY, MODEL, Story, a_report, a_story_with_suspended, moment

STRUCTURED = "structured:fail"


def a_trial(at: str, until: str) -> Requalifying:
    return Requalifying(at=moment(at), model=MODEL, contract=LANGUAGE, until=moment(until), version="2")


def test_a_round_is_read_back_as_it_was_told() -> None:
    """Verdicts, attempts, locales, layers, and whom an act touched."""
    story = Story()
    report = replace(a_report(STRUCTURED, locale="th"), attempts={LANGUAGE: (False, True, False)})
    told = story.round(
        "0m", {**HEALTHY, "a": report}, builtin=["p"], runtime=["h1"], acted=["h2"], locale="en",
        swallows={"p": ["h3"]},
    )  # fmt: skip
    (past,) = lines_of(told.events)
    assert isinstance(past.line, Round)
    assert past.in_full
    assert past.line.routes["a"] == replace(report, swallows=frozenset())  # type: ignore[index]
    assert (past.line.builtin, past.line.runtime, past.line.acted) == ({"p"}, {"h1"}, {"h2"})
    assert (past.line.locale, past.line.swallows) == (Locale("en"), {"p": {"h3"}})


def test_a_line_that_only_let_time_pass_does_so_again() -> None:
    """An act that finds nothing to change still ends what is due, at its own time."""
    story = a_story_with_suspended("a")
    told = story.resume("2d")
    assert told.all(Expired)
    (past,) = lines_of(told.events)
    assert past.line == Requalify(at=moment("2d"), model=MODEL, contracts=frozenset())
    again = a_story_with_suspended("a").tell(past.line)
    assert again.events == told.events


def test_a_requalification_that_found_nothing_is_known_by_its_trial() -> None:
    """Another policy may have gathered evidence that it clears; a version noted in passing clears nothing."""
    story = Story()
    story.round("0m", HEALTHY)
    told = story.requalify("1h", "language")
    assert [type(event) for event in told.events] == [Exclusions]
    for trial, contracts in (
        (a_trial("1h", "25h"), {LANGUAGE}),
        (a_trial("1h", "1h"), set()),
        (a_trial("59m", "25h"), set()),
    ):
        (past,) = lines_of([trial, *told.events])
        assert past.line == Requalify(at=moment("1h"), model=MODEL, contracts=frozenset(contracts))


def test_a_trial_beside_a_round_is_no_line() -> None:
    """The round speaks for itself, and leaves nothing over for the next line."""
    story = Story()
    told = story.round("1h", HEALTHY)
    more = story.pause("1h")
    again = story.pause("1h")
    past = list(lines_of([a_trial("1h", "25h"), *told.events, *more.events, *again.events]))
    assert [type(each.line) for each in past] == [Round, Pause, Requalify]
    assert past[-1].line == Requalify(at=moment("1h"), model=MODEL, contracts=frozenset())


def test_a_round_without_its_beginning_is_left_out() -> None:
    """What was pruned is not made up; the next round is whole."""
    story = Story()
    first, second = story.round("0m", HEALTHY), story.round("30m", HEALTHY)
    past = list(lines_of([*first.events[1:], *second.events]))
    assert [each.line.at for each in past] == [moment("30m")]


def test_a_checkpoint_is_no_line() -> None:
    """It stands between lines and says nothing new."""
    story = Story()
    told = story.round("0m", HEALTHY)
    checkpoint = Checkpoint(at=moment("0m"), model=MODEL, state=story.state)
    more = story.round("30m", HEALTHY)
    assert len(list(lines_of([*told.events, checkpoint, *more.events]))) == 2


def test_a_round_of_an_older_log_says_so() -> None:
    """Each verdict is then one attempt, and nobody is known to have been touched."""
    story = Story(Policy(trigger=Trigger.EVIDENCE))
    told = story.round("0m", {**HEALTHY, "a": replace(a_report(STRUCTURED), attempts={LANGUAGE: (True,)})})
    old = [
        RoundClosed(
            at=event.at,
            model=event.model,
            outcomes={
                name: replace(outcome, attempts={}, acted=False) for name, outcome in event.outcomes.items()
            },
        )
        if isinstance(event, RoundClosed)
        else event
        for event in told.events
    ]
    (past,) = lines_of(old)
    assert not past.in_full
    assert isinstance(past.line, Round)
    assert not past.line.routes["a"].attempts  # type: ignore[index]
