"""Levels 5 to 8: parts of the body, the goalkeeper's hands, contests, runs with the ball, qualifiers."""

from __future__ import annotations

import math

from detectors.contacts.body_parts import HeaderState
from detectors.decisions import Sense
from detectors.explanations.evidence import (
    Evidence,
    Found,
    Margin,
    Rule,
    against,
    between,
    in_frame,
    number,
    payload_of,
    since,
    told_value,
)
from detectors.outcomes.claims import ClaimState
from detectors.outcomes.contests import TackleState, TakeOnState
from detectors.outcomes.offside import OffsideState
from detectors.qualifiers.chances import XG_BOUNDS, XGS, KeyPassState
from detectors.qualifiers.gains import carried_way
from detectors.qualifiers.pass_qualifier import Way, passed_way
from detectors.qualifiers.passes import LENGTHS
from football.match_sheet import Team
from football.payloads import EventPayload, Frame
from football.pitch import pitch_of


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


def _passed_by(e: Evidence) -> Found:
    """7.12: he was in front, and is behind so soon after."""
    carrier, other = in_frame(e, e.payload.player), in_frame(e, e.payload.detail.get("other"))
    faced = e.before.faced if isinstance(e.before, TakeOnState) else ()
    his = next((f for f in faced if f.player == e.payload.detail.get("other")), None)
    if carrier is None or other is None or his is None:
        return
    behind_m = -((other.x_m - carrier.x_m) * his.way_x + (other.y_m - carrier.y_m) * his.way_y)
    yield against(e, "distance that he is behind", behind_m, "at least", "take_on.behind_m")
    yield against(e, "time since he was in front", e.by.ts_us - his.at_us, "at most", "take_on.within_us")


def _taken_off(e: Evidence) -> Found:
    """7.12: the ball was won slowly, soon after he was in front or was passed."""
    taker = number(payload_of(e.by), "speed_before_m_s")
    yield against(e, "speed of the ball before", taker, "at most", "take_on.slow_m_s")
    if not isinstance(e.before, TakeOnState):
        return
    if e.told.annuls and e.before.won is not None:
        yield against(e, "time since he was passed", e.by.ts_us - e.before.won.ts_us, "at most", "take_on.kept_us")
        return
    times = [f.at_us for f in e.before.faced if f.player == e.payload.detail.get("other")]
    if times:
        yield against(e, "time since he was in front", e.by.ts_us - max(times), "at most", "take_on.within_us")


def _tackle_lost(e: Evidence) -> Found:
    """7.13: how soon the ball was lost again."""
    if isinstance(e.before, TackleState) and e.before.tackle is not None:
        name = "kept_us" if e.by.kind == "play.dead" else "control_us"
        yield against(e, "time since the tackle", e.by.ts_us - e.before.tackle.ts_us, "at most", f"tackle.{name}")


def _tackle_won(e: Evidence) -> Found:
    """7.13: a ball that was not shot at him."""
    speed_m_s = number(payload_of(e.by), "speed_before_m_s")
    yield against(e, "speed of the ball before", speed_m_s, "at most", "tackle.slow_m_s")


def _claimed(e: Evidence) -> Found:
    """7.14: how high the ball was, and how near an opponent."""
    payload, p = e.payload, e.parameters.goalkeeper_claim
    high = e.told.kind == "gk.claim"
    yield against(e, "height of the ball", payload.z_m, "at least" if high else "at most", "goalkeeper_claim.high_m")
    frame = e.before.frame.payload if isinstance(e.before, ClaimState) and e.before.frame is not None else None
    if high or not isinstance(frame, Frame) or payload.x_m is None or payload.y_m is None:
        return
    away = [
        math.hypot(b.x_m - payload.x_m, b.y_m - payload.y_m) for b in frame.players if b.team and b.team != payload.team
    ]
    if away:
        sense: Sense = "at most" if min(away) <= p.feet_m else "at least"
        yield against(e, "the nearest opponent", min(away), sense, "goalkeeper_claim.feet_m")


def _offside_line(e: Evidence) -> Found:
    """7.15: how far the line has moved."""
    before, payload = e.before, e.payload
    if (
        payload.variant != "moved"
        or not isinstance(before, OffsideState)
        or before.told != payload.team
        or payload.x_m is None
    ):
        return
    upfield_m = payload.x_m if payload.team == before.attacks else -payload.x_m
    yield against(e, "way of the line", abs(upfield_m - before.told_m), "at least", "offside.move_m")


def _offside(e: Evidence) -> Found:
    """7.15: how far beyond the line."""
    beyond_m = number(e.payload, "margin_m")
    if beyond_m is not None:
        yield Margin("distance beyond the line", beyond_m, "at least", 0.0, "m")
        close = e.payload.detail.get("close") is True
        yield against(e, "distance beyond the line", beyond_m, "at most" if close else "at least", "offside.close_m")


def _cleared(e: Evidence) -> Found:
    """7.9: the end of the kick in time."""
    if e.told.dated_us is not None:
        took_us = e.by.ts_us - e.told.dated_us
        yield against(e, "time since the kick", took_us, "at most", "clearance.within_us")
    pitch, kick_x_m = pitch_of(e.sheet), e.payload.x_m
    if kick_x_m is not None:
        # Own third: either end, whichever is his.
        yield Margin("the kick from the halfway line", abs(kick_x_m), "at least", pitch.half_length_m / 3.0, "m")


def _kept(e: Evidence) -> Found:
    """7.6: the kicker's next contact: no longer his kick, and not so late that the ball may have been elsewhere."""
    attempt = next((c for c in e.causes if c.kind == "pass.attempt"), None)
    kick_us = number(payload_of(attempt), "kick_us")
    if kick_us is not None:
        yield against(e, "time since the kick", e.by.ts_us - kick_us, "at least", "pass_outcome.kept_from_us")
        yield against(e, "time since the kick", e.by.ts_us - kick_us, "at most", "pass_outcome.kept_us")


def _direction(e: Evidence) -> Found:
    """8.1: the angle from the attack's axis."""
    angle, limit = number(e.payload, "angle_rad"), e.parameters.pass_direction.sideways_rad
    if angle is None:
        return
    name, what = "pass_direction.sideways_rad", "angle from the attack's axis"
    if e.payload.variant != "backward":
        yield against(e, what, abs(angle), "at most" if e.payload.variant == "forward" else "at least", name)
    if e.payload.variant != "forward":
        straight = math.pi - limit
        yield against(e, what, abs(angle), "at least" if e.payload.variant == "backward" else "at most", name, straight)


def _length(e: Evidence) -> Found:
    """8.2: in which class."""
    bounds = ("pass_length.medium_m", "pass_length.long_m")
    yield from between(e, "length", number(e.payload, "length_m"), bounds, LENGTHS.index(e.payload.variant))


def _height(e: Evidence) -> Found:
    """8.3: still the pass's own flight."""
    if e.by.kind == "ball.height":
        yield from since("pass_height.within_us", "time since the pass", "pass.attempt")(e)


def _way(e: Evidence) -> Way | None:
    """The way of the pass or carry that an event was concluded on, as its team sees it."""
    attacks: Team = e.before if e.before in ("home", "away") else getattr(e.before, "attacks", "")
    payload = e.by.payload
    if not attacks or not isinstance(payload, EventPayload):
        return None
    if e.by.kind == "carry.end":
        return carried_way(attacks, payload)
    return passed_way(attacks, payload) if e.by.kind.startswith("pass.") and e.by.kind != "pass.attempt" else None


def _crossed(e: Evidence) -> Found:
    """8.4: how far a cut-back came back; where a cross begins and ends the Laws' lines say."""
    way, half_m = _way(e), pitch_of(e.sheet).half_length_m
    if way is None:
        return
    if e.told.kind == "cutback":
        yield against(e, "way back", way.from_u_m - way.to_u_m, "at least", "cross.back_m")
    else:
        yield Margin("the kick from the goal line", half_m - way.from_u_m, "at most", half_m / 2.0, "m")


def _through(e: Evidence) -> Found:
    """8.5: beyond the last line; its members stand at most so deep before it."""
    beyond_m = number(e.payload, "beyond_m")
    if beyond_m is not None:
        yield Margin("distance beyond the last line", beyond_m, "at least", 0.0, "m")


def _progress(e: Evidence) -> Found:
    """8.7: so much nearer to the goal, by where it was."""
    way = _way(e)
    if way is not None:
        name = "own_m" if way.to_u_m < 0.0 else "across_m" if way.from_u_m < 0.0 else "beyond_m"
        yield against(e, "metres nearer to the goal", number(e.payload, "gain_m"), "at least", f"progress.{name}")


def _line_broken(e: Evidence) -> Found:
    """8.9: so far behind the line."""
    way, line_m = _way(e), number(e.payload, "line_x_m")
    attacks = getattr(e.before, "attacks", "")
    if way is not None and line_m is not None:
        upfield_m = line_m if e.payload.team == attacks else -line_m
        yield against(e, "distance behind the line", way.to_u_m - upfield_m, "at least", "line_break.behind_m")


def _xg(e: Evidence) -> Found:
    """8.10: in which class, and whether somebody was upon the shooter."""
    xg, index = number(e.payload, "xg"), XGS.index(e.payload.variant)
    if xg is not None:
        if index:
            yield Margin("chance of a goal", xg, "at least", XG_BOUNDS[index - 1], "")
        if index < len(XG_BOUNDS):
            yield Margin("chance of a goal", xg, "at most", XG_BOUNDS[index], "")
    near_m = number(e.payload, "pressure_m")
    if near_m is not None and e.payload.detail.get("model") in ("foot", "head"):
        pressed = near_m <= e.parameters.shot_value.pressed_m
        yield against(e, "the nearest opponent", near_m, "at most" if pressed else "at least", "shot_value.pressed_m")


def _laid_on(e: Evidence) -> Found:
    """8.12: how soon after the pass the shot or goal was; how soon after the one before it the pass."""
    passed = next((c for c in e.causes if c.kind == "pass.complete"), None)
    shot = next((c for c in e.causes if c.kind != "pass.complete"), None)
    if passed is None or shot is None:
        return
    until_us = float(shot.ts_us)
    if e.told.kind == "second_assist":
        last = e.before.passes[-1] if isinstance(e.before, KeyPassState) and e.before.passes else None
        kick_us = number(payload_of(last), "kick_us")
        if kick_us is None:
            return
        until_us = kick_us
    yield against(e, "time since the pass came", until_us - passed.ts_us, "at most", "key_pass.within_us")


#: By kind.
RULES: dict[str, Rule] = {
    "bodypart": _part,
    "header": _header,
    "deflection": _deflected,
    "contest.contact": _contest,
    "shot.post": since("shot_outcome.woodwork_us", "time since the shot", "shot.attempt"),
    "pass.kept": _kept,
    "clearance": _cleared,
    "takeon.won": _passed_by,
    "takeon.lost": _taken_off,
    "tackle.won": _tackle_won,
    "tackle.lost": _tackle_lost,
    **dict.fromkeys(("gk.claim", "gk.pickup", "gk.smother"), _claimed),
    "offside.line": _offside_line,
    "offside.position": _offside,
    "pass.dir": _direction,
    "pass.len": _length,
    "pass.height": _height,
    "cross": _crossed,
    "cutback": _crossed,
    "pass.through": _through,
    "pass.switch": told_value("across_m", "metres across", "at least", "switch.across_m"),
    "progress.pass": _progress,
    "progress.carry": _progress,
    "linebreak": _line_broken,
    "shot.xg": _xg,
    **dict.fromkeys(("keypass", "assist", "second_assist"), _laid_on),
}
