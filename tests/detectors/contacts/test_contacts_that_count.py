"""Contacts that are hits, hits that are passes, and the ends of passes: rebounds, deflections, dribbles."""

from __future__ import annotations

import math

import msgspec
import pytest

from detectors.actions.passes import PassAttempt
from detectors.contacts.hits import PlayerHitsBall
from detectors.emission import make_event
from detectors.outcomes.receptions import PassOutcome
from detectors.play.goalkeeper_hands import GoalkeeperHands
from detectors.proximity.near import Candidate, Closest
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload, payload_of
from middleware.events import Event
from tests.detectors import stage
from tests.detectors.actions.test_actions import event
from tests.detectors.scene import body, chained, fold, frame_event, rows_of

RADIO = MatchSheet(quality=stage.RTLS)


def closest(ms: int, *limbs: tuple[str, str, float, float]) -> Event:
    """Candidates near the ball: player, limb, distance in metres, and the part of it in the direction of +x."""
    found = [
        Candidate(f"{p}/{limb}" if limb else p, p, "home" if p.startswith("home") else "away", limb, dx, 0.0, d)
        for p, limb, d, dx in limbs
    ]
    return Event("ball.closest", ms * 1000, "ball", ms, Closest(tuple(found)))


def peak(ms: int, before_m_s: float, after_m_s: float, across_m_s: float = 0.0, z_m: float = 0.1) -> Event:
    """A ball that goes along +x and is turned to its left a little."""
    delta_m_s = abs(after_m_s - before_m_s) + across_m_s
    detail = {
        "delta_v_m_s": delta_m_s, "delta_vx_m_s": after_m_s - before_m_s, "delta_vy_m_s": across_m_s,
        "delta_vz_m_s": 0.0, "vx_m_s": after_m_s, "vy_m_s": across_m_s, "vz_m_s": 0.0,
        "noise_m_s": 0.3, "bounce": False,
        "speed_before_m_s": before_m_s, "speed_after_m_s": after_m_s,
    }  # fmt: skip
    payload = EventPayload("hard", x_m=0.0, y_m=0.0, z_m=z_m, detail=detail)
    return make_event("ball.accel_peak", ms * 1000, f"ball:{ms}", payload)


def hits(*causes: Event) -> list[tuple[int, str]]:
    """Milliseconds and player of the hits."""
    frames = [frame_event(ms / 1000, (0.0, 0.0), []) for ms in range(0, 2500, 20)]
    return [(e.ts_us // 1000, e.payload.player) for e in chained([*causes, *frames], PlayerHitsBall(RADIO))]


BOTH_NEAR = (("home_6", 0.5), ("away_4", 0.55))
FOOT = ("home_6", "left_foot", 0.1, 0.0)


def test_a_contact_that_was_nobodys_does_not_hide_the_kick_that_follows_it() -> None:
    far = closest(90, ("home_6", "left_foot", 0.4, 0.0))
    assert hits(far, peak(100, 2.0, 3.0), closest(160, FOOT), peak(170, 3.0, 20.0)) == [(170, "home_6")]


def test_feet_may_strike_twice_in_a_tenth_of_a_second_and_hands_may_not() -> None:
    assert hits(closest(90, FOOT), peak(100, 8.0, 1.0, 1.0), peak(190, 1.0, 15.0)) == [(100, "home_6"), (190, "home_6")]
    hand = ("home_1", "left_hand", 0.1, 0.0)
    thrown = (peak(100, 0.5, 8.0, z_m=2.0), peak(190, 8.0, 15.0, z_m=2.0))
    assert hits(closest(90, hand), *thrown) == [(100, "home_1")]


@pytest.mark.parametrize(
    ("after_m_s", "across_m_s", "z_m", "at_ms", "counts"),
    [
        (6.5, 2.0, 0.9, 400, True),
        (6.8, 2.0, 0.9, 400, False),
        (4.5, 0.0, 0.9, 400, False),
        (6.5, 2.0, 0.1, 400, False),
        (6.5, 2.0, 0.9, 2300, False),
    ],
    ids=[
        "turned in the air",
        "hardly more than noise",
        "slowed by the air",
        "on the ground",
        "long after it was played",
    ],
)
def test_only_a_body_turns_a_ball_in_the_air(
    after_m_s: float, across_m_s: float, z_m: float, at_ms: int, counts: bool
) -> None:
    turn = closest(at_ms - 10, ("away_4", "", 0.8, -0.8)), peak(at_ms, 7.0, after_m_s, across_m_s, z_m)
    made = hits(closest(90, FOOT), peak(100, 0.5, 9.0), closest(160), *turn)
    assert made == [(100, "home_6"), *([(at_ms, "away_4")] if counts else [])]


@pytest.mark.parametrize(
    ("after_m_s", "across_m_s", "counts"),
    [(2.0, 0.2, False), (2.0, 1.5, True), (5.0, 0.2, True), (0.2, 0.1, True)],
    ids=["only slower", "turned", "faster", "stopped"],
)
def test_a_runners_own_ball_that_only_gets_a_little_slower_was_not_touched(
    after_m_s: float, across_m_s: float, counts: bool
) -> None:
    made = hits(closest(90, FOOT), peak(100, 0.5, 4.0), peak(500, 3.5, after_m_s, across_m_s))
    assert made == [(100, "home_6"), *([(500, "home_6")] if counts else [])]


@pytest.mark.parametrize(
    ("runs_m_s", "rival_m_s", "made_by"),
    [(5.0, -3.0, "home_6"), (-4.0, 5.0, "away_4")],
    ids=["runs with the ball", "runs away from it"],
)
def test_of_two_centroids_it_is_the_one_who_is_with_the_ball_before_and_after(
    runs_m_s: float, rival_m_s: float, made_by: str
) -> None:
    near = [
        Candidate("away_4", "away_4", "away", "", -0.6, 0.0, 0.6, rival_m_s, 0.0),
        Candidate("home_6", "home_6", "home", "", 0.8, 0.0, 0.8, runs_m_s, 0.0),
    ]
    causes = Event("ball.closest", 1_000_000, "ball", 0, Closest(tuple(near))), peak(1_000, 5.0, 7.5)
    events = [causes[1], causes[0], frame_event(1.04, (0.0, 0.0), [])]
    assert [e.payload.player for e in chained(events, PlayerHitsBall(MatchSheet()))] == [made_by]


@pytest.mark.parametrize(("ahead_m", "made_by"), [(0.7, "home_6"), (1.05, "away_4")], ids=["in reach", "out of reach"])
def test_a_ball_out_of_the_reach_of_who_had_it_was_taken_by_the_opponent_at_it(ahead_m: float, made_by: str) -> None:
    def near(own_m: float, rival_m: float) -> Event:
        own = Candidate("home_6", "home_6", "home", "", own_m, 0.0, own_m, 4.0, 0.0)
        rival = Candidate("away_4", "away_4", "away", "", 0.0, rival_m, rival_m, 4.0, 0.0)
        return Event("ball.closest", round(own_m * 1e6), "ball", 0, Closest((own, rival)))

    pushed, taken = peak(100, 0.5, 4.0), peak(800, 4.0, 0.5, across_m_s=3.0)
    first = msgspec.structs.replace(near(0.3, 2.0), ts_us=100_000)
    second = msgspec.structs.replace(near(ahead_m, 0.6), ts_us=800_000)
    events = [pushed, first, frame_event(0.14, (0.0, 0.0), []), taken, second, frame_event(0.84, (0.0, 0.0), [])]
    assert [e.payload.player for e in chained(events, PlayerHitsBall(MatchSheet()))] == ["home_6", made_by]


def test_of_two_centroids_who_may_have_had_the_ball_both_are_preferred() -> None:
    def near(ms: int, own_m: float, rival_m: float) -> Event:
        own = Candidate("home_6", "home_6", "home", "", own_m, 0.0, own_m)
        rival = Candidate("away_4", "away_4", "away", "", -rival_m, 0.0, rival_m)
        return Event("ball.closest", ms * 1000, "ball", 0, Closest((own, rival)))

    def players(first_rival_m: float) -> list[str]:
        contacts = (peak(100, 0.5, 4.0), near(100, 0.3, first_rival_m)), (peak(600, 4.0, 2.0), near(600, 0.5, 0.2))
        frames = [frame_event(ms / 1000, (0.0, 0.0), []) for ms in (140, 640)]
        events = [e for (made, around), frame in zip(contacts, frames, strict=True) for e in (made, around, frame)]
        return [e.payload.player for e in chained(events, PlayerHitsBall(MatchSheet()))]

    assert players(2.0) == ["home_6", "home_6"], "he had it for sure"
    assert players(0.35) == ["home_6", "away_4"], "it was as likely the other one's"


@pytest.mark.parametrize(("after_m_s", "headed"), [(-6.0, True), (8.0, False)], ids=["sent back", "noise"])
def test_a_ball_that_is_measured_above_every_head_and_turns_was_headed(after_m_s: float, headed: bool) -> None:
    near = Closest((Candidate("home_6", "home_6", "home", "", 0.5, 0.0, 0.5),))
    causes = [peak(100, 12.0, after_m_s, z_m=3.1), Event("ball.closest", 100_000, "ball", 0, near)]
    found = fold(PlayerHitsBall(MatchSheet()), [*causes, frame_event(0.14, (0.0, 0.0), [])])
    assert [e.payload.player for e in found if e.kind == "hit"] == ["home_6"] * headed


@pytest.mark.parametrize(("after_m_s", "by"), [(13.0, "home_6"), (1.0, "away_4")], ids=["kicked", "stopped"])
def test_who_has_just_touched_a_ball_may_kick_it_at_once_but_not_stop_it(after_m_s: float, by: str) -> None:
    own, rival = (Candidate(name, name, name[:4], "", 0.5, 0.0, 0.5) for name in ("home_6", "away_4"))  # type: ignore[arg-type]
    alone, both = Closest((own,)), Closest((own, rival))
    first = [peak(100, 1.0, 4.0), Event("ball.closest", 100_000, "ball", 0, alone), frame_event(0.14, (0.0, 0.0), [])]
    second = [peak(280, 4.0, after_m_s), Event("ball.closest", 280_000, "ball", 1, both)]
    found = fold(PlayerHitsBall(MatchSheet()), [*first, *second, frame_event(0.32, (0.0, 0.0), [])])
    assert [e.payload.player for e in found if e.kind == "hit"] == ["home_6", by]


@pytest.mark.parametrize(
    ("across_m_s", "at_x_m", "by"),
    [(12.0, 0.0, "away_4"), (4.0, 0.0, "home_6"), (0.1, 45.0, "home_6")],
    ids=["leaves to a mate", "too slow to say", "may be a shot"],
)
def test_of_two_opponents_at_the_ball_it_is_his_whose_team_it_goes_to(
    across_m_s: float, at_x_m: float, by: str
) -> None:
    own, rival = (Candidate(name, name, name[:4], "", 0.0, 0.5, away_m, 0.0) for name, away_m in BOTH_NEAR)  # type: ignore[arg-type]
    made = peak(100, 0.0, 0.1 if across_m_s > 1.0 else 12.0, across_m_s)
    made = msgspec.structs.replace(made, payload=msgspec.structs.replace(payload_of(made), x_m=at_x_m))
    waits = body("away_9", at_x_m, 12.0) if across_m_s > 1.0 else body("away_9", at_x_m + 4.0, 0.0)
    near = Event("ball.closest", 100_000, "ball", 0, Closest((own, rival)))
    found = fold(PlayerHitsBall(MatchSheet()), [made, near, frame_event(0.14, (at_x_m, 0.0), [waits])])
    assert [e.payload.player for e in found if e.kind == "hit"] == [by]


def test_of_two_feet_at_the_ball_it_is_rather_his_who_had_it() -> None:
    rival = ("away_4", "right_foot", 0.05, 0.0)
    both = closest(300, rival, FOOT)
    assert hits(closest(90, FOOT), peak(100, 0.5, 4.0), both, peak(310, 1.0, 9.0))[-1] == (310, "home_6")
    assert hits(both, peak(310, 1.0, 9.0)) == [(310, "away_4")], "nobody had it"


def test_of_two_feet_as_near_it_is_the_one_behind_the_ball_that_closed_on_it() -> None:
    def foot(player: str, dx_m: float, vx_m_s: float) -> Candidate:
        return Candidate(f"{player}/left_foot", player, player[:4], "left_foot", dx_m, 0.0, 0.13, vx_m_s)

    def near(*feet: Candidate) -> Event:
        return Event("ball.closest", 90_000, "ball", 90, Closest(feet))

    pushed = peak(100, 0.0, 10.0)
    assert hits(near(foot("away_4", -0.13, 8.0), foot("home_6", 0.13, 8.0)), pushed) == [(100, "home_6")], "behind it"
    assert hits(near(foot("away_4", 0.13, 0.0), foot("home_6", 0.13, 8.0)), pushed) == [(100, "home_6")], "closed on it"


def test_a_ball_that_lay_and_rises_beside_somebody_was_picked_up() -> None:
    near_foot = closest(90, ("home_6", "left_foot", 0.7, 0.0))
    assert hits(near_foot, peak(100, 0.1, 9.0)) == [(100, "home_6")]
    assert hits(near_foot, peak(100, 3.0, 12.0)) == [], "a rolling one is not within reach of his feet"


@pytest.mark.parametrize(("distance_m", "counts"), [(0.2, True), (0.3, False)])
def test_a_small_change_is_a_foots_only_that_touches_the_ball(distance_m: float, counts: bool) -> None:
    made = hits(closest(90, ("home_6", "left_foot", distance_m, 0.0)), peak(100, 3.0, 1.2))
    assert made == ([(100, "home_6")] if counts else [])


def test_a_ball_that_comes_flying_is_headed_though_it_changes_little() -> None:
    head = closest(90, ("home_6", "", 0.1, 0.0))
    assert hits(head, peak(100, 10.0, 13.0, z_m=2.0)) == [(100, "home_6")]
    assert hits(head, peak(100, 4.0, 7.0, z_m=2.0)) == [], "in hands"


def test_only_the_ground_slows_a_runners_own_ball_and_there_is_none_at_knee_height() -> None:
    contacts = hits(closest(90, FOOT), peak(100, 0.5, 5.0), closest(490, FOOT), peak(500, 5.0, 3.0, z_m=0.7))
    assert contacts == [(100, "home_6"), (500, "home_6")]


def test_no_leg_is_a_metre_long_however_hard_the_ball_is_hit() -> None:
    assert hits(closest(90, ("home_6", "left_foot", 0.8, 0.0)), peak(100, 12.0, 3.0)) == []


@pytest.mark.parametrize(("after_m_s", "made"), [(2.0, []), (1.0, [(100, "home_6")])])
def test_a_ball_that_a_trunk_hardly_changes_is_carried(after_m_s: float, made: list[tuple[int, str]]) -> None:
    assert hits(closest(90, ("home_6", "", 0.1, 0.0)), peak(100, 6.0, after_m_s, z_m=1.1)) == made


def test_a_raised_foot_beside_the_trunk_plays_a_ball_that_a_trunk_would_only_carry() -> None:
    raised = closest(90, ("home_6", "", 0.0, 0.0), ("home_6", "left_foot", 0.1, 0.0))
    assert hits(raised, peak(100, 4.0, 2.0, z_m=0.7)) == [(100, "home_6")]


@pytest.mark.parametrize(("second_m_s", "made"), [(4.0, [100]), (15.0, [100, 150])])
def test_what_is_left_of_a_contact_is_no_second_one_unless_far_stronger(second_m_s: float, made: list[int]) -> None:
    contacts = hits(closest(90, FOOT), peak(100, 0.0, 3.0), peak(150, 3.0, 3.0 + second_m_s))
    assert [at_ms for at_ms, _ in contacts] == made


def test_of_two_contacts_at_once_that_look_like_one_players_one_is_anothers() -> None:
    mine, rival = ("away_9", "right_foot", 0.1, 0.1), ("home_5", "left_foot", 0.16, 0.16)
    blocked, taken = peak(100, 15.0, 6.0), peak(115, 6.0, 0.5, 1.0)
    assert hits(closest(90, mine, rival), blocked, closest(110, mine), taken) == [(100, "home_5"), (115, "away_9")]
    assert hits(closest(90, mine), blocked, closest(110, mine, rival), taken) == [(100, "away_9"), (115, "home_5")]
    assert hits(closest(90, mine), blocked, closest(110, mine), taken) == [(100, "away_9")], "nobody else was there"
    apart = hits(closest(90, mine, rival), blocked, closest(170, mine), peak(175, 6.0, 0.5, 1.0))
    assert apart == [(100, "away_9")], "not at once"


def test_in_the_way_of_who_has_just_kicked_is_rather_an_opponent_than_a_mate() -> None:
    mate, rival = ("home_9", "right_foot", 0.14, 0.14), ("away_10", "left_foot", 0.16, 0.16)
    kicked, met = (closest(90, FOOT), peak(100, 0.5, 20.0)), closest(130, mate, rival)
    assert hits(*kicked, met, peak(140, 20.0, 3.0))[-1] == (140, "away_10")
    assert hits(*kicked, met, peak(400, 20.0, 3.0))[-1] == (400, "home_9"), "in the way of who kicked long ago"


def test_of_a_ball_that_is_met_at_once_the_second_contact_tells_how_it_left_the_first() -> None:
    causes = [closest(90, FOOT), peak(100, 2.0, 9.0), closest(110, ("away_4", "left_foot", 0.13, 0.0))]
    causes += [peak(115, 14.0, 1.0), *(frame_event(ms / 1000, (0.0, 0.0), []) for ms in range(0, 400, 20))]
    found = chained(causes, PlayerHitsBall(RADIO))
    speeds = [(e.payload.detail["vx_m_s"], e.payload.detail["delta_v_m_s"]) for e in found]
    assert speeds == [(14.0, 12.0), (1.0, 13.0)]
    assert found[0].payload.detail["speed_after_m_s"] == 14.0


def test_a_ball_that_is_turned_back_is_not_only_slowed() -> None:
    contacts = hits(closest(90, FOOT), peak(100, 0.0, 3.0), closest(390, FOOT), peak(400, 1.6, -1.2))
    assert contacts == [(100, "home_6"), (400, "home_6")]


# -- passes ----------------------------------------------------------------------------------------------------------


def released(at_s: float, player: str, came_m_s: float, left_m_s: float, z_m: float = 0.1) -> Event:
    """A ball that has left its kicker a tenth of a second ago."""
    detail = {
        "kick_us": round(at_s * 1e6) - 100_000, "kick_x_m": 0.0, "kick_y_m": 0.0, "kick_z_m": z_m,
        "speed_before_m_s": came_m_s, "speed_after_m_s": left_m_s, "vx_m_s": left_m_s, "vy_m_s": 0.0, "vz_m_s": 0.0,
    }  # fmt: skip
    team = "home" if player.startswith("home") else "away"
    payload = EventPayload("", team, player, 2.3, 0.0, 0.1, detail=detail)  # type: ignore[arg-type]
    return make_event("kick.released", round(at_s * 1e6), f"ball:{player}", payload)


@pytest.mark.parametrize(
    ("last_by", "came_m_s", "left_m_s", "z_m", "attempts"),
    [
        ("away_4", 15.0, 11.0, 0.1, 0),  # rebounds
        ("away_4", 15.0, 11.0, 1.9, 1),  # is headed
        ("away_4", 12.0, 16.0, 0.1, 1),  # is struck at once
        ("away_4", 2.0, 4.0, 0.1, 0),  # is poked away
        ("home_8", 15.0, 11.0, 0.1, 1),  # a mate's, laid off
    ],
)
def test_a_ball_that_leaves_slower_than_the_opponent_sent_it_was_not_passed(
    last_by: str, came_m_s: float, left_m_s: float, z_m: float, attempts: int
) -> None:
    people = [body("home_6", 0.0, 0.0), body("home_8", 12.0, 0.0), body(last_by, 3.0, 8.0)]
    causes = [event("hit", 0.5, last_by), frame_event(1.0, (2.3, 0.0), people)]
    out = fold(PassAttempt(RADIO), [*causes, released(1.0, "home_6", came_m_s, left_m_s, z_m)])
    assert len(out) == attempts


@pytest.mark.parametrize(
    ("turned_m_s", "mate_x_m", "attempts"),
    [
        (13.0, 12.0, 1),  # to a mate
        (3.0, 12.0, 0),  # goes on
        (13.0, 30.0, 0),  # to an opponent
    ],
)
def test_without_limbs_a_turned_ball_that_goes_fast_to_a_mate_was_played_on(
    turned_m_s: float, mate_x_m: float, attempts: int
) -> None:
    people = [body("home_6", 0.0, 0.0), body("home_8", mate_x_m, 0.0), body("away_4", 22.0, 0.0)]
    met = event("hit", 0.9, "home_6", vx_m_s=11.0, vy_m_s=0.0, delta_vx_m_s=11.0 - 15.0 + turned_m_s, delta_vy_m_s=5.0)
    causes = [event("hit", 0.4, "away_4"), met, frame_event(1.0, (2.3, 0.0), people)]
    assert len(fold(PassAttempt(MatchSheet()), [*causes, released(1.0, "home_6", 15.0, 11.0)])) == attempts


@pytest.mark.parametrize(("after_ms", "attempts"), [(55, 0), (70, 1)])
def test_nobody_is_quick_enough_to_strike_what_an_opponent_has_just_kicked(after_ms: int, attempts: int) -> None:
    people = [body("home_6", 0.0, 0.0), body("home_8", 12.0, 0.0), body("away_4", 3.0, 8.0)]
    causes = [event("hit", 0.9 - after_ms / 1000, "away_4"), frame_event(1.0, (2.3, 0.0), people)]
    assert len(fold(PassAttempt(RADIO), [*causes, released(1.0, "home_6", 12.0, 16.0)])) == attempts


@pytest.mark.parametrize(
    ("by", "after_m_s", "across_m_s", "attempts"),
    [
        ("home_6", 13.0, 4.0, 0),  # goes on as it came
        ("home_6", 10.0, 9.0, 1),  # turned: laid off
        ("home_6", 16.0, 4.0, 1),  # sent on faster
        ("home_8", 13.0, 4.0, 1),  # his own ball
    ],
)
def test_a_mates_ball_that_goes_on_as_it_came_was_not_passed_on(
    by: str, after_m_s: float, across_m_s: float, attempts: int
) -> None:
    people = [body(by, 0.0, 0.0), body("home_9", 12.0, 0.0), body("away_4", 3.0, 8.0)]
    way = {"vx_m_s": after_m_s, "vy_m_s": across_m_s, "delta_vx_m_s": after_m_s - 15.0, "delta_vy_m_s": across_m_s}
    left_m_s = math.hypot(after_m_s, across_m_s)
    met = event("hit", 0.9, by, **way, speed_before_m_s=15.0, speed_after_m_s=left_m_s)
    causes = [event("hit", 0.4, "home_8"), met, frame_event(1.0, (2.3, 0.0), people)]
    assert len(fold(PassAttempt(RADIO), [*causes, released(1.0, by, 15.0, left_m_s)])) == attempts


@pytest.mark.parametrize(
    ("after_ms", "speed_m_s", "attempts"), [(50, 5.5, 1), (50, 4.5, 0), (80, 5.5, 0), (80, 7.5, 1)]
)
def test_a_kick_that_is_met_at_once_was_no_dribblers_touch(after_ms: int, speed_m_s: float, attempts: int) -> None:
    people = [body("home_6", 0.0, 0.0), body("home_9", 12.0, 0.0), body("away_4", 0.5, 0.0)]
    kicked = event("hit", 0.5, "home_6", vx_m_s=speed_m_s, speed_after_m_s=speed_m_s)
    met = event("hit", 0.5 + after_ms / 1000, "away_4", delta_vx_m_s=-speed_m_s, delta_vy_m_s=0.0)
    out = fold(PassAttempt(RADIO), [kicked, frame_event(0.5, (0.0, 0.0), people), met])
    assert [e.payload.player for e in out] == ["home_6"] * attempts


def test_a_goalkeeper_parries_a_high_ball_and_does_not_head_it() -> None:
    keeper = MatchSheet(players=(Player("home_6", "home", goalkeeper=True),), quality=stage.RTLS)
    people = [body("home_6", 0.0, 0.0), body("home_8", 12.0, 0.0), body("away_4", 3.0, 8.0)]
    causes = [event("hit", 0.5, "away_4"), frame_event(1.0, (2.3, 0.0), people)]
    struck = released(1.0, "home_6", 19.0, 12.0, 2.2)
    assert len(fold(PassAttempt(RADIO), [*causes, struck])) == 1
    assert fold(PassAttempt(keeper), [*causes, struck]) == []


@pytest.mark.parametrize(
    ("met_by", "left_m_s", "attempts"),
    [("home_8", 6.0, 1), ("away_4", 8.0, 1), ("away_4", 6.0, 0), ("", 6.0, 0)],
    ids=["by a mate", "fast, by an opponent", "a dribbler's ball, by an opponent", "by nobody"],
)
def test_a_ball_that_somebody_has_met_already_is_no_dribble(met_by: str, left_m_s: float, attempts: int) -> None:
    """The kicker and another one are as near to the ball when it is known to have left."""
    people = [body("home_6", 1.9, 0.0), body("home_8", 3.4, 0.0), body("away_4", 3.4, 0.2)]
    left = released(1.3, "home_6", 3.0, left_m_s)
    kicked = msgspec.structs.replace(payload_of(left), detail={**payload_of(left).detail, "kick_us": 900_000})
    causes = [event("hit", 0.9, "home_6"), frame_event(1.1, (2.3, 0.0), people)]
    met = [event("hit", 1.2, met_by)] if met_by else []
    out = fold(PassAttempt(RADIO), [*causes, *met, msgspec.structs.replace(left, payload=kicked)])
    assert [payload_of(e).player for e in out] == ["home_6"] * attempts


@pytest.mark.parametrize(
    ("left_m_s", "mate_y_m", "attempts"), [(9.0, 15.0, 1), (9.0, 30.0, 0), (6.0, 5.0, 0)], ids=["late", "alone", "soon"]
)
def test_a_ball_that_a_mate_would_reach_as_soon_as_its_kicker_is_passed_if_that_is_late(
    left_m_s: float, mate_y_m: float, attempts: int
) -> None:
    people = [body("home_6", 0.0, 0.0), body("home_8", 12.0, mate_y_m)]
    causes = [event("hit", 0.9, "home_6"), frame_event(1.0, (2.3, 0.0), people)]
    assert len(fold(PassAttempt(RADIO), [*causes, released(1.0, "home_6", 3.0, left_m_s)])) == attempts


def attempt(at_s: float = 1.0, left_after_s: float = 0.0) -> Event:
    kick_us = round(at_s * 1e6)
    return event("pass.attempt", at_s, "home_9", kick_us=kick_us, released_us=kick_us + round(left_after_s * 1e6))


def deflected(at_s: float, player: str) -> list[Event]:
    return [event(kind, at_s, player) for kind in ("deflection", "hit", "possession.gain")]


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        (event("possession.gain", 2.0, "home_8"), ("pass.complete", 2_000_000)),
        (event("possession.gain", 2.0, "away_6"), ("pass.intercepted", 2_000_000)),
        (event("hit", 2.0, "away_4"), ("pass.intercepted", 2_000_000)),
    ],
    ids=["a mate gets it", "another opponent", "he had it"],
)
def test_a_deflected_pass_is_under_way_until_somebody_has_the_ball(then: Event, expected: tuple[str, int]) -> None:
    out = fold(PassOutcome(), [attempt(), *deflected(1.5, "away_4"), then])
    assert [(e.kind, e.ts_us) for e in out] == [expected]


def test_a_kicker_who_plays_the_ball_next_has_dribbled_and_his_attempt_is_taken_back() -> None:
    made = attempt()
    (kept,) = fold(PassOutcome(), [made, event("hit", 1.05, "home_9"), event("touch", 1.8, "home_9")])
    assert (kept.kind, kept.payload.player, kept.annuls, kept.ts_us) == ("pass.kept", "home_9", made.id, 1_800_000)
    later = fold(PassOutcome(), [made, event("hit", 5.0, "home_9"), event("possession.gain", 5.5, "away_4")])
    assert rows_of(later) == [("pass.intercepted", "", "home")], "after three seconds somebody else may have had it"


def test_the_contact_that_sends_a_ball_off_is_no_second_one_however_early_the_ball_was_seen_to_move() -> None:
    made = attempt(left_after_s=0.3)
    thrown, received = event("hit", 1.2, "home_9"), event("possession.gain", 2.0, "home_8")
    assert rows_of(fold(PassOutcome(), [made, thrown, received])) == [("pass.complete", "", "home")]
    assert rows_of(fold(PassOutcome(), [made, event("hit", 1.4, "home_9"), received])) == [("pass.kept", "", "home")]


# -- a goalkeeper's feet -----------------------------------------------------------------------------------------------


def on_centroids(low_s: float, *, taken_up: bool) -> list[str]:
    """A ball that lies at the goalkeeper's feet for a time, hops to his knee, and stays up or falls again."""
    sheet = MatchSheet(players=(Player("home_1", "home", goalkeeper=True),))
    keeper, events = body("home_1", -50.0, 0.0), []
    for k in range(round((low_s + 1.2) * 25)):
        at_s = k / 25
        up = low_s <= at_s < low_s + (1.0 if taken_up else 0.12)
        events.append(frame_event(at_s, (-49.6, 0.0, 0.7 if up else 0.1), [keeper]))
        if up and at_s - 0.04 < low_s:
            turned = {"delta_vx_m_s": 6.0, "delta_vy_m_s": 0.0, "vx_m_s": 3.0, "vy_m_s": 0.0, "vz_m_s": 1.0}
            turned |= {"speed_before_m_s": 3.0, "speed_after_m_s": 3.0, "delta_v_m_s": 6.0, "bounce": False}
            payload = EventPayload("hard", x_m=-49.6, y_m=0.0, z_m=0.7, detail=turned)
            events.append(make_event("ball.accel_peak", round(at_s * 1e6), f"ball:{k}", payload))
    return [e.kind for e in fold(GoalkeeperHands(sheet), events)]


def test_a_ball_that_hops_at_a_goalkeepers_feet_was_not_parried() -> None:
    assert on_centroids(0.8, taken_up=False) == []
    assert on_centroids(0.8, taken_up=True) == ["gk.catch"], "he takes it up"
    assert on_centroids(0.1, taken_up=False) == ["gk.parry"], "a shot is low beside him for a moment only"


@pytest.mark.parametrize(
    ("after_s", "came_m_s", "left_m_s", "z_m", "attempts"),
    [(0.25, 15.0, 9.0, 1.9, 1), (0.15, 15.0, 9.0, 1.9, 0), (0.25, 3.0, 11.0, 0.1, 1), (0.25, 15.0, 20.0, 0.1, 0)],
    ids=["headed", "headed at once", "slow, then kicked", "fast before"],
)
def test_without_limbs_a_header_or_the_kick_of_a_slow_ball_is_no_block(
    after_s: float, came_m_s: float, left_m_s: float, z_m: float, attempts: int
) -> None:
    people = [body("home_6", 0.0, 0.0), body("home_8", 12.0, 0.0), body("away_4", 3.0, 8.0)]
    causes = [event("hit", 0.9 - after_s, "away_4"), frame_event(1.0, (2.3, 0.0), people)]
    out = fold(PassAttempt(MatchSheet()), [*causes, released(1.0, "home_6", came_m_s, left_m_s, z_m)])
    assert len(out) == attempts
