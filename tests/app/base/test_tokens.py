"""Tokens of a user: created once, stored as digests in a private file, with an end, revocable."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.base.tokens import FILE, TokenError, TokenStore
from app.cli.main import app
from dashboard.roles import Grant, Role, digest_of
from football.errors import UserError


class Clock:
    """A wall clock that stands still until it is set."""

    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> TokenStore:
    return TokenStore(tmp_path / "touchline", clock)


def test_a_token_grants_its_role_until_its_end(store: TokenStore, clock: Clock):
    token = store.create("ann", Role.OPERATOR, 2)
    assert len(token) >= 43
    assert store.grant(digest_of(token)) == Grant("ann", Role.OPERATOR)
    assert store.grant(digest_of(token[:-1])) is None
    assert store.grant(token) is None
    clock.now_s += 2 * 86_400
    assert store.grant(digest_of(token)) is None
    assert [one.state(clock.now_s) for one in store.tokens()] == ["expired"]


def test_a_revoked_token_ends_at_once_in_other_processes_too(store: TokenStore, tmp_path: Path, clock: Clock):
    token, other = store.create("ann", Role.VIEWER, 2), store.create("bob", Role.VIEWER, 2)
    running = TokenStore(tmp_path / "touchline", clock)
    assert running.grant(digest_of(token)) is not None
    store.revoke("ann")
    assert running.grant(digest_of(token)) is None
    assert running.grant(digest_of(other)) is not None
    assert running.has_valid()
    store.revoke("bob")
    assert not running.has_valid()
    with pytest.raises(TokenError, match="no valid token 'ann'"):
        store.revoke("ann")
    assert store.create("ann", Role.VIEWER, 2) != token, "the name is free again"


def test_the_file_holds_no_token_and_is_private(store: TokenStore, tmp_path: Path):
    before = os.umask(0)
    try:
        token = store.create("ann", Role.ADMIN, 2)
    finally:
        os.umask(before)
    folder = tmp_path / "touchline"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        FILE: 0o600, f"{FILE}.lock": 0o600,
    }  # fmt: skip
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert token not in (folder / FILE).read_text()


def test_a_file_that_others_can_write_or_that_is_damaged_grants_nothing(store: TokenStore, tmp_path: Path):
    token, file = store.create("ann", Role.ADMIN, 2), tmp_path / "touchline" / FILE
    content = file.read_text()
    file.chmod(0o644)
    with pytest.raises(TokenError, match="chmod 600"):
        store.tokens()
    assert store.grant(digest_of(token)) is None
    file.chmod(0o600)
    for wrong in ("[", "{}", content.replace('"admin"', '"king"'), "[" * 10_000, content.replace("ann", "\\ud800")):
        file.write_text(wrong)
        assert store.grant(digest_of(token)) is None
        with pytest.raises(TokenError, match=FILE):
            store.tokens()
    file.write_text(content)
    assert store.grant(digest_of(token)) is not None


@pytest.mark.parametrize(
    ("name", "days"), [("", 1), ("a b", 1), ("../x", 1), ("x" * 41, 1), ("a", 0), ("a", 1e9), ("a", float("nan"))]
)
def test_a_wrong_name_or_time_is_refused(store: TokenStore, name: str, days: float):
    with pytest.raises(UserError):
        store.create(name, Role.VIEWER, days)


def test_tokens_that_are_created_at_once_are_all_stored(tmp_path: Path):
    def create(name: str) -> None:
        TokenStore(tmp_path).create(name, Role.VIEWER, 1)

    threads = [threading.Thread(target=create, args=(f"t{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.name for one in TokenStore(tmp_path).tokens()) == [f"t{i}" for i in range(8)]


def test_the_command_shows_a_token_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    run = CliRunner().invoke
    created = run(app, ["token", "create", "ann", "--role", "operator", "--days", "7"])
    token = created.stdout.splitlines()[-1]
    assert TokenStore().grant(digest_of(token)) == Grant("ann", Role.OPERATOR)
    listed = run(app, ["token", "list"]).output + run(app, ["token", "list", "--json"]).output
    assert "operator" in listed
    assert token not in listed
    assert digest_of(token) not in listed
    assert run(app, ["token", "revoke", "ann"]).exit_code == 0
    assert TokenStore().grant(digest_of(token)) is None
    assert isinstance(run(app, ["token", "create", "bob", "--role", "king"]).exception, TokenError)
