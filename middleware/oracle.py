"""The oracle: the same detectors fed the sorted, deduplicated stream, with no ordering unit at all.

It is the right-hand side of the law (what the engine's consolidated output must equal), a slow but plain
runner for notebooks, and the fastest way to try a detector. It shares no code with the engine but the
hierarchy and the canonical order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from middleware.detector import KeyedDetector
from middleware.events import Event, Key, canonical_key
from middleware.hierarchy import Hierarchy


def published(hierarchy: Hierarchy, events: Iterable[Event]) -> list[Event]:
    """What the engine must have published in the end: sparse events, less the annulled ones, in canonical order."""
    sparse = [event for event in sorted_replay(hierarchy, events) if event.kind not in hierarchy.internal]
    void = {event.annuls for event in sparse if event.annuls}
    standing = [event for event in sparse if event.id not in void or not event.id]
    return sorted(standing, key=lambda event: canonical_key(event, hierarchy.rank))


def sorted_replay(hierarchy: Hierarchy, events: Iterable[Event]) -> Iterator[Event]:
    """Yields every event of every level, internal kinds included, as a sorted world would have it.

    Each detector is folded over its whole input in canonical order, one level after another. Events may be
    given in any order and doubled (same kind, source, seq): the first copy counts.
    """
    raw: dict[tuple[str, str, int], Event] = {}
    for event in events:
        raw.setdefault((event.kind, event.source, event.seq), event)
    streams: dict[str, list[tuple[Key, Event]]] = {kind: [] for kind in hierarchy.rank}
    for event in raw.values():
        streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
    for stream in streams.values():
        stream.sort(key=lambda pair: pair[0])
    for detector in hierarchy.detectors:
        states: dict[str, object] = {}
        keyed: KeyedDetector[object] | None = detector if detector.spec.keyed else None  # type: ignore[assignment]
        emitted: list[Event] = []
        for _, event in heapq.merge(*(streams[k] for k in detector.spec.inputs), key=lambda pair: pair[0]):
            name = keyed.key(event) if keyed else ""
            state = states[name] if name in states else detector.initial()
            states[name], out = detector.step(state, event)
            emitted.extend(out)
        for event in emitted:
            streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
        for kind in detector.spec.outputs:
            streams[kind].sort(key=lambda pair: pair[0])
        yield from emitted
