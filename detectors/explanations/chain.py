"""The chain from the ball's path to restarts: contacts, passes, shots, goals, play, and the ball's own changes."""

from __future__ import annotations

import math
from collections.abc import Callable

from detectors.ball.changes import is_fitted
from detectors.contacts.contact_attribution import contact_rule
from detectors.contacts.hits import ContactState
from detectors.explanations.evidence import (
    Evidence,
    Found,
    Margin,
    Rule,
    against,
    number,
)
from football.payloads import Frame
from middleware.events import Event


def _near(e: Evidence) -> Found:
    """4.1: distance of who came near."""
    reach_m = e.parameters.near.enter_m + _leg_m(e)
    distance_m = number(e.payload, "distance_m")
    yield against(e, "distance to the ball, a leg added", distance_m, "at most", "near.enter_m", reach_m)


def _leg_m(e: Evidence) -> float:
    return 0.0 if e.sheet.quality.limbs else e.parameters.near.leg_m


def _contact(group: str) -> Callable[[Evidence], Found]:
    """5.1, 5.2: within reach, and clearer the farther away the ball is."""

    def rule(e: Evidence) -> Found:
        payload = e.payload
        distance_m, change = number(payload, "distance_m"), number(payload, "delta_v_m_s")
        speeds = [v for v in (number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")) if v is not None]
        if group == "hit" and not is_fitted(e.sheet.quality) and change is not None and speeds and max(speeds) > 0.0:
            share = round(change / max(speeds), 3)
            yield against(e, "share of the ball's speed that changed", share, "at least", "hit.share_min")
        reach_m = e.parameters.near.leave_m + _leg_m(e)
        yield against(e, "distance of who is near", distance_m, "at most", "near.leave_m", reach_m)
        far_m = getattr(e.parameters, group).far_m + _leg_m(e)
        if distance_m is not None and distance_m <= far_m:
            yield against(e, "distance that is not doubted", distance_m, "at most", f"{group}.far_m", far_m)
        else:
            yield against(e, "change of velocity so far away", change, "at least", f"{group}.far_delta_v_m_s")
        before = e.before.last if isinstance(e.before, ContactState) else None
        if before is not None and before.by == payload.player and not e.sheet.quality.limbs:
            name = f"{group}.own_from_us"
            yield against(e, "time since his own contact before", e.told.ts_us - before.at_us, "at least", name)
        if group == "hit" and isinstance(e.before, ContactState):
            yield _at_once(e, e.before)
        if group == "touch" and isinstance(e.before, ContactState) and e.before.last.at_us > 0:
            apart_us = e.told.ts_us - e.before.last.at_us
            yield against(e, "time since the contact before", apart_us, "at least", "touch.yield_us")

    return rule


def _at_once(e: Evidence, before: ContactState) -> Margin | None:
    """Of two contacts that were judged together, how soon the second followed."""
    if before.first is None or before.waiting is None:
        return None
    apart_us = before.waiting.ts_us - before.first.ts_us
    most_us = contact_rule("hit", e.sheet, e.parameters.hit, e.parameters.near).pair_us
    return Margin("time between contacts that are judged together", apart_us, "at most", most_us, "us")


def _released(e: Evidence) -> Found:
    """5.8: how far the ball is from who kicked it, and from where."""
    frame = e.frame
    if frame is None or frame.ts_us != e.told.ts_us:
        frame = None if e.by.kind == "frame" else getattr(e.before, "frame", None)
    people = frame.payload if isinstance(frame, Event) else None
    if not isinstance(people, Frame) or people.ball is None:
        return
    ball, payload = people.ball, e.payload
    kicker = next((body for body in people.players if body.object_id == payload.player), None)
    if kicker is not None:
        away_m = round(math.hypot(ball.x_m - kicker.x_m, ball.y_m - kicker.y_m), 2)
        left = e.by.kind == "frame" and away_m > e.parameters.release.release_m
        name = "release.release_m" if left else "release.apart_m"
        yield against(e, "the ball from its kicker", away_m, "at least", name)
    x_m, y_m = number(payload, "kick_x_m"), number(payload, "kick_y_m")
    if x_m is not None and y_m is not None:
        gone_m = round(math.hypot(ball.x_m - x_m, ball.y_m - y_m), 2)
        yield against(e, "the ball from where it was kicked", gone_m, "at least", "release.apart_m")


#: By kind.
RULES: dict[str, Rule] = {
    "near": _near,
    "hit": _contact("hit"),
    "touch": _contact("touch"),
    "kick.released": _released,
}
