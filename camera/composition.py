"""Composition of a picture: where its middle should be, and how wide it should be. Pure.

Theory of operation
-------------------
The aim is the point of interest, moved ahead of a ball that moves on (*lead room*), and moved back as far as needed
to hold the ball inside of the safe zone. So no pull can push the ball out of the picture. The lead room leaves
``RESERVE_DEG`` behind the ball, because a ball that is played back covers that much before the camera has turned. So a
tight picture has hardly any.

The width is that of the situation, or as much wider as the subjects need. A subject that is hardly likely counts a
little only, so that the width does not jump when chances change. What is needed is taken at once when it grows and
let go slowly, with a time constant of ``NARROWING_S``: a picture that pumps is worse than one that is a bit wide.
"""

from __future__ import annotations

import math

import msgspec

from camera.interest import Interest
from camera.mount import Mount
from camera.profile import Profile

#: Share of the picture, on each side, that stays free of the ball, and of other subjects.
BALL_MARGIN, SUBJECT_MARGIN = 0.15, 0.06
#: Chances of a subject below and above which it does not count, and counts fully.
UNLIKELY, LIKELY = 0.08, 0.30
#: Time constant with which a picture narrows that needs to be less wide.
NARROWING_S = 2.0
#: Time constant of the direction of play; pan speed up to which the ball wavers, and above that the one at which half
#: of the lead room is taken.
TREND_S, WAVERS_DEG_S, HALF_ROOM_DEG_S = 0.5, 1.5, 0.7


#: Angle that the lead room leaves behind the ball: one that is played back stays in the picture.
RESERVE_DEG = 7.0


class Composition(msgspec.Struct, frozen=True):
    """The picture that is wanted at one instant: its middle and its width, in degrees."""

    pan_deg: float
    tilt_deg: float
    width_deg: float


class Composer:
    """Composes the pictures of one camera; remembers the direction of play and the width that was needed.

    Args:
        mount: position and heading of the camera.
        profile: of its head.
    """

    def __init__(self, mount: Mount, profile: Profile) -> None:
        self._mount, self._zoom = mount, profile.zoom
        self._trend_deg_s = 0.0
        self._needed_log: float | None = None
        self._ball_pan_deg: float | None = None

    def remount(self, mount: Mount) -> None:
        """Compose for another mount from now on; the ball does not move by it."""
        self._mount, self._ball_pan_deg = mount, None

    def compose(self, focus: Interest, width_deg: float, dt_s: float) -> Composition:
        """Return the picture that is wanted.

        Args:
            focus: point of interest and subjects.
            width_deg: width of the present picture.
            dt_s: time since the last call.
        """
        mount = self._mount
        pan_deg, tilt_deg = mount.aim(focus.x_m, focus.y_m, focus.z_m)
        aims = [(*mount.aim(one.x_m, one.y_m, one.z_m), _share(one.chance)) for one in focus.subjects]
        wanted_deg = self._width(focus, pan_deg, tilt_deg, aims, dt_s)
        if not aims:
            return Composition(pan_deg, tilt_deg, wanted_deg)
        ball_pan, ball_tilt, _ = aims[0]
        most_deg = max(0.0, width_deg / 2 - RESERVE_DEG)
        pan_deg += self._room_deg(ball_pan, dt_s) * min(focus.lead_room * width_deg, most_deg)
        height_deg = self._zoom.height_deg(width_deg)
        return Composition(
            _held(pan_deg, ball_pan, (0.5 - BALL_MARGIN) * width_deg),
            _held(tilt_deg, ball_tilt, (0.5 - BALL_MARGIN) * height_deg),
            wanted_deg,
        )

    def _width(
        self, focus: Interest, pan_deg: float, tilt_deg: float, aims: list[tuple[float, float, float]], dt_s: float
    ) -> float:
        """Return the width that the situation asks for, or as much more as the subjects need."""
        distance_m = self._mount.distance_m(focus.x_m, focus.y_m, focus.z_m)
        base_deg, widest_deg = (_angle_deg(metres, distance_m) for metres in (focus.width_m, focus.widest_m))
        needed_deg = base_deg
        for subject_pan, subject_tilt, share in aims:
            across = abs(subject_pan - pan_deg) * share
            above = abs(subject_tilt - tilt_deg) * share * self._zoom.aspect
            needed_deg = max(needed_deg, 2 * max(across, above) / (1 - 2 * SUBJECT_MARGIN))
        lens = self._zoom.tele_width_deg, self._zoom.wide_width_deg
        wanted_log = math.log(max(lens[0], min(lens[1], widest_deg, needed_deg)))
        last = self._needed_log
        if last is not None and wanted_log < last:
            wanted_log = last + (wanted_log - last) * min(1.0, dt_s / NARROWING_S)
        self._needed_log = wanted_log
        return math.exp(wanted_log)

    def _room_deg(self, ball_pan_deg: float, dt_s: float) -> float:
        """Return the direction of play across the picture, -1 to 1, from the smoothed pan speed of the ball."""
        last, self._ball_pan_deg = self._ball_pan_deg, ball_pan_deg
        if last is not None and dt_s > 0:
            speed_deg_s = max(-60.0, min(60.0, (ball_pan_deg - last) / dt_s))
            self._trend_deg_s += min(1.0, dt_s / TREND_S) * (speed_deg_s - self._trend_deg_s)
        moves_on_deg_s = max(0.0, abs(self._trend_deg_s) - WAVERS_DEG_S)
        return math.copysign(moves_on_deg_s / (moves_on_deg_s + HALF_ROOM_DEG_S), self._trend_deg_s)


def _share(chance: float) -> float:
    """Return how much a subject of a chance counts: 0 when unlikely, 1 when likely, smooth between."""
    share = max(0.0, min(1.0, (chance - UNLIKELY) / (LIKELY - UNLIKELY)))
    return share * share * (3 - 2 * share)


def _angle_deg(width_m: float, distance_m: float) -> float:
    return 2 * math.degrees(math.atan(width_m / 2 / max(distance_m, 1.0)))


def _held(aim_deg: float, ball_deg: float, most_deg: float) -> float:
    """Return the aim nearest to ``aim_deg`` from which the ball is at most ``most_deg`` away."""
    return max(ball_deg - most_deg, min(ball_deg + most_deg, aim_deg))
