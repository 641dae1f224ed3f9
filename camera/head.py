"""A simulated pan-tilt-zoom head with inertia: exact motion at bounded speed and acceleration. Pure.

Theory of operation
-------------------
Each command to an axis becomes a short list of *legs*, pieces of constant acceleration: brake if the direction is
wrong, reach the cruising speed, cruise, brake to a stop at the goal. ``advance`` evaluates the legs in closed form, so
the motion does not depend on the length of the steps. A drive at a speed is a move to the end of travel that cruises at
that speed: the axis stops at the end of travel by itself, within its acceleration.
"""

from __future__ import annotations

import math

import msgspec

from camera.profile import Profile
from camera.protocols import messages
from camera.protocols.messages import Inquiry, Message, Report

Leg = tuple[float, float]  # duration in seconds, acceleration in units/s^2


class Axis(msgspec.Struct, frozen=True):
    """One axis at an instant; units are degrees for pan and tilt, device units for zoom.

    Attributes:
        position, velocity: state.
        legs: its future motion; empty means it stays still.
        low, high: ends of travel.
        accel_max: greatest acceleration, per second squared.
    """

    position: float
    low: float
    high: float
    accel_max: float
    velocity: float = 0.0
    legs: tuple[Leg, ...] = ()

    @property
    def still(self) -> bool:
        """True if no motion is left."""
        return not self.legs

    def advance(self, dt_s: float) -> Axis:
        """Return the axis ``dt_s`` seconds later."""
        assert dt_s >= 0, f"time runs forward, not by {dt_s} s"
        position, velocity, rest = self.position, self.velocity, dt_s
        for index, (duration, accel) in enumerate(self.legs):
            step = min(rest, duration)
            position += velocity * step + accel * step * step / 2
            velocity += accel * step
            rest -= step
            if step < duration:
                left = ((duration - step, accel), *self.legs[index + 1 :])
                return msgspec.structs.replace(self, position=position, velocity=velocity, legs=left)
        # All legs end at rest: rounding must not leave a residual speed behind.
        inside = max(self.low, min(self.high, position))
        return msgspec.structs.replace(self, position=inside, velocity=0.0, legs=())

    def go_to(self, goal: float, cruise: float) -> Axis:
        """Return the axis with an order to move to ``goal`` (clipped to the travel) at the speed ``cruise``."""
        assert cruise > 0, f"cruising speed {cruise}"
        goal = max(self.low, min(self.high, goal))
        legs = _legs(self.position, self.velocity, goal, cruise, self.accel_max)
        return msgspec.structs.replace(self, legs=legs)

    def drive(self, speed: float) -> Axis:
        """Return the axis with an order to move at a signed speed until the end of travel; 0 stops."""
        if speed == 0:
            return self.stop()
        return self.go_to(self.high if speed > 0 else self.low, abs(speed))

    def stop(self) -> Axis:
        """Return the axis with an order to brake to a standstill."""
        if self.velocity == 0:
            return msgspec.structs.replace(self, legs=())
        leg = (abs(self.velocity) / self.accel_max, -math.copysign(self.accel_max, self.velocity))
        return msgspec.structs.replace(self, legs=(leg,))


def _legs(start: float, velocity: float, goal: float, cruise: float, accel: float) -> tuple[Leg, ...]:
    """Return the fastest motion from a state to rest at ``goal`` within ``accel`` and, once slowed, ``cruise``."""
    halt = start + velocity * abs(velocity) / (2 * accel)
    direction = math.copysign(1.0, goal - halt)
    legs: list[Leg] = []
    speed = velocity * direction
    if speed < 0:  # moving the wrong way, or too fast to stop in time: halt first, then come back
        legs.append((-speed / accel, direction * accel))
        start, speed = halt, 0.0
    distance = (goal - start) * direction
    if speed > cruise:
        legs.append(((speed - cruise) / accel, -direction * accel))
        distance -= (speed * speed - cruise * cruise) / (2 * accel)
        speed = cruise
    peak = min(cruise, math.sqrt(max(0.0, accel * distance + speed * speed / 2)))
    peak = max(peak, speed)
    legs.append(((peak - speed) / accel, direction * accel))
    coast = distance - (2 * peak * peak - speed * speed) / (2 * accel)
    if peak > 0:
        legs.append((max(0.0, coast) / peak, 0.0))
    legs.append((peak / accel, -direction * accel))
    return tuple(leg for leg in legs if leg[0] > 0)


class Pose(msgspec.Struct, frozen=True):
    """Direction of a head in our degrees (right and up positive), and the picture's width."""

    pan_deg: float
    tilt_deg: float
    width_deg: float


class Head(msgspec.Struct, frozen=True):
    """Three axes of one device."""

    profile: Profile
    pan: Axis
    tilt: Axis
    zoom: Axis

    def advance(self, dt_s: float) -> Head:
        """Return the head ``dt_s`` seconds later."""
        return msgspec.structs.replace(
            self, pan=self.pan.advance(dt_s), tilt=self.tilt.advance(dt_s), zoom=self.zoom.advance(dt_s)
        )

    @property
    def pose(self) -> Pose:
        """Return its pose now."""
        width_deg = self.profile.zoom.width_deg(self.zoom.position)
        return Pose(self.pan.position, self.tilt.position, width_deg)


def new_head(
    profile: Profile,
    pan_deg: float = 0.0,
    tilt_deg: float = 0.0,
    zoom_units: float = 0.0,
    accel_deg_s2: float = 200.0,
    zoom_accel_units_s2: float = 20000.0,
) -> Head:
    """Return a head at rest. Its acceleration is that of the mechanics; no Sony list publishes one."""
    pan, tilt, zoom = profile.pan, profile.tilt, profile.zoom
    return Head(
        profile,
        Axis(pan_deg, pan.min_deg, pan.max_deg, accel_deg_s2),
        Axis(tilt_deg, tilt.min_deg, tilt.max_deg, accel_deg_s2),
        Axis(zoom_units, 0.0, float(zoom.max_units), zoom_accel_units_s2),
    )


def reported(head: Head, inquiry: Inquiry) -> Report:
    """Return the head's answer to an inquiry."""
    profile, pose = head.profile, head.pose
    match inquiry:
        case messages.PositionInquiry():
            return messages.Position(profile.pan.units(pose.pan_deg), profile.tilt.units(pose.tilt_deg))
        case messages.ZoomInquiry():
            return messages.ZoomPosition(round(head.zoom.position))
        case messages.MaxSpeedInquiry():
            return messages.MaxSteps(len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s))
        case messages.StatusInquiry():
            return messages.Status(not (head.pan.still and head.tilt.still))


def ordered(head: Head, message: Message) -> Head:
    """Return the head after a command that moves it.

    Raises:
        AssertionError: the message is not one that moves a head.
    """
    replace, profile = msgspec.structs.replace, head.profile
    match message:
        case messages.Drive(pan_step, tilt_step):
            pan = head.pan.drive(profile.pan.speed_deg_s(pan_step))
            return replace(head, pan=pan, tilt=head.tilt.drive(profile.tilt.speed_deg_s(tilt_step)))
        case messages.Absolute(pan_units, tilt_units, pan_step, tilt_step):
            return _moved(head, profile.pan.deg(pan_units), profile.tilt.deg(tilt_units), pan_step, tilt_step)
        case messages.Relative(pan_units, tilt_units, pan_step, tilt_step):
            pan_deg = head.pan.position + profile.pan.deg(pan_units)
            tilt_deg = head.tilt.position + profile.tilt.deg(tilt_units)
            return _moved(head, pan_deg, tilt_deg, pan_step, tilt_step)
        case messages.Home() | messages.Recalibrate():
            return _moved(head, 0.0, 0.0, len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s))
        case messages.ZoomDrive(step):
            speed = profile.zoom.speeds_units_s[abs(step) - 1] if step else 0.0
            return replace(head, zoom=head.zoom.drive(speed if step > 0 else -speed))
        case messages.ZoomDirect(units):
            return replace(head, zoom=head.zoom.go_to(float(units), profile.zoom.speeds_units_s[-1]))
    raise AssertionError(f"{message} does not move a head")


def _moved(head: Head, pan_deg: float, tilt_deg: float, pan_step: int, tilt_step: int) -> Head:
    pan: Axis = head.pan.go_to(pan_deg, head.profile.pan.speed_deg_s(pan_step))
    tilt: Axis = head.tilt.go_to(tilt_deg, head.profile.tilt.speed_deg_s(tilt_step))
    return msgspec.structs.replace(head, pan=pan, tilt=tilt)
