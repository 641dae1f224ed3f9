"""Sinks, to which ``--publish`` sends a match's update stream: the protocols, and one line per kind."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from app.base.program import module_name
from app.hub.feed import MatchFeed
from football.errors import UserError


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


class SinkKind(Protocol):
    """A kind of sink. It checks and opens the addresses of its scheme."""

    def check(self, address: str) -> None:
        """Checks an address before the run begins.

        Raises:
            UserError: it cannot be published to; the message repeats no secret in it.
        """
        ...

    def with_absolute_paths(self, address: str, folder: Path) -> str:
        """The address with the paths in it absolute; relative ones start at ``folder``. A wrong one stays."""
        ...

    def open(self, address: str, feed: MatchFeed, folder: Path) -> Sink:
        """Creates the sink of a match from its feed and the folder of its store."""
        ...


class SinkError(UserError):
    """No kind of sink has the scheme of an address."""


#: By the scheme of its addresses, ``module:class`` of each kind. A new kind is a class that meets :class:`SinkKind`,
#: and a line here.
SINKS = {"kafka": module_name("app.kafka.sink:KafkaSink")}


def sink_kind(address: str) -> SinkKind:
    """The kind of sink that a ``--publish`` names.

    Raises:
        SinkError: there is none; the message does not repeat the address.
    """
    scheme, separator, _ = address.partition("://")
    if not separator or scheme not in SINKS:
        raise SinkError(f"must begin with {' or '.join(f'{known}://' for known in SINKS)}")
    module, _, name = SINKS[scheme].partition(":")
    kind: SinkKind = getattr(import_module(module), name)()
    return kind
