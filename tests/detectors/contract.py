"""Check the contract of every detector (middleware/detector.py), step by step while a stream is folded."""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Iterable, Sequence

from football.packets import RAW_KINDS, PackedInstant, Packet
from football.payloads import EventPayload, LimbRun
from middleware.detector import Detector, KeyedDetector
from middleware.events import Event, Key, canonical_key
from middleware.hierarchy import Hierarchy

#: A state of one unit, pickled. The frame of 22 players that some states refer to takes 2 kB.
STATE_BYTES_MAX = 8_000
#: Detectors that remember what their windows forget, in the order of paper 000's one state of 800 kB.
LARGE_STATES = {
    "heat_map": 1_000_000,
    "running_statistics": 100_000,
    "possession_statistics": 20_000,
    "formation": 30_000,
    "pass_network": 50_000,
    "pass_statistics": 20_000,
}

#: Endings of names that carry a unit, and numbers that have none.
UNITS = ("_m", "_m2", "_goals", "_s", "_us", "_m_s", "_m_s2", "_rad", "_hz", "_deg")
PURE_NUMBERS = ("noise_sigmas", "share_min", "_share", "_factor", "exponent", "_floor", "sure", "doubt", "confidence")


def check_stream(detectors: Iterable[Detector[object]], raw: Iterable[Event], every: int = 1) -> dict[str, list[str]]:
    """Folds a sorted stream as the oracle does; returns what each detector broke, by name.

    Args:
        detectors: a hierarchy.
        raw: raw events in any order.
        every: check each n-th step thoroughly (purity, pickling); dates and kinds are always checked.
    """
    hierarchy = Hierarchy(RAW_KINDS, detectors)
    streams: dict[str, list[tuple[Key, Event]]] = {kind: [] for kind in hierarchy.rank}
    for event in raw:
        streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
    for stream in streams.values():
        stream.sort(key=lambda pair: pair[0])
    broken: dict[str, list[str]] = {}
    for detector in hierarchy.detectors:
        merged = heapq.merge(*(streams[k] for k in detector.spec.inputs), key=lambda pair: pair[0])
        emitted, broken[detector.spec.name] = check_fold(detector, [event for _, event in merged], every)
        for event in emitted:
            streams[event.kind].append((canonical_key(event, hierarchy.rank), event))
        for kind in detector.spec.outputs:
            streams[kind].sort(key=lambda pair: pair[0])
    return broken


def check_fold(detector: Detector[object], events: Sequence[Event], every: int = 1) -> tuple[list[Event], list[str]]:
    """Folds one detector; returns what it emitted and what it broke."""
    keyed: KeyedDetector[object] | None = detector if detector.spec.keyed else None  # type: ignore[assignment]
    states: dict[str, object] = {}
    by_key: dict[str, list[Event]] = {}
    emitted: list[Event] = []
    broken: list[str] = []
    for number, event in enumerate(events):
        name = keyed.key(event) if keyed else ""
        state = states[name] if name in states else detector.initial()
        thorough = number % every == 0
        before = pickle.dumps(state) if thorough else b""
        after, out = detector.step(state, event)
        if thorough:
            broken += _check_step(detector, state, before, event, after, out)
        broken += [_wrong_output(detector, event, result) for result in out if _wrong_output(detector, event, result)]
        states[name] = after
        emitted.extend(out)
        by_key.setdefault(name, []).extend(out)
    broken += _differs_when_folded_again(detector, events, by_key)
    broken += _wrong_versions(detector, emitted)
    broken += wrong_payloads([detector], emitted)
    ids = [event.id for event in emitted if event.id and event.kind not in detector.spec.amends]
    if len(ids) != len(set(ids)):
        broken.append(f"two events share an id: {sorted(i for i in set(ids) if ids.count(i) > 1)[:3]}")
    return emitted, broken


def _differs_when_folded_again(
    detector: Detector[object], events: Sequence[Event], before: dict[str, list[Event]]
) -> list[str]:
    """Folds a second time, one key after the other: what a detector keeps outside its states shows here."""
    keyed: KeyedDetector[object] | None = detector if detector.spec.keyed else None  # type: ignore[assignment]
    inputs: dict[str, list[Event]] = {}
    for event in events:
        inputs.setdefault(keyed.key(event) if keyed else "", []).append(event)
    broken = []
    for name, mine in reversed(inputs.items()):
        state = detector.initial()
        emitted: list[Event] = []
        for event in mine:
            state, out = detector.step(state, event)
            emitted.extend(out)
        if emitted != before[name]:
            broken.append(f"a second fold{f' of {name} alone' if name else ''} gives other events")
    return broken


def _wrong_versions(detector: Detector[object], emitted: Sequence[Event]) -> list[str]:
    """Newer versions become known later than older ones, and are dated as the first one was."""
    newest: dict[str, Event] = {}
    broken = []
    for event in emitted:
        if event.kind not in detector.spec.amends:
            continue
        old = newest.get(event.id)
        if old is not None and event.ts_us <= old.ts_us:
            broken.append(f"{event.id} has a newer version at {event.ts_us} that is not later than {old.ts_us}")
        if old is not None and event.dated_us != (old.ts_us if old.dated_us is None else old.dated_us):
            broken.append(f"{event.id} has a newer version dated {event.dated_us}, unlike the one before")
        newest[event.id] = event
    return broken


def _check_step(
    detector: Detector[object], state: object, before: bytes, event: Event, after: object, out: Sequence[Event]
) -> list[str]:
    broken = []
    if detector.step(state, event) != (after, out):
        broken.append(f"a second step at {event.kind} {event.ts_us} gives another result")
    if pickle.dumps(state) != before:
        broken.append(f"the step at {event.kind} {event.ts_us} changed the state that it was given")
    stored = pickle.dumps(after)
    if pickle.loads(stored) != after:
        broken.append(f"the state after {event.kind} {event.ts_us} is another after pickling")
    if len(stored) > LARGE_STATES.get(detector.spec.name, STATE_BYTES_MAX):
        broken.append(f"the state after {event.kind} {event.ts_us} takes {len(stored)} bytes")
    return broken


def _wrong_output(detector: Detector[object], event: Event, result: Event) -> str:
    """A packet, and a run of what it held, speaks up to its last position; everything else for its own instant."""
    spec, payload = detector.spec, event.payload
    packets = (
        payload.packets if isinstance(payload, PackedInstant) else payload if event.kind == "raw.frame" else (payload,)
    )
    until_us = max((p.ts_us[-1] for p in packets if isinstance(p, Packet)), default=event.ts_us)
    if isinstance(payload, LimbRun):
        until_us = payload.states[-1][0]
    if result.kind not in spec.outputs:
        return f"{result.kind} is not one of the outputs"
    if result.ts_us > event.ts_us and not spec.takes_runs:
        return f"{result.kind} is dated after its cause by what takes no runs"
    if result.ts_us > until_us:
        return f"{result.kind} is dated {result.ts_us - until_us} us after its cause"
    if result.ts_us < event.ts_us - spec.horizon_us:
        return f"{result.kind} is dated {event.ts_us - result.ts_us} us before its cause"
    sparse = result.kind not in spec.internal
    if sparse and not (isinstance(result.payload, EventPayload) and result.id):
        return f"{result.kind} is published without a fact or an id"
    if result.annuls and result.annuls.partition("#")[0] not in spec.annuls:
        return f"{result.kind} annuls {result.annuls}, which is not declared"
    return _undeclared(detector, result)


def wrong_payloads(detectors: Iterable[Detector[object]], emitted: Iterable[Event]) -> list[str]:
    """Lists what published events carry against the declarations: names of detail, changes in newer versions.

    Args:
        detectors: whose declarations count.
        emitted: their events, in the order in which they became known.
    """
    specs = {kind: detector.spec for detector in detectors for kind in detector.spec.outputs}
    newest: dict[str, Event] = {}
    wrong: dict[str, None] = {}
    for event in emitted:
        if not isinstance(event.payload, EventPayload) or event.kind not in specs:
            continue
        spec = specs[event.kind]
        names = spec.details.get(event.kind, ())
        if not any(name.startswith("<") for name in names):
            wrong.update(
                dict.fromkeys(f"{event.kind} has undeclared {n}" for n in event.payload.detail if n not in names)
            )
        old = newest.get(event.id)
        if event.kind in spec.amends and old is not None and not event.annuls and not old.annuls:
            allowed = spec.known[event.kind].changes
            changed = [name for name in _differences(old.payload, event.payload) if name not in allowed]
            wrong.update(dict.fromkeys(f"a newer {event.kind} changes {name}" for name in changed))
        newest[event.id] = event
    return list(wrong)


def _differences(old: object, new: object) -> list[str]:
    """Names of the payload and of its detail in which two versions differ."""
    assert isinstance(old, EventPayload)
    assert isinstance(new, EventPayload)
    fields = [n for n in EventPayload.__struct_fields__ if n != "detail" and getattr(old, n) != getattr(new, n)]
    return fields + [n for n in {**old.detail, **new.detail} if old.detail.get(n) != new.detail.get(n)]


def _undeclared(detector: Detector[object], result: Event) -> str:
    """Describe a variant or team that the detector does not declare; empty if there is none. A team may be unknown."""
    payload = result.payload
    if not isinstance(payload, EventPayload):
        return ""
    plain = detector.spec.variants.get(result.kind, ())
    per_team = detector.spec.team_variants.get(result.kind, ())
    allowed = {*plain, *per_team} or {""}
    if payload.variant not in allowed:
        return f"{result.kind} has the undeclared variant {payload.variant!r}"
    if payload.team and plain and per_team and payload.variant not in per_team:
        return f"{result.kind} {payload.variant!r} is told of team {payload.team}, which is not declared"
    return ""


def missing_units(parameters: object, path: str = "") -> list[str]:
    """Names of float parameters that say no unit."""
    if isinstance(parameters, float):
        ok = path.endswith(UNITS) or path.endswith(PURE_NUMBERS)
        return [] if ok else [path]
    if isinstance(parameters, dict):
        return [m for name, value in parameters.items() for m in missing_units(value, f"{path}.{name}")]
    return []
