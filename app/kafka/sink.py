"""Kafka as a kind of sink: ``--publish kafka://host:port/topic``."""

from __future__ import annotations

from pathlib import Path

from app.hub.feed import MatchFeed
from app.hub.sinks import Sink
from app.kafka.address import parse, with_absolute_settings


class KafkaSink:
    """See :class:`app.hub.sinks.SinkKind`."""

    def check(self, address: str) -> None:
        """See :class:`app.hub.sinks.SinkKind`."""
        parse(address)

    def with_absolute_paths(self, address: str, folder: Path) -> str:
        """See :class:`app.hub.sinks.SinkKind`."""
        return with_absolute_settings(address, folder)

    def open(self, address: str, feed: MatchFeed, folder: Path) -> Sink:
        """See :class:`app.hub.sinks.SinkKind`."""
        from app.kafka.relay import Relay  # brings the client library

        return Relay(feed, parse(address), folder)
