"""Files that are replaced as a whole, and outputs that a user names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from football.errors import UserError


class OutputError(UserError, ValueError):
    """An output that cannot be written as asked; the message names the option."""


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file; a concurrent reader gets the old content or the new one.

    Raises:
        OSError: it cannot be written.
    """
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(content)
    draft.replace(path)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Translates errors of the file system into an error of ``--out``, while the context lasts.

    Raises:
        OutputError: the file or folder cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"--out {out}: {error.strerror or error}") from error
