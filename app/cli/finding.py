"""A finding of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """Result of one check. ``bad``: a live match will not run or is not safe; ``note``: it runs, but see the remedy."""

    what: str
    verdict: Verdict
    found: str
    remedy: str = ""
