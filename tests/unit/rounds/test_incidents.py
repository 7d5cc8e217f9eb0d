"""Suspensions as a person sees them: their outlines, their labels and their stories."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routecanary.domain.exclusion import RuntimeEntry
from routecanary.domain.names import STRUCTURED, ContractName, ModelId, RouteId
from routecanary.domain.policy import Policy, Trigger
from routecanary.domain.round import Lift, Mode, SwitchMode
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.rounds.act import act, exclude
from routecanary.rounds.incidents import INCIDENT_KINDS, Incident, incidents_of, tally
from routecanary.rounds.labels import Judgement, Label, label_draft
from routecanary.rounds.records import Records
from routecanary.rounds.retention import prune
from routecanary.rounds.story import Story, story_of
from tests.conformance.stored import a_transcript
from tests.records import some_records, tell_round
from tests.story import HEALTHY, MODEL, a_report, a_round, moment

A = RouteId("a")
FAIL = {"a": "structured:fail", **HEALTHY}
CLEAN = {"a": "ok", **HEALTHY}


def incidents(records: Records) -> tuple[Incident, ...]:
    return incidents_of(records.store.read(kinds=INCIDENT_KINDS))


def suspended(mode: Mode = Mode.ENFORCE) -> Records:
    """Make a model of which route `a` was suspended at 30m."""
    records = some_records(initial_mode=mode)
    if mode is Mode.OBSERVE:
        act(records, SwitchMode(at=moment("0m"), model=MODEL, mode=mode))
    for at in ("1m", "30m"):
        tell_round(records, at, FAIL)
    return records


def lift(records: Records, at: str, *, false_positive: bool = False, reason: str | None = "r") -> None:
    act(
        records,
        Lift(at=moment(at), model=MODEL, route=A, false_positive=false_positive, actor="ada", reason=reason),
    )


def label(records: Records, incident: int, judgement: Judgement, actor: str = "ada") -> None:
    records.ledger.note(
        label_draft(
            Label(
                at=records.clock.now(),
                incident=incident,
                model=MODEL,
                route=A,
                judgement=judgement,
                actor=actor,
                reason="looked at it",
            )
        )
    )


def test_an_incident_in_force_has_no_end() -> None:
    """Its id is the number of the event that began it."""
    records = suspended()
    (incident,) = incidents(records)
    (event,) = records.store.read(kinds={"suspended"})
    assert incident == Incident(
        id=event.seq,
        model=MODEL,
        route=A,
        began_at=moment("30m"),
        until=moment("1d30m"),
        contracts=frozenset({ContractName("structured")}),
        offence=1,
    )


def test_an_incident_ends_by_recovery_expiry_lift_or_mode() -> None:
    """An expiry is dated when it was due; a later suspension of the route is another incident."""
    records = suspended()
    for at in ("1h", "90m"):
        tell_round(records, at, CLEAN)
    for at in ("2h", "150m"):
        tell_round(records, at, FAIL)
    lift(records, "3h")
    for at in ("4h", "5h"):
        tell_round(records, at, FAIL)
    tell_round(records, "20d", HEALTHY)
    for at in ("20d1h", "20d2h"):
        tell_round(records, at, FAIL)
    act(records, SwitchMode(at=moment("20d3h"), model=MODEL, mode=Mode.OBSERVE))
    ends = [(incident.ended_by, incident.ended_at) for incident in incidents(records)]
    assert ends == [
        ("reinstated", moment("90m")),
        ("lifted", moment("3h")),
        ("expired", moment("7d5h")),
        ("closed_by_mode", moment("20d3h")),
    ]


def test_a_renewal_is_the_same_incident() -> None:
    """It goes on, with another end."""
    records = suspended()
    tell_round(records, "1d20m", FAIL)
    tell_round(records, "1d50m", FAIL)
    (incident,) = incidents(records)
    assert (incident.renewals, incident.until, incident.ended_at) == (1, moment("4d50m"), None)


def test_a_lift_as_a_false_positive_marks_the_incident_wrong() -> None:
    """Who and why are those of the lift; a mark by hand replaces it."""
    records = suspended()
    lift(records, "1h", false_positive=True)
    (incident,) = incidents(records)
    assert incident.label is not None
    assert (incident.label.judgement, incident.label.actor) == (Judgement.WRONG, "ada")
    label(records, incident.id, Judgement.RIGHT, actor="bob")
    (incident,) = incidents(records)
    assert incident.label is not None
    assert (incident.label.judgement, incident.label.actor) == (Judgement.RIGHT, "bob")


def test_a_plain_lift_marks_nothing() -> None:
    """That it was ended does not say that it was wrong."""
    records = suspended()
    lift(records, "1h")
    assert incidents(records)[0].label is None


def test_the_last_mark_of_a_shadow_holds() -> None:
    """In observe mode marks are the evidence on which to enforce."""
    records = suspended(Mode.OBSERVE)
    (incident,) = incidents(records)
    assert incident.shadow
    label(records, incident.id, Judgement.WRONG)
    label(records, incident.id, Judgement.RIGHT)
    label(records, 9999, Judgement.WRONG)
    counts = tally(incidents(records))
    assert (counts.incidents, counts.right, counts.wrong, counts.unlabelled) == (1, 1, 0, 0)
    assert counts.share == 0.0
    assert counts.interval(0.95) == pytest.approx((0.0, 0.975))


def test_the_share_of_wrong_ones_counts_what_is_marked() -> None:
    """What nobody marked says nothing."""
    outline = incidents(suspended())[0]
    marked = [
        Incident(
            **{name: getattr(outline, name) for name in Incident.__slots__ if name != "label"},
            label=Label(
                at=moment("1h"),
                incident=outline.id,
                model=MODEL,
                route=A,
                judgement=judgement,
                actor="ada",
                reason="r",
            ),
        )
        for judgement in [Judgement.WRONG] + 9 * [Judgement.RIGHT]
    ]
    counts = tally([*marked, outline, outline])
    assert (counts.incidents, counts.unlabelled, counts.share) == (12, 2, 0.1)
    assert counts.interval(0.95) == pytest.approx((0.0025, 0.4450), abs=5e-5)
    assert tally([outline]).share is None
    assert tally([outline]).interval(0.95) == (0.0, 1.0)


def test_an_incident_whose_beginning_was_pruned_begins_with_its_renewal() -> None:
    """It is not lost, and its end finds it."""
    records = suspended()
    tell_round(records, "1d20m", FAIL)
    tell_round(records, "1d50m", FAIL)
    whole = list(records.store.read(kinds=INCIDENT_KINDS))
    (incident,) = incidents_of(whole[1:])
    assert (incident.id, incident.began_at, incident.renewals) == (whole[1].seq, moment("1d50m"), 0)
    assert incidents_of(whole[2:]) == ()


# Stories


def with_evidence(records: Records, at: str, *attempts: str) -> None:
    """Make a round in which `a` fails, and keep what its attempts said."""
    records.clock.advance(moment(at) - records.clock.now())  # type: ignore[attr-defined]
    line = a_round(at, FAIL)
    packed = [
        records.store.pack(
            a_transcript(model=MODEL, route=A, attempt=number),
            at=moment(at),
            verdicts={
                ContractName("structured"): Verdict(
                    contract=ContractName("structured"), kind=VerdictKind(said), detail=f"{at} {number}"
                )
            },
        )
        for number, said in enumerate(attempts)
    ]
    records.ledger.decide(MODEL, lambda _at, _acted: line, now=records.clock.now, transcripts=packed)


def a_long_story() -> Records:
    """Tell of an earlier streak that came to nothing, then of one that was suspended, and its end."""
    records = some_records()
    with_evidence(records, "0m", "fail", "fail")
    tell_round(records, "30m", CLEAN)
    with_evidence(records, "1h", "fail", "pass", "fail")
    tell_round(records, "90m", {"a": "transport", **HEALTHY, "h1": "structured:fail"})
    with_evidence(records, "2h", "fail", "fail")
    tell_round(records, "150m", CLEAN)
    for target in ("h2", "a"):
        exclude(
            records,
            RuntimeEntry(target=target, models=None, reason="r", actor="ada", created=records.clock.now()),
        )
    lift(records, "160m", false_positive=True)
    label(records, incidents(records)[0].id, Judgement.RIGHT)
    tell_round(records, "3h", CLEAN)
    return records


def the_story(records: Records) -> Story:
    return story_of(records.store, incidents(records)[0])


def test_a_story_begins_with_the_first_failed_round_of_its_streak() -> None:
    """And ends with its suspension: what was before and came after is not told."""
    story = the_story(a_long_story())
    assert [(each.at, each.outcome.round_class) for each in story.rounds] == [
        (moment("1h"), "failed"),
        (moment("90m"), "frozen"),
        (moment("2h"), "failed"),
        (moment("150m"), "clean"),
    ]
    assert [each.at for each in story.evidence] == [moment("1h"), moment("90m"), moment("2h")]


def test_a_story_has_every_attempt_of_its_rounds() -> None:
    """In the order of asking, with what each contract said."""
    story = the_story(a_long_story())
    told = [
        [entry.verdicts[ContractName("structured")].detail for entry in each.attempts]
        for each in story.rounds
    ]
    assert told == [["1h 0", "1h 1", "1h 2"], [], ["2h 0", "2h 1"], []]


def test_a_story_tells_how_the_peers_did_in_the_same_rounds() -> None:
    """By contract of the incident, the route itself aside."""
    story = the_story(a_long_story())
    (peers,) = (each.peers for each in story.rounds if each.at == moment("90m"))
    assert peers == {
        "structured": {"h1": "fail", "h2": "pass", "h3": "pass", "h4": "pass"},
    }


def test_a_story_repeats_what_touched_the_route() -> None:
    """Suspension, exclusion, lift and mark; nothing of other routes, and no bookkeeping."""
    story = the_story(a_long_story())
    assert [stored.kind for stored in story.events] == [
        "suspended",
        "exclusion_added",
        "lifted",
        "incident_labelled",
    ]
    assert story.events[1].body["target"] == "a"


def test_a_story_of_another_model_is_not_told() -> None:
    """Events of other models stay out, whatever their routes are called."""
    records = some_records()
    other = ModelId("other/model")
    act(records, SwitchMode(at=moment("0m"), model=other, mode=Mode.OBSERVE))
    for at in ("0m", "30m"):
        tell_round(records, at, FAIL)
        act(records, SwitchMode(at=moment(at), model=other, mode=Mode.ENFORCE))
    assert {stored.model for stored in the_story(records).events} == {MODEL}


def test_a_story_whose_rounds_were_pruned_tells_what_is_left() -> None:
    """The suspension itself, if nothing else."""
    records = suspended()
    (incident,) = incidents(records)
    tell_round(records, "200d", CLEAN)
    prune(records, now=records.clock.now(), actor="ada", reason="r")
    story = story_of(records.store, incident)
    assert story.evidence == ()


def test_a_story_of_evidence_begins_where_the_attempts_began_to_add_up() -> None:
    """A route that fails one attempt in three has no streak; every round that was weighed is told."""
    records = some_records(
        policy=Policy(trigger=Trigger.EVIDENCE, false_suspensions_per_year=100.0, p1_min=0.3)
    )
    passing = replace(a_report("ok"), attempts={STRUCTURED: (False,) * 30})
    flaky = replace(a_report("ok"), attempts={STRUCTURED: (True, False, False)})
    for number in range(30):
        tell_round(records, f"{number * 30}m", {**HEALTHY, "a": passing if number < 3 else flaky})
    (incident,) = incidents(records)
    story = the_story(records)
    assert story.rounds[0].at == moment("90m")
    assert [each.at for each in story.evidence] == [
        each.at for each in story.rounds if each.at <= incident.began_at
    ]
    assert len(story.evidence) > 2
    assert all(each.tries[STRUCTURED][A] == (True, False, False) for each in story.evidence)
