"""Name of a match, derived from its source."""

from __future__ import annotations

from pathlib import Path


def base_name(source: str) -> str:
    """Name of a match: that of its folder, or of its file without the suffix."""
    parts = source.split(":")
    path = Path(parts[2] if parts[0] == "kloppy" and len(parts) > 2 else parts[-1])
    name = path.stem if path.is_file() else path.name
    return name.lstrip(".") or "match"
