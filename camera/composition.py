"""Composition of a picture: where its middle should be, and how wide it should be. Pure.

Theory of operation
-------------------
The aim is the point of interest, moved ahead in the *direction of play* (lead room), and moved back as far as needed
to hold the ball inside of the safe zone. So no pull can push the ball out of the picture. The direction of play is
that in which the ball goes on, and the one in which the team on it attacks. A pass is half over before a camera has
turned, while the attack's direction seldom changes: its room is there before the pass is played, and costs no jerk. The
lead room leaves ``RESERVE_DEG`` behind the ball, because a ball that is played back covers that much before the camera
has turned. So a tight picture has hardly any.

The lower edge shows at most ``BEYOND_M`` of what lies in front of the pitch: play at the near touchline stands low in
the picture, and the pitch fills it. The ball keeps ``LOW_MARGIN`` of the height below it.

The width is that of the situation, or as much wider as the subjects need. A subject that is hardly likely counts a
little only, so that the width does not jump when chances change. What is needed is taken at once when it grows and
let go slowly, with a time constant of ``NARROWING_S``: a picture that pumps is worse than one that is a bit wide.
"""

from __future__ import annotations

import math

import msgspec

from camera.interest import Interest, Subject
from camera.mount import Mount
from camera.profile import Profile

#: Share of the picture, on each side, that stays free of the ball, and of other subjects.
BALL_MARGIN, SUBJECT_MARGIN = 0.15, 0.06
#: Share of the picture's height that stays below a ball for which the picture is raised; how much of the ground beyond
#: the lines the lower edge may show.
LOW_MARGIN, BEYOND_M = 0.25, 4.0
#: Chances of a subject below and above which it does not count, and counts fully.
UNLIKELY, LIKELY = 0.08, 0.30
#: Time constant with which a picture narrows that needs to be less wide.
NARROWING_S = 2.0
#: Time constants of the direction in which the ball goes on, and of the attack's.
ONWARD_TREND_S, ATTACK_TREND_S = 0.5, 1.1
#: Weight of the ball's direction against the attack's, and pan speed at which it has half of it.
ONWARD_WEIGHT, HALF_ONWARD_DEG_S = 2.3, 1.0
#: Distance over which a direction on the pitch becomes one across the picture.
ACROSS_M = 2.0
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
        size_m: length and width of the pitch.
    """

    def __init__(self, mount: Mount, profile: Profile, size_m: tuple[float, float] = (105.0, 68.0)) -> None:
        self._mount, self._zoom, self._size_m = mount, profile.zoom, size_m
        self._onward = self._attack = 0.0
        self._needed_log: float | None = None

    def remount(self, mount: Mount) -> None:
        """Compose for another mount from now on; the ball does not move by it."""
        self._mount = mount

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
        pan_deg += self._direction(focus, dt_s) * min(focus.lead_room * width_deg, most_deg)
        height_deg = self._zoom.height_deg(width_deg)
        raised_deg = self._lowest_deg(focus.x_m, focus.y_m) + height_deg / 2
        tilt_deg = max(tilt_deg, min(raised_deg, ball_tilt + (0.5 - LOW_MARGIN) * height_deg))
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

    def _lowest_deg(self, x_m: float, y_m: float) -> float:
        """Return the tilt at which the pitch begins, less ``BEYOND_M``, in the direction of a place on it.

        The tilt straight down if the camera stands on the pitch.
        """
        mount, share = self._mount, 0.0
        for here_m, there_m, half_m in (
            (mount.x_m, x_m, self._size_m[0] / 2 + BEYOND_M),
            (mount.y_m, y_m, self._size_m[1] / 2 + BEYOND_M),
        ):
            if abs(here_m) > half_m and here_m != there_m:
                share = max(share, (math.copysign(half_m, here_m) - here_m) / (there_m - here_m))
        if share == 0.0:
            return -90.0
        share = min(1.0, share)
        return mount.aim(mount.x_m + share * (x_m - mount.x_m), mount.y_m + share * (y_m - mount.y_m))[1]

    def _direction(self, focus: Interest, dt_s: float) -> float:
        """Return the direction of play across the picture, -1 to 1: of the ball, and of the attack."""
        ball = focus.subjects[0]
        speed_m_s = math.hypot(focus.vx_m_s, focus.vy_m_s)
        speed_deg_s = speed_m_s * self._across_deg(ball, focus.vx_m_s, focus.vy_m_s) / ACROSS_M
        onward = speed_deg_s / (abs(speed_deg_s) + HALF_ONWARD_DEG_S)
        whole_deg = _angle_deg(ACROSS_M, self._mount.distance_m(ball.x_m, ball.y_m))
        attack = self._across_deg(ball, focus.attack, 0.0) / whole_deg
        self._onward += min(1.0, dt_s / ONWARD_TREND_S) * (onward - self._onward)
        self._attack += min(1.0, dt_s / ATTACK_TREND_S) * (attack - self._attack)
        return max(-1.0, min(1.0, ONWARD_WEIGHT * self._onward + self._attack))

    def _across_deg(self, begin: Subject, x: float, y: float) -> float:
        """Return the change of pan over ``ACROSS_M`` from a place in a direction of the pitch; 0 without one."""
        length = math.hypot(x, y)
        if length == 0.0:
            return 0.0
        end = begin.x_m + x / length * ACROSS_M, begin.y_m + y / length * ACROSS_M
        turned_deg = self._mount.aim(*end)[0] - self._mount.aim(begin.x_m, begin.y_m)[0]
        return (turned_deg + 180.0) % 360.0 - 180.0


def _share(chance: float) -> float:
    """Return how much a subject of a chance counts: 0 when unlikely, 1 when likely, smooth between."""
    share = max(0.0, min(1.0, (chance - UNLIKELY) / (LIKELY - UNLIKELY)))
    return share * share * (3 - 2 * share)


def _angle_deg(width_m: float, distance_m: float) -> float:
    return 2 * math.degrees(math.atan(width_m / 2 / max(distance_m, 1.0)))


def _held(aim_deg: float, ball_deg: float, most_deg: float) -> float:
    """Return the aim nearest to ``aim_deg`` from which the ball is at most ``most_deg`` away."""
    return max(ball_deg - most_deg, min(ball_deg + most_deg, aim_deg))
