"""8.3, 8.5, 8.10, 8.12 on hand-made causes: heights, through balls, the value of shots, who laid them on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.emission import make_event
from detectors.qualifiers.chances import FOOT, FREE_KICK, HEAD, KeyPass, ShotValue, chance, shot_view
from detectors.qualifiers.heights import PassHeight
from detectors.qualifiers.lines import ThroughBall
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import EventPayload
from football.pitch import Pitch
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True), Player("away_1", "away", goalkeeper=True)))
USUAL = {"defenders": 1, "keeper": True, "pressure_m": 5.0}
Place = tuple[float, float]


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(
    kind: str, at_s: float, player: str = "", place: Place = (0.0, 0.0), variant: str = "", **detail: object
) -> Event:
    anchor = str(detail.pop("anchor", "k"))
    return make_event(
        kind, round(at_s * 1e6), anchor, EventPayload(variant, team(player), player, *place, detail=detail)
    )


def direction(attacks: Team = "home") -> Event:
    return make_event("direction", 0, "d", EventPayload(team=attacks))


def frame(at_s: float, **players: Place) -> Event:
    return frame_event(at_s, (0.0, 0.0), [body(name, *place) for name, place in players.items()])


# -- 8.10 --------------------------------------------------------------------------------------------------------


def test_the_models_are_those_of_databallpy_in_metres_and_degrees() -> None:
    """Standardised as published: (mean, variance) of distance and angle, their coefficients, the intercept."""
    published_models = {
        FOOT: ((18.610252, 52.863178), (22.349415, 185.659369), (-0.610885, 0.316907), -2.431935),
        HEAD: ((9.139542, 14.468886), (43.493270, 323.051062), (-0.579391, 0.214848), -2.300308),
        FREE_KICK: ((26.578298, 21.954245), (14.372910, 12.927332), (-0.815661, 0.082876), -3.063365),
    }
    for model, (dist, angle, coefs, intercept) in published_models.items():
        per_m, per_deg = coefs[0] / math.sqrt(dist[1]), coefs[1] / math.sqrt(angle[1])
        assert model.per_m == pytest.approx(per_m, abs=1e-5)
        assert model.per_deg == pytest.approx(per_deg, abs=1e-5)
        assert model.constant == pytest.approx(intercept - per_m * dist[0] - per_deg * angle[0], abs=2e-4)


@given(st.floats(-51.0, 51.0), st.floats(-33.0, 33.0))
def test_the_angle_is_that_of_the_posts_seen_from_the_ball(x_m: float, y_m: float) -> None:
    _, angle_deg = shot_view(Pitch(), x_m, y_m, positive=True)
    near, far = (52.5 - x_m, 3.66 - y_m), (52.5 - x_m, -3.66 - y_m)
    cosine = (near[0] * far[0] + near[1] * far[1]) / (math.hypot(*near) * math.hypot(*far))
    assert angle_deg == pytest.approx(math.degrees(math.acos(max(-1.0, min(1.0, cosine)))), abs=1e-5)


@given(st.floats(1.0, 40.0), st.floats(1.0, 120.0), st.sampled_from(["foot", "head", "free kick"]))
def test_nearer_wider_and_freer_shots_are_worth_more(distance_m: float, angle_deg: float, model: str) -> None:
    worth = chance(model, distance_m, angle_deg, USUAL, 1.5)
    assert 0.0 < worth < 1.0
    assert chance(model, distance_m + 1.0, angle_deg, USUAL, 1.5) < worth
    assert chance(model, distance_m, angle_deg + 1.0, USUAL, 1.5) > worth
    if model != "free kick":
        assert chance(model, distance_m, angle_deg, {**USUAL, "defenders": 3}, 1.5) < worth
        assert chance(model, distance_m, angle_deg, {**USUAL, "pressure_m": 1.0}, 1.5) < worth
        assert chance(model, distance_m, angle_deg, {**USUAL, "keeper": False}, 1.5) > worth


def valued(sign: float, place: Place, *more: Event, **players: Place) -> list[Event]:
    """Words about a shot by home_9, who attacks ``sign``."""
    people = {name: (sign * x, sign * y) for name, (x, y) in players.items()}
    attacks: Team = "home" if sign > 0 else "away"
    shot = about("shot.attempt", 1.0, "home_9", (sign * place[0], sign * place[1]))
    before, after = [e for e in more if e.ts_us <= 1_000_000], [e for e in more if e.ts_us > 1_000_000]
    return fold(ShotValue(SHEET), [direction(attacks), frame(0.98, **people), *before, shot, *after])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_who_stands_in_the_way_is_counted_whichever_way_the_team_attacks(sign: float) -> None:
    people = {"away_1": (51.0, 0.5), "away_4": (46.0, 0.4), "away_5": (46.0, 9.0), "away_6": (38.0, 0.0)}
    (word,) = valued(sign, (40.0, 0.0), home_9=(39.6, 0.0), home_7=(46.0, 0.0), **people)
    found = word.payload.detail
    assert (found["defenders"], found["keeper"], found["pressure_m"], found["model"]) == (1, True, 2.0, "foot")
    assert found["distance_m"] == 12.5
    assert (word.payload.variant, word.payload.team, word.payload.player) == ("-.35", "home", "home_9")


@pytest.mark.parametrize(
    ("place", "variant"), [((20.0, 10.0), "<.05"), ((35.0, 3.0), "-.15"), ((43.0, 0.0), "-.35"), ((51.0, 0.0), ">.35")]
)
def test_values_have_four_classes(place: Place, variant: str) -> None:
    (word,) = valued(1.0, place, away_1=(52.4, 0.0), away_4=(place[0] + 0.9, place[1] * 0.98))
    assert word.payload.variant == variant


def test_a_header_is_worth_less_than_a_shot_by_foot_from_there() -> None:
    headed = about("bodypart", 1.0, "home_9", variant="head", anchor="b")
    others = about("bodypart", 1.0, "away_4", variant="head", anchor="c")
    words = [
        valued(1.0, (44.0, 0.0), *more, away_1=(52.0, 0.0))[0].payload.detail for more in ((), (headed,), (others,))
    ]
    assert [word["model"] for word in words] == ["foot", "head", "foot"]
    assert words[1]["xg"] < words[0]["xg"]


@pytest.mark.parametrize(
    ("place", "models"), [((41.5, 0.0), ["foot", "penalty"]), ((30.0, 5.0), ["foot", "free kick"])]
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_restart_amends_the_value(place: Place, models: list[str], sign: float) -> None:
    live = about("play.live", 1.6, "home_9", variant="stop", anchor="l", kick_us=990_000)
    words = valued(sign, place, live, away_1=(52.0, 0.0))
    assert [word.payload.detail["model"] for word in words] == models
    assert {word.id for word in words} == {"shot.xg#k"}
    assert words[1].dated_us == words[0].ts_us == 1_000_000
    assert (words[1].payload.detail["xg"] == 0.79) == (models[1] == "penalty")


def test_somebody_elses_restart_amends_nothing() -> None:
    later = about("play.live", 9.0, "home_9", variant="stop", anchor="l", kick_us=8_500_000)
    other = about("play.live", 1.6, "away_9", variant="stop", anchor="m", kick_us=990_000)
    assert len(valued(1.0, (41.5, 0.0), later, away_1=(52.0, 0.0))) == 1
    assert len(valued(1.0, (41.5, 0.0), other, away_1=(52.0, 0.0))) == 1


def test_without_sides_or_people_nothing_is_valued() -> None:
    shot = about("shot.attempt", 1.0, "home_9", (40.0, 0.0))
    assert fold(ShotValue(SHEET), [shot]) == []
    assert fold(ShotValue(SHEET), [direction(), shot]) == []
    (alone,) = fold(ShotValue(SHEET), [direction(), frame(0.9, home_9=(40.0, 0.0)), shot])
    assert (alone.payload.detail["keeper"], alone.payload.detail["pressure_m"]) == (False, None)


# -- 8.12 --------------------------------------------------------------------------------------------------------


def arrived(at_s: float, passer: str, receiver: str, kick_s: float) -> Event:
    detail = {"receiver": receiver, "kick_us": round(kick_s * 1e6), "start_x_m": 1.0, "start_y_m": 2.0}
    return about("pass.complete", at_s, passer, (5.0, 5.0), anchor=f"p{at_s}", **detail)


SHOT = about("shot.attempt", 12.0, "home_9", anchor="shot")
GOAL = about("goal.scored", 13.0, "home_9", anchor="goal")


def credited(*causes: Event) -> list[tuple[str, str]]:
    return [(e.kind, e.payload.player) for e in fold(KeyPass(), causes)]


def test_the_pass_to_the_shooter_is_a_key_pass_and_to_the_scorer_an_assist() -> None:
    assert credited(arrived(10.0, "home_8", "home_9", 9.0), SHOT, GOAL) == [("keypass", "home_8"), ("assist", "home_8")]


def test_the_pass_before_is_the_second_assist() -> None:
    passes = arrived(6.0, "home_7", "home_8", 5.0), arrived(10.0, "home_8", "home_9", 9.0)
    assert credited(*passes, GOAL) == [("assist", "home_8"), ("second_assist", "home_7")]
    one_two = arrived(6.0, "home_9", "home_8", 5.0), passes[1]
    assert credited(*one_two, GOAL) == [("assist", "home_8")], "nobody prepares his own goal"


def test_a_shot_at_the_first_touch_comes_before_the_pass_is_known_to_have_arrived() -> None:
    assert credited(SHOT, arrived(12.0, "home_8", "home_9", 11.0)) == [("keypass", "home_8")]
    assert credited(SHOT, arrived(12.1, "home_8", "home_9", 11.0)) == []


@pytest.mark.parametrize(
    "passes",
    [
        [arrived(1.9, "home_8", "home_9", 1.0)],
        [arrived(10.0, "home_8", "home_7", 9.0)],
        [arrived(8.0, "home_8", "home_9", 7.0), arrived(10.0, "away_8", "away_9", 9.0)],
        [],
    ],
    ids=["too long ago", "to somebody else", "an opponents' pass since", "no pass"],
)
def test_no_pass_laid_it_on(passes: list[Event]) -> None:
    assert credited(*passes, SHOT) == []


# -- 8.3 ---------------------------------------------------------------------------------------------------------


def height(at_s: float, band: str) -> Event:
    return about("ball.height", at_s, variant=band, anchor=f"h{at_s}")


def heights(*causes: Event) -> list[tuple[str, object]]:
    return [(e.payload.variant, e.payload.detail["final"]) for e in fold(PassHeight(), causes)]


KICK = about("pass.attempt", 1.0, "home_6")
END = about("pass.complete", 2.0, "home_6", kick_us=1_000_000)


def test_a_pass_is_as_high_as_the_highest_band_it_reached() -> None:
    flight = height(0.5, "ground"), KICK, height(1.1, "low"), height(1.3, "high"), height(1.6, "low"), END
    assert heights(*flight) == [("ground", False), ("low", False), ("high", False), ("high", True)]
    ends = "pass.complete", "pass.intercepted", "pass.out", "pass.kept"
    kinds = ("ball.height", "hit", "touch", "pass.attempt", *ends)
    (last,) = published(Hierarchy(kinds, [PassHeight()]), flight)
    assert (last.payload.variant, last.ts_us) == ("high", 1_000_000)


def test_head_height_is_high_and_a_rolling_ball_stays_on_the_ground() -> None:
    assert heights(height(0.5, "head"), KICK, height(1.2, "ground"), END) == [("high", False), ("high", True)]
    assert heights(height(0.5, "ground"), KICK, END) == [("ground", False), ("ground", True)]


def test_what_the_ball_does_after_the_next_contact_is_not_the_passs() -> None:
    touched = height(0.5, "ground"), about("hit", 1.0, "home_6"), KICK, about("touch", 1.5, "home_8", anchor="t")
    assert heights(*touched, height(1.6, "high"), END) == [("ground", False), ("ground", True)]
    second = about("pass.attempt", 2.0, "home_8", anchor="k2")
    assert heights(height(0.5, "ground"), KICK, second, END, height(2.2, "high")) == [
        ("ground", False),
        ("ground", False),
        ("ground", True),
        ("high", False),
    ]


def test_a_pass_without_end_is_forgotten_and_an_unknown_height_not_told() -> None:
    assert heights(height(0.5, "ground"), KICK, height(9.0, "high")) == [("ground", False)]
    assert heights(KICK, END) == []


# -- 8.5 ---------------------------------------------------------------------------------------------------------

LINE = {"away_1": (50.0, 0.0), "away_2": (30.0, 12.0), "away_3": (29.0, -8.0), "away_4": (28.0, 20.0)}


def through(sign: float, start: Place, end: Place, line: dict[str, Place] = LINE) -> int:
    turned = {name: (sign * x, sign * y) for name, (x, y) in line.items()}
    attacks: Team = "home" if sign > 0 else "away"
    detail = {"start_x_m": sign * start[0], "start_y_m": sign * start[1], "kick_us": 1_000_000}
    kick = about("pass.attempt", 1.0, "home_6", (sign * start[0], sign * start[1]))
    completion = about("pass.complete", 2.5, "home_6", (sign * end[0], sign * end[1]), **detail)
    return len(fold(ThroughBall(SHEET), [direction(attacks), frame(0.98, **turned), kick, completion]))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_through_ball_passes_between_two_of_the_last_line(sign: float) -> None:
    assert through(sign, (10.0, 0.0), (38.0, 2.0)) == 1
    assert through(sign, (10.0, 0.0), (31.1, 2.0)) == 1
    assert through(sign, (10.0, 0.0), (30.9, 2.0)) == 0  # hardly behind it
    assert through(sign, (10.0, 28.0), (38.0, 28.0)) == 0  # around it
    assert through(sign, (31.0, 0.0), (38.0, 2.0)) == 0  # from behind it
    assert through(sign, (10.0, 0.0), (38.0, 2.0), {"away_1": (50.0, 0.0), "away_2": (30.0, 12.0)}) == 0


def test_a_goalkeeper_off_his_line_is_not_the_last_line_and_nobody_is_no_line() -> None:
    ahead = {**LINE, "away_1": (20.0, 0.0)}
    assert through(1.0, (10.0, 0.0), (38.0, 2.0), ahead) == 1
    assert through(1.0, (10.0, 0.0), (38.0, 2.0), {"away_1": (50.0, 0.0)}) == 0
