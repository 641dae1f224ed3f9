"""2.10: predict where the ball will be: at a goal, over a line, on the ground.

Theory of operation
-------------------
After a metre of undisturbed flight (51 ms at 70 km/h, 004) the trajectory is integrated over ``horizon_s``: a sphere
with drag under gravity, which bounces with a share of its fall and which the grass slows. The prediction is the first
of these that it meets: a goal's mouth, the goal line beside or above it, a touch line; if none, the point where it
lands, unless it is on the ground already. It is computed ten times a second, and emitted when it is another one or its
location has moved by ``step_m``. A break of the trajectory (``detectors.ball.trajectory_breaks``) voids it.
"""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.ball.trajectory_breaks import ShoulderFinder, Trail, possible_velocity
from detectors.decisions import at_least, is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.flight_kernel import Point, integrate
from detectors.signals.sampling import delta_v_noise_m_s
from football.constants import AIR_DENSITY_KG_M3, BALL_MASS_KG, BALL_RADIUS_M
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Scalar, ball_of
from football.pitch import BAR_HEIGHT_M, GOAL_HALF_WIDTH_M, Pitch, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Half of air density times the ball's cross-section over its mass: deceleration per metre and unit of Cd.
DRAG_PER_M = 0.5 * AIR_DENSITY_KG_M3 * math.pi * BALL_RADIUS_M**2 / BALL_MASS_KG

PLACES = ("goal mouth", "goal line wide", "touch line", "landing")


class PredictorParameters(msgspec.Struct, frozen=True):
    """Model of the flight, and when a prediction is made.

    Attributes:
        drag_share: drag coefficient (Cd).
        bounce_share: restitution of a bounce.
        horizon_s: how far ahead.
        flight_m: undisturbed flight before the first prediction.
        roll_m_s2: deceleration of a rolling ball by grass.
        speed_m_s: least speed over ground.
        look_us: time between predictions.
        step_s: step of the integration.
        step_m: a prediction whose location moved less is the same one.
        air_m: least height of a ball in the air.
    """

    drag_share: Annotated[float, reason("hierarchy 2.10")] = 0.25
    bounce_share: Annotated[float, reason("hierarchy 2.10")] = 0.6
    horizon_s: Annotated[float, reason("hierarchy 2.10")] = 1.5
    flight_m: Annotated[float, reason("hierarchy 2.10; 004: 51 ms at 70 km/h")] = 1.0
    roll_m_s2: Annotated[float, reason("ours")] = 1.0
    speed_m_s: Annotated[float, reason("ours")] = 3.0
    look_us: Annotated[int, reason("ours")] = 100_000
    step_s: Annotated[float, reason("ours")] = 0.02
    step_m: Annotated[float, reason("ours")] = 1.0
    air_m: Annotated[float, reason("ours")] = 0.5


class Prediction(msgspec.Struct, frozen=True, gc=False):
    """The first thing that the ball will meet, where, and in how many seconds."""

    variant: str
    x_m: float
    y_m: float
    z_m: float
    in_s: float


class Flight(msgspec.Struct, frozen=True, gc=False):
    """State: the ball's trail; the start of its present flight; time of the next prediction; the last one emitted."""

    trail: Trail = Trail()
    from_x_m: float = math.nan
    from_y_m: float = math.nan
    from_z_m: float = math.nan
    due_us: int = -(2**62)
    emitted: Prediction | None = None


class TrajectoryPredictor:
    """2.10: ``ball.predicted`` x {goal mouth, goal line wide, touch line, landing} x side.

    ``variant`` is what it meets and of which end or touch line (a landing: in which half), at the event's location.
    ``detail``: ``at_us`` when, and the ball's velocity now, ``vx_m_s``, ``vy_m_s``, ``vz_m_s``.
    """

    def __init__(self, sheet: MatchSheet, parameters: PredictorParameters | None = None) -> None:
        self.parameters = parameters or PredictorParameters()
        self._pitch = pitch_of(sheet)
        self._has_height = sheet.quality.ball_height
        # Once, so that the kernel is loaded now and not at the first look.
        predict(BallState(0.0, 0.0, 1.0, 9.0, 0.0, 0.0, 0), self._pitch, self.parameters, True)
        self._breaks = ShoulderFinder(sheet, delta_v_noise_m_s(sheet.quality))
        self.spec = Spec(
            name="trajectory_predictor",
            number="2.10",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.predicted",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="DEBS 2013 Q4; 004 (back-setting: a metre of flight)",
            needs="ball height; without it every ball rolls",
            variants={"ball.predicted": tuple(f"{place} {side}" for place in PLACES for side in ("left", "right"))},
            details={"ball.predicted": ("at_us", "vx_m_s", "vy_m_s", "vz_m_s")},
        )

    def initial(self) -> Flight:
        """No ball yet."""
        return Flight()

    def step(self, state: Flight, event: Event) -> Step[Flight]:
        """Follow the flight; predict if it is time."""
        ball, p = cast(BallState, event.payload), self.parameters
        trail, found = self._breaks.look(state.trail, event)
        if found:
            at = trail.samples[1]
            break_ = ball_of(at)
            trail = Trail(trail.samples, trail.change, at.ts_us)
            return Flight(trail, break_.x_m, break_.y_m, break_.z_m), NOTHING
        if not trail.samples or math.isnan(state.from_x_m):
            return Flight(trail, ball.x_m, ball.y_m, ball.z_m), NOTHING
        due = event.ts_us >= state.due_us
        start = state.from_x_m, state.from_y_m, state.from_z_m
        flown_m = math.dist((ball.x_m, ball.y_m, ball.z_m), start) if due else 0.0
        if not at_least("path since the last break", flown_m, p.flight_m, "predictor.flight_m"):
            return Flight(trail, state.from_x_m, state.from_y_m, state.from_z_m, state.due_us, state.emitted), NOTHING
        due_us = event.ts_us + p.look_us
        new = predict(ball, self._pitch, p, self._has_height)
        same = new is None or (state.emitted is not None and _same(new, state.emitted, p.step_m))
        after = Flight(trail, *start, due_us, state.emitted if same else new)
        return after, NOTHING if same or new is None else (_event(event, ball, new),)


def predict(ball: BallState, pitch: Pitch, p: PredictorParameters, has_height: bool) -> Prediction | None:
    """The first thing that a ball will meet within the horizon; None if nothing, or if it is slow or off the field."""
    x, y, z = ball.x_m, ball.y_m, ball.z_m if has_height else BALL_RADIUS_M
    vx, vy, vz = possible_velocity((ball.vx_m_s, ball.vy_m_s, ball.vz_m_s if has_height else 0.0))
    speed2 = vx * vx + vy * vy
    if ball.run < 2 or speed2 < p.speed_m_s**2 or not pitch.inside(x, y, BALL_RADIUS_M):
        return None
    if is_recording():
        note("speed", math.sqrt(speed2), "at least", p.speed_m_s, "predictor.speed_m_s")
    line_m, touch_m = pitch.half_length_m + BALL_RADIUS_M, pitch.half_width_m + BALL_RADIUS_M
    steps, drag = round(p.horizon_s / p.step_s), DRAG_PER_M * p.drag_share
    path = integrate(
        (x, y, z),
        (vx, vy, vz),
        line_m,
        touch_m,
        drag,
        p.roll_m_s2,
        p.bounce_share,
        p.air_m,
        p.step_s,
        steps,
        BALL_RADIUS_M,
    )
    crossed, landed, before, after, (land_x, land_y) = path
    if crossed:
        found = _crossing(before, after, line_m, touch_m, (crossed - 1) * p.step_s, p.step_s)
        note("time until then", found.in_s, "at most", p.horizon_s, "predictor.horizon_s")
        return found
    if landed:
        note("time until then", landed * p.step_s, "at most", p.horizon_s, "predictor.horizon_s")
        return Prediction(f"landing {end_of(land_x)}", land_x, land_y, BALL_RADIUS_M, landed * p.step_s)
    return None


def _crossing(
    before: Point,
    after: Point,
    line_m: float,
    touch_m: float,
    from_s: float,
    dt_s: float,
) -> Prediction:
    """The line that is crossed first between two positions, and where."""
    (bx, by, bz), (x, y, z) = before, after
    over_line = (line_m - abs(bx)) / (abs(x) - abs(bx)) if abs(x) > line_m else math.inf
    over_touch = (touch_m - abs(by)) / (abs(y) - abs(by)) if abs(y) > touch_m else math.inf
    share = min(max(min(over_line, over_touch), 0.0), 1.0)
    at = bx + (x - bx) * share, by + (y - by) * share, bz + (z - bz) * share
    if over_touch < over_line:
        name = "touch line left" if y > 0.0 else "touch line right"
    else:
        inside = abs(at[1]) < GOAL_HALF_WIDTH_M and at[2] < BAR_HEIGHT_M
        name = f"{'goal mouth' if inside else 'goal line wide'} {end_of(x)}"
    return Prediction(name, *at, from_s + share * dt_s)


def _same(new: Prediction, old: Prediction, step_m: float) -> bool:
    near = math.dist((new.x_m, new.y_m, new.z_m), (old.x_m, old.y_m, old.z_m)) < step_m
    return near and new.variant == old.variant


def _event(event: Event, ball: BallState, new: Prediction) -> Event:
    vx_m_s, vy_m_s, vz_m_s = (round(v, 2) for v in possible_velocity((ball.vx_m_s, ball.vy_m_s, ball.vz_m_s)))
    at_us = event.ts_us + round(new.in_s * 1e6)
    detail: dict[str, Scalar] = {"at_us": at_us, "vx_m_s": vx_m_s, "vy_m_s": vy_m_s, "vz_m_s": vz_m_s}
    payload = EventPayload(new.variant, "", "", round(new.x_m, 2), round(new.y_m, 2), round(new.z_m, 2), detail=detail)
    return make_event("ball.predicted", event.ts_us, f"{event.source}:{event.ts_us}", payload)
