"""`routecanary token`: who may ask the listeners, and for what."""

from __future__ import annotations

from pathlib import Path

from routecanary.cli.acting import actor_of, length_of, reason_of
from routecanary.cli.exit_codes import ExitCode
from routecanary.cli.flush import acting_records
from routecanary.cli.output import complain, instant, say, say_json, say_table
from routecanary.clock import SystemClock
from routecanary.domain.token import parse_role, parse_token_name
from routecanary.rounds.tokens import create_token, mint, revoke_token, token_document
from routecanary.wiring import offline_records, settings_at


def create(
    name: str,
    /,
    *,
    role: str,
    expires: str | None = None,
    reason: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """Make a token for the listeners. It is printed once, now, and only its digest is kept.

    Parameters
    ----------
    name
        What it is called; no living token may have that name.
    role
        read, app, operator or admin.
    expires
        For how long, such as 90d; left out, until it is revoked.
    reason
        Why; kept in the log.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    called, wanted = parse_token_name(name), parse_role(role)
    why, who = None if reason is None else reason_of(reason), actor_of(actor)
    length = None if expires is None else length_of(expires, "--expires")
    secret = mint()
    with acting_records(settings, SystemClock()) as records:
        made = create_token(records, called, wanted, secret=secret, length=length, actor=who, reason=why)
        document = token_document(made, records.clock.now())
    if json:
        say_json({"token": secret.reveal(), **document})
    else:
        say(secret.reveal())
    return ExitCode.OK


def list_tokens(*, config: Path | None = None, json: bool = False) -> int:
    """List the tokens, also those that ended: names, roles and ends; never what opens anything.

    Parameters
    ----------
    config
        The configuration file.
    json
        Print one JSON list, an object for each token.
    """
    settings = settings_at(config)
    clock = SystemClock()
    with offline_records(settings, clock) as records:
        tokens = records.ledger.operating().tokens
    documents = [token_document(token, clock.now()) for token in tokens]
    if json:
        say_json(documents)
        return ExitCode.OK
    if not tokens:
        say("no token was made yet: `routecanary token create NAME --role app` makes one")
        return ExitCode.OK
    say_table(
        ("name", "role", "state", "until", "who", "since"),
        [
            (
                token.name,
                token.role.value,
                document["state"],
                instant(token.revoked_at or token.expires_at) or "revoked",
                token.actor,
                instant(token.created_at) or "",
            )
            for token, document in zip(tokens, documents, strict=True)
        ],
    )
    return ExitCode.OK


def revoke(
    name: str,
    /,
    *,
    reason: str | None = None,
    actor: str | None = None,
    config: Path | None = None,
    json: bool = False,
) -> int:
    """End a token; every listener refuses it within about a second. Exit code 1 where there is none.

    Parameters
    ----------
    name
        The name of a living token.
    reason
        Why; kept in the log.
    actor
        Who; default: your login name.
    config
        The configuration file.
    json
        Print one JSON object.
    """
    settings = settings_at(config)
    called = parse_token_name(name)
    why, who = None if reason is None else reason_of(reason), actor_of(actor)
    with acting_records(settings, SystemClock()) as records:
        revoked = revoke_token(records, called, actor=who, reason=why)
    if revoked is None:
        complain(f"no living token is called {called}; `routecanary token list` lists them")
        return ExitCode.FINDING
    if json:
        say_json({"name": called, "revoked": True})
    else:
        say(f"{called} opens nothing any more")
    return ExitCode.OK
