"""Level 2: signs of a contact in the ball's trajectory alone: acceleration peaks, turns, steps of speed.

All three judge the breaks of the trajectory (:mod:`detectors.ball.trajectory_breaks`); none of them needs a player.
Breaks are found once, by 2.1, which shares them with the others (``ball.break``).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, cast

import msgspec

from detectors.ball.optical_breaks import OPTICAL_CHANGE_MIN_M_S, OpticalBreaks, fits_optical_breaks
from detectors.ball.radio_breaks import RadioBreaks, fits_radio_breaks
from detectors.ball.trajectory_breaks import ShoulderBreaks, TrajectoryBreak, possible_velocity
from detectors.decisions import above, at_least, below, is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.sampling import CONTACT_WINDOW_S, ball_sampling, delta_v_noise_m_s
from football.match_sheet import MatchSheet, Quality
from football.payloads import EventPayload
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Below it the ball's centre is on the ground (hierarchy 2.5).
GROUND_M = 0.3

#: Grass only takes speed: a ball that leaves the ground faster over it by so many standard errors was played.
FASTER_SIGMAS = 3.0

#: State of a break finder: each has its own.
FinderState = Any

#: Kind of the breaks that 2.1 shares; the payload is a :class:`TrajectoryBreak`.
BREAK = "ball.break"

#: Least speed of a ball of which a turn is seen, m/s.
_TURNING_M_S = 1.0


#: Detail of a trajectory break, and of the contacts that are found by it.
CHANGE = (
    "delta_v_m_s", "noise_m_s", "delta_vx_m_s", "delta_vy_m_s", "delta_vz_m_s", "bounce",
    "speed_before_m_s", "speed_after_m_s", "vx_m_s", "vy_m_s", "vz_m_s",
)  # fmt: skip


class PeakParameters(msgspec.Struct, frozen=True):
    """Heights of acceleration peaks, read as changes of velocity (see ``detectors.signals.sampling``).

    Attributes:
        touch_m_s2: least peak of a touch.
        hit_m_s2: least peak of a hit.
        hard_m_s2: least peak of a hard hit.
        window_s: window over which the peaks of a slow input are read.
        radio_window_s: the same where breaks are fitted, to a radio's positions or a camera's.
        refractory_us: least time between two peaks of a slow input, and at least one whole break of its states.
    """

    touch_m_s2: Annotated[float, reason("hierarchy 2.1, ours")] = 20.0
    hit_m_s2: Annotated[float, reason("DEBS 2013 Q2")] = 55.0
    hard_m_s2: Annotated[float, reason("hierarchy 2.1, ours")] = 150.0
    window_s: Annotated[float, reason("a period of common optical tracking")] = CONTACT_WINDOW_S
    radio_window_s: Annotated[float, reason("a fit shows the contact itself, 8 to 10 ms")] = 0.010
    refractory_us: Annotated[int, reason("hierarchy 2.1")] = 20_000


class AccelerationPeak:
    """2.1: ``ball.accel_peak`` x {touch, hit, hard}.

    ``detail``: ``delta_v_m_s`` (net change; its parts ``delta_vx_m_s``, ``delta_vy_m_s``, ``delta_vz_m_s``),
    ``noise_m_s`` (its standard error), ``speed_before_m_s``, ``speed_after_m_s``, ``vx_m_s``, ``vy_m_s``, ``vz_m_s``
    (velocity after), ``bounce`` (the ground explains it). The anchor is the ball's state at the break.
    """

    def __init__(
        self, sheet: MatchSheet, parameters: PeakParameters | None = None, bend: BendParameters | None = None
    ) -> None:
        self.parameters = p = parameters or PeakParameters()
        noise_m_s = least_change_m_s(sheet)
        window_s = p.radio_window_s if is_fitted(sheet.quality) else p.window_s
        self._touch_m_s = max(p.touch_m_s2 * window_s, noise_m_s)
        self._hit_m_s = max(p.hit_m_s2 * window_s, noise_m_s)
        self._hard_m_s = p.hard_m_s2 * window_s
        self._floors_m_s = ("hard", self._hard_m_s), ("hit", self._hit_m_s), ("touch", self._touch_m_s)
        # A turn at the least speed changes the velocity by at least so much.
        turned_m_s = least_turning_m_s(sheet, bend := bend or BendParameters()) * math.sin(bend.turn_rad)
        self._breaks = build_break_finder(sheet, min(self._touch_m_s, turned_m_s), p.refractory_us)
        self.spec = Spec(
            name="ball_acceleration_peak",
            number="2.1",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.accel_peak", BREAK),
            internal=(BREAK,),
            horizon_us=self._breaks.horizon_us,
            parameters={
                **msgspec.structs.asdict(p),
                "touch_floor_m_s": round(self._touch_m_s, 2),
                "hit_floor_m_s": round(self._hit_m_s, 2),
                "hard_floor_m_s": round(self._hard_m_s, 2),
            },
            source="DEBS 2013 Q2; 004 IV-B2 (delay 1-2 ms); read as change of velocity: ours",
            variants={"ball.accel_peak": ("touch", "hit", "hard")},
            details={"ball.accel_peak": CHANGE},
        )

    def initial(self) -> FinderState:
        """No ball yet."""
        return self._breaks.initial()

    def step(self, state: FinderState, event: Event) -> Step[FinderState]:
        """Judge by how much the newest break changed the velocity."""
        trail, break_ = self._breaks.look(state, event)
        if break_ is None:
            return trail, NOTHING
        shared = Event(BREAK, break_.ts_us, break_.source, break_.ts_us, break_)
        net_m_s, what = break_.net_m_s, "change of the ball's velocity"
        for variant, floor_m_s in self._floors_m_s:
            if at_least(what, net_m_s, floor_m_s, f"ball_peak.{variant}_m_s2", unit="m/s"):
                return self._breaks.reported(trail, break_), (_break_event("ball.accel_peak", variant, break_), shared)
        return trail, (shared,)


class BendParameters(msgspec.Struct, frozen=True):
    """Thresholds of turns and steps of speed.

    Attributes:
        turn_rad: least angle of a turn.
        step_m_s: least change of speed.
        slow_m_s: the new speed after a step is below it.
    """

    turn_rad: Annotated[float, reason("StreamTeam (databallpy: 10 degrees)")] = 0.5
    step_m_s: Annotated[float, reason("StreamTeam")] = 2.0
    slow_m_s: Annotated[float, reason("StreamTeam")] = 10.0


class BallTurn:
    """2.2: ``ball.turn`` x {ground, air}: the ball's path over ground turns by more than ``turn_rad`` at one break.

    Slower balls are passed over where the noise of two velocities could feign the angle. ``detail`` is that of 2.1.
    """

    def __init__(self, sheet: MatchSheet, parameters: BendParameters | None = None) -> None:
        self.parameters = parameters or BendParameters()
        self._speed_min_m_s = least_turning_m_s(sheet, self.parameters)
        self._cos = math.cos(self.parameters.turn_rad)
        self.spec = Spec(
            name="ball_turn",
            number="2.2",
            level=2,
            inputs=(BREAK,),
            outputs=("ball.turn",),
            parameters={
                **msgspec.structs.asdict(self.parameters),
                "speed_min_m_s": round(self._speed_min_m_s, 2),
            },
            source="StreamTeam (0.5 rad); databallpy",
            variants={"ball.turn": ("ground", "air")},
            details={"ball.turn": CHANGE},
        )

    def initial(self) -> None:
        """Each break by itself."""

    def step(self, state: None, event: Event) -> Step[None]:
        """Compare the velocities at a break."""
        break_ = break_of(event)
        if not self._turned(break_):
            return None, NOTHING
        return None, (_break_event("ball.turn", "ground" if break_.z_m < GROUND_M else "air", break_),)

    def _turned(self, break_: TrajectoryBreak) -> bool:
        """True if it turns enough: by the cosine of the angle, without a root unless both speeds suffice."""
        (bx, by, _), (ax, ay, _) = break_.before, break_.after
        b2, a2 = bx * bx + by * by, ax * ax + ay * ay
        least = self._speed_min_m_s * self._speed_min_m_s
        if b2 < least or a2 < least:
            return False
        dot, size = bx * ax + by * ay, math.sqrt(a2 * b2)
        if dot >= self._cos * size:
            return False
        if is_recording():
            angle = math.acos(min(max(dot / size, -1.0), 1.0))
            note("angle between the ball's paths", angle, "at least", self.parameters.turn_rad, "ball_bend.turn_rad")
        return True


class SpeedStep:
    """2.3: ``ball.speed_step`` x {up, down}: the speed over ground changes at one break, and the new one is low.

    ``detail`` is that of 2.1.
    """

    def __init__(self, sheet: MatchSheet, parameters: BendParameters | None = None) -> None:
        self.parameters = parameters or BendParameters()
        self._step_m_s = max(self.parameters.step_m_s, least_change_m_s(sheet))
        self.spec = Spec(
            name="ball_speed_step",
            number="2.3",
            level=2,
            inputs=(BREAK,),
            outputs=("ball.speed_step",),
            parameters={**msgspec.structs.asdict(self.parameters), "step_floor_m_s": round(self._step_m_s, 2)},
            source="StreamTeam (2 m/s below 10 m/s); databallpy (5 m/s)",
            variants={"ball.speed_step": ("up", "down")},
            details={"ball.speed_step": CHANGE},
        )

    def initial(self) -> None:
        """Each break by itself."""

    def step(self, state: None, event: Event) -> Step[None]:
        """Compare the speeds at a break."""
        break_ = break_of(event)
        before, after = break_.speeds_m_s
        change, slow_m_s = abs(after - before), self.parameters.slow_m_s
        if not above("change of the ball's speed", change, self._step_m_s, "ball_bend.step_m_s"):
            return None, NOTHING
        if not below("the ball's new speed", after, slow_m_s, "ball_bend.slow_m_s"):
            return None, NOTHING
        return None, (_break_event("ball.speed_step", "up" if after > before else "down", break_),)


def break_of(event: Event) -> TrajectoryBreak:
    """The payload of a ``ball.break``."""
    return cast(TrajectoryBreak, event.payload)


def least_turning_m_s(sheet: MatchSheet, p: BendParameters) -> float:
    """Least speed of a ball of which a turn is seen: that of a slower one may be noise."""
    return max(_TURNING_M_S, least_change_m_s(sheet) / p.turn_rad / 2.0)


def build_break_finder(
    sheet: MatchSheet, least_m_s: float, refractory_us: int = 0
) -> ShoulderBreaks | RadioBreaks | OpticalBreaks:
    """The break finder for an input."""
    if fits_optical_breaks(sheet.quality):
        return OpticalBreaks(sheet, least_m_s)
    return (
        RadioBreaks(sheet, least_m_s)
        if fits_radio_breaks(sheet.quality)
        else ShoulderBreaks(sheet, least_m_s, refractory_us)
    )


def is_fitted(quality: Quality) -> bool:
    """True if breaks are fitted to the ball's positions, which show their noise and the contact itself."""
    return fits_radio_breaks(quality) or fits_optical_breaks(quality)


def least_change_m_s(sheet: MatchSheet) -> float:
    """Least change of velocity over the declared noise; a fit is judged by its own residue instead."""
    if fits_optical_breaks(sheet.quality):
        return OPTICAL_CHANGE_MIN_M_S
    return 0.0 if fits_radio_breaks(sheet.quality) else delta_v_noise_m_s(sheet.quality)


def fit_horizon_us(sheet: MatchSheet) -> int:
    """How far before its newest cause a break that was seen may be dated."""
    finder = build_break_finder(sheet, 0.0)
    return finder.fit_horizon_us if isinstance(finder, OpticalBreaks) else finder.horizon_us


def break_spread_us(sheet: MatchSheet) -> int:
    """How far a break may be dated from its contact: one fit of a velocity."""
    sampling = ball_sampling(sheet.quality)
    return (sampling.fit + 1) * sampling.period_us


def _is_bounce(break_: TrajectoryBreak, horizontal_m_s: float) -> bool:
    """True if the ground explains a break: the ball falls, is at the ground, and rises.

    It does not where its path over ground changes too, or the ball gets faster over ground by more than noise.
    """
    falls_m_s, rises_m_s = break_.before[2], break_.after[2]
    before_m_s, after_m_s = break_.speeds_m_s
    if after_m_s - before_m_s > FASTER_SIGMAS * break_.noise_m_s:
        return False
    falls = falls_m_s < -1.0 and rises_m_s > falls_m_s / 2.0
    return falls and break_.z_m < GROUND_M + 0.2 and horizontal_m_s < 0.5 * (rises_m_s - falls_m_s)


def _break_event(kind: str, variant: str, break_: TrajectoryBreak) -> Event:
    break_ = msgspec.structs.replace(
        break_, before=possible_velocity(break_.before), after=possible_velocity(break_.after)
    )
    (bx, by, bz), (ax, ay, az) = break_.before, break_.after
    before_m_s, after_m_s = break_.speeds_m_s
    horizontal_m_s = math.hypot(ax - bx, ay - by)
    payload = EventPayload(
        variant=variant,
        x_m=break_.x_m,
        y_m=break_.y_m,
        z_m=break_.z_m,
        detail={
            "delta_v_m_s": round(break_.net_m_s, 2),
            "noise_m_s": round(break_.noise_m_s, 2),
            "delta_vx_m_s": round(ax - bx, 2),
            "delta_vy_m_s": round(ay - by, 2),
            "delta_vz_m_s": round(az - bz, 2),
            "bounce": _is_bounce(break_, horizontal_m_s),
            "speed_before_m_s": round(before_m_s, 2),
            "speed_after_m_s": round(after_m_s, 2),
            "vx_m_s": round(ax, 2),
            "vy_m_s": round(ay, 2),
            "vz_m_s": round(az, 2),
        },
    )
    return make_event(kind, break_.ts_us, f"{break_.source}:{break_.ts_us}", payload)
