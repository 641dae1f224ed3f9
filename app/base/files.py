"""Files that are replaced as a whole."""

from __future__ import annotations

from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file; a concurrent reader gets the old content or the new one.

    Raises:
        OSError: it cannot be written.
    """
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(content)
    draft.replace(path)
