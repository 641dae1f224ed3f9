"""Interface of the hosts to the match stores: the commit log of a run, and the errors of a host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from football.errors import UserError


class HostError(UserError, RuntimeError):
    """The host cannot continue; the message has the reason. Commits stay, and a later run can resume from them."""


class CommitError(HostError):
    """A window does not begin where the last committed one ends. Nothing of it is committed."""


class CommitLog(Protocol):
    """Commits of all matches of a run."""

    def offset(self, match: str) -> int:
        """Offset up to which everything of a match is committed."""
        ...

    def has_ended(self, match: str) -> bool:
        """True if a match is over and all of it is committed."""
        ...

    def commit(self, match: str, start: int, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """Makes the window from ``start`` to ``meta["end_offset"]`` durable; ignores one that is committed already.

        Raises:
            CommitError: the window does not begin where the last committed one ends.
        """
        ...

    def failed(self, match: str, reason: str) -> None:
        """Records that a match is excluded from this run, with the reason; withdraws its uncommitted updates."""
        ...
