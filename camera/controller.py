"""Steers one camera: feed -> planner -> steps -> session of the head's protocol -> head, 50 times a second in a thread.

Theory of operation
-------------------
Each tick reads the head's replies, takes the newest view and the new event updates, plans, chooses a speed step, asks
the head for its position, sends, and writes a row. No part of a tick waits: for a head that is slow or does not answer
the session repeats messages, and the loop keeps its 50 ticks a second. Planning uses the monotonic clock; only rows and
latencies use the wall clock.

Safety: the controller moves the head only while ``camera.head_connection`` has it in hand. It sends a stop when the
feed is silent (after the planner has braked), and at ``stop()``, which waits until equal reports confirm that the head
stands still. After ``STOP_US`` it gives up, and the figure ``stopped`` is 0. After a lost link the planner continues
from where the head stands, at rest, so that the camera comes back with a ramp.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Protocol

import msgspec
import numpy as np

from camera.authority import Authority, Steering
from camera.bounds import Bounds, bounds_of
from camera.correction import Correction
from camera.drive import StepChooser
from camera.event_scores import EventScores
from camera.failures import FIRST_ANSWER_US, signs_of
from camera.framing import FramingTable
from camera.freed import FreedSender
from camera.head import Pose
from camera.head_connection import PoseSource, connect, pose_of
from camera.interest import Interest
from camera.metrics import CameraFigures
from camera.mount import Mount
from camera.operator import Hold, ManualDrive, Order, Track
from camera.planner import CALM, NORMAL, TICK_US, Plan, Planner, Style
from camera.profile import Profile
from camera.protocols.messages import Drive
from camera.protocols.registry import Address
from camera.record import Row
from camera.roles import ROLES, Role
from camera.state import CameraState, state_of, state_of_ended, with_orders
from football.update_stream import UpdateRecord, View

#: Limit of the wait for a standstill at the end.
STOP_US = 1_500_000
#: Number of rows that are passed to ``record`` together (ten seconds), since the match store makes a file of each call.
LOT_ROWS = 500
#: Interval of zoom commands.
ZOOM_US = 200_000
#: The same in messages, where a protocol has a shortest time between two.
ZOOM_MESSAGES = 6
#: Smallest zoom movement that is sent, as a share of the lens's travel.
ZOOM_STEP = 0.005
#: Time from sending a command to its effect, beside the head's dead time: half a command interval and the network.
EFFECT_US = 20_000
LATENCIES_MAX = 100_000
#: Share of each view in the smoothed age of views on their arrival, and limit of that age.
DELAY_SHARE = 0.05
DELAY_US_MAX = 800_000


class Feed(Protocol):
    """A camera's source of positions and events. All methods are called from the camera's thread and never block."""

    def latest_view(self) -> View | None:
        """Return the newest known positions; the same object again if there are none newer."""
        ...

    def view_wall_us(self) -> int:
        """Return the wall time at which the newest view's positions reached the source; 0 if unknown."""
        ...

    def frontier_us(self) -> int:
        """Return the watermark: event time below which events are confirmed."""
        ...

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        """Return the cursor for the next call, and the updates after ``cursor`` (0 at first) in order."""
        ...


class CameraController:
    """Steers one head from a feed.

    Args:
        feed: positions and events.
        mount: position and heading of the camera.
        profile: of the head.
        address: of the head.
        protocol: a name of ``camera.protocols.registry.PROTOCOLS``.
        record: called in the camera's thread with some rows; must not block for long. An exception from it is counted
            in ``figures()["record_errors"]`` and does not stop the camera.
        style: how the camera moves.
        size_m: length and width of the pitch.
        role: what the camera shows.
        bounds: where it may look; None is the whole travel of the head.
        calm: the style on air, and around failures.
        tracking: gets the pose at each tick while the head answers; closed at the end.
        source: of poses that the head sends by itself; closed at the end.
        framing: what is in the picture by situation; None is the product's table.

    Raises:
        AddressError: the host of the head is unknown.
        ProtocolError: no such protocol.
    """

    def __init__(
        self,
        feed: Feed,
        mount: Mount,
        profile: Profile,
        address: Address,
        protocol: str = "visca",
        record: Callable[[Sequence[Row]], None] | None = None,
        style: Style = NORMAL,
        size_m: tuple[float, float] = (105.0, 68.0),
        role: Role = ROLES["main"],
        bounds: Bounds | None = None,
        calm: Style = CALM,
        tracking: FreedSender | None = None,
        source: PoseSource | None = None,
        framing: FramingTable | None = None,
    ) -> None:
        self._feed, self._mount, self._profile, self._record = feed, mount, profile, record
        self._tracking = tracking
        now_us = _now_us()
        bounds = bounds or bounds_of(profile)
        self._head = connect(profile, address, protocol, now_us, source)
        self._planner = Planner(mount, profile, self._head.observer.at(now_us), style, size_m, role, bounds, framing)
        self._dead_us = round(profile.motion.dead_time_ms * 1000)
        self._planner.delay_us = self._dead_us  # until views have an age
        #: Who steers, in which style, and what happens when something fails.
        self.authority = Authority(mount, profile, bounds, role, style, calm)
        #: Why the input is not reliable; empty if it is.
        self.distrust = ""
        self._chooser = StepChooser(profile)
        self._measured_mount, self._correction = mount, Correction()
        self._calibrated: Mount | None = None
        self._nudge: tuple[Pose, Plan | None] | None = None  # where a drive has left the camera, and the plan after it
        self._was_online = False
        self._cursor = 0
        self._view: View | None = None
        self._view_arrived_us = self._view_wall_us = 0
        self._view_used = True
        self._view_age_us: int | None = None
        self._has_answered = False
        self._zoom_due_us = 0
        self._zoom_units = -1
        self._rows: list[Row] = []
        self._figures = CameraFigures()
        self._event_scores = EventScores(mount, profile.aspect)
        self._latencies_us: deque[int] = deque(maxlen=LATENCIES_MAX)
        self._counts: Counter[str] = Counter()
        self._failure = ""
        self._dropped = ""  # why the camera holds in the place of an order
        #: Why it is not steered any more; empty while it is.
        self.ended = ""
        self._state = CameraState("offline", "", None, self._head.problem)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera controller", daemon=True)

    def start(self) -> CameraController:
        """Start steering; return itself."""
        self._thread.start()
        return self

    def order(self, order: Order | Track | None) -> None:
        """Take an operator's order, which wins from the next tick on; None hands back."""
        self._dropped, self.authority.operator = "", order

    def state(self) -> CameraState:
        """Return what the camera does now."""
        return with_orders(self._state, self.authority)

    def focus(self) -> Interest | None:
        """Return the point of interest of the play at the last tick; None without a ball or under an order."""
        return self._planner.focus

    def calibrate(self, mount: Mount) -> None:
        """Steer with another mount from the next tick on."""
        self._calibrated = mount

    def standing(self) -> tuple[float, float] | None:
        """Return pan and tilt as the head has reported them, in its own degrees; None while it turns or is silent."""
        report = self._head.report
        if report is None or not (self._head.online and self._head.is_still):
            return None
        return self._profile.pan.deg(report[2][0]), self._profile.tilt.deg(report[2][1])

    def stop(self) -> None:
        """Stop the head, wait until it stands still (at most ``STOP_S``), record the last rows. Safe to call twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def figures(self) -> dict[str, float | str]:
        """Return figures of the steering so far: see ``camera.metrics``, ``camera.event_scores`` and the keys below.

        ``commands_sent``, ``commands_acked``, ``commands_refused``, ``commands_timeout``, ``commands_resent``,
        ``resets``, ``reconnects``, ``garbled_answers``, ``record_errors``; ``latency_p50_ms``, ``latency_p95_ms`` from
        a position's arrival at the source to the first drive command after it; ``motion_p50_ms``, ``motion_p95_ms``
        from a drive of a resting axis to its motion (``camera.start_delay``); ``stopped``: 1.0 once the head has
        confirmed that it stands still; ``bias_pan_deg``, ``bias_tilt_deg``, ``bias_nudges``: the correction of the
        aim by the operator's nudges (``camera.correction``); ``failure``: the error that ended the thread, empty if
        there was none.
        """
        with self._lock:
            figures: dict[str, float | str] = {**self._figures.figures(), **self._event_scores.figures()}
            latencies_ms = np.array(self._latencies_us, dtype=float) / 1000
            counts = self._counts + self._head.counts
            figures |= self._head.starts.figures()
        for name in _COUNTED:
            figures[name] = float(counts.get(name, 0))
        figures["commands_resent"] = float(self._head.resent)
        figures["resets"] = float(self._head.resets)
        if len(latencies_ms):
            figures["latency_p50_ms"] = float(np.quantile(latencies_ms, 0.5))
            figures["latency_p95_ms"] = float(np.quantile(latencies_ms, 0.95))
        figures["bias_pan_deg"], figures["bias_tilt_deg"] = self._correction.pan_deg, self._correction.tilt_deg
        figures["bias_nudges"] = float(self._correction.nudges)
        figures["failure"] = self._failure
        return figures

    # -- the thread

    def _run(self) -> None:
        try:
            self._steer()
        except Exception as error:  # the match continues without this camera; the figures have the reason
            self._failure = f"{type(error).__name__}: {error}"
            self.ended = f"it is not steered any more: {self._failure}"
            self.authority.give_up()
            self._state = state_of_ended(self.authority, self.ended)
        try:
            self._end()
        except Exception as error:
            self._failure = self._failure or f"{type(error).__name__}: {error}"

    def _end(self) -> None:
        """Stop the head and release everything; an error of one step keeps no other from being done."""
        with ExitStack() as ending:
            if self._tracking is not None:
                ending.callback(self._tracking.close)
            ending.callback(self._head.close)
            ending.callback(self._flush)
            self._head.tally(False, _now_us())  # nobody puts it out later
            self._counts["stopped"] = int(self._head.rest(STOP_US, _now_us))

    def _steer(self) -> None:
        due_us = _now_us()
        while not self._stopping.is_set():
            now_us = _now_us()
            try:
                self._tick(now_us)
            except Exception as error:
                if not self._hold_instead(error, now_us):
                    raise
            due_us = max(due_us + TICK_US, now_us)  # missed ticks are dropped
            self._stopping.wait(max(0.0, (due_us - _now_us()) / 1e6))

    def _hold_instead(self, error: Exception, now_us: int) -> bool:
        """Hold the camera in the place of an order that cannot be carried out; return False if none was in force.

        A rule's order is dropped as well, with the operator's hold above it.
        """
        if isinstance(self._planner.order, Hold | None):
            return False
        self._dropped = f"an order could not be carried out: {type(error).__name__}: {error}"
        self.authority.rule, self.authority.rule_name, self.authority.operator = None, "", Hold()
        self._planner.order = Hold()
        self._planner.resume_at(self._head.observer.at(now_us))
        return True

    def _tick(self, now_us: int) -> None:
        self._head.listen(now_us)
        self._take_calibration()
        self._take_feed(now_us)
        self._take_head(now_us)
        steering = self._steered(now_us)
        plan = self._planner.tick(now_us, self._feed.frontier_us())
        if self._head.online:
            self._command(plan, now_us)
        self._learn(plan, steering, now_us)
        self._head.tally(self.authority.care.lamp(now_us, on_air=self.authority.on_air), now_us)
        self._head.send(now_us)
        self._record_tick(plan, steering, now_us)

    def _learn(self, plan: Plan, steering: Steering, now_us: int) -> None:
        """Correct the mount by where an operator's drive has left the camera, seen at the second tick after it."""
        if isinstance(steering.order, ManualDrive):
            self._nudge = (self._head.observer.at(now_us), None)
        elif self._nudge is not None:
            pose, before = self._nudge
            aims = plan.mode in ("follow", "hold")
            self._nudge = (pose, plan) if aims and before is None else None
            if aims and before is not None and now_us > before.now_us:
                moved_deg = math.hypot(
                    plan.target_pan_deg - before.target_pan_deg, plan.target_tilt_deg - before.target_tilt_deg
                )
                off_deg = pose.pan_deg - plan.target_pan_deg, pose.tilt_deg - plan.target_tilt_deg
                speed_deg_s = moved_deg / ((now_us - before.now_us) / 1e6)
                self._correction = self._correction.nudged(*off_deg, pose.width_deg, speed_deg_s)
                self._remount()

    def _take_calibration(self) -> None:
        """Take a mount that was calibrated since the last tick; what nudges had shown of the old one is void."""
        if (mount := self._calibrated) is not None:
            self._calibrated, self._measured_mount, self._correction = None, mount, Correction()
            self.authority.mount = mount
            self._remount()

    def _remount(self) -> None:
        self._mount = self._correction.applied(self._measured_mount)
        self._planner.remount(self._mount)
        self._event_scores.mount = self._mount
        if self._tracking is not None:
            self._tracking.mount = self._mount

    def _steered(self, now_us: int) -> Steering:
        """Let the authority decide who steers in this tick, and tell the planner."""
        view, planner, online = self._view, self._planner, self._head.online
        if view is not None and view.ball is not None:
            self.authority.see_play(view.ball.x_m, view.ball.y_m)
        self._has_answered |= online
        signs = signs_of(
            view, now_us - self._view_arrived_us, self._view_age_us, planner.role.player,
            head_answers=online or not (self._has_answered or self._head.silent_us > FIRST_ANSWER_US),
            distrust=self.distrust,
        )  # fmt: skip
        steering = self.authority.step(now_us, signs, self._head.observer.at(now_us))
        planner.order, planner.style, planner.role = steering.order, steering.style, steering.role
        return steering

    def _take_head(self, now_us: int) -> None:
        """Follow the head where it is not as commanded: a refused drive, a lost link, one that is back."""
        if self._chooser.current != self._head.in_force or not self._head.online:
            self._chooser.forget()
        if self._head.online and not self._was_online:
            self._zoom_units = -1
            self._planner.resume_at(self._head.observer.at(now_us))
        self._was_online = self._head.online

    def _take_feed(self, now_us: int) -> None:
        wall_us = self._feed.view_wall_us()
        view = self._feed.latest_view()
        if view is not None and (self._view is None or view.ts_us > self._view.ts_us):
            self._view, self._view_arrived_us, self._view_wall_us, self._view_used = view, now_us, wall_us, False
            self._planner.take_view(view, now_us)
            if wall_us:
                self._view_age_us = _wall_us() - wall_us
                age_us = max(0, min(DELAY_US_MAX, self._view_age_us)) + self._dead_us
                self._planner.delay_us += round(DELAY_SHARE * (age_us - self._planner.delay_us))
        self._cursor, updates = self._feed.events_since(self._cursor)
        for update in updates:
            self._planner.take_update(update)
        if updates:
            with self._lock:
                for update in updates:
                    self._event_scores.take_update(update)

    # -- commanding

    def _command(self, plan: Plan, now_us: int) -> None:
        drive = self._braking_drive(plan) if plan.mode == "stop" else self._following_drive(plan, now_us)
        if drive is not None:
            self._head.drive(drive, now_us)
            if not self._view_used and self._view_wall_us:
                self._latencies_us.append(_wall_us() - self._view_wall_us)
            self._view_used = True
        units = self._profile.zoom.units(plan.width_deg)
        threshold = ZOOM_STEP * self._profile.zoom.max_units
        if now_us >= self._zoom_due_us and abs(units - self._zoom_units) > threshold:
            self._zoom_units, self._zoom_due_us = units, now_us + max(ZOOM_US, ZOOM_MESSAGES * self._head.interval_us)
            self._head.zoom(units)

    def _following_drive(self, plan: Plan, now_us: int) -> Drive | None:
        if not self._head.is_free(now_us):
            return None
        pose = self._head.observer.soon(self._dead_us + EFFECT_US)
        return self._chooser.choose(plan.pan, plan.tilt, pose.pan_deg, pose.tilt_deg, now_us, plan.width_deg)

    def _braking_drive(self, plan: Plan) -> Drive | None:
        """Return the drive for a silent feed: it follows the braking plan, then stops, whatever error remains."""
        if self._chooser.current == Drive(0, 0):
            return None
        if max(abs(plan.pan.velocity), abs(plan.tilt.velocity)) > 1.0:
            return self._following_drive(plan, plan.now_us)
        self._chooser.forget()
        return Drive(0, 0)

    # -- recording

    def _record_tick(self, plan: Plan, steering: Steering, now_us: int) -> None:
        row = self._row(plan, "wide" if steering.by == "care" else plan.mode, now_us)
        head = self._head
        self._state = state_of(
            row, steering, self.authority, self._planner.causes, head.problem, may_turn=head.observer.may_turn
        )
        if self._dropped and not self._state.problem:
            self._state = msgspec.structs.replace(self._state, problem=self._dropped)
        if self._tracking is not None and self._state.pose is not None:
            self._tracking.send(self._state.pose, self._profile.zoom.units(self._state.pose.width_deg), now_us)
        self._rows.append(row)
        with self._lock:
            self._figures.add(row)
            if self._state.pose is not None:
                self._event_scores.tick(row.ts_us, self._state.pose, plan.causes, TICK_US / 1e6)
        if len(self._rows) >= LOT_ROWS:
            self._flush()

    def _row(self, plan: Plan, mode: str, now_us: int) -> Row:
        online, pan, tilt = self._head.online, self._profile.pan, self._profile.tilt
        pose = pose_of(self._head, now_us)
        ball, framed = self._ball(pose, now_us)
        return Row(
            _wall_us() - (_now_us() - now_us),  # the tick's own instant, however long it took
            self._planner.stream_us,
            mode if online else "offline",
            plan.target_pan_deg,
            plan.target_tilt_deg,
            plan.pan.position,
            plan.tilt.position,
            plan.width_deg,
            pan.speed_deg_s(self._chooser.current.pan_step) if online else 0.0,
            tilt.speed_deg_s(self._chooser.current.tilt_step) if online else 0.0,
            pose.pan_deg if pose else None,
            pose.tilt_deg if pose else None,
            pose.width_deg if pose else None,
            *ball,
            framed,
        )

    def _ball(self, pose: Pose | None, now_us: int) -> tuple[tuple[float | None, float | None, float | None], bool]:
        """Return (pan, tilt, distance) of the ball now, and True if it is in the picture."""
        ball = self._view.ball if self._view else None
        if ball is None:
            return (None, None, None), False
        age_s = min(1.0, (now_us - self._view_arrived_us) / 1e6)
        position = (ball.x_m + ball.vx_m_s * age_s, ball.y_m + ball.vy_m_s * age_s, ball.z_m)
        aspect = self._profile.zoom.aspect
        framed = pose is not None and self._mount.in_picture(pose, aspect, *position)
        return (*self._mount.aim(*position), self._mount.distance_m(*position)), framed

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows and self._record:
            try:
                self._record(rows)
            except Exception:
                # A full disk must not leave a camera turning: the error is counted, and steering continues.
                self._counts["record_errors"] += 1


_COUNTED = (
    "commands_sent",
    "commands_acked",
    "commands_refused",
    "commands_timeout",
    "reconnects",
    "garbled_answers",
    "record_errors",
    "stopped",
)


def _now_us() -> int:
    return time.monotonic_ns() // 1000


def _wall_us() -> int:
    return time.time_ns() // 1000
