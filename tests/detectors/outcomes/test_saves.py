"""6.9, 7.2, 7.4: aerial duels, saves and with what, shots on the frame of the goal."""

from __future__ import annotations

import msgspec
import pytest

from detectors.actions.aerials import AerialDuel
from detectors.emission import make_event
from detectors.outcomes.saves import Save
from detectors.outcomes.shots import ShotOnWoodwork
from football.match_sheet import MatchSheet, Player, Quality, Team
from football.payloads import BallState, BodyState, EventPayload
from football.payloads import build_frame as people_of
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors import stage
from tests.detectors.scene import fold

TAGS = MatchSheet(quality=Quality(limbs=("left_foot", "right_foot")))
SHEET = MatchSheet(players=(Player("home_9", "home"), Player("away_1", "away", goalkeeper=True)))


#: Of what is not about velocities: along the halfway line.
_WAY = {"vx_m_s": 0.1, "vy_m_s": 9.0, "vz_m_s": 0.0}


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(
    kind: str, at_s: float, player: str = "", variant: str = "", x_m: float = 51.0, sure: float = 1.0, **detail: object
) -> Event:
    payload = EventPayload(
        variant, team(player), player, x_m, 0.0, 0.5, sure, {"speed_after_m_s": 9.0, **_WAY, **detail}
    )
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def tick(at_s: float) -> Event:
    return Event("clock.tick", round(at_s * 1e6), "clock", round(at_s * 5))


SHOT = about("shot.attempt", 1.0, "home_9", x_m=35.0, on_target=True)
CONTACT = about("hit", 1.8, "away_1")
LATER = (tick(2.0), tick(2.2))
SAVE_INPUTS = Save(SHEET).spec.inputs


def saves(*causes: Event, sheet: MatchSheet = SHEET) -> list[tuple[str, str]]:
    fold(Save(sheet), causes)
    emitted = published(Hierarchy(SAVE_INPUTS, [Save(sheet)]), causes)
    assert all(e.ts_us == 1_800_000 and e.id == "shot.saved#shot.attempt:1.0" for e in emitted)
    return [(e.payload.variant, e.payload.player) for e in emitted]


def test_a_save_is_told_at_once_by_the_speed_of_the_ball() -> None:
    (event,) = fold(Save(SHEET), [SHOT, CONTACT])
    assert (event.payload.variant, event.payload.team, event.payload.detail["shooter"]) == ("parried", "away", "home_9")
    assert saves(SHOT, about("hit", 1.8, "away_1", speed_after_m_s=1.0), *LATER) == [("caught", "away_1")]


@pytest.mark.parametrize(
    ("kind", "variant"),
    [("gk.catch", "caught"), ("gk.parry", "parried"), ("gk.punch", "punched"), ("gk.drop", "parried")],
)
@pytest.mark.parametrize("at_s", [1.8, 1.82])
def test_hands_have_the_last_word(kind: str, variant: str, at_s: float) -> None:
    assert saves(SHOT, CONTACT, about(kind, at_s, "away_1"), *LATER) == [(variant, "away_1")]


def test_hands_alone_save_too() -> None:
    assert saves(SHOT, about("gk.catch", 1.8, "away_1"), *LATER) == [("caught", "away_1")]


@pytest.mark.parametrize(
    ("part", "sure", "variant"),
    [("left foot", 1.0, "body"), ("chest", 0.9, "body"), ("chest", 0.6, "parried"), ("left hand", 1.0, "parried")],
)
def test_a_save_without_hands_is_one_by_the_body(part: str, sure: float, variant: str) -> None:
    bodypart = about("bodypart", 1.8, "away_1", part, sure=sure)
    assert saves(SHOT, CONTACT, bodypart, *LATER) == [(variant, "away_1")]
    assert saves(SHOT, CONTACT, bodypart, about("gk.punch", 1.8, "away_1"), *LATER) == [("punched", "away_1")]


@pytest.mark.parametrize(
    "causes",
    [
        [about("shot.attempt", 1.0, "home_9", x_m=35.0, on_target=False), CONTACT],
        [SHOT, about("hit", 1.4, "away_5"), CONTACT],
        [SHOT, about("hit", 1.4, "home_8"), CONTACT],
        [about("shot.attempt", -2.0, "home_9", x_m=35.0, on_target=True), CONTACT],
        [about("shot.attempt", 1.0, "away_9", x_m=-35.0, on_target=True), CONTACT],
        [SHOT, about("gk.catch", 0.9, "away_1")],
        [SHOT, about("play.dead", 1.7, variant="goal line"), CONTACT, about("gk.catch", 1.9, "away_1"), *LATER],
        [CONTACT, *LATER],
    ],
    ids=[
        "off target",
        "blocked",
        "a mate's",
        "long ago",
        "his own team's",
        "before the shot",
        "fetched behind the line",
        "no shot",
    ],
)
def test_no_save(causes: list[Event]) -> None:
    assert fold(Save(SHEET), sorted(causes, key=lambda e: e.ts_us)) == []


@pytest.mark.parametrize(("before_vy_m_s", "saved"), [(0.0, True), (6.0, False)], ids=["at him", "past the post"])
def test_of_a_ball_whose_way_is_known_the_goalkeepers_contact_tells_whether_it_was_on_target(
    before_vy_m_s: float, saved: bool
) -> None:
    """Whatever was thought of the shot at its kick; the goalkeeper stands 12 m before his goal, and it comes at 20."""
    turned = {"vx_m_s": -2.0, "vy_m_s": 0.0, "delta_vx_m_s": -22.0, "delta_vy_m_s": -before_vy_m_s, "delta_vz_m_s": 0.0}
    contact = about("hit", 1.8, "away_1", x_m=52.5 - 12.5, **turned)
    sheet = msgspec.structs.replace(SHEET, quality=stage.RTLS)
    for on_target in (True, False):
        shot = about("shot.attempt", 1.0, "home_9", x_m=35.0, on_target=on_target)
        assert bool(saves(shot, contact, sheet=sheet)) == saved


def test_a_shot_that_an_opponent_turns_on_to_the_goal_is_saved_all_the_same() -> None:
    wide = about("shot.attempt", 1.0, "home_9", x_m=35.0, on_target=False, vx_m_s=20.0)
    on, by = ({"vx_m_s": 18.0, "vy_m_s": vy} for vy in (1.0, 12.0))
    assert saves(wide, about("hit", 1.1, "away_4", x_m=37.0, **on), CONTACT, *LATER) == [("parried", "away_1")]
    assert saves(wide, about("hit", 1.1, "away_4", x_m=37.0, **by), CONTACT, *LATER) == []


def test_without_a_named_goalkeeper_the_goal_area_tells() -> None:
    assert saves(SHOT, about("hit", 1.8, "away_3", x_m=50.0), sheet=MatchSheet()) == [("parried", "away_3")]
    assert saves(SHOT, about("hit", 1.8, "away_3", x_m=40.0), sheet=MatchSheet()) == []


# -- 7.4 ---------------------------------------------------------------------------------------------------------


def posts(*causes: Event, attacks: Team = "home") -> list[tuple[str, object]]:
    emitted = fold(ShotOnWoodwork(), [make_event("direction", 0, "d", EventPayload(team=attacks)), *causes])
    return [(e.payload.player, e.payload.detail["part"]) for e in emitted]


def build_frame(side: str, at_s: float) -> Event:
    return about("ball.woodwork", at_s, variant="bar", side=side)


def test_a_shot_comes_off_the_frame_of_the_goal_that_it_was_meant_for_once() -> None:
    assert posts(SHOT, build_frame("right", 1.9), build_frame("right", 2.0)) == [("home_9", "bar")]
    assert posts(SHOT, build_frame("left", 1.9), attacks="away") == [("home_9", "bar")]


def test_other_frames_and_later_ones_are_not_the_shots() -> None:
    assert posts(SHOT, build_frame("left", 1.9)) == []
    assert posts(SHOT, build_frame("right", 3.1)) == []
    assert posts(build_frame("right", 0.9), SHOT) == []


# -- 6.9 ---------------------------------------------------------------------------------------------------------


def look(at_s: float, z_m: float = 2.6, speed_m_s: float = 10.0, ball_m: float = -3.0, **players: float) -> Event:
    """Players on the x axis; the ball comes along it towards them."""
    bodies = tuple(BodyState(n, team(n), "", x, 0.0, 0.0, 0.0, 0.0) for n, x in sorted(players.items()))
    ball = BallState(ball_m, 0.0, z_m, speed_m_s, 0.0, 0.5, 40_000)
    return Event("frame", round(at_s * 1e6), "frame", 0, people_of(ball, bodies))


def aerials(*causes: Event) -> list[tuple[str, str, object]]:
    return [(e.kind, e.payload.player, e.payload.detail["other"]) for e in fold(AerialDuel(TAGS), causes)]


JUMP = about("jump.take_off", 1.0, "home_9")
BOTH = look(0.98, home_9=0.0, away_4=0.8)


def test_two_opponents_under_a_high_ball_are_in_an_aerial_duel_and_the_first_to_touch_it_wins() -> None:
    assert aerials(BOTH, JUMP, about("hit", 1.3, "away_4")) == [
        ("aerial.start", "home_9", "away_4"),
        ("aerial.won", "away_4", "home_9"),
    ]


def test_a_second_jump_begins_no_second_duel_and_a_third_ones_contact_ends_it_unwon() -> None:
    second = about("jump.take_off", 1.1, "away_4")
    assert aerials(BOTH, JUMP, second, about("hit", 1.3, "home_9")) == [
        ("aerial.start", "home_9", "away_4"),
        ("aerial.won", "home_9", "away_4"),
    ]
    assert len(aerials(BOTH, JUMP, about("hit", 1.3, "home_8"), about("hit", 1.4, "home_9"))) == 1
    assert len(aerials(BOTH, JUMP, about("hit", 3.0, "home_9"))) == 1


@pytest.mark.parametrize(
    "causes",
    [
        [look(0.98, home_9=0.0, away_4=4.0), JUMP],
        [look(0.98, home_9=0.0, home_8=0.8, away_4=9.0), JUMP],
        [look(0.98, z_m=0.4, home_9=0.0, away_4=0.8), JUMP],
        [look(0.98, ball_m=-30.0, home_9=0.0, away_4=0.8), JUMP],
        [look(0.98, home_9=0.0), JUMP],
        [look(0.98, away_4=0.8), JUMP],
        [BOTH, about("phase.dead", 0.99), JUMP],
        [BOTH],
        [JUMP],
    ],
    ids=["nobody near", "a mate", "a low ball", "a far ball", "alone", "unseen", "dead", "no jump", "no frame"],
)
def test_no_aerial_duel(causes: list[Event]) -> None:
    assert aerials(*causes) == []
