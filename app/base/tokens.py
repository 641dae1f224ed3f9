"""Tokens of a user: who may read a run's page, report decisions, and administer tokens.

They lie in ``tokens.json`` of the user's configuration folder, which only this user can read and write. The file has
the digest of each token, never the token: that is shown once, when it is created. A running match reads the file again
when it has changed, so a token that is revoked ends at once, with its sessions.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from dashboard.roles import Grant, Role, digest_of
from football.errors import UserError
from football.untrusted import UntrustedError, read_json

FILE = "tokens.json"

#: Longest life of a token.
DAYS_MAX = 366
TOKENS_MAX = 1_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", flags=re.ASCII)
_DAY_S = 86_400.0


class TokenError(UserError):
    """A token cannot be created, listed or revoked; the message has the reason, and never a token."""


class StoredToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token as the file has it; times are wall times in seconds, ``revoked_s`` is 0 for one that is not revoked."""

    name: str
    role: str
    digest: str
    created_s: float
    ends_s: float
    revoked_s: float = 0.0

    def state(self, now_s: float) -> str:
        """Return valid, expired or revoked."""
        return "revoked" if self.revoked_s else "expired" if now_s >= self.ends_s else "valid"


def configuration_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Path of the user's folder for configuration."""
    base = environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path(environ.get("HOME", str(Path.home()))) / ".config") / "touchline"


class TokenStore:
    """The tokens of this user. Thread safe; processes may share the file.

    Args:
        folder: of the file; it need not exist.
        wall_s: the wall clock, in seconds.
    """

    def __init__(self, folder: Path | None = None, wall_s: Callable[[], float] = time.time) -> None:
        self._folder = folder or configuration_folder()
        self._file = self._folder / FILE
        self._wall_s = wall_s
        self._lock = threading.Lock()
        self._version: tuple[int, ...] = ()
        self._tokens: tuple[StoredToken, ...] = ()

    def create(self, name: str, role: Role, days: float) -> str:
        """Create a token and return it: the only moment at which it is known.

        Raises:
            TokenError: there is a valid one of the same name, or the name or the time is not allowed.
        """
        if not _NAME.fullmatch(name):
            raise TokenError(f"{name!r}: a name has up to 40 letters, digits, dots, dashes and underscores")
        if not 0 < days <= DAYS_MAX:
            raise TokenError(f"a token ends after more than 0 and at most {DAYS_MAX} days")
        token, now_s = secrets.token_urlsafe(32), self._wall_s()
        with self._changing() as tokens:
            if any(one.name == name and one.state(now_s) == "valid" for one in tokens):
                raise TokenError(f"there is a token {name}: revoke it first, or choose another name")
            tokens[:] = [one for one in tokens if one.name != name]
            if len(tokens) >= TOKENS_MAX:
                raise TokenError(f"there are {TOKENS_MAX} tokens already")
            ends_s = now_s + days * _DAY_S
            tokens.append(StoredToken(name, role.name.lower(), digest_of(token), now_s, ends_s))
        return token

    def revoke(self, name: str) -> None:
        """End a token now.

        Raises:
            TokenError: there is no valid one of this name.
        """
        now_s = self._wall_s()
        with self._changing() as tokens:
            for index, one in enumerate(tokens):
                if one.name == name and one.state(now_s) == "valid":
                    tokens[index] = msgspec.structs.replace(one, revoked_s=now_s)
                    return
            raise TokenError(f"there is no valid token {name!r}")

    def tokens(self) -> tuple[StoredToken, ...]:
        """Return all tokens, those that have ended included.

        Raises:
            TokenError: the file is damaged, or others can write to it.
        """
        with self._lock:
            try:
                status = self._file.stat()
            except FileNotFoundError:
                self._version, self._tokens = (), ()
                return ()
            except OSError as error:
                raise TokenError(f"{self._file}: {error.strerror}") from error
            version = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode, status.st_uid)
            if version != self._version:
                if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                    raise TokenError(f"{self._file}: others can read or write it: chmod 600 {self._file}")
                self._tokens, self._version = _read(self._file), version
            return self._tokens

    def grant(self, digest: str) -> Grant | None:
        """Return what the token of a digest grants now; None if it is unknown, has ended, or the file is unusable."""
        try:
            tokens = self.tokens()
        except TokenError:
            return None
        now_s = self._wall_s()
        for one in tokens:
            if secrets.compare_digest(one.digest, digest) and one.state(now_s) == "valid":
                return Grant(one.name, Role[one.role.upper()])
        return None

    def has_valid(self) -> bool:
        """True if any token is valid now.

        Raises:
            TokenError: as :meth:`tokens`.
        """
        now_s = self._wall_s()
        return any(one.state(now_s) == "valid" for one in self.tokens())

    @contextmanager
    def _changing(self) -> Iterator[list[StoredToken]]:
        """Lock the file against other processes, and write the changed list at the end."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(self._folder / f"{FILE}.lock", "w", opener=_private) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                tokens = list(self.tokens())
                yield tokens
                draft = self._folder / f"{FILE}.{os.getpid()}"
                draft.unlink(missing_ok=True)
                with open(draft, "xb", opener=_private) as stream:
                    stream.write(msgspec.json.format(msgspec.json.encode(tokens)) + b"\n")
                    stream.flush()
                    os.fsync(stream.fileno())
                draft.replace(self._file)
        except OSError as error:
            raise TokenError(f"{self._file}: {error.strerror or error}") from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _read(file: Path) -> tuple[StoredToken, ...]:
    try:
        tokens = read_json(file, list[StoredToken])
    except OSError as error:
        raise TokenError(f"{file}: {error.strerror}") from error
    except UntrustedError as error:
        raise TokenError(f"{file}: is damaged: {error}") from error
    if wrong := [one.name for one in tokens if one.role.upper() not in Role.__members__]:
        raise TokenError(f"{file}: is damaged: {wrong[0]!r} has an unknown role")
    return tuple(tokens)
