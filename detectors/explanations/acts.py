"""Levels 5 to 8: parts of the body, the goalkeeper's hands, contests, runs with the ball, qualifiers."""

from __future__ import annotations

from detectors.contacts.body_parts import HeaderState
from detectors.explanations.evidence import (
    Evidence,
    Found,
    Rule,
    against,
    number,
)


def _part(e: Evidence) -> Found:
    """5.3: how near the limb was; else how high the ball."""
    limb_m, z_m, p = number(e.payload, "limb_m"), e.payload.z_m, e.parameters.body_part
    if limb_m is not None:
        sure = limb_m < p.limb_m
        yield against(e, "the limb from the ball", limb_m, "at most" if sure else "at least", "body_part.limb_m")
        return
    if not e.sheet.quality.ball_height or z_m is None:
        return
    if e.payload.variant == "other":
        if z_m < p.chest_m:
            yield against(e, "height of the ball", z_m, "at most", "body_part.chest_m")
        elif z_m > p.head_most_m:
            yield against(e, "height of the ball", z_m, "at least", "body_part.head_most_m")
    else:
        low, high = ("head_m", "head_most_m") if e.payload.variant == "head" else ("chest_m", "head_m")
        yield against(e, "height of the ball", z_m, "at least", f"body_part.{low}")
        yield against(e, "height of the ball", z_m, "at most", f"body_part.{high}")


def _header(e: Evidence) -> Found:
    """5.4: the height of a head; in a leap, by his feet or by the height."""
    yield against(e, "height of the ball", e.payload.z_m, "at least", "body_part.head_m")
    yield against(e, "height of the ball", e.payload.z_m, "at most", "body_part.head_most_m")
    leapt, quality = e.payload.variant == "jumping", e.sheet.quality
    if {"left_foot", "right_foot"} <= {*quality.limbs} and not quality.framed:
        jumps = dict(e.before.jumps) if isinstance(e.before, HeaderState) else {}
        if leapt and e.payload.player in jumps:
            off_us = e.told.ts_us - jumps[e.payload.player]
            yield against(e, "time since he left the ground", off_us, "at most", "header.jump_us")
    else:
        yield against(e, "height of the ball", e.payload.z_m, "at least" if leapt else "at most", "body_part.leap_m")


def _deflected(e: Evidence) -> Found:
    """5.7: turned little, fast before, and about as fast after."""
    yield against(e, "turn of the ball", number(e.payload, "turn_rad"), "at most", "deflection.turn_rad")
    before, after = number(e.payload, "speed_before_m_s"), number(e.payload, "speed_after_m_s")
    yield against(e, "speed before", before, "at least", "deflection.speed_m_s")
    if before and after is not None:
        yield against(e, "speed after, of that before", after / before, "at least", "deflection.least_factor")
        yield against(e, "speed after, of that before", after / before, "at most", "deflection.most_factor")


def _own_m(e: Evidence) -> float | None:
    """How far the first was from the ball, of contacts that only one was seen of."""
    return number(e.payload, "own_m") if number(e.payload, "distance_m") is not None else None


def _contest(e: Evidence) -> Found:
    """5.9: how soon after each other, or how near the other was."""
    yield against(e, "time between the contacts", number(e.payload, "apart_us"), "at most", "contest.within_us")
    most_m = e.parameters.contest.limb_m if e.sheet.quality.limbs else None
    if most_m is not None:
        yield against(e, "the other's limb from the ball", number(e.payload, "distance_m"), "at most", "contest.limb_m")
    elif (own_m := _own_m(e)) is not None:
        farther_m = (number(e.payload, "distance_m") or 0.0) - own_m
        yield against(e, "how much farther the other is", farther_m, "at most", "contest.farther_m")


#: By kind.
RULES: dict[str, Rule] = {
    "bodypart": _part,
    "header": _header,
    "deflection": _deflected,
    "contest.contact": _contest,
}
