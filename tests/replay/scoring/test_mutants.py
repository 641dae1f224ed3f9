"""A detector with a seeded fault loses score: truth is counted otherwise than the detectors compute.

Passes are made by hand among players who run as functions of time. The simulator's truth looks at the noiseless ball
and bodies; the detectors get the passes, and the same bodies as frames.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from detectors.control import shape
from detectors.control.scene import SceneMaker
from detectors.control.shape import LineHeight, TeamShape
from detectors.emission import make_event
from detectors.outcomes import offside
from detectors.outcomes.offside import OffsideLine
from detectors.qualifiers import heights, lines
from detectors.qualifiers.gains import Packing, PackingState, ProgressivePlay
from detectors.qualifiers.heights import PassHeight
from detectors.qualifiers.lines import ThroughBall
from detectors.qualifiers.pass_qualifier import PassPath, Qualification
from detectors.qualifiers.passes import Cross, PassDirection, PassLength, SwitchOfPlay
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import BallState, BodyState, EventPayload, Frame, build_frame
from football.pitch import Pitch
from football.truth_kinds import LEVELS
from football.update_stream import EventRecord
from middleware.detector import Detector
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from replay.scoring.figures import KindScore, score
from replay.scoring.truth import Truth, true_marks
from simulator.records import KEEPERS, PERSONS, TICK_S, Row, object_id, team_of_row
from simulator.truth.ball import BallTruth
from simulator.truth.match_truth import records_of
from simulator.truth.passes import PassTruth
from simulator.truth.shape import ShapeTruth
from simulator.truth.truth_table import Lines
from tests.simulator.handmade import Trajectory, along, at, intervals

SHEET = MatchSheet(
    attacks_positive_x="home",
    players=tuple(Player(object_id(row), team_of_row(row), goalkeeper=True) for row in KEEPERS),
)
EVERYBODY = np.arange(PERSONS) < 32
PERIOD_S = 4.0

#: Passes of home_6: start, end, highest point, what the player meant, how it ended.
PASSES = (
    ((0.0, 0.0), (10.0, 3.0), 0.11, "pass", "pass.complete"),
    ((0.0, 0.0), (-4.0, 14.0), 0.6, "pass", "pass.complete"),
    ((0.0, 0.0), (4.0, -14.0), 0.11, "pass", "pass.intercepted"),
    ((10.0, 0.0), (-9.0, 2.0), 0.11, "back", "pass.complete"),
    ((-5.0, -25.0), (5.0, 20.0), 3.0, "switch", "pass.complete"),
    ((-45.0, 5.0), (-10.0, 5.0), 3.0, "long", "pass.complete"),
    ((5.0, 0.0), (22.0, 1.0), 0.11, "pass", "pass.complete"),
    ((20.0, 0.0), (41.0, 1.0), 0.11, "through", "pass.complete"),
    ((40.0, 28.0), (45.0, 2.0), 3.0, "cross", "pass.complete"),
    ((38.0, -28.0), (44.0, -1.0), 3.0, "cross", "pass.intercepted"),
    ((50.0, 14.0), (42.0, 1.0), 0.11, "cutback", "pass.complete"),
)

#: The back lines of both teams, who stand, and forwards who move, so that shapes and lines change.
PERSONS_AT: dict[int, Trajectory] = {
    0: at(-51.0, 0.0),
    **{n: at(-30.0 + n, 12.0 * n - 30.0) for n in range(1, 5)},
    5: at(1.0, 1.0),
    9: along((0.0, 5.0, 0.0), (9.0, 5.0, 0.0), (13.0, -8.0, 0.0), (25.0, -8.0, 0.0), (30.0, 14.0, 0.0)),
    16: at(51.0, 0.0),
    **{16 + n: at(32.0 - n, 11.0 * n - 27.0) for n in range(1, 5)},
    21: along((0.0, 7.0, 5.0), (20.0, 7.0, 5.0), (24.0, 12.0, -4.0)),
    22: along((0.0, 15.0, -4.0), (12.0, 15.0, -4.0), (16.0, -14.0, 4.0), (30.0, -14.0, 4.0), (33.0, 12.0, 4.0)),
}


def kicks() -> Iterator[tuple[float, float]]:
    """Kick and end of each pass, seconds."""
    return ((1.0 + PERIOD_S * n, 2.2 + PERIOD_S * n) for n in range(len(PASSES)))


def ball(t_s: np.ndarray) -> np.ndarray:
    """The ball goes straight over ground and in an arc above it, then lies at the next start."""
    number = np.clip(t_s // PERIOD_S, 0, len(PASSES) - 1).astype(int)
    kick_s, end_s = (np.array(times)[number] for times in zip(*kicks(), strict=True))
    start, end = (np.array([one[at] for one in PASSES])[number] for at in (0, 1))
    share = np.clip((t_s - kick_s) / (end_s - kick_s), 0.0, 1.0)
    over_m = (np.array([one[2] for one in PASSES])[number] - 0.11) * np.sin(np.pi * share)
    return np.column_stack([start + (end - start) * share[:, None], 0.11 + over_m])


class Scene(msgspec.Struct):
    """Truth of all kinds, and raw and lower events for the detectors."""

    truth: Truth
    events: list[Event]


@pytest.fixture(scope="module")
def scene() -> Scene:
    seconds = PERIOD_S * len(PASSES)
    rows: list[Row] = []
    events = [make_event("direction", 0, "d", EventPayload(team="home"))]
    events.append(make_event("ball.height", 0, "h", EventPayload("ground")))
    for number, ((start, end, _, what, kind), (kick_s, end_s)) in enumerate(zip(PASSES, kicks(), strict=True)):
        rows.append(Row("pass.attempt", kick_s, 5, "home", (*start, 0.11), "", {"what": what}))
        rows.append(Row(kind, end_s, 5, "home", (*end, 0.11), "", {"receiver": "home_10"}, (2 * number,)))
        sent = {"vx_m_s": 0.0, "vy_m_s": 0.0, "vz_m_s": 0.0}
        kicked = EventPayload("", "home", "home_6", *start, detail=sent)
        events.append(make_event("pass.attempt", round(kick_s * 1e6), f"k{number}", kicked))
        detail = {"start_x_m": start[0], "start_y_m": start[1], "kick_us": round(kick_s * 1e6), "receiver": "home_10"}
        ended = EventPayload("", "home", "home_6", *end, detail=detail)
        events.append(make_event(kind, round(end_s * 1e6), f"k{number}", ended))
    found, balls, shapes, passes = Lines(), BallTruth(Pitch()), ShapeTruth(Pitch()), PassTruth(Pitch())
    playing = EVERYBODY & np.isin(np.arange(PERSONS), list(PERSONS_AT))
    for interval in intervals(seconds, PERSONS_AT, ball):
        balls.take(interval, found)
        passes.take(interval, rows, playing, (1.0, -1.0), found)
        shapes.take(interval, playing, (1.0, -1.0), found)
    found.add_rows(rows, seconds)
    records = records_of(found.table(LEVELS))
    marks = true_marks(records)
    for record in records:
        if record.kind == "ball.height":
            events.append(make_event("ball.height", record.ts_us, f"h{record.ts_us}", EventPayload(record.variant)))
    times_s = np.arange(0.0, seconds, 2 * TICK_S)
    balls_at, bodies_at = ball(times_s), {row: path(times_s) for row, path in PERSONS_AT.items()}
    for number, t_s in enumerate(times_s.tolist()):
        bodies = tuple(
            BodyState(object_id(row), team_of_row(row), "", *path[number].tolist(), 0.0, 0.0, 0.0)  # type: ignore[arg-type]
            for row, path in sorted(bodies_at.items(), key=lambda one: object_id(one[0]))
        )
        state = BallState(*balls_at[number].tolist(), 0.0, 0.0, 0.0, 40_000)
        events.append(Event("frame", round(t_s * 1e6), "frame", number, build_frame(state, bodies)))
    events.sort(key=lambda event: (event.ts_us, event.kind != "frame"))
    return Scene(Truth("scene", marks, frozenset(mark.kind for mark in marks)), events)


def judged(scene: Scene, detector: Detector[Any], *kinds: str) -> dict[str, KindScore]:
    """Figures of some kinds, of one detector on the scene."""
    inputs = {kind for kind in detector.spec.inputs if kind != "scene"}
    detectors: list[Detector[Any]] = [detector]
    if "scene" in detector.spec.inputs:
        detectors.insert(0, SceneMaker(SHEET))
        inputs |= set(detectors[0].spec.inputs)
    events = [event for event in scene.events if event.kind in inputs]
    records = RecordMaker(detectors, SHEET)
    out = published(Hierarchy(tuple(sorted(inputs)), detectors), events)
    found: Sequence[EventRecord] = [records.record(e) for e in out if e.kind in kinds]
    return {kind: figures for kind, figures in score(scene.truth, found).kinds.items() if kind in kinds}


KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "direction": (lambda: PassDirection(), ("pass.dir",)),
    "length": (lambda: PassLength(), ("pass.len",)),
    "height": (lambda: PassHeight(), ("pass.height",)),
    "cross": (lambda: Cross(SHEET), ("cross", "cutback")),
    "switch": (lambda: SwitchOfPlay(), ("pass.switch",)),
    "progress": (lambda: ProgressivePlay(SHEET), ("progress.pass",)),
    "packing": (lambda: Packing(), ("packing",)),
    "through": (lambda: ThroughBall(SHEET), ("pass.through",)),
    "line": (lambda: OffsideLine(), ("offside.line",)),
    "shape": (lambda: TeamShape(SHEET), ("shape.long", "shape.short", "shape.wide", "shape.narrow")),
    "last line": (lambda: LineHeight(SHEET), ("line.low", "line.mid", "line.high")),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_detectors_agree_with_the_count_over_noiseless_tracks(scene: Scene, name: str) -> None:
    make, kinds = KINDS[name]
    figures = judged(scene, make(), *kinds)
    assert figures, "the scene has none"
    for kind, one in figures.items():
        assert (kind, one.strict_f1) == (kind, 1.0), (one, scene.truth.of(kind))


_word, _length, _cross = PassDirection._word, PassLength._word, Cross._word
_ahead, _extent = Packing._ahead, shape._extent


def _last(frame: Frame, team: Team, attacks: Team, ball_u_m: float) -> float | None:
    sign = 1.0 if team == attacks else -1.0
    return max(*(sign * b.x_m for b in frame.players if b.team != team), ball_u_m, 0.0)


def _with_keeper(players: Sequence[BodyState], sign: float, keepers: Collection[str]) -> object:
    return None, sorted(players, key=lambda body: sign * body.x_m)


def _other_side(self: Cross, path: PassPath) -> Qualification | None:
    found = _cross(self, path)
    return found and found._replace(variant="right" if found.variant == "left" else "left")


def _mates(self: Packing, state: PackingState, payload: EventPayload) -> int | None:
    return _ahead(self, state, msgspec.structs.replace(payload, team="away" if payload.team == "home" else "home"))


#: Fault -> the detector that has it, what is replaced, by what.
FAULTS: dict[str, tuple[str, object, str, object]] = {
    "left is right": ("direction", PassDirection, "_word", lambda self, u, w: _word(self, u, -w)),
    "home's view for away": ("direction", PassDirection, "_word", lambda self, u, w: _word(self, -u, -w)),
    "length along the pitch only": (
        "length",
        PassLength,
        "_word",
        lambda self, path: _length(self, path._replace(to_w_m=path.from_w_m)),
    ),
    "ground and low exchanged": ("height", heights, "HEIGHTS", ("low", "ground", "head", "high")),
    "left wing is right": ("cross", Cross, "_word", _other_side),
    "every pass is a cross": ("cross", Cross, "_word", lambda self, path: Qualification("cross", "left")),
    "a switch along the pitch": ("switch", SwitchOfPlay, "at_end", lambda *_: Qualification("pass.switch")),
    "progress to the own goal": ("progress", ProgressivePlay, "_away_m", lambda self, u, w: 52.5 + u),
    "mates are packed": ("packing", Packing, "_ahead", _mates),
    "all are through": ("through", lines, "is_through", lambda path, line: True),
    "none is through": ("through", lines, "is_through", lambda path, line: False),
    "the last opponent is the line": ("line", offside, "offside_line_m", _last),
    "half of the extent": ("shape", shape, "_extent", lambda values: _extent(values) / 2.0),
    "the goalkeeper has a place in the shape": ("shape", shape, "outfield", _with_keeper),
    "the goalkeeper is in the last line": ("last line", shape, "outfield", _with_keeper),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_loses_score(scene: Scene, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, owner, attribute, wrong = FAULTS[fault]
    make, kinds = KINDS[name]
    monkeypatch.setattr(owner, attribute, wrong)
    figures = judged(scene, make(), *kinds)
    assert min(one.strict_f1 for one in figures.values()) < 1.0, figures
