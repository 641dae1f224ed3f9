"""What the detectors say of a recording in a sorted world, without the engine: benches of football use it.

Asks nothing itself; see :mod:`bench.opta_clip` and :mod:`bench.restarts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from detectors.records import RecordMaker
from football.packets import RAW_KINDS
from football.payloads import EventPayload
from football.recording import Recording
from football.update_stream import EventRecord
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay

PACKET_POSITIONS = 10


def events_of(recording: Recording) -> list[Event]:
    """Sparse events of all levels by time."""
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(recording.sheet))
    events = sorted_replay(hierarchy, packets_of(recording))
    return sorted((e for e in events if isinstance(e.payload, EventPayload)), key=lambda e: e.ts_us)


def records_of(recording: Recording, events: list[Event]) -> list[EventRecord]:
    """The published ones of the events of a recording as a store would have them."""
    detectors = build_detectors(recording.sheet)
    internal = {kind for detector in detectors for kind in detector.spec.internal}
    records = RecordMaker(detectors, recording.sheet)
    return [records.record(event) for event in events if event.kind not in internal]


def packets_of(recording: Recording) -> Iterator[Event]:
    """Raw events: one position a packet from optical sources, ten from radio transmitters."""
    size = PACKET_POSITIONS if recording.sheet.quality.kind == "rtls" else 1
    for track in recording.tracks:
        for sequence, start in enumerate(range(0, len(track), size)):
            yield arrival(track.packet(sequence, start, min(start + size, len(track)))).event
