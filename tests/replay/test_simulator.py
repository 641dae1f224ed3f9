"""The match generator: plausible motion, and a truth list that its own geometry bears out."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from detectors.inputs import raw_kind
from detectors.lane import EventRecord
from replay.channel import CHANNELS, transmit
from replay.checks import quarantine_of
from replay.recording import Recording, Track
from replay.sim_ball import ROLLING_M_S2, Ball, Carry, lob, rolling_speed
from replay.simulator import DEFAULT_SEED, FOUR_LIMBS, HANDS, Simulation, SimulatorError, simulate

STOPS = ("out", "goal.scored", "foul")
CHANGES = (*STOPS, "touch", "restart.kick_off", "restart.throw_in", "restart.corner")
SEEDS = (DEFAULT_SEED, 12, 37)


@lru_cache(maxsize=8)
def played(seed: int = DEFAULT_SEED, duration_s: float = 300.0) -> tuple[Recording, tuple[EventRecord, ...]]:
    """A game without noise."""
    return simulate(Simulation(seed=seed, duration_s=duration_s, noise_m=0.0))


def tracks(seed: int = DEFAULT_SEED) -> dict[str, Track]:
    return {t.transmitter: t for t in played(seed)[0].tracks}


def of_kind(kind: str, seed: int = DEFAULT_SEED) -> list[EventRecord]:
    return [e for e in played(seed)[1] if e.kind == kind]


def at(track: Track, ts_us: int) -> np.ndarray:
    return np.array([np.interp(ts_us, track.ts_us, c) for c in (track.x_m, track.y_m, track.z_m)])


def body(seed: int, player: str, ts_us: int) -> np.ndarray:
    """A player's place: the mean of his feet."""
    feet = tracks(seed)
    return (at(feet[f"{player}/left_foot"], ts_us) + at(feet[f"{player}/right_foot"], ts_us))[:2] / 2


def is_free(ts_us: int, seed: int) -> bool:
    """True while play is live and no keeper has the ball in his hands."""
    told = [e for e in played(seed)[1] if e.ts_us <= ts_us and e.kind in CHANGES]
    return bool(told) and told[-1].kind not in STOPS and told[-1].detail.get("what") != "catch"


def test_the_first_five_minutes_of_the_default_seed_hold_every_kind_of_event() -> None:
    kinds = Counter(e.kind for e in played()[1])
    shots = Counter(e.detail["outcome"] for e in of_kind("shot.attempt"))
    for restart in ("kick_off", "throw_in", "corner", "goal_kick", "free_kick"):
        assert kinds[f"restart.{restart}"] >= 1, restart
    assert kinds["restart.throw_in"] >= 2
    assert min(shots["goal"], shots["saved"], shots["off"]) >= 1
    goal = of_kind("goal.scored")[0]
    following = next(e for e in played()[1] if e.kind.startswith("restart.") and e.ts_us > goal.ts_us)
    assert following.kind == "restart.kick_off"
    assert following.team != goal.team


def test_the_sheet_is_complete_and_every_transmitter_is_on_it() -> None:
    recording, _ = played()
    sheet = recording.sheet
    assert len(sheet.players) == 22
    assert all(p.name and p.shirt for p in sheet.players)
    assert [p.object_id for p in sheet.players if p.goalkeeper] == ["home_1", "away_1"]
    assert sheet.attacks_positive_x == "home"
    expected = {"ball"} | {f"{p.object_id}/{limb}" for p in sheet.players for limb in sheet.quality.limbs}
    hands = {f"{p.object_id}/{hand}" for p in sheet.players if p.goalkeeper for hand in HANDS}
    assert {t.transmitter for t in recording.tracks} == expected | hands


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ball_is_always_somewhere_and_moves_like_one(seed: int) -> None:
    ball = tracks(seed)["ball"]
    assert np.array_equal(np.diff(ball.ts_us), np.full(len(ball) - 1, 5_000))
    places = np.stack([ball.x_m, ball.y_m, ball.z_m])
    assert np.isfinite(places).all()
    assert np.abs(ball.x_m).max() < 60
    assert np.abs(ball.y_m).max() < 45
    assert ball.z_m.min() > 0.1
    assert ball.z_m.max() < 15
    speed = np.sqrt((np.diff(places) ** 2).sum(axis=0)) * 200
    assert speed.max() < 36


@pytest.mark.parametrize("seed", SEEDS)
def test_players_run_like_people(seed: int) -> None:
    by_name = tracks(seed)
    for player in (p.object_id for p in played(seed)[0].sheet.players):
        times = by_name[f"{player}/left_foot"].ts_us[50:-50:25]
        ways = np.array([body(seed, player, int(t)) for t in times])
        speed = np.hypot(*np.diff(ways, axis=0).T) / (np.diff(times) / 1e6)
        assert speed.max() < 10.0, player
        for foot in ("left_foot", "right_foot"):
            track = by_name[f"{player}/{foot}"]
            assert (np.hypot(np.diff(track.x_m), np.diff(track.y_m)) * 50).max() < 30.0, player
            assert np.hypot(at(track, int(times[3]))[0] - ways[3][0], at(track, int(times[3]))[1] - ways[3][1]) < 1.5


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ball_changes_its_velocity_where_a_foot_is_and_nowhere_else_in_play(seed: int) -> None:
    by_name = tracks(seed)
    ball = by_name["ball"]
    places = np.stack([ball.x_m, ball.y_m, ball.z_m])
    velocity = np.diff(places) * 200
    touches = of_kind("touch", seed)
    for touch in touches:
        k = int(np.searchsorted(ball.ts_us, touch.ts_us))
        assert places[:, k] == pytest.approx([touch.x_m, touch.y_m, touch.z_m], abs=2e-3)
        if k + 1 < len(ball) and touch.detail["what"] != "catch":
            change = np.linalg.norm(velocity[:, k] - velocity[:, k - 1])
            assert change * 200 >= 55.0, touch
        if touch.variant.endswith("foot"):
            foot = at(by_name[f"{touch.player}/{touch.variant}"], touch.ts_us)
            assert np.linalg.norm(foot - places[:, k]) < 0.3, touch
    contacts = {int(np.searchsorted(ball.ts_us, t.ts_us)) for t in touches}
    horizontal = np.linalg.norm(np.diff(velocity[:2]), axis=0) * 200
    for k in np.flatnonzero(horizontal > 100.0).tolist():
        bounce = places[2, max(k - 1, 0) : k + 4].min() < 0.12
        woodwork = any(abs(ball.ts_us[k] - e.ts_us) < 30_000 for e in of_kind("woodwork", seed))
        touched = contacts & set(range(k - 1, k + 4))
        assert touched or bounce or woodwork or not is_free(int(ball.ts_us[k]), seed), ball.ts_us[k]


@pytest.mark.parametrize("seed", SEEDS)
def test_passes_reach_whom_the_truth_says_and_leave_at_a_footballs_speed(seed: int) -> None:
    ball = tracks(seed)["ball"]
    passes = of_kind("pass.attempt", seed)
    assert len(passes) > 30
    for event in passes:
        k = int(np.searchsorted(ball.ts_us, event.ts_us))
        leaving = np.array([c[k + 1] - c[k] for c in (ball.x_m, ball.y_m, ball.z_m)]) * 200
        assert 4.0 < np.linalg.norm(leaving) < 33.0
        detail = event.detail
        if detail["outcome"] in ("complete", "intercepted"):
            received_us, receiver = detail["received_us"], detail["receiver"]
            assert isinstance(received_us, int)
            assert isinstance(receiver, str)
            assert event.ts_us < received_us
            assert (receiver.split("_")[0] == event.team) == (detail["outcome"] == "complete")
            reach = np.hypot(*(body(seed, receiver, received_us) - at(ball, received_us)[:2]))
            assert reach < 1.9
        elif detail["outcome"] == "out":
            x, y, _ = at(ball, detail["received_us"] + 20_000)
            assert abs(x) > 52.5 or abs(y) > 34.0


@pytest.mark.parametrize("seed", SEEDS)
def test_goals_and_outs_lie_on_their_lines_and_are_restarted_as_the_laws_say(seed: int) -> None:
    story = [e for e in played(seed)[1] if e.kind in ("goal.scored", "out", "foul") or e.kind.startswith("restart.")]
    for event, following in pairwise(story):
        if event.kind == "goal.scored":
            assert abs(event.x_m or 0) >= 52.61
            assert abs(event.y_m or 0) < 3.55
            assert (event.z_m or 0) < 2.33
            assert (event.team == "home") == ((event.x_m or 0) > 0)
            assert following.kind == "restart.kick_off"
            assert following.team != event.team
            assert math.hypot(following.x_m or 0, following.y_m or 0) < 0.01
        elif event.kind == "out" and "touch" in event.variant:
            assert abs(event.y_m or 0) >= 34.11
            assert (event.variant == "left touch") == ((event.y_m or 0) > 0)
            assert following.kind == "restart.throw_in"
            assert following.team != event.team
            assert abs((following.x_m or 0) - (event.x_m or 0)) < 1.5
        elif event.kind == "out":
            defends = "away" if (event.x_m or 0) > 0 else "home"
            assert abs(event.x_m or 0) >= 52.61
            corner = event.team == defends
            assert following.kind == ("restart.corner" if corner else "restart.goal_kick")
            assert (following.team == defends) != corner
        elif event.kind == "foul":
            assert following.kind == "restart.free_kick"
            assert following.team != event.team


@pytest.mark.parametrize("seed", SEEDS)
def test_the_score_is_the_sum_of_the_goals_and_shots_have_outcomes(seed: int) -> None:
    goals = of_kind("goal.scored", seed)
    for number, goal in enumerate(goals, 1):
        assert goal.detail["home"] + goal.detail["away"] == number  # type: ignore[operator]
    outcomes = Counter(e.detail["outcome"] for e in of_kind("shot.attempt", seed))
    assert set(outcomes) <= {"goal", "saved", "blocked", "off", "short", ""}
    assert outcomes["goal"] <= len(goals)


def test_before_a_restart_the_ball_lies_still_and_opponents_keep_away() -> None:
    ball = tracks()["ball"]
    players = [p.object_id for p in played()[0].sheet.players]
    for event in played()[1]:
        if event.kind not in ("restart.corner", "restart.goal_kick", "restart.free_kick", "restart.kick_off"):
            continue
        still = (ball.ts_us > event.ts_us - 2_400_000) & (ball.ts_us <= event.ts_us)
        assert np.ptp(ball.x_m[still]) < 0.01
        assert np.ptp(ball.y_m[still]) < 0.01
        others = [p for p in players if not p.startswith(event.team)]
        nearest = min(np.hypot(*(body(DEFAULT_SEED, p, event.ts_us) - (event.x_m, event.y_m))) for p in others)
        assert nearest > 9.0, event


def test_the_same_seed_gives_the_same_game_and_another_gives_another() -> None:
    settings = Simulation(seed=5, duration_s=20)
    (one, truth), (two, again) = simulate(settings), simulate(settings)
    assert truth == again
    for a, b in zip(one.tracks, two.tracks, strict=True):
        assert all(np.array_equal(getattr(a, c), getattr(b, c)) for c in ("ts_us", "x_m", "y_m", "z_m"))
    assert simulate(Simulation(seed=6, duration_s=20))[1] != truth


def test_rates_limbs_and_noise_are_as_asked_for() -> None:
    full = Simulation(duration_s=8, ball_hz=2000, body_hz=200, limbs=FOUR_LIMBS)
    recording, _ = simulate(full)
    names = [t.transmitter for t in recording.tracks]
    assert len(names) == 1 + 22 * 4
    by_name = {t.transmitter: t for t in recording.tracks}
    assert abs(len(by_name["ball"]) - 16_000) <= 40
    assert abs(len(by_name["home_4/left_hand"]) - 1_600) <= 4
    still = by_name["ball"].ts_us < 3_000_000
    assert np.std(by_name["ball"].x_m[still]) == pytest.approx(0.02, rel=0.05)
    optical, _ = simulate(Simulation(duration_s=8, ball_hz=25, body_hz=25, limbs=()))
    assert sorted(raw_kind(t.transmitter) for t in optical.tracks) == ["raw.ball"] + ["raw.player"] * 22
    phases = {int(t.ts_us[0]) for t in recording.tracks}
    assert len(phases) > 40


def test_a_game_passes_the_quarantine_unharmed() -> None:
    recording, _ = simulate(Simulation(duration_s=20))
    checks = quarantine_of(recording.sheet)
    for block in transmit(recording, CHANNELS["rtls"], 1).blocks():
        assert checks.check_decoded(block, "sim") == (block, ())


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"ball_hz": 30}, "ball_hz 30"), ({"ball_hz": 4000}, "ball_hz 4000"), ({"body_hz": 0}, "body_hz 0"),
     ({"duration_s": 0}, "duration_s 0"), ({"limbs": ("tail",)}, "limbs tail")],
)  # fmt: skip
def test_settings_that_cannot_be_simulated_are_named(settings: dict[str, object], named: str) -> None:
    with pytest.raises(SimulatorError, match=named):
        Simulation(**settings)  # type: ignore[arg-type]


def test_a_ball_in_flight_loses_energy_and_a_bounce_gives_back_six_tenths() -> None:
    ball = Ball(z=2.0)
    heights = []
    for _ in range(4000):
        before = ball.vz
        ball.move(0.0005)
        if before < -1.0 and ball.vz > 0:
            assert ball.vz == pytest.approx(-0.6 * before, rel=0.02)
            heights.append(0.0)
        heights.append(ball.z)
    rebound = heights.index(0.0)
    assert max(heights[rebound:]) - 0.11 == pytest.approx(0.36 * (2.0 - 0.11), rel=0.08)


def test_a_rolling_ball_arrives_at_the_speed_it_was_kicked_for_and_stops_in_the_end() -> None:
    ball = Ball()
    ball.kick((rolling_speed(18.0, 5.0), 0.0, 0.0))
    while ball.x < 18.0:
        ball.move(0.001)
    assert ball.vx == pytest.approx(5.0, abs=0.05)
    for _ in range(int(5.0 / ROLLING_M_S2 * 1000) + 100):
        ball.move(0.001)
    assert ball.speed == 0.0


def test_a_lob_comes_down_about_where_it_was_meant_to() -> None:
    ball = Ball()
    ball.kick(lob(20.0, 10.0, 1.4))
    for _ in range(1400):
        ball.move(0.001)
    assert math.hypot(ball.x - 20.0, ball.y - 10.0) < 2.5
    assert ball.z < 0.8


def test_a_carried_ball_begins_and_ends_at_rest() -> None:
    carry = Carry((0.0, 0.0, 0.1), (12.0, 5.0, 0.1), 2.0, 4.0)
    assert carry.at(1.0) == (0.0, 0.0, 0.1)
    assert carry.at(9.0) == (12.0, 5.0, 0.1)
    assert math.dist(carry.at(2.005), carry.at(2.0)) < 0.001
    assert carry.at(3.0)[0] == pytest.approx(6.0)
