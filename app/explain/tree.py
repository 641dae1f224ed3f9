"""The tree of an explanation: an event with its margins, its causes, and the positions of the objects concerned.

Its source is the log of conclusions (``middleware.provenance``) of a match played once more; events that the log of
conclusions lacks come from the store's log.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from detectors.catalogue import DetectorInfo, catalogue
from detectors.confidence import Row
from detectors.margins import Evidence, Margin, margins
from detectors.parameters import Parameters
from detectors.records import RecordMaker
from football.packets import PackedInstant, Packet
from football.payloads import BallState, BodyState, EventPayload, Frame
from football.update_stream import EventRecord
from middleware.events import Event
from middleware.provenance import Conclusion
from middleware.trace import name_of

#: Limit of the positions of one object in an event.
_POSITIONS_MAX = 6


class RawPosition(msgspec.Struct, frozen=True):
    """The measured position behind a state: its packet, time and location."""

    packet: str
    ts_us: int
    x_m: float
    y_m: float
    z_m: float


class Position(msgspec.Struct, frozen=True):
    """The position of the ball or a player in a detector's input (``state``), and the measured one."""

    object: str
    state: str
    ts_us: int
    x_m: float
    y_m: float
    z_m: float
    measured: RawPosition | None = None


class Number(msgspec.Struct, frozen=True):
    """A parameter of a detector."""

    name: str
    value: int | float
    unit: str


class Node(msgspec.Struct, frozen=True):
    """An event and its causes.

    Attributes:
        event: as published; None of internal events without a published payload.
        id: its id.
        ts_us: its event time.
        detector, number: the detector that concluded it.
        on: the input of the step that concluded it.
        margins: comparisons that had to hold, with the parameter of each.
        parameters: all parameters of the detector.
        held: events that the detector had before it.
        positions: of the objects concerned, oldest first.
        causes: its causes, each explained in turn.
        above: True if it was explained before; then only its name is given.
        calibrated: the row of the calibration that its confidence comes from.
        own_confidence: the rule's own confidence.
        from_log: True if it could not be played again; then only the log's content is given.
    """

    id: str
    ts_us: int
    event: EventRecord | None = None
    detector: str = ""
    number: str = ""
    on: str = ""
    margins: tuple[Margin, ...] = ()
    parameters: tuple[Number, ...] = ()
    held: tuple[str, ...] = ()
    positions: tuple[Position, ...] = ()
    causes: tuple[Node, ...] = ()
    above: bool = False
    from_log: bool = False
    calibrated: Row | None = None
    own_confidence: float = 1.0


def shown(versions: Sequence[Conclusion] | None, records: RecordMaker) -> EventRecord | None:
    """An event as it is published: its last version, under the time that it is dated."""
    if not versions:
        return None
    event = versions[-1].event
    dated = event if event.dated_us is None else msgspec.structs.replace(event, ts_us=event.dated_us, dated_us=None)
    return records.record(dated)


class Tree:
    """Builds nodes.

    Args:
        known: events by id, as the log has them.
        parameters: of the match.
        conclusions: conclusions by name.
        records: what makes the records of the match; None if nothing was played again.
    """

    def __init__(
        self,
        known: Mapping[str, EventRecord],
        parameters: Parameters,
        conclusions: Mapping[str, list[Conclusion]],
        records: RecordMaker | None,
    ) -> None:
        self._known, self._parameters, self._conclusions = known, parameters, conclusions
        entries = catalogue(parameters)
        self._entries: dict[str, DetectorInfo] = {entry.kind: entry for entry in entries}
        self._records = records
        self._explained: set[str] = set()
        self._states = _states(conclusions)

    def node(self, name: str) -> Node:
        """The node of an event; of one that was explained before only its name."""
        record = self._known.get(name)
        versions = self._conclusions.get(name)
        if name in self._explained:
            return Node(name, versions[-1].event.ts_us if versions else record.ts_us if record else 0, above=True)
        self._explained.add(name)
        if not versions:
            return self._from_log(name, record)
        conclusion = versions[-1]
        event, by = conclusion.event, conclusion.trigger
        spec = conclusion.detector.spec
        record, row, own = self._published(versions)
        held = [event for event in events_in(conclusion.before) if event is not by]
        # Of its own level a detector reads what others share: an event, or what only its maker's inputs show.
        within = [event for event in events_in(by.payload) if event.id]
        maker = self._step(name_of(by))
        seen = [*held, by]
        if maker is not None and maker.detector.spec.level == spec.level:
            seen += [*events_in(maker.before), maker.trigger]
        causes = dict.fromkeys((*map(name_of, within), *event.causes, *((by.id,) if by.id else ())))
        return Node(
            name,
            event.ts_us,
            record,
            spec.name,
            spec.number,
            name_of(within[0] if within else by),
            self._margins(conclusion),
            self._numbers(spec.name),
            tuple(dict.fromkeys(map(name_of, held))),
            tuple(self._positions(event, seen)),
            tuple(map(self.node, causes)),
            calibrated=row,
            own_confidence=own,
        )

    def _published(self, versions: Sequence[Conclusion]) -> tuple[EventRecord | None, Row | None, float]:
        """The record of an event, the row of its calibrated confidence, and the rule's own confidence."""
        event = versions[-1].event
        if self._records is None or not isinstance(event.payload, EventPayload):
            return None, None, 1.0
        row = self._records.calibration.row(event.kind, event.payload)
        return shown(versions, self._records), row, event.payload.confidence

    def _from_log(self, name: str, record: EventRecord | None) -> Node:
        if record is None:
            return Node(name, 0, from_log=True)
        entry = next((e for e in self._entries.values() if record.kind in e.outputs), None)
        return Node(
            name,
            record.ts_us,
            record,
            entry.kind if entry else "",
            entry.number if entry else "",
            parameters=self._numbers(entry.kind) if entry else (),
            causes=tuple(map(self.node, record.causes)),
            from_log=True,
        )

    def _margins(self, conclusion: Conclusion) -> tuple[Margin, ...]:
        return margins(self._evidence(conclusion))

    def _evidence(self, conclusion: Conclusion) -> Evidence:
        return Evidence(
            conclusion.event,
            conclusion.trigger,
            conclusion.before,
            conclusion.detector,
            self._parameters,
            self._origin,
        )

    def _origin(self, name: str) -> Evidence | None:
        step = self._step(name)
        return self._evidence(step) if step is not None else None

    def _numbers(self, detector: str) -> tuple[Number, ...]:
        entry = self._entries.get(detector)
        return tuple(Number(p.path, p.value, p.unit.text) for p in entry.parameters) if entry else ()

    def _positions(self, event: Event, inputs: Sequence[Event]) -> Iterator[Position]:
        """Positions of the ball and of the objects that an event names, from the dense events among its inputs."""
        concerned = {"ball", *_named(event)}
        positions: dict[str, list[Position]] = {}
        for state in sorted(inputs, key=lambda e: e.ts_us):
            for position in _positions_in(state, concerned):
                mine = positions.setdefault(position.object, [])
                if not mine or mine[-1].ts_us < position.ts_us:
                    mine.append(position)
        for mine in positions.values():
            nearest = sorted(mine, key=lambda position: abs(position.ts_us - event.ts_us))[:_POSITIONS_MAX]
            for position in sorted(nearest, key=lambda position: position.ts_us):
                yield msgspec.structs.replace(position, measured=self._measured(position))

    def _measured(self, position: Position) -> RawPosition | None:
        """The measured position behind a conditioned one: the newest at or before it."""
        times, conclusions = self._states.get(position.object, ([], []))
        at = bisect_right(times, position.ts_us) - 1
        step = conclusions[at] if at >= 0 else self._step(position.state)
        while step is not None and not step.trigger.kind.startswith("raw."):
            step = self._step(name_of(step.trigger))
        return _nearest(step.trigger, position) if step is not None else None

    def _step(self, name: str) -> Conclusion | None:
        versions = self._conclusions.get(name)
        return versions[-1] if versions else None


def _states(conclusions: Mapping[str, list[Conclusion]]) -> dict[str, tuple[list[int], list[Conclusion]]]:
    """Conditioned positions by object, in order of time."""
    by_object: dict[str, list[Conclusion]] = {}
    for versions in conclusions.values():
        payload = versions[-1].event.payload
        kind = versions[-1].event.kind
        if kind == "ball.state":
            by_object.setdefault("ball", []).append(versions[-1])
        elif isinstance(payload, BodyState):
            by_object.setdefault(payload.object_id, []).append(versions[-1])
    for ordered in by_object.values():
        ordered.sort(key=lambda c: c.event.ts_us)
    return {name: ([c.event.ts_us for c in all_], all_) for name, all_ in by_object.items()}


def events_in(state: object) -> Iterator[Event]:
    """The events that a detector's state holds."""
    if isinstance(state, Event):
        yield state
    elif isinstance(state, msgspec.Struct):
        for field in state.__struct_fields__:
            yield from events_in(getattr(state, field))
    elif isinstance(state, dict):
        yield from (event for value in state.values() for event in events_in(value))
    elif isinstance(state, tuple | list):
        yield from (event for value in state for event in events_in(value))


def _named(event: Event) -> set[str]:
    """Ids of the objects that an event names: the player of its payload, and the texts in its details."""
    payload = event.payload
    if not isinstance(payload, EventPayload):
        return set()
    return {payload.player, *(value for value in payload.detail.values() if isinstance(value, str))} - {""}


def _positions_in(event: Event, concerned: set[str]) -> Iterator[Position]:
    """Positions of the objects concerned in a dense event."""
    payload = event.payload
    if isinstance(payload, Frame):
        if payload.ball is not None:
            yield Position("ball", name_of(event), event.ts_us, *_xyz(payload.ball))
        for body in payload.everybody():
            if body.object_id in concerned:
                yield Position(body.object_id, name_of(event), event.ts_us, *_xyz(body))
    elif isinstance(payload, BallState):
        yield Position("ball", name_of(event), event.ts_us, *_xyz(payload))
    elif isinstance(payload, BodyState) and payload.object_id in concerned:
        yield Position(payload.object_id, name_of(event), event.ts_us, *_xyz(payload))


def _xyz(state: BallState | BodyState) -> tuple[float, float, float]:
    return round(state.x_m, 3), round(state.y_m, 3), round(state.z_m, 3)


def _nearest(raw: Event, position: Position) -> RawPosition | None:
    """The measured position of an object in a raw event that is nearest in time."""
    payload = raw.payload.packets if isinstance(raw.payload, PackedInstant) else raw.payload
    packets = payload if isinstance(payload, tuple) else (payload,)
    for packet in packets:
        if not isinstance(packet, Packet):
            continue
        if len(packets) == 1 or _is_of(packet.transmitter, position.object):
            at = min(range(len(packet.ts_us)), key=lambda i: abs(packet.ts_us[i] - position.ts_us))
            name = f"{raw.kind}:{packet.transmitter}:{packet.sequence}"
            return RawPosition(name, packet.ts_us[at], packet.x_m[at], packet.y_m[at], packet.z_m[at])
    return None


def _is_of(transmitter: str, name: str) -> bool:
    """True if a transmitter belongs to an object: to the player or one of the player's limbs, or to any ball."""
    carrier = transmitter.partition("/")[0]
    return carrier.startswith("ball") if name == "ball" else carrier == name
