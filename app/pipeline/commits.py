"""What hosts share: where a closed window is committed, and how a host fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from football.errors import UserError


class HostError(UserError, RuntimeError):
    """The host cannot go on; the message has the reason. What is committed stays, and can be gone on with."""


class CommitError(HostError):
    """A window does not follow the last committed one. Nothing of it is committed."""


class CommitLog(Protocol):
    """What is committed of each match of a run."""

    def offset(self, match: str) -> int:
        """Offset up to which everything of a match is committed."""
        ...

    def has_ended(self, match: str) -> bool:
        """Whether a match is over and all of it committed."""
        ...

    def commit(self, match: str, start: int, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """Makes a window durable that begins at ``start`` and ends at ``meta["end_offset"]``.

        A window that is committed already is ignored.

        Raises:
            CommitError: it does not begin where the last one ended.
        """
        ...

    def failed(self, match: str, reason: str) -> None:
        """A match does not go on."""
        ...
