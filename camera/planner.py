"""The aim planner: from views and events to the direction of the camera, 50 times a second. The caller gives the time.

Theory of operation
-------------------
There are two inputs, because views arrive steadily while events may be late or withdrawn. At each tick the newest
view gives a point of interest and its velocity (``camera.interest``), the mount turns it into angles, and each axis
follows within its limits (``camera.motion``). Events only add pulls to the interest and choose the framing, so a late
or withdrawn event never stalls a tick.

Each axis has a *gate*, the dead zone with hysteresis. It opens when the error leaves the outer zone. It closes when
the error is inside the inner zone and the camera is almost still. An opening gate raises the gain of
``follow`` smoothly over ``GATE_S``, a closing one lowers it. While it is closed the desired speed is exactly zero, so
the camera does not creep.

Without a new view for ``silence_us`` the planner brakes to a standstill within the same limits, and stays until the
next view.
"""

from __future__ import annotations

import math

import msgspec

from camera.bounds import Bounds, bounds_of
from camera.head import Pose
from camera.interest import AHEAD_US_MAX, PULLS_MAX, Framing, Interest, Pull, interest, pull_of
from camera.motion import Limits, Motion, follow
from camera.mount import Mount
from camera.operator import DEAD_MAN_US, GoTo, Hold, ManualDrive, Order
from camera.profile import Profile
from camera.roles import ROLES, Role, shown
from football.update_stream import UpdateRecord, View

TICK_US = 20_000
#: A late tick counts as at most this long, so that the plan does not jump.
TICK_US_MAX = 60_000
#: Time in which a gate opens or closes completely.
GATE_S = 0.3


class Style(msgspec.Struct, frozen=True):
    """How the camera moves.

    Attributes:
        lead_us: how far ahead of now the camera aims, see docs/cameras.md.
        stiffness_s: natural frequency of the follower, 1/s (see ``camera.motion.follow``).
        forward: share of the target's own speed that is added to the desired speed: less lag, more jerk.
        pan, tilt: limits of speed, acceleration and jerk, in degrees.
        zoom: the same, of the natural logarithm of the picture's width.
        outer, inner: dead zone as shares of the picture's width (pan) and height (tilt).
        silence_us: time without a new view after which the camera brakes.
        picture_m: width of the picture in metres, at the distance of the interest, by framing.
    """

    lead_us: int = 400_000
    stiffness_s: float = 3.0
    forward: float = 0.0
    pan: Limits = Limits(60.0, 60.0, 200.0)
    tilt: Limits = Limits(30.0, 30.0, 100.0)
    zoom: Limits = Limits(0.35, 0.5, 1.5)
    outer: float = 0.05
    inner: float = 0.02
    silence_us: int = 300_000
    picture_m: tuple[tuple[Framing, float], ...] = (
        ("play", 30.0),
        ("goalmouth", 36.0),
        ("restart", 26.0),
        ("player", 10.0),
    )


CALM = Style(stiffness_s=2.0, pan=Limits(40.0, 35.0, 100.0), tilt=Limits(20.0, 18.0, 50.0), outer=0.08, inner=0.03)
NORMAL = Style()
SPORT = Style(stiffness_s=5.0, forward=0.4, pan=Limits(90.0, 110.0, 500.0), tilt=Limits(45.0, 55.0, 250.0))
STYLES = {"calm": CALM, "normal": NORMAL, "sport": SPORT}


class Plan(msgspec.Struct, frozen=True):
    """The plan at one instant.

    ``target_*`` is the interest's direction, before any smoothing; ``pan``, ``tilt`` are the smooth movement,
    ``width_deg`` the picture's width. ``mode``: ``follow``, ``hold`` (in the dead zone) or ``stop`` (no new view, or
    without the ball or the role's player); ``operator``, ``held`` or ``preset`` while an operator's order is in force.
    """

    now_us: int
    target_pan_deg: float
    target_tilt_deg: float
    pan: Motion
    tilt: Motion
    width_deg: float
    mode: str


class _Gate:
    """Dead zone of one axis, with hysteresis (see the module's theory of operation)."""

    def __init__(self) -> None:
        self.open = False
        self._share = 0.0

    def gain(self, error: float, speed: float, outer: float, inner: float, still: float, dt_s: float) -> float:
        """Return the gain (0 to 1) after a tick.

        Args:
            error: target less position.
            speed: of the camera, or the part of the target's speed that the style adds, if that is greater.
            outer, inner: half widths of the zones, in the unit of ``error``.
            still: speed below which an axis counts as still.
            dt_s: length of the tick.
        """
        if abs(error) > outer:
            self.open = True
        elif abs(error) < inner and speed < still:
            self.open = False
        step = dt_s / GATE_S
        self._share = min(1.0, self._share + step) if self.open else max(0.0, self._share - step)
        return self._share * self._share * (3 - 2 * self._share)


class Planner:
    """Plans one camera. Deterministic: the same calls give the same plans.

    Args:
        mount: position and heading of the camera.
        profile: of its head.
        start: pose at the beginning, at rest.
        style: how the camera moves.
        size_m: length and width of the pitch.
        role: what the camera shows.
        bounds: where it may look; None is the whole travel of the head.
    """

    def __init__(
        self,
        mount: Mount,
        profile: Profile,
        start: Pose,
        style: Style = NORMAL,
        size_m: tuple[float, float] = (105.0, 68.0),
        role: Role = ROLES["main"],
        bounds: Bounds | None = None,
    ) -> None:
        self.mount, self.profile, self.style, self.size_m = mount, profile, style, size_m
        self.role, self.bounds = role, bounds or bounds_of(profile)
        self.order: Order | None = None  # of the operator; None plans by itself
        self._pan, self._tilt = Motion(start.pan_deg), Motion(start.tilt_deg)
        self._zoom = Motion(math.log(start.width_deg))
        self._target = (start.pan_deg, start.tilt_deg)
        self._gates = (_Gate(), _Gate(), _Gate())
        self.delay_us = 0  # measured age of a view on its arrival; added to the lead
        self._view: View | None = None
        self._view_arrived_us = 0
        self._ticked_us: int | None = None
        self._pulls: tuple[Pull, ...] = ()

    def take_view(self, view: View, now_us: int) -> None:
        """Take a view that reached the camera at ``now_us``; a view older than the last is ignored."""
        if self._view is None or view.ts_us > self._view.ts_us:
            self._view, self._view_arrived_us = view, now_us

    def take_update(self, update: UpdateRecord) -> None:
        """Take an update of an event: an asserted event may pull, a withdrawn one no longer does."""
        others = tuple(pull for pull in self._pulls if pull.event.id != update.event.id)
        pull = pull_of(update, self._view, self.size_m[0]) if update.diff > 0 else None
        self._pulls = (*others, pull)[-PULLS_MAX:] if pull else others

    def resume_at(self, pose: Pose) -> None:
        """Continue from ``pose``, where the head stands still after a reconnect."""
        self._pan, self._tilt = Motion(pose.pan_deg), Motion(pose.tilt_deg)
        self._zoom = Motion(math.log(pose.width_deg))

    @property
    def stream_us(self) -> int:
        """The stream's clock at the last tick: the newest view's time, extrapolated."""
        if self._view is None:
            return 0
        return self._view.ts_us + max(0, (self._ticked_us or 0) - self._view_arrived_us)

    def tick(self, now_us: int, frontier_us: int = 0) -> Plan:
        """Return the plan at ``now_us``; to be called every ``TICK_US``."""
        last_us = self._ticked_us if self._ticked_us is not None else now_us - TICK_US
        assert now_us >= last_us, f"time runs forward: {now_us} after {last_us}"
        dt_s = min(now_us - last_us, TICK_US_MAX) / 1e6
        self._ticked_us = now_us
        self._pulls = tuple(pull for pull in self._pulls if pull.until_us > self.stream_us)
        if self.order is not None:
            mode, moved = self._obey(self.order, now_us, dt_s)
        else:
            focus = self._focus(now_us, frontier_us)
            moved = self._brake(dt_s) if focus is None else self._follow(focus, dt_s)
            mode = "stop" if focus is None else "follow" if self._gates[0].open or self._gates[1].open else "hold"
        if self.bounds.forbidden and not self._can_move(moved, dt_s):
            moved = (*self._braked(self._pan, self._tilt, dt_s), moved[2])
        if dt_s > 0:
            self._pan, self._tilt, self._zoom = moved
        return Plan(now_us, *self._target, self._pan, self._tilt, math.exp(self._zoom.position), mode)

    def _obey(self, order: Order, now_us: int, dt_s: float) -> tuple[str, tuple[Motion, Motion, Motion]]:
        """Return the mode, and pan, tilt and zoom after a tick of an operator's order."""
        style = self.style
        match order:
            case GoTo(pose):
                self._target = self.bounds.clipped(pose.pan_deg, pose.tilt_deg)
                pan = follow(self._pan, self._target[0], 0.0, dt_s, style.pan, style.stiffness_s)
                tilt = follow(self._tilt, self._target[1], 0.0, dt_s, style.tilt, style.stiffness_s)
                return "preset", (pan, tilt, follow(self._zoom, math.log(pose.width_deg), 0.0, dt_s, style.zoom, 1.5))
            case ManualDrive(pan_share, tilt_share, zoom_share, at_us) if now_us - at_us <= DEAD_MAN_US:
                pan = self._driven(self._pan, pan_share, self.bounds.pan_deg, style.pan, dt_s)
                tilt = self._driven(self._tilt, tilt_share, self.bounds.tilt_deg, style.tilt, dt_s)
                lens = math.log(self.profile.zoom.tele_width_deg), math.log(self.profile.zoom.wide_width_deg)
                return "operator", (pan, tilt, self._driven(self._zoom, -zoom_share, lens, style.zoom, dt_s))
            case ManualDrive():
                return "operator", self._brake(dt_s)
            case Hold():
                return "held", self._brake(dt_s)

    def _driven(self, motion: Motion, share: float, ends: tuple[float, float], limits: Limits, dt_s: float) -> Motion:
        """Return an axis after a tick of a drive at a share of its greatest speed, which ends at its limits."""
        goal = ends[1] if share > 0 else ends[0] if share < 0 else motion.position
        slow = Limits(max(abs(share), 0.01) * limits.speed, limits.accel, limits.jerk)
        if abs(motion.velocity) > slow.speed:
            return follow(motion, goal, 0.0, dt_s, limits, self.style.stiffness_s, abs(share))
        return follow(motion, goal, 0.0, dt_s, slow, self.style.stiffness_s)

    def _focus(self, now_us: int, frontier_us: int) -> Interest | None:
        """Return the point of interest; None without a ball, or without a new view for ``silence_us``."""
        if self._view is None or now_us - self._view_arrived_us > self.style.silence_us:
            return None
        stream_us = self._view.ts_us + now_us - self._view_arrived_us
        ahead_us = self.style.lead_us + self.delay_us
        focus = interest(self._view, self._pulls, stream_us, ahead_us, frontier_us, self.size_m)
        ahead_s = min(stream_us - self._view.ts_us + ahead_us, AHEAD_US_MAX) / 1e6
        return shown(self.role, focus, self._view, self.size_m[0], ahead_s)

    def _follow(self, focus: Interest, dt_s: float) -> tuple[Motion, Motion, Motion]:
        """Return pan, tilt and zoom after a tick that follows ``focus``."""
        style, zoom = self.style, self.profile.zoom
        width_deg = math.exp(self._zoom.position)
        height_deg = zoom.height_deg(width_deg)
        self._target = self._aim(focus.x_m, focus.y_m, focus.z_m)
        soon = self._aim(focus.x_m + focus.vx_m_s * 0.1, focus.y_m + focus.vy_m_s * 0.1, focus.z_m)
        pan_rate, tilt_rate = (10 * style.forward * (b - a) for a, b in zip(self._target, soon, strict=True))
        pan = self._axis(0, self._pan, self._target[0], pan_rate, style.pan, width_deg, dt_s)
        tilt = self._axis(1, self._tilt, self._target[1], tilt_rate, style.tilt, height_deg, dt_s)
        return pan, tilt, self._follow_zoom(focus, dt_s)

    def _axis(
        self, which: int, motion: Motion, target: float, rate: float, limits: Limits, picture_deg: float, dt_s: float
    ) -> Motion:
        style = self.style
        speed = max(abs(rate), abs(motion.velocity))
        gate = self._gates[which]
        outer, inner = style.outer * picture_deg, style.inner * picture_deg
        gain = gate.gain(target - motion.position, speed, outer, inner, 0.3, dt_s)
        return follow(motion, target, rate, dt_s, limits, style.stiffness_s, gain)

    def _follow_zoom(self, focus: Interest, dt_s: float) -> Motion:
        """Return the zoom after a tick towards the width of the framing, at the distance of ``focus``."""
        zoom, style = self.profile.zoom, self.style
        distance_m = self.mount.distance_m(focus.x_m, focus.y_m, focus.z_m)
        picture_m = dict(style.picture_m)[focus.framing] * self.role.picture
        width_deg = 2 * math.degrees(math.atan(picture_m / 2 / distance_m))
        width_deg = max(zoom.tele_width_deg, min(zoom.wide_width_deg, width_deg))
        target = math.log(width_deg)
        gain = self._gates[2].gain(target - self._zoom.position, abs(self._zoom.velocity), 0.1, 0.02, 0.01, dt_s)
        return follow(self._zoom, target, 0.0, dt_s, style.zoom, 1.5, gain)

    def _brake(self, dt_s: float) -> tuple[Motion, Motion, Motion]:
        """Return pan, tilt and zoom after a tick of braking."""
        zoom = follow(self._zoom, self._zoom.position, 0.0, dt_s, self.style.zoom, 1.5, 0.0)
        return (*self._braked(self._pan, self._tilt, dt_s), zoom)

    def _braked(self, pan: Motion, tilt: Motion, dt_s: float) -> tuple[Motion, Motion]:
        style = self.style
        return (
            follow(pan, pan.position, 0.0, dt_s, style.pan, style.stiffness_s, 0.0),
            follow(tilt, tilt.position, 0.0, dt_s, style.tilt, style.stiffness_s, 0.0),
        )

    def _can_move(self, moved: tuple[Motion, Motion, Motion], dt_s: float) -> bool:
        """True if the camera, once it has moved so, can still stop outside of the forbidden zones.

        It was outside, and could stop outside, at the tick before: so braking now is always safe.
        """
        if any(zone.holds(moved[0].position, moved[1].position) for zone in self.bounds.forbidden):
            return any(zone.holds(self._pan.position, self._tilt.position) for zone in self.bounds.forbidden)
        step_s = max(dt_s, TICK_US / 1e6)
        return self.bounds.can_stop(moved[0], moved[1], lambda pan, tilt: self._braked(pan, tilt, step_s))

    def _aim(self, x_m: float, y_m: float, z_m: float) -> tuple[float, float]:
        """Return pan and tilt of a point, within the bounds."""
        return self.bounds.clipped(*self.mount.aim(x_m, y_m, z_m))
