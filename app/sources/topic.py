"""Kafka topic as a source: a match is one key in one partition, and offsets are record numbers.

A new match is found in the topic by its sheet, and ``topic.json`` in the match store records its location. A match of a
topic has no recording, so a small capture is written from its sheet for the warm-up of processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.kafka.address import is_kafka, parse, with_absolute_settings
from app.kafka.topic_location import TopicLocation, TopicSpec
from app.sources.captured import CAPTURE
from app.sources.interface import Discovery, InputMonitor, OpenBatch, Recording, SourceRequest
from football.untrusted import UntrustedError, read_json
from replay.capture import Capture
from replay.match_store import StoreError

# Kafka clients are imported only where they are needed.
if TYPE_CHECKING:
    from rich.console import Console

    from app.sources.topic_demux import TopicDemultiplexer

#: File in the folder of a match store: location of the match in its topic.
TOPIC = "topic.json"


class TopicInput:
    """A :class:`app.sources.interface.MatchInput` from a topic."""

    kind = f"{__name__}:TopicSource"
    takes_officials, is_live = False, True
    recording: Recording | None = None
    rejected = findings = ()

    def __init__(self, source: str, location: TopicLocation, sample: Capture) -> None:
        self._source, self._location, self._sample = source, location, sample
        self.sample: Recording = sample
        self.sheet, self.begin, self.fingerprint = sample.sheet, location.offset, sample.fingerprint

    def spec(self, window_s: float, *, one_match: bool) -> dict[str, Any]:
        """See :class:`app.sources.interface.MatchInput`."""
        location, sample = self._location, str(self._sample.path)
        records = location.records_in(window_s)
        spec = TopicSpec(self._source, location.match, location.partition, records, window_s, one_match, sample)
        return msgspec.structs.asdict(spec)

    def has_ended(self, offset: int, *, ended: bool) -> bool:
        """See :class:`app.sources.interface.MatchInput`. The record that ends the match is committed."""
        return ended

    def played_us(self, offset: int, now_us: int) -> int:
        """See :class:`app.sources.interface.MatchInput`."""
        return now_us

    def length_us(self) -> int | None:
        """See :class:`app.sources.interface.MatchInput`."""
        return None

    def committed(self, offset: int) -> None:
        """See :class:`app.sources.interface.MatchInput`."""

    def watch(self, offset: int, monitor: InputMonitor) -> AbstractContextManager[Any]:
        """See :class:`app.sources.interface.MatchInput`."""
        from app.sources.topic_lag import TopicLagPoller

        return TopicLagPoller(parse(self._source), self._location.partition, offset, monitor)


class TopicSource:
    """``kafka://host:port/topic[?match=...&start=...]``; see :class:`app.sources.interface.Source`."""

    has_recording = False

    def recognises(self, source: str, rate: str) -> bool:
        """See :class:`app.sources.interface.Source`."""
        return is_kafka(source)

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`. An invalid address is returned unchanged."""
        return with_absolute_settings(source, folder)

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`app.sources.interface.Source`. Options that would alter the records of a topic are refused."""
        parse(options["source"])
        for name in ("channel", "rate", "duration_s", "sheet", "endless"):
            if options.get(name) not in (None, "", False, "none"):
                raise ValueError(
                    f"--{name.removesuffix('_s')}: a topic is read as it is, and holds its own match sheet"
                )
        if options.get("engine", "spark") != "spark":
            raise ValueError(f"--engine {options['engine']}: a topic is read through Spark")
        if options.get("speed", "1") != "1":
            raise ValueError(f"--speed {options['speed']}: a topic has its own pace")
        if options.get("official") is not None:
            raise ValueError("--official is for captures and files; a match out of a topic takes no lines of officials")
        return {**options, "channel": "none"}

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""
        from app.kafka.matches import find_match
        from app.kafka.warm_up_capture import write_warm_up_capture

        location = request.location
        if location is None:
            console.print(f"Looking for the match in {request.source}")
            location = find_match(parse(request.source))
        folder.mkdir(parents=True, exist_ok=True)
        write_warm_up_capture(folder / CAPTURE, location.sheet.sheet)
        (folder / TOPIC).write_bytes(msgspec.json.encode(location))

    def resume(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""

    def load(self, source: str, folder: Path) -> TopicInput:
        """See :class:`app.sources.interface.Source`."""
        try:
            location = read_json(folder / TOPIC, TopicLocation)
        except (OSError, UntrustedError) as error:
            raise StoreError(f"{folder / TOPIC}: cannot be read: {error}") from error
        return TopicInput(source, location, Capture.open(folder / CAPTURE))

    def restart_source(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        return source

    def selection(self, source: str) -> tuple[str, str] | None:
        """See :class:`app.sources.interface.Source`."""
        address = parse(source)
        return msgspec.structs.replace(address, match="").url, address.match

    def discovery(self, source: str) -> AbstractContextManager[Discovery]:
        """See :class:`app.sources.interface.Source`."""
        from app.sources.topic_discovery import TopicDiscovery

        return TopicDiscovery(parse(source))

    def sample(self, spec: Mapping[str, Any]) -> Recording:
        """See :class:`app.sources.interface.Source`."""
        return Capture.open(spec["sample"])

    def reader(self, batch: OpenBatch) -> TopicDemultiplexer:
        """See :class:`app.sources.interface.Source`."""
        from app.sources.topic_demux import TopicDemultiplexer

        return TopicDemultiplexer(batch.stopped, batch.has_another)
