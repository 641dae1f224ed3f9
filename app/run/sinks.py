"""Sinks, to which ``--publish`` sends a match's update stream: the protocol, and one line per kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from app.hub.feed import MatchFeed


class Sink(Protocol):
    """Publishes a match's feed while its context lasts. The exit of the context waits until all is sent.

    After a crash, updates that a stage has sent and that are not committed may be withdrawn. So a sink undoes what it
    has published and the store does not confirm, or it publishes committed updates only.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def committed(self, next_seq: int) -> None:
        """Records that all updates before ``next_seq`` are committed."""
        ...

    def waiting(self) -> int:
        """Number of records that the receiver has not acknowledged yet."""
        ...

    def waits_s(self) -> float:
        """Seconds since the last acknowledgement, while records wait."""
        ...


def _kafka(url: str, feed: MatchFeed, folder: Path) -> Sink:
    from app.kafka.address import parse
    from app.kafka.relay import Relay

    return Relay(feed, parse(url), folder)


#: By the scheme of ``--publish``: creates the sink of a match from its feed and the folder of its store.
SINKS: dict[str, Callable[[str, MatchFeed, Path], Sink]] = {"kafka": _kafka}


def sink_of(url: str, feed: MatchFeed, folder: Path) -> Sink:
    """Creates the sink that a ``--publish`` names."""
    return SINKS[url.partition("://")[0]](url, feed, folder)
