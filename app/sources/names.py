"""The name of a match by its source."""

from __future__ import annotations

from pathlib import Path


def base_name(source: str) -> str:
    """The match's own name: of its folder, or of its file without the ending."""
    parts = source.split(":")
    path = Path(parts[2] if parts[0] == "kloppy" and len(parts) > 2 else parts[-1])
    name = path.stem if path.is_file() else path.name
    return name.lstrip(".") or "match"
