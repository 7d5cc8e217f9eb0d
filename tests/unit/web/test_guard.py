"""Who may do what: by role, by token, and while the store is away."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from routecanary.adapters.store.sqlite import SqliteStore
from routecanary.domain.secret import Secret
from routecanary.domain.settings import Settings
from routecanary.domain.token import (
    ACTORS,
    ADMINS,
    EVERYBODY,
    READERS,
    SENDERS,
    Role,
    Token,
    digest_of,
)
from routecanary.rounds.tokens import create_token, mint, revoke_token
from routecanary.web.guard import Admitted, Denied, Guard
from routecanary.web.token_watch import TokenWatch, watched_tokens
from tests.records import some_records

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SHOWN = {role: mint().reveal() for role in Role}


class Headers:
    """Headers as a request has them."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {name.lower(): value for name, value in headers.items()}

    def get(self, name: str, /) -> str | None:
        return self._headers.get(name.lower())


def bearer(token: str) -> Headers:
    return Headers({"authorization": f"Bearer {token}"})


def a_token(role: Role, *, expires_at: datetime | None = None) -> Token:
    return Token(
        name=role.value,
        role=role,
        digest=digest_of(SHOWN[role]),
        created_at=AT,
        actor="ada",
        expires_at=expires_at,
    )


def a_guard(now: datetime = AT, *, expires_at: datetime | None = None) -> Guard:
    guard = Guard(lambda: now)
    guard.replace(a_token(role, expires_at=expires_at) for role in Role)
    return guard


@pytest.mark.parametrize(
    ("roles", "admitted"),
    [
        (EVERYBODY, "read app operator admin"),
        (SENDERS, "app operator admin"),
        (READERS, "read operator admin"),
        (ACTORS, "operator admin"),
        (ADMINS, "admin"),
    ],
)
def test_each_role_may_what_the_table_says(roles: frozenset[Role], admitted: str) -> None:
    """Whoever may not is told who might: 403, for it is known who asks."""
    guard = a_guard()
    for role in Role:
        found = guard.admit(bearer(SHOWN[role]), roles)
        if role.value in admitted.split():
            assert isinstance(found, Admitted)
            assert found.actor == f"token {role.value}"
        else:
            assert isinstance(found, Denied)
            assert found.status == 403
            assert found.headers == {}


def test_who_shows_nothing_is_asked_for_a_token() -> None:
    """401 with a challenge; where none is needed, nobody is asked."""
    guard = a_guard()
    denied = guard.admit(Headers({}), EVERYBODY)
    assert isinstance(denied, Denied)
    assert (denied.status, denied.headers) == (401, {"WWW-Authenticate": 'Bearer realm="routecanary"'})
    assert guard.admit(Headers({}), EVERYBODY, anonymous=True) == Admitted(token=None)
    assert guard.admit(Headers({"x-routecanary-token": ""}), EVERYBODY) == denied  # as from an unset variable
    assert guard.wrong == 0


@pytest.mark.parametrize(
    "shown",
    ["rc_", "x" * 100_000, SHOWN[Role.ADMIN][:-1], SHOWN[Role.ADMIN] + "x", "\ud800", "0" * 64],
    ids=["prefix", "endless", "cut", "longer", "half a pair", "nobody"],
)
def test_a_wrong_token_opens_nothing_and_is_counted(shown: str) -> None:
    """It is not repeated in the refusal; on what everybody may see it does no harm."""
    guard = a_guard()
    denied = guard.admit(bearer(shown), EVERYBODY)
    assert isinstance(denied, Denied)
    assert denied.status == 401
    assert shown not in denied.message.split()
    assert isinstance(guard.admit(bearer(shown), EVERYBODY, anonymous=True), Admitted)
    assert guard.wrong == 2


def test_our_own_header_goes_first_and_may_be_the_only_one() -> None:
    """In a proxy `Authorization` is the caller's key for the gateway."""
    guard = a_guard()
    both = Headers({"X-Routecanary-Token": SHOWN[Role.APP], "Authorization": "Bearer sk-or-v1-abc"})
    assert isinstance(guard.admit(both, SENDERS), Admitted)
    assert isinstance(guard.admit(both, SENDERS, own_only=True), Admitted)
    denied = guard.admit(bearer(SHOWN[Role.APP]), SENDERS, own_only=True)
    assert isinstance(denied, Denied)
    assert "X-Routecanary-Token" in denied.message


def test_a_token_ends_by_the_clock() -> None:
    """Without anybody reading the store anew."""
    assert isinstance(
        a_guard(expires_at=AT + timedelta(seconds=1)).admit(bearer(SHOWN[Role.APP]), SENDERS), Admitted
    )
    ended = a_guard(expires_at=AT)
    assert isinstance(ended.admit(bearer(SHOWN[Role.APP]), SENDERS), Denied)
    assert not ended.living()


def test_before_the_first_reading_nobody_is_known() -> None:
    """That is our trouble and not the caller's: 503, and it may try again."""
    denied = Guard(lambda: AT).admit(bearer(SHOWN[Role.APP]), SENDERS)
    assert isinstance(denied, Denied)
    assert denied.status == 503


def settings_in(folder: Path) -> Settings:
    return Settings(store_path=str(folder / "events.sqlite3"), snapshot_path=str(folder / "snapshot.json"))


def make(path: str, name: str, secret: Secret) -> None:
    with SqliteStore(Path(path)) as store:
        create_token(
            some_records(store), name, Role.APP, secret=secret, length=None, actor="ada", reason=None
        )


def is_admitted(guard: Guard, secret: Secret) -> bool:
    return isinstance(guard.admit(bearer(secret.reveal()), SENDERS), Admitted)


def test_a_store_that_was_never_there_holds_no_token(tmp_path: Path) -> None:
    """And none is made by looking; one that comes later is read."""
    settings, secret = settings_in(tmp_path), mint()
    guard = Guard(lambda: AT)
    watch = TokenWatch(guard, settings)
    watch.look()
    assert (watch.problem, guard.living(), list(tmp_path.iterdir())) == (None, False, [])
    make(settings.store_path, "shop", secret)
    watch.look()
    assert is_admitted(guard, secret)
    watch.close()


def test_what_another_process_does_is_seen_at_the_next_look(tmp_path: Path) -> None:
    """A second token, and the end of the first."""
    settings, first, second = settings_in(tmp_path), mint(), mint()
    make(settings.store_path, "shop", first)
    guard = Guard(lambda: AT)
    with watched_tokens(guard, settings, interval=3600) as watch:
        assert is_admitted(guard, first)
        make(settings.store_path, "bar", second)
        with SqliteStore(Path(settings.store_path)) as store:
            revoke_token(some_records(store), "shop", actor="ada", reason=None)
        watch.look()
        assert (is_admitted(guard, first), is_admitted(guard, second)) == (False, True)


@pytest.mark.parametrize("trouble", ["locked", "gone", "rubbish", "replaced"])
def test_a_store_in_trouble_changes_nothing(tmp_path: Path, trouble: str) -> None:
    """What was read last stays in force; another store in its place is another one."""
    settings, secret = settings_in(tmp_path), mint()
    make(settings.store_path, "shop", secret)
    guard, path = Guard(lambda: AT), Path(settings.store_path)
    watch = TokenWatch(guard, settings)
    watch.look()
    held = None
    match trouble:
        case "locked":
            watch.close()  # so that it has to be opened anew
            held = sqlite3.connect(path, isolation_level=None)
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        case "gone":
            path.unlink()
        case "rubbish":
            path.unlink()
            path.write_bytes(b"no database" * 1000)
        case _:
            for each in tmp_path.iterdir():
                each.unlink()
            make(settings.store_path, "other", mint())
    watch.look()
    if trouble == "replaced":
        assert (watch.problem, is_admitted(guard, secret)) == (None, False)
    else:
        assert is_admitted(guard, secret)
        assert watch.problem is not None
    watch.close()
    if held is not None:
        held.close()


def test_tokens_are_found_behind_a_checkpoint(tmp_path: Path) -> None:
    """What a checkpoint remembers, and what came after it."""
    settings, secrets = settings_in(tmp_path), [mint() for _ in range(3)]
    with SqliteStore(Path(settings.store_path)) as store:
        records = some_records(store)
        for number, secret in enumerate(secrets):
            create_token(
                records, f"t{number}", Role.APP, secret=secret, length=None, actor="ada", reason=None
            )
            if number == 1:
                head = records.ledger.head()
                records.ledger.carry_over(head, now=records.clock.now(), actor="ada", reason="old")
                store.prune_events(head, at=records.clock.now())
    guard = Guard(lambda: AT)
    with watched_tokens(guard, settings):
        assert [is_admitted(guard, secret) for secret in secrets] == [True, True, True]
