"""8.11: a pass is as difficult as its model says, by low and high balls, and a dribble has no value."""

from __future__ import annotations

import pytest

from detectors.control.pass_difficulty import PassDifficulty
from detectors.control.spearman import SpearmanParameters, pass_success, players_array
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet(players=tuple(Player(f"{t}_1", t, goalkeeper=True) for t in ("home", "away")))  # type: ignore[arg-type]
RECEPTION = {"receiver": "home_8", "receiver_after_s": 1.5, "end_x_m": 20.0, "end_y_m": 0.0}


def values(up_m_s=0.0, reception=RECEPTION, kept=False, **places):
    """The versions of ``pass.xc`` of a pass by home's 6 from the centre to home's 8, who stands at (20, 0)."""
    there = {"home_6": (0.0, 0.0), "home_8": (20.0, 0.0), "home_1": (-50.0, 0.0), "away_1": (51.0, 0.0), **places}
    players = [body(name, *place) for name, place in there.items()]
    detail = {**reception, "vx_m_s": 14.0, "vy_m_s": 0.0, "vz_m_s": up_m_s}
    attempt = EventPayload("", "home", "home_6", 0.0, 0.0, 0.1, 0.9, detail)
    events = [
        make_event("direction", 0, "d", EventPayload("", "home")),
        frame_event(10.0, (0.0, 0.0, 0.1), players),
        make_event("pass.attempt", 10_000_000, "ball:10", attempt),
    ]
    if kept:
        events.append(make_event("pass.kept", 11_000_000, "ball:10", EventPayload("", "home", "home_6")))
    return fold(PassDifficulty(SHEET), events)


def test_it_is_the_chance_of_the_model_at_the_predicted_speed():
    (value,) = values(away_4=(10.0, 4.0))
    model = SpearmanParameters(ball_m_s=20.0 / 1.5)
    own = players_array((body("home_1", -50.0, 0.0), body("home_8", 20.0, 0.0)), "", model)
    other = players_array((body("away_1", 51.0, 0.0), body("away_4", 10.0, 4.0)), "away_1", model)
    assert value.payload.detail["xc"] == round(pass_success((20.0, 0.0), (0.0, 0.0), own, other, model), 3)
    assert value.payload.detail["to"] == "home_8"
    assert (value.payload.team, value.payload.player, value.payload.confidence) == ("home", "home_6", 0.9)


@pytest.mark.parametrize(
    ("where", "up_m_s", "variant"),
    [((40.0, 30.0), 0.0, "safe"), ((10.0, 0.5), 0.0, "risky"), ((10.0, 0.5), 8.0, "safe"), ((19.0, 0.5), 8.0, "fair")],
)
def test_an_opponent_on_its_way_takes_a_low_ball_and_a_high_one_only_where_it_ends(where, up_m_s, variant):
    (value,) = values(up_m_s, away_4=where)
    assert value.payload.variant == variant, value.payload.detail
    assert value.payload.detail["over"] == (up_m_s > 0.0)


def test_a_ball_that_no_mate_would_reach_is_risky():
    (value,) = values(reception={})
    assert (value.payload.variant, value.payload.detail) == ("risky", {"xc": 0.0, "over": False})


def test_a_dribble_withdraws_it():
    first, void = values(kept=True)
    assert void.annuls == first.id
    assert void.dated_us == first.ts_us


def test_it_does_not_depend_on_the_end_that_a_team_attacks():
    (one,) = values(away_4=(10.0, 4.0))
    mirrored = {"away_4": (10.0, -4.0)}
    (other,) = values(**mirrored)
    assert one.payload.detail["xc"] == other.payload.detail["xc"]
