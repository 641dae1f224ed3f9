"""Positions of hands and feet: a pure function of an interval, so that limbs need not be simulated or stored.

Theory of operation
-------------------
Away from the ball a limb follows from its person's row alone. A foot is on the ground for a share of the stride and
moves back under the body as fast as the body moves forward, so that it stands still over ground; then it swings
ahead, lifted. Hands swing with the opposite foot. Rise lifts all four; tilt lays the body down around the hip.

Around a contact a limb leaves that motion for its *path* through the ball: back, to the ball's surface with the speed
that the ball's change of velocity needs, through it and out; a weight that rises and falls smoothly blends the two.
The standing foot beside a ball that is struck hard, hands that hold a ball and the arms of a header are paths as
well. A path reaches less than half a second to either side of its contact; a ball in hands is followed as long as
it is held. So the motion of a limb at an instant depends on nothing further off than ``MARGIN_S``, and neighbouring
intervals agree at their border.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from football.constants import BALL_RADIUS_M
from football.packet_table import Floats
from simulator.physics.bodies import STRIDE_HZ, STRIDE_HZ_PER_M_S
from simulator.records import FEET, FOUR_LIMBS, HANDS, STEP_S, Contact, PlayedInterval, Vector

#: Distance of a limb's transmitter from the ball's centre when it touches: a boot, a glove is that thick.
TOUCH_M = BALL_RADIUS_M + 0.02
#: Ball speed through foot speed of a kick at a resting ball.
KICK_RATIO = 1.3
#: From the end of the backswing to the ball, and from the ball to the end of the swing.
_SWING_S = 0.13
#: A path takes over from the stride within this time, the longer one for the hardest kicks.
_LEAD_S, _LEAD_HARD_S = 0.14, 0.11
#: A change of the ball's velocity by this much is as hard as kicks get.
_HARD_M_S = 20.0
#: How far a foot gets from the point under the hip, a hand from the breast. At the ball itself a limb is where the
#: contact says, up to a sanity limit for hands that hold.
_LEG_M, _ARM_M, _HOLD_M, _LET_GO_S = 0.95, 1.35, 2.2, 0.2
#: Where the standing foot is put: beside the ball, and behind it.
_ASIDE_M, _BEHIND_M = 0.30, 0.06

#: Heights of a standing body, and by how much more hands are up when the arms are stretched.
_HIP_M, _BREAST_M, _SOLE_M, _HAND_M, _STRETCHED_M = 0.95, 1.3, 0.05, 0.92, 1.2
_STRIKE, _HOLD, _PLANT, _ARMS = 0.0, 1.0, 2.0, 3.0
#: A path's entries: kind, begin, end, place 3, normal 3, speed at the ball, hardness, earliest, latest, side, yield.
_PATH = 15
_HOLDS = ("catch", "throw")
#: Hands that catch take the ball's motion over within this time; before a throw they have had the ball for so long.
_YIELD_S, _BEFORE_THROW_S = 0.05, 0.5
_NONE = np.zeros((0, _PATH))


def limb_paths(interval: PlayedInterval, person: int, limb: str, t_s: Floats) -> Floats:
    """Return the path of a limb.

    Args:
        interval: the interval that the times lie in.
        person: row; ``limb``: one of ``FOUR_LIMBS``.
        t_s: (n,) ascending times in ``[begin_s, end_s)``. Up to ``MARGIN_S / 2`` outside of it, the answer is the same
            as the neighbour's, except for hands that hold a ball: only its own interval knows the ball's path.

    Returns:
        (n, 3) metres; NaN throughout for a person who is not there.
    """
    index = FOUR_LIMBS.index(limb)
    paths = _paths(interval, person, limb)
    out = np.empty((len(t_s), 3))
    columns = interval.persons[:, person]
    begin_s = float(interval.ticks_s[0])
    tick_s = float(interval.ticks_s[1] - interval.ticks_s[0])
    _limb_positions(columns, begin_s, tick_s, index, paths, interval.balls, interval.begin_s, t_s, out)
    return out


def _paths(interval: PlayedInterval, person: int, limb: str) -> Floats:
    """Return the paths that draw a limb to the ball, as rows, in order of time; earlier ones yield to later ones."""
    own = [c for c in interval.contacts if c.person == person]
    if not own:
        return _NONE
    rows: list[list[float]] = []
    for contact in own:
        row = _path(contact, limb)
        if row is not None:
            rows.append(row)
    # What only bends the rest comes first, so that whoever is at the ball is at the ball.
    rows.sort(key=lambda r: r[0] != _ARMS)
    strikes = [r for r in rows if r[0] != _ARMS]
    for row in strikes:
        row[11] = max((o[2] for o in strikes if o is not row and o[1] <= row[1] and o[2] <= row[1]), default=-math.inf)
        row[12] = min((o[1] for o in strikes if o is not row and o[1] >= row[2]), default=math.inf)
    return np.array(rows) if rows else _NONE


def _path(contact: Contact, limb: str) -> list[float] | None:
    """Return the path that a contact needs of a limb, or None."""
    foot = limb in FEET
    side = 1.0 if limb.startswith("left") else -1.0
    begin, end = contact.t_s, contact.t_s + contact.duration_s
    normal, size = _push(contact)
    hard = min(size / _HARD_M_S, 1.0)
    into = sum(a * b for a, b in zip(contact.before, normal, strict=True))
    speed = into + size / KICK_RATIO
    yields = _YIELD_S
    if not foot and contact.limb in HANDS and (contact.hold_s > 0.0 or contact.what in _HOLDS):
        kind, end = _HOLD, max(end, begin + contact.hold_s)
        if contact.what == "throw":
            begin, yields = begin - _BEFORE_THROW_S, 0.0
    elif contact.limb == limb:
        kind = _STRIKE
    elif foot and contact.limb in FEET and hard > 0.2 and contact.position[2] < 0.6:
        kind = _PLANT
    elif not foot and contact.limb == "head":
        kind = _ARMS
    else:
        return None
    return [kind, begin, end, *contact.position, *normal, speed, hard, -math.inf, math.inf, side, yields]


def _push(contact: Contact) -> tuple[Vector, float]:
    """Return the unit direction in which the ball is pushed, and by how many m/s."""
    x, y, z = (a - b for a, b in zip(contact.after, contact.before, strict=True))
    size = math.sqrt(x * x + y * y + z * z)
    if size < 0.2:
        return (0.0, 0.0, 0.0), size
    return (x / size, y / size, z / size), size


@njit(cache=True)
def _smooth(share: float) -> float:
    s = min(max(share, 0.0), 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@njit(cache=True)
def _row(columns: Floats, begin_s: float, tick_s: float, t: float, c: Floats) -> None:
    """Interpolate a person's row: position by its velocity (cubic), the rest through its neighbours (Catmull-Rom)."""
    last = len(columns) - 1
    at = min(max((t - begin_s) / tick_s, 0.0), float(last))
    i = min(int(at), last - 1)
    s = at - i
    a, b = columns[max(i - 1, 0)], columns[i]
    d, e = columns[i + 1], columns[min(i + 2, last)]
    h1 = s * s * (3.0 - 2.0 * s)
    g0, g1 = s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0)
    for k in (0, 1):
        c[k] = b[k] + (d[k] - b[k]) * h1 + tick_s * (b[k + 2] * g0 + d[k + 2] * g1)
    for k in range(2, 8):
        c[k] = b[k] + (d[k] - b[k]) * h1 + 0.5 * ((d[k] - a[k]) * g0 + (e[k] - b[k]) * g1)


@njit(cache=True)
def _rest(c: Floats, limb: int, p: Floats) -> None:
    """Return the position of a limb that has nothing to do with the ball."""
    side = 1.0 if limb % 2 == 0 else -1.0
    speed = math.hypot(c[2], c[3])
    rise, tilt = max(c[6], 0.0), min(max(c[7], 0.0), 1.0)
    moving = _smooth(speed / 0.8)
    turn = c[5] / (2.0 * math.pi) + (0.0 if side > 0.0 else 0.5)
    upright = 1.0 - tilt
    stride = 0.0
    if limb < 2:
        # Share of the stride on the ground: 0.58 walking, 0.38 jogging, 0.21 sprinting, as measured.
        stance = 0.2 + 0.45 / (1.0 + (speed / 2.4) ** 3)
        turn -= math.floor(turn)
        hz = STRIDE_HZ + STRIDE_HZ_PER_M_S * speed
        length = stance / hz
        lift = 0.0
        if turn < stance:
            stride = length * (0.5 - turn / stance)
        else:
            swing = 1.0 - stance
            s = (turn - stance) / swing
            lift = math.sin(math.pi * s) ** 2
            back = -swing / hz
            stride = length * (s * s * (3.0 - 2.0 * s) - 0.5) + back * (s * (1.0 - s) * (1.0 - s) + s * s * (s - 1.0))
        high = _SOLE_M + (0.1 + 0.012 * speed) * lift * moving
        across = side * (0.16 - 0.06 * moving)
        ahead = 0.0
    else:
        swing = math.cos(2.0 * math.pi * turn + math.pi)
        ahead = swing * moving * (0.1 + 0.03 * speed)
        high = _HAND_M + 0.04 * moving * (1.0 + swing) + 0.6 * min(rise, 0.6) * upright
        # Who falls or dives stretches his arms ahead.
        high += _STRETCHED_M * _smooth(tilt / 0.4)
        across = side * (0.3 - 0.03 * moving)
    lean = tilt * math.pi / 2.0
    cos, sin = math.cos(lean), math.sin(lean)
    ahead = ahead * cos + (high - _HIP_M) * sin
    north, east = math.sin(c[4]), math.cos(c[4])
    p[0] = c[0] + stride * upright * c[2] + ahead * east - across * north
    p[1] = c[1] + stride * upright * c[3] + ahead * north + across * east
    p[2] = high * cos + 0.12 * sin + rise


@njit(cache=True)
def _hermite(a: float, va: float, b: float, vb: float, s: float, duration: float) -> float:
    h1 = s * s * (3.0 - 2.0 * s)
    return a + (b - a) * h1 + duration * (va * s * (1.0 - s) * (1.0 - s) + vb * s * s * (s - 1.0))


@njit(cache=True)
def _near(p: Floats, c: Floats, limit_m: float) -> None:
    """Bring a point within reach of a body, over ground."""
    dx, dy = p[0] - c[0], p[1] - c[1]
    distance = math.hypot(dx, dy)
    if distance > limit_m:
        p[0] = c[0] + dx * limit_m / distance
        p[1] = c[1] + dy * limit_m / distance


@njit(cache=True)
def _weight(path: Floats, t: float, before_s: float, after_s: float, lead_s: float) -> float:
    """Return the weight of a path: 1 from ``before_s`` before it to ``after_s`` after it, if neighbours allow."""
    if t < path[1]:
        first = max(path[1] - before_s - lead_s, path[11])
        full = max(path[1] - before_s, first + 0.6 * (path[1] - first))
        return _smooth((t - first) / (full - first)) if full > first else 0.0
    if t <= path[2]:
        return 1.0
    end_s = min(path[2] + after_s + lead_s, path[12])
    full = min(path[2] + after_s, end_s - 0.6 * (end_s - path[2]))
    return 1.0 - _smooth((t - full) / (end_s - full)) if end_s > full else 0.0


@njit(cache=True)
def _strike(path: Floats, columns: Floats, begin_s: float, tick_s: float, t: float, reach: float, c: Floats, p: Floats):
    """Return a point of the path through the ball."""
    begin, end = path[1], path[2]
    first, last = begin - _SWING_S, end + _SWING_S
    hard, speed = path[10], path[9]
    nx, ny, nz = path[6], path[7], path[8]
    _row(columns, begin_s, tick_s, begin, c)
    lowest = (path[5] - _SOLE_M) / TOUCH_M
    flat = math.hypot(nx, ny)
    if nz > lowest or flat < 0.05:
        # The foot cannot be under a ball that lies: it is then on the body's side of it.
        nz = min(nz, lowest)
        if flat < 0.05:
            nx, ny = path[3] - c[0], path[4] - c[1]
            flat = math.hypot(nx, ny)
            if flat < 0.05:
                nx, ny, flat = math.cos(c[4]), math.sin(c[4]), 1.0
        want = math.sqrt(max(1.0 - nz * nz, 0.0)) / flat
        nx *= want
        ny *= want
    hx, hy, hz = path[3] - TOUCH_M * nx, path[4] - TOUCH_M * ny, path[5] - TOUCH_M * nz
    # What the ball has gained the limb has partly lost when they part.
    out = speed * 0.65
    ux, uy, uz = speed * nx, speed * ny, 0.3 * speed * nz
    lasts = end - begin
    if t <= begin:
        _row(columns, begin_s, tick_s, first, c)
        swing_m = 0.42 * _SWING_S
        p[0], p[1] = hx - ux * swing_m, hy - uy * swing_m
        _near(p, c, reach)
        p[2] = hz + 0.3 * hard
        if t < first:
            p[0] += c[2] * (t - first)
            p[1] += c[3] * (t - first)
            return
        s = (t - first) / _SWING_S
        p[0] = _hermite(p[0], c[2], hx, ux, s, _SWING_S)
        p[1] = _hermite(p[1], c[3], hy, uy, s, _SWING_S)
        p[2] = _hermite(p[2], 0.0, hz, uz, s, _SWING_S)
        return
    keep = out / speed if abs(speed) > 1e-9 else 0.0
    mean = 0.5 * (1.0 + keep) * lasts
    if t <= end:
        s = (t - begin) / lasts
        run = lasts * s * (1.0 - 0.5 * s * (1.0 - keep))
        p[0], p[1], p[2] = hx + ux * run, hy + uy * run, hz + uz * run
        return
    ex, ey, ez = hx + ux * mean, hy + uy * mean, hz + uz * mean
    _row(columns, begin_s, tick_s, last, c)
    swing_m = 0.42 * _SWING_S
    p[0], p[1] = ex + keep * ux * swing_m, ey + keep * uy * swing_m
    _near(p, c, reach)
    p[2] = ez + 0.35 * hard
    if t > last:
        p[0] += c[2] * (t - last)
        p[1] += c[3] * (t - last)
        return
    s = (t - end) / _SWING_S
    p[0] = _hermite(ex, keep * ux, p[0], c[2], s, _SWING_S)
    p[1] = _hermite(ey, keep * uy, p[1], c[3], s, _SWING_S)
    p[2] = _hermite(ez, keep * uz, p[2], 0.0, s, _SWING_S)


@njit(cache=True)
def _plant(path: Floats, columns: Floats, begin_s: float, tick_s: float, c: Floats, p: Floats) -> None:
    """Return where the standing foot is for a kick with the other one."""
    _row(columns, begin_s, tick_s, path[1], c)
    nx, ny = path[6], path[7]
    flat = max(math.hypot(nx, ny), 0.05)
    nx /= flat
    ny /= flat
    p[0] = path[3] - _BEHIND_M * nx - path[13] * _ASIDE_M * ny
    p[1] = path[4] - _BEHIND_M * ny + path[13] * _ASIDE_M * nx
    p[2] = _SOLE_M
    _near(p, c, 0.6)


@njit(cache=True)
def _ball(balls: Floats, since_s: float, t: float, c: Floats, p: Floats) -> bool:
    """Return the ball nearest to a body at a time, if that lies in the interval."""
    at = (t - since_s) / STEP_S
    last = balls.shape[1] - 1
    if last < 1 or at < -1e-6 or at > last + 1.0 + 1e-6:
        return False
    i = min(max(int(at), 0), last - 1)
    s = at - i
    best, nearest = 0, 1e30
    for k in range(len(balls)):
        size = (balls[k, i, 0] - c[0]) ** 2 + (balls[k, i, 1] - c[1]) ** 2
        if size < nearest:
            best, nearest = k, size
    for axis in range(3):
        p[axis] = balls[best, i, axis] + s * (balls[best, i + 1, axis] - balls[best, i, axis])
    return True


@njit(cache=True)
def _hold(path: Floats, columns: Floats, begin_s: float, tick_s: float, balls: Floats, since_s: float, t: float,
          c: Floats, p: Floats) -> None:  # fmt: skip
    """Return a position beside the ball, on the hand's own side; before the first touch, where the ball will be."""
    _row(columns, begin_s, tick_s, t, c)
    x, y, z = path[3], path[4], path[5]
    lasts = path[14]
    if (t > path[1] or lasts == 0.0) and _ball(balls, since_s, t, c, p):
        share = _smooth((t - path[1]) / lasts) if lasts > 0.0 else 1.0
        x += share * (p[0] - x)
        y += share * (p[1] - y)
        z += share * (p[2] - z)
    p[0] = x - path[13] * TOUCH_M * math.sin(c[4])
    p[1] = y + path[13] * TOUCH_M * math.cos(c[4])
    p[2] = z
    # They let go of what is out of reach at the end, not after it: then it may be gone like a shot.
    lets_go = min(_LET_GO_S, 0.5 * (path[2] - path[1]))
    reach = _ARM_M + (_HOLD_M - _ARM_M) * _smooth((path[2] - t) / lets_go)
    breast = _BREAST_M - c[7] + c[6]
    dx, dy, dz = p[0] - c[0], p[1] - c[1], p[2] - breast
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if distance > reach:
        p[0], p[1], p[2] = c[0] + dx * reach / distance, c[1] + dy * reach / distance, breast + dz * reach / distance


@njit(cache=True)
def _limb_positions(columns: Floats, begin_s: float, tick_s: float, limb: int, paths: Floats, balls: Floats,
                    since_s: float, times: Floats, out: Floats) -> None:  # fmt: skip
    c, at, p = np.empty(8), np.empty(8), np.empty(3)
    for n in range(len(times)):
        t = times[n]
        _row(columns, begin_s, tick_s, t, c)
        here = out[n]
        _rest(c, limb, here)
        for k in range(len(paths)):
            path = paths[k]
            lead = _LEAD_S + _LEAD_HARD_S * path[10]
            if t < path[1] - _SWING_S - lead or t > path[2] + _SWING_S + lead:
                continue
            if path[0] == _STRIKE:
                weight = _weight(path, t, _SWING_S, _SWING_S, lead)
                if weight > 0.0:
                    _strike(path, columns, begin_s, tick_s, t, _LEG_M if limb < 2 else _ARM_M, at, p)
            elif path[0] == _PLANT:
                weight = _smooth((path[10] - 0.2) / 0.2) * _weight(path, t, 0.06, 0.05, 0.2)
                if weight > 0.0:
                    _plant(path, columns, begin_s, tick_s, at, p)
            elif path[0] == _HOLD:
                weight = _weight(path, t, 0.0, 0.0, _SWING_S + lead)
                if weight > 0.0:
                    _hold(path, columns, begin_s, tick_s, balls, since_s, t, at, p)
            else:
                weight = 0.0
                out_s = _smooth(1.0 - abs(t - path[1]) / (_SWING_S + lead))
                here[0] -= path[13] * 0.3 * out_s * math.sin(c[4])
                here[1] += path[13] * 0.3 * out_s * math.cos(c[4])
                here[2] += 0.4 * out_s
            if weight > 0.0:
                for axis in range(3):
                    here[axis] += weight * (p[axis] - here[axis])
        if here[2] < 0.03:
            here[2] = 0.03
