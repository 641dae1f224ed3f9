"""5.5 with hands and on centroids."""

from __future__ import annotations

import msgspec
import pytest

from detectors.emission import make_event
from detectors.play.goalkeeper_hands import GoalkeeperHands
from detectors.play.phase import PlayPhase
from detectors.proximity.near import Candidate, Closest
from football.match_sheet import MatchSheet, Player, Quality
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors import stage
from tests.detectors.scene import body, chained, fold, frame_event, rows_of

PLAYERS = (Player("home_1", "home", goalkeeper=True), Player("away_9", "away"))
SHEET = MatchSheet(players=PLAYERS, quality=stage.RTLS)
ORDER = ("frame", "ball.accel_peak", "ball.closest")


def hand(ms: int, distance_m: float, dx_m: float = 0.2, player: str = "home_1", limb: str = "right_hand") -> Event:
    team = "home" if player.startswith("home") else "away"
    candidate = Candidate(f"{player}/{limb}", player, team, limb, dx_m, 0.0, distance_m)
    candidates = (candidate,) if distance_m < 1.2 else ()
    return Event("ball.closest", ms * 1000, "ball", ms, Closest(candidates))


def peak(ms: int, into: tuple[float, float], out: tuple[float, float], z_m: float = 1.0, vz_m_s: float = 0.0) -> Event:
    (bx, by), (ax, ay) = into, out
    detail = {
        "delta_v_m_s": 9.0, "delta_vx_m_s": ax - bx, "delta_vy_m_s": ay - by, "vx_m_s": ax, "vy_m_s": ay,
        "vz_m_s": vz_m_s, "speed_before_m_s": abs(bx), "speed_after_m_s": abs(ax), "bounce": False,
    }  # fmt: skip
    return make_event(
        "ball.accel_peak", ms * 1000, f"ball:{ms}", EventPayload("hard", "", "", -50.0, 1.0, z_m, detail=detail)
    )


def frames(until_ms: int) -> list[Event]:
    return [frame_event(ms / 1000, (-50.0, 1.0, 1.0), []) for ms in range(0, until_ms, 20)]


def hands(*events: Event, until_ms: int = 1500) -> list[Event]:
    ordered = sorted([*events, *frames(until_ms)], key=lambda e: (e.ts_us, ORDER.index(e.kind)))
    return fold(GoalkeeperHands(SHEET), ordered)


def grip(first_ms: int, last_ms: int, drift_m_s: float = 0.0, **who: str) -> list[Event]:
    return [hand(ms, 0.25, 0.1 + drift_m_s * (ms - first_ms) / 1000, **who) for ms in range(first_ms, last_ms + 1, 20)]


def test_a_ball_that_lies_in_the_hand_for_a_while_is_caught_once_and_dated_at_its_contact():
    out = hands(peak(110, (-15, 0), (0, 0)), *grip(120, 1200), hand(1300, 2.0))
    assert rows_of(out) == [("gk.catch", "", "home")]
    assert (out[0].ts_us, out[0].id, out[0].payload.player) == (110_000, "gk.catch#ball:110", "home_1")
    assert (out[0].payload.x_m, out[0].payload.detail["limb"]) == (-50.0, "right_hand")


def test_a_catch_without_a_change_of_velocity_is_named_by_hand_and_time():
    out = hands(*grip(120, 600))
    assert [(e.ts_us, e.id) for e in out] == [(120_000, "gk.catch#home_1:120000")]


def test_a_ball_passed_from_hand_to_hand_is_held():
    changing = [
        hand(ms, 0.2, 0.1 if k % 2 else -0.1, limb="left_hand" if k % 2 else "right_hand")
        for k, ms in enumerate(range(100, 700, 20))
    ]
    assert rows_of(hands(*changing)) == [("gk.catch", "", "home")]


def test_an_arm_that_swings_out_for_a_moment_does_not_end_the_hold():
    assert len(hands(*grip(100, 500), hand(520, 0.7), *grip(560, 1000))) == 1


@pytest.mark.parametrize(
    ("out_m_s", "z_m", "kind"),
    [
        ((9.0, 1.0), 2.2, "gk.punch"),  # back to where it came from
        ((-9.0, 6.0), 2.2, "gk.parry"),  # on, past the post
        ((5.0, 1.0), 2.2, "gk.parry"),  # back, but slowly
        ((9.0, 1.0), 0.5, "gk.parry"),  # back, but in a dive
    ],
)
def test_a_short_contact_is_a_punch_if_the_ball_goes_back_fast_and_high(out_m_s, z_m, kind):
    out = hands(peak(110, (-15, 0), out_m_s, z_m), *grip(100, 120, 9.0), hand(140, 2.0))
    assert rows_of(out) == [(kind, "", "home")]
    assert out[0].source == "ball:110"


def test_a_catch_that_is_lost_is_a_drop():
    assert rows_of(hands(peak(110, (-15, 0), (0, 0)), *grip(100, 300), hand(320, 2.0))) == [("gk.drop", "", "home")]


def test_a_ball_that_flies_past_the_hand_is_nothing():
    assert hands(*grip(100, 140, 12.0), hand(160, 2.0)) == []


def test_a_field_player_has_no_goalkeepers_hands():
    assert hands(*grip(100, 900, player="away_9")) == []


def test_a_grip_ends_though_nobody_is_near_any_more():
    """``ball.closest`` falls silent then: frames go on."""
    out = hands(peak(110, (-15, 0), (-2, 5)), *grip(100, 120, 9.0))
    assert rows_of(out) == [("gk.parry", "", "home")]


def test_a_change_of_velocity_names_one_catch_only():
    """At 10 Hz a goalkeeper who drops the ball and takes it anew does both within one fit of its velocity."""
    sheet = msgspec.structs.replace(SHEET, quality=Quality(ball_hz=10.0, body_hz=10.0))
    away_ms, keeper = (500, 600), [body("home_1", -50.0, 1.0)]
    track = [
        frame_event(ms / 1000, (-42.0 if ms in away_ms else -50.0, 1.0, 1.0), keeper, ms)
        for ms in range(100, 1500, 100)
    ]
    events = sorted([*track, peak(350, (-15, 0), (0, 0))], key=lambda event: event.ts_us)
    found = fold(GoalkeeperHands(sheet), events)
    assert [event.id for event in found] == ["gk.catch#ball:350", "gk.catch#home_1:700000"]


def test_without_a_goalkeeper_on_the_sheet_nobody_is_one():
    sheet = msgspec.structs.replace(SHEET, players=())
    assert fold(GoalkeeperHands(sheet), grip(100, 900)) == []


def test_a_dead_ball_in_the_hands_is_no_catch_but_one_that_was_caught_before_it_died_is():
    over = EventPayload("left goal line +y out", "", "", -52.6, 9.0, 0.2, detail={"jump": False})
    out = make_event("ball.crossed", 90_000, "ball:90", over)
    fetched = [out, *grip(400, 1400), *frames(1500)]
    assert chained(fetched, PlayPhase(SHEET), GoalkeeperHands(SHEET)) == []
    late = make_event("ball.crossed", 500_000, "ball:500", over)
    caught = [late, *grip(120, 1400), *frames(1500)]
    assert rows_of(chained(caught, PlayPhase(SHEET), GoalkeeperHands(SHEET))) == [("gk.catch", "", "home")]


@pytest.mark.parametrize(
    ("between", "catches"),
    [
        ([None] * 12, 1),
        ([(-49.0, 2.0, 0.1)] * 12, 1),
        ([(-42.0, 1.0, 1.0)] * 12, 2),
        ([None] * 50, 2),
    ],
    ids=["lost", "measured beside him", "seen elsewhere", "lost for long"],
)
def test_a_ball_that_cameras_lose_in_his_arms_is_caught_once(
    between: list[tuple[float, float, float] | None], catches: int
) -> None:
    keeper, held = [body("home_1", -50.0, 1.0)], [(-50.0, 1.0, 1.0)] * 15
    track = [frame_event(0.04 * n, ball, keeper, n) for n, ball in enumerate([*held, *between, *held])]
    found = fold(GoalkeeperHands(msgspec.structs.replace(SHEET, quality=Quality())), track)
    assert [event.kind for event in found] == ["gk.catch"] * catches


@pytest.mark.parametrize(
    ("into_m_s", "out_m_s", "z_m", "keeper_y_m", "is_parried"),
    [
        (20.0, 7.0, 1.0, 2.5, True),
        (20.0, 7.0, 1.0, 3.0, False),
        (20.0, 4.9, 1.0, 2.5, False),
        (20.0, 12.6, 1.0, 2.5, False),
        (8.9, 7.0, 1.0, 2.5, False),
        (9.1, 7.0, 1.0, 2.5, True),
        (14.9, 7.0, 0.1, 2.5, False),
        (15.1, 7.0, 0.1, 2.5, True),
        (20.0, 7.0, 2.8, 2.5, False),
    ],
    ids=["in a dive", "too far", "kept", "kicked", "slow", "fast enough", "low", "low and fast", "over him"],
)
def test_a_fast_ball_that_turns_within_a_dive_is_parried_though_no_frame_has_it_in_reach(
    into_m_s: float, out_m_s: float, z_m: float, keeper_y_m: float, is_parried: bool
) -> None:
    keeper = [body("home_1", -50.0, keeper_y_m), body("away_9", -46.0, 1.0)]
    track = [frame_event(0.04 * n, (-50.0 + 0.8 * abs(n - 10), 1.0, z_m), keeper, n) for n in range(30)]
    change = peak(400, (-into_m_s, 0.0), (out_m_s, 1.0), z_m)
    events = sorted([*track[:10], *track[11:], change], key=lambda event: event.ts_us)
    found = fold(GoalkeeperHands(msgspec.structs.replace(SHEET, quality=Quality())), events)
    rows = [(event.kind, event.ts_us, event.source) for event in found]
    assert rows == [("gk.parry", 400_000, "ball:400")] * is_parried


def test_who_turns_it_is_the_nearest_and_a_goalkeeper() -> None:
    players = [body("home_1", -50.0, 2.5), body("away_9", -50.0, 1.5)]
    track = [frame_event(0.04 * n, (-50.0 + 0.8 * abs(n - 10), 1.0, 1.0), players, n) for n in range(30)]
    events = sorted([*track, peak(401, (-20.0, 0.0), (7.0, 1.0))], key=lambda event: event.ts_us)
    assert fold(GoalkeeperHands(msgspec.structs.replace(SHEET, quality=Quality())), events) == []


def test_a_ball_that_stays_where_he_stopped_it_is_not_parried() -> None:
    """One sample has it in reach; it leaves him with walking pace."""
    keeper = [body("home_1", -50.0, 1.0)]
    track = [
        frame_event(0.04 * n, (-50.0 + 0.8 * max(10 - n, 0), 1.0 + 1.2 * (n > 11), 1.0), keeper, n) for n in range(30)
    ]
    for out_m_s, parries in ((2.9, 0), (3.1, 1)):
        events = sorted([*track, peak(401, (-20.0, 0.0), (-out_m_s, 1.0))], key=lambda event: event.ts_us)
        found = fold(GoalkeeperHands(msgspec.structs.replace(SHEET, quality=Quality())), events)
        assert [event.kind for event in found] == ["gk.parry"] * parries
