"""The acts that make and end tokens: kept in the log, without what opens anything."""

from __future__ import annotations

from datetime import timedelta

import pytest

from routecanary.adapters.store.memory import MemoryStore
from routecanary.domain.operating import OperatingState
from routecanary.domain.secret import Secret
from routecanary.domain.token import Role, TokenState, digest_of
from routecanary.errors import InputError
from routecanary.rounds.fold import Fold
from routecanary.rounds.records import Records
from routecanary.rounds.tokens import create_token, mint, revoke_token, token_document
from tests.records import some_records, wait_until

HOUR = timedelta(hours=1)


def create(
    records: Records,
    name: str = "shop",
    *,
    secret: Secret | None = None,
    length: timedelta | None = None,
    reason: str | None = None,
) -> Secret:
    secret = secret or mint()
    create_token(records, name, Role.APP, secret=secret, length=length, actor="ada", reason=reason)
    return secret


def test_a_minted_token_has_its_form_and_never_comes_twice() -> None:
    """43 characters of base64url are 256 bits."""
    made = {mint().reveal() for _ in range(100)}
    assert len(made) == 100
    assert all(len(token) == 3 + 43 and token.startswith("rc_") for token in made)


def test_the_log_holds_the_digest_and_not_the_token() -> None:
    """Not even where the reason quotes it."""
    store = MemoryStore()
    records = some_records(store)
    secret = mint()
    create(records, secret=secret, reason=f"for {secret.reveal()}")
    (stored,) = store.read(kinds={"token_created"})
    assert stored.body["digest"] == digest_of(secret.reveal())
    assert secret.reveal() not in str(stored)


def test_a_name_is_taken_while_its_token_lives() -> None:
    """After its end, or its revocation, it may be given again."""
    records = some_records()
    create(records, length=HOUR)
    with pytest.raises(InputError, match="a living token has that name"):
        create(records)
    wait_until(records, "1h")
    create(records)
    assert revoke_token(records, "shop", actor="ada", reason=None) is not None
    create(records)
    now = records.clock.now()
    states = [token.state(now) for token in records.ledger.operating().tokens]
    assert states == [TokenState.EXPIRED, TokenState.REVOKED, TokenState.LIVING]


def test_revoking_what_does_not_live_changes_nothing() -> None:
    """Nothing is appended."""
    records = some_records()
    before = records.ledger.head()
    assert revoke_token(records, "shop", actor="ada", reason=None) is None
    assert records.ledger.head() == before


def test_another_process_sees_the_same_tokens() -> None:
    """The fold of the log is all that there is."""
    store = MemoryStore()
    records = some_records(store)
    create(records)
    create(records, "bar", length=HOUR)
    revoke_token(records, "shop", actor="ada", reason="left")
    fold = Fold(store)
    fold.catch_up()
    assert isinstance(fold.operating, OperatingState)
    assert fold.operating.tokens == records.ledger.operating().tokens


def test_a_description_opens_nothing() -> None:
    """Neither the token nor its digest is in it."""
    records = some_records()
    secret = create(records)
    (token,) = records.ledger.operating().tokens
    described = str(token_document(token, records.clock.now()))
    assert secret.reveal() not in described
    assert token.digest not in described
