"""How clearly a detector concluded what it did: the numbers of an event against the thresholds that it passed.

For each kind a function of :mod:`detectors.comparing` names the comparisons that its rule makes (the rule itself stands
with the detector), takes their values out of what led to the event, and the thresholds out of the match's parameters.
Values in facts are rounded, so a margin may miss by half of the last place (``ROUNDING``).
"""

from __future__ import annotations

from collections.abc import Mapping

from detectors.explanations import acts, chain, early, match
from detectors.explanations.evidence import Evidence, Margin, Rule
from football.payloads import EventPayload

#: How far rounding may move a value that is told in a fact.
ROUNDING = 0.006

_RULES: Mapping[str, Rule] = {**early.RULES, **chain.RULES, **acts.RULES, **match.RULES}

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


def margins(evidence: Evidence) -> tuple[Margin, ...]:
    """The comparisons behind an event; none for a kind that no threshold decides."""
    rule = _RULES.get(evidence.told.kind)
    if rule is None or not isinstance(evidence.told.payload, EventPayload):
        return ()
    return tuple(margin for margin in rule(evidence) if margin is not None)


def told_kinds() -> tuple[str, ...]:
    """Kinds whose margins are told."""
    return tuple(_RULES)
