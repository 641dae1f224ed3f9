"""Where a match's update stream is published to: one small protocol, and a line a kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from app.hub.feed import MatchFeed


class Sink(Protocol):
    """Follows a match's feed while its context lasts, and sends it on. Leaving the context waits until all is sent."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def committed(self, next_seq: int) -> None:
        """All updates before this number are committed."""
        ...

    def waiting(self) -> int:
        """Records that are to be sent and were not taken yet."""
        ...

    def waits_s(self) -> float:
        """For how long none was taken, though some wait."""
        ...


def _kafka(url: str, feed: MatchFeed, folder: Path) -> Sink:
    from app.kafka.address import parse
    from app.kafka.relay import Relay

    return Relay(feed, parse(url), folder)


#: By the scheme of ``--publish``: makes the sink of a match with its feed and the folder of its store.
SINKS: dict[str, Callable[[str, MatchFeed, Path], Sink]] = {"kafka": _kafka}


def sink_of(url: str, feed: MatchFeed, folder: Path) -> Sink:
    """The sink that a ``--publish`` names."""
    return SINKS[url.partition("://")[0]](url, feed, folder)
