"""Figures of simulated and real matches from positions alone, by one estimator for both.

Theory of operation
-------------------
Real matches come as centroids at 25 frames a second and nothing else. A simulated match is therefore first brought to
that form (:class:`Sampler`: ball and one point a player, without noise). The same code then measures both: speeds and
accelerations by the same smoothing, spacing on the same frames, and passes, shots, restarts and time in play by the
product's own detectors. A detector's mistakes are the same on both sides, so its counts may be compared.

Footage is cut into pieces of one half and at most ``PIECE_S``, each with its own direction of attack.
``simulator.realism.targets`` has the ranges of the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import msgspec
import numpy as np

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet, Quality, Team
from football.packet_table import Floats
from football.packets import RAW_KINDS
from football.payloads import EventPayload
from football.recording import (
    Recording,
    Track,
    track_order,
)
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay
from simulator.records import PERSONS, REFEREES, STEP_S, TICK_S, Col, PlayedInterval, Row, object_id
from simulator.runs import runs_of

#: Frames a second of what is measured.
RATE_HZ = 25
#: Longest piece given to the detectors at once; memory grows with it.
PIECE_S = 600.0
#: Upper bounds of the running classes of DEBS 2013 (Q1), km/h, and their names.
CLASSES_KMH = (1.0, 11.0, 14.0, 17.0, 24.0, np.inf)
CLASS_NAMES = ("standing", "trot", "low", "medium", "high", "sprint")
#: Height bands of hierarchy 2.5, metres.
HEIGHTS_M = (0.3, 1.5, 2.44)
HEIGHT_NAMES = ("ground", "low", "head", "high")
#: A body or ball faster than this between two frames was moved by its provider (hierarchy 1.3), m/s.
BODY_JUMP_M_S = 12.0
BALL_JUMP_M_S = 42.0
#: Truth rows that stop play.
STOPS = frozenset(("play.dead", "out", "goal.scored", "goal.own", "foul", "offside.offence", "period.end"))
#: Frames in a fit of a body's velocity: half a second.
_FIT = 13
#: What an optical tracking file is taken for, real or simulated.
_OPTICAL = Quality(float(RATE_HZ), float(RATE_HZ), (), True, 0.05, "optical")


@dataclass(frozen=True, eq=False)
class Footage:
    """A piece of a match at ``RATE_HZ``.

    Attributes:
        sheet: of the match; ``attacks_positive_x`` holds for this piece.
        ids: object ids of the columns of ``positions``, players only.
        ball: (n, 3) centre of the ball in play, metres.
        positions: (n, len(ids), 2), NaN where a player is not on the pitch.
        begin_s: time of the first frame.
    """

    sheet: MatchSheet
    ids: tuple[str, ...]
    ball: Floats
    positions: Floats
    begin_s: float = 0.0

    @property
    def seconds(self) -> float:
        """Length of the piece."""
        return len(self.ball) / RATE_HZ

    def columns(self, team: str, *, keepers: bool) -> np.ndarray:
        """Return the indexes of a team's columns (of both for an empty name): of goalkeepers, or of all others."""
        lines = {p.object_id: p for p in self.sheet.players}
        return np.array(
            [i for i, o in enumerate(self.ids) if lines[o].goalkeeper == keepers and team in ("", lines[o].team)], int
        )


class Sampler:
    """Samples the intervals of a simulated match as a camera system would: see :class:`Footage`."""

    def __init__(self, sheet: MatchSheet) -> None:
        self._sheet = sheet
        self._rows = [person for person in range(PERSONS) if person not in REFEREES]
        self._parts: list[tuple[float, Floats, Floats]] = []

    def take(self, interval: PlayedInterval) -> None:
        """Sample an interval; persons further off the pitch than a thrower's step are left out."""
        every = round(1.0 / RATE_HZ / TICK_S)
        numbers = np.rint(interval.ticks_s / TICK_S).astype(int)
        inside = (numbers % every == 0) & (numbers >= round(interval.begin_s / TICK_S))
        inside &= numbers < round(interval.end_s / TICK_S)
        if not inside.any():
            return
        steps = np.rint((interval.ticks_s[inside] - interval.begin_s) / STEP_S).astype(int)
        ball = interval.balls[interval.active[steps], steps]
        positions = interval.persons[inside][:, self._rows][:, :, [Col.X, Col.Y]]
        off = np.abs(positions[:, :, 0]) > self._sheet.length_m / 2 + 2.5
        off |= np.abs(positions[:, :, 1]) > self._sheet.width_m / 2 + 2.5
        positions[off] = np.nan
        self._parts.append((float(interval.ticks_s[inside][0]), ball.astype(np.float32), positions.astype(np.float32)))

    def pieces(self, periods_s: Sequence[tuple[float, float]] = ((-np.inf, np.inf),)) -> tuple[Footage, ...]:
        """Return the footage of the periods (begin, end), in pieces of at most ``PIECE_S``."""
        begin_s = self._parts[0][0]
        ball = np.concatenate([part[1] for part in self._parts]).astype(float)
        positions = np.concatenate([part[2] for part in self._parts]).astype(float)
        ids = tuple(object_id(person) for person in self._rows)
        whole = Footage(self._sheet, ids, ball, positions, begin_s)
        pieces: list[Footage] = []
        for first_s, last_s in periods_s:
            low, high = (np.clip((s - begin_s) * RATE_HZ, 0, len(ball)) for s in (first_s, last_s))
            pieces.extend(_cut(whole, int(low), int(high)))
        return tuple(pieces)


def footage_of(recording: Recording) -> tuple[Footage, ...]:
    """Return a tracking file's footage, brought to ``RATE_HZ``; gaps of more than 0.2 s stay empty."""
    players = [t for t in recording.tracks if t.transmitter in {p.object_id for p in recording.sheet.players}]
    ball = next(t for t in recording.tracks if t.transmitter == "ball")
    times_us = np.arange(recording.begin_us, recording.end_us + 1, 1_000_000 // RATE_HZ)
    positions = np.stack([_resampled(t, times_us)[:, :2] for t in players], axis=1)
    ids = tuple(t.transmitter for t in players)
    return tuple(_cut(Footage(recording.sheet, ids, _resampled(ball, times_us), positions), 0, len(times_us)))


def _resampled(track: Track, times_us: np.ndarray) -> Floats:
    line = track.line
    own_us = track.ts_us[line]
    columns = [np.interp(times_us, own_us, c[line]) for c in (track.x_m, track.y_m, track.z_m)]
    position = np.stack(columns, axis=1)
    after = np.clip(np.searchsorted(own_us, times_us), 1, len(own_us) - 1)
    far = (own_us[after] - own_us[after - 1] > 200_000) | (times_us < own_us[0]) | (times_us > own_us[-1])
    position[far] = np.nan
    return position


def _cut(footage: Footage, low: int, high: int) -> Iterator[Footage]:
    """Cut frames ``low`` to ``high`` into equal pieces, without players who are absent from them."""
    count = max(1, int(np.ceil((high - low) / (PIECE_S * RATE_HZ))))
    edges = np.linspace(low, high, count + 1).astype(int)
    for first, last in pairwise(edges.tolist()):
        if last - first < RATE_HZ:
            continue
        positions = footage.positions[first:last]
        there = np.flatnonzero(np.isfinite(positions[:, :, 0]).any(axis=0))
        ids = tuple(footage.ids[i] for i in there)
        begin_s = footage.begin_s + first / RATE_HZ
        piece = Footage(footage.sheet, ids, footage.ball[first:last], positions[:, there], begin_s)
        sheet = msgspec.structs.replace(footage.sheet, attacks_positive_x=_attackers(piece))
        yield replace(piece, sheet=sheet)


def _attackers(piece: Footage) -> Team:
    """Return the team that attacks +x: its goalkeeper, or else its rearmost player, is further left."""
    home, away = (piece.columns(team, keepers=True) for team in ("home", "away"))
    if len(home) and len(away):
        left = np.nanmean(piece.positions[:, home, 0]) < np.nanmean(piece.positions[:, away, 0])
        return "home" if left else "away"
    home, away = (piece.columns(team, keepers=False) for team in ("home", "away"))
    low = np.nanmean(np.nanmin(piece.positions[:, home, 0], axis=1) - np.nanmin(piece.positions[:, away, 0], axis=1))
    return "home" if low < 0 else "away"


# -- measuring ------------------------------------------------------------------------------------------------


def periods_of(rows: Sequence[Row], until_s: float) -> list[tuple[float, float]]:
    """Return begin and end of every half by its rows of truth, the last one up to ``until_s``.

    Play without rows of halves is one half.
    """
    starts = [row.t_s for row in rows if row.kind == "period.start" and row.t_s < until_s]
    ends = [row.t_s for row in rows if row.kind == "period.end" and row.t_s < until_s]
    if not starts:
        return [(0.0, until_s)]
    return [(s, next((e for e in ends if e > s), until_s)) for s in starts]


def live_spans(rows: Sequence[Row], until_s: float) -> list[tuple[float, float]]:
    """Return when the ball was in play by the rows of truth: from a restart until the next row that stops play."""
    spans: list[tuple[float, float]] = []
    since: float | None = None
    for row in sorted((row for row in rows if row.t_s < until_s), key=lambda row: row.t_s):
        if since is None and row.kind.startswith("restart."):
            since = row.t_s
        elif since is not None and row.kind in STOPS and not row.detail.get("advantage"):
            spans.append((since, row.t_s))
            since = None
    return spans if since is None else [*spans, (since, until_s)]


def measure(pieces: Sequence[Footage]) -> dict[str, float]:
    """Return all figures of some footage by name; NaN where there was nothing to measure.

    Shares are of time, ``_90`` are per 90 minutes of footage, ``_min`` per minute of it.
    """
    live: list[np.ndarray] = []
    events: list[Event] = []
    for piece in pieces:
        detected = _detected(piece)
        live.append(_in_play(detected, len(piece.ball)))
        events.extend(detected)
    seconds = sum(piece.seconds for piece in pieces)
    in_play_s = sum(float(mask.sum()) for mask in live) / RATE_HZ
    return {**_game(events, seconds, in_play_s), **_by_position(pieces, live)}


def measure_positions(pieces: Sequence[Footage], live_s: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the figures of :func:`measure` that need no detectors; ``live_s`` says when the ball is in play."""
    live = []
    for piece in pieces:
        times_s = piece.begin_s + np.arange(len(piece.ball)) / RATE_HZ
        live.append(np.any([(times_s >= begin) & (times_s < end) for begin, end in live_s], axis=0))
    return _by_position(pieces, live)


def _by_position(pieces: Sequence[Footage], live: Sequence[np.ndarray]) -> dict[str, float]:
    return {**_ball(pieces, live), **_spacing(pieces, live), **_running(pieces)}


def _detected(piece: Footage) -> list[Event]:
    """Return sparse events of the product's detectors over a piece, by time."""
    sheet = msgspec.structs.replace(piece.sheet, quality=_OPTICAL)
    times_us = np.arange(len(piece.ball)) * (1_000_000 // RATE_HZ)
    ball = Track("ball", times_us, *piece.ball.T)
    tracks = [ball]
    for column, name in enumerate(piece.ids):
        x, y = piece.positions[:, column].T
        there = np.isfinite(x)
        tracks.append(Track(name, times_us[there], x[there], y[there], np.zeros(int(there.sum()))))
    tracks.sort(key=lambda track: track_order(track.transmitter))
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(sheet))
    packets = (t.packet(i, i, i + 1) for t in tracks for i in range(len(t)))
    events = sorted_replay(hierarchy, (arrival(packet).event for packet in packets))
    return sorted((e for e in events if isinstance(e.payload, EventPayload)), key=lambda e: e.ts_us)


def _in_play(events: Sequence[Event], frames: int) -> np.ndarray:
    """Return whether each frame is in play, by 6.4; frames before the first event are its opposite."""
    mask = np.zeros(frames, bool)
    is_live: bool | None = None
    since = 0
    for event in events:
        if event.kind not in ("play.live", "play.dead"):
            continue
        assert isinstance(event.payload, EventPayload)
        known_us = event.payload.detail["kick_us" if event.kind == "play.live" else "since_us"]
        assert isinstance(known_us, int)
        at = min(max(round(known_us * RATE_HZ / 1e6), since), frames)
        mask[since:at] = event.kind == "play.dead" if is_live is None else is_live
        is_live, since = event.kind == "play.live", at
    mask[since:] = True if is_live is None else is_live
    return mask


def _game(events: Sequence[Event], seconds: float, in_play_s: float) -> dict[str, float]:
    """Return the figures of the detectors' events."""
    kinds = Counter(e.kind for e in events)
    minutes, nineties = seconds / 60.0, seconds / 5400.0
    ended = kinds["pass.complete"] + kinds["pass.intercepted"] + kinds["pass.out"]
    lengths = [_number(e, "length_m") for e in events if e.kind == "pass.complete"]
    kicks = [np.hypot(_number(e, "vx_m_s"), _number(e, "vy_m_s")) for e in events if e.kind == "kick.released"]
    figures = {
        "in_play_share": in_play_s / seconds,
        "passes_min": kinds["pass.attempt"] / minutes,
        "passes_min_in_play": kinds["pass.attempt"] / max(in_play_s / 60.0, 1e-9),
        "pass_completion": kinds["pass.complete"] / max(ended, 1),
        **_quantiles("pass_length_m", np.array(lengths), (10, 50, 90)),
        "pass_over_30_m_share": float(np.mean(np.array(lengths) > 30.0)) if lengths else np.nan,
        **_quantiles("kick_speed_m_s", np.array(kicks), (10, 50, 90)),
        "contacts_min_in_play": (kinds["hit"] + kinds["touch"]) / max(in_play_s / 60.0, 1e-9),
        "team_changes_min_in_play": _changes(events) / max(in_play_s / 60.0, 1e-9),
        "shots_90": kinds["shot.attempt"] / nineties,
        "goals_90": (kinds["goal.scored"] + kinds["goal.own"]) / nineties,
    }
    for kind in ("kick_off", "throw_in", "corner", "goal_kick", "free_kick"):
        figures[f"{kind}s_90"] = kinds[f"restart.{kind}"] / nineties
    return figures


def _number(event: Event, name: str) -> float:
    assert isinstance(event.payload, EventPayload)
    value = event.payload.detail.get(name)
    return float(value) if isinstance(value, int | float) else np.nan


def _changes(events: Sequence[Event]) -> int:
    """Return how often the ball goes from one team to the other in play."""
    gains = [e.payload.team for e in events if e.kind == "possession.gain" and isinstance(e.payload, EventPayload)]
    return sum(a != b for a, b in pairwise(gains))


def _ball(pieces: Sequence[Footage], live: Sequence[np.ndarray]) -> dict[str, float]:
    """Return speed over ground, height, position and distance to the nearest player while in play."""
    speeds, heights, nearest, across, boxes = [], [], [], [], []
    for piece, mask in zip(pieces, live, strict=True):
        speed = np.hypot(*np.diff(piece.ball[:, :2], axis=0).T) * RATE_HZ
        good = mask[1:] & (speed < BALL_JUMP_M_S)
        speeds.append(speed[good])
        heights.append(piece.ball[mask, 2])
        apart = np.hypot(*(piece.positions[mask] - piece.ball[mask][:, None, :2]).transpose(2, 0, 1))
        nearest.append(np.nanmin(apart, axis=1))
        across.append(np.abs(piece.ball[mask, 1]) / (piece.sheet.width_m / 2))
        depth = piece.sheet.length_m / 2 - np.abs(piece.ball[mask, 0])
        boxes.append((depth < 16.5) & (np.abs(piece.ball[mask, 1]) < 20.16))
    height = np.concatenate(heights)
    bands = np.bincount(np.searchsorted(HEIGHTS_M, height), minlength=4) / max(len(height), 1)
    return {
        **_quantiles("ball_speed_m_s", np.concatenate(speeds), (10, 50, 90, 99)),
        **{f"ball_{name}_share": float(share) for name, share in zip(HEIGHT_NAMES, bands, strict=True)},
        **_quantiles("ball_to_nearest_m", np.concatenate(nearest), (50, 90)),
        "ball_across_median": _median(np.concatenate(across)),
        "ball_in_boxes_share": float(np.mean(np.concatenate(boxes))),
    }


def _spacing(pieces: Sequence[Footage], live: Sequence[np.ndarray]) -> dict[str, float]:
    """Return the spacing of outfield players while the ball is in play, once a second."""
    length, width, mates, rivals, centres, keepers = ([] for _ in range(6))
    for piece, mask in zip(pieces, live, strict=True):
        frames = np.flatnonzero(mask)[::RATE_HZ]
        teams = [piece.positions[np.ix_(frames, piece.columns(team, keepers=False))] for team in ("home", "away")]
        for own, other in (teams, teams[::-1]):
            length.append(np.nanmax(own[:, :, 0], axis=1) - np.nanmin(own[:, :, 0], axis=1))
            width.append(np.nanmax(own[:, :, 1], axis=1) - np.nanmin(own[:, :, 1], axis=1))
            among = np.hypot(*(own[:, :, None] - own[:, None]).transpose(3, 0, 1, 2))
            among[:, np.arange(own.shape[1]), np.arange(own.shape[1])] = np.nan
            mates.append(_nearest(among))
            rivals.append(_nearest(np.hypot(*(own[:, :, None] - other[:, None]).transpose(3, 0, 1, 2))))
        centres.append(np.hypot(*(np.nanmean(teams[0], axis=1) - np.nanmean(teams[1], axis=1)).T))
        goal = piece.positions[np.ix_(frames, piece.columns("", keepers=True))][:, :, 0]
        keepers.append((piece.sheet.length_m / 2 - np.abs(goal)).ravel())
    return {
        **_quantiles("team_length_m", np.concatenate(length), (10, 50, 90)),
        **_quantiles("team_width_m", np.concatenate(width), (10, 50, 90)),
        **_quantiles("nearest_mate_m", np.concatenate(mates), (10, 50, 90)),
        **_quantiles("nearest_opponent_m", np.concatenate(rivals), (10, 50, 90)),
        "centroids_apart_m_median": _median(np.concatenate(centres)),
        "keeper_off_line_m_median": _median(np.concatenate(keepers)),
    }


def _nearest(apart: Floats) -> Floats:
    """Return the distance of each player to the nearest other, flat."""
    nearest = np.where(np.isnan(apart), np.inf, apart).min(axis=2).ravel()
    return nearest[np.isfinite(nearest)]


def _running(pieces: Sequence[Footage]) -> dict[str, float]:
    """Return speeds, distances and accelerations; of outfield players unless named otherwise."""
    speeds, gains, sprints, fastest = [], [], 0, []
    metres = {False: 0.0, True: 0.0}
    frames = {False: 0, True: 0}
    for piece in pieces:
        for keepers in (False, True):
            positions = _without_jumps(piece.positions[:, piece.columns("", keepers=keepers)])
            chords = np.hypot(*np.diff(positions[::5], axis=0).transpose(2, 0, 1))
            metres[keepers] += float(np.nansum(chords))
            frames[keepers] += int(np.isfinite(chords).sum()) * 5
            if keepers:
                continue
            velocity = _fitted(positions)
            speed = np.hypot(velocity[:, :, 0], velocity[:, :, 1])
            speeds.append(speed[np.isfinite(speed)])
            change = (speed[10:] - speed[:-10]) * (RATE_HZ / 10.0)
            gains.append(change[np.isfinite(change)])
            sprints += sum(_runs(column > 24.0 / 3.6, RATE_HZ) for column in speed.T)
            fastest.append(np.nanmax(speed, axis=0, initial=0.0, where=np.isfinite(speed)))
    speed, gain = np.concatenate(speeds), np.concatenate(gains)
    shares = np.bincount(np.searchsorted(CLASSES_KMH, speed * 3.6), minlength=6) / max(len(speed), 1)
    per_90 = {k: metres[k] / max(frames[k], 1) * RATE_HZ * 5400.0 for k in metres}
    return {
        "distance_outfield_m_90": per_90[False],
        "distance_keeper_m_90": per_90[True],
        **{f"{name}_share": float(share) for name, share in zip(CLASS_NAMES, shares, strict=True)},
        "distance_above_17_kmh_m_90": _above(speed, 17.0),
        "distance_sprint_m_90": _above(speed, 24.0),
        "sprints_90": sprints / max(len(speed) / RATE_HZ / 5400.0, 1e-9),
        **_quantiles("speed_m_s", speed, (50, 90, 99, 99.9)),
        "speed_top_m_s": float(np.max(np.concatenate(fastest), initial=0.0)),
        **_quantiles("acceleration_m_s2", gain, (0.5, 5, 95, 99.5)),
    }


def _above(speed: Floats, kmh: float) -> float:
    """Return the metres per player and 90 minutes that are run faster than ``kmh``."""
    return float(speed[speed > kmh / 3.6].sum() / max(len(speed), 1) * 5400.0)


def _without_jumps(positions: Floats) -> Floats:
    """Remove the frames around a step that nobody can run."""
    positions = positions.copy()
    step = np.hypot(*np.diff(positions, axis=0).transpose(2, 0, 1))
    for frame, column in np.argwhere(step > BODY_JUMP_M_S / RATE_HZ).tolist():
        positions[max(0, frame - 1) : frame + 3, column] = np.nan
    return positions


def _fitted(positions: Floats) -> Floats:
    """Return velocities by a parabola over ``_FIT`` frames (Savitzky-Golay); NaN beside every gap."""
    offsets = np.arange(_FIT) - _FIT // 2
    weights = offsets / (offsets**2).sum() * RATE_HZ
    count = len(positions) - _FIT + 1
    if count <= 0:
        return np.full_like(positions[:0], np.nan)
    return np.sum([w * positions[k : k + count] for k, w in enumerate(weights)], axis=0)


def _runs(flags: np.ndarray, nearest: int) -> int:
    """Return the number of runs of at least ``nearest`` true flags."""
    return sum(end - begin >= nearest for begin, end in runs_of(flags))


def _quantiles(name: str, values: Floats, percents: Sequence[float]) -> Mapping[str, float]:
    values = values[np.isfinite(values)]
    at = np.percentile(values, percents) if len(values) else np.full(len(percents), np.nan)
    return {f"{name}_p{percent:g}": float(value) for percent, value in zip(percents, at, strict=True)}


def _median(values: Floats) -> float:
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else float("nan")
