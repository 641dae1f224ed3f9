"""Level 10, space and pressure: by hand where it can be worked out, against plain integration where it cannot."""

from __future__ import annotations

import math
import random

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import MultiPoint

from detectors.control.bands import NO_BAND, follow
from detectors.control.dominance import VoronoiShare
from detectors.control.pressure import (
    IntensityParameters,
    PressingIndex,
    PressingIntensity,
    PressureOnPlayer,
    PressureParameters,
    intensity_on,
    pressing_index_per_s,
    pressure_on,
)
from detectors.control.scene import Scene, SceneMaker, outfield
from detectors.control.shape import LineHeight, TeamArea, TeamShape, hull_area_m2
from detectors.control.space import PassingOptions, PitchControl
from detectors.control.spearman import (
    SpearmanParameters,
    control_grid,
    pass_success,
    passes_that_succeed,
    players_array,
    zones_of,
)
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Player
from football.payloads import BallState, BodyState, EventPayload
from football.pitch import pitch_of
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event, rows_of

SHEET = MatchSheet(
    attacks_positive_x="home",
    players=(Player("home_1", "home", goalkeeper=True), Player("away_1", "away", goalkeeper=True)),
)
PITCH = pitch_of(SHEET)


def moving(object_id: str, x_m: float, y_m: float, vx: float = 0.0, vy: float = 0.0) -> BodyState:
    return msgspec.structs.replace(body(object_id, x_m, y_m), vx_m_s=vx, vy_m_s=vy)


def ball_at(x_m: float, y_m: float, vx: float = 0.0, vy: float = 0.0) -> BallState:
    return BallState(x_m, y_m, 0.11, vx, vy, 0.0, 40_000)


def look(
    at_s: float, players: list[BodyState], ball: BallState | None = None, holder: str = "", **more: object
) -> Event:
    """A ``scene`` with home towards +x."""
    team = "home" if holder.startswith("home") else "away" if holder else ""
    home = tuple(p for p in players if p.team == "home")
    away = tuple(p for p in players if p.team == "away")
    scene = Scene(ball, home, away, "home", True, holder, team)
    scene = msgspec.structs.replace(scene, **more)
    return Event("scene", round(at_s * 1e6), "scene", round(at_s * 5), scene)


def eleven(length_m: float, width_m: float, rear_m: float = 20.0) -> list[BodyState]:
    """Home's keeper, and ten of whom four stand ``rear_m`` before their line, in a box of these sides."""
    rear_x = -52.5 + rear_m
    places = [(rear_x, -width_m / 2), (rear_x, -3.0), (rear_x, 3.0), (rear_x, width_m / 2)]
    places += [(rear_x + length_m * k / 6, 0.0) for k in range(1, 7)]
    return [body("home_1", -50.0, 0.0), *(body(f"home_{i + 2}", *place) for i, place in enumerate(places))]


# -- the scene


def sayings(at_s: float, *kinds: str, player: str = "home_6") -> list[Event]:
    return [make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", EventPayload("", "home", player)) for kind in kinds]


def test_scenes_come_five_times_a_second_whatever_the_rate_of_frames():
    for hz in (50, 25, 10):
        frames = [frame_event(k / hz, (0, 0, 0.1), [body("home_6", 0.5, 0.0)]) for k in range(2 * hz)]
        assert len(fold(SceneMaker(SHEET), frames)) == 10


def test_a_scene_leaves_out_the_bench_and_knows_who_has_the_ball():
    players, bench = [body("home_6", 1.0, 0.0), body("away_4", 20.0, 34.5)], [body("home_14", 10.0, 38.0)]
    frame = frame_event(0.1, (0, 0, 0.1), players, others=bench)
    events = [*sayings(0.0, "direction", "possession.gain"), frame]
    scene = fold(SceneMaker(SHEET), events)[0].payload
    assert [p.object_id for p in (*scene.home, *scene.away)] == ["home_6", "away_4"]
    assert (scene.holder, scene.holder_team, scene.attacks_x, scene.live) == ("home_6", "home", "home", True)


def test_a_ball_on_its_way_a_lost_ball_and_a_lost_possession_have_no_holder():
    far = [body("home_6", 8.0, 0.0)]
    gain = sayings(0.0, "possession.gain")
    for events in (
        [*gain, frame_event(0.1, (0, 0, 0.1), far)],
        [*gain, frame_event(0.1, None, far)],
        [*gain, *sayings(0.05, "possession.loss"), frame_event(0.1, (8, 0, 0.1), far)],
    ):
        assert fold(SceneMaker(SHEET), events)[0].payload.holder == ""


def test_the_keeper_is_by_the_sheet_and_else_the_rearmost():
    team = [body("home_1", -20.0, 0.0), body("home_2", -45.0, 5.0), body("home_3", 0.0, 0.0)]
    keeper, others = outfield(tuple(team), 1.0, {"home_1"})
    assert (keeper.object_id, [b.object_id for b in others]) == ("home_1", ["home_2", "home_3"])
    keeper, _ = outfield(tuple(team), 1.0, {"home_99"})
    assert keeper.object_id == "home_2"
    assert outfield(tuple(team), -1.0, ())[0].object_id == "home_3"
    assert outfield((), 1.0, ()) == (None, [])


# -- bands and shapes


def test_a_band_needs_its_time_and_does_not_flicker():
    band = NO_BAND
    seen = []
    for k, value in enumerate([24, 36, 36, 36, 36, 36, 36, 34.8, 35.2, 34.8, 34.4, 34.4, 34.4, 34.4, 34.4, 34.4]):
        band = follow(band, value, (25.0, 35.0), 0.5, 1_000_000, k * 200_000)
        seen.append(band.settled)
    assert seen == [-1] * 6 + [2] * 9 + [1]


def test_length_and_width_have_bands_that_are_told_after_a_second():
    for team, expected in (
        (eleven(40.0, 50.0), [("shape.long", "", "home"), ("shape.wide", "", "home")]),
        (eleven(20.0, 25.0), [("shape.short", "", "home"), ("shape.narrow", "", "home")]),
        (eleven(30.0, 40.0), []),
    ):
        found = fold(TeamShape(SHEET), [look(k / 5, team) for k in range(10)])
        assert rows_of(found) == expected
        assert all(e.payload.detail["since_us"] == 0 and e.ts_us == 1_000_000 for e in found)


def test_shapes_do_without_the_keeper_and_with_ten_men_but_not_with_four():
    team = eleven(20.0, 25.0)
    team[0] = body("home_1", -52.0, -30.0)
    found = fold(TeamShape(SHEET), [look(k / 5, team[:-1]) for k in range(10)])
    assert rows_of(found)[0] == ("shape.short", "", "home")
    assert fold(TeamShape(SHEET), [look(k / 5, team[:5]) for k in range(10)]) == []


@pytest.mark.parametrize(("rear_m", "kind"), [(45.0, "line.high"), (30.0, "line.mid"), (12.0, "line.low")])
def test_the_last_line_is_high_or_low_from_its_own_goal_whichever_way_it_plays(rear_m: float, kind: str):
    team = eleven(20.0, 40.0, rear_m)
    away = [body(p.object_id.replace("home", "away"), -p.x_m, p.y_m) for p in team]
    found = fold(LineHeight(SHEET), [look(k / 5, [*team, *away]) for k in range(8)])
    assert rows_of(found) == [(kind, "", "home"), (kind, "", "away")]
    assert found[0].payload.detail["height_m"] == pytest.approx(rear_m)


def test_a_team_wholly_in_negative_x_has_the_box_that_it_stands_in():
    """StreamTeam's maxima begin at the smallest positive double, so its box of such a team reaches to the centre."""
    found = fold(TeamArea(SHEET), [look(0.0, eleven(20.0, 40.0))])
    assert rows_of(found) == [("hull.step", "", "home"), ("mbr.step", "", "home"), ("stretch.step", "", "home")]
    assert found[1].payload.detail["area_m2"] == pytest.approx(20.0 * 40.0)
    assert found[0].payload.detail["area_m2"] == pytest.approx(20.0 * 40.0 / 2)


def test_areas_are_told_again_when_they_change_by_a_twentieth():
    teams = [eleven(20.0, 40.0), eleven(20.9, 40.0), eleven(21.1, 40.0)]
    found = fold(TeamArea(SHEET), [look(k, team) for k, team in enumerate(teams)])
    assert [(e.ts_us, e.kind) for e in found[3:]] == [(2_000_000, "hull.step"), (2_000_000, "mbr.step")]


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-30, 30)), min_size=3, max_size=11))
def test_the_hull_is_shapelys(points: list[tuple[float, float]]):
    assert hull_area_m2(points) == pytest.approx(MultiPoint(points).convex_hull.area, abs=1e-6)


# -- pressure


def test_the_pressing_index_is_streamteams_sum():
    """An opponent 2 m away runs in at 3 m/s, the ball comes at 1 m/s: 4/2; one who runs off counts nothing."""
    ball = ball_at(0.0, 0.0, 1.0)
    others = (moving("away_4", 2.0, 0.0, -3.0), moving("away_5", -2.0, 0.0, -5.0))
    assert pressing_index_per_s(ball, others, 0.5) == pytest.approx(2.0)
    assert pressing_index_per_s(ball, (moving("away_4", 0.1, 0.0, -3.0),), 0.5) < 8.1


def test_under_pressure_begins_at_two_and_ends_with_it_or_with_the_ball():
    near, off = moving("away_4", 2.0, 0.0, -5.0), moving("away_4", 2.0, 0.0, 1.0)
    holder, ball = body("home_6", -0.4, 0.0), ball_at(0.0, 0.0)
    one = [look(0.0, [holder, near], ball, "home_6"), look(0.2, [holder, off], ball, "home_6")]
    found = fold(PressingIndex(), one)
    assert rows_of(found) == [("press.under", "", "home"), ("press.released", "", "home")]
    assert (found[1].payload.detail["kept"], found[1].payload.detail["lasted_us"]) == (True, 200_000)
    lost = [look(0.0, [holder, near], ball, "home_6"), look(0.2, [holder, near], ball, "away_4")]
    assert [e.payload.detail.get("kept") for e in fold(PressingIndex(), lost)] == [None, False]
    dead = [look(0.0, [holder, near], ball, "home_6", live=False)]
    assert fold(PressingIndex(), dead) == []


def test_pressure_is_the_ovals_and_reaches_farther_in_front():
    p = PressureParameters()
    player = body("home_6", 0.0, 0.0)
    behind, before = body("away_4", -2.0, 0.0), body("away_4", 2.0, 0.0)
    front_m = 9.0 - 0.05 * (105.0 - 52.5)
    assert pressure_on(player, (behind,), PITCH, 1.0, p) == pytest.approx((1 - 2 / 3.0) ** 1.75)
    assert pressure_on(player, (before,), PITCH, 1.0, p) == pytest.approx((1 - 2 / front_m) ** 1.75)
    assert pressure_on(player, (before,), PITCH, -1.0, p) == pytest.approx((1 - 2 / 3.0) ** 1.75)
    assert pressure_on(player, (behind, before), PITCH, 1.0, p) == pytest.approx(
        pressure_on(player, (behind,), PITCH, 1.0, p) + pressure_on(player, (before,), PITCH, 1.0, p)
    )
    assert pressure_on(player, (body("away_4", 0.0, 0.0),), PITCH, 1.0, p) == 1.0


def test_the_band_of_pressure_follows_the_holder():
    holder, ball = body("home_6", 0.0, 0.0), ball_at(0.4, 0.0)
    far, near = body("away_4", 20.0, 0.0), body("away_4", 0.6, 0.0)
    scenes = [look(k / 5, [holder, far if k < 5 else near], ball, "home_6") for k in range(10)]
    found = fold(PressureOnPlayer(SHEET), scenes)
    assert rows_of(found) == [("pressure.band", "low", "home"), ("pressure.band", "high", "home")]
    assert [e.ts_us for e in found] == [400_000, 1_400_000]


def test_the_intensity_is_bekkers_chance_to_be_there_in_time():
    p = IntensityParameters()
    player = body("home_6", 0.0, 0.0)
    runner = moving("away_4", 10.0, 0.0, -4.0)
    late_s = 0.7 + (10.0 - 2.8) / 12.0 - 1.5
    chance = 1 / (1 + math.exp(math.pi / math.sqrt(3) / 0.45 * late_s))
    assert intensity_on(player, (runner,), p) == (pytest.approx(chance), "away_4")
    assert intensity_on(player, (moving("away_4", 1.0, 0.0, -1.9),), p) == (0.0, "")
    two = intensity_on(player, (runner, moving("away_5", -10.0, 0.0, 4.0)), p)[0]
    assert two == pytest.approx(1 - (1 - chance) ** 2)


def test_a_peak_of_intensity_is_told_once_it_has_passed():
    holder, ball = body("home_6", 0.0, 0.0), ball_at(0.4, 0.0)
    ways = [12.0, 9.0, 6.0, 4.0, 6.0, 9.0, 12.0, 15.0, 18.0]
    players = [moving("away_4", x, 0.0, -5.0 if k < 4 else 5.0) for k, x in enumerate(ways)]
    found = fold(PressingIntensity(), [look(k / 5, [holder, p], ball, "home_6") for k, p in enumerate(players)])
    assert [(e.payload.team, e.payload.player, e.payload.detail["on"]) for e in found] == [("away", "away_4", "home_6")]
    assert found[0].payload.detail["peak_us"] == 600_000
    assert found[0].ts_us > 600_000
    quiet = [look(k / 5, [holder, moving("away_4", 30.0, 0.0, -2.5)], ball, "home_6") for k in range(9)]
    assert fold(PressingIntensity(), [*quiet, look(3.0, [holder], ball, "")]) == []


# -- space


def control_by_hand(place, ball, own, other, p: SpearmanParameters, dt: float = 0.004) -> float:
    """Spearman's integral, plainly, with steps ten times as short and without any short cut."""
    ball_s = math.dist(place, ball) / p.ball_m_s
    k = math.pi / math.sqrt(3) / p.sigma_s
    rates = []
    for team in (own, other):
        reached = team[:, :2] + team[:, 2:4] * p.reaction_s
        rates.append((p.reaction_s + np.hypot(*(np.array(place) - reached).T) / p.speed_m_s, team[:, 4]))
    chance = [0.0, 0.0]
    t = ball_s
    while sum(chance) < 0.9999 and t < ball_s + 10:
        rest = 1 - sum(chance)
        step = [(rate / (1 + np.exp(np.minimum(-k * (t - tti), 700)))).sum() for tti, rate in rates]
        for i in (0, 1):
            chance[i] += rest * step[i] * dt
        t += dt
    return chance[0] / sum(chance)


def some_team(numbers: random.Random, name: str, size: int) -> tuple[BodyState, ...]:
    return tuple(
        moving(
            f"{name}_{i}", numbers.uniform(-50, 50), numbers.uniform(-32, 32), numbers.gauss(0, 3), numbers.gauss(0, 3)
        )
        for i in range(1, size + 1)
    )


@pytest.mark.parametrize("seed", range(4))
def test_pitch_control_is_the_plain_integral(seed: int):
    numbers, p = random.Random(seed), SpearmanParameters()
    own = players_array(some_team(numbers, "home", 11), "", p)
    other = players_array(some_team(numbers, "away", 10 + seed % 2), "away_1", p)
    ball = (numbers.uniform(-50, 50), numbers.uniform(-30, 30))
    xs, ys = np.linspace(-50, 50, 7), np.linspace(-30, 30, 4)
    grid = control_grid(xs, ys, ball, own, other, p)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            assert grid[i, j] == pytest.approx(control_by_hand((x, y), ball, own, other, p), abs=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_differential_what_is_told_early_is_what_all_would_have_told(seed: int):
    numbers, p = random.Random(seed), SpearmanParameters()
    own = players_array(some_team(numbers, "home", 11 - seed % 3), "", p)
    other = players_array(some_team(numbers, "away", 10 + seed % 2), "away_1", p)
    ball = (numbers.uniform(-50, 50), numbers.uniform(-30, 30))
    xs, ys, zone = np.linspace(-50, 50, 12), np.linspace(-30, 30, 9), np.arange(108).reshape(9, 12) % 12 // 2
    whole = control_grid(xs, ys, ball, own, other, p)
    spared = 0
    for least in (0.2, 0.4, 0.8):
        owners = np.array([numbers.choice((-1, 0, 1)) for _ in range(6)])
        some = control_grid(xs, ys, ball, own, other, p, (zones_of(zone), owners, least))
        looked = ~np.isnan(some)
        assert np.array_equal(some[looked], whole[looked])
        for number, owner in enumerate(owners):
            share = float(np.mean(whole[zone == number] if owner > 0 else 1.0 - whole[zone == number]))
            if not looked[zone == number].all():
                spared += 1
                assert owner
                assert share >= least
    assert spared
    chances = [
        pass_success((x + vx * s, y + vy * s), ball, own, other, p)
        for x, y, vx, vy, _ in own.tolist()
        for s in [float(np.hypot(x - ball[0], y - ball[1])) / p.ball_m_s]
    ]
    for least in (0.1, 0.5, 0.7, 0.95, *chances[:3]):
        assert passes_that_succeed(ball, own, other, least, p) == sum(chance >= least for chance in chances)


def test_alone_a_team_controls_all_and_mirrored_teams_share():
    p = SpearmanParameters()
    own = players_array(some_team(random.Random(5), "home", 11), "", p)
    nobody = players_array((), "", p)
    xs, ys = np.linspace(-50, 50, 5), np.linspace(-30, 30, 3)
    assert np.all(control_grid(xs, ys, (0.0, 0.0), own, nobody, p) == 1.0)
    assert np.all(control_grid(xs, ys, (0.0, 0.0), nobody, own, p) == 0.0)
    mirrored = own * np.array([-1.0, 1.0, -1.0, 1.0, 1.0])
    grid = control_grid(xs, ys, (0.0, 0.0), own, mirrored, p)
    assert grid == pytest.approx(1.0 - grid[:, ::-1])


def test_a_keepers_hands_control_faster():
    p = SpearmanParameters()
    own = players_array((body("home_9", 40.0, 5.0),), "", p)
    keeper = (body("away_1", 40.0, -5.0),)
    point = np.array([40.0]), np.array([0.0])
    with_hands = control_grid(*point, (40.0, 0.0), own, players_array(keeper, "away_1", p), p)
    without = control_grid(*point, (40.0, 0.0), own, players_array(keeper, "", p), p)
    assert without[0, 0] == pytest.approx(0.5)
    assert with_hands[0, 0] < 0.4


def test_a_zone_changes_hands_when_others_take_it():
    left = [body(f"home_{i}", -40.0 + 3 * i, -25.0 + 5 * i) for i in range(1, 11)]
    right = [body(f"away_{i}", 40.0 - 3 * i, -25.0 + 5 * i) for i in range(1, 11)]
    swapped = [body(p.object_id, -p.x_m, p.y_m) for p in (*left, *right)]
    ball = ball_at(0.0, 0.0)
    scenes = [look(0.0, [*left, *right], ball, "home_5"), look(0.4, swapped, ball), look(1.0, swapped, ball)]
    found = fold(PitchControl(SHEET), scenes)
    assert found
    assert {e.ts_us for e in found} == {1_000_000}
    assert {e.payload.team for e in found if e.payload.x_m < 0} == {"away"}
    assert {e.payload.team for e in found if e.payload.x_m > 0} == {"home"}
    assert fold(PitchControl(SHEET), [look(k, [*left, *right], ball, "home_5", live=False) for k in range(3)]) == []


def test_a_free_mate_is_an_option_and_a_covered_one_is_not():
    p = SpearmanParameters()
    mate = players_array((body("home_8", 15.0, 0.0),), "", p)
    nobody = players_array((body("away_4", 15.0, 30.0),), "", p)
    between = players_array((body("away_4", 8.0, 0.0),), "", p)
    assert pass_success((15.0, 0.0), (0.0, 0.0), mate, nobody, p) > 0.9
    assert pass_success((15.0, 0.0), (0.0, 0.0), mate, between, p) < 0.6
    assert pass_success((15.0, 0.0), (0.0, 0.0), players_array((), "", p), nobody, p) == 0.0


def test_options_are_counted_for_who_has_the_ball():
    holder, ball = body("home_6", 0.0, 0.0), ball_at(0.4, 0.0)
    mates = [body(f"home_{n}", -12.0, y) for n, y in ((7, -15.0), (8, 0.0), (9, 15.0))]
    guards = [body(f"away_{n}", -11.0, y) for n, y in ((7, -14.0), (8, 0.0), (9, 14.0))]
    free = [look(k / 5, [holder, *mates, body("away_4", 40.0, 0.0)], ball, "home_6") for k in range(5)]
    held = [look(1 + k / 5, [holder, *mates, *guards], ball, "home_6") for k in range(5)]
    assert rows_of(fold(PassingOptions(SHEET), [*free, *held])) == [("options", "3+", "home"), ("options", "0", "home")]


# -- 10.8 --------------------------------------------------------------------------------------------------------


def test_the_share_of_the_pitch_is_published_when_it_changes_by_a_twentieth():
    def look(at_s: float, home_x: float, live: bool = True) -> Event:
        scene = Scene(None, (body("home_6", home_x, 0.0),), (body("away_4", 20.0, 0.0),), "home", live)
        return Event("scene", round(at_s * 1e6), "scene", round(at_s * 5), scene)

    looks = [look(1.0, -20.0), look(1.2, 10.0), look(2.0, -19.0), look(3.0, 10.0), look(4.0, -20.0, live=False)]
    out = fold(VoronoiShare(MatchSheet()), looks)
    shares = [(e.payload.team, e.payload.detail["share"], e.ts_us / 1e6) for e in out]
    assert shares == [("home", 0.5, 1.0), ("away", 0.5, 1.0), ("home", pytest.approx(0.642, abs=0.02), 3.0),
                      ("away", pytest.approx(0.358, abs=0.02), 3.0)]  # fmt: skip
