"""2.6 and 2.11: what turns the ball that is nobody: the ground, a post, the bar.

Theory of operation
-------------------
Both look for corners of the ball's way (``detectors.ball.trajectory_breaks``) and ask what stood there. The ground
turns a fall into a rise and leaves the way over it nearly alone. Posts and bar are round: a ball touches one where its
centre is the sum of both radii from the axis. Where that was lies between two states; so the way before the corner is
carried on, the way after it traced back, and both must come near the axis within the time between the two states.
"""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.ball.changes import BREAK, break_of, least_change_m_s
from detectors.ball.trajectory_breaks import ShoulderFinder, Trail, TrajectoryBreak, possible_velocity
from detectors.decisions import at_least, at_most
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.sampling import ball_sampling, delta_v_noise_m_s
from football.constants import BALL_RADIUS_M, BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, ball_of
from football.pitch import BAR_HEIGHT_M, GOAL_HALF_WIDTH_M, PENALTY_AREA_DEPTH_M, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Law 1: posts and bar are as wide as the goal line, at most 12 cm; they stand on it.
POST_RADIUS_M = 0.06
#: Distance from a goal line beyond which no break is looked for.
_FAR_M = 6.0
_NOWHERE = Trail()

#: A point in space, metres.
Position = tuple[float, float, float]


class BounceParameters(msgspec.Struct, frozen=True):
    """Bounces on the ground.

    Attributes:
        height_m: greatest height; half a state's fall is added, as the lowest point lies between two states.
        fall_m_s: least speed of the fall.
        rise_m_s: least speed of the rise.
        across_share: greatest change of the velocity over ground, as a share of the change upwards.
        rise_share: greatest speed of the rise, as a share of the fall's.
    """

    height_m: Annotated[float, reason("hierarchy 2.6")] = 0.25
    fall_m_s: Annotated[float, reason("ours; slower is rolling")] = 0.5
    rise_m_s: Annotated[float, reason("ours; slower is rolling")] = 0.1
    across_share: Annotated[
        float,
        reason(
            "ours; grass rubs with 0.3 to 0.6, and noise adds to it; of 0.6, 1.0, 1.5 on a quarter of an hour of a "
            "simulated match, seed 41: 127, 177, 200 of 365 bounces found, 0, 1, 4 invented"
        ),
    ] = 1.0
    rise_share: Annotated[
        float,
        reason(
            "ours; a football keeps 0.6 to 0.75 of its speed (Law 2: 1.35 m of 2 m, 0.82, on a hard floor), and a "
            "ball that rises faster was played"
        ),
    ] = 1.0


class BallBounce:
    """2.6: ``ball.bounce``: the ball falls to the ground and rises again, its path over the ground unchanged.

    ``detail``: ``fall_m_s`` and ``rise_m_s``. Changes smaller than the input's noise are not detected.
    """

    def __init__(self, sheet: MatchSheet, parameters: BounceParameters | None = None) -> None:
        self.parameters = p = parameters or BounceParameters()
        self._least_m_s = max(p.fall_m_s + p.rise_m_s, least_change_m_s(sheet) / 1.5)
        self._period_s = ball_sampling(sheet.quality).period_us * 1e-6
        self.spec = Spec(
            name="ball_bounce",
            number="2.6",
            level=2,
            inputs=(BREAK,),
            outputs=("ball.bounce",),
            parameters={**msgspec.structs.asdict(p), "least_m_s": round(self._least_m_s, 2)},
            source="ours",
            needs="ball height",
            details={"ball.bounce": ("fall_m_s", "rise_m_s")},
        )

    def initial(self) -> None:
        """Each break by itself."""

    def step(self, state: None, event: Event) -> Step[None]:
        """Judge whether the ground made a break."""
        break_ = break_of(event)
        if not self._from_ground(break_):
            return None, NOTHING
        falls_m_s, rises_m_s = possible_velocity(break_.before)[2], possible_velocity(break_.after)[2]
        detail = {"fall_m_s": round(-falls_m_s, 2), "rise_m_s": round(rises_m_s, 2)}
        payload = EventPayload("", "", "", break_.x_m, break_.y_m, break_.z_m, detail=detail)
        bounce = make_event("ball.bounce", break_.ts_us, f"{break_.source}:{break_.ts_us}", payload)
        return None, (bounce,)

    def _from_ground(self, break_: TrajectoryBreak) -> bool:
        p, (bx, by, falls_m_s), (ax, ay, rises_m_s) = self.parameters, break_.before, break_.after
        up_m_s = rises_m_s - falls_m_s
        low_m, kept_m_s = p.height_m - falls_m_s * self._period_s / 2.0, -p.rise_share * falls_m_s + break_.noise_m_s
        return (
            at_least("speed of its fall", -falls_m_s, p.fall_m_s, "ball_bounce.fall_m_s")
            and at_least("speed of its rise", rises_m_s, p.rise_m_s, "ball_bounce.rise_m_s")
            and up_m_s >= self._least_m_s
            and rises_m_s <= kept_m_s
            and at_most("height of the ball", break_.z_m, low_m, "ball_bounce.height_m")
            and math.hypot(ax - bx, ay - by) <= p.across_share * up_m_s
        )


class WoodworkParameters(msgspec.Struct, frozen=True):
    """Contacts with post and bar.

    Attributes:
        gap_m: greatest distance between the surfaces; twice the noise of a position is added.
        speed_m_s: least speed of the ball over the ground before.
        turn_share: an upright changes the velocity over the ground at least by this share of that speed.
        noise_m: of noisier positions, those farther from the frame than this noise explains are no rebounds either.
    """

    gap_m: Annotated[float, reason("hierarchy 2.11")] = 0.05
    speed_m_s: Annotated[float, reason("hierarchy 2.4: a moving ball")] = 4.0
    turn_share: Annotated[
        float, reason("ours; heights that are wrong break a path, too, but leave the way over the ground as it is")
    ] = 0.2
    noise_m: Annotated[float, reason("ours: twice that of stadium systems; with 0.25 m 13 of 17 were invented")] = 0.1


class Woodwork:
    """2.11: ``ball.woodwork`` x {near post, far post, bar}: the ball turns where a goal's frame stands.

    The near post is the one on the side of the ball's origin, as seen from the middle of the goal. ``detail``:
    ``side`` (left or right goal), ``speed_before_m_s``, ``speed_after_m_s``.
    """

    PARTS = ("near post", "far post", "bar")

    def __init__(self, sheet: MatchSheet, parameters: WoodworkParameters | None = None) -> None:
        self.parameters = p = parameters or WoodworkParameters()
        self._reach_m = BALL_RADIUS_M + POST_RADIUS_M + p.gap_m + 2.0 * min(sheet.quality.position_noise_m, p.noise_m)
        self._breaks = ShoulderFinder(sheet, delta_v_noise_m_s(sheet.quality))
        self._line_m = pitch_of(sheet).half_length_m
        self._has_height = sheet.quality.ball_height
        self.spec = Spec(
            name="woodwork",
            number="2.11",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.woodwork",),
            horizon_us=self._breaks.horizon_us,
            parameters={**msgspec.structs.asdict(p), "reach_m": round(self._reach_m, 3)},
            source="IFAB Law 1; Opta and StatsBomb 'Post'",
            needs="ball height for the bar; without it posts only",
            variants={"ball.woodwork": self.PARTS},
            details={"ball.woodwork": ("side", "speed_before_m_s", "speed_after_m_s")},
        )

    def initial(self) -> Trail:
        """No ball near a goal line."""
        return _NOWHERE

    def step(self, state: Trail, event: Event) -> Step[Trail]:
        """Judge at each break near a goal whether the goal's frame made it."""
        ball = cast(BallState, event.payload)
        if abs(abs(ball.x_m) - self._line_m) > _FAR_M:
            return (state if not state.samples else _NOWHERE), NOTHING
        trail, found = self._breaks.look(state, event)
        if not found:
            return trail, NOTHING
        break_, part = trail.samples[1], self._part(trail.samples[0], event)
        if not part:
            return trail, NOTHING
        at, before = ball_of(break_), ball_of(trail.samples[0])
        detail = {
            "side": end_of(at.x_m),
            "speed_before_m_s": round(min(math.hypot(before.vx_m_s, before.vy_m_s), BALL_SPEED_MAX_M_S), 2),
            "speed_after_m_s": round(min(math.hypot(ball.vx_m_s, ball.vy_m_s), BALL_SPEED_MAX_M_S), 2),
        }
        payload = EventPayload(part, "", "", at.x_m, at.y_m, at.z_m, detail=detail)
        hit = make_event("ball.woodwork", break_.ts_us, f"{break_.source}:{break_.ts_us}", payload)
        return Trail(trail.samples, trail.change, break_.ts_us), (hit,)

    def _part(self, before: Event, after: Event) -> str:
        """The part of a goal's frame that both paths, before and after, pass near; empty if none."""
        first, last, s = ball_of(before), ball_of(after), (after.ts_us - before.ts_us) * 1e-6
        speed_m_s, p = math.hypot(first.vx_m_s, first.vy_m_s), self.parameters
        if not at_least("speed of the ball before", speed_m_s, p.speed_m_s, "woodwork.speed_m_s"):
            return ""
        turn_m_s = math.hypot(last.vx_m_s - first.vx_m_s, last.vy_m_s - first.vy_m_s)
        forth = _place(first), _velocity(first), s
        back = _place(last), _velocity(last), -s
        x_m = math.copysign(self._line_m - POST_RADIUS_M, first.x_m)
        for y_m in (GOAL_HALF_WIDTH_M + POST_RADIUS_M, -GOAL_HALF_WIDTH_M - POST_RADIUS_M):
            if not all(self._near_post(*path, x_m, y_m) for path in (forth, back)):
                continue
            if at_least("share of its change", turn_m_s / max(speed_m_s, 1e-9), p.turn_share, "woodwork.turn_share"):
                return "near post" if self._origin_y_m(first, x_m, y_m) * y_m > 0.0 else "far post"
        if self._has_height and all(self._near_bar(*path, x_m) for path in (forth, back)):
            return "bar"
        return ""

    def _near_post(self, place: Position, v: Position, s: float, x_m: float, y_m: float) -> bool:
        """True if a straight path of ``s`` seconds passes near an upright."""
        dx, dy = place[0] - x_m, place[1] - y_m
        t = _closest(dx, dy, v[0], v[1], s)
        near = math.hypot(dx + v[0] * t, dy + v[1] * t) <= self._reach_m
        return near and place[2] + v[2] * t <= BAR_HEIGHT_M + 2.0 * POST_RADIUS_M + self._reach_m

    def _near_bar(self, place: Position, v: Position, s: float, x_m: float) -> bool:
        """True if a straight path of ``s`` seconds passes near the bar."""
        dx, dz = place[0] - x_m, place[2] - BAR_HEIGHT_M - POST_RADIUS_M
        t = _closest(dx, dz, v[0], v[2], s)
        near = math.hypot(dx + v[0] * t, dz + v[2] * t) <= self._reach_m
        return near and abs(place[1] + v[1] * t) <= GOAL_HALF_WIDTH_M + 2.0 * POST_RADIUS_M

    def _origin_y_m(self, first: BallState, x_m: float, y_m: float) -> float:
        """y of the path to a post at the front of the penalty area, as far out as many shots are taken."""
        if abs(first.vx_m_s) < 0.1:
            return first.y_m
        return y_m - first.vy_m_s / abs(first.vx_m_s) * PENALTY_AREA_DEPTH_M


def _place(ball: BallState) -> Position:
    return ball.x_m, ball.y_m, ball.z_m


def _velocity(ball: BallState) -> Position:
    return ball.vx_m_s, ball.vy_m_s, ball.vz_m_s


def _closest(dx: float, dy: float, vx: float, vy: float, s: float) -> float:
    """The time between now and ``s`` at which a point at (dx, dy) moving so is nearest to the origin."""
    v2 = vx * vx + vy * vy
    t = -(dx * vx + dy * vy) / v2 if v2 > 0.0 else 0.0
    return min(max(t, min(s, 0.0)), max(s, 0.0))
