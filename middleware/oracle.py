"""The oracle: the same detectors fed the sorted, deduplicated stream, without any ordering unit.

Purpose: it is the right-hand side of the law, which the engine's consolidated output must equal. It is also a plain,
slow runner for notebooks, and the fastest way to try a detector. It shares no code with the engine but the hierarchy,
the canonical order and the rules for detectors that break their contract (``middleware.isolation``).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from middleware.detector import NOTHING, Detector, KeyedDetector
from middleware.events import BEGINNING_US, Correction, Event, Key, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.isolation import Failed, deciding_event, failed, permitted_outputs
from middleware.publisher import AMENDABLE_US

#: A version of an event (False) or an annulment of it (True), sortable but for its last field.
_Statement = tuple[int, bool, Key, str, Event]


def published(hierarchy: Hierarchy, events: Iterable[Event]) -> list[Event]:
    """Return the events that must stand after all that the engine published, in canonical order."""
    sparse = [event for event in sorted_replay(hierarchy, events) if event.kind not in hierarchy.internal]
    plain: dict[Key, list[Event]] = {}
    versions: dict[str, list[_Statement]] = {}
    voids: dict[str, list[_Statement]] = {}
    for event in sparse:
        key = canonical_key(event, hierarchy.rank)
        if event.kind in hierarchy.amendable:
            versions.setdefault(event.id, []).append((event.ts_us, False, key, repr(event), event))
        else:
            plain.setdefault(key, []).append(event)
        if event.annuls:
            voids.setdefault(event.annuls, []).append((event.ts_us, True, key, repr(event), event))
    standing = [deciding_event(same) for same in plain.values()]
    for name, about in sorted(versions.items()):
        statements = sorted(about + voids.get(name, []), key=lambda statement: statement[:4])
        standing.extend(_standing_versions(statements, name))
    return sorted(standing, key=lambda event: canonical_key(event, hierarchy.rank))


def _standing_versions(statements: Sequence[_Statement], name: str) -> Iterator[Event]:
    """Yield what each stretch of statements about one event comes to: the version that it ends with, or the newest one
    corrected, each under its ``dated_us``.
    """
    stretch: list[Event] = []
    for *_, event in statements:
        if stretch and event.ts_us - stretch[-1].ts_us > AMENDABLE_US:
            yield from _concluded(stretch, name)
            stretch = []
        stretch.append(event)
    if stretch:
        yield from _concluded(stretch, name)


def _concluded(stretch: Sequence[Event], name: str) -> Iterator[Event]:
    versions = [_shown(event) for event in stretch if event.annuls != name]
    last = stretch[-1]
    if last.annuls != name:
        yield versions[-1]
    elif versions and isinstance(last.payload, Correction):
        yield last.payload.corrected(versions[-1])


def _shown(event: Event) -> Event:
    return event if event.dated_us is None else msgspec.structs.replace(event, ts_us=event.dated_us, dated_us=None)


def sorted_replay(hierarchy: Hierarchy, events: Iterable[Event]) -> Iterator[Event]:
    """Yield every event of every level, internal kinds included, as the sorted stream leads to it.

    Each detector is folded over its whole input in canonical order, one level after another. Events may be
    given in any order, under the identity that the engine gives them, and as duplicates: of copies that differ one
    counts, whichever comes first.
    """
    raw: dict[tuple[str, str, int, int], Event] = {}
    for event in events:
        packet = event.kind, event.source, event.seq, event.ts_us
        before = raw.get(packet)
        raw[packet] = event if before is None else deciding_event((before, event))
    streams: dict[str, list[tuple[Key, Event]]] = {kind: [] for kind in hierarchy.rank}
    for event in raw.values():
        streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
    for stream in streams.values():
        stream.sort(key=_key)
    for detector in hierarchy.detectors:
        inputs = heapq.merge(*(streams[kind] for kind in detector.spec.inputs), key=_key)
        emitted = list(_folded(detector, inputs))
        for event in emitted:
            streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
        for kind in detector.spec.outputs:
            streams[kind].sort(key=_key)
        yield from emitted


def _folded(detector: Detector[object], inputs: Iterable[tuple[Key, Event]]) -> Iterator[Event]:
    """Yield the outputs of a detector, or of each key of a keyed one, on its inputs in order."""
    payloads = detector.spec.payloads()
    states: dict[str, object] = {}
    for name, event in _addressed(detector, inputs):
        if name not in states:
            states[name] = _initial(detector)
        state = states[name]
        if isinstance(state, Failed):
            continue
        try:
            states[name], out = detector.step(state, event)
            good = permitted_outputs(detector.spec, payloads, event, out) if out else NOTHING
        except Exception as error:
            states[name] = failed(event.ts_us, error)
        else:
            yield from good


def _addressed(detector: Detector[object], inputs: Iterable[tuple[Key, Event]]) -> Iterator[tuple[str, Event]]:
    """Yield each input with its key; of several under one canonical key each unit gets one."""
    keyed: KeyedDetector[object] | None = detector if detector.spec.keyed else None  # type: ignore[assignment]
    for _, same in groupby(inputs, key=_key):
        units: dict[str, list[Event]] = {}
        for _, event in same:
            try:
                units.setdefault(keyed.key(event) if keyed else "", []).append(event)
            except Exception:
                continue
        for name, events in units.items():
            yield name, deciding_event(events)


def _initial(detector: Detector[object]) -> object:
    try:
        return detector.initial()
    except Exception as error:
        return failed(BEGINNING_US, error)


def _key(pair: tuple[Key, Event]) -> Key:
    return pair[0]
