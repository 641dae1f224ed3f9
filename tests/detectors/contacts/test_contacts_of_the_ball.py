"""Levels 2, 4 and 5: corners of the ball's way, nearness, and A!BC."""

from __future__ import annotations

import pytest

from detectors.ball.changes import AccelerationPeak, BallTurn, SpeedStep
from detectors.contacts.hits import PlayerHitsBall, SoftTouch
from detectors.contacts.releases import KickReleased
from detectors.emission import make_event
from detectors.proximity.near import Candidate, Closest, Near, NearestPlayer, PossessionZone
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState, EventPayload, build_frame
from middleware.events import Event
from tests.detectors.scene import ball_track, body, chained, fold, frame_event, path, rows_of

SHEET = MatchSheet()
ROLL = [(0.0, 0.0), *path((0.0, 0.0), (4.0, 0.0), 0.4)]


def bent(end: tuple[float, ...]) -> list[Event]:
    """A ball at 10 m/s that goes on to ``end`` in 0.4 s."""
    return ball_track([*ROLL, *path((4.0, 0.0), end, 0.4)])


@pytest.mark.parametrize(
    ("end", "strength"),
    [((8.0, 0.0), ""), ((8.0, 0.2), ""), ((8.0, 0.45), "hit"), ((3.0, 4.0), "hard"), ((0.0, 0.0), "hard")],
)
def test_a_peak_is_as_strong_as_the_change_of_velocity_and_dated_at_the_corner(
    end: tuple[float, float], strength: str
) -> None:
    out = chained(bent(end), AccelerationPeak(SHEET))
    assert [row[1] for row in rows_of(out)] == ([strength] if strength else [])
    assert all(event.ts_us == 400_000 for event in out)


def test_a_kick_between_two_samples_is_one_peak() -> None:
    track = [(0.0, 0.0)] * 6 + [(0.3 + 0.8 * i, 0.0) for i in range(8)]
    out = chained(ball_track(track), AccelerationPeak(SHEET))
    assert [row[1] for row in rows_of(out)] == ["hard"]
    assert abs(out[0].ts_us - 225_000) <= 5_000, "between the sixth and the seventh frame"
    assert out[0].payload.detail["speed_after_m_s"] == pytest.approx(20.0, rel=0.04)


def test_a_single_wrong_position_is_no_contact() -> None:
    track = [*ROLL, *path((4.0, 0.0), (8.0, 0.0), 0.4)]
    track[9] = (track[9][0], 0.5)
    events = ball_track(track)
    assert chained(events, AccelerationPeak(SHEET)) == []
    assert chained(events, AccelerationPeak(SHEET), BallTurn(SHEET)) == []
    assert chained(events, AccelerationPeak(SHEET), SpeedStep(SHEET)) == []


def test_a_jump_of_the_whole_track_is_no_contact() -> None:
    events = ball_track([*ROLL, *path((4.0, 1.2), (8.0, 1.2), 0.4)])
    assert chained(events, AccelerationPeak(SHEET)) == []


def test_velocities_of_different_runs_are_not_compared() -> None:
    resting = ball_track([(0.0, 0.0)] * 5)
    rolling = ball_track([(20.0 + 0.8 * i, 0.0) for i in range(6)], start_s=0.2)[1:]
    fresh = [
        Event(e.kind, e.ts_us, e.source, 100 + i, type(e.payload)(**{**_fields(e), "run": i + 1}))
        for i, e in enumerate(rolling)
    ]
    assert chained([*resting, *fresh], AccelerationPeak(SHEET)) == []


def _fields(event: Event) -> dict[str, object]:
    return {name: getattr(event.payload, name) for name in event.payload.__struct_fields__}  # type: ignore[attr-defined]


def test_a_turn_is_told_once_with_ground_or_air() -> None:
    assert rows_of(chained(bent((4.0, 4.0)), AccelerationPeak(SHEET), BallTurn(SHEET))) == [("ball.turn", "ground", "")]
    high = ball_track([*((x, y, 2.0) for x, y in ROLL), *path((4.0, 0.0, 2.0), (4.0, 4.0, 2.0), 0.4)])
    assert rows_of(chained(high, AccelerationPeak(SHEET), BallTurn(SHEET))) == [("ball.turn", "air", "")]


def test_a_speed_step_needs_a_slow_ball_afterwards() -> None:
    assert rows_of(chained(bent((5.0, 0.0)), AccelerationPeak(SHEET), SpeedStep(SHEET))) == [
        ("ball.speed_step", "down", "")
    ]
    assert chained(bent((12.0, 0.0)), AccelerationPeak(SHEET), SpeedStep(SHEET)) == [], "20 m/s is not slow"


def test_a_bounce_says_so() -> None:
    falling = [(0.4 * i, 0.0, 3.0 - 0.3 * i) for i in range(11)]
    rising = [(4.0 + 0.4 * i, 0.0, 0.2 * i) for i in range(1, 8)]
    out = chained(ball_track([*falling, *rising]), AccelerationPeak(SHEET))
    assert [e.payload.detail["bounce"] for e in out] == [True]


def test_near_has_hysteresis_and_ends_above_the_head() -> None:
    def at(seconds: float, distance_m: float, height_m: float = 0.1) -> Event:
        return frame_event(seconds, (distance_m, 0.0, height_m), [body("home_2", 0.0, 0.0)])

    scene = [at(0, 1.6), at(0.04, 1.4), at(0.08, 1.65), at(0.12, 1.75), at(0.16, 1.0), at(0.2, 1.0, 3.0)]
    out = [e for e in fold(Near(SHEET), scene) if e.kind != "ball.closest"]
    assert [(e.ts_us, e.kind) for e in out] == [
        (40_000, "near"),
        (120_000, "not_near"),
        (160_000, "near"),
        (200_000, "not_near"),
    ]


def test_the_possession_zone_is_measured_over_the_ground() -> None:
    scene = [frame_event(t, (d, 0.0, 4.0), [body("home_2", 0.0, 0.0)]) for t, d in ((0, 2.0), (0.04, 1.0), (0.08, 2.0))]
    assert rows_of(fold(PossessionZone(), scene)) == [("pz.enter", "", "home"), ("pz.leave", "", "")]


def test_the_nearest_player_changes_by_a_margin_or_by_time() -> None:
    def at(seconds: float, ball_x_m: float) -> Event:
        return frame_event(seconds, (ball_x_m, 0.0), [body("home_2", 0.0, 0.0), body("away_3", 10.0, 0.0)])

    quick = fold(NearestPlayer(), [at(0, 1.0), at(0.2, 9.0)])
    assert rows_of(quick)[-1] == ("nearest.changed", "overall", "away")
    close = [at(0, 1.0)] + [at(0.2 + 0.04 * i, 5.05) for i in range(5)]
    changes = [e.ts_us for e in fold(NearestPlayer(), close) if e.payload.variant == "overall"]
    assert changes[-1] == 320_000, "0.1 m nearer only counts after 100 ms"


def peak(ts_us: int, variant: str = "hit", kind: str = "ball.accel_peak", **detail: object) -> Event:
    numbers = {"delta_v_m_s": 5.0, "noise_m_s": 0.5, "speed_before_m_s": 1.0, "speed_after_m_s": 6.0, "bounce": False}
    numbers |= {"delta_vx_m_s": 5.0, "delta_vy_m_s": 0.0, "vx_m_s": 6.0, "vy_m_s": 0.0, "vz_m_s": 0.0, **detail}
    return make_event(kind, ts_us, f"ball:{ts_us}", EventPayload(variant, x_m=0.0, y_m=0.0, z_m=0.1, detail=numbers))


def closest(ts_us: int, *players: str, dx_m: float = 0.5) -> Event:
    """Candidates near the ball: the first on its -x side, the next farther away on its +x side, and so on."""
    sides = [dx_m * (-1.1) ** i for i in range(len(players))]
    candidates = (
        Candidate(p, p, p[:4], "", dx, 0.0, abs(dx))
        for p, dx in zip(players, sides, strict=True)  # type: ignore[arg-type]
    )
    return Event("ball.closest", ts_us, "ball", ts_us, Closest(tuple(candidates)))


def clock(*times_us: int) -> list[Event]:
    return [frame_event(t / 1e6, (0.0, 0.0), []) for t in times_us]


def hits(*events: Event) -> list[tuple[int, str]]:
    return [(e.ts_us, e.payload.player) for e in chained(events, PlayerHitsBall(SHEET))]


def test_a_not_b_then_c_is_a_hit() -> None:
    assert hits(closest(0, "home_2"), peak(40_000), *clock(0, 40_000, 80_000)) == [(40_000, "home_2")]


def test_a_then_b_then_c_is_no_hit() -> None:
    assert hits(closest(0, "home_2"), closest(40_000), peak(80_000), *clock(0, 40_000, 80_000, 120_000)) == []


def test_c_without_a_is_no_hit() -> None:
    assert hits(peak(40_000), *clock(0, 40_000, 80_000)) == []


def test_near_at_the_very_instant_of_the_peak_counts_and_what_comes_after_does_not() -> None:
    scene = clock(0, 40_000, 80_000)
    assert hits(peak(40_000), closest(40_000, "away_4"), *scene) == [(40_000, "away_4")]
    assert hits(closest(0, "home_2"), peak(40_000), closest(80_000, "away_4"), *scene) == [(40_000, "home_2")]


def test_of_two_who_are_equally_near_the_one_who_can_have_pushed_it_hit_the_ball() -> None:
    both = closest(40_000, "home_2", "away_4")
    scene = clock(0, 40_000, 80_000)
    assert hits(both, peak(40_000, delta_vx_m_s=5.0, vx_m_s=5.0), *scene) == [(40_000, "home_2")]
    assert hits(both, peak(40_000, delta_vx_m_s=-5.0, vx_m_s=-5.0), *scene) == [(40_000, "away_4")]


def test_of_two_who_are_about_as_near_the_one_who_attacks_that_way_hit_the_ball() -> None:
    def hit_by(attacks: str, vx_m_s: float, vy_m_s: float = 0.0) -> list[str]:
        direction = [make_event("direction", 0, "0", EventPayload("", attacks))] if attacks else []  # type: ignore[arg-type]
        struck = peak(40_000, delta_vx_m_s=0.0, vx_m_s=vx_m_s, vy_m_s=vy_m_s)
        scene = [*direction, closest(40_000, "home_2", "away_4"), struck, *clock(0, 40_000, 80_000)]
        return [player for _, player in hits(*scene)]

    assert hit_by("away", 1.0) == hit_by("home", -1.0) == ["away_4"]
    assert hit_by("home", 1.0) == hit_by("away", -1.0) == ["home_2"]
    assert hit_by("away", 0.0, 1.0) == hit_by("", 1.0) == ["home_2"], "across, or no direction: the nearer one"


def test_a_small_change_far_from_everybody_is_no_hit() -> None:
    far = closest(40_000, "home_2", dx_m=1.4)
    scene = clock(0, 40_000, 80_000)
    assert hits(far, peak(40_000, delta_v_m_s=3.0, speed_before_m_s=6.0), *scene) == []
    assert hits(far, peak(40_000, delta_v_m_s=5.0, speed_before_m_s=6.0), *scene) == [(40_000, "home_2")]
    assert hits(far, peak(40_000, delta_v_m_s=3.0, speed_before_m_s=4.0), *scene) == [(40_000, "home_2")], "faster"


@pytest.mark.parametrize(("dx_m", "gained_m_s", "counts"), [(2.1, 6.0, True), (2.1, 4.0, False), (2.4, 6.0, False)])
def test_out_of_reach_of_everybody_a_ball_that_gets_much_faster_was_kicked(
    dx_m: float, gained_m_s: float, counts: bool
) -> None:
    struck = peak(40_000, speed_before_m_s=3.0, speed_after_m_s=3.0 + gained_m_s)
    assert len(hits(closest(40_000, "home_2", dx_m=dx_m), struck, *clock(0, 40_000, 80_000))) == counts


@pytest.mark.parametrize(
    ("after_us", "gained_m_s", "counts"), [(170_000, 4.0, 2), (170_000, 2.0, 1), (100_000, 4.0, 1)]
)
def test_who_has_just_played_a_ball_has_kicked_it_if_it_gets_faster(
    after_us: int, gained_m_s: float, counts: int
) -> None:
    first, at_us = peak(40_000, delta_v_m_s=8.0), 40_000 + after_us
    second = peak(at_us, speed_before_m_s=5.0, speed_after_m_s=5.0 + gained_m_s)
    scene = clock(0, 40_000, 80_000, 120_000, at_us, at_us + 40_000)
    assert len(hits(closest(0, "home_2"), first, second, *scene)) == counts


def test_where_the_nearest_is_always_far_away_a_contact_from_farther_away_counts() -> None:
    def contact(number: int, dx_m: float) -> list[Event]:
        at_us = 3_000_000 * number
        kick = peak(at_us + 40_000, speed_before_m_s=6.0)
        return [closest(at_us, "home_2", dx_m=dx_m), kick, *clock(at_us, at_us + 40_000, at_us + 80_000)]

    assert hits(*contact(20, 2.0)) == []
    good = [event for number in range(20) for event in contact(number, 0.5)]
    assert len(hits(*good, *contact(20, 2.0))) == 20
    poor = [event for number in range(20) for event in contact(number, 1.3)]
    assert len(hits(*poor, *contact(20, 2.0))) == 21


@pytest.mark.parametrize(
    "other",
    [
        peak(40_000, "touch"),
        peak(40_000, bounce=True),
    ],
)
def test_weak_peaks_and_bounces_are_no_hits(other: Event) -> None:
    assert hits(closest(0, "home_2"), other, *clock(0, 40_000, 80_000)) == []


def test_the_shaking_of_a_fast_ball_is_no_hit_where_no_corner_is_fitted() -> None:
    shaken, slow = peak(40_000, delta_v_m_s=2.5, speed_before_m_s=20.0), MatchSheet(quality=Quality(5.0, 5.0))
    events = [clock(0)[0], closest(0, "home_2"), shaken, *clock(40_000, 80_000)]
    assert chained(events, PlayerHitsBall(slow)) == []
    assert len(chained(events, PlayerHitsBall(SHEET))) == 1


def test_a_soft_touch_yields_to_a_hit_of_the_same_contact() -> None:
    def touches(*events: Event) -> list[int]:
        return [e.ts_us for e in chained(events, SoftTouch(SHEET))]

    step = peak(40_000, "down", "ball.speed_step")
    scene = [closest(0, "home_2"), step, *clock(0, 40_000, 80_000, 120_000, 160_000)]
    assert touches(*scene) == [40_000]
    assert touches(*scene, peak(80_000)) == []
    assert touches(*scene, peak(40_000)) == []


def test_a_kick_is_released_once_and_only_when_the_ball_has_gone() -> None:
    def at(seconds: float, ball_x_m: float) -> Event:
        return frame_event(seconds, (ball_x_m, 0.0), [body("home_2", 0.0, 0.0)])

    scene = [at(0, 0.3), closest(0, "home_2"), at(0.04, 0.3), peak(40_000), at(0.08, 0.8), at(0.12, 1.6)]
    scene += [at(0.16, 2.2), at(0.2, 2.6), at(0.24, 3.4)]
    out = chained(scene, PlayerHitsBall(SHEET), KickReleased(SHEET))
    assert [(e.ts_us, e.source, e.payload.player) for e in out] == [(200_000, "ball:40000", "home_2")]
    assert out[0].payload.detail["kick_us"] == 40_000


def released_ball(m_s: tuple[float, float], seen_m_s: tuple[float, float]) -> list[Event]:
    """The release of a ball that was hit at 40 ms and goes ``m_s`` after it, in frames that say ``seen_m_s``."""
    frames = [frame_event(0.0, (0.0, 0.0), [body("home_2", 0.0, 0.0)])]
    for number in range(1, 6):
        x_m, y_m = (0.04 * (number - 1) * one for one in m_s)
        ball = BallState(x_m, y_m, 0.1, *seen_m_s, 0.0, 40_000)
        frames.append(Event("frame", 40_000 * number, "frame", number, build_frame(ball, (body("home_2", 0.0, 0.0),))))
    scene = [frames[0], closest(0, "home_2"), frames[1], peak(40_000, vx_m_s=16.0, delta_vx_m_s=15.0), *frames[2:]]
    return chained(scene, PlayerHitsBall(SHEET), KickReleased(SHEET))


@pytest.mark.parametrize(
    ("m_s", "seen_m_s", "leaves_m_s"),
    [
        ((16.0, 0.0), (15.0, 1.0), (16.0, 0.0, 16.0)),
        ((1.0, 17.0), (1.0, 17.0), (1.0, 17.0, 6.0)),
        ((1.0, 17.0), (1.0, 0.0), (16.0, 0.0, 6.0)),
    ],
    ids=["as fitted", "another way", "not seen since"],
)
def test_a_ball_that_goes_another_way_than_was_fitted_leaves_as_it_is_seen_to_go(m_s, seen_m_s, leaves_m_s) -> None:
    (released,) = released_ball(m_s, seen_m_s)
    detail = released.payload.detail
    assert (detail["vx_m_s"], detail["vy_m_s"]) == leaves_m_s[:2]
    assert detail["speed_after_m_s"] == (17.03 if leaves_m_s[1] else 6.0)


@pytest.mark.parametrize(("away_s", "kinds"), [(2.0, ["kick.released"]), (20.0, [])], ids=["it rolls", "it lay"])
def test_a_ball_that_goes_long_after_it_was_put_down_is_another_players_kick(away_s: float, kinds: list[str]) -> None:
    def at(seconds: float, ball_x_m: float) -> Event:
        return frame_event(seconds, (ball_x_m, 0.0), [body("home_2", 0.0, 0.0)])

    scene = [at(0, 0.3), closest(0, "home_2"), at(0.04, 0.3), peak(40_000), at(0.08, 0.4)]
    scene += [at(away_s + 0.04 * i, 3.0) for i in range(3)]
    assert [e.kind for e in chained(scene, PlayerHitsBall(SHEET), KickReleased(SHEET))] == kinds
