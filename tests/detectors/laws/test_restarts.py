"""Exits and restarts in small scenes: what kills the ball, what brings it back, and what does neither."""

from __future__ import annotations

import msgspec
import pytest

from detectors.decisions import recording
from detectors.emission import make_event
from detectors.laws.restarts import Restart, RestartParameters, free_kick_variant
from detectors.play.phase_state import LIVE
from detectors.play.restart_kicks import RestartKickParameters, restart_kind
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Frame, build_frame
from football.pitch import Pitch, pitch_of
from tests.detectors.scene import body, cast, concluded, fold, hit, path, rows_of, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")


def story(points, players=None, contacts=(), sheet=SHEET):
    """Kinds, variants and teams of what was concluded about play, restarts and goals, in order of time."""
    events = [*scene(points, players or cast()), *contacts]
    return rows_of(concluded(events, sheet, "play.", "out", "restart.", "goal."))


def exit_and_restart(leaves, spot, target, taker, toucher="away_5"):
    """A ball that leaves the field, lies at a spot beside a taker for 3 s, and is kicked to a target."""
    start = (leaves[0] * 0.8, leaves[1] * 0.8)
    way = [start, *path(start, leaves, 1.0), *path(leaves, spot, 6.0), *stay(spot, 3.0), *path(spot, target, 1.0)]
    return story(way, cast(**{taker: (spot[0], spot[1] + 0.3)}), [hit(0.0, toucher, *start)])


def test_a_ball_five_centimetres_over_the_line_plays_on():
    way = [*path((0.0, 30.0), (5.0, 34.05), 1.0), *path((5.0, 34.05), (10.0, 30.0), 1.0)]
    assert story(way) == []


def test_a_track_that_wobbles_over_the_line_for_a_moment_plays_on():
    way = [*path((0.0, 33.0), (4.0, 34.25), 1.0), *path((4.0, 34.25), (8.0, 33.0), 1.0)]
    assert story(way) == []


def test_a_ball_that_stays_a_quarter_of_a_metre_outside_is_out():
    way = [*path((0.0, 30.0), (4.0, 34.25), 0.6), *path((4.0, 34.25), (14.0, 34.25), 1.0)]
    found = story(way, contacts=[hit(0.1, "home_7", 0.5, 31.0)])
    assert found == [("play.dead", "touch", ""), ("out", "left touch", "home")]


@pytest.mark.parametrize(
    ("m_s", "since_us", "known_us"),
    [(10.0, 370_000, 200_000), (4.0, 979_000, 400_000)],
    ids=["two metres out", "settled"],
)
def test_an_exit_is_dated_by_when_it_is_sure_and_tells_when_it_was(m_s: float, since_us: int, known_us: int):
    way = [*path((0.0, 30.0), (0.0, 40.0), 10.0 / m_s), *stay((0.0, 40.0), 1.0)]
    (out,) = concluded(scene(way, cast()), SHEET, "out")
    assert out.payload.detail["since_us"] == pytest.approx(since_us, abs=5_000)
    assert out.ts_us - out.payload.detail["since_us"] == pytest.approx(known_us, abs=40_000)
    assert (out.payload.x_m, out.payload.y_m) == (0.0, pytest.approx(34.11))


@pytest.mark.parametrize("side", [1, -1])
def test_a_throw_in_is_taken_by_who_did_not_put_the_ball_out(side):
    found = exit_and_restart((5.0, 36.0 * side), (7.0, 34.8 * side), (12.0, 25.0 * side), "home_3")
    touch = "left touch" if side > 0 else "right touch"
    assert found == [
        ("play.dead", "touch", ""),
        ("out", touch, "away"),
        ("restart.throw_in", "", "home"),
        ("play.live", "touch", "home"),
    ]


@pytest.mark.parametrize("carries", [True, False], ids=["in his hands", "thrown"])
def test_who_runs_along_the_line_with_the_ball_in_his_hands_has_not_thrown_it(carries):
    spot, on = (5.0, 33.5), (-5.0, 33.8)
    way = [*path((0.0, 30.0), (5.0, 36.0), 1.0), *path((5.0, 36.0), spot, 2.0), *stay(spot, 2.0)]
    runs_s = len(way) * 0.04
    events = []
    for one in scene([*way, *path(spot, on, 2.5), *stay(on, 0.4)], cast(home_3=(5.0, 33.8))):
        frame = one.payload
        if isinstance(frame, Frame) and carries and one.ts_us > runs_s * 1e6:
            there = [body("home_3", frame.ball.x_m, frame.ball.y_m + 0.3) if p.object_id == "home_3" else p
                     for p in frame.players]  # fmt: skip
            one = msgspec.structs.replace(one, payload=msgspec.structs.replace(frame, players=tuple(there)))
        events.append(one)
    found = rows_of(concluded([*events, hit(0.0, "away_5", 0.0, 30.0)], SHEET, "restart."))
    assert found == ([] if carries else [("restart.throw_in", "", "home")])


@pytest.mark.parametrize(
    ("x_sign", "y_sign", "taker", "variant"),
    [(1, 1, "home_10", "left"), (1, -1, "home_10", "right"), (-1, 1, "away_10", "right"), (-1, -1, "away_10", "left")],
)
def test_a_corner_kick_has_the_side_that_its_team_sees(x_sign, y_sign, taker, variant):
    spot = (52.2 * x_sign, 33.6 * y_sign)
    found = exit_and_restart((53.5 * x_sign, 20.0 * y_sign), spot, (43.0 * x_sign, 5.0 * y_sign), taker)
    assert ("restart.corner", variant, taker[:4]) in found
    assert sum(kind.startswith("restart.") for kind, _, _ in found) == 1


def test_a_goal_kick_is_taken_from_the_goal_area():
    found = exit_and_restart((54.0, 12.0), (47.5, 5.0), (20.0, 10.0), "away_1", toucher="home_9")
    assert found[1:3] == [("out", "right goal line", "home"), ("restart.goal_kick", "", "away")]


def test_a_ball_kicked_back_from_behind_the_goal_line_is_no_restart():
    way = [
        *path((48.0, 12.0), (54.0, 12.0), 1.0),
        *stay((54.0, 12.0), 2.0),
        *path((54.0, 12.0), (47.5, 6.0), 1.0),
        *stay((47.5, 6.0), 2.0),
    ]
    found = story(way, cast(away_3=(54.0, 12.4), away_1=(47.5, 6.5)))
    assert [kind for kind, _, _ in found] == ["play.dead", "out"]


def test_a_dead_ball_between_the_posts_is_no_goal():
    way = [
        *path((50.0, 20.0), (54.0, 20.0), 0.8),
        *path((54.0, 20.0), (51.0, 10.0), 6.0),
        *path((51.0, 10.0), (51.0, 0.0), 6.0),
        *path((51.0, 0.0), (53.5, 0.0), 0.5),
        *stay((53.5, 0.0), 2.0),
    ]
    assert [kind for kind, _, _ in story(way)] == ["play.dead", "out"]


def test_a_ball_that_lies_for_five_seconds_and_is_kicked_away_was_a_free_kick():
    way = [*path((0.0, 0.0), (10.0, 12.0), 1.5), *stay((10.0, 12.0), 5.0), *path((10.0, 12.0), (0.0, 18.0), 1.0)]
    found = story(way, cast(away_6=(10.5, 12.0)))
    assert found == [("play.dead", "stop", ""), ("restart.free_kick", "short", "away"), ("play.live", "stop", "away")]


def test_a_free_kick_is_dated_at_the_kick_and_names_its_taker():
    way = [*path((0.0, 0.0), (10.0, 12.0), 1.5), *stay((10.0, 12.0), 5.0), *path((10.0, 12.0), (0.0, 18.0), 1.0)]
    (kick,) = concluded(scene(way, cast(away_6=(10.5, 12.0))), SHEET, "restart.")
    assert kick.ts_us == pytest.approx(6_480_000, abs=80_000)
    assert (kick.payload.player, kick.payload.x_m) == ("away_6", 10.0)
    assert kick.payload.detail["rest_s"] == pytest.approx(5.0, abs=0.1)


def test_a_defender_who_rests_the_ball_for_three_seconds_plays_on():
    way = [*path((0.0, 0.0), (-30.0, 5.0), 2.0), *stay((-30.0, 5.0), 3.0), *path((-30.0, 5.0), (-20.0, 20.0), 1.0)]
    assert story(way, cast(home_4=(-30.0, 5.4))) == []


def test_a_keeper_may_hold_the_ball_in_his_own_penalty_area():
    hold = (-45.0, 3.0, 1.2)
    way = [*path((-20.0, 0.0, 1.0), hold, 1.5), *stay(hold, 7.0), *path(hold, (-10.0, 10.0, 4.0), 1.5)]
    assert story(way, cast(home_1=(-45.2, 3.0))) == []


def test_an_attacker_who_holds_the_ball_there_has_stopped_play():
    hold = (-45.0, 3.0, 1.2)
    way = [*path((-20.0, 0.0, 1.0), hold, 1.5), *stay(hold, 3.0)]
    assert story(way, cast(away_9=(-45.2, 3.0))) == [("play.dead", "stop", "")]


def test_a_ball_carried_at_hand_height_outside_the_penalty_area_is_dead():
    way = [*path((0.0, 0.0, 1.2), (9.0, 0.0, 1.2), 1.0), *path((9.0, 0.0, 1.2), (10.5, 0.0, 1.3), 1.2)]
    (dead,) = concluded(scene(way, cast(home_8=(9.7, 0.3))), SHEET, "play.dead")
    assert dead.payload.detail["sign"] == "carried"


def test_a_slow_ball_that_nobody_goes_for_is_dead():
    way = [*path((0.0, 0.0), (9.0, 0.0), 1.0), *path((9.0, 0.0), (13.0, 0.0), 2.5)]
    (dead,) = concluded(scene(way, cast()), SHEET, "play.dead")
    assert dead.payload.detail["sign"] == "alone"


def test_a_ball_that_is_let_roll_died_soon_after_its_last_contact():
    way = [*path((0.0, 0.0), (9.0, 0.0), 1.0), *path((9.0, 0.0), (13.0, 0.0), 2.5)]
    frames = scene(way, cast(home_6=(0.2, 0.5), away_6=(-8.0, 30.0)))
    detail = {"delta_v_m_s": 9.0, "bounce": False}
    kick = make_event("ball.accel_peak", 200_000, "ball:200000", EventPayload("hard", x_m=0.5, y_m=0.0, detail=detail))
    (dead,) = concluded([*frames, kick], SHEET, "play.dead")
    assert dead.payload.detail["since_us"] == 600_000
    (dead,) = concluded(frames, SHEET, "play.dead")
    assert dead.payload.detail["since_us"] > 900_000, "it lies alone since then"


@pytest.mark.parametrize(("held_s", "since_us"), [(1.4, 600_000), (0.2, 1_400_000)], ids=["picked up", "chested down"])
def test_a_ball_that_a_field_player_picks_up_died_soon_after_the_last_contact_before(held_s, since_us):
    """The stop is known by the ball that lies; what hands did with it is no contact in play."""
    high = (9.0, 0.0, 1.2)
    way = [*path((0.0, 0.0, 0.1), (9.0, 0.0, 0.1), 1.4), *path((9.0, 0.0, 0.1), high, 0.2), *stay(high, held_s)]
    way += [*path(high, (9.0, 0.0, 0.1), 0.2), *stay((9.0, 0.0, 0.1), 5.0)]
    frames = scene(way, cast(home_6=(0.2, 0.5), home_8=(9.3, 0.3)))
    kinds = {"delta_v_m_s": 5.0, "bounce": False}
    made = [
        make_event("ball.accel_peak", at_us, f"ball:{at_us}", EventPayload("hard", x_m=x_m, y_m=0.0, detail=kinds))
        for at_us, x_m in ((200_000, 0.5), (1_440_000, 9.0), (1_720_000, 9.0))
    ]
    dead = concluded([*frames, *made], SHEET, "play.dead")
    assert dead[0].payload.detail["since_us"] == since_us


def test_a_ball_alone_in_a_penalty_area_with_its_defenders_far_off_is_dead():
    way = [*path((-30.0, 10.0), (-39.0, 10.0), 1.0), *path((-39.0, 10.0), (-43.0, 10.0), 2.5)]
    far, guarded = (scene(way, cast(home_8=place)) for place in ((-20.0, 20.0), (-44.0, 13.0)))
    assert [e.payload.detail["sign"] for e in concluded(far, SHEET, "play.dead")] == ["alone"]
    assert concluded(guarded, SHEET, "play.dead") == []


def test_a_ball_pushed_about_after_the_whistle_is_no_free_kick():
    way = [
        *path((0.0, 0.0), (10.0, 12.0), 1.5),
        *stay((10.0, 12.0), 4.5),
        *path((10.0, 12.0), (13.0, 12.0), 0.6),
        *stay((13.0, 12.0), 3.0),
    ]
    assert story(way, cast(away_6=(10.5, 12.0), home_8=(13.0, 12.5))) == [("play.dead", "stop", "")]


def test_after_a_stop_at_the_line_who_stands_outside_throws():
    spot = (10.0, 33.8)
    way = [*path((10.0, 20.0), spot, 1.5), *stay(spot, 5.0), *path(spot, (16.0, 28.0), 1.0)]
    assert ("restart.throw_in", "", "away") in story(way, cast(away_6=(10.0, 34.4)))
    assert ("restart.free_kick", "short", "away") in story(way, cast(away_6=(10.0, 33.2)))


def test_a_ball_in_the_corner_is_kicked_though_its_taker_stands_outside_the_touchline():
    spot = (52.1, 33.6)
    way = [*path((44.0, 28.0), spot, 2.0), *stay(spot, 5.0), *path(spot, (45.0, 4.0), 1.4)]
    assert ("restart.corner", "left", "home") in story(way, cast(home_5=(52.0, 34.4)))


def test_a_stream_that_starts_while_the_ball_is_played_says_nothing():
    way = [*path((-0.5, -2.0), (-12.0, 2.0), 1.0), *path((-12.0, 2.0), (-14.0, -20.0), 2.0)]
    assert story(way) == []


def test_a_stream_that_starts_with_the_ball_outside_takes_it_for_dead():
    way = [*path((20.0, 38.0), (20.0, 36.0), 1.0), *path((20.0, 36.0), (10.0, 25.0), 1.0)]
    assert story(way) == []


def test_the_first_kick_from_the_centre_spot_is_a_kick_off():
    way = [*stay((0.0, 0.0), 3.0), *path((0.0, 0.0), (-8.0, 2.0), 1.0)]
    found = story(way, cast(home_9=(0.4, 0.0), home_10=(-1.0, 2.0)))
    assert found == [("restart.kick_off", "", "home"), ("play.live", "start", "home")]


def test_a_kick_off_tapped_to_a_mate_counts_when_he_plays_it():
    way = [*stay((0.0, 0.0), 3.0), *path((0.0, 0.0), (0.0, 2.0), 0.6), *stay((0.0, 2.0), 0.4)]
    found = story([*way, *path((0.0, 2.0), (-9.0, 4.0), 1.0)], cast(home_9=(0.4, 0.0), home_10=(-0.5, 2.0)))
    assert found == [("restart.kick_off", "", "home"), ("play.live", "start", "home")]


def test_a_kick_from_the_centre_with_teams_mixed_is_no_kick_off():
    way = [*stay((0.0, 0.0), 3.0), *path((0.0, 0.0), (-8.0, 2.0), 1.0)]
    assert story(way, cast(home_9=(0.4, 0.0), home_10=(20.0, 2.0))) == []


@pytest.mark.parametrize(
    ("spot", "velocity", "variant"),
    [
        ((30.0, 3.0), (22.0, -2.0), "direct shot"),
        ((30.0, 3.0), (4.0, -6.0), "short"),
        ((30.0, 28.0), (12.0, -14.0), "crossed"),
        ((-20.0, 0.0), (20.0, 0.0), "short"),
        ((30.0, 3.0), (-20.0, 0.0), "short"),
    ],
)
def test_a_free_kick_is_named_by_where_it_goes(spot, velocity, variant):
    detail = {"vx_m_s": velocity[0], "vy_m_s": velocity[1], "attacks_x": "home"}
    live = EventPayload("stop", "home", "home_7", *spot, detail=detail)
    assert free_kick_variant(Pitch(), live, RestartParameters()) == variant
    mirrored = msgspec.structs.replace(live, team="away", x_m=-spot[0], detail={**detail, "vx_m_s": -velocity[0]})
    assert free_kick_variant(Pitch(), mirrored, RestartParameters()) == variant


def test_radio_input_needs_less_time_to_settle():
    quality = msgspec.structs.replace(SHEET.quality, kind="rtls", ball_hz=200.0)
    sheet = msgspec.structs.replace(SHEET, quality=quality)
    way = [*path((0.0, 30.0), (0.0, 38.0), 1.0, 0.005), *stay((0.0, 38.0), 1.0, 0.005)]
    (out,) = concluded(scene(way, cast(), 0.005), sheet, "out")
    assert out.ts_us - out.payload.detail["since_us"] <= 110_000


def test_a_defender_who_kicks_from_beside_his_own_flag_takes_no_corner_kick():
    """Law 17: the attackers take it. The referee had stopped play, or given a free kick, 2 m from the flag."""
    spot = (51.0, 32.6)
    way = [*path((44.0, 28.0), spot, 2.0), *stay(spot, 5.0), *path(spot, (38.0, 25.0), 1.0)]
    for taker, kind in (("away_5", "restart.free_kick"), ("home_5", "restart.corner")):
        found = story(way, cast(**{taker: (51.0, 33.0)}))
        assert [k for k, _, _ in found if k.startswith("restart.")] == [kind]
    found = exit_and_restart((53.5, 30.0), spot, (38.0, 25.0), "away_5", toucher="home_9")
    assert [k for k, _, _ in found if k.startswith("restart.")] == ["restart.free_kick"]


def kicked_off_at(second, cause):
    """The ``play.live`` of a kick-off after a stoppage of a cause."""
    detail = dict.fromkeys(LIVE, "") | {"fallback": False, "kick_off_shape": True, "rest_s": 1.0, "out_by": ""}
    payload = EventPayload(cause, "home", "home_9", 0.0, 0.0, detail=detail | {"kick_us": second * 1_000_000})
    return make_event("play.live", second * 1_000_000, f"ball:{second}", payload)


@pytest.mark.parametrize(
    ("cause", "second", "count"),
    [("stop", 8, 1), ("stop", 20, 2), ("goal", 8, 2)],
    ids=["taken again", "later", "after a goal whose celebration was cut out"],
)
def test_a_kick_off_soon_after_another_one_is_taken_again_unless_the_ball_was_in_a_goal(cause, second, count):
    assert len(fold(Restart(SHEET, "kick_off"), [kicked_off_at(0, "start"), kicked_off_at(second, cause)])) == count


def test_the_first_kick_off_is_compared_with_none():
    detector = Restart(SHEET, "kick_off")
    with recording() as comparisons:
        detector.step(detector.initial(), kicked_off_at(0, "start"))
    assert "time since the kick-off before" not in {one.what for one in comparisons}


def kick_off(taker):
    """A ball that lies on the centre spot for some seconds and is then kicked back."""
    sign = -1.0 if taker.startswith("home") else 1.0
    way = [*stay((0.0, 0.0), 3.0), *path((0.0, 0.0), (9.0 * sign, 2.0), 1.0)]
    return way, cast(**{taker: (0.3 * sign, 0.0)})


def test_a_ball_that_is_tracked_elsewhere_for_a_moment_has_not_been_kicked_off():
    """A wrong position is rejected, the next one taken, and carried on while the right one is rejected."""
    way, players = kick_off("home_9")
    jumped = [*stay((0.0, 0.0), 3.04), (-2.1, 0.5), (-3.15, 0.75), *stay((0.0, 0.0), 1.0)]
    for balls, found in ((jumped, []), ([*jumped, *way[-25:]], ["restart.kick_off"])):
        events = scene(balls, players)
        for at, event in enumerate(events):
            if event.kind == "frame" and event.payload.ball.x_m in (-2.1, -3.15):
                gap = msgspec.structs.replace(event.payload.ball, vx_m_s=-26.0, vy_m_s=6.0, gap_us=80_000)
                events[at] = msgspec.structs.replace(event, payload=build_frame(gap, event.payload.players))
        assert [e.kind for e in concluded(events, SHEET, "restart.")] == found


def test_frames_may_come_more_often_than_positions_of_the_ball():
    way = [*stay((0.0, 0.0), 3.0, 0.02), *path((0.0, 0.0), (-9.0, 2.0), 1.0, 0.02)]
    events = scene(way, kick_off("home_9")[1], 0.02)
    for at, event in enumerate(events):
        if event.kind == "frame":
            ball = msgspec.structs.replace(event.payload.ball, gap_us=40_000)
            events[at] = msgspec.structs.replace(event, payload=build_frame(ball, event.payload.players))
    assert [e.kind for e in concluded(events, SHEET, "restart.")] == ["restart.kick_off"]


def test_a_goal_soon_after_a_kick_off_has_its_own_kick_off():
    """Law 8: each goal is followed by one, also within a minute."""
    (first, players), (second, others) = kick_off("home_9"), kick_off("away_9")
    attack = [*path((-9.0, 2.0), (30.0, 5.0), 3.0), *path((30.0, 5.0), (53.5, 1.0), 1.0), *stay((53.5, 1.0), 1.0)]
    back = path((53.5, 1.0), (0.0, 0.0), 15.0)
    one = scene([*first, *attack, *back], players)
    two = scene(second, others)
    shift_us = one[-1].ts_us + 40_000
    later = [msgspec.structs.replace(e, ts_us=e.ts_us + shift_us, seq=e.seq + len(one)) for e in two]
    shot = hit(7.5, "home_9", 30.0, 5.0)
    found = rows_of(concluded([*one, *later, shot], SHEET, "restart.", "goal.scored", "goal.confirmed"))
    assert found == [
        ("restart.kick_off", "", "home"),
        ("goal.scored", "right", "home"),
        ("restart.kick_off", "", "away"),
        ("goal.confirmed", "right", "home"),
    ]


def dropped(near, holds_s=3.0):
    """A ball that is held at the waist, then falls and is passed on."""
    at, held = (10.0, 5.0, 0.11), (10.0, 5.0, 1.1)
    way = [*path((2.0, 2.0, 0.11), at, 2.0), *stay(at, 5.0), *path(at, held, 0.4), *stay(held, holds_s)]
    way += [*path(held, at, 0.4), *stay(at, 1.0), *path(at, (-2.0, 2.0, 0.11), 1.0)]
    return [k for k, _, _ in story(way, cast(home_6=near)) if k.startswith("restart.")]


def test_a_ball_that_the_referee_lets_fall_is_a_dropped_ball():
    """Law 8.2: one player of the team waits for it, all others are 4 m away."""
    assert dropped((10.0, 6.2)) == ["restart.dropped"]
    assert dropped((10.0, 5.3)) == ["restart.free_kick"], "he holds it himself, and puts it down"
    assert dropped((10.0, 6.2), holds_s=0.3) == ["restart.free_kick"], "a bounce"


def test_a_ball_that_seems_to_hang_at_the_waist_when_it_is_kicked_was_not_dropped():
    """A dropped ball is in play once it has touched the ground (Law 8.2); the height of a keyed ball errs."""
    at = (10.0, 5.0, 0.8)
    way = [*path((2.0, 2.0, 0.11), at, 2.0), *stay(at, 6.0), *path(at, (-2.0, 2.0, 0.11), 1.0)]
    assert [k for k, _, _ in story(way, cast(home_6=(10.0, 6.2))) if k.startswith("restart.")] == ["restart.free_kick"]


@pytest.mark.parametrize(
    ("line", "team", "x_m", "y_m", "taker_y_m", "kind"),
    [
        ("unseen", "away", 48.0, 3.0, 3.4, "goal_kick"),
        ("unseen", "home", 48.0, 3.0, 3.4, "free_kick"),
        ("unseen", "away", 45.0, 3.0, 3.4, "free_kick"),
        ("unseen", "home", 10.0, 33.4, 33.2, "throw_in"),
        ("unseen", "home", 10.0, 32.0, 33.2, "free_kick"),
        ("unseen", "home", 52.0, 33.6, 34.0, "corner"),
        ("", "away", 48.0, 3.0, 3.4, "free_kick"),
        ("", "home", 10.0, 33.4, 33.2, "free_kick"),
    ],
    ids=[
        "defenders in their goal area", "attackers there", "in front of it", "at the touchline", "well inside it",
        "at the flag", "a stop that was seen, in the goal area", "one at the touchline",
    ],
)  # fmt: skip
def test_after_a_stop_that_nobody_saw_the_place_shows_the_restart(line, team, x_m, y_m, taker_y_m, kind):
    not_so = ("fallback", "kick_off_shape", "penalty_shape", "shoot_out", "dropped")
    detail = {"line": line, "attacks_x": "home", "taker_y_m": taker_y_m, **dict.fromkeys(not_so, False)}
    live = EventPayload("stop", team, f"{team}_1", x_m, y_m, detail=detail)
    assert restart_kind(pitch_of(SHEET), live, RestartKickParameters()) == kind


@pytest.mark.parametrize(
    ("inside_m", "taker_inside_m", "spread_m", "kind"),
    [
        (0.9, 0.5, 0.55, "free_kick"),
        (0.9, 0.1, 0.55, "throw_in"),
        (0.9, 0.25, 1.4, "throw_in"),
        (1.3, 1.5, 1.4, "throw_in"),
        (1.4, 0.5, 1.4, "free_kick"),
    ],
)
def test_places_of_television_have_to_be_farther_inside_the_touchline_for_a_free_kick(
    inside_m: float, taker_inside_m: float, spread_m: float, kind: str
):
    detail = {"fallback": False, "kick_off_shape": False, "taker_y_m": 34.0 - taker_inside_m, "spread_m": spread_m}
    live = EventPayload("touch", "home", "home_3", 10.0, 34.0 - inside_m, detail=detail)
    assert restart_kind(pitch_of(SHEET), live, RestartKickParameters()) == kind
