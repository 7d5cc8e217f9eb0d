"""Tokens: what is remembered of them, and for how long they open anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from routecanary.domain.operating import OperatingState, evolve_operating
from routecanary.domain.operation import TokenCreated, TokenRevoked
from routecanary.domain.redaction import HIDDEN, Redactor, looks_like_token, without_tokens
from routecanary.domain.token import (
    ENDED_KEPT,
    Role,
    TokenState,
    digest_of,
    parse_role,
    parse_token_name,
)
from routecanary.errors import InputError

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SHOWN = "rc_" + "aB3-_" * 8 + "xyz"


def created(name: str, at: datetime = AT, *, expires_at: datetime | None = None) -> TokenCreated:
    return TokenCreated(
        at=at, name=name, role=Role.APP, digest=digest_of(name), actor="ada", expires_at=expires_at
    )


def revoked(name: str, at: datetime) -> TokenRevoked:
    return TokenRevoked(at=at, name=name, digest=digest_of(name), actor="ada")


def folded(*events: TokenCreated | TokenRevoked) -> OperatingState:
    state = OperatingState()
    for event in events:
        state = evolve_operating(state, event)
    return state


def test_a_token_lives_until_its_end() -> None:
    """At the very instant of its end it opens nothing."""
    (token,) = folded(created("shop", expires_at=AT + HOUR)).tokens
    assert token.state(AT + HOUR - timedelta(microseconds=1)) is TokenState.LIVING
    assert token.state(AT + HOUR) is TokenState.EXPIRED


def test_revoking_ends_one_token_and_no_other() -> None:
    """By its digest: the next one of the same name is another."""
    again = TokenCreated(at=AT + HOUR, name="shop", role=Role.READ, digest=digest_of("new"), actor="ada")
    state = folded(created("shop"), created("bar"), revoked("shop", AT + HOUR), again)
    assert [(token.name, token.state(AT + 2 * HOUR)) for token in state.tokens] == [
        ("shop", TokenState.REVOKED),
        ("bar", TokenState.LIVING),
        ("shop", TokenState.LIVING),
    ]


def test_ended_tokens_are_forgotten_one_day_and_living_ones_never() -> None:
    """However many are made and revoked, the state stays small."""
    events: list[TokenCreated | TokenRevoked] = [created("stays")]
    for number in range(ENDED_KEPT + 20):
        events += [created(f"t{number}"), revoked(f"t{number}", AT)]
    tokens = folded(*events, created("last")).tokens
    assert len(tokens) == ENDED_KEPT + 2
    assert (tokens[0].name, tokens[1].name, tokens[-1].name) == ("stays", "t20", "last")


@pytest.mark.parametrize("name", ["", "-x", "a b", "a\n", "ä", "x" * 65, "../x", 'a"'])
def test_a_bad_name_is_refused(name: str) -> None:
    """With what was given and what is allowed."""
    with pytest.raises(InputError, match="not a name for a token"):
        parse_token_name(name)


def test_a_token_given_for_a_name_is_not_repeated() -> None:
    """Whoever pastes the wrong text does not find it in a log afterwards."""
    with pytest.raises(InputError) as caught:
        parse_token_name(SHOWN)
    assert SHOWN not in str(caught.value)


def test_an_unknown_role_is_refused() -> None:
    """The roles are named."""
    with pytest.raises(InputError, match="allowed: read, app, operator, admin"):
        parse_role("root")


def test_a_token_is_taken_out_of_any_text() -> None:
    """Bare, in a header, in JSON; what merely begins like one stays."""
    assert looks_like_token(SHOWN)
    for text in (SHOWN, f"Bearer {SHOWN}", json.dumps({"a": SHOWN})):
        assert SHOWN not in without_tokens(text)
        assert HIDDEN in Redactor()(text)
    assert without_tokens("rc_short and arc_" + "a" * 43) == "rc_short and arc_" + "a" * 43
