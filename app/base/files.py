"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file anew; whoever reads it meanwhile reads the old one.

    Raises:
        OSError: it cannot be written.
    """
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(content)
    draft.replace(path)
