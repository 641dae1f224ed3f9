"""What a comparison is, and what led to an event: the ground that the rules of this room stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from detectors.decisions import Sense
from detectors.parameters import Parameters, all_parameters, unit_of
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState, EventPayload, Frame
from middleware.detector import Detector
from middleware.events import Event

#: How far rounding may move a value that is told in a fact.
ROUNDING = 0.006


class Margin(msgspec.Struct, frozen=True):
    """A comparison that had to hold.

    Attributes:
        what: was compared.
        value: of it.
        sense: how it must stand to the threshold.
        threshold: as it was in force: of the parameter, or what the input's noise made of it.
        unit: of both.
        parameter: where the threshold is set (``hit.share_min``); empty if nowhere, as of the Laws' measures.
    """

    what: str
    value: float
    sense: Sense
    threshold: float
    unit: str
    parameter: str = ""

    @property
    def margin(self) -> float:
        """How far the value is on the right side."""
        return self.value - self.threshold if self.sense == "at least" else self.threshold - self.value


class Evidence(msgspec.Struct, frozen=True):
    """What led to an event.

    Attributes:
        told: the event.
        by: the input on whose step it was concluded.
        before: state of its detector before that step.
        detector: that concluded it.
        find: event by id, as far as it is known.
        sheet: of the match.
        parameters: of the match.
        origin: evidence of an event by id, as far as it was recorded.
    """

    told: Event
    by: Event
    before: object
    detector: Detector[object]
    find: Callable[[str], Event | None]
    sheet: MatchSheet
    parameters: Parameters = Parameters()
    origin: Callable[[str], Evidence | None] = lambda name: None

    @property
    def payload(self) -> EventPayload:
        """What is told."""
        payload = self.told.payload
        assert isinstance(payload, EventPayload)
        return payload

    @property
    def causes(self) -> tuple[Event, ...]:
        """The causes that are known."""
        return tuple(cause for cause in map(self.find, self.told.causes) if cause is not None)

    @property
    def frame(self) -> Event | None:
        """The frame at which it was concluded: the input itself, or the newest one of the state."""
        frame = self.by if self.by.kind == "frame" else getattr(self.before, "frame", None)
        return frame if isinstance(frame, Event) and isinstance(frame.payload, Frame) else None


#: What a rule gives.
Found = Iterator[Margin | None]
Rule = Callable[[Evidence], Found]


def against(
    evidence: Evidence, what: str, value: object, sense: Sense, parameter: str, threshold: float | None = None
) -> Margin | None:
    """A margin against a parameter, or against what became of it; None if the value is not known."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    set_to = _numbers(evidence.parameters)[parameter]
    unit = unit_of(parameter, set_to).text
    return Margin(what, value, sense, set_to if threshold is None else threshold, unit, parameter)


def _numbers(parameters: Parameters) -> Mapping[str, float]:
    return {p.path: p.value for p in all_parameters(parameters)}


def number(payload: EventPayload, name: str) -> float | None:
    """A number of a fact's detail; None if it has none of that name."""
    value = payload.detail.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def payload_of(event: Event | None) -> EventPayload:
    """What an event tells; nothing if there is none."""
    payload = event.payload if event is not None else None
    return payload if isinstance(payload, EventPayload) else EventPayload()


def raised(evidence: Evidence, name: str) -> float | None:
    """A threshold that the detector raised to what the input's noise allows."""
    value = evidence.detector.spec.parameters.get(name)
    return float(value) if isinstance(value, int | float) else None


def between(
    evidence: Evidence, what: str, value: object, bounds: Sequence[str], index: int, slack: float = 0.0
) -> Found:
    """A value that lies in one of the bands that parameters cut: over the bound below it, under the one above.

    ``slack`` is how far past a bound it may be while a band is kept.
    """
    below, above = bounds[:index][-1:], bounds[index : index + 1]
    cuts: list[tuple[str, Sense, float]] = [(name, "at least", -slack) for name in below]
    cuts += [(name, "at most", slack) for name in above]
    for name, sense, by in cuts:
        margin = against(evidence, what, value, sense, name)
        if margin is not None:
            yield msgspec.structs.replace(margin, threshold=margin.threshold + by)


def since(parameter: str, what: str, *kinds: str) -> Rule:
    """Time since the cause of one of some kinds: at most so long."""

    def rule(e: Evidence) -> Found:
        cause = next((c for c in e.causes if c.kind in kinds), None)
        if cause is not None:
            yield against(e, what, e.by.ts_us - cause.ts_us, "at most", parameter)

    return rule


def lasted(parameter: str, what: str, sense: Sense = "at least") -> Rule:
    """Time from ``detail.since_us`` to the event."""

    def rule(e: Evidence) -> Found:
        since_us = number(e.payload, "since_us")
        if since_us is not None:
            yield against(e, what, e.told.ts_us - since_us, sense, parameter)

    return rule


def told_value(name: str, what: str, sense: Sense, parameter: str) -> Rule:
    """A number that the event tells."""

    def rule(e: Evidence) -> Found:
        yield against(e, what, number(e.payload, name), sense, parameter)

    return rule


def all_of(*rules: Rule) -> Rule:
    """Several comparisons."""

    def rule(e: Evidence) -> Found:
        for one in rules:
            yield from one(e)

    return rule


def in_frame(evidence: Evidence, name: object) -> BodyState | None:
    """A player as the frame of a conclusion has him."""
    frame = evidence.frame
    people = frame.payload if frame is not None else None
    return next((p for p in people.players if p.object_id == name), None) if isinstance(people, Frame) else None


def ball_in_frame(evidence: Evidence) -> BallState | None:
    """The ball as the frame of a conclusion has it."""
    frame = evidence.frame
    people = frame.payload if frame is not None else None
    return people.ball if isinstance(people, Frame) else None
