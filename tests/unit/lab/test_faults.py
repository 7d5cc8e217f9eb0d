"""What each fault does to an answer."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from random import Random
from typing import Any

import jsonschema
import pytest

from routecanary.domain.names import CONTRACT_NAMES, Locale
from routecanary.errors import InputError
from routecanary.lab.fault import TRIAGE, UNSEEN, defaults
from routecanary.lab.faults import FAULT_NAMED, FAULTS, TRANSPORT_FAULTS
from routecanary.lab.host import PlantedFault
from routecanary.lab.phrases import book_for
from routecanary.lab.plan import PlannedAnswer
from routecanary.lab.stream import EndingMode
from tests.lab import CARD, SCENES, a_body, a_card_body, a_route, an_answer, payloads, struck

FILTER_SCENE = SCENES["en"].replace("between single asterisks", "in one sentence")


def sound(body: dict[str, Any] | None = None, *, number: int = 0) -> str:
    return an_answer(a_route("north-host"), body, number=number).planned.text


def test_faults_have_one_name_and_one_way_to_strike() -> None:
    """Names are unique; each row changes exactly one value, or stands for others; each says who sees what."""
    assert len(FAULT_NAMED) == len(FAULTS)
    for fault in FAULTS:
        ways = [fault.on_answer, fault.on_stream, fault.on_wire, fault.stands_for]
        assert sum(way is not None for way in ways) == 1, fault.name
        assert fault.seen_by
        assert set(fault.seen_by) <= {*CONTRACT_NAMES, TRIAGE, UNSEEN}
        assert fault.seen_by in ((TRIAGE,), (UNSEEN,)) or not {TRIAGE, UNSEEN} & set(fault.seen_by)
        assert fault.gives
        assert all(verdict == "pass" or ":" in verdict for verdict in fault.gives)
        assert fault.does.endswith(".")
        for key, parameter in fault.parameters.items():
            assert defaults(fault)[key] == parameter.default


def test_a_spoiled_start_hides_the_asked_opening() -> None:
    """Every way to spoil a start leaves something before, or in place of, the first character."""
    for number in range(30):
        clean, text = sound(number=number), struck("spoiled_start", number=number).planned.text
        assert not text.startswith("*")
        assert text.endswith(clean[1:])


@pytest.mark.parametrize(("way", "lost"), [("mark", 0), ("piece", 0), ("swallowed", 1)])
def test_the_way_to_spoil_a_start_can_be_chosen(way: str, lost: int) -> None:
    """Only `swallowed` takes the first letter away."""
    text = struck("spoiled_start", **{"with": way}).planned.text
    assert text.endswith(sound()[lost:])
    assert text.endswith(sound()) is (lost == 0)


def test_mixing_goes_on_inside_sentences() -> None:
    """Clauses alternate within sentences, and at least 35 % of the words stand in Spanish ones."""
    spanish, portuguese = (book_for(Locale(locale)) for locale in ("es", "pt-BR"))
    for number in range(40):
        planned = struck("pt_es_mixing", a_body(SCENES["pt-BR"]), number=number).planned
        foreign = total = 0
        for line in itertools.chain.from_iterable(planned.draft.paragraphs):
            pair = zip(
                portuguese.texts[line.group][line.index], spanish.texts[line.group][line.index], strict=True
            )
            said = [said_clause(own, other, planned) for own, other in pair]
            assert len(set(said)) == 2, "a sentence in one language"
            for own, language in zip(portuguese.texts[line.group][line.index], said, strict=True):
                total += len(own.split())
                foreign += len(own.split()) if language == "es" else 0
        assert 0.35 <= foreign / total <= 0.65


def said_clause(own: str, other: str, planned: PlannedAnswer) -> str:
    """Tell in which language a clause was said."""
    first, second = planned.draft.names if planned.draft else ("", "")
    found = {}
    for language, clause in (("pt", own), ("es", other)):
        text = clause.replace("{a}", first).replace("{b}", second).replace("{object}", "a corda")
        found[language] = text.strip().lower() in planned.text.lower()
    assert any(found.values())
    return "es" if found["es"] else "pt"


@pytest.mark.parametrize("locale", ["en", "th"])
def test_mixing_leaves_other_languages_alone(locale: str) -> None:
    """The fault strikes nothing where neither Portuguese nor Spanish is asked for."""
    answer = struck("pt_es_mixing", a_body(SCENES[locale]))
    assert answer.hand.struck == []
    assert answer.planned.text == sound(a_body(SCENES[locale]))


def test_another_language_takes_the_whole_scene() -> None:
    """The text is the same draft in a language that was not asked for."""
    thai = struck("wrong_language", locale="th").planned.text
    assert sum("\u0e00" <= letter <= "\u0e7f" for letter in thai) > 400
    assert struck("wrong_language", locale="en").hand.struck == []


def test_the_first_text_comes_late_and_comments_come_meanwhile() -> None:
    """The stream opens at once, keep-alives go on, and nothing visible comes before the delay."""
    answer = struck("slow_first_text", delay_seconds=12.0, spread=0.0)
    pieces = answer.wire().pieces
    visible = [
        piece.at for piece in pieces if b'"content":"' in piece.data and b'"content":""' not in piece.data
    ]
    assert pieces[0].at == 0
    assert min(visible) == 12.0
    assert sum(piece.data.startswith(b":") for piece in pieces) == 4
    assert struck("slow_first_text", delay_seconds=0.0).hand.struck == []


def test_a_late_answer_of_exact_length_ends_later_by_the_delay() -> None:
    """With `answer_seconds`, the time after the first text stays what it was."""
    slow = PlantedFault(fault="slow_first_text", parameters={"delay_seconds": 12.0, "spread": 0.0})
    pace = {"pace": a_route().pace.__class__(first_text_seconds=0.2, first_text_spread=0, answer_seconds=1.0)}
    assert an_answer(a_route("maple", **pace)).wire().pieces[-1].at == pytest.approx(1.0)
    assert an_answer(a_route("maple", slow, **pace)).wire().pieces[-1].at == pytest.approx(12.8)


def test_refusals_come_in_three_ways_and_for_filter_questions_only() -> None:
    """In words in the prompt's language, in the refusal field, or as content_filter without text."""
    body = a_body(FILTER_SCENE)
    said = struck("filtering_refusal", body, **{"with": "text"}).planned
    assert said.text in book_for(Locale("en")).refusals
    assert said.finish == "stop"
    field = struck("filtering_refusal", body, **{"with": "refusal_field"}).wire()
    assert any(c["delta"].get("refusal") for frame in payloads(field) for c in frame["choices"])
    silent = struck("filtering_refusal", body, **{"with": "content_filter"})
    finishes = [choice["finish_reason"] for frame in payloads(silent.wire()) for choice in frame["choices"]]
    assert finishes[-1] == "content_filter"
    assert silent.planned.text == ""
    assert struck("filtering_refusal").hand.struck == []


def test_a_schema_break_is_json_and_does_not_validate() -> None:
    """The answer still parses, which is what makes it a broken promise and not noise."""
    for number in range(20):
        document = json.loads(struck("schema_break", a_card_body(), number=number).planned.text)
        assert not jsonschema.Draft202012Validator(CARD).is_valid(document)
    assert struck("schema_break").hand.struck == []


def test_a_fence_wraps_a_valid_document() -> None:
    """Inside the fence stands what a sound host would have said."""
    text = struck("fenced_json", a_card_body()).planned.text
    assert text == f"```json\n{sound(a_card_body())}\n```"
    assert struck("fenced_json").hand.struck == []


def test_flaky_chooses_among_the_faults_it_is_given() -> None:
    """Only listed faults strike, and only those that have something to spoil in this answer."""
    seen: Counter[str] = Counter()
    for number in range(60):
        answer = struck(
            "flaky",
            a_card_body(),
            number=number,
            of=("fenced_json", "schema_break", "cut_stream"),
        )
        answer.wire()
        seen.update(answer.hand.struck)
    assert set(seen) == {"fenced_json", "schema_break", "cut_stream"}
    for number in range(10):
        assert struck("flaky", number=number).hand.struck == ["spoiled_start"]


def test_a_rate_limit_is_the_providers_and_says_so() -> None:
    """429 with the shared pool as its source, the provider's name, and when to come again."""
    problem = struck("rate_limit_shared_pool", retry_after_seconds=7.0).planned.problem
    assert problem.status == 429
    assert problem.headers == {"Retry-After": "7"}
    assert problem.metadata["limit_source"] == "upstream_provider_shared_pool"
    assert problem.metadata["provider_name"] == "North Host"
    assert problem.body()["error"]["code"] == 429


@pytest.mark.parametrize("how", ["clean", "reset"])
@pytest.mark.parametrize("after", [0.0, 0.5, 1.0])
def test_a_cut_stream_has_neither_finish_nor_end(how: str, after: float) -> None:
    """Some text came, no finish reason and no [DONE] did, and the connection is left as chosen."""
    answer = struck("cut_stream", after=after, how=how)
    wire = answer.wire()
    assert wire.ending is EndingMode(how)
    assert b"[DONE]" not in wire.pieces[-1].data
    choices = [choice for frame in payloads(wire) for choice in frame["choices"]]
    assert all(choice["finish_reason"] is None for choice in choices)
    assert any(choice["delta"]["content"] for choice in choices)
    assert answer.hand.struck == ["cut_stream"]


def test_an_empty_answer_cannot_be_cut_within_its_text() -> None:
    """Where there is no text, nothing strikes."""
    route = a_route(
        "north-host",
        PlantedFault(fault="filtering_refusal", parameters={"with": "content_filter"}),
        PlantedFault(fault="cut_stream"),
    )
    answer = an_answer(route, a_body(FILTER_SCENE))
    answer.wire()
    assert answer.hand.struck == ["filtering_refusal"]


def test_another_provider_shows_its_name_on_every_chunk() -> None:
    """The display name is that of another provider of the model, or the one given."""
    frames = payloads(struck("wrong_provider").wire())
    assert {frame["provider"] for frame in frames} <= {"Maple", "Dear"}
    named = payloads(struck("wrong_provider", served_by="Somebody").wire())
    assert {frame["provider"] for frame in named} == {"Somebody"}
    alone = an_answer(a_route("north-host", PlantedFault(fault="wrong_provider")))
    assert alone.planned.provider == "Elsewhere"
    assert struck("wrong_provider", served_by="North Host").hand.struck == []


def test_transport_faults_exist() -> None:
    """What befalls healthy routes by chance is in the registry and seen by triage."""
    for name in TRANSPORT_FAULTS:
        assert FAULT_NAMED[name].seen_by == (TRIAGE,)


@pytest.mark.parametrize(
    ("fault", "key", "value"),
    [
        ("slow_first_text", "delay_seconds", -1),
        ("slow_first_text", "delay_seconds", True),
        ("slow_first_text", "delay_seconds", "soon"),
        ("slow_first_text", "delay_seconds", float("nan")),
        ("spoiled_start", "with", "glue"),
        ("spoiled_start", "with", ["mark"]),
        ("wrong_provider", "served_by", 7),
        ("wrong_provider", "served_by", "x" * 201),
        ("flaky", "of", []),
        ("flaky", "of", "fenced_json"),
        ("flaky", "of", ["flaky"]),
        ("flaky", "of", [["fenced_json"]]),
    ],
)
def test_a_parameter_out_of_range_is_refused(fault: str, key: str, value: object) -> None:
    """Each parameter names what it takes."""
    with pytest.raises(InputError, match="allowed"):
        FAULT_NAMED[fault].parameters[key].read(value)


def test_chance_is_seeded() -> None:
    """The same fault on the same answer strikes in the same way."""
    one, two = struck("spoiled_start", number=4), struck("spoiled_start", number=4)
    assert one.planned.text == two.planned.text
    assert Random(1).random() == Random(1).random()
