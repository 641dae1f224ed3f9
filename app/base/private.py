"""Folders and files that other users of the machine can neither read nor change.

Whoever can write to a folder from which a program is started, or to which a process writes its logs, acts as the user
of that process. So such folders belong to the user alone. What another user could have changed is refused, not mended:
its content may be another's already.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from football.errors import UserError

#: Permission bits of other users, and those with which they can change something.
OTHERS, OTHERS_WRITE = 0o077, 0o022

#: Limit of a folder's path in which sockets are created: the name of a socket has at most 103 characters.
_FOLDER_CHARACTERS_MAX = 40

_TEMPORARY = "touchline-"

#: File in a folder that ``temporary_folder`` has made and locked; others with such a name are somebody's own.
_MARK = ".process"

#: Name of the one link that a store may have: to the folder of a capture that is played. It is read only.
_LINKED = "capture"


class NotPrivateError(UserError):
    """A folder or file that another user of the machine can change; the message names it and the remedy."""


@contextmanager
def private_files() -> Iterator[None]:
    """Creates files and folders for this user only while the context lasts, in processes that begin meanwhile, too."""
    before = os.umask(OTHERS)
    os.umask(before | OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def private_folder(folder: Path) -> Path:
    """Creates a folder with mode 0700, or checks the one that exists; returns its path without links.

    Raises:
        NotPrivateError: another user can change it.
        OSError: it cannot be created.
    """
    with private_files():
        folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    if fault := fault_of(folder):
        raise NotPrivateError(f"{folder}: {fault}; remove it, it is created again")
    if folder.stat().st_mode & OTHERS:
        folder.chmod(0o700)
    return folder


def is_private(path: Path) -> bool:
    """True if a file or folder exists, is no link, and no other user can change it."""
    return path.exists() and not path.is_symlink() and not fault_of(path)


def fault_of(path: Path, *, or_root: bool = False) -> str:
    """Reason why another user could change a file or folder, or put another one in its place; empty if none could.

    Args:
        path: without links.
        or_root: whether it may belong to root, like an installed program.
    """
    status = path.stat()
    if status.st_uid != os.geteuid() and not (or_root and status.st_uid == 0):
        return f"belongs to another user ({status.st_uid})"
    if status.st_mode & OTHERS_WRITE:
        return "other users can write to it"
    for above in path.absolute().parents:
        status = above.stat()
        if status.st_uid not in (0, os.geteuid()):
            return f"{above} belongs to another user ({status.st_uid})"
        # A group that has the user's own number is usually the user's alone.
        bits = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid not in (0, os.getegid()) else 0)
        if status.st_mode & bits and not status.st_mode & stat.S_ISVTX:
            return f"other users can write to {above}"
    return ""


def check_store(folder: Path) -> None:
    """Checks that a run may write to a store, and withdraws the permission of other users to write to it.

    A link in a store would let its author choose what a run overwrites or starts. A store has none but that to the
    capture that it plays.

    Raises:
        NotPrivateError: it belongs to another user, or holds a link or a special file.
    """
    status = folder.stat()
    if status.st_mode & OTHERS_WRITE and status.st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS_WRITE)
    if not (folder / "spark").is_symlink():
        shutil.rmtree(folder / "spark" / "home", ignore_errors=True)  # of an earlier version, with links
    check_content(folder)
    if folder.stat().st_mode & OTHERS_WRITE:
        raise NotPrivateError(f"{folder}: other users can write to it; choose another --store")


def check_content(folder: Path) -> None:
    """Checks owner and files of a store, without any change to it.

    Raises:
        NotPrivateError: as :func:`check_store`.
    """
    status = folder.stat()
    if status.st_uid not in (0, os.geteuid()):
        raise NotPrivateError(f"{folder}: belongs to another user ({status.st_uid}); play it in a copy of your own")
    for path in _special_files(folder):
        raise NotPrivateError(f"{path}: a store has files and folders only; remove it")


def _special_files(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:  # another run may use it, and delete files
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _special_files(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False) and not (entry.name == _LINKED and entry.is_dir()):
                yield Path(entry.path)


@cache
def temporary_folder() -> Path:
    """Folder of this process for temporary files and sockets, mode 0700; deleted when the process ends.

    Deletes those of processes that were killed. Each process locks its own folder, and marks it when it has the lock:
    an unmarked folder is another program's or the user's, however it is called.

    Raises:
        NotPrivateError: another user could replace it.
    """
    base = Path(tempfile.gettempdir())
    if len(str(base)) > _FOLDER_CHARACTERS_MAX:
        base = Path("/tmp")
    for mark in base.glob(f"{_TEMPORARY}*/{_MARK}"):
        other = mark.parent
        with suppress(OSError):
            if other.lstat().st_uid == os.geteuid() and (lock := _lock(other)) is not None:
                shutil.rmtree(other, ignore_errors=True)
                os.close(lock)
    folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=base)).resolve()
    if fault := fault_of(folder):
        folder.rmdir()
        raise NotPrivateError(f"folder for temporary files: {fault}; set TMPDIR to another")
    _lock(folder)
    (folder / _MARK).touch(mode=0o600)
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder while the context lasts; wait as long as another process holds the lock."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _lock(folder: Path) -> int | None:
    """Locks a folder until the descriptor is closed; None if another process has locked it, or it is a link."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
