"""Messages: written with the events that caused them, addressed to every channel, free of secrets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.log import EMPTY_LOG, Head, StoredDraft
from routecanary.domain.names import LANGUAGE, ModelId, RouteId
from routecanary.domain.notice import NoticeKind, Phase, Severity
from routecanary.domain.operation import (
    AccountFault,
    AccountRestored,
    JudgeCrashed,
    Requalifying,
    RoundCrashed,
    operation_draft,
)
from routecanary.domain.outbox import Delivery
from routecanary.domain.policy import Policy
from routecanary.domain.redaction import HIDDEN, Redactor, secret_parts
from routecanary.domain.round import Lift, Line, Mode, SwitchMode
from routecanary.domain.secret import Secret
from routecanary.errors import HeadMovedError, StoreError
from routecanary.rounds.messages import MOST_LINES, message_to_json, messages_of, text_of
from routecanary.rounds.record import Ledger
from routecanary.rounds.wording import notice
from tests.story import HEALTHY, MODEL, START, a_round, moment

HOOK, COMMAND = "webhooks.ops", "on_event"
HEAD = Head(seq=41, hash="ab" * 32)
FAILING = {**HEALTHY, "alpha": "structured:fail"}


def a_ledger(store: MemoryStore, *channels: str, hide: Redactor = Redactor()) -> Ledger:  # noqa: B008
    return Ledger(store, Policy(), channels=channels, hide=hide)


def decide(ledger: Ledger, line: Line) -> None:
    ledger.decide(line.model, lambda _at, _acted: line, now=lambda: line.at)


def suspend(ledger: Ledger) -> None:
    for at in ("0m", "30m"):
        decide(ledger, a_round(at, FAILING))


def waiting(store: MemoryStore, channel: str = HOOK) -> list[Delivery]:
    """Claim everything that waits on a channel."""
    found = []
    span = timedelta(days=1)
    while delivery := store.claim(channel, moment("300d"), lease=span, horizon=span):
        found.append(delivery)
    return found


def test_every_channel_gets_its_copy_with_the_events() -> None:
    """One message for each channel, in the append of the round that suspended."""
    store = MemoryStore()
    suspend(a_ledger(store, HOOK, COMMAND))
    (for_hook,), (for_command,) = waiting(store, HOOK), waiting(store, COMMAND)
    assert for_hook.body == for_command.body
    assert for_hook.message == for_command.message
    assert for_hook.idempotency_key != for_command.idempotency_key
    told = json.loads(for_hook.body)
    assert told["sequence"] == store.head().seq
    assert [each["kind"] for each in told["notices"]] == ["suspended"]


def test_nobody_configured_costs_no_row() -> None:
    """Without a channel nothing waits for one."""
    store = MemoryStore()
    suspend(a_ledger(store))
    assert store.tally() == {}


def test_an_act_tells_as_a_round_does() -> None:
    """The same ledger writes the messages of whoever acts."""
    store = MemoryStore()
    suspend(a_ledger(store, HOOK))
    lift = Lift(at=moment("1h"), model=MODEL, route=RouteId("alpha"), actor="ada", reason="by mistake")
    decide(a_ledger(store, HOOK), lift)
    _, lifted = map(json.loads, (each.body for each in waiting(store)))
    assert lifted["text"] == (
        "acme/chat: alpha is back: its suspension was lifted; by ada; reason: by mistake; "
        "began at 2026-01-05T00:30:00Z"
    )


def test_a_second_ledger_tells_nothing_again() -> None:
    """What is open is in the log: whoever opens it knows what people were told."""
    store = MemoryStore()
    fault = AccountFault(at=START, model=MODEL, code="no_credit")
    for _ in range(3):
        a_ledger(store, HOOK).note(operation_draft(fault))
    assert len(waiting(store)) == 1


class Overtaken(MemoryStore):
    """A store in which somebody else always appends first, once."""

    def __init__(self, first: StoredDraft) -> None:
        super().__init__()
        self._first: StoredDraft | None = first

    def append(self, events: Sequence[StoredDraft], expected: Head, **more: object) -> Head:
        if self._first is not None:
            first, self._first = self._first, None
            super().append([first], expected)
            raise HeadMovedError("somebody was first")
        return super().append(events, expected, **more)  # type: ignore[arg-type]


def test_what_another_writer_told_is_not_told_again() -> None:
    """The notices are those of the head that the events are appended to."""
    fault = AccountFault(at=START, model=MODEL, code="no_credit")
    store = Overtaken(operation_draft(fault))
    a_ledger(store, HOOK).note(operation_draft(fault))
    assert [stored.kind for stored in store.read()] == ["account_fault", "account_fault"]
    assert waiting(store) == []


def test_a_failed_append_leaves_no_message() -> None:
    """No events, no message."""

    class Broken(MemoryStore):
        def append(self, events: Sequence[StoredDraft], expected: Head, **more: object) -> Head:
            raise StoreError("no room")

    store = Broken()
    with pytest.raises(StoreError):
        a_ledger(store, HOOK).note(operation_draft(AccountFault(at=START, model=MODEL, code="x")))
    assert store.tally() == {}


def test_operations_of_a_round_travel_with_its_notices() -> None:
    """One message a model and line, the round's own troubles in front."""
    store = MemoryStore()
    ledger = a_ledger(store, HOOK)
    decide(ledger, a_round("0m", FAILING))
    crash = JudgeCrashed(at=moment("30m"), model=MODEL, contract=LANGUAGE, error="x")
    line = a_round("30m", FAILING)
    ledger.decide(MODEL, lambda _at, _acted: line, now=lambda: line.at, operations=[crash])
    (message,) = map(json.loads, (each.body for each in waiting(store)))
    assert [each["kind"] for each in message["notices"]] == ["judge_crashed", "suspended"]
    assert message["severity"] == "critical"
    assert message["text"].startswith("acme/chat: 2 notices\n- the judge of language crashed")


def test_a_restart_behind_a_checkpoint_knows_what_is_open() -> None:
    """After days of rounds a new ledger has the same conditions and tells the end of what began before."""
    store = MemoryStore()
    ledger = a_ledger(store, HOOK)
    ledger.note(operation_draft(AccountFault(at=START, model=MODEL, code="no_credit")))
    ledger.note(operation_draft(AccountFault(at=START, model=ModelId("acme/other"), code="no_credit")))
    decide(ledger, SwitchMode(at=START, model=MODEL, mode=Mode.OBSERVE))
    for number in range(1, 120):
        decide(ledger, a_round(f"{30 * number}m", FAILING))
    assert store.count(kinds={"operating_checkpoint"}) == 2
    restarted = a_ledger(store, HOOK)
    assert restarted.conditions().known() == ledger.conditions().known()
    assert restarted.operating() == ledger.operating()
    assert restarted.state(MODEL) == ledger.state(MODEL)
    waiting(store)
    restarted.note(operation_draft(AccountRestored(at=moment("90d"), model=ModelId("acme/other"))))
    (message,) = map(json.loads, (each.body for each in waiting(store)))
    assert message["notices"][0]["facts"]["since"] == "2026-01-05T00:00:00Z"


KEY = "sk-or-v1-0123456789abcdef"
ADDRESS = Secret('https://hooks.example/services/T0K3NT0K3N?key=Qu3ry"T0K3N&x=%2Fa')


def test_no_secret_reaches_the_log_or_a_message() -> None:
    """Whatever an error quotes of a key or an address is taken out, of the event as of its notice."""
    store = MemoryStore()
    hide = Redactor([Secret(KEY), *secret_parts(ADDRESS)])
    ledger = a_ledger(store, HOOK, hide=hide)
    errors = [
        f"ValueError: bad header Bearer {KEY}",
        f"InvalidURL: {ADDRESS.reveal()}",
        "KeyError: 'Qu3ry\"T0K3N'",
        "no route to /services/T0K3NT0K3N",
    ]
    for number, error in enumerate(errors):
        model = ModelId(f"acme/m{number}")
        ledger.note(operation_draft(RoundCrashed(at=START, model=model, error=error)))
        decide(ledger, Lift(at=START, model=model, route=RouteId("a"), reason=error))
    decide(ledger, SwitchMode(at=START, model=MODEL, mode=Mode.OBSERVE))
    for at in ("0m", "30m"):
        decide(ledger, a_round(at, FAILING))
    decide(ledger, Lift(at=moment("1h"), model=MODEL, route=RouteId("alpha"), actor="ada", reason=KEY))
    kept = "".join(json.dumps(event.body) for event in store.read(kinds={"round_crashed"}))
    sent = "".join(each.body for each in waiting(store))
    for secret in (KEY, "T0K3N"):
        assert secret not in kept
        assert secret not in sent
    assert kept.count(HIDDEN) >= len(errors)
    assert f"reason: {HIDDEN}" in sent


@pytest.mark.parametrize(
    ("secrets", "text", "left"),
    [
        ([], "anything", "anything"),
        (["hunter"], "a hunter2", "a [secret]2"),
        (["short"], "a short word stays", "a short word stays"),
        (["abcdef", "abcdefgh"], "abcdefgh abcdef", "[secret] [secret]"),
        (['qu"ote\n'], json.dumps({"x": 'qu"ote\n'}), '{"x": "[secret]"}'),
        (["passwörd"], json.dumps("passwörd") + "passwörd", '"[secret]"[secret]'),
    ],
)
def test_a_secret_is_taken_out_in_every_form(secrets: list[str], text: str, left: str) -> None:
    """As it is, and as JSON writes it; a longer one goes before its part, and short words are words."""
    redactor = Redactor(map(Secret, secrets))
    assert redactor(text) == left
    assert not any(secret in repr(redactor) for secret in secrets)


def some_notices(count: int, model: ModelId | None = MODEL) -> list:
    told = notice(
        NoticeKind.ROUTE_STALE,
        Phase.OPENED,
        at=START,
        model=model,
        facts={},
        condition="stale:alpha",
        routes=[RouteId("alpha")],
    )
    return [replace(told, at=START + timedelta(seconds=number)) for number in range(count)]


def test_the_payload_field_by_field() -> None:
    """What docs/notices.md promises."""
    (message,) = messages_of(some_notices(1), after=HEAD, sequence=43)
    assert message_to_json(message) == {
        "format": 1,
        "id": message.id,
        "at": "2026-01-05T00:00:00Z",
        "sequence": 43,
        "model": "acme/chat",
        "severity": "warning",
        "shadow": False,
        "text": "acme/chat: alpha has given no evidence for a long time",
        "notices": [
            {
                "kind": "route_stale",
                "phase": "opened",
                "condition": "stale:alpha",
                "severity": "warning",
                "shadow": False,
                "at": "2026-01-05T00:00:00Z",
                "routes": ["alpha"],
                "text": "alpha has given no evidence for a long time",
                "facts": {},
            }
        ],
    }


def test_ids_are_of_the_append_and_the_model() -> None:
    """The same again is the same id; another head or another model is another."""
    (once,) = messages_of(some_notices(1), after=HEAD, sequence=43)
    (again,) = messages_of(some_notices(2), after=HEAD, sequence=44)
    (elsewhere,) = messages_of(some_notices(1), after=EMPTY_LOG, sequence=43)
    (of_nobody,) = messages_of(some_notices(1, model=None), after=HEAD, sequence=43)
    assert once.id == again.id
    assert len({once.id, elsewhere.id, of_nobody.id}) == 3
    assert text_of(of_nobody).startswith("routecanary: ")


def test_a_long_message_is_cut_for_people_only() -> None:
    """The text ends with how many are left out; the list of notices is whole."""
    (message,) = messages_of(some_notices(100), after=HEAD, sequence=43)
    lines = text_of(message).splitlines()
    assert lines[0] == "acme/chat: 100 notices"
    assert lines[-1] == f"- and {100 - MOST_LINES} more"
    assert len(message_to_json(message)["notices"]) == 100


def test_a_message_is_as_severe_as_its_worst_notice() -> None:
    """And a shadow only if all of it is."""
    (plain,) = some_notices(1)
    shadow = replace(plain, shadow=True, severity=Severity.INFO)
    (mixed,) = messages_of([shadow, plain], after=HEAD, sequence=1)
    (shadows,) = messages_of([shadow], after=HEAD, sequence=1)
    assert (mixed.severity, mixed.shadow) == (Severity.WARNING, False)
    assert (shadows.severity, shadows.shadow) == (Severity.INFO, True)


def test_channels_can_be_replaced() -> None:
    """From the next line on others are told."""
    store = MemoryStore()
    ledger = a_ledger(store, HOOK)
    ledger.replace_channels([COMMAND], Redactor([Secret("no_credit")]))
    ledger.note(operation_draft(AccountFault(at=START, model=MODEL, code="no_credit")))
    assert waiting(store, HOOK) == []
    (told,) = waiting(store, COMMAND)
    assert "no_credit" not in told.body


def test_a_trial_of_all_models_is_a_message_of_its_own() -> None:
    """What is of no single model is told under the canary's own name."""
    store = MemoryStore()
    later: datetime = moment("1d")
    a_ledger(store, HOOK).note(
        operation_draft(Requalifying(at=START, contract=LANGUAGE, until=later, version="2")),
        operation_draft(AccountFault(at=START, model=MODEL, code="x")),
    )
    assert [json.loads(each.body)["model"] for each in waiting(store)] == [None, "acme/chat"]
