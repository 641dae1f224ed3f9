"""What the hosts share: whom they hand a closed batch to, and how they fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
import pyarrow as pa

from football.errors import UserError


class HostError(UserError, RuntimeError):
    """The host cannot go on; the message has the reason. What is committed stays, and can be gone on with."""


class Committed(msgspec.Struct, frozen=True):
    """The last batch that is durable, and the offset at which it ends."""

    batch: int
    offset: int


class Committer(Protocol):
    """Takes what a closed batch gives, once for each batch id and match."""

    def committed(self) -> Committed | None:
        """The last batch that was taken, None before the first."""
        ...

    def has_ended(self) -> bool:
        """Whether all of the match has been taken."""
        ...

    def commit(self, batch_id: int, match: str, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """Makes the tables durable. A batch id that is there already is ignored."""
        ...
