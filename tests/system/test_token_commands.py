"""`routecanary token`: what is printed once is found nowhere else."""

from __future__ import annotations

from pathlib import Path

from routecanary.domain.token import digest_of
from tests.commandline import a_config, called, environment
from tests.system.test_cli_documented import SECTIONS, keys_of


def test_a_token_is_shown_once_and_kept_nowhere(tmp_path: Path) -> None:
    """Alone on standard output; the store, its log beside it and the event hold the digest only."""
    config, environ = a_config(tmp_path), environment(tmp_path)
    made = called("token", "create", "shop", "--role", "app", "--config", config, environ=environ)
    token = made.out.strip()
    assert (made.code, made.err) == (0, "")
    assert token.startswith("rc_")
    for path in tmp_path.iterdir():
        assert token.encode() not in path.read_bytes(), path.name
    event = called("events", "--kind", "token_created", "--json", "--config", config, environ=environ)
    assert event.json["body"]["digest"] == digest_of(token)


def test_tokens_are_listed_with_their_state_and_documented_keys(tmp_path: Path) -> None:
    """Living and revoked; for people and for programs."""
    config, environ = a_config(tmp_path), environment(tmp_path)
    none = called("token", "list", "--config", config, environ=environ)
    assert "no token was made yet" in none.out
    for name, role, more in (("shop", "app", ["--expires", "90d"]), ("ops", "admin", [])):
        made = called(
            *["token", "create", name, "--role", role, *more, "--json", "--config", config], environ=environ
        )
        assert keys_of(made.json) == keys_of_section("token create") | keys_of_section("token list")
    revoked = called("token", "revoke", "shop", "--json", "--config", config, environ=environ)
    assert revoked.json == {"name": "shop", "revoked": True}
    assert set(revoked.json) == keys_of_section("token revoke")
    listed = called("token", "list", "--json", "--config", config, environ=environ)
    assert [(each["name"], each["role"], each["state"]) for each in listed.json] == [
        ("shop", "app", "revoked"),
        ("ops", "admin", "living"),
    ]
    table = called("token", "list", "--config", config, environ=environ)
    assert "revoked" in table.out


def test_a_token_pasted_for_a_name_is_shown_nowhere(tmp_path: Path) -> None:
    """Neither by the refusal nor where it stands among options."""
    config, environ = a_config(tmp_path), environment(tmp_path)
    token = called(
        "token", "create", "shop", "--role", "app", "--config", config, environ=environ
    ).out.strip()
    for tokens in (["token", "revoke", token], ["token", token], ["token", "create", "x", "--role", token]):
        refused = called(*tokens, "--config", config, environ=environ)
        assert refused.code == 2
        assert token not in refused.out + refused.err


def test_what_cannot_be_done_says_so(tmp_path: Path) -> None:
    """A name twice, an unknown role, nothing to revoke; nothing is kept of it."""
    config, environ = a_config(tmp_path), environment(tmp_path)
    create = ["token", "create", "shop", "--role", "app", "--config", config]
    assert called(*create, environ=environ).code == 0
    twice = called(*create, environ=environ)
    assert (twice.code, twice.out) == (2, "")
    assert "a living token has that name" in twice.err
    unknown = called("token", "create", "x", "--role", "root", "--config", config, environ=environ)
    assert (unknown.code, unknown.out) == (2, "")
    assert "allowed: read, app, operator, admin" in unknown.err
    missing = called("token", "revoke", "other", "--config", config, environ=environ)
    assert missing.code == 1
    assert "no living token is called other" in missing.err


def keys_of_section(name: str) -> set[str]:
    """Read the keys that the page promises in a section's last line."""
    promised = SECTIONS[name][SECTIONS[name].index("JSON:") :].split("(", maxsplit=1)
    line = promised[0] + (promised[1].split(")", maxsplit=1)[1] if len(promised) > 1 else "")
    return {part for part in line.split("`")[1::2] if part != "token list"}
