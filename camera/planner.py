"""The aim planner: from views and events to the direction of the camera, 50 times a second. The caller gives the time.

Theory of operation
-------------------
There are two inputs, because views arrive steadily while events may be late or withdrawn. At each tick the newest
view gives a point of interest and what must be in the picture (``camera.interest``), the composer makes angles and a
width of them (``camera.composition``), and each axis follows within its limits (``camera.motion``). Events only add
pulls, so a late or withdrawn event never stalls a tick.

Each axis has a *gate*, the dead zone with hysteresis and a soft knee. It opens when the error leaves the outer zone,
and closes when the error is well inside and the camera is almost still. While it is open, the desired speed rises from
nothing at the inner zone to its whole at the outer one, without a kink; an opening gate raises it smoothly over
``GATE_S``, too. While it is closed the desired speed is exactly zero, so the camera does not creep.

Without a new view for ``silence_us`` the planner brakes to a standstill within the same limits, and stays until the
next view.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import msgspec

from camera.bounds import Bounds, bounds_of
from camera.chances import Chance, load_chances
from camera.composition import Composer
from camera.framing import FramingTable, load_framing
from camera.head import Pose
from camera.interest import PULLS_MAX, Cause, Circumstances, Interest, Pull, ends, interest, pulls_of, seconds_ahead
from camera.lookahead import Outlook, outlook
from camera.motion import Limits, Motion, follow
from camera.mount import Mount
from camera.operator import DEAD_MAN_US, GoTo, Hold, ManualDrive, Order
from camera.profile import Profile
from camera.roles import ROLES, Role, shown
from football.update_stream import BodyView, EventRecord, UpdateRecord, View

TICK_US = 20_000
#: A late tick counts as at most this long, so that the plan does not jump.
TICK_US_MAX = 60_000
#: Time in which a gate opens or closes completely.
GATE_S = 0.3
#: Time by which the zoom trails; its dead zone, as logarithms of the picture's width.
ZOOM_TRAIL_S, ZOOM_OUTER, ZOOM_INNER = 1.2, 0.10, 0.02
#: Width of the picture of a style's trail; the factor on it is this power of the width's, within bounds.
TRAIL_WIDTH_DEG, TRAIL_POWER, TRAIL_FACTORS = 15.0, 0.75, (0.8, 2.0)
#: So much further ahead is a free ball aimed at: until somebody plays it, its path is known.
FREE_BALL_US = 100_000
#: Limit of the events of which the time of their first assertion is remembered.
BEGUN_MAX = 64
#: Time for which a leg swing announces a kick; limit of the swings that are remembered.
SWING_US, SWINGS_MAX = 300_000, 32


class Style(msgspec.Struct, frozen=True):
    """How the camera moves.

    Attributes:
        lead_us: how far ahead of now the camera aims, see docs/steering.md.
        trail_s: time by which the camera trails a moving target (see ``camera.motion.follow``), with a picture of
            ``TRAIL_WIDTH_DEG``. A wider picture follows more slowly and aims further ahead by as much: it is calmer,
            and forgives an aim that turns out wrong.
        forward: share of the target's own speed that is added to the desired speed: less lag, more jerk.
        pan, tilt: limits of speed, acceleration and jerk, in degrees.
        zoom: the same, of the natural logarithm of the picture's width.
        outer, inner: dead zone as shares of the picture's width (pan) and height (tilt).
        silence_us: time without a new view after which the camera brakes.
    """

    lead_us: int = 150_000
    trail_s: float = 0.38
    forward: float = 0.12
    pan: Limits = Limits(60.0, 90.0, 300.0)
    tilt: Limits = Limits(30.0, 45.0, 150.0)
    zoom: Limits = Limits(0.35, 0.5, 1.5)
    outer: float = 0.03
    inner: float = 0.01
    silence_us: int = 300_000


CALM = Style(trail_s=0.8, pan=Limits(40.0, 35.0, 100.0), tilt=Limits(20.0, 18.0, 50.0), outer=0.08, inner=0.03)
NORMAL = Style()
SPORT = Style(
    trail_s=0.3, forward=0.3, pan=Limits(90.0, 150.0, 700.0), tilt=Limits(45.0, 75.0, 350.0), outer=0.05, inner=0.02
)
STYLES = {"calm": CALM, "normal": NORMAL, "sport": SPORT}


class Plan(msgspec.Struct, frozen=True):
    """The plan at one instant.

    ``target_*`` is the interest's direction, before any smoothing; ``pan``, ``tilt`` are the smooth movement,
    ``width_deg`` the picture's width. ``mode``: ``follow``, ``hold`` (in the dead zone) or ``stop`` (no new view, or
    without the ball or the role's player); ``operator``, ``held`` or ``preset`` while an operator's order is in force.
    ``causes``: the events that pull, the heaviest first.
    """

    now_us: int
    target_pan_deg: float
    target_tilt_deg: float
    pan: Motion
    tilt: Motion
    width_deg: float
    mode: str
    causes: tuple[Cause, ...] = ()


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
        elif abs(error) < (inner + outer) / 2 and speed < still:
            self.open = False
        step = dt_s / GATE_S
        self._share = min(1.0, self._share + step) if self.open else max(0.0, self._share - step)
        return _smooth(self._share) * _smooth((abs(error) - inner) / (outer - inner))


def _smooth(share: float) -> float:
    """Return a smooth step from 0 at 0 to 1 at 1."""
    share = max(0.0, min(1.0, share))
    return share * share * (3 - 2 * share)


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
        framing: what is in the picture by situation; None is the product's table.
        chance: that a tentative event stands; None is its confidence, which grows by the measured table.
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
        framing: FramingTable | None = None,
        chance: Chance | None = None,
    ) -> None:
        self.mount, self.profile, self.style, self.size_m = mount, profile, style, size_m
        self.role, self.bounds = role, bounds or bounds_of(profile)
        self.order: Order | None = None  # of the operator; None plans by itself
        self.focus: Interest | None = (
            None  # of the play, whatever the role shows; None without a ball or under an order
        )
        self._pan, self._tilt = Motion(start.pan_deg), Motion(start.tilt_deg)
        self._zoom = Motion(math.log(start.width_deg))
        self.framing, self.chance = framing or load_framing(), chance or load_chances().of
        self._composer = Composer(mount, profile, size_m)
        self._target = (start.pan_deg, start.tilt_deg)
        self._gates = (_Gate(), _Gate(), _Gate())
        self.delay_us = 0  # measured age of a view on its arrival; added to the lead
        self._view: View | None = None
        self._view_arrived_us = 0
        self._outlook: Outlook | None = None
        self._bodies: dict[str, BodyView] = {}
        self._ticked_us: int | None = None
        self._pulls: tuple[Pull, ...] = ()
        self._begun: OrderedDict[str, int] = OrderedDict()  # by event, when it was first asserted
        self._causes: tuple[Cause, ...] = ()
        self._swings: OrderedDict[str, EventRecord] = OrderedDict()  # by event

    def take_view(self, view: View, now_us: int) -> None:
        """Take a view that reached the camera at ``now_us``; a view older than the last is ignored."""
        if self._view is None or view.ts_us > self._view.ts_us:
            self._view, self._view_arrived_us = view, now_us
            swinging = {one.player for one in self._swings.values() if abs(view.ts_us - one.ts_us) < SWING_US}
            self._outlook = outlook(view, swinging=swinging)
            self._bodies = {body.object_id: body for body in view.players}

    def take_update(self, update: UpdateRecord) -> None:
        """Take an update: an asserted event may pull or end other pulls, a withdrawn one does neither any more."""
        event, replace = update.event, msgspec.structs.replace
        if event.kind == "leg.swing":
            self._take_swing(update)
            return
        pulls = [pull for pull in self._pulls if pull.event.id != event.id]
        if update.diff > 0:
            pulls = [replace(pull, ended_by=event.id) if ends(pull, event) else pull for pull in pulls]
            begin_us = self._begun.setdefault(event.id, self.stream_us)
            pulls += pulls_of(event, self.framing, self._view, begin_us, self.size_m[0])
            while len(self._begun) > BEGUN_MAX:
                self._begun.popitem(last=False)
        else:
            pulls = [replace(pull, ended_by="") if pull.ended_by == event.id else pull for pull in pulls]
        self._pulls = tuple(pulls[-PULLS_MAX:])

    def _take_swing(self, update: UpdateRecord) -> None:
        """Remember a leg swing for the next views, or forget one that is withdrawn."""
        self._swings.pop(update.event.id, None)
        if update.diff > 0:
            self._swings[update.event.id] = update.event
            while len(self._swings) > SWINGS_MAX:
                self._swings.popitem(last=False)

    def remount(self, mount: Mount) -> None:
        """Aim from another mount from now on: it was corrected or calibrated."""
        self.mount = mount
        self._composer.remount(mount)

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

    @property
    def causes(self) -> tuple[str, ...]:
        """Ids of the events that pulled at the last tick, the heaviest first."""
        return tuple(dict.fromkeys(cause.event_id for cause in self._causes))

    @property
    def _trail_s(self) -> float:
        """Time by which the camera trails a moving target in a picture as wide as the present one."""
        factor = (math.exp(self._zoom.position) / TRAIL_WIDTH_DEG) ** TRAIL_POWER
        return self.style.trail_s * max(TRAIL_FACTORS[0], min(TRAIL_FACTORS[1], factor))

    def tick(self, now_us: int, frontier_us: int = 0) -> Plan:
        """Return the plan at ``now_us``; to be called every ``TICK_US``."""
        last_us = self._ticked_us if self._ticked_us is not None else now_us - TICK_US
        assert now_us >= last_us, f"time runs forward: {now_us} after {last_us}"
        dt_s = min(now_us - last_us, TICK_US_MAX) / 1e6
        self._ticked_us = now_us
        self.focus, stream_s = None, self.stream_us / 1e6
        self._pulls = tuple(pull for pull in self._pulls if stream_s - pull.begin_us / 1e6 < pull.situation.lasts_s)
        self._causes = ()
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
        return Plan(now_us, *self._target, self._pan, self._tilt, math.exp(self._zoom.position), mode, self._causes)

    def _obey(self, order: Order, now_us: int, dt_s: float) -> tuple[str, tuple[Motion, Motion, Motion]]:
        """Return the mode, and pan, tilt and zoom after a tick of an operator's order."""
        style = self.style
        match order:
            case GoTo(pose):
                self._target = self.bounds.clipped(pose.pan_deg, pose.tilt_deg)
                pan = follow(self._pan, self._target[0], 0.0, dt_s, style.pan, style.trail_s)
                tilt = follow(self._tilt, self._target[1], 0.0, dt_s, style.tilt, style.trail_s)
                zoom = follow(self._zoom, math.log(pose.width_deg), 0.0, dt_s, style.zoom, ZOOM_TRAIL_S)
                return "preset", (pan, tilt, zoom)
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
            return follow(motion, goal, 0.0, dt_s, limits, self.style.trail_s, abs(share))
        return follow(motion, goal, 0.0, dt_s, slow, self.style.trail_s)

    def _focus(self, now_us: int, frontier_us: int) -> Interest | None:
        """Return the point of interest; None without a ball, or without a new view for ``silence_us``."""
        if self._view is None or now_us - self._view_arrived_us > self.style.silence_us:
            return None
        more_us = round(1e6 * max(0.0, self._trail_s - self.style.trail_s))
        is_free = self._outlook is not None and self._outlook.contact_s > 0.0
        lead_us = self.style.lead_us + self.delay_us + more_us + FREE_BALL_US * is_free
        at = Circumstances(self.stream_us, lead_us, frontier_us, self.size_m)
        if self._outlook is not None:
            self.focus = interest(self._outlook, self._bodies, self._pulls, at, self.framing, self.chance)
        ahead_s = seconds_ahead(self._view.ts_us, at)
        return shown(self.role, self.focus, self._view, self.framing.play, self.size_m[0], ahead_s)

    def _follow(self, focus: Interest, dt_s: float) -> tuple[Motion, Motion, Motion]:
        """Return pan, tilt and zoom after a tick that follows ``focus``."""
        style, width_deg = self.style, math.exp(self._zoom.position)
        height_deg = self.profile.zoom.height_deg(width_deg)
        self._causes = focus.causes
        wanted = self._composer.compose(focus, width_deg, dt_s)
        self._target = self.bounds.clipped(wanted.pan_deg, wanted.tilt_deg)
        now, soon = (
            self.mount.aim(focus.x_m + focus.vx_m_s * s, focus.y_m + focus.vy_m_s * s, focus.z_m) for s in (0.0, 0.1)
        )
        pan_rate, tilt_rate = (10 * style.forward * (b - a) for a, b in zip(now, soon, strict=True))
        pan = self._axis(0, self._pan, self._target[0], pan_rate, style.pan, width_deg, dt_s)
        tilt = self._axis(1, self._tilt, self._target[1], tilt_rate, style.tilt, height_deg, dt_s)
        return pan, tilt, self._follow_zoom(math.log(wanted.width_deg), dt_s)

    def _axis(
        self, which: int, motion: Motion, target: float, rate: float, limits: Limits, picture_deg: float, dt_s: float
    ) -> Motion:
        style = self.style
        speed = max(abs(rate), abs(motion.velocity))
        gate = self._gates[which]
        outer, inner = style.outer * picture_deg, style.inner * picture_deg
        gain = gate.gain(target - motion.position, speed, outer, inner, 0.3, dt_s)
        return follow(motion, target, rate, dt_s, limits, self._trail_s, gain)

    def _follow_zoom(self, target: float, dt_s: float) -> Motion:
        """Return the zoom after a tick towards a logarithm of the picture's width."""
        style, error = self.style, target - self._zoom.position
        gain = self._gates[2].gain(error, abs(self._zoom.velocity), ZOOM_OUTER, ZOOM_INNER, 0.01, dt_s)
        return follow(self._zoom, target, 0.0, dt_s, style.zoom, ZOOM_TRAIL_S, gain)

    def _brake(self, dt_s: float) -> tuple[Motion, Motion, Motion]:
        """Return pan, tilt and zoom after a tick of braking."""
        zoom = follow(self._zoom, self._zoom.position, 0.0, dt_s, self.style.zoom, ZOOM_TRAIL_S, 0.0)
        return (*self._braked(self._pan, self._tilt, dt_s), zoom)

    def _braked(self, pan: Motion, tilt: Motion, dt_s: float) -> tuple[Motion, Motion]:
        style = self.style
        return (
            follow(pan, pan.position, 0.0, dt_s, style.pan, style.trail_s, 0.0),
            follow(tilt, tilt.position, 0.0, dt_s, style.tilt, style.trail_s, 0.0),
        )

    def _can_move(self, moved: tuple[Motion, Motion, Motion], dt_s: float) -> bool:
        """True if the camera, once it has moved so, can still stop outside of the forbidden zones.

        It was outside, and could stop outside, at the tick before: so braking now is always safe.
        """
        now_deg, step_s = (self._pan.position, self._tilt.position), max(dt_s, TICK_US / 1e6)
        return self.bounds.can_stop(now_deg, *moved[:2], lambda pan, tilt: self._braked(pan, tilt, step_s))
