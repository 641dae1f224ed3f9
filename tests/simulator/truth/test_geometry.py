"""Truth from geometry: against the detectors on the same noiseless ways, and against what is plain by construction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, combinations
from unittest import mock

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from detectors.ball.lines import GoalMouth, LineCrossing
from detectors.ball.motion import BallMotion
from detectors.bodies.area_watch import AreaWatch
from detectors.play.spots import RestartSpot
from detectors.proximity.near import NearestPlayer, PossessionZone
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState, BodyState, EventPayload, build_frame
from football.pitch import Pitch
from football.truth_kinds import LEVELS
from middleware.events import Event
from simulator.physics.ball import MovingBall
from simulator.physics.ball_motion import BUMP_S
from simulator.records import STEP_S, TICK_S, Col, Contact, PlayedInterval, object_id, team_of_row
from simulator.truth.ball import BallTruth
from simulator.truth.bodies import BodyTruth
from simulator.truth.restart_spots import HOLD_S, SpotTruth
from simulator.truth.shape import ShapeTruth
from simulator.truth.truth_table import Lines
from tests.simulator.handmade import Trajectory, along, at, intervals

SHEET = MatchSheet(attacks_positive_x="home", quality=Quality(ball_hz=2000.0, body_hz=200.0, kind="rtls"))
PITCH = Pitch()
EmittedLine = tuple[str, str, str, float]


def no_limbs(interval: PlayedInterval, person: int, limb: str, t_s: np.ndarray) -> np.ndarray:
    """Limbs that are nowhere near."""
    return np.full((len(t_s), 3), 500.0)


def truth(parts: Sequence[PlayedInterval], limb_positions=no_limbs) -> list[EmittedLine]:
    """Kind, variant, player and second of everything that the geometry of stretches tells."""
    ball, bodies, lines = BallTruth(PITCH), BodyTruth(PITCH, limb_positions), Lines()
    for part in parts:
        ball.take(part, lines)
        bodies.take(part, lines)
    table = lines.table(LEVELS)
    return [(r["kind"], r["variant"], r["player"], r["ts_us"] / 1e6) for r in table.to_pylist()]


def of_kinds(emitted: Sequence[EmittedLine], *kinds: str) -> list[EmittedLine]:
    return [t for t in emitted if t[0] in kinds]


def detected(detector, inputs: Sequence[Event]) -> list[EmittedLine]:
    state, out = detector.initial(), []
    for event in inputs:
        state, found = detector.step(state, event)
        out.extend(found)
    payloads = [(e, e.payload) for e in out if isinstance(e.payload, EventPayload)]
    return sorted((e.kind, f.variant, f.player, e.ts_us / 1e6) for e, f in payloads)


def same(ours: list[EmittedLine], theirs: list[EmittedLine], within_s: float) -> None:
    """Both tell the same, at the same times."""
    ours = sorted(ours)
    assert [t[:3] for t in ours] == [t[:3] for t in sorted(theirs)]
    assert [t[3] for t in ours] == pytest.approx([t[3] for t in sorted(theirs)], abs=within_s)


def ball_states(path: Trajectory, seconds: float) -> list[Event]:
    t_s = np.arange(round(seconds / STEP_S)) * STEP_S
    positions = path(t_s)
    speeds = (path(t_s + 1e-4) - path(t_s - 1e-4)) / 2e-4
    return [
        Event("ball.state", round(t * 1e6), "ball", n, BallState(*p, *v, 500))
        for n, (t, p, v) in enumerate(zip(t_s.tolist(), positions.tolist(), speeds.tolist(), strict=True))
    ]


def frames(seconds: float, persons: dict[int, Trajectory], ball: Trajectory) -> list[Event]:
    """Frames of a camera without errors; the ball's velocity is exact."""
    t_s = np.arange(round(seconds / TICK_S)) * TICK_S
    positions = {row: path(t_s) for row, path in persons.items()}
    balls = ball(t_s)
    speeds = (ball(t_s + 1e-4) - ball(t_s - 1e-4)) / 2e-4
    out = []
    for n, t in enumerate(t_s.tolist()):
        bodies = tuple(
            BodyState(object_id(row), team_of_row(row), "", *positions[row][n].tolist(), 0.0, 0.0, 0.0)  # type: ignore[arg-type]
            for row in sorted(positions, key=object_id)
        )
        out.append(
            Event(
                "frame",
                round(t * 1e6),
                "frame",
                n,
                build_frame(BallState(*balls[n].tolist(), *speeds[n].tolist(), 20_000), bodies),
            )
        )
    return out


# Waypoints off the lines, so that nothing lies on a threshold.
ball_legs = st.lists(
    st.tuples(st.floats(0.2, 0.5), st.floats(-56.03, 56.03), st.floats(-37.04, 37.04), st.floats(0.11, 4.0)),
    min_size=1,
    max_size=3,
)


def walk(legs: Sequence[tuple[float, ...]], start: tuple[float, ...]) -> tuple[Trajectory, float]:
    points = [(0.0, *start)]
    for duration, *position in legs:
        points.append((points[-1][0] + duration, *position))
    return along(*points), points[-1][0]


@settings(max_examples=6, deadline=None)
@given(ball_legs)
def test_lines_and_mouths_are_crossed_as_the_detectors_say_of_the_same_samples(legs) -> None:
    # The ball rests in the end: what truth looks at ends a little before the samples do.
    path, seconds = walk([*legs, (0.5, *legs[-1][1:])], (1.03, 2.07, 0.5))
    emitted = of_kinds(truth(list(intervals(seconds, {}, path))), "ball.crossed", "ball.in_goal", "ball.over_bar")
    samples = ball_states(path, seconds)
    theirs = detected(LineCrossing(SHEET), samples) + detected(GoalMouth(SHEET), samples)
    same(emitted, theirs, 2e-6)


def is_off_the_bounds_of_rest(legs: Sequence[tuple[float, float]]) -> bool:
    """True if no leg has a bound of speed (1, 4 m/s), and no legs together one of time (1.8 s) or of distance (2 m)."""
    times, places = [0.0, *accumulate(d for d, _ in legs)], [0.0, *(x for _, x in legs)]
    pairs = list(combinations(range(len(times)), 2))
    spans_s = [times[j] - times[i] for i, j in pairs]
    ways_m = [abs(places[j] - places[i]) for i, j in pairs]
    speeds_m_s = [way_m / span_s for (i, j), way_m, span_s in zip(pairs, ways_m, spans_s, strict=True) if j == i + 1]
    return not any(
        abs(value - bound) < 0.02
        for values, bounds in ((speeds_m_s, (1.0, 4.0)), (spans_s, (1.8,)), (ways_m, (2.0,)))
        for value in values
        for bound in bounds
    )


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.floats(0.5, 3.0), st.floats(-3.0, 3.0)), min_size=2, max_size=3))
def test_the_ball_rests_and_moves_as_the_detector_says_of_the_same_samples(legs) -> None:
    assume(is_off_the_bounds_of_rest(legs))
    path, seconds = walk([(d, 10.0 + x, 5.0, 0.11) for d, x in legs], (10.0, 5.0, 0.11))
    emitted = of_kinds(truth(list(intervals(seconds, {}, path))), "ball.static", "ball.moving")
    # What a noisy input is allowed over the bounds has no place here: these samples have no noise.
    exact = msgspec.structs.replace(SHEET, quality=msgspec.structs.replace(SHEET.quality, position_noise_m=1e-4))
    same(emitted, detected(BallMotion(exact), ball_states(path, seconds)), 2e-3)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)), min_size=1, max_size=4),
    st.sampled_from([(0.0, 0.0), (41.5, 0.0), (-52.0, 33.8), (49.0, 3.0), (10.0, -33.9), (25.0, 10.0)]),
)
def test_spots_and_takers_are_the_detectors_on_the_same_frames(legs, spot) -> None:
    around = [(d, spot[0] + x, spot[1] + y, 0.11) for d, x, y in legs]
    ball, seconds = walk([*around, (2.0, *around[-1][1:])], (*spot, 0.11))
    seconds = math.floor(seconds / TICK_S) * TICK_S
    persons = {5: at(spot[0] + 0.5, spot[1]), 20: along((0, spot[0] - 9, spot[1]), (3, spot[0], spot[1]))}
    lines, spots = Lines(), SpotTruth(PITCH)
    longer, slower = Lines(), SpotTruth(PITCH)
    for part in intervals(seconds, persons, ball):
        spots.take(part, 32, lines)
        with mock.patch("simulator.truth.restart_spots.HOLD_S", HOLD_S + 0.25):
            slower.take(part, 32, longer)
    # A ball that is slow at a spot for hardly longer than it must be is judged either way within the tolerance below.
    assume(lines.table(LEVELS).num_rows == longer.table(LEVELS).num_rows)
    emitted = [(r["kind"], r["variant"], r["player"], r["ts_us"] / 1e6) for r in lines.table(LEVELS).to_pylist()]
    # The detector reads how slow the ball is from its way of the last fifth of a second.
    same(emitted, detected(RestartSpot(SHEET), frames(seconds, persons, ball)), 0.25)


def test_contacts_bend_the_way_of_the_ball_by_their_own_velocities() -> None:
    hard = Contact(1.0, 3, "left_foot", (0.0, 0.0, 0.11), (3.0, 0.0, 0.0), (-20.0, 0.0, 0.0), "pass")
    soft = Contact(2.0, 3, "left_foot", (0.0, 0.0, 0.9), (8.0, 0.0, 0.0), (5.0, 0.5, 0.0), "trap", 0.1)
    emitted = truth(list(intervals(4.0, {}, at(0.0, 0.0, 0.11), (hard, soft))))
    assert of_kinds(emitted, "ball.accel_peak", "ball.turn", "ball.speed_step") == [
        ("ball.accel_peak", "hard", "", 1.0045), ("ball.turn", "ground", "", 1.0045),
        ("ball.accel_peak", "touch", "", 2.05), ("ball.speed_step", "down", "", 2.05),
    ]  # fmt: skip


body_legs = st.lists(st.tuples(st.floats(1.0, 4.0), st.floats(-54, 54), st.floats(-35, 35)), min_size=1, max_size=3)


@settings(max_examples=8, deadline=None)
@given(
    body_legs,
    body_legs,
    st.lists(
        st.tuples(st.floats(1, 4), st.floats(-56, 56), st.floats(-37, 37), st.floats(0, 4)), min_size=1, max_size=3
    ),
)
def test_areas_zones_and_nearest_players_are_the_detectors_on_the_same_frames(one, two, ball) -> None:
    (first, a_s), (second, b_s), (kick, c_s) = (
        walk(one, (3.0, 4.0)),
        # Never as far from the ball as the other: of two at one distance either may be the nearest.
        walk([(s, x + 0.31, y + 0.17) for s, x, y in two], (-5.0, -6.0)),
        walk(ball, (0.0, 1.0, 0.5)),
    )
    seconds = math.floor(min(a_s, b_s, c_s) / TICK_S) * TICK_S
    persons = {4: first, 20: second}
    emitted = truth(list(intervals(seconds, persons, kick)))
    seen = frames(seconds, persons, kick)
    same(of_kinds(emitted, "area.enter", "area.leave"), detected(AreaWatch(SHEET), seen), 1e-6)
    same(of_kinds(emitted, "pz.enter", "pz.leave"), detected(PossessionZone(), seen), TICK_S + 1e-6)
    same(of_kinds(emitted, "nearest.changed"), detected(NearestPlayer(), seen), 1e-6)


@settings(max_examples=8, deadline=None)
@given(ball_legs, st.sampled_from([0.5, 1.0, 3.0]))
def test_what_is_told_does_not_depend_on_how_a_match_is_cut(legs, each_s: float) -> None:
    path, seconds = walk(legs, (1.03, 2.07, 0.5))
    persons = {5: along((0, 0, 0), (2, 15, 3), (8, -20, 5)), 17: at(-50.0, 0.0)}
    seconds = math.floor(seconds / TICK_S) * TICK_S
    assert truth(list(intervals(seconds, persons, path, each_s=each_s))) == truth(
        list(intervals(seconds, persons, path, each_s=100.0))
    )


def test_a_dropped_ball_bounces_at_the_ground_and_then_lies_still() -> None:
    ball = MovingBall((10.0, 0.0, 2.0), 105.0, 68.0)
    ticks = [ball.advance() for _ in range(400)]
    positions = np.concatenate([tick.positions for tick in ticks])
    speeds = np.concatenate([tick.velocities for tick in ticks])
    steps = np.arange(len(positions)) * STEP_S
    parts = list(intervals(8.0, {}, at(10.0, 0.0, 0.11)))
    for part in parts:
        inside = slice(*np.searchsorted(steps, [part.begin_s - 1e-9, part.end_s - 1e-9]))
        part.balls[0], part.ball_velocity[:] = positions[inside], speeds[inside]
    bounces = [t[3] for t in of_kinds(truth(parts), "ball.bounce")]
    grounds = [n * TICK_S + b.t_s for n, tick in enumerate(ticks) for b in tick.bumps if b.what == "ground"]
    assert len(grounds) > 3
    assert bounces == pytest.approx(grounds[: len(bounces)], abs=BUMP_S)
    # Of those that it gives the smallest ones may be too slow to be called bounces.
    assert len(bounces) >= len(grounds) - 2
    assert of_kinds(truth(parts), "ball.static")


def test_a_ball_that_is_played_upwards_has_not_bounced() -> None:
    path = along((0.0, 0.0, 0.0, 2.0), (0.4, 0.0, 0.0, 0.15), (0.8, 0.0, 0.0, 2.0), (2.0, 0.0, 0.0, 2.0))
    kick = Contact(0.395, 3, "left_foot", (0.0, 0.0, 0.15), (0.0, 0.0, -4.6), (0.0, 0.0, 4.6), "pass")
    assert not of_kinds(truth(list(intervals(2.0, {}, path, (kick,)))), "ball.bounce")
    assert of_kinds(truth(list(intervals(2.0, {}, path))), "ball.bounce")


def test_heights_speeds_and_rings_are_dated_at_their_beginning() -> None:
    path = along(
        (0.0, 0.0, 0.0, 0.11),
        (2.0, 20.0, 0.0, 0.11),
        (4.0, 60.0, 0.0, 4.11),
        (4.02, 60.0, 0.0, 0.11),
        (6.0, 60.0, 0.0, 0.11),
    )
    emitted = truth(list(intervals(6.0, {}, path)))
    assert of_kinds(emitted, "ball.height") == [
        ("ball.height", "low", "", pytest.approx(2.095, abs=1e-3)),
        ("ball.height", "head", "", pytest.approx(2.695, abs=1e-3)),
        ("ball.height", "high", "", pytest.approx(3.165, abs=1e-3)),
        ("ball.height", "ground", "", pytest.approx(4.019, abs=2e-3)),
    ]
    assert [t[1] for t in of_kinds(emitted, "ball.speed")] == ["drive", "roll"]
    rings = {t[1]: t[3] for t in of_kinds(emitted, "goal_ring") if t[1].startswith("right")}
    assert rings == {
        "right 35 m": pytest.approx(1.75, abs=1e-3), "right 25 m": pytest.approx(2.375, abs=1e-3),
        "right 16.5 m": pytest.approx(2.8, abs=1e-3), "right 11 m": pytest.approx(3.075, abs=1e-3),
    }  # fmt: skip


def test_nothing_is_crossed_when_another_ball_is_taken() -> None:
    parts = list(intervals(4.0, {}, at(0.0, 0.0, 0.11)))
    parts[1].active[:] = 3  # lies beyond the touch line
    kinds = {t[0] for t in truth(parts)}
    assert "ball.crossed" not in kinds
    assert "ball.active_changed" in kinds
    assert "area.leave" in kinds  # where the ball in play is does change


def speeds(*legs: tuple[float, float]) -> Trajectory:
    """Runs along x so long at so many km/h, one after the other."""
    points = [(0.0, -40.0, 0.0)]
    for seconds, kmh in legs:
        points.append((points[-1][0] + seconds, points[-1][1] + seconds * kmh / 3.6, 0.0))
    return along(*points)


def test_intensities_shorter_than_a_second_count_to_the_next_one() -> None:
    path = speeds(
        (3, 0), (0.6, 8), (2, 12), (0.5, 8), (2, 12), (0.4, 15), (0.4, 20), (3, 26), (0.2, 20), (1.2, 30), (2.8, 0.5)
    )
    emitted = truth(list(intervals(16.0, {2: path}, at(0, 0, 0.11))))
    assert of_kinds(emitted, "run.intensity") == [
        ("run.intensity", "standing", "home_3", pytest.approx(0.0, abs=0.03)),
        ("run.intensity", "low", "home_3", pytest.approx(3.0, abs=0.03)),
        ("run.intensity", "sprint", "home_3", pytest.approx(8.1, abs=0.03)),
        ("run.intensity", "standing", "home_3", pytest.approx(13.3, abs=0.03)),
    ]
    assert [(t[0], t[3]) for t in of_kinds(emitted, "sprint.start", "sprint.end")] == [
        ("sprint.start", pytest.approx(8.9, abs=0.03)), ("sprint.end", pytest.approx(11.9, abs=0.03)),
        ("sprint.start", pytest.approx(12.1, abs=0.03)), ("sprint.end", pytest.approx(13.3, abs=0.03)),
    ]  # fmt: skip


@pytest.mark.parametrize(("gain", "efforts"), [(2.8, []), (3.5, ["3 m/s2"]), (4.5, ["3 m/s2", "4 m/s2"])])
def test_an_effort_is_an_acceleration_that_is_kept(gain: float, efforts: list[str]) -> None:
    def path(t_s: np.ndarray) -> np.ndarray:
        ran_s = np.clip(t_s - 2.0, 0.0, 1.0)
        return np.stack([0.5 * gain * ran_s**2 + gain * np.maximum(t_s - 3.0, 0.0), 0 * t_s], axis=1)

    emitted = truth(list(intervals(6.0, {2: path}, at(0, 0, 0.11))))
    assert [t[1] for t in of_kinds(emitted, "accel.effort")] == efforts
    assert not of_kinds(emitted, "decel.effort")
    assert all(t[3] == pytest.approx(2.05, abs=0.12) for t in of_kinds(emitted, "accel.effort"))


def test_a_jump_counts_from_twelve_centimetres_and_a_tenth_of_a_second() -> None:
    def rise(t_s: np.ndarray) -> np.ndarray:
        high = np.where((t_s > 1.0) & (t_s < 1.4), 0.3, 0.0)
        return high + np.where((t_s > 3.0) & (t_s < 3.1), 0.3, 0.0) + np.where(t_s > 4.0, 0.08, 0.0)

    emitted = truth(list(intervals(6.0, {9: at(0, 0)}, at(5, 0, 0.11), extra={(9, Col.RISE): rise})))
    assert of_kinds(emitted, "jump.take_off", "jump.land") == [
        ("jump.take_off", "", "home_10", pytest.approx(1.02, abs=0.021)),
        ("jump.land", "", "home_10", pytest.approx(1.4, abs=0.021)),
    ]


def test_limbs_come_near_and_leave_by_their_own_distance() -> None:
    def foot(interval: PlayedInterval, person: int, limb: str, t_s: np.ndarray) -> np.ndarray:
        x = 3.0 - 1.0 * t_s if limb == "left_foot" else 0 * t_s + 9.0
        return np.stack([x, 0 * t_s, 0 * t_s + 0.11], axis=1)

    emitted = truth(list(intervals(6.0, {7: at(1.0, 0.0)}, at(0, 0, 0.11))), foot)
    assert of_kinds(emitted, "near", "not_near") == [
        ("near", "left_foot", "home_8", pytest.approx(2.0, abs=1e-3)),
        ("not_near", "left_foot", "home_8", pytest.approx(4.2, abs=1e-3)),
    ]


def test_who_is_far_away_is_near_no_more_even_if_nobody_looked() -> None:
    def foot(interval: PlayedInterval, person: int, limb: str, t_s: np.ndarray) -> np.ndarray:
        x = np.where(t_s < 2.0, 0.5, 50.0) if limb == "left_foot" else 0 * t_s + 9.0
        return np.stack([x, 0 * t_s, 0 * t_s + 0.11], axis=1)

    emitted = truth(list(intervals(6.0, {7: along((0, 1, 0), (1.98, 1, 0), (2.0, 50, 0))}, at(0, 0, 0.11))), foot)
    assert [t[0] for t in of_kinds(emitted, "near", "not_near")] == ["near", "not_near"]


def test_lines_are_sorted_numbered_and_their_causes_resolved() -> None:
    lines = Lines()
    second = lines.add("hit", 2.0, 3, (1.0, 2.0, 0.5), "left_foot", detail={"what": "pass", "n": np.float64(2.5)})
    lines.add("bodypart", 2.0, 3, variant="left foot", causes=(second,))
    lines.add("near", 1.0, 20, causes=(-1,))
    table = lines.table(LEVELS).to_pylist()
    assert [(r["id"], r["kind"], r["level"], r["team"], r["player"]) for r in table] == [
        ("truth#0", "near", 4, "away", "away_5"), ("truth#1", "bodypart", 5, "home", "home_4"),
        ("truth#2", "hit", 5, "home", "home_4"),
    ]  # fmt: skip
    assert table[1]["causes"] == ["truth#2"]
    assert table[0]["causes"] == []  # that row of play is not among them
    assert table[0]["x_m"] is None
    assert msgspec.json.decode(table[2]["detail"]) == {"what": "pass", "n": 2.5}


def shape(persons: dict[int, Trajectory], seconds: float = 6.0, sign=(1.0, -1.0)) -> list[EmittedLine]:
    """Lines of the truth about the shape of these persons."""
    playing = np.zeros(35, bool)
    playing[list(persons)] = True
    lines, shapes = Lines(), ShapeTruth(PITCH)
    for part in intervals(seconds, persons, at(0, 0, 0.11)):
        shapes.take(part, playing, sign, lines)
    return [(r["kind"], r["team"], r["player"], r["ts_us"] / 1e6) for r in lines.table(LEVELS).to_pylist()]


def test_opponents_come_close_and_part_again() -> None:
    emitted = shape({3: at(0.0, 0.0), 20: along((0, 9, 0), (3, 0, 0), (6, 9, 0)), 21: at(30.0, 0.0)})
    assert emitted == [
        ("opponents.near", "away", "away_5", pytest.approx(2.0, abs=0.21)),
        ("opponents.apart", "away", "away_5", pytest.approx(4.2, abs=0.21)),
    ]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shape_and_last_line_by_the_outfield_players(sign: float) -> None:
    def team(length: float, width: float, back: float) -> dict[int, Trajectory]:
        keeper = {0: at(-52.0 * sign, 0.0)}
        last = {n: at((back - 52.5) * sign, (n - 1) * width / 3 - width / 2) for n in range(1, 5)}
        return {**keeper, **last, 5: at((back + length - 52.5) * sign, 0.0)}

    cases = {(40.0, 50.0, 45.0): {"shape.long", "shape.wide", "line.high"},
             (20.0, 25.0, 20.0): {"shape.short", "shape.narrow", "line.low"},
             (30.0, 40.0, 30.0): {"line.mid"}}  # fmt: skip
    for measures, kinds in cases.items():
        emitted = shape(team(*measures), sign=(sign, -sign))
        assert {t[0] for t in emitted} == kinds
        assert all(t[1] == "home" and t[3] == 0.0 for t in emitted)


def test_a_shape_must_last_a_second() -> None:
    last = {n: at(-20.0, 9.0 * n - 20.0) for n in range(1, 5)}
    for seconds, expected in ((0.8, 0), (1.4, 1)):
        front = along((0, 10, 0), (2, 10, 0), (2.01, 30, 0), (2 + seconds, 30, 0), (2.01 + seconds, 10, 0), (9, 10, 0))
        emitted = shape({0: at(-52.0, 0.0), **last, 5: front}, 8.0)
        assert len([t for t in emitted if t[0] == "shape.long"]) == expected
