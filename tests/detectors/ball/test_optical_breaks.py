"""Corners of a camera's ball: between frames, two at once, none of grass or of a wrong place; and whose they are."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from detectors.actions.flight import ShotParameters, opening_rad
from detectors.ball.changes import AccelerationPeak
from detectors.ball.optical_breaks import STATES_AFTER, STATES_AFTER_MOST, fits_optical_breaks, states_for
from detectors.contacts.hits import PlayerHitsBall
from detectors.contacts.releases import KickReleased
from detectors.proximity.near import Near
from football.constants import BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState, BodyState, EventPayload, build_frame
from football.pitch import pitch_of
from middleware.detector import Detector
from middleware.events import Event
from tests.detectors.scene import chained, fold

CAMERA = Quality(25.0, 25.0, (), True, 0.05, "optical")
SHEET = MatchSheet(quality=CAMERA)
FRAME_S = 0.04

#: Second, x, y, z.
Waypoint = tuple[float, float, float, float]


def ball(
    waypoints: Sequence[Waypoint], seed: int = 0, noise_m: float = 0.01, height_m: float = 0.0, frame_s: float = FRAME_S
) -> list[Event]:
    """``ball.state`` every frame on straight ways between waypoints, each place wrong by noise; velocities as 1.4.

    Heights are wrong by ``height_m`` instead, unless it is 0.
    """
    chance = random.Random(seed)
    events: list[Event] = []
    for i in range(round(waypoints[-1][0] / frame_s)):
        at_s = i * frame_s
        a, b = next((a, b) for a, b in pairwise(waypoints) if a[0] <= at_s < b[0])
        share = (at_s - a[0]) / (b[0] - a[0])
        noises_m = noise_m, noise_m, height_m or noise_m
        place = [a[k] + (b[k] - a[k]) * share + chance.gauss(0.0, noises_m[k - 1]) for k in (1, 2, 3)]
        before = events[-1].payload if events else None
        velocity = [0.0, 0.0, 0.0]
        if isinstance(before, BallState):
            velocity = [(n - o) / frame_s for n, o in zip(place, (before.x_m, before.y_m, before.z_m), strict=True)]
        state = BallState(*place, *velocity, round(frame_s * 1e6), run=min(i + 1, 100))
        events.append(Event("ball.state", round(at_s * 1e6), "ball", i, state))
    return events


def player(name: str, x_m: float, y_m: float, vx_m_s: float = 0.0) -> BodyState:
    return BodyState(name, "home" if name.startswith("home") else "away", "", x_m, y_m, 0.0, vx_m_s, 0.0)


def hits(states: list[Event], *players: BodyState, above: Sequence[Detector[object]] = ()) -> list[Event]:
    """Events of 5.1, or of the last detector above it, from a ball among players who stand still."""
    everybody = tuple(sorted(players, key=lambda p: p.object_id))
    frames = [Event("frame", e.ts_us, "frame", e.seq, build_frame(e.payload, everybody)) for e in states]  # type: ignore[arg-type]
    return chained([*states, *frames], AccelerationPeak(SHEET), Near(SHEET), PlayerHitsBall(SHEET), *above)


def payload(event: Event) -> EventPayload:
    assert isinstance(event.payload, EventPayload)
    return event.payload


def test_only_cameras_fast_enough_are_fitted_by_pieces() -> None:
    assert fits_optical_breaks(CAMERA)
    assert not fits_optical_breaks(Quality(5.0, 5.0, (), True, 0.05, "optical"))
    assert not fits_optical_breaks(Quality(200.0, 50.0, ("left_foot",), True, 0.02, "rtls"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("late_s", [0.0, 0.01, 0.02, 0.03])
def test_a_contact_is_dated_between_frames(seed: int, late_s: float) -> None:
    at_s = 1.0 + late_s
    out = chained(ball([(0, 0, 0, 0.11), (at_s, 3, 0, 0.11), (2, 3, 14, 0.11)], seed), AccelerationPeak(SHEET))
    assert len(out) == 1
    assert abs(out[0].ts_us - at_s * 1e6) <= 10_000
    assert abs(payload(out[0]).x_m - 3.0) < 0.05  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(4))
def test_a_push_of_1_m_s_is_found_and_a_ball_that_rolls_on_has_no_corner(seed: int) -> None:
    pushed = [(0.0, 0.0, 0.0, 0.11), (1.0, 3.0, 0.0, 0.11), (2.0, 7.1, 0.3, 0.11)]
    assert len(chained(ball(pushed, seed), AccelerationPeak(SHEET))) == 1
    assert chained(ball([(0, -20, 0, 0.11), (6, 20, 5, 0.11)], seed), AccelerationPeak(SHEET)) == []


@pytest.mark.parametrize("seed", range(4))
def test_ten_places_a_second_wrong_by_a_decimetre_show_a_kick_and_nothing_else(seed: int) -> None:
    television = MatchSheet(quality=Quality(10.0, 10.0, (), True, 0.05, "optical"))
    kicked = ball([(0, 0, 0, 0.11), (2, 4, 0, 0.11), (4, 4, 24, 0.11)], seed, 0.1, frame_s=0.1)
    out = chained(kicked, AccelerationPeak(television))
    assert [abs(event.ts_us - 2_000_000) <= 100_000 for event in out] == [True]
    rolls = ball([(0, -20, 0, 0.11), (6, 20, 5, 0.11)], seed, 0.1, frame_s=0.1)
    assert chained(rolls, AccelerationPeak(television)) == []


@pytest.mark.parametrize("seed", range(4))
def test_grass_slows_a_ball_without_anybody(seed: int) -> None:
    """From 5 to 3.5 m/s on its way: nobody is needed; with as much of a turn somebody is."""
    slowed = [(0.0, 0.0, 0.0, 0.11), (1.0, 5.0, 0.0, 0.11), (2.0, 8.5, 0.0, 0.11)]
    turned = [(0.0, 0.0, 0.0, 0.11), (1.0, 5.0, 0.0, 0.11), (2.0, 8.5, 2.0, 0.11)]
    assert chained(ball(slowed, seed), AccelerationPeak(SHEET)) == []
    assert len(chained(ball(turned, seed), AccelerationPeak(SHEET))) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_kick_and_its_block_two_frames_later_are_two_contacts(seed: int) -> None:
    way = [(0.0, -2.0, 0.0, 0.11), (1.0, 0.0, 0.0, 0.11), (1.09, 1.6, 0.0, 0.11), (2.0, 2.6, 6.0, 0.11)]
    out = hits(ball(way, seed), player("away_3", 1.7, -0.5), player("home_9", -0.4, 0.2))
    assert [(round(e.ts_us / 1e6, 1), payload(e).player) for e in out] == [(1.0, "home_9"), (1.1, "away_3")]


@pytest.mark.parametrize("seed", range(4))
def test_a_place_that_is_wrong_is_no_pair_of_contacts(seed: int) -> None:
    states = ball([(0, 0, 0, 0.11), (3, 9, 0, 0.11)], seed)
    wrong = states[30]
    assert isinstance(wrong.payload, BallState)
    place = replace_y(wrong.payload, wrong.payload.y_m + 0.8)
    assert (
        chained([*states[:30], msgspec.structs.replace(wrong, payload=place), *states[31:]], AccelerationPeak(SHEET))
        == []
    )


#: Ways of a ball in the air, up to 0.48 s and from then on; and whether it is played there.
IN_THE_AIR: dict[str, tuple[Sequence[Waypoint], bool]] = {
    "headed on": ([(0, -6, 0, 1.6), (0.5, 0, 0, 1.6), (1.1, 3.6, 4.8, 1.6)], True),
    "taken on the chest": ([(0, -6, 0, 1.4), (0.5, 0, 0, 1.4), (1.1, 0.6, 0, 1.4)], True),
    "flies on": ([(0, -6, 0, 1.6), (1.1, 7.2, 0, 1.6)], False),
    "keyed too late, so that it gets faster": ([(0, -4, 0, 1.6), (0.5, 0, 0, 1.6), (1.1, 6.0, 0, 1.6)], False),
    "keyed too early, so that it gets slower": ([(0, -6, 0, 1.6), (0.5, 0, 0, 1.6), (1.1, 6.0, 0, 1.6)], False),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("way", IN_THE_AIR)
def test_heights_that_shake_do_not_hide_a_contact_in_the_air_and_make_none(way: str, seed: int) -> None:
    points, played = IN_THE_AIR[way]
    out = chained(ball(points, seed, height_m=0.25), AccelerationPeak(SHEET))
    assert [abs(e.ts_us - 500_000) <= 60_000 for e in out] == [True] * played


def replace_y(state: BallState, y_m: float) -> BallState:
    return BallState(state.x_m, y_m, state.z_m, state.vx_m_s, state.vy_m_s, state.vz_m_s, state.gap_us, run=state.run)


def test_who_was_at_the_place_between_frames_has_kicked() -> None:
    """At the frame before, and after, the other one is nearer to a ball that comes and goes at 20 m/s."""
    way = [(0.0, -20.0, 0.4, 0.11), (1.02, 0.4, 0.4, 0.11), (2.0, -14.0, 14.0, 0.11)]
    out = hits(ball(way), player("away_3", -0.9, 0.6), player("home_9", 0.8, 0.2))
    assert [payload(e).player for e in out] == ["home_9"]


def test_of_two_who_are_as_near_it_is_his_who_had_the_ball() -> None:
    way = [(0.0, -6.0, 0.0, 0.11), (1.0, 0.0, 0.0, 0.11), (1.6, 0.6, 0.0, 0.11), (2.6, 0.6, 14.0, 0.11)]
    here, rival = player("home_9", 0.1, -0.4), player("away_3", 1.0, 0.1)
    assert [payload(e).player for e in hits(ball(way), here, rival)] == ["home_9", "home_9"]
    cold = [(0.0, 0.0, 0.0, 0.11), (1.6, 0.6, 0.0, 0.11), (2.6, 0.6, 14.0, 0.11)]
    assert [payload(e).player for e in hits(ball(cold), here, rival)] == ["away_3"]


@pytest.mark.parametrize(("out_m_s", "kicker"), [(14.0, "home_9"), (6.0, "away_3")], ids=["kicked", "poked"])
def test_who_has_the_ball_kicks_it_and_who_is_nearer_pokes_it(out_m_s: float, kicker: str) -> None:
    way = [(0.0, -6.0, 0.0, 0.11), (1.0, 0.0, 0.0, 0.11), (1.6, 0.6, 0.0, 0.11), (2.6, 0.6, out_m_s, 0.11)]
    here, rival = player("home_9", 0.1, -0.6), player("away_3", 0.9, -0.1)
    assert [payload(e).player for e in hits(ball(way), here, rival)] == ["home_9", kicker]


def test_a_ball_in_hands_is_shaken_and_not_hit() -> None:
    """At the chest of who has caught it; thrown away, it is played again."""
    way = [
        (0.0, -14.0, 0.0, 1.1), (1.0, 0.0, 0.0, 1.1), (1.8, 0.0, 0.1, 1.1), (2.4, 0.7, 0.1, 1.1),
        (3.0, 0.7, 1.0, 1.1), (4.0, 12.0, 1.0, 1.1),
    ]  # fmt: skip
    out = hits(ball(way), player("home_1", 0.2, 0.2))
    assert [round(e.ts_us / 1e6, 1) for e in out] == [1.0, 3.0]


def test_a_ball_leaves_as_the_fit_of_its_kick_has_it() -> None:
    """Two frames are 1 cm wrong each: 0.35 m/s; the velocity of the piece is known better."""
    way = [(0.0, 0.0, 0.0, 0.11), (1.01, 0.0, 0.0, 0.11), (2.0, 14.85, 0.0, 0.11)]
    for seed in range(4):
        left = hits(ball(way, seed, 0.02), player("home_9", -0.4, 0.0), above=[KickReleased(SHEET)])
        assert abs(payload(left[0]).detail["vx_m_s"] - 15.0) < 0.5
        assert abs(payload(left[0]).detail["vy_m_s"]) < 0.5


def test_the_goal_is_more_open_where_shots_are_taken() -> None:
    pitch, open_rad = pitch_of(SHEET), ShotParameters().open_rad
    assert opening_rad(30.0, 5.0, True, pitch) == opening_rad(-30.0, -5.0, False, pitch) > open_rad
    assert opening_rad(33.0, 24.0, True, pitch) < open_rad


@pytest.mark.parametrize("seed", range(4))
def test_a_fit_that_says_more_than_any_ball_can_do_is_made_as_short_and_the_strike_stays_a_hit(seed: int) -> None:
    way = [(0.0, 0.0, 0.0, 0.11), (1.01, 3.0, 0.0, 0.11), (1.4, 3.0, 20.3, 6.0)]
    states, kicker = ball(way, seed), player("home_9", 3.0, -0.4)
    for above in ((), (KickReleased(SHEET),)):
        (struck,) = hits(states, kicker, above=above)
        vx, vy, vz = (float(payload(struck).detail[name]) for name in ("vx_m_s", "vy_m_s", "vz_m_s"))  # type: ignore[arg-type]
        assert math.hypot(vx, vy, vz) == pytest.approx(BALL_SPEED_MAX_M_S, abs=2.0)
        assert math.hypot(vx, vy, vz) <= BALL_SPEED_MAX_M_S + 0.02
        assert math.atan2(vx, vy) == pytest.approx(0.0, abs=0.1), "the direction is the measured one"


def repeated(states: list[Event], begin_s: float, end_s: float) -> list[Event]:
    """The states of a system that repeats a position for a while and then goes on with the true one."""
    held = next(e.payload for e in states if e.ts_us >= begin_s * 1e6)
    out: list[Event] = []
    for event in states:
        ball = held if begin_s * 1e6 <= event.ts_us < end_s * 1e6 else event.payload
        before = out[-1].payload if out else ball
        assert isinstance(ball, BallState)
        assert isinstance(before, BallState)
        vx, vy, run = (ball.x_m - before.x_m) / FRAME_S, (ball.y_m - before.y_m) / FRAME_S, before.run + 1
        if math.hypot(vx, vy) > BALL_SPEED_MAX_M_S:
            vx, vy, run = 0.0, 0.0, 1
        ball = msgspec.structs.replace(ball, vx_m_s=vx, vy_m_s=vy, run=run)
        out.append(msgspec.structs.replace(event, payload=ball))
    return out


@pytest.mark.parametrize("seed", range(4))
def test_a_track_that_is_repeated_and_jumps_on_is_neither_stopped_nor_kicked(seed: int) -> None:
    states = repeated(ball([(0.0, 0.0, 0.0, 0.11), (3.0, 21.0, 0.0, 0.11)], seed), 1.0, 1.16)
    assert hits(states, player("home_9", 7.0, -1.3), player("away_3", 8.2, 0.6)) == []


@pytest.mark.parametrize("late_s", [0.0, 0.02])
def test_a_ball_that_lay_and_is_kicked_has_not_jumped(late_s: float) -> None:
    way = [(0.0, 0.0, 0.0, 0.11), (1.2 + late_s, 0.0, 0.0, 0.11), (3.0, 27.0, 0.0, 0.11)]
    struck = hits(ball(way, noise_m=0.0), player("home_9", -0.4, 0.0))
    assert [round(e.ts_us / 1e6, 2) for e in struck] == [pytest.approx(1.2 + late_s, abs=0.03)]


@pytest.mark.parametrize(
    ("onward_m_s", "expected"), [(9.0, ["home_9"]), (4.5, []), (0.0, [])], ids=["faster", "slower", "stopped dead"]
)
def test_beyond_reach_a_body_makes_a_ball_faster_but_does_not_stop_it(onward_m_s: float, expected: list[str]) -> None:
    way = [(0.0, -7.0, 0.0, 0.11), (1.01, 0.0, 0.0, 0.11), (2.0, onward_m_s, 0.0, 0.11)]
    struck = hits(ball(way), player("home_9", 0.0, -1.3))
    assert [payload(e).player for e in struck] == expected


@pytest.mark.parametrize("seed", range(4))
def test_heights_that_jump_part_no_kick_into_two(seed: int) -> None:
    """One kick over the ground; heights are up to a metre too great from then on."""
    states = ball([(0.0, 0.0, 0.0, 0.11), (1.01, 4.0, 0.0, 0.11), (2.0, 18.0, 6.0, 0.11)], seed)
    for at, up_m in zip(range(26, 31), (0.6, 1.0, 0.7, 0.9, 0.8), strict=True):
        high = msgspec.structs.replace(states[at].payload, z_m=0.1 + up_m)  # type: ignore[type-var]
        states[at] = msgspec.structs.replace(states[at], payload=high)
    assert len([e for e in chained(states, AccelerationPeak(SHEET)) if e.ts_us < 1_100_000]) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_kick_that_was_not_seen_is_dated_where_the_ball_left_its_kicker(seed: int) -> None:
    """He stops the ball; then the track repeats its position while he kicks it."""
    way = [(0.0, -8.0, 0.0, 0.11), (1.0, 0.0, 0.0, 0.11), (2.0, 0.8, 0.0, 0.11), (3.2, 0.8, 18.0, 0.11)]
    states = repeated(ball(way, seed), 1.4, 2.16)
    (left,) = hits(states, player("home_9", 0.5, -0.3), above=[KickReleased(SHEET)])
    assert payload(left).detail["kick_us"] == pytest.approx(2_000_000, abs=60_000)
    assert payload(left).detail["kick_x_m"] == pytest.approx(0.8, abs=0.3)


@pytest.mark.parametrize(
    ("lost_s", "held", "found_s", "expected"),
    [
        (1.14, False, 1.4, ["home_6"]),
        (1.14, False, 2.2, ["home_6"]),
        (1.14, True, 1.4, []),
        (1.06, False, 1.4, ["home_6"]),
    ],
    ids=["three places", "for a second", "one place three times", "one place, and where it is found"],
)
def test_a_ball_that_is_lost_just_after_it_was_trapped_was_trapped(
    lost_s: float, held: bool, found_s: float, expected: list[str]
) -> None:
    states = ball([(0.0, 0.0, 0.0, 0.1), (1.0, 10.0, 0.0, 0.1), (3.0, 13.0, 1.0, 0.1)])
    if held:
        states = repeated(states, 1.04, 1.3)
    found = [e for e in states if e.ts_us < lost_s * 1e6]
    for i, event in enumerate(e for e in states if e.ts_us >= found_s * 1e6):
        found.append(msgspec.structs.replace(event, payload=msgspec.structs.replace(event.payload, run=i + 1)))  # type: ignore[type-var]
    assert [payload(e).player for e in hits(found, player("home_6", 10.3, 0.2)) if e.kind == "hit"] == expected


def test_noisier_positions_need_longer_segments_and_show_the_contact_then():
    """The ball is turned by 30 degrees at 6 m/s; with positions that are wrong by 5 cm three of them seldom show it."""
    assert [states_for(noise_m) for noise_m in (0.0, 0.012, 0.03, 0.07, 1.0)] == [
        STATES_AFTER,
        3,
        5,
        7,
        STATES_AFTER_MOST,
    ]
    way: list[Waypoint] = [(0.0, 0.0, 0.0, 0.1), (1.0, 6.0, 0.0, 0.1), (2.0, 11.2, 3.0, 0.1)]
    found = []
    for declared_m in (0.05, 0.25):
        sheet = MatchSheet(quality=msgspec.structs.replace(CAMERA, position_noise_m=declared_m))
        peaks = [fold(AccelerationPeak(sheet), ball(way, seed, noise_m=0.05)) for seed in range(20)]
        found.append(sum(any(abs(peak.ts_us - 1_000_000) < 80_000 for peak in one) for one in peaks))
    assert found[0] < 10
    assert found[1] > 16


def smoothed(states: list[Event], smoothing_s: float) -> list[Event]:
    """The same ball, its positions run through a Gaussian filter; velocities as 1.4."""
    payloads = [event.payload for event in states if isinstance(event.payload, BallState)]
    measured = np.array([[b.x_m, b.y_m, b.z_m] for b in payloads])
    on_and_on = np.pad(measured, ((20, 20), (0, 0)), mode="reflect", reflect_type="odd")
    path = gaussian_filter1d(on_and_on, smoothing_s / FRAME_S, axis=0)[20:-20]
    velocities = np.diff(path, axis=0, prepend=path[:1]) / FRAME_S
    changed = [
        msgspec.structs.replace(b, x_m=x, y_m=y, z_m=z, vx_m_s=vx, vy_m_s=vy, vz_m_s=vz)
        for b, (x, y, z), (vx, vy, vz) in zip(payloads, path.tolist(), velocities.tolist(), strict=True)
    ]
    return [msgspec.structs.replace(event, payload=new) for event, new in zip(states, changed, strict=True)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("smoothing_s", [0.05, 0.1, 0.2])
def test_a_smoothed_kick_is_one_contact_that_is_dated_as_if_it_were_not(smoothing_s: float, seed: int) -> None:
    way = ball([(0, 0, 0, 0.11), (1.0, 3, 0, 0.11), (2.01, 3, 20, 0.11), (3, 8, 20, 0.11)], seed)
    sheet = MatchSheet(quality=msgspec.structs.replace(CAMERA, ball_smoothing_s=smoothing_s))
    out = chained(smoothed(way, smoothing_s), AccelerationPeak(sheet))
    assert [abs(event.ts_us - at_us) <= 10_000 for event, at_us in zip(out, (1_000_000, 2_010_000), strict=True)] == [
        True,
        True,
    ]
    assert abs(payload(out[0]).y_m) < 0.1  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(4))
def test_a_block_a_quarter_of_a_second_after_a_kick_is_found_though_the_ball_is_smoothed(seed: int) -> None:
    """The kick bends the positions of the block; without that bend they are as straight as others."""
    way = ball([(0, 0, 0, 0.11), (1.0, 3, 0, 0.11), (1.24, 3, 4, 0.11), (2.2, 6, 4.5, 0.11)], seed)
    sheet = MatchSheet(quality=msgspec.structs.replace(CAMERA, ball_smoothing_s=0.06))
    out = chained(smoothed(way, 0.06), AccelerationPeak(sheet))
    assert [round(event.ts_us / 1e6, 1) for event in out] == [1.0, 1.2]


def test_a_ball_whose_smoothing_is_not_known_is_struck_in_several_places() -> None:
    way = ball([(0, 0, 0, 0.11), (1.0, 3, 0, 0.11), (2.01, 3, 20, 0.11), (3, 8, 20, 0.11)])
    assert len(chained(smoothed(way, 0.1), AccelerationPeak(SHEET))) != 2
