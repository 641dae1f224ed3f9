"""Motion of a football in half a millisecond: the compiled inner loop of ``simulator.physics.ball``.

Theory of operation
-------------------
A ball is free or in hands. A free ball feels gravity, drag, the Magnus force of its spin, the ground, the frames
and nets of the goals, and the boards. Its velocity never jumps: everything that hits it does so by a *pulse*, an
acceleration of half-sine shape whose integral is the change of velocity. Slots of pulses:

* 0 and 1, strikes: the change is fixed when the pulse begins, so that the ball leaves with exactly the velocity asked
  for; while a strike lasts, nothing else acts. A strike that begins ends all pulses before it.
* 2, ground; 3, frames and boards: the change follows from restitution along the normal and, across it, from grip:
  friction takes what it can of the slip at the point of contact, and turns it into spin (thin shell: I = 2/3 m R2).

A ball that lies or rolls is *grounded*: instead of gravity a critically damped spring holds its centre at one
radius. Nets push with Hunt and Crossley's force, stiffness x depth x (1 + damping x speed into the net), which
sets in smoothly and gives little back; a ball is inside a goal once it has come in through the mouth.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
from football.packet_table import Floats

#: Drag coefficient 0.25, air 1.2 kg/m3, 0.43 kg: deceleration is this times speed squared. Wind tunnels find 0.43
#: below and 0.15 above a speed of 15 to 20 m/s that differs from ball to ball (Asai et al. 2007); this is between.
DRAG_PER_M = 0.0133
#: Magnus deceleration by coefficient of lift 1: half of air density times cross-section through mass.
LIFT_PER_M = 0.0532
#: Coefficient of lift: saturates at the first value, over the second of radius x spin / speed; measured are 0.2 to
#: 0.3 at spins of 0.1 to 0.3 (Bray and Kerwin 2003; Goff and Carre 2009).
LIFT_MAX, LIFT_SPIN = 0.3, 0.2
#: Share of the spin that is lost a second.
SPIN_DECAY_PER_S = 0.1

RESTITUTION = 0.6
#: A ball dropped from 2 m rises to 0.7 m, rolls some 5 m from a ramp of 1 m: the middle of what FIFA's tests allow.
#: Friction of a ball that slides over grass or bounces on it. Ground passes of a tracked professional match
#: are slowed by 5.5, 7.9 and 9.9 m/s2 at 12, 16 and 20 m/s; these figures make it 5.8, 7.3 and 9.2.
SLIDING = 0.4
ROLLING_M_S2 = 1.2
#: A ball that comes down slower than this does not bounce; up to twice of it grass takes some of the bounce.
REST_M_S = 0.5
_SPRING_PER_S = 80.0
_TWIST_RAD_S2 = 15.0

FRAME_RESTITUTION, BOARD_RESTITUTION, STAND_RESTITUTION = 0.65, 0.5, 0.3
_WALL_GRIP = 0.3
#: Duration of the pulses of ground, frames and boards. The ball is flattened meanwhile: its centre comes nearer by up
#: to 0.37 of what it would go in that time, and a little of that is left when it parts.
BUMP_S = 0.008

FRAME_RADIUS_M = 0.06
#: Axes of posts and bar, from the middle of the goal and from the ground.
POST_AXIS_M, BAR_AXIS_M = 3.66 + FRAME_RADIUS_M, 2.44 + FRAME_RADIUS_M
NET_DEPTH_M = 2.0
_NET_PER_S2, _NET_S_PER_M = 250.0, 1.0
#: Boards stand this far beyond goal lines and touch lines; behind them, this much further, is the stand.
BOARDS_M, BOARD_HEIGHT_M, STAND_M = (5.0, 4.0), 1.0, 3.0

POSITION, VELOCITY, SPIN, INSIDE, GROUNDED, NETTED, HANDS = 0, 3, 6, 9, 10, 11, 12
#: Entries of a ball's state, of a pulse and of a bump.
STATE, PULSE, BUMP = 13, 9, 11
PULSES, BUMPS_MAX = 4, 16
IDLE, PENDING, RUNNING = 0.0, 1.0, 2.0
_GROUND, _SOLID = 2, 3

FREE, CARRIED, HELD = 0.0, 1.0, 2.0
#: What a bump was against, in the order of their numbers. The numbers are floats, as in the rows of bumps: numba would
#: compile a function again for each constant integer that is passed to it.
BUMP_NAMES = ("ground", "left post", "right post", "bar", "net", "board")
_ON_GROUND, _LEFT_POST, _RIGHT_POST, _BAR, _NET, _BOARD = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
_FOLLOW_PER_S, _FOLLOW_M_S2 = 25.0, 400.0


@njit(cache=True, error_model="numpy")
def air(s: Floats, out: Floats) -> None:
    """Compute the acceleration of gravity, drag and spin on a ball in the air with state ``s``, into ``out`` (3,)."""
    vx, vy, vz = s[3], s[4], s[5]
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    out[0] = -DRAG_PER_M * speed * vx
    out[1] = -DRAG_PER_M * speed * vy
    out[2] = -DRAG_PER_M * speed * vz - GRAVITY_M_S2
    if speed < 0.1:
        return
    cx = s[7] * vz - s[8] * vy
    cy = s[8] * vx - s[6] * vz
    cz = s[6] * vy - s[7] * vx
    cross = math.sqrt(cx * cx + cy * cy + cz * cz)
    if cross < 1e-9:
        return
    # |w x v| / v is the spin across the flight; only that part lifts.
    lift = LIFT_MAX * math.tanh(BALL_RADIUS_M * cross / (speed * speed) / LIFT_SPIN)
    pull = LIFT_PER_M * lift * speed * speed / cross
    out[0] += pull * cx
    out[1] += pull * cy
    out[2] += pull * cz


@njit(cache=True, error_model="numpy")
def _roll(s: Floats, press: float, dt: float) -> None:
    """Apply the friction of the grass to a grounded ball, pressed with ``press`` m/s2.

    The ball slides until it rolls, and rolls until it lies.
    """
    ux = s[3] - BALL_RADIUS_M * s[7]
    uy = s[4] + BALL_RADIUS_M * s[6]
    slip = math.hypot(ux, uy)
    grip = SLIDING * press * dt
    if 0.4 * slip > grip:
        fx, fy = -grip * ux / slip, -grip * uy / slip
        s[3] += fx
        s[4] += fy
        s[6] += 1.5 / BALL_RADIUS_M * fy
        s[7] -= 1.5 / BALL_RADIUS_M * fx
    else:
        s[3] -= 0.4 * ux
        s[4] -= 0.4 * uy
        speed = math.hypot(s[3], s[4])
        keep = 1.0 - ROLLING_M_S2 * dt / speed if speed > ROLLING_M_S2 * dt else 0.0
        s[3] *= keep
        s[4] *= keep
        s[6] = -s[4] / BALL_RADIUS_M
        s[7] = s[3] / BALL_RADIUS_M
    twist = _TWIST_RAD_S2 * dt
    s[8] = 0.0 if abs(s[8]) < twist else s[8] - math.copysign(twist, s[8])


@njit(cache=True, error_model="numpy")
def _hit(
    s: Floats, pulse: Floats, t: float, normal: Floats, restitution: float, grip: float,
    bumps: Floats, count: int, what: float,
) -> int:  # fmt: skip
    """Begin the pulse of a rebound along a unit ``normal`` that points to the ball; record the bump."""
    into = -(s[3] * normal[0] + s[4] * normal[1] + s[5] * normal[2])
    # Slip at the contact point: velocity across the normal, and spin x (-R normal).
    ux = s[3] + into * normal[0] - BALL_RADIUS_M * (s[7] * normal[2] - s[8] * normal[1])
    uy = s[4] + into * normal[1] - BALL_RADIUS_M * (s[8] * normal[0] - s[6] * normal[2])
    uz = s[5] + into * normal[2] - BALL_RADIUS_M * (s[6] * normal[1] - s[7] * normal[0])
    slip = math.sqrt(ux * ux + uy * uy + uz * uz)
    push = (1.0 + restitution) * into
    drag = min(grip * push / slip, 0.4) if slip > 1e-9 else 0.0
    fx, fy, fz = -drag * ux, -drag * uy, -drag * uz
    pulse[0], pulse[1], pulse[2] = RUNNING, t, BUMP_S
    pulse[3] = push * normal[0] + fx
    pulse[4] = push * normal[1] + fy
    pulse[5] = push * normal[2] + fz
    turn = 1.5 / BALL_RADIUS_M
    pulse[6] = -turn * (normal[1] * fz - normal[2] * fy)
    pulse[7] = -turn * (normal[2] * fx - normal[0] * fz)
    pulse[8] = -turn * (normal[0] * fy - normal[1] * fx)
    return _note(s, t, pulse[3], pulse[4], pulse[5], bumps, count, what)


@njit(cache=True, error_model="numpy")
def _note(s: Floats, t: float, dx: float, dy: float, dz: float, bumps: Floats, count: int, what: float) -> int:
    if count == len(bumps):
        return count
    row = bumps[count]
    row[0], row[1] = what, t
    for axis in range(6):
        row[2 + axis] = s[axis]
    row[8], row[9], row[10] = s[3] + dx, s[4] + dy, s[5] + dz
    return count + 1


@njit(cache=True, error_model="numpy")
def _segment(s: Floats, ax: float, ay: float, az: float, axis: int, length: float, normal: Floats) -> float:
    """Return the distance of the ball's centre from a segment along ``axis``, and the unit normal to the ball."""
    d0, d1, d2 = s[0] - ax, s[1] - ay, s[2] - az
    if axis == 1:
        d1 -= min(max(d1, 0.0), length)
    else:
        d2 -= min(max(d2, 0.0), length)
    distance = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if distance > 1e-9:
        normal[0], normal[1], normal[2] = d0 / distance, d1 / distance, d2 / distance
    return distance


@njit(cache=True, error_model="numpy")
def _closing_m_s(s: Floats, normal: Floats) -> float:
    """Return the velocity along the normal; negative while the ball approaches."""
    return float(s[3] * normal[0] + s[4] * normal[1] + s[5] * normal[2])


@njit(cache=True, error_model="numpy")
def _approaches(s: Floats, normal: Floats) -> bool:
    return _closing_m_s(s, normal) < -1e-6


@njit(cache=True, error_model="numpy")
def _frames(s: Floats, pulse: Floats, t: float, half_length: float, normal: Floats, bumps: Floats, count: int) -> int:
    """Collide with posts and bars; the goal line's outer edge is the back of the posts (Law 1)."""
    x = math.copysign(half_length - FRAME_RADIUS_M, s[0])
    reach = BALL_RADIUS_M + FRAME_RADIUS_M
    for what in (_LEFT_POST, _RIGHT_POST, _BAR):
        # Seen by the team that attacks that goal, its left post is at +y for the goal at +x.
        y = math.copysign(POST_AXIS_M, x) * (1.0 if what == _LEFT_POST else -1.0)
        if what == _BAR:
            distance = _segment(s, x, -POST_AXIS_M, BAR_AXIS_M, 1, 2.0 * POST_AXIS_M, normal)
        else:
            distance = _segment(s, x, y, 0.0, 2, BAR_AXIS_M, normal)
        if distance < reach and _approaches(s, normal):
            return _hit(s, pulse, t, normal, FRAME_RESTITUTION, _WALL_GRIP, bumps, count, what)
    return count


@njit(cache=True, error_model="numpy")
def _boards(s: Floats, pulse: Floats, t: float, half: Floats, normal: Floats, bumps: Floats, count: int) -> int:
    """Collide with the boards around the pitch, thin walls that can be flown over, and the stand behind them.

    In a corner the ball may meet both at once: the wall that it approaches faster turns it.
    """
    nearest, fastest_m_s, restitution = -1, -1e-6, BOARD_RESTITUTION
    for axis in (0, 1):
        if _wall(s, half, axis, normal) and _closing_m_s(s, normal) < fastest_m_s:
            nearest, fastest_m_s = axis, _closing_m_s(s, normal)
    if nearest < 0:
        return count
    _wall(s, half, nearest, normal)
    if abs(s[nearest]) - half[nearest] - BOARDS_M[nearest] > STAND_M:
        restitution = STAND_RESTITUTION
    return _hit(s, pulse, t, normal, restitution, _WALL_GRIP, bumps, count, _BOARD)


@njit(cache=True, error_model="numpy")
def _wall(s: Floats, half: Floats, axis: int, normal: Floats) -> bool:
    """True if the ball touches the board or is in the stand of this axis; writes the normal of what it touches."""
    side = math.copysign(1.0, s[axis])
    gap = abs(s[axis]) - half[axis] - BOARDS_M[axis]
    above = max(s[2] - BOARD_HEIGHT_M, 0.0)
    distance = math.hypot(gap, above)
    normal[0] = normal[1] = normal[2] = 0.0
    if gap >= -BALL_RADIUS_M and distance < BALL_RADIUS_M and distance > 1e-9:
        normal[axis] = side * gap / distance
        normal[2] = above / distance
        return True
    if gap > STAND_M:
        normal[axis] = -side
        return True
    return False


@njit(cache=True, error_model="numpy")
def _net(s: Floats, t: float, dt: float, half_length: float, bumps: Floats, count: int) -> int:
    """Apply the net, a soft box behind the mouth: it holds from inside what came in, and keeps out the rest."""
    side = math.copysign(1.0, s[0])
    behind = side * s[0] - half_length
    across, flank = abs(s[1]), math.copysign(1.0, s[1])
    if s[9] != 0.0:
        depths = (
            behind + BALL_RADIUS_M - NET_DEPTH_M,
            across + BALL_RADIUS_M - POST_AXIS_M,
            s[2] + BALL_RADIUS_M - BAR_AXIS_M,
        )
        sense = -1.0
    else:
        far, wide, high = (
            NET_DEPTH_M + BALL_RADIUS_M - behind,
            POST_AXIS_M + BALL_RADIUS_M - across,
            BAR_AXIS_M + BALL_RADIUS_M - s[2],
        )
        nearest = min(far, wide, high)
        if behind <= 0.0 or nearest <= 0.0:
            s[11] = 0.0
            return count
        depths = (
            far if far == nearest else 0.0,
            wide if wide == nearest and far != nearest else 0.0,
            high if high == nearest and wide != nearest and far != nearest else 0.0,
        )
        sense = 1.0
    signs = (side, flank, 1.0)
    deepest = max(depths[0], depths[1], depths[2])
    if deepest <= 0.0:
        s[11] = 0.0
        return count
    if s[11] == 0.0:
        s[11] = 1.0
        hit = (s[3], s[4], s[5])
        lost = np.zeros(3)
        for axis in range(3):
            if depths[axis] > 0.0 and sense * signs[axis] * hit[axis] < 0.0:
                lost[axis] = -hit[axis]
        count = _note(s, t, lost[0], lost[1], lost[2], bumps, count, _NET)
    drag = min(300.0 * deepest, 20.0) * dt
    for axis in range(3):
        outward = sense * signs[axis]
        if depths[axis] > 0.0:
            into = -outward * s[3 + axis]
            s[3 + axis] += outward * _NET_PER_S2 * depths[axis] * max(0.0, 1.0 + _NET_S_PER_M * into) * dt
        else:
            s[3 + axis] *= 1.0 - drag
        s[6 + axis] *= 1.0 - drag
    return count


@njit(cache=True, error_model="numpy")
def _start_strikes(s: Floats, pulses: Floats, t: float, dt: float) -> None:
    for slot in (0, 1):
        pulse = pulses[slot]
        if pulse[0] != PENDING or pulse[1] >= t + dt:
            continue
        for other in range(PULSES):
            if other != slot and pulses[other, 0] == RUNNING:
                pulses[other, 0] = IDLE
        pulse[0] = RUNNING
        s[12] = FREE
        for axis in range(6):
            pulse[3 + axis] -= s[3 + axis]


@njit(cache=True, error_model="numpy")
def _run_pulses(s: Floats, pulses: Floats, t: float, dt: float) -> None:
    for slot in range(PULSES):
        pulse = pulses[slot]
        if pulse[0] != RUNNING:
            continue
        a = min(max((t - pulse[1]) / pulse[2], 0.0), 1.0)
        b = min((t + dt - pulse[1]) / pulse[2], 1.0)
        share = 0.5 * (math.cos(math.pi * a) - math.cos(math.pi * b))
        for axis in range(6):
            s[3 + axis] += share * pulse[3 + axis]
        if b >= 1.0:
            pulse[0] = IDLE
            if slot < _GROUND:
                s[10] = 1.0 if s[2] - BALL_RADIUS_M < 0.01 and abs(s[5]) < REST_M_S else 0.0


@njit(cache=True, error_model="numpy")
def _free(
    s: Floats, pulses: Floats, t: float, dt: float, half: Floats, vector: Floats, bumps: Floats, count: int
) -> int:
    """Play one step of a free ball."""
    vx, vy, vz = s[3], s[4], s[5]
    struck = pulses[0, 0] == RUNNING or pulses[1, 0] == RUNNING
    if not struck:
        air(s, vector)
        fall_x, fall_y, fall_z = vector[0], vector[1], vector[2]
        if s[10] == 0.0 and s[2] <= BALL_RADIUS_M and vz < 0.0 and pulses[_GROUND, 0] == IDLE:
            if vz > -REST_M_S:
                s[10] = 1.0
            else:
                vector[0], vector[1], vector[2] = 0.0, 0.0, 1.0
                lively = RESTITUTION * min((-vz - REST_M_S) / REST_M_S, 1.0)
                count = _hit(s, pulses[_GROUND], t, vector, lively, SLIDING, bumps, count, _ON_GROUND)
        s[3] += fall_x * dt
        s[4] += fall_y * dt
        if s[10] != 0.0:
            push = _SPRING_PER_S * _SPRING_PER_S * (BALL_RADIUS_M - s[2]) - 2.0 * _SPRING_PER_S * vz
            s[5] += push * dt
            # Who lands presses harder than who lies, and is slowed more.
            _roll(s, max(push + GRAVITY_M_S2, 0.0), dt)
        else:
            if pulses[_GROUND, 0] == IDLE:
                s[5] += fall_z * dt
            decay = 1.0 - SPIN_DECAY_PER_S * dt
            s[6] *= decay
            s[7] *= decay
            s[8] *= decay
    if half[0] > 0.0:
        outside = abs(s[0]) - half[0]
        if outside > -1.0 and outside < NET_DEPTH_M + 1.0 and abs(s[1]) < 5.0 and s[2] < 3.5:
            if pulses[_SOLID, 0] == IDLE:
                before = count
                count = _frames(s, pulses[_SOLID], t, half[0], vector, bumps, count)
                if count != before:
                    pulses[0, 0] = pulses[1, 0] = IDLE
            if not struck:
                count = _net(s, t, dt, half[0], bumps, count)
        if pulses[_SOLID, 0] == IDLE and (outside > BOARDS_M[0] - 1.0 or abs(s[1]) - half[1] > BOARDS_M[1] - 1.0):
            count = _boards(s, pulses[_SOLID], t, half, vector, bumps, count)
    _run_pulses(s, pulses, t, dt)
    was_x = s[0]
    s[0] += 0.5 * (vx + s[3]) * dt
    s[1] += 0.5 * (vy + s[4]) * dt
    s[2] += 0.5 * (vz + s[5]) * dt
    if half[0] > 0.0:
        if s[9] == 0.0:
            if abs(was_x) < half[0] <= abs(s[0]) and abs(s[1]) < POST_AXIS_M and s[2] < BAR_AXIS_M:
                s[9] = math.copysign(1.0, s[0])
        elif abs(s[0]) < half[0]:
            s[9] = 0.0
    return count


@njit(cache=True, error_model="numpy")
def _in_hands(s: Floats, hands: Floats, t: float, dt: float, tick_s: float, pull: Floats) -> None:
    """Play one step of a ball in hands: along a quintic, or after the hands like a well damped spring."""
    if s[12] == CARRIED:
        whole = hands[1]
        a = min((hands[0] + t + dt) / whole, 1.0)
        eased = a * a * a * (10.0 - 15.0 * a + 6.0 * a * a)
        run = a - a * a * a * (6.0 - 8.0 * a + 3.0 * a * a)
        d_way = 30.0 * a * a * (1.0 - a) * (1.0 - a) / whole
        d_run = 1.0 - a * a * (18.0 - 32.0 * a + 15.0 * a * a)
        for axis in range(3):
            start, velocity, end = hands[2 + axis], hands[5 + axis], hands[8 + axis]
            s[axis] = start + (end - start) * eased + velocity * whole * run
            s[3 + axis] = (end - start) * d_way + velocity * d_run
    else:
        share = (t + dt) / tick_s
        for axis in range(3):
            was, to = hands[8 + axis], hands[2 + axis]
            position = was + (to - was) * share
            pull[axis] = _FOLLOW_PER_S * _FOLLOW_PER_S * (position - s[axis])
            pull[axis] += 2.0 * _FOLLOW_PER_S * ((to - was) / tick_s - s[3 + axis])
        size = math.sqrt(pull[0] ** 2 + pull[1] ** 2 + pull[2] ** 2)
        keep = min(1.0, _FOLLOW_M_S2 / size) if size > 0.0 else 1.0
        for axis in range(3):
            velocity = s[3 + axis]
            s[3 + axis] += keep * pull[axis] * dt
            s[axis] += 0.5 * (velocity + s[3 + axis]) * dt
    for axis in range(3):
        s[6 + axis] *= 1.0 - 10.0 * dt
    s[9] = 0.0
    s[10] = 1.0 if s[2] < BALL_RADIUS_M + 0.005 else 0.0


@njit(cache=True, error_model="numpy")
def play(
    s: Floats, pulses: Floats, hands: Floats, half: Floats, dt: float, positions: Floats, velocities: Floats,
    bumps: Floats,
) -> int:  # fmt: skip
    """Play ``len(positions)`` steps of ``dt`` seconds; everything is changed in place.

    Args:
        s: state; ``pulses`` (PULSES, PULSE): stage, begin, duration, changes of velocity and spin (of a pending
            strike: the velocity and spin to be reached); ``hands``: see ``simulator.physics.ball``.
        half: half length and half width of the pitch; zeros: no goals and no boards.
        positions, velocities: (n, 3), of the ball at the beginning of each step.
        bumps: (BUMPS_MAX, BUMP), filled from the top; the number of rows used is returned.
    """
    count = np.int64(0)  # 0 would be a type of its own, for which all below is compiled once more
    vector = np.empty(3)
    steps = len(positions)
    for step in range(steps):
        t = step * dt
        positions[step, 0], positions[step, 1], positions[step, 2] = s[0], s[1], s[2]
        velocities[step, 0], velocities[step, 1], velocities[step, 2] = s[3], s[4], s[5]
        _start_strikes(s, pulses, t, dt)
        if s[12] == FREE:
            count = _free(s, pulses, t, dt, half, vector, bumps, count)
        else:
            _in_hands(s, hands, t, dt, steps * dt, vector)
    whole = steps * dt
    for slot in range(PULSES):
        pulses[slot, 1] -= whole
    hands[0] += whole
    return count
