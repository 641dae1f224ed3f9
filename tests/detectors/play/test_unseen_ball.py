"""A ball in play that is not seen: found outside, it went out; held in its place, it does not lie there."""

from __future__ import annotations

import msgspec
import pytest

from detectors.play.dead_ball_kicks import Rest, RestParameters, carried_on, is_dropped
from detectors.play.phase import PlayPhase
from detectors.play.stalls import StallParameters, is_played_at
from football.match_sheet import MatchSheet
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.scene import (
    Point,
    ball_track,
    body,
    cast,
    concluded,
    decision,
    fold,
    frame_event,
    path,
    rows_of,
    scene,
    stay,
)


def lost_and_found(found: Point) -> list[Event]:
    """A ball that lay outside is lost when play is resumed, and found elsewhere two seconds later."""
    lay = [frame_event(0.04 * i, (0.0, 36.0), cast(), i) for i in range(25)]
    unseen = [frame_event(1.0 + 0.04 * i, None, cast(), 25 + i) for i in range(1, 50)]
    seen = [frame_event(3.0 + 0.04 * i, found, cast(), 75 + i) for i in range(15)]
    return [*lay, decision(1.0, "resume"), *unseen, *seen]


@pytest.mark.parametrize(
    ("found", "cause", "line"),
    [((6.0, -35.5), "touch", "right touch"), ((54.5, 9.0), "goal line", "right goal line"), ((6.0, 34.3), "", "")],
    ids=["over a touchline", "over a goal line", "the track may err"],
)
def test_a_ball_that_is_found_outside_without_a_crossing_went_out_while_it_was_not_seen(found, cause, line):
    events = concluded(lost_and_found(found), MatchSheet(), "play.dead", "out")
    assert rows_of(events) == ([("play.dead", cause, ""), ("out", line, "")] if cause else [])
    for event in events:
        assert (event.ts_us, event.payload.detail["since_us"]) == (3_400_000, 2_020_000)


@pytest.mark.parametrize("run_m_s", [2.0, 0.1], ids=["players run", "players stand"])
def test_a_ball_whose_position_is_held_while_players_run_does_not_lie_alone(run_m_s):
    frames = []
    for rolls in ball_track([*path((0.0, 0.0), (10.0, 0.0), 1.0), *stay((10.0, 0.0), 2.5)]):
        moved_m = run_m_s * rolls.ts_us * 1e-6
        bodies = [msgspec.structs.replace(one, y_m=one.y_m + moved_m, vy_m_s=run_m_s) for one in cast()]
        frame = build_frame(rolls.payload, tuple(sorted(bodies, key=lambda one: one.object_id)))
        frames.append(Event("frame", rolls.ts_us, "frame", rolls.seq, frame))
    dead = fold(PlayPhase(MatchSheet()), frames)
    assert [event.payload.detail["sign"] for event in dead] == ([] if run_m_s > 1.0 else ["alone"])


@pytest.mark.parametrize(
    ("at", "ball", "kick_us"),
    [((9.0, 0.0), (14.0, 0.5), 9_500_000), ((9.0, 0.0), (14.0, 8.0), -1), ((1.5, 0.0), (14.0, 0.5), -1)],
    ids=["it flies from him", "it flies past him", "he has just left"],
)
def test_a_ball_that_flies_from_who_carried_it_on_unseen_was_kicked_where_he_is(at, ball, kick_us):
    left_us = 1_400_000 if at[0] > 2.0 else 9_000_000
    rest = Rest(0, 1_000_000, taker=body("home_7", 0.5, 0.0), left_us=left_us, away_us=1_000_000, found_us=9_800_000)
    flies = BallState(*ball, 0.0, 10.0, 0.0, 0.0, 40_000)
    frame = build_frame(flies, (body("home_7", *at),))
    carried = carried_on(rest, RestParameters(), 10_000_000, frame, flies)
    assert (carried.x_m, carried.last_us) == ((at[0], kick_us) if kick_us > 0 else (rest.x_m, rest.last_us))


def test_a_moving_ball_in_hands_or_far_from_everybody_is_no_sign_of_play():
    low, high = (BallState(0.0, 0.0, z_m, 3.0, 0.0, 0.0, 40_000) for z_m in (0.1, 1.0))
    signs = [is_played_at(StallParameters(), *seen) for seen in ((low, 0.3), (high, 0.3), (high, 2.0), (low, 15.0))]
    assert signs == [True, False, True, False]


@pytest.mark.parametrize(
    ("z_m", "raised_us", "drops"), [(2.0, 5_000_000, True), (0.1, 5_000_000, False), (2.0, 4_000_000, False)]
)
def test_a_ball_that_comes_from_above_the_chest_was_dropped_and_is_no_free_kick(z_m, raised_us, drops):
    rest = Rest(0, 5_000_000, high_us=3_000_000, raised_us=raised_us)
    assert is_dropped(rest, RestParameters(), BallState(3.0, 0.0, z_m, 12.0, 0.0, 0.0, 40_000)) is drops


@pytest.mark.parametrize(("near_m", "lay_us"), [(8.0, 900_000), (3.0, 900_000), (8.0, 100_000)])
def test_a_ball_that_lay_far_from_everybody_and_flies_was_played_by_somebody_else(near_m, lay_us):
    detector = PlayPhase(MatchSheet())
    flies = BallState(4.0, 0.0, 0.0, 12.0, 0.0, 0.0, 40_000, run=100)
    rest = Rest(1_000_000 - lay_us, 1_000_000, taker=body("home_7", 0.0, near_m), taker_m=near_m, fresh_us=1_000_000)
    others = detector._kicks.is_played_by_others(rest, 1_400_000, build_frame(flies, cast()), flies)
    assert others is (near_m > 6.0 and lay_us > 500_000)


@pytest.mark.parametrize(("far_m", "dead"), [(3.0, True), (1.0, False)], ids=["three metres", "a metre"])
def test_a_ball_that_flies_out_by_metres_is_dead_though_it_rebounds_into_the_field_at_once(far_m, dead):
    out_s = (far_m + 14.0) / 20.0
    track = [*path((5.0, 20.0), (5.0, 34.0 + far_m), out_s), *path((5.0, 34.0 + far_m), (5.0, 20.0), out_s)]
    events = concluded(scene(track, cast()), MatchSheet(), "play.dead")
    assert rows_of(events) == ([("play.dead", "touch", "")] if dead else [])


@pytest.mark.parametrize(("resumed_s", "since_us"), [(0.5, 1_364_706), (2.0, 2_460_000)], ids=["before", "meanwhile"])
def test_a_ball_that_was_lost_before_its_restart_went_out_between_the_restart_and_when_it_is_found(resumed_s, since_us):
    stopped = decision(0.1, "stop")
    lay = [frame_event(0.04 * i, (0.0, 33.8), cast(), i) for i in range(26)]
    unseen = [frame_event(1.0 + 0.04 * i, None, cast(), 25 + i) for i in range(1, 50)]
    seen = [frame_event(3.0 + 0.04 * i, (6.0, 35.5), cast(), 75 + i) for i in range(15)]
    balls = [Event("ball.state", e.ts_us, "ball", e.seq, e.payload.ball) for e in [*lay, *seen]]
    events = [stopped, decision(resumed_s, "resume", 2), *balls, *lay, *unseen, *seen]
    dead = concluded(events, MatchSheet(), "play.dead")[-1]
    assert (dead.payload.variant, dead.payload.detail["since_us"]) == ("touch", since_us)
