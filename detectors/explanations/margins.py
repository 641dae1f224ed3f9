"""Margins: how clearly a detector decided, as the compared values of an event against their thresholds.

Theory of operation
-------------------
A detector's rules compare by :mod:`detectors.decisions`. A step is pure, so the step that emitted an event is run once
more, on the recorded state and input, with the recorder on; the comparisons that held and belong to the event are its
margins. Kinds whose detectors do not compare in that way yet have their comparisons restated in this package.
"""

from __future__ import annotations

from collections.abc import Mapping

from detectors.decisions import recording
from detectors.explanations import acts, chain, early
from detectors.explanations.evidence import ROUNDING, Evidence, Margin, Rule
from detectors.parameters import all_parameters, unit_of
from football.payloads import EventPayload

__all__ = ["ROUNDING", "UNDECIDED", "decided", "margins", "told_kinds"]

_RULES: Mapping[str, Rule] = {**early.RULES, **chain.RULES, **acts.RULES}

#: Kinds that no threshold decides, and what does.
UNDECIDED: Mapping[str, str] = {
    "distance.tick": "the clock: every so long",
    "possession.gain": "a contact, whoever made it",
    "possession.loss": "another's contact, or the end of play",
    "recovery": "the first gain after a loose ball",
    "gk.sweep": "a contact outside his area, whose lines the Laws draw",
    "packing": "a count of opponents",
    "packing.carry": "a count of opponents",
    "clock.minute": "the clock",
    "time.live": "a sum of what 6.4 tells",
    "time.lost": "a sum of what 6.4 tells",
    "stat.running": "the clock: sums of what 3.1 tells",
    "stat.possession": "the clock: sums of what 5.1 tells",
    "stat.heatmap": "the clock: shares of looks",
}


#: Kinds that name what their input decided: their margins are the input's, and the detector's own.
RENAMING = frozenset(("play.dead", "play.live", "out", "goal.candidate", "goal.scored", "goal.own"))


def margins(evidence: Evidence) -> tuple[Margin, ...]:
    """The comparisons behind an event; none for a kind that no threshold decides."""
    if not isinstance(evidence.told.payload, EventPayload):
        return ()
    origin = evidence.origin(evidence.by.id) if evidence.told.kind in RENAMING else None
    if origin is not None:
        return (*margins(origin), *decided(evidence))
    rule = _RULES.get(evidence.told.kind)
    restated = rule(evidence) if rule is not None else ()
    return (*(margin for margin in restated if margin is not None), *decided(evidence))


def decided(evidence: Evidence) -> tuple[Margin, ...]:
    """The comparisons that the detector made for an event, the last of each name; its step is run once more."""
    with recording() as comparisons:
        evidence.detector.step(evidence.before, evidence.by)
    told, payload = evidence.told, evidence.payload
    properties = {told.kind, told.id, told.source, payload.variant, payload.team, payload.player}
    values = {p.path: p.value for p in all_parameters(evidence.parameters)}
    found: dict[tuple[str, str, str], Margin] = {}
    for c in comparisons:
        if properties.issuperset(c.about):
            unit = c.unit if c.unit or not c.parameter else unit_of(c.parameter, values[c.parameter]).text
            found[c.what, c.parameter, c.sense] = Margin(c.what, c.value, c.sense, c.threshold, unit, c.parameter)
    return tuple(found.values())


def told_kinds() -> tuple[str, ...]:
    """Kinds whose margins are told."""
    return tuple(_RULES)
