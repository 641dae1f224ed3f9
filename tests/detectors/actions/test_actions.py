"""Levels 6 and 7 on hand-made causes: whose ball it is, and what becomes of passes and shots."""

from __future__ import annotations

import pytest

from detectors.actions.flight import ShotParameters, shot_projection
from detectors.actions.passes import PassAttempt
from detectors.actions.possession import IndividualPossession, TeamPossession
from detectors.actions.shots import ShotAttempt
from detectors.emission import make_event
from detectors.outcomes.receptions import PassOutcome
from detectors.outcomes.shots import ShotOutcome
from detectors.proximity.first_reach import FlightParameters
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import BallState, EventPayload, build_frame
from football.pitch import pitch_of
from middleware.events import Event
from tests.detectors.scene import body, cast, fold, frame_event, rows_of

SHEET = MatchSheet(players=(Player("home_9", "home"), Player("away_1", "away", goalkeeper=True)))


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def event(
    kind: str, at_s: float, player: str = "", variant: str = "", x_m: float = 0.0, y_m: float = 0.0, **detail: object
) -> Event:
    numbers = {"speed_before_m_s": 10.0, "speed_after_m_s": 1.0, "vx_m_s": 0.0, "vy_m_s": 0.0, "vz_m_s": 0.0}
    payload = EventPayload(variant, team(player), player, x_m, y_m, 0.1, detail={**numbers, **detail})
    return make_event(kind, round(at_s * 1e6), f"ball:{round(at_s * 1e6)}", payload)


def tick(at_s: float) -> Event:
    return Event("clock.tick", round(at_s * 1e6), "clock", round(at_s * 5))


def test_the_ball_is_gained_at_a_contact_and_lost_at_another_players() -> None:
    causes = [event("hit", 1, "home_9"), event("touch", 2, "home_9"), event("hit", 3, "away_4")]
    rows = [(e.kind, e.payload.player, e.ts_us) for e in fold(IndividualPossession(), causes)]
    assert rows == [
        ("possession.gain", "home_9", 1_000_000),
        ("possession.loss", "home_9", 3_000_000),
        ("possession.gain", "away_4", 3_000_000),
    ]


def test_contacts_with_a_dead_ball_gain_nothing_and_a_restart_gives_it_to_its_taker() -> None:
    causes = [event("hit", 1, "home_9"), event("phase.dead", 2, variant="touch"), event("hit", 3, "home_9")]
    causes += [event("phase.live", 9, "away_4", "touch")]
    rows = [(e.kind, e.payload.variant, e.payload.player) for e in fold(IndividualPossession(), causes)]
    assert rows == [
        ("possession.gain", "hit", "home_9"),
        ("possession.loss", "dead", "home_9"),
        ("possession.gain", "restart", "away_4"),
    ]


def test_contacts_of_both_teams_within_eight_tenths_are_a_contest_until_one_has_had_it_alone() -> None:
    causes = [event("hit", 1, "home_9"), event("hit", 1.5, "away_4"), tick(1.6), tick(1.8), tick(2.0)]
    rows = [(e.payload.variant, e.payload.team, e.ts_us) for e in fold(TeamPossession(), causes)]
    assert rows == [("home", "home", 1_000_000), ("in contest", "", 1_500_000), ("away", "away", 1_800_000)]


def test_a_contest_ends_to_the_instant_though_the_next_begins_before_anybody_looks() -> None:
    causes = [event("hit", 1, "home_9"), event("hit", 1.5, "away_4"), tick(1.6), event("hit", 1.9, "home_9")]
    rows = [(e.payload.variant, e.payload.player, e.ts_us) for e in fold(TeamPossession(), causes)]
    assert rows[1:] == [("in contest", "", 1_500_000), ("away", "away_4", 1_800_000), ("in contest", "", 1_900_000)]


def test_a_contact_at_the_instant_at_which_a_contest_would_end_goes_on_with_it() -> None:
    causes = [event("hit", 1, "home_9"), event("hit", 1.5, "away_4"), event("hit", 1.8, "home_9"), tick(2.4)]
    rows = [(e.payload.variant, e.ts_us) for e in fold(TeamPossession(), causes)]
    assert rows == [("home", 1_000_000), ("in contest", 1_500_000), ("home", 2_300_000)]


def test_an_opponent_who_plays_a_restart_at_once_contests_it() -> None:
    live = event("phase.live", 4, "away_4", kick_us=3_600_000)
    rows = fold(TeamPossession(), [event("phase.dead", 2), live, event("hit", 4.1, "home_9"), tick(4.2), tick(4.4)])
    assert [(e.payload.variant, e.ts_us) for e in rows] == [
        ("dead", 2_000_000),
        ("away", 4_000_000),
        ("in contest", 4_100_000),
        ("home", 4_400_000),
    ]


def test_the_ball_is_dead_until_the_restart() -> None:
    causes = [event("hit", 1, "home_9"), event("phase.dead", 2), event("hit", 3, "away_4")]
    causes += [event("phase.live", 4, "away_4")]
    assert [row[1] for row in rows_of(fold(TeamPossession(), causes))] == ["home", "dead", "away"]


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (event("possession.gain", 2, "home_8", "hit"), [("pass.complete", "", "home")]),
        (event("possession.gain", 2, "away_4", "hit"), [("pass.intercepted", "", "home")]),
        (event("possession.gain", 2, "home_9", "hit"), []),
        (event("possession.gain", 9, "home_8", "hit"), []),
        (event("out", 2, "home_9", "left touch", since_us=1_900_000), [("pass.out", "left touch", "home")]),
    ],
)
def test_a_pass_ends_with_what_comes_first_within_seven_seconds(
    cause: Event, expected: list[tuple[str, str, str]]
) -> None:
    assert rows_of(fold(PassOutcome(), [event("pass.attempt", 1, "home_9"), cause])) == expected


def test_a_pass_is_judged_once() -> None:
    causes = [event("pass.attempt", 1, "home_9"), event("possession.gain", 2, "away_4", "hit")]
    causes += [event("possession.gain", 3, "home_8", "hit"), event("out", 4, variant="left touch")]
    assert len(fold(PassOutcome(), causes)) == 1


@pytest.mark.parametrize(
    ("kick_s", "more", "passes"), [(4.6, {}, 1), (2.0, {"evidence": "home_9 to home_8"}, 0)], ids=["seen", "too late"]
)
def test_a_restart_that_others_have_played_on_shows_no_pass(kick_s: float, more: dict[str, str], passes: int) -> None:
    live = event("phase.live", 5, "home_9", "touch", kick_us=round(kick_s * 1e6), fallback=False, **more)
    frame = frame_event(4.96, (10.0, 5.0, 0.1), cast())
    found = fold(PassAttempt(SHEET), [event("phase.dead", 1, variant="touch"), frame, live])
    assert [e.kind for e in found] == ["pass.attempt"] * passes


def test_a_release_of_the_very_kick_that_brought_the_ball_into_play_is_no_second_pass() -> None:
    """Two players at the ball: the throw-in is one team's, the contact was given to the other."""
    frame = frame_event(4.96, (10.0, 5.0, 0.1), cast())
    live = event("phase.live", 5, "home_9", "touch", kick_us=5_000_000, fallback=False)
    kick = {"kick_us": 5_000_000, "kick_x_m": 10.0, "kick_y_m": 5.0, "kick_z_m": 0.1, "speed_after_m_s": 9.0}
    released = event("kick.released", 5.2, "away_4", **{**kick, "vx_m_s": 9.0})
    found = fold(PassAttempt(SHEET), [event("phase.dead", 1, variant="touch"), frame, live, released])
    assert [e.payload.player for e in found] == ["home_9"]


def test_a_kick_that_was_a_pass_in_play_is_none_again_when_it_turns_out_to_be_a_restart() -> None:
    kick = {"kick_us": 4_000_000, "kick_x_m": 0.0, "kick_y_m": 0.0, "kick_z_m": 0.1, "vx_m_s": 9.0}
    frame = frame_event(3.96, (0.0, 0.0, 0.1), cast(home_8=(6.0, 0.0)))
    released = event("kick.released", 4.2, "home_9", speed_after_m_s=9.0, **kick)
    live = event("phase.live", 4.8, "home_9", "stop", **{**kick, "kick_us": 3_980_000}, fallback=False)
    found = fold(PassAttempt(SHEET), [frame, released, event("phase.dead", 4.7, variant="stop"), live])
    assert [found_event.ts_us for found_event in found] == [4_000_000]


@pytest.mark.parametrize(
    ("live_s", "released_s", "vx_m_s", "passes"),
    [
        (1.0, 2.4, 9.0, 1),
        (1.0, 4.2, 2.0, 0),
        (1.0, 4.2, 9.0, 1),
        (8.0, 8.9, 9.0, 0),
    ],
    ids=["at once", "long after it, and slow", "long after it, but fast", "he had put the ball down for the restart"],
)
def test_a_ball_that_leaves_a_player_long_after_his_contact_was_played_again(
    live_s: float, released_s: float, vx_m_s: float, passes: int
) -> None:
    kick = {"kick_us": 2_000_000, "kick_x_m": 0.0, "kick_y_m": 0.0, "kick_z_m": 0.1, "vx_m_s": vx_m_s}
    live = event("phase.live", live_s, fallback=True, kick_us=round(live_s * 1e6))
    frame = frame_event(released_s - 0.04, (3.0, 0.0, 0.1), cast(home_8=(6.0, 0.0)))
    causes = [event("phase.dead", 0.5, variant="stop"), event("hit", 2, "home_9"), live, frame]
    causes.append(event("kick.released", released_s, "home_9", speed_after_m_s=9.0, **kick))
    found = fold(PassAttempt(SHEET), sorted(causes, key=lambda cause: cause.ts_us))
    assert [e.kind for e in found] == ["pass.attempt"] * passes


def test_a_pass_is_dated_within_the_horizon_of_what_makes_it_known() -> None:
    kick = {"kick_us": 2_000_000, "kick_x_m": 0.0, "kick_y_m": 0.0, "kick_z_m": 0.1, "vx_m_s": 9.0}
    frame = frame_event(3.96, (0.0, 0.0, 0.1), cast(home_8=(6.0, 0.0)))
    causes = [event("phase.dead", 1, variant="stop"), event("kick.released", 2.2, "home_9", **kick), frame]
    live = event("phase.live", 3.960001, "home_9", "stop", **kick, fallback=False)
    detector = PassAttempt(SHEET)
    assert [found.ts_us for found in fold(detector, [*causes, live])] == [live.ts_us - detector.spec.horizon_us]


@pytest.mark.parametrize(("shape", "passes"), [(False, 1), (True, 0)], ids=["corner kick", "penalty kick"])
def test_a_kick_that_only_players_show_is_a_pass_but_for_a_penalty_kick(shape: bool, passes: int) -> None:
    more = {"kick_us": 5_000_000, "fallback": False, "penalty_shape": shape}
    live = event("phase.live", 5, "home_9", "goal line", 52.5, 34.0, **more)
    causes = [event("direction", 0.5, "home_9"), event("phase.dead", 1, variant="goal line")]
    found = fold(PassAttempt(SHEET), [*causes, frame_event(4.96, None, cast()), live])
    assert [e.payload.player for e in found] == ["home_9"] * passes


@pytest.mark.parametrize("strikes", [PassAttempt, ShotAttempt])
def test_a_kick_whose_block_stops_the_ball_dead_is_judged_by_itself(strikes: type[PassAttempt | ShotAttempt]) -> None:
    """A ball that tracking freezes at the block has no velocity then, and the block no place of a kick."""
    kick = event("hit", 2, "home_9", speed_after_m_s=15.0, vx_m_s=-15.0, delta_vx_m_s=-15.0, delta_vy_m_s=0.0)
    block = event("hit", 2.06, "away_5", speed_before_m_s=15.0, vx_m_s=0.0, delta_vx_m_s=15.0, delta_vy_m_s=0.0)
    frame = frame_event(1.96, (0.0, 0.0, 0.1), cast())
    found = fold(strikes(SHEET), [event("direction", 0.5, "home_9"), frame, kick, block])
    assert [e.kind for e in found] == ["pass.attempt"] * (strikes is PassAttempt)


def test_the_takers_own_restart_does_not_end_his_pass() -> None:
    causes = [event("pass.attempt", 1, "home_9"), event("possession.gain", 1.3, "home_9", "restart")]
    causes += [event("possession.gain", 2, "home_8", "hit")]
    assert rows_of(fold(PassOutcome(), causes)) == [("pass.complete", "", "home")]


def shot(*causes: Event, on_target: bool = True) -> list[tuple[str, str, str]]:
    start = [event("direction", 0, "home_9"), event("shot.attempt", 1, "home_9", x_m=35.0, on_target=on_target)]
    return rows_of(fold(ShotOutcome(SHEET), [*start, *causes]))


def test_what_becomes_of_a_shot() -> None:
    stopped = event("hit", 1.4, "away_5", x_m=42.0)
    onward = event("hit", 1.4, "away_5", x_m=42.0, vx_m_s=15.0, vz_m_s=3.0)
    keeper = event("hit", 1.8, "away_1", x_m=51.0)
    assert shot(stopped) == [("shot.blocked", "", "home")]
    assert shot(onward) == [("shot.deflected", "", "home")]
    assert shot(keeper) == []
    assert shot(event("ball.over_bar", 2, x_m=52.7)) == [("shot.off", "over", "home")]
    for part, y_m, variant in (("+y", 6.0, "wide left"), ("-y", -6.0, "wide right")):
        line = event("ball.crossed", 2, variant=f"right goal line {part} out", y_m=y_m)
        assert shot(line) == [("shot.off", variant, "home")]


def test_a_shot_past_a_goalkeeper_is_off_if_the_restart_shows_that_he_had_no_contact() -> None:
    keeper, over = event("hit", 1.8, "away_1", x_m=51.0), event("ball.over_bar", 2.0, x_m=52.7)
    his = event("out", 2.4, "away_1", "right goal line", since_us=2_000_000)
    shooters = event("out", 20.0, "home_9", "right goal line", since_us=2_000_000)
    another = event("out", 20.0, "home_9", "right goal line", since_us=9_000_000)
    fetched = event("hit", 12.0, "away_1", x_m=47.0)
    assert shot(keeper, over, his, fetched) == []
    assert shot(keeper, over, his, fetched, shooters) == [("shot.off", "over", "home")]
    assert shot(keeper, over, his, another) == []
    assert shot(keeper, event("hit", 1.9, "away_5", x_m=52.0), over, shooters) == [], "who else has played it"


def test_a_shot_is_over_after_a_mates_contact_or_three_seconds() -> None:
    over = event("ball.over_bar", 2.5, x_m=52.7)
    assert shot(event("hit", 1.5, "home_9"), over) == []
    assert shot(event("ball.over_bar", 4.5, x_m=52.7)) == []


@pytest.mark.parametrize(
    ("vy_m_s", "mate", "is_shot"),
    [(12.0, (20.0, 20.0), True), (12.0, (45.0, 5.0), False), (5.0, (45.0, 5.0), True), (16.0, (20.0, 20.0), False)],
    ids=["nobody is there", "a mate is", "it meets the goal", "too wide"],
)
def test_a_fast_ball_that_misses_the_goal_is_a_shot_if_no_mate_can_reach_it(
    vy_m_s: float, mate: tuple[float, float], is_shot: bool
) -> None:
    """From 17 m in front of the goal; with 12 m/s across it misses by some 5 m, with 16 m/s by 9 m."""
    detail = {"vx_m_s": 20.0, "vy_m_s": vy_m_s, "vz_m_s": 2.0}
    kick = EventPayload("", "home", "home_9", 35.5, -1.5, 0.2, detail=detail)
    frame = build_frame(None, (body("home_7", *mate), body("home_9", 35.0, -1.5)))
    shot = shot_projection(kick, frame, True, pitch_of(MatchSheet()), ShotParameters(), FlightParameters())
    assert (shot is not None) == is_shot


@pytest.mark.parametrize(
    ("x_m", "speed_m_s", "z_m", "mate", "is_shot"),
    [
        (28.5, 14.0, 0.1, -20.0, True),
        (28.5, 14.0, 0.1, 40.0, False),
        (44.5, 5.0, 2.3, -20.0, True),
        (44.5, 5.0, 0.1, -20.0, False),
        (39.5, 9.0, 2.3, 45.0, True),
        (37.5, 9.0, 2.3, 45.0, False),
    ],
    ids=["long, alone", "long, to a mate", "headed", "pushed", "headed to a mate", "from farther away"],
)
def test_a_slow_ball_is_a_shot_if_it_is_headed_near_the_goal_or_no_mate_can_reach_it(
    x_m: float, speed_m_s: float, z_m: float, mate: float, is_shot: bool
) -> None:
    """From 24 m it takes 1.7 s, from 8 m 1.6 s, from 13 m 1.4 s; it misses by some 1 m, or 2 m."""
    detail = {"vx_m_s": speed_m_s, "vy_m_s": 0.2 * speed_m_s, "vz_m_s": 2.0, "kick_z_m": z_m}
    detail |= {"kick_x_m": x_m, "kick_y_m": 2.0}
    kick = EventPayload("", "home", "home_9", x_m, 2.0, z_m, detail=detail)
    frame = build_frame(None, (body("home_7", mate, 2.0), body("home_9", x_m, 0.0)))
    shot = shot_projection(kick, frame, True, pitch_of(MatchSheet()), ShotParameters(), FlightParameters())
    assert (shot is not None) == is_shot


@pytest.mark.parametrize(
    ("players", "velocity_m_s", "kind"),
    [
        (3, (0.0, 0.0, 0.0), "shot"),
        (2, (0.0, 0.0, 0.0), "pass"),
        (3, (-10.0, 0.0, 0.0), "pass"),
        (3, (13.5, 0.0, 14.0), "shot"),
        (2, (13.5, 0.0, 14.0), "pass"),
        (3, (13.5, 8.0, 14.0), "pass"),
    ],
    ids=["not seen", "not seen, wall of two", "back to a mate", "far over the bar", "over a wall of two", "far wide"],
)
def test_a_free_kick_is_a_shot_if_a_wall_stands_before_it(
    players: int, velocity_m_s: tuple[float, float, float], kind: str
) -> None:
    wall = {f"away_{n}": (39.3, 0.6 * n) for n in range(2, 2 + players)}
    kick = {"kick_us": 4_960_000, "fallback": False, "penalty_shape": False}
    live = event("phase.live", 5, "home_9", "stop", 30.0, 0.0, **kick)
    ball = BallState(30.0, 0.0, 0.1, *velocity_m_s, 40_000)
    frame = Event("frame", 4_960_000, "frame", 0, build_frame(ball, cast(**wall)))
    events = [event("direction", 0, "home_9"), event("phase.dead", 1, variant="stop"), frame, live]
    shots, passes = (fold(detector(SHEET), events) for detector in (ShotAttempt, PassAttempt))
    assert [e.kind for e in (*shots, *passes)] == [f"{kind}.attempt"]
    if shots:
        assert shots[0].payload.detail["on_target"] is False
        assert ("goal_y_m" in shots[0].payload.detail) == any(velocity_m_s)
