"""A match that a camera tracked at some 25 Hz, as intervals like those of a played one.

Persons have their own ids (``TrackedMatch.names`` by row). Touches are given, or found as breaks of the ball's path
near persons (``simulator.from_tracking.tracked_ball``); they become contacts of the nearest person. Persons run
smoothly within human limits (``simulator.from_tracking.tracked_paths``); heading, stride and limbs follow from their
paths and from the contacts. Nothing is added that a camera did not see: nobody falls, dives or fouls here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
from football.errors import TrackingError
from football.match_sheet import MatchSheet, team_of
from football.packet_table import Floats
from football.packets import raw_kind
from football.pitch import PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M
from football.recording import Recording, Track
from simulator.from_tracking.tracked_ball import ball_path, break_times, cleaned, path_breaks
from simulator.from_tracking.tracked_paths import GRID_S, body_path, columns_at, on_grid, posture
from simulator.physics.ball import CONTACT_S
from simulator.physics.ball_motion import BUMP_S
from simulator.records import (
    BALLS,
    COLUMNS,
    KEEPERS,
    MARGIN_S,
    PERSONS,
    REFEREES,
    SQUAD,
    STEP_S,
    TICK_S,
    Col,
    Contact,
    PlayedInterval,
    Vector,
)

#: A player this near to a break of the ball's path has touched it, if it is not higher than a jump.
TOUCH_REACH_M, TOUCH_HEIGHT_M = 1.6, 2.9
#: Nobody touches it again where his limbs would have had to get so fast (m/s): the source is at fault there.
_AGAIN_M_S = 8.0
#: Heights from which on the ball is taken with the chest, with the head, and by a goalkeeper with his hands.
_CHEST_M, _HEAD_M, _HANDS_M = 1.1, 1.55, 0.7
#: A corner that nobody made is a bounce if it is low; else something that only the source knows, which lasts so long.
_BOUNCE_M, _UNKNOWN_S = 0.5, 0.03
#: A ball that stays so near to its keeper, so high on average, for so long, is in his hands.
_HELD_M, _HELD_HEIGHT_M, _HELD_S, _HELD_MAX_S = 1.3, 0.5, 0.7, 15.0
#: Height of a standing head; for a higher ball he jumps, so high at most.
_HEAD_TOP_M, _JUMP_MAX_M = 1.85, 0.6
_SECOND_US = 1_000_000


class Touch(NamedTuple):
    """A touch known from elsewhere: time on the source's clock, and the object id of the player."""

    ts_us: int
    object_id: str


class TrackedMatch:
    """A recording as a match that can be measured anew.

    Args:
        recording: one transmitter a person, and the ball.
        touches: the touches, in order of time; None: they are looked for.

    Attributes:
        sheet: the recording's own.
        names: object id of each row, empty for nobody: home players from row 0 on, away players from row ``SQUAD``
            (their goalkeepers first), referees from row ``REFEREES[0]``.
        left_out: transmitters of nobody's team, or without a single usable position.
        zero_us: time on the source's clock at which the intervals' clock is 0.
        end_s: the match lasts from 0 to this on the intervals' clock.
        contacts: all touches, in order of time.

    Raises:
        TrackingError: no ball, no time, limbs instead of persons, more players than rows, or touches by strangers.
    """

    def __init__(self, recording: Recording, touches: Sequence[Touch] | None = None) -> None:
        self.sheet = recording.sheet
        # A source that counts from its own beginning keeps its clock.
        self.zero_us = 0 if 0 <= recording.begin_us < _SECOND_US else recording.begin_us
        self.end_s = math.floor((recording.end_us - self.zero_us) / 1e6 / TICK_S) * TICK_S
        if self.end_s < 1.0:
            raise TrackingError(f"{self.sheet.match_id}: {self.end_s:.2f} s of tracking are no match")
        self.names, tracks, self.left_out = _rows(recording)
        ball = next((t for t in recording.tracks if t.transmitter == BALLS[0] and _usable(t).any()), None)
        if ball is None:
            raise TrackingError(f"{self.sheet.match_id}: no ball")
        count = math.ceil(self.end_s / GRID_S) + 1
        values, weights = cleaned(*_on_grid(ball, self.zero_us, count, 3))
        values[:, 2] = np.maximum(values[:, 2], BALL_RADIUS_M)
        self._knots: dict[int, Floats] = {}
        self._there: dict[int, tuple[float, float]] = {}
        for row, track in tracks.items():
            path = body_path(*_on_grid(track, self.zero_us, count, 2))
            self._knots[row] = np.column_stack([path, posture(path, values[:, :2], 2.4 * row)])
            ts_s = (track.ts_us[_usable(track)] - self.zero_us) / 1e6
            self._there[row] = float(ts_s[0]), float(ts_s[-1])
        break_frames, owner_of = (path_breaks(values, weights), {}) if touches is None else self._given(touches, count)
        times = break_times(values, 0, break_frames)
        persons = [
            owner_of.get(int(frame), self._nearest(values, t)) for frame, t in zip(break_frames, times, strict=True)
        ]
        if touches is None:
            persons = _plausible(persons, times, values)
        lasts_s = [
            CONTACT_S if person >= 0 else _unowned_s(values, t) for person, t in zip(persons, times, strict=True)
        ]
        self._ball = ball_path(values, weights, 0, times, np.array(lasts_s))
        # Breaks too near to another one have been left out of the path.
        left = np.isin(times, self._ball.t_s)
        owned = [(p, t) for p, t, is_left in zip(persons, times.tolist(), left, strict=True) if p >= 0 and is_left]
        self.contacts = tuple(self._with_holds([self._contact(person, t) for person, t in owned]))

    @property
    def on_pitch(self) -> set[int]:
        """Rows of everybody who was tracked."""
        return set(self._knots)

    def intervals(self, until_s: float = math.inf, every_s: float = 4.0) -> Iterator[PlayedInterval]:
        """Yield the match up to a time, in intervals of ``every_s`` (a multiple of ``TICK_S``).

        A person who enters or leaves within an interval stands at that position for the rest of it.
        """
        whole = round(min(until_s, self.end_s) / TICK_S)
        each = max(round(every_s / TICK_S), 1)
        for begin in range(0, whole, each):
            yield self._interval(begin, min(begin + each, whole))

    def _interval(self, begin: int, end: int) -> PlayedInterval:
        margin = round(MARGIN_S / TICK_S)
        ticks_s = np.arange(max(begin - margin, 0), min(end + margin, round(self.end_s / TICK_S))) * TICK_S
        begin_s, end_s = begin * TICK_S, end * TICK_S
        persons = np.full((len(ticks_s), PERSONS, COLUMNS), np.nan)
        own = np.empty((len(ticks_s), COLUMNS))
        for row, knots in self._knots.items():
            since_s, until_s = self._there[row]
            if since_s < end_s and until_s > begin_s:
                columns_at(knots, 0, ticks_s, own)
                persons[:, row] = own
        contacts = tuple(c for c in self.contacts if c.t_s + c.hold_s >= ticks_s[0] and c.t_s <= ticks_s[-1])
        _jump(persons, ticks_s, contacts)
        steps_s = begin_s + np.arange(round((end_s - begin_s) / STEP_S)) * STEP_S
        balls = np.full((len(BALLS), len(steps_s), 3), np.nan)
        balls[0], velocity = self._ball.at(steps_s)
        active = np.zeros(len(steps_s), np.int64)
        return PlayedInterval(begin_s, end_s, ticks_s, persons, contacts, balls, velocity, active)

    # -- touches -----------------------------------------------------------------------------------------------

    def _given(self, touches: Sequence[Touch], count: int) -> tuple[npt.NDArray[np.int64], dict[int, int]]:
        """Return the frames of the given touches, and the row of each."""
        owner_of: dict[int, int] = {}
        for touch in touches:
            if not touch.object_id or touch.object_id not in self.names:
                raise TrackingError(
                    f"{self.sheet.match_id}: touch at {touch.ts_us} us by {touch.object_id!r}: nobody's id"
                )
            frame = round((touch.ts_us - self.zero_us) / 1e6 / GRID_S)
            if 0 < frame < count - 1:
                owner_of[frame] = self.names.index(touch.object_id)
        return np.array(sorted(owner_of), dtype=np.int64), owner_of

    def _nearest(self, values: Floats, t_s: float) -> int:
        """Return the row of the player nearest to the ball at a time, -1 if nobody can reach it."""
        i = min(max(round(t_s / GRID_S), 0), len(values) - 1)
        x, y, z = values[i].tolist()
        if z > TOUCH_HEIGHT_M:
            return -1
        gaps = {r: math.hypot(k[i, 0] - x, k[i, 1] - y) for r, k in self._knots.items() if r not in REFEREES}
        best = min(gaps, key=gaps.__getitem__, default=-1)
        return best if best >= 0 and gaps[best] < TOUCH_REACH_M else -1

    def _row_at(self, person: int, t_s: float) -> Floats:
        """Return position, heading and stride of a person at the grid point nearest to a time."""
        knots = self._knots[person]
        row: Floats = knots[min(max(round(t_s / GRID_S), 0), len(knots) - 1)]
        return row

    def _contact(self, person: int, corner_s: float) -> Contact:
        """Return the contact around a break, with the limb that was nearest by side and height."""
        begin_s = corner_s - 0.5 * CONTACT_S
        positions, velocities = self._ball.at(np.array([begin_s, begin_s + CONTACT_S]))
        position, before, after = _vector(positions[0]), _vector(velocities[0]), _vector(velocities[1])
        x, y, heading, _ = self._row_at(person, corner_s).tolist()
        is_left = math.cos(heading) * (position[1] - y) > math.sin(heading) * (position[0] - x)
        side = "left" if is_left else "right"
        speed = math.hypot(*after)
        limb = f"{side}_foot"
        what = "trap" if speed < 0.6 * math.hypot(*before) else "kick" if speed > 7.0 else "dribble"
        line_m = self.sheet.width_m / 2.0 - 0.4
        if position[2] > _HANDS_M and self._may_use_hands(person, position):
            limb, what = f"{side}_hand", "parry"
        elif position[2] > _CHEST_M and abs(y) > line_m and abs(position[1]) > line_m:
            limb, what = f"{side}_hand", "throw"
        elif position[2] > _CHEST_M:
            limb, what = ("head", "header") if position[2] > _HEAD_M else ("chest", "trap")
        return Contact(begin_s, person, limb, position, before, after, what)

    def _may_use_hands(self, person: int, position: Vector) -> bool:
        """True for a goalkeeper if the ball is in a penalty area, assumed to be the own one."""
        deep = abs(position[0]) > self.sheet.length_m / 2.0 - PENALTY_AREA_DEPTH_M
        return person in KEEPERS and deep and abs(position[1]) < PENALTY_AREA_HALF_WIDTH_M

    def _with_holds(self, contacts: list[Contact]) -> Iterator[Contact]:
        """Merge the contacts of a goalkeeper who holds the ball into the catch."""
        held_s = -math.inf
        for k, contact in enumerate(contacts):
            if contact.t_s < held_s - 0.1:
                continue
            others_s = next((c.t_s for c in contacts[k + 1 :] if c.person != contact.person), self.end_s)
            until_s = self._held_until(contact, others_s)
            if until_s - contact.t_s > _HELD_S:
                held_s = until_s
                hand = contact.limb.replace("foot", "hand") if contact.limb.endswith("foot") else "right_hand"
                yield replace(contact, limb=hand, what="catch", hold_s=until_s - contact.t_s)
            else:
                yield contact

    def _held_until(self, contact: Contact, others_s: float) -> float:
        """Return until when a goalkeeper holds a ball that was touched."""
        if not self._may_use_hands(contact.person, contact.position):
            return contact.t_s
        t_s = np.arange(contact.t_s, min(others_s, contact.t_s + _HELD_MAX_S), GRID_S)
        positions, _ = self._ball.at(t_s)
        own = np.array([self._row_at(contact.person, t)[:2] for t in t_s.tolist()])
        away = np.flatnonzero(np.hypot(*(positions[:, :2] - own).T) > _HELD_M)
        last = int(away[0]) if len(away) else len(t_s) - 1
        is_high = last > 0 and float(positions[:last, 2].mean()) > _HELD_HEIGHT_M
        return float(t_s[last]) if is_high else contact.t_s


def _vector(row: Floats) -> Vector:
    x, y, z = row.tolist()
    return x, y, z


def _usable(track: Track) -> npt.NDArray[np.int64]:
    """Return indexes of the rows of a track that have a time in order and a position."""
    line = track.line
    good: npt.NDArray[np.int64] = line[np.isfinite(track.x_m[line]) & np.isfinite(track.y_m[line])]
    return good


def _on_grid(track: Track, zero_us: int, count: int, axes: int) -> tuple[Floats, Floats]:
    rows = _usable(track)
    positions = np.column_stack([track.x_m[rows], track.y_m[rows], np.nan_to_num(track.z_m[rows])])
    return on_grid((track.ts_us[rows] - zero_us) / 1e6, positions[:, :axes], 0, count)


def _plausible(persons: list[int], times: Floats, values: Floats) -> list[int]:
    """Assign breaks to persons, without touches that no limb could have reached after the person's last one."""
    out: list[int] = []
    last: dict[int, tuple[float, Floats]] = {}
    for person, t in zip(persons, times.tolist(), strict=True):
        position = values[min(round(t / GRID_S), len(values) - 1)]
        before_s, before = last.get(person, (-math.inf, position))
        is_near = math.dist(position[:2], before[:2]) <= _AGAIN_M_S * (t - before_s)
        out.append(person if is_near else -1)
        if is_near:
            last[person] = t, position
    return out


def _unowned_s(values: Floats, t_s: float) -> float:
    """Return the duration of a break that no player made."""
    return BUMP_S if values[min(round(t_s / GRID_S), len(values) - 1), 2] < _BOUNCE_M else _UNKNOWN_S


def _jump(persons: Floats, ticks_s: Floats, contacts: tuple[Contact, ...]) -> None:
    """Let persons rise for balls above their heads, as high as they need, as ``Bodies.jump`` does; in place."""
    for contact in contacts:
        height_m = min(contact.position[2] - _HEAD_TOP_M, _JUMP_MAX_M)
        if height_m <= 0.05 or contact.hold_s > 0.0 or contact.what == "throw":
            continue
        lasts_s = 2.5 * math.sqrt(2.0 * height_m / GRAVITY_M_S2)
        share = np.clip((ticks_s - contact.t_s) / lasts_s + 0.5, 0.0, 1.0)
        rise = persons[:, contact.person, Col.RISE]
        np.maximum(rise, height_m * (4.0 * share * (1.0 - share)) ** 2, out=rise)


def _rows(recording: Recording) -> tuple[tuple[str, ...], dict[int, Track], tuple[str, ...]]:
    """Assign rows: ids by row, tracks by row, and transmitters that belong to nobody."""
    sheet = recording.sheet
    sides: dict[str, list[Track]] = {"home": [], "away": [], "referee": []}
    left_out: list[str] = []
    for track in recording.tracks:
        kind = raw_kind(track.transmitter)
        if kind == "raw.limb":
            raise TrackingError(f"{sheet.match_id}: {track.transmitter}: a recording of limbs needs no limbs made")
        if kind in ("raw.ball", "raw.flag"):
            continue
        side = "referee" if kind == "raw.referee" else team_of(track.transmitter, sheet)
        if side in sides and _usable(track).any():
            sides[side].append(track)
        else:
            left_out.append(track.transmitter)
    names, tracks = [""] * PERSONS, {}
    for side, first, capacity in (("home", 0, SQUAD), ("away", SQUAD, SQUAD), ("referee", REFEREES[0], len(REFEREES))):
        if len(sides[side]) > capacity:
            raise TrackingError(
                f"{sheet.match_id}: {len(sides[side])} tracks of side {side}: there are rows for {capacity}"
            )
        ordered = sides[side] if side == "referee" else _keeper_first(sides[side], sheet)
        for row, track in enumerate(ordered, first):
            names[row], tracks[row] = track.transmitter, track
    return tuple(names), tracks, tuple(left_out)


def _keeper_first(tracks: list[Track], sheet: MatchSheet) -> list[Track]:
    """Order a team's tracks: the goalkeeper first, by the sheet, else the player furthest from the middle."""
    keepers = {p.object_id for p in sheet.players if p.goalkeeper}

    def rank(track: Track) -> tuple[bool, float]:
        return track.transmitter not in keepers, -float(np.nanmean(np.abs(track.x_m)))

    first = min(tracks, key=rank, default=None)
    return [t for t in tracks if t is first] + [t for t in tracks if t is not first]
