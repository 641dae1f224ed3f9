"""Margins: how clearly a detector decided, as the compared values of an event against their thresholds.

Theory of operation
-------------------
A detector's rules compare by :mod:`detectors.decisions`. A step is pure, so the step that emitted an event is run once
more, on the recorded state and input, with the recorder on. The comparisons that held and belong to the event are its
margins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from detectors.decisions import Sense, recording
from detectors.parameters import Parameters, all_parameters
from football.payloads import EventPayload, payload_of
from middleware.detector import Detector
from middleware.events import Event

#: Kinds that no threshold decides, and what does.
UNDECIDED: Mapping[str, str] = {
    "distance.tick": "the clock: every so long",
    "possession.gain": "a contact of any player",
    "possession.loss": "another's contact, or the end of play",
    "recovery": "an opponent's gain, and the next contact of the own team",
    "gk.sweep": "a contact outside the penalty area, whose lines the Laws draw",
    "packing": "a count of opponents",
    "packing.carry": "a count of opponents",
    "clock.minute": "the clock",
    "time.live": "a sum of 6.4's times",
    "time.lost": "a sum of 6.4's times",
    "chain.start": "a gain or a restart",
    "sequence.end": "a lost pass, a dead ball, or a pass that does not continue it",
    "counter.active": "a contact in a counter-attack under way",
    "entry": "contacts and 3.9's entrances",
    "state.score": "a sum of goals",
    "state.men": "a sum of players sent off",
    "stat.pass": "a sum of passes",
    "stat.network": "a sum of passes",
    "stat.shot": "a sum of shots",
    "stat.xg": "a sum of 8.10's values",
    "stat.tilt": "a sum of passes",
    "ticker": "the event that it speaks of",
    "rating.step": "a sum of values",
    "value.xt": "a table: the places of a pass or carry",
    "load.metabolic": "the clock: a sum of 1.11's paces",
    "load.hsr": "the clock: a sum of 1.11's paces",
    "load.sprints": "the clock: a sum of 1.11's paces",
    "stat.running": "the clock: sums of 3.1's runs",
    "stat.possession": "the clock: sums of 5.1's hits",
    "stat.heatmap": "the clock: shares of samples",
}


#: Kinds that name what their input decided: their margins are the input's, and the detector's own.
RENAMING = frozenset(
    (
        "play.dead", "play.live", "out", "goal.candidate", "goal.scored", "goal.own", "tackle.won", "takeon.won",
        "takeon.lost", "referee", "review",
    )
)  # fmt: skip


class Margin(msgspec.Struct, frozen=True):
    """A comparison that had to hold.

    Attributes:
        what: the compared quantity, in words.
        value: its value.
        sense: how it must stand to the threshold.
        threshold: as it was in force: the parameter, or what the input's noise made of it.
        unit: of both.
        parameter: path of the threshold (``hit.share_min``); empty if it has none, as the Laws' measures.
    """

    what: str
    value: float
    sense: Sense
    threshold: float
    unit: str
    parameter: str = ""

    @property
    def margin(self) -> float:
        """How far the value is on the right side of the threshold."""
        return self.value - self.threshold if self.sense == "at least" else self.threshold - self.value


class Evidence(msgspec.Struct, frozen=True):
    """The step that emitted an event.

    Attributes:
        event: the event.
        trigger: the input of the step.
        before: the state before it.
        detector: the detector.
        parameters: of the match.
        origin: evidence of an event by id, as far as it was recorded.
    """

    event: Event
    trigger: Event
    before: object
    detector: Detector[object]
    parameters: Parameters = Parameters()
    origin: Callable[[str], Evidence | None] = lambda name: None


def margins(evidence: Evidence) -> tuple[Margin, ...]:
    """The comparisons behind an event; none for a kind that no threshold decides."""
    if not isinstance(evidence.event.payload, EventPayload):
        return ()
    origin = evidence.origin(evidence.trigger.id) if evidence.event.kind in RENAMING else None
    return _decided(evidence) if origin is None else (*margins(origin), *_decided(evidence))


def _decided(evidence: Evidence) -> tuple[Margin, ...]:
    """The comparisons that the detector made for an event, the last of each name; its step is run once more."""
    with recording() as comparisons:
        evidence.detector.step(evidence.before, evidence.trigger)
    event, payload = evidence.event, payload_of(evidence.event)
    properties = {event.kind, event.id, event.source, payload.variant, payload.team, payload.player}
    units: dict[str, str] = {}
    if any(c.parameter and not c.unit for c in comparisons):
        units = {p.path: p.unit.text for p in all_parameters(evidence.parameters)}
    found: dict[tuple[str, str, str], Margin] = {}
    for c in comparisons:
        if properties.issuperset(c.about):
            unit = c.unit if c.unit or not c.parameter else units[c.parameter]
            found[c.what, c.parameter, c.sense] = Margin(c.what, c.value, c.sense, c.threshold, unit, c.parameter)
    return tuple(found.values())
