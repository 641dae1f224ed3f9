"""Windows and agreement that make a truth and a detection the same event.

The windows are stated with every figure. They are ours, and follow from the nature of an event: a contact or a
crossing is an instant, and a player's next contact is hardly sooner than 0.2 s; an action is dated at its kick, which
optical input knows to a few frames; a restart, a goal or a stop is rare, so a second cannot confuse it with another. A
truth that was timed by hand widens all of them (:class:`replay.scoring.truth.Truth`). Where a window reaches over the
ends of what was played, an unpaired mark counts neither as missed nor as invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Rule(NamedTuple):
    """Conditions under which a truth and a detection of one kind may pair.

    ``window_us``: inclusive, to either side. ``by_player``: the player must agree where truth names one, not only the
    team. ``by_variant``: player and variant must agree, because the variant names the area, line or limb.
    """

    window_us: int
    by_player: bool
    by_variant: bool = False


#: Milliseconds by kind or beginning of a kind; the longest that fits counts.
WINDOWS_MS: Mapping[str, int] = {
    "": 500,
    "ball.": 200,
    "near": 200,
    "not_near": 200,
    "hit": 200,
    "touch": 200,
    "deflection": 200,
    "header": 200,
    "bodypart": 200,
    "kick.released": 300,
    "area.": 300,
    "pz.": 300,
    "play.": 1_000,
    "team.possession": 1_000,
    "restart.": 1_000,
    "run": 1_000,
    "overload": 1_000,
    "phase.": 1_500,
    "goal.": 1_000,
    # The referee signals after the goal; a detection knows it by the restart, minutes later, and says of which goal.
    "goal.confirmed": 2_000,
    "goal.disallowed": 2_000,
    "period.": 2_000,
    # Truth has it from the kick-off on; a match sheet says it from the beginning on, and the teams when they line up.
    "direction": 60_000,
    "sub.": 5_000,
    "formation": 60_000,
    "role.": 60_000,
    "press.team": 1_000,
    "setpiece.": 1_000,
    "wall": 1_000,
    "momentum.": 60_000,
    "counterpress.start": 600,
}

#: Kinds that are a team's: another player of the team is counted, but pairs.
BY_TEAM = ("out", "play.", "team.possession", "restart.", "goal.", "period.", "formation")

#: Kinds that two opponents begin together: either of them may be named.
EITHER = ("aerial.start",)

#: Kinds whose variant is a place, a line or a limb: another one is another event, not a mistaken one.
BY_VARIANT = ("area.", "ball.crossed", "goal_ring", "near", "not_near", "nearest.changed", "spot.")

#: Variants that truths have of a kind of which they have not all: between passes the offside line moves at no instant.
COVERED_VARIANTS: Mapping[str, tuple[str, ...]] = {"offside.line": ("kick",)}

#: Kinds that are dated when they are known, and say in which detail when they happened.
OCCURRED: Mapping[str, str] = {
    "out": "since_us",
    "pass.out": "since_us",
    "play.dead": "since_us",
    "play.live": "kick_us",
    "team.possession": "since_us",
    "possession.loss": "since_us",
    "goal.candidate": "since_us",
    "goal.scored": "since_us",
    "goal.own": "since_us",
    "goal.confirmed": "goal_us",
    "goal.disallowed": "goal_us",
    "ball.static": "since_us",
    "run.intensity": "since_us",
    "shape.long": "since_us",
    "shape.short": "since_us",
    "shape.wide": "since_us",
    "shape.narrow": "since_us",
    "line.high": "since_us",
    "line.mid": "since_us",
    "line.low": "since_us",
    "period.start": "since_us",
    "period.end": "since_us",
    "chain.end": "since_us",
    "sequence.end": "since_us",
    "state.score": "since_us",
    "state.men": "since_us",
    "sub.in": "since_us",
    "sub.out": "since_us",
    "run": "since_us",
    "run.recovery": "since_us",
    "time.live": "since_us",
    "trigger": "cue_us",
    "overload": "since_us",
    "phase.in": "since_us",
    "setpiece.shape": "kick_us",
    "phase.out": "since_us",
    "press.team.start": "since_us",
    "press.team.end": "since_us",
}

#: Kinds that can be taken for one another though their names begin differently.
_FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("hit", "touch", "deflection", "header"), "contact"),
    **dict.fromkeys(("pass.attempt", "shot.attempt", "clearance", "carry.start"), "kick"),
    **dict.fromkeys(("pass.complete", "pass.intercepted", "pass.out", "pass.failed"), "pass outcome"),
}


def rule_of(kind: str) -> Rule:
    """Return window and agreement of a kind.

    >>> rule_of("restart.corner")
    Rule(window_us=1000000, by_player=False, by_variant=False)
    >>> rule_of("pass.attempt")
    Rule(window_us=500000, by_player=True, by_variant=False)
    """
    prefix = max((p for p in WINDOWS_MS if kind.startswith(p)), key=len)
    return Rule(WINDOWS_MS[prefix] * 1_000, not kind.startswith(BY_TEAM), kind.startswith(BY_VARIANT))


def family_of(kind: str) -> str:
    """Return the family of a kind, within which kinds may be confused: a named one, else its first word."""
    return _FAMILIES.get(kind, kind.partition(".")[0])
