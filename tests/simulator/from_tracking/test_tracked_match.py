"""From real to RTLS: smooth ways that keep places, times, touches and names of what a camera saw."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from football.constants import BALL_RADIUS_M
from football.errors import TrackingError
from football.match_sheet import MatchSheet, Player
from football.recording import Recording, Track, track_order
from replay.formats.tracking import read_tracking
from simulator.from_tracking.tracked_ball import ball_path, break_times, cleaned, path_breaks
from simulator.from_tracking.tracked_match import Touch, TrackedMatch
from simulator.from_tracking.tracked_paths import GRID_S, PERSON_MAX_M_S, PERSON_MAX_M_S2, body_path, on_grid, whittaker
from simulator.physics.ball import CONTACT_S, MovingBall, launch, rolling
from simulator.physics.limbs import TOUCH_M, limb_paths
from simulator.records import FOUR_LIMBS, KEEPERS, REFEREES, SQUAD, STEP_S, TICK_S, Col
from tests.examples import in_two_lengths

FRAME_US = 40_000


def test_smoothing_is_the_least_squares_that_it_says():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=(30, 2)), rng.integers(0, 3, 30).astype(float)
    third = np.diff(np.eye(30), 3, axis=0)
    dense = np.linalg.solve(np.diag(weights) + 7.0 * third.T @ third, weights[:, None] * values)
    assert np.allclose(whittaker(values, weights, 7.0), dense, atol=1e-8)


def test_a_flight_passes_the_smoothing_unchanged():
    t = np.arange(40) * GRID_S
    flight = np.column_stack([12 * t, 3 * t, 1 + 6 * t - 4.9 * t * t])
    assert np.allclose(whittaker(flight, np.ones(40), 20.0), flight, atol=1e-6)


def test_a_person_who_jumps_to_another_place_runs_there():
    positions = np.zeros((400, 2))
    positions[:, 0] = np.arange(400) * GRID_S * 3.0
    positions[200:, 1] = 8.0
    path = body_path(positions, np.ones(400))
    velocity = np.diff(path, axis=0) / GRID_S
    assert np.hypot(*velocity.T).max() <= PERSON_MAX_M_S
    assert np.hypot(*(np.diff(velocity, axis=0) / GRID_S).T).max() <= PERSON_MAX_M_S2
    assert np.abs(path[:120] - positions[:120]).max() < 0.05
    assert np.abs(path[280:] - positions[280:]).max() < 0.05


def test_one_wrong_frame_leaves_no_trace():
    positions = np.column_stack([np.arange(200) * GRID_S * 5.0, np.zeros(200)])
    wrong = positions.copy()
    wrong[100, 1] += 6.0
    assert np.abs(body_path(wrong, np.ones(200)) - positions).max() < 0.01


def test_gaps_are_crossed_and_slow_sources_are_filled():
    t = np.arange(0, 20, 0.1)
    measured = t[(t < 6.0) | (t > 11.0)]
    positions = np.column_stack([2.0 * measured, np.sin(measured)])
    values, weights = on_grid(measured, positions, 0, 500)
    assert weights[:150].sum() >= 60
    assert not weights[155:270].any()
    path = body_path(values, weights)
    truth = np.column_stack([2.0 * np.arange(500) * GRID_S, np.sin(np.arange(500) * GRID_S)])
    assert np.abs(path - truth)[:145].max() < 0.05
    assert np.abs(np.diff(path[:, 0]) / GRID_S - 2.0)[5:-8].max() < 0.2


def zigzag(rng: np.random.Generator, corner_s: list[float], n: int) -> np.ndarray:
    """A ball that goes straight between corners, on the grid."""
    t = np.arange(n) * GRID_S
    position, at, out = np.array([0.0, 0.0, BALL_RADIUS_M]), 0.0, np.empty((n, 3))
    for until in [*corner_s, math.inf]:
        size, angle = rng.uniform(4.0, 25.0), rng.uniform(-math.pi, math.pi)
        velocity = np.array([size * math.cos(angle), size * math.sin(angle), 0.0])
        inside = (t >= at) & (t < until)
        out[inside] = position + velocity * (t[inside] - at)[:, None]
        if until < math.inf:
            position, at = position + velocity * (until - at), until
    return out


def test_a_ball_that_is_elsewhere_for_one_frame_makes_no_corner():
    values = np.column_stack([np.arange(60) * 0.4, np.zeros(60), np.full(60, BALL_RADIUS_M)])
    wrong = values.copy()
    wrong[30, 1] = 5.0
    clean, weights = cleaned(wrong, np.ones(60))
    assert np.allclose(clean, values)
    assert weights.sum() == 59
    assert len(path_breaks(clean, weights)) == 0


@in_two_lengths(5, 40, seed=st.integers(0, 2**32 - 1), noise_m=st.sampled_from([0.0, 0.01]))
def test_corners_keep_their_times_and_become_contacts(seed: int, noise_m: float):
    rng = np.random.default_rng(seed)
    corner_s = np.cumsum(rng.uniform(0.5, 1.5, 8)).tolist()
    exact = zigzag(rng, corner_s, 400)
    values = exact + rng.normal(0.0, noise_m, exact.shape) * (1, 1, 0)
    found = path_breaks(values, np.ones(400))
    times = break_times(values, 0, found)
    turns = np.linalg.norm(np.diff(np.diff(exact, axis=0), axis=0), axis=1) / GRID_S
    for t in corner_s:
        i = round(t / GRID_S)
        if turns[i - 3 : i + 3].sum() > 5.0:
            assert np.abs(times - t).min() < 0.04
    path = ball_path(values, np.ones(400), 0, times, np.full(len(times), CONTACT_S))
    frames = np.arange(400) * GRID_S
    clear = np.abs(frames[:, None] - times).min(axis=1) > 0.006
    assert np.linalg.norm(path.at(frames)[0] - exact, axis=1)[clear].max() < 0.06 + 5.0 * noise_m
    steps_s = np.arange(0.0, 15.9, STEP_S)
    positions, velocities = path.at(steps_s)
    assert np.allclose(np.diff(positions, axis=0) / STEP_S, 0.5 * (velocities[1:] + velocities[:-1]), atol=0.4)
    # A change of velocity by the half sine over the contact, and nothing quicker.
    hardest = 50.0 * math.pi / 2.0 / CONTACT_S * STEP_S
    assert np.linalg.norm(np.diff(velocities, axis=0), axis=1).max() < hardest
    for t in times.tolist():
        (_, v0), (_, v1) = path.at(np.array([t - CONTACT_S / 2])), path.at(np.array([t + CONTACT_S / 2]))
        inside = (steps_s > t - CONTACT_S / 2) & (steps_s < t + CONTACT_S / 2)
        pull = np.linalg.norm(np.diff(velocities[inside], axis=0), axis=1) / STEP_S
        expected = np.linalg.norm(v1 - v0) * math.pi / 2.0 / CONTACT_S
        assert pull.max() == pytest.approx(expected, rel=0.1, abs=20.0)


def recording(ball: np.ndarray, persons: dict[str, np.ndarray], begin_us: int = 0) -> Recording:
    """Frames at 25 Hz: ball (n, 3), persons (n, 2); NaN: not seen."""

    def track(name: str, rows: np.ndarray) -> Track:
        measured = np.flatnonzero(~np.isnan(rows[:, 0]))
        z = rows[measured, 2] if rows.shape[1] == 3 else np.zeros(len(measured))
        return Track(name, begin_us + measured * FRAME_US, rows[measured, 0], rows[measured, 1], z)

    tracks = [track("ball", ball), *(track(name, rows) for name, rows in persons.items())]
    players = tuple(
        Player(name, "home" if name.startswith("home") else "away", goalkeeper=name.endswith("_1"))
        for name in persons
        if not name.startswith("ref")
    )
    return Recording(MatchSheet(players=players), tuple(sorted(tracks, key=lambda t: track_order(t.transmitter))))


SPOTS = {"home_7": (-20.0, 5.0), "home_9": (0.0, -8.0), "away_4": (15.0, 10.0), "home_1": (-50.0, 0.0)}


def passes() -> tuple[Recording, list[tuple[float, str]]]:
    """Four who stand and pass the ball on along the ground and through the air; and when they touched it."""
    order = ["home_7", "home_9", "away_4", "home_7", "away_4", "home_9"]
    ball = MovingBall((*SPOTS["home_7"], BALL_RADIUS_M), 105.0, 68.0)
    touches, frames, due = [], [], 1.0
    on = 0
    for n in range(round(24.0 / TICK_S)):
        now = n * TICK_S
        x, y, _ = ball.position
        if on + 1 < len(order) and now >= due:
            there = SPOTS[order[on + 1]]
            gap = math.dist((x, y), there)
            if on % 2:
                velocity = launch(ball.position, (*there, 0.2), flight_s=gap / 14.0)
            else:
                speed = rolling(gap, 4.0)
                velocity = ((there[0] - x) / gap * speed, (there[1] - y) / gap * speed, 0.0)
            ball.strike(velocity)
            touches.append((now + CONTACT_S / 2, order[on]))
            on, due = on + 1, math.inf
        elif due == math.inf and math.dist((x, y), SPOTS[order[on]]) < 0.4:
            ball.strike((0.3, 0.2, 0.0))
            touches.append((now + CONTACT_S / 2, order[on]))
            due = now + 1.2
        frames.append(ball.advance().positions[0])
    measured = np.array(frames)[::2]
    rng = np.random.default_rng(3)
    persons = {name: rng.normal(0.0, 0.01, (len(measured), 2)) + spot for name, spot in SPOTS.items()}
    return recording(measured + rng.normal(0.0, 0.01, measured.shape), persons), touches


@pytest.fixture(scope="module")
def played() -> tuple[TrackedMatch, list[tuple[float, str]]]:
    frames, touches = passes()
    return TrackedMatch(frames), touches


def test_every_touch_is_found_in_time_by_whom_it_was(played: tuple[TrackedMatch, list[tuple[float, str]]]):
    match, touches = played
    assert len(touches) >= 9
    for t, name in touches:
        near = min(match.contacts, key=lambda c: abs(c.t_s + CONTACT_S / 2 - t))
        assert abs(near.t_s + CONTACT_S / 2 - t) < 0.04
        assert match.names[near.person] == name
    assert len(match.contacts) <= len(touches) + 2


def test_the_limb_of_a_contact_is_at_the_ball(played: tuple[TrackedMatch, list[tuple[float, str]]]):
    match, _ = played
    count = 0
    for interval in match.intervals():
        for contact in interval.contacts:
            if interval.begin_s <= contact.t_s < interval.end_s and contact.limb in FOUR_LIMBS:
                limb = limb_paths(interval, contact.person, contact.limb, np.array([contact.t_s]))[0]
                step = round((contact.t_s - interval.begin_s) / STEP_S)
                assert np.linalg.norm(limb - contact.position) == pytest.approx(TOUCH_M, abs=1e-3)
                assert np.linalg.norm(interval.balls[0, step] - contact.position) < 0.02
                count += 1
    assert count >= 9


def test_rows_keep_names_and_keepers_come_first(played: tuple[TrackedMatch, list[tuple[float, str]]]):
    match, _ = played
    assert match.names[KEEPERS[0]] == "home_1"
    assert {n for n in match.names if n} == set(SPOTS)
    assert match.names[SQUAD] == "away_4"
    assert match.on_pitch == {match.names.index(n) for n in SPOTS}
    interval = next(match.intervals())
    for row, name in enumerate(match.names):
        if name:
            assert np.allclose(interval.persons[:, row, :2], SPOTS[name], atol=0.05)
        else:
            assert np.all(np.isnan(interval.persons[:, row]))
    assert np.all(np.isnan(interval.balls[1:]))


def test_given_touches_are_taken_as_they_are():
    frames, touches = passes()
    reported = [Touch(round(t * 1e6), "home_1") for t, _ in touches[:3]]
    match = TrackedMatch(frames, reported)
    assert [match.names[c.person] for c in match.contacts] == ["home_1"] * 3
    for contact, (t, _) in zip(match.contacts, touches, strict=False):
        assert abs(contact.t_s + CONTACT_S / 2 - t) < 0.04
    with pytest.raises(TrackingError, match="nobody's id"):
        TrackedMatch(frames, [Touch(1_000_000, "home_99")])


def test_a_clock_that_begins_anywhere_is_shifted_and_told():
    n = 100
    still = np.tile((0.0, 0.0, BALL_RADIUS_M), (n, 1))
    match = TrackedMatch(recording(still, {"home_2": still[:, :2] + 3.0}, begin_us=1_700_000_000_000_000))
    assert match.zero_us == 1_700_000_000_000_000
    assert match.end_s == pytest.approx((n - 1) * GRID_S)
    assert [s.begin_s for s in match.intervals(every_s=1.0)] == pytest.approx([0.0, 1.0, 2.0, 3.0])
    assert TrackedMatch(recording(still, {"home_2": still[:, :2]}, begin_us=40_000)).zero_us == 0


def test_who_comes_late_is_absent_before():
    n = 400
    still = np.tile((0.0, 0.0, BALL_RADIUS_M), (n, 1))
    late = still[:, :2] + 5.0
    late[:250] = np.nan
    match = TrackedMatch(recording(still, {"home_2": still[:, :2] + 3.0, "home_12": late}))
    row = match.names.index("home_12")
    there = [bool(np.isfinite(s.persons[:, row, 0]).all()) for s in match.intervals(every_s=4.0)]
    assert there == [False, False, True, True]


def test_missing_frames_of_ball_and_persons_become_no_jumps():
    frames, _ = passes()
    tracks = []
    for track in frames.tracks:
        missing = (track.ts_us > 3_000_000) & (track.ts_us < 4_500_000)
        tracks.append(track.part(~missing))
    match = TrackedMatch(Recording(frames.sheet, tuple(tracks)))
    for interval in match.intervals():
        step = np.linalg.norm(np.diff(interval.balls[0], axis=0), axis=1)
        assert step.max() < 42.0 * STEP_S
        assert np.all(np.isfinite(interval.balls[0]))


@pytest.mark.parametrize(
    ("persons", "reason"),
    [
        ({f"home_{n}": 0.0 for n in range(1, 19)}, "18 tracks of side home"),
        ({"home_1/left_foot": 0.0}, "limbs"),
    ],
)
def test_what_cannot_be_used_is_told_why(persons: dict[str, float], reason: str):
    still = np.tile((0.0, 0.0, BALL_RADIUS_M), (100, 1))
    with pytest.raises(TrackingError, match=reason):
        TrackedMatch(recording(still, dict.fromkeys(persons, still[:, :2])))
    with pytest.raises(TrackingError, match="no match"):
        TrackedMatch(recording(still[:10], {"home_2": still[:10, :2]}))


def test_referees_have_rows_of_their_own_and_touch_nothing():
    still = np.tile((0.0, 0.0, BALL_RADIUS_M), (200, 1))
    still[100:, 0] = np.arange(100) * 0.4
    match = TrackedMatch(recording(still, {"home_2": still[:, :2] + 30.0, "referee_1": still[:, :2] * 0.0}))
    assert match.names[REFEREES[0]] == "referee_1"
    assert match.contacts == ()


@pytest.fixture(scope="module")
def clip(request: pytest.FixtureRequest) -> tuple[Recording, TrackedMatch, Path]:
    shared: Path = request.getfixturevalue("shared_data")
    folder = shared / "opta_tracab_clip"
    frames = read_tracking(str(folder / "tracking_first_3_minutes.parquet"))
    return frames, TrackedMatch(frames), folder


def test_a_real_match_keeps_its_places(clip: tuple[Recording, TrackedMatch, Path]):
    frames, match, _ = clip
    tracks = {t.transmitter: t for t in frames.tracks}
    body, ball = [], []
    for interval in match.intervals():
        inside = (interval.ticks_s >= interval.begin_s - 1e-6) & (interval.ticks_s < interval.end_s - 1e-6)
        at = np.flatnonzero(inside & (np.rint(interval.ticks_s / TICK_S) % 2 == 0))
        frame = np.rint(interval.ticks_s[at] / GRID_S).astype(int)
        for row in match.on_pitch:
            track = tracks[match.names[row]]
            body.append(
                np.hypot(
                    interval.persons[at, row, 0] - track.x_m[frame], interval.persons[at, row, 1] - track.y_m[frame]
                )
            )
        step = np.rint((interval.ticks_s[at] - interval.begin_s) / STEP_S).astype(int)
        track = tracks["ball"]
        ball.append(
            np.hypot(interval.balls[0, step, 0] - track.x_m[frame], interval.balls[0, step, 1] - track.y_m[frame])
        )
    body_off, ball_off = np.concatenate(body), np.concatenate(ball)
    assert np.percentile(body_off, 50) < 0.01
    assert np.percentile(body_off, 99) < 0.15
    assert np.percentile(ball_off, 50) < 0.02
    # Around touches the source itself jumps by decimetres.
    assert np.percentile(ball_off, 90) < 0.08
    assert ball_off.max() < 0.8


def test_a_real_match_keeps_within_what_persons_and_balls_can_do(clip: tuple[Recording, TrackedMatch, Path]):
    _, match, _ = clip
    for interval in match.intervals():
        there = sorted(match.on_pitch)
        velocity = interval.persons[:, there, Col.VX : Col.VY + 1]
        assert np.hypot(velocity[..., 0], velocity[..., 1]).max() < 1.05 * PERSON_MAX_M_S
        assert np.hypot(*np.moveaxis(np.diff(velocity, axis=0), -1, 0)).max() / TICK_S < 1.3 * PERSON_MAX_M_S2
        assert np.abs(np.diff(interval.persons[:, there, Col.HEADING], axis=0)).max() < 9.0 * TICK_S
        assert np.linalg.norm(interval.ball_velocity, axis=1).max() < 44.0
        assert interval.balls[0, :, 2].min() > 0.08
        moved = np.diff(interval.balls[0], axis=0) / STEP_S
        assert np.abs(moved - 0.5 * (interval.ball_velocity[1:] + interval.ball_velocity[:-1])).max() < 0.5


def test_the_kicks_that_were_logged_are_contacts_of_who_kicked(clip: tuple[Recording, TrackedMatch, Path]):
    _, match, folder = clip
    with (folder / "events_first_3_minutes.csv").open() as file:
        logged = [e for e in csv.DictReader(file) if e["sync_ok"] == "True" and e["label"] in ("pass", "shot")]
    found = 0
    for event in logged:
        t = int(event["kick_t_ms"]) / 1000.0
        found += any(abs(c.t_s - t) < 0.35 and match.names[c.person] == event["object_id"] for c in match.contacts)
    assert len(logged) == 39
    assert found >= 36


def test_stretches_of_a_real_match_agree_at_their_borders(clip: tuple[Recording, TrackedMatch, Path]):
    _, match, _ = clip
    parts = list(match.intervals(until_s=40.0, every_s=3.0))
    for left, right in pairwise(parts):
        assert left.end_s == right.begin_s
        jump = np.linalg.norm(right.balls[0, 0] - left.balls[0, -1])
        assert jump < 42.0 * STEP_S
        t = left.end_s + np.arange(-0.4, 0.4, 0.02)
        for row in sorted(match.on_pitch):
            for limb in FOUR_LIMBS:
                assert np.allclose(limb_paths(left, row, limb, t), limb_paths(right, row, limb, t), atol=1e-6)


@pytest.mark.slow
def test_twenty_minutes_of_a_real_match_hold_the_same_bounds(shared_data: Path):
    frames = read_tracking(str(shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet"))
    match = TrackedMatch(frames)
    ball = next(t for t in frames.tracks if t.transmitter == "ball")
    off, fastest, hardest = [], 0.0, 0.0
    for interval in match.intervals():
        steps = np.arange(0, interval.balls.shape[1], round(GRID_S / STEP_S))
        ts_us = np.rint(interval.begin_s * 1e6).astype(int) + np.rint(steps * STEP_S * 1e6).astype(int)
        row = np.searchsorted(ball.ts_us, ts_us)
        measured = (row < len(ball)) & (ball.ts_us[np.minimum(row, len(ball) - 1)] == ts_us)
        positions = interval.balls[0, steps[measured]]
        off.append(np.hypot(positions[:, 0] - ball.x_m[row[measured]], positions[:, 1] - ball.y_m[row[measured]]))
        fastest = max(fastest, float(np.linalg.norm(interval.ball_velocity, axis=1).max()))
        velocity = interval.persons[:, sorted(match.on_pitch), Col.VX : Col.VY + 1]
        hardest = max(hardest, float(np.hypot(*np.moveaxis(np.diff(velocity, axis=0), -1, 0)).max()) / TICK_S)
    median, most, nearly_all = np.percentile(np.concatenate(off), [50, 90, 99])
    assert median < 0.02
    assert most < 0.15
    assert nearly_all < 0.4
    assert fastest < 44.0
    assert hardest < 1.3 * PERSON_MAX_M_S2
    assert 600 < len(match.contacts) < 1_300


@pytest.mark.parametrize("n", [1, 4, 5, 26, 50])
def test_short_ways_and_ways_without_measurements_stay_finite(n: int):
    values = np.column_stack([np.arange(n) * 2.0, np.zeros(n)])
    for weights in (np.zeros(n), np.ones(n)):
        assert body_path(values, weights).shape == (n, 2)
        assert np.all(np.isfinite(body_path(values, weights)))
