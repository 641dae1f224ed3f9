"""Kicks that are shots only if their balls leave over the goal line near the goal.

Theory of operation
-------------------
When a ball leaves its kicker, a mate could often still reach it. Or its velocity is known badly, or who kicked it: on
camera tracking, a contact is sometimes given to the defender at the attacker's side. If then nobody plays the ball, and
it leaves fast over the goal line and near the goal, it was a shot. No pass goes there, and no clearance. So such a kick
stays undecided until its ball is out or somebody plays it, which is soon.
"""

from __future__ import annotations

import math

import msgspec

from detectors.actions.flight import Projection, ShotParameters, is_headed, opening_rad, project_on_goal
from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import About, at_least, at_most
from football.match_sheet import Team
from football.payloads import EventPayload, Frame, height_m, location_m, number, payload_of
from football.pitch import BAR_HEIGHT_M, GOAL_HALF_WIDTH_M, Pitch
from middleware.events import Event


class Undecided(msgspec.Struct, frozen=True, gc=False):
    """A kick whose ball may leave over the goal line near the goal.

    Attributes:
        event: its release.
        shot: the same as a shot; of another player, where an attacker may have kicked a ball that a defender has.
        frame: the newest one at the release.
        until_us: time from which it is decided without a crossing.
    """

    event: Event
    shot: EventPayload
    frame: Frame
    until_us: int


class UndecidedKicks:
    """The kicks that are undecided, and how the way of the ball decides them.

    Args:
        p: limits of a shot.
        pitch: the pitch.
        about: properties of the events that comparisons belong to.
        limbs: True with limb transmitters, which tell who kicked a ball.
    """

    def __init__(self, p: ShotParameters, pitch: Pitch, about: About, *, limbs: bool) -> None:
        self._p, self._pitch, self._about, self._limbs = p, pitch, about, limbs

    def begin(self, attacks: Team, event: Event, frame: Frame, *, deflects: bool) -> Undecided | None:
        """Return the kick of a release in play, if it is undecided.

        Args:
            attacks: team that attacks +x; empty if it is not known.
            event: the release.
            frame: the newest frame.
            deflects: True if another kick was right before, so that a defender's own is a deflection.
        """
        release, p = payload_of(event), self._p
        if not attacks or "kick_x_m" not in release.detail or not is_seen(release):
            return None
        shot: EventPayload | None = None
        if self._may_go_out(release, attacks == release.team):
            shot = release if self._shoots_from_there(release, attacks == release.team) else None
        elif not (self._limbs or deflects) and self._may_go_out(release, attacks != release.team):
            shot = self._taken(release, frame, event.ts_us)
        if shot is None:
            return None
        return Undecided(event, shot, frame, round(number(release, "kick_us") + 1e6 * p.untouched_s))

    def shot_by(self, attacks: Team, undecided: Undecided, event: Event) -> Projection | None:
        """Return the way of an undecided ball that has left the field; None if it makes no shot of its kick.

        Args:
            attacks: team that attacks +x.
            undecided: the kick.
            event: the ball's crossing of a line.
        """
        shot, crossing, p, about = undecided.shot, payload_of(event), self._p, self._about
        (x_m, y_m), z_m = location_m(crossing), height_m(crossing)
        if "goal" not in crossing.variant or (x_m > 0.0) != (attacks == shot.team):
            return None
        taken = shot.team != payload_of(undecided.event).team
        limit = (p.taken_wide_m, "shot.taken_wide_m") if taken else (p.wide_m, "shot.wide_m")
        miss_m = max(abs(y_m) - GOAL_HALF_WIDTH_M, 0.0)
        if not at_most("distance from the goal where the ball left", miss_m, *limit, about):
            return None
        after_s = (event.ts_us - number(shot, "kick_us")) * 1e-6
        way_m = math.hypot(x_m - number(shot, "kick_x_m"), y_m - number(shot, "kick_y_m"))
        fast = p.wide_speed_m_s, "shot.wide_speed_m_s"
        headed = not taken and is_headed(shot, p, about)
        if not headed and not at_least("mean speed of the ball", way_m / after_s, *fast, about):
            return None
        return Projection(after_s, y_m, z_m, "mouth" in crossing.variant and z_m < BAR_HEIGHT_M)

    def _may_go_out(self, release: EventPayload, positive: bool) -> bool:
        """True if a ball may leave over the goal line at one end soon, and not far from the goal."""
        onward, p = project_on_goal(release, positive, self._pitch), self._p
        if onward is None or onward.after_s > p.untouched_s:
            return False
        return abs(onward.y_m) <= GOAL_HALF_WIDTH_M + 2.0 * p.wide_m

    def _shoots_from_there(self, release: EventPayload, positive: bool) -> bool:
        """True if players shoot, or head at goal, from where a ball was kicked."""
        x_m, y_m, p = number(release, "kick_x_m"), number(release, "kick_y_m"), self._p
        away_m = self._pitch.goal_distance_m(x_m, y_m, "right" if positive else "left")
        if is_headed(release, p, self._about):
            return away_m <= p.head_close_m
        return away_m <= p.range_m and opening_rad(x_m, y_m, positive, self._pitch) >= p.open_rad

    def _taken(self, release: EventPayload, frame: Frame, now_us: int) -> EventPayload | None:
        """The release as one of the opponent who was at the ball when it was kicked; None without one."""
        x_m, y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
        ago_s = (now_us - number(release, "kick_us")) * 1e-6
        nearest_m, nearest = self._p.taken_m, None
        for body in frame.players:
            if body.team == opponents_of(release.team):
                away_m = math.hypot(body.x_m - body.vx_m_s * ago_s - x_m, body.y_m - body.vy_m_s * ago_s - y_m)
                if away_m <= nearest_m:
                    nearest_m, nearest = away_m, body
        if nearest is None:
            return None
        return msgspec.structs.replace(release, team=nearest.team, player=nearest.object_id)


def is_seen(release: EventPayload) -> bool:
    """True if the ball of a kick was seen to move."""
    return number(release, "vx_m_s") != 0.0 or number(release, "vy_m_s") != 0.0
