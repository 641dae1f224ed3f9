"""Reviews a call of a match store: offside, ball over the line, penalty area, distance at a restart.

The packets of the store's capture around the event give positions and their uncertainty (``replay/review``). A match
out of a topic has no capture: its stored positions are taken, which are filtered already, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.sources.registry import source_of_store
from football.errors import CaptureError
from football.kind_names import kind_name
from football.match_sheet import MatchSheet
from football.packets import raw_kind
from football.payloads import Scalar
from football.pitch import CORNER_ARC_RADIUS_M, OPPONENT_DISTANCE_M, Pitch, end_of, pitch_of
from football.untrusted import decode_json
from football.update_stream import EventRecord
from replay.capture import Capture
from replay.match_store import positions_between, read_sheet_of, updates_log
from replay.review.calls import (
    Call,
    Question,
    ReviewError,
    Scene,
    boundary_near,
    offside,
    over_line,
    penalty_area,
    too_near,
)
from replay.review.kick import Instant, exactly, kick_instant
from replay.review.motion import Noise, Samples, noise_of, samples_of

#: Event time before and after the event of which samples are read, and how late one arrives if that is not known.
_AROUND_US: Final = 1_000_000
_LATE_US: Final = 3_000_000

#: Question that an event asks by itself, by the beginning of its kind.
_QUESTIONS: Final[Mapping[str, Question]] = {
    "offside.": "offside", "pass.": "offside", "shot.": "offside", "out": "line", "goal.": "line", "ball.": "line",
    "clearance": "line", "gk.": "line", "encroach": "distance", "restart.": "distance", "official.offside": "offside",
    "official.goal": "line", "official.no_goal": "line", "official.penalty": "area", "official.foul": "area",
    "tackle.": "area", "touch": "area", "hit": "area",
}  # fmt: skip
QUESTIONS: Final = get_args(Question)
#: Calls at a kick; the others are at the event's own time.
_AT_KICK: Final = ("offside", "distance")
_THROW_M: Final = 2.0


class UnknownEventError(ReviewError, LookupError):
    """There is no event of that id."""


class Review(msgspec.Struct, frozen=True):
    """A call with what it was made of.

    Attributes:
        event, kind, title, ts_us: the event that was reviewed.
        team, player: of the call; the player is the one in question, empty for the ball.
        call: its figures.
        statement: what the margin compares, in words.
        ball_hz, body_hz, declared_m: rates and noise that the match sheet declares.
        notes: what limits the figures.
    """

    event: str
    kind: str
    title: str
    ts_us: int
    team: str
    player: str
    call: Call
    statement: str
    ball_hz: float
    body_hz: float
    declared_m: float
    notes: tuple[str, ...] = ()


def review(folder: Path, event: str, question: str = "", player: str = "") -> Review:
    """Review the call of an event.

    Args:
        folder: of the match store.
        event: its id.
        question: one of ``QUESTIONS``; empty for the one that the kind of the event asks.
        player: object id of the player in question; empty for the one of the event, and at a pass or shot for the
            team-mate who is farthest forward.

    Raises:
        UnknownEventError: no such event.
        ReviewError: the event asks no question of that kind, or positions are missing.
        StoreError: not a match store, or damaged.
    """
    sheet, log = read_sheet_of(folder), updates_log(folder)
    record = _record(log, event)
    if record is None:
        raise UnknownEventError(f"{event}: no event of that id in {folder}; `touchline events` lists all")
    if question not in ("", *QUESTIONS):
        raise ReviewError(f"no question {question}; there are {', '.join(QUESTIONS)}")
    chosen = question or next((one for kind, one in _QUESTIONS.items() if record.kind.startswith(kind)), "")
    if not chosen:
        raise ReviewError(f"{record.kind} asks no question by itself; choose one of {', '.join(QUESTIONS)}")
    return _Reviewer(folder, sheet, log, record, player).review(chosen)


class _Reviewer:
    """Reviews one event."""

    def __init__(self, folder: Path, sheet: MatchSheet, log: pa.Table, record: EventRecord, player: str) -> None:
        self._sheet, self._log, self._record = sheet, log, record
        self._pitch: Pitch = pitch_of(sheet)
        self._teams = {one.object_id: one.team for one in sheet.players}
        if player and player not in self._teams:
            raise ReviewError(f"no player {player} on the match sheet")
        self._player = player or record.player
        self._is_chosen = bool(player)
        kick_us = record.detail.get("kick_us")
        self._about_us = kick_us if isinstance(kick_us, int) else record.ts_us
        self._notes: list[str] = []
        self._samples = self._read(folder)
        self._noise: Noise = noise_of(self._samples, sheet.quality.position_noise_m)

    def _read(self, folder: Path) -> dict[str, Samples]:
        begin_us, end_us = self._about_us - _AROUND_US, self._about_us + _AROUND_US
        if source_of_store(folder).has_recording:
            try:
                capture = Capture.open(folder)
                late_us = capture.late_most_us or _LATE_US
                until_us = min(end_us + late_us + 1, capture.readable_us)
                return samples_of(list(capture.blocks(begin_us, until_us)), begin_us, end_us)
            except CaptureError as error:
                self._notes.append(f"The capture is missing ({error}); filtered positions of the store are taken.")
        else:
            self._notes.append("The match came out of a topic: filtered positions of the store are taken.")
        return _stored(positions_between(folder, begin_us, end_us))

    def review(self, question: str) -> Review:
        """Return the review of a question."""
        record, ball = self._record, self._ball()
        instant = exactly(self._about_us)
        if question in _AT_KICK:
            instant = kick_instant(self._samples.get(ball), self._about_us, self._sheet.quality.ball_hz)
        if question == "offside":
            call, statement = self._offside(instant, ball)
        elif question == "line":
            line = boundary_near(self._pitch, *self._place(ball))
            call = over_line(self._samples, self._noise, self._sheet.quality.ball_hz, self._about_us, ball, line)
            name = "goal line" if line.axis == 0 else "touchline"
            statement = f"the whole ball beyond the {name}, where it was farthest"
        elif question == "area":
            call, statement = self._area(instant, ball)
        else:
            call, statement = self._distance(instant, ball)
        subject = next(point.object_id for point in call.points if point.role == "subject")
        is_ball = raw_kind(subject) == "raw.ball"
        if not is_ball and not self._sheet.quality.limbs:
            self._notes.append("One point stands for a body: the extent of the body is not part of the margin.")
        quality = self._sheet.quality
        return Review(
            record.id, record.kind, kind_name(record.kind), record.ts_us, "" if is_ball else self._teams[subject],
            "" if is_ball else subject, call, statement, quality.ball_hz, quality.body_hz, quality.position_noise_m,
            tuple(self._notes),
        )  # fmt: skip

    def _offside(self, instant: Instant, ball: str) -> tuple[Call, str]:
        team = self._teams.get(self._player, "") or self._record.team
        attacks = self._attacks(team, round(instant.mean_us))
        scene = self._scene(instant)
        names = [self._player]
        if not self._is_chosen and not self._record.kind.startswith("offside."):
            names = [name for name, one in self._teams.items() if one == team and name != self._record.player]
        calls = []
        for name in names:
            if (body := scene.body(name)) is not None and self._pitch.inside(*body.place_m, 0.0):
                calls.append((attacks * body.place_m[0], name))
        if not calls:
            raise ReviewError(f"{', '.join(filter(None, names)) or 'the event'}: no player with positions at the kick")
        return offside(scene, max(calls)[1], attacks, ball, self._pitch), "ahead of the offside line"

    def _area(self, instant: Instant, ball: str) -> tuple[Call, str]:
        subject = self._player or ball
        x_m, _ = self._place(subject)
        return penalty_area(self._scene(instant), subject, end_of(x_m), self._pitch), "inside the penalty area"

    def _distance(self, instant: Instant, ball: str) -> tuple[Call, str]:
        record = self._record
        restart = str(record.detail.get("restart") or record.kind).removeprefix("restart.")
        team = record.team if record.kind == "encroach" else ""
        if not self._is_chosen and not team:
            raise ReviewError("a restart by itself names nobody who was too near; choose a player")
        scene = self._scene(instant)
        if restart in ("goal_kick", "penalty") or record.variant == "penalty area":
            x_m, _ = self._place(ball)
            return penalty_area(scene, self._player, end_of(x_m), self._pitch), "inside the penalty area"
        if record.variant == "1 m wall":
            rivals = [name for name, one in self._teams.items() if one and one != self._teams[self._player]]
            return too_near(scene, self._player, 1.0, rivals), "nearer than 1 m to the wall"
        least_m, place = OPPONENT_DISTANCE_M, (ball,)
        if restart == "corner":
            x_m, y_m = self._place(ball)
            corner = (
                float(np.copysign(self._pitch.half_length_m, x_m)),
                float(np.copysign(self._pitch.half_width_m, y_m)),
            )
            least_m += CORNER_ARC_RADIUS_M
            return too_near(scene, self._player, least_m, corner), f"nearer than {least_m:g} m to the corner"
        if restart == "throw_in":
            least_m = _THROW_M
        return too_near(scene, self._player, least_m, place), f"nearer than {least_m:g} m to the ball"

    def _scene(self, instant: Instant) -> Scene:
        return Scene(self._samples, self._teams, self._noise, instant)

    def _ball(self) -> str:
        """Transmitter of the ball: of several the one that was nearest to the event."""
        x_m, y_m = self._record.x_m or 0.0, self._record.y_m or 0.0
        balls = [one for name, one in self._samples.items() if raw_kind(name) == "raw.ball"]
        if not balls:
            return "ball"

        def distance_m(one: Samples) -> float:
            at = int(np.abs(one.ts_us - self._about_us).argmin())
            return float(np.hypot(one.xyz_m[at, 0] - x_m, one.xyz_m[at, 1] - y_m))

        return min(balls, key=distance_m).transmitter

    def _place(self, object_id: str) -> tuple[float, float]:
        """Sample of an object nearest to the event."""
        own = [one for one in self._samples.values() if one.object_id == object_id or one.transmitter == object_id]
        if not own:
            raise ReviewError(f"{object_id or 'the ball'} has no positions around the event")
        at = int(np.abs(own[0].ts_us - self._about_us).argmin())
        x_m, y_m = own[0].xyz_m[at, :2].tolist()
        return x_m, y_m

    def _attacks(self, team: str, at_us: int) -> float:
        """+1 if a team attacks towards +x at an instant, else -1."""
        rows = self._log.filter(
            pc.and_(pc.equal(self._log["kind"], "direction"), pc.less_equal(self._log["ts_us"], at_us))
        )
        standing: dict[str, tuple[int, str]] = {}
        for row in rows.select(["id", "diff", "ts_us", "team"]).to_pylist():
            if row["diff"] > 0:
                standing[row["id"]] = row["ts_us"], row["team"]
            else:
                standing.pop(row["id"], None)
        right = max(standing.values())[1] if standing else self._sheet.attacks_positive_x
        if not right or not team:
            raise ReviewError("nobody knows yet which team attacks where")
        return 1.0 if right == team else -1.0


def _record(log: pa.Table, event: str) -> EventRecord | None:
    """The last assertion of an event."""
    rows: list[dict[str, Any]] = log.filter(pc.and_(pc.equal(log["id"], event), pc.greater(log["diff"], 0))).to_pylist()
    if not rows:
        return None
    fields = {name: rows[-1][name] for name in EventRecord.__struct_fields__}
    fields["causes"], fields["detail"] = tuple(fields["causes"]), decode_json(fields["detail"], dict[str, Scalar])
    return EventRecord(**fields)


def _stored(rows: pa.Table) -> dict[str, Samples]:
    """Stored positions as samples."""
    found = {}
    for name in pc.unique(rows["object_id"]).to_pylist():
        own = rows.filter(pc.equal(rows["object_id"], name))
        xyz_m = np.column_stack([np.nan_to_num(own[axis].to_numpy()) for axis in ("x_m", "y_m", "z_m")]).astype(float)
        found[name] = Samples(name, own["ts_us"].to_numpy().astype(float), xyz_m, np.ones(len(xyz_m)))
    return found
