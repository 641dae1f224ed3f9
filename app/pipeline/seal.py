"""Seals of stored states: keyed hashes that are checked before a file reaches ``pickle.loads``.

The seal is an HMAC (SHA-256) over head and state with a key that only this user has: ``TOUCHLINE_STATE_KEY`` (at least
32 hexadecimal digits), else a file that is created on first use, readable by this user only, outside every match store.
A match store from somebody else can thus be read, but its states are never unpickled.

    "TLstate" | version of this frame, one byte | length of the head, four bytes | head, JSON | seal, 32 bytes | state
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import struct
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from app.base.private import OTHERS
from app.base.program import PROGRAM
from football.errors import UserError

KEY_VARIABLE = "TOUCHLINE_STATE_KEY"

_MAGIC = b"TLstate\x01"
_LENGTH = struct.Struct(">I")
_SEAL_BYTES = 32
_KEY_BYTES = 32
_KEY_BYTES_MIN = 16

#: Sources and tables that determine the states' content and meaning, relative to the folder of the packages.
_CODE = (
    "football", "middleware", "detectors", "app/pipeline/pipeline.py", "app/pipeline/quarantine_buffer.py",
    "replay/block_validation.py", "replay/formats/officials.py", "replay/wire.py",
)  # fmt: skip
_LIBRARIES = ("numpy", "msgspec", "scipy", "numba")


class StateError(UserError):
    """A state cannot be written or restored; the message names its file and the reason."""


class Maker(msgspec.Struct, frozen=True):
    """Program that made a state. Only the same program is certain to continue from it exactly.

    Attributes:
        code: fingerprint of the program, see :func:`code_fingerprint`.
        detectors: names, in the order in which they are wired.
        parameters: fingerprint of their parameters.
    """

    code: str
    detectors: tuple[str, ...] = ()
    parameters: str = ""


def sealed(head: bytes, state: bytes) -> tuple[bytes, ...]:
    """Content of a sealed file, in pieces."""
    return _MAGIC, _LENGTH.pack(len(head)), head, _seal(head, state), state


def unsealed(content: bytes) -> tuple[bytes, bytes | None, bytes]:
    """Splits a file's content into head, seal and state, unchecked; the seal is None for another file format."""
    start = len(_MAGIC) + _LENGTH.size
    if len(content) < start or not content.startswith(_MAGIC):
        return b"", None, b""
    (length,) = _LENGTH.unpack_from(content, len(_MAGIC))
    after = start + length
    if len(content) < after + _SEAL_BYTES:
        return b"", None, b""
    return content[start:after], content[after : after + _SEAL_BYTES], content[after + _SEAL_BYTES :]


def broken_seal(head: bytes, state: bytes, seal: bytes) -> bool:
    """True if ``seal`` is not the seal of head and state under this user's key."""
    return not hmac.compare_digest(seal, _seal(head, state))


def key_id() -> str:
    """Identifier of the key, from which the key cannot be derived."""
    return hashlib.sha256(b"touchline state key" + _key()).hexdigest()[:16]


def fingerprint(value: object) -> str:
    """Short digest of a JSON value."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:16]


@lru_cache(maxsize=1)
def code_fingerprint() -> str:
    """Short digest of the code that makes states, and of the versions of its libraries and of Python."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {[_version(name) for name in _LIBRARIES]}".encode())
    for part in _CODE:
        path = PROGRAM / part
        for file in [path] if path.is_file() else sorted([*path.rglob("*.py"), *path.rglob("*.toml")]):
            digest.update(str(file.relative_to(PROGRAM)).encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def key_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Path of the key file, in the user's folder for the state of programs."""
    base = environment.get("XDG_STATE_HOME")
    return (Path(base) if base else Path(environment.get("HOME", str(Path.home()))) / ".local/state") / (
        "touchline/state.key"
    )


def _seal(head: bytes, state: bytes) -> bytes:
    digest = hmac.new(_key(), _LENGTH.pack(len(head)), "sha256")
    digest.update(head)
    digest.update(state)
    return digest.digest()


def _key() -> bytes:
    return _stored_key(os.environ.get(KEY_VARIABLE, ""), key_file())


@lru_cache(maxsize=4)
def _stored_key(given: str, file: Path) -> bytes:
    if given:
        try:
            key = bytes.fromhex(given)
        except ValueError:
            key = b""
        if len(key) < _KEY_BYTES_MIN:
            raise StateError(f"{KEY_VARIABLE}: must be at least {2 * _KEY_BYTES_MIN} hexadecimal digits")
        return key
    try:
        key = _own_key(file) if file.exists() else _new_key(file)
    except OSError as error:
        raise StateError(
            f"{file}: the key that seals states cannot be kept there: {error.strerror}; set {KEY_VARIABLE}"
        ) from error
    if len(key) < _KEY_BYTES_MIN:
        raise StateError(f"{file}: the key that seals states is damaged: remove the file, and states with it")
    return key


def _own_key(file: Path) -> bytes:
    status = file.stat()
    if status.st_uid != os.geteuid() or status.st_mode & OTHERS:
        raise StateError(
            f"{file}: other users can read the key that seals states, or wrote it: remove the file, and states with it"
        )
    return file.read_bytes()


def _new_key(file: Path) -> bytes:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(secrets.token_bytes(_KEY_BYTES))
        stream.flush()
        os.fsync(stream.fileno())
    try:
        os.link(draft, file)  # fails if another process has created the key meanwhile: that one counts
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return file.read_bytes()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
