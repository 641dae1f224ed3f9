"""7.9, 7.14: clearances and what goalkeepers do with balls in play, on hand-made causes."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.outcomes.claims import GoalkeeperClaim
from detectors.outcomes.clearances import Clearance
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True), Player("home_4", "home")))


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(
    kind: str, at_s: float, player: str = "", x_m: float = 0.0, y_m: float = 0.0, z_m: float = 0.1, **detail: object
) -> Event:
    payload = EventPayload("", team(player), player, x_m, y_m, z_m, detail=detail)
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def kick(x_m: float, player: str = "home_4", vx_m_s: float = 9.0) -> Event:
    return about("kick.released", 1.2, player, x_m + 2.0, kick_us=1_000_000, kick_x_m=x_m, kick_y_m=3.0, vx_m_s=vx_m_s)


HEADER, DEFLECTION = about("header", 1.0, "home_4"), about("deflection", 1.0, "home_4")


NEAR = about("opponents.near", 0.5, "away_9", other="home_4")
APART = about("opponents.apart", 0.9, "away_9", other="home_4")


def cleared(*causes: Event, attacks: Team = "home") -> list[tuple[str, object, int | None]]:
    emitted = fold(Clearance(SHEET), [make_event("direction", 0, "d", EventPayload(team=attacks)), *causes])
    return [(e.payload.player, e.payload.detail["to"], e.dated_us) for e in emitted]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_hasty_kick_out_of_the_own_third_is_a_clearance(sign: float) -> None:
    attacks: Team = "home" if sign > 0 else "away"
    far = about("possession.gain", 3.0, "away_5", sign * 10.0)
    assert cleared(NEAR, kick(sign * -40.0), far, attacks=attacks) == [("home_4", "away_5", 1_000_000)]
    out = about("out", 3.0, "home_4", sign * -39.0)
    assert cleared(NEAR, kick(sign * -40.0), out, attacks=attacks) == [("home_4", "", 1_000_000)]


@pytest.mark.parametrize("receiver", ["away_5", "home_9"])
@pytest.mark.parametrize(("x_m", "to_m"), [(-40.0, 10.0), (-18.0, -5.0), (-40.0, -25.0)])
def test_a_header_up_the_pitch_in_the_own_third_is_a_clearance_no_matter_who_receives_it(
    receiver: str, x_m: float, to_m: float
) -> None:
    gain = about("possession.gain", 3.0, receiver, to_m)
    assert cleared(HEADER, kick(x_m), gain) == [("home_4", receiver, 1_000_000)]


BLOCK = about("possession.gain", 1.02, "away_9", -39.5)


def blocked(x_m: float = -40.0, vx_m_s: float = 20.0, released_us: int = 1_000_000) -> Event:
    """The attempt of a kick at 1 s that has not left its kicker, or has at another time."""
    return about("pass.attempt", 1.0, "home_4", x_m, kick_us=1_000_000, released_us=released_us, vx_m_s=vx_m_s)


def test_a_hard_kick_that_is_blocked_at_once_is_a_clearance_and_only_one() -> None:
    once = [("home_4", "away_9", 1_000_000)]
    assert cleared(blocked(), BLOCK) == once
    assert cleared(HEADER, blocked(vx_m_s=9.0), BLOCK) == once
    assert cleared(NEAR, blocked(), BLOCK, kick(-40.0), about("possession.gain", 3.0, "away_5", 10.0)) == once


@pytest.mark.parametrize(
    "attempt",
    [blocked(vx_m_s=14.0), blocked(vx_m_s=-20.0), blocked(-20.0), blocked(released_us=1_100_000)],
    ids=["a pass", "backwards", "too far up", "one that left its kicker"],
)
def test_no_clearance_that_is_blocked(attempt: Event) -> None:
    assert cleared(attempt, BLOCK) == []


@pytest.mark.parametrize(
    "causes",
    [
        [HEADER, kick(-40.0, vx_m_s=-3.0), about("possession.gain", 3.0, "away_5", -45.0)],
        [HEADER, kick(-17.0), about("possession.gain", 3.0, "away_5", 10.0)],
        [about("header", 0.4, "home_4"), kick(-40.0), about("possession.gain", 3.0, "away_5", 10.0)],
        [about("header", 1.0, "home_5"), kick(-40.0), about("possession.gain", 3.0, "away_5", 10.0)],
    ],
    ids=["towards the own goal", "too far up", "an earlier header", "another's header"],
)
def test_no_clearance_by_head(causes: list[Event]) -> None:
    assert cleared(*causes) == []


@pytest.mark.parametrize(
    "causes",
    [
        [kick(-40.0), about("possession.gain", 3.0, "away_5", 10.0)],
        [NEAR, APART, kick(-40.0), about("possession.gain", 3.0, "away_5", 10.0)],
        [NEAR, kick(-25.0), about("possession.gain", 3.0, "away_5", 10.0)],
        [NEAR, DEFLECTION, kick(-40.0), about("possession.gain", 3.0, "away_5", 10.0)],
        [NEAR, kick(-40.0), about("possession.gain", 3.0, "away_5", -18.0)],
        [NEAR, kick(-40.0), about("possession.gain", 3.0, "home_9", 10.0)],
        [NEAR, kick(-40.0), about("possession.gain", 9.0, "away_5", 10.0)],
        [NEAR, kick(-40.0), kick(-5.0, "away_7"), about("possession.gain", 3.0, "away_5", 10.0)],
    ],
    ids=[
        "nobody near", "not near any more", "too far up", "deflected", "received near by", "to a mate", "long after",
        "kicked on",
    ],
)  # fmt: skip
def test_no_clearance(causes: list[Event]) -> None:
    assert cleared(*causes) == []


# -- 7.14 --------------------------------------------------------------------------------------------------------


def claims(*causes: Event, rival_m: float = 9.0) -> list[tuple[str, str]]:
    look = frame_event(0.9, (-45.0, 0.0), [body("home_1", -45.0, 0.0), body("away_9", -45.0 + rival_m, 0.0)])
    return [(e.kind, e.payload.player) for e in fold(GoalkeeperClaim(SHEET), [look, *causes])]


@pytest.mark.parametrize(
    ("z_m", "rival_m", "kind"), [(2.0, 9.0, "gk.claim"), (0.3, 9.0, "gk.pickup"), (0.3, 1.0, "gk.smother")]
)
def test_a_catch_is_named_by_the_ball(z_m: float, rival_m: float, kind: str) -> None:
    assert claims(about("gk.catch", 1.0, "home_1", -45.0, z_m=z_m), rival_m=rival_m) == [(kind, "home_1")]


def test_a_cross_that_is_punched_is_claimed() -> None:
    assert claims(about("gk.punch", 1.0, "home_1", -45.0, z_m=2.2)) == [("gk.claim", "home_1")]


def test_a_shot_is_saved_not_claimed_unless_somebody_touched_it() -> None:
    shot, catch = about("shot.attempt", 0.95, "away_9", -40.0), about("gk.catch", 1.5, "home_1", -50.0)
    assert claims(shot, catch) == []
    assert claims(shot, about("hit", 1.2, "home_4", -44.0), catch) == [("gk.pickup", "home_1")]
    assert claims(shot, about("gk.catch", 5.0, "home_1", -50.0)) == [("gk.pickup", "home_1")]


def test_a_dead_ball_is_fetched_not_picked_up() -> None:
    dead, catch = about("play.dead", 0.95), about("gk.catch", 1.5, "home_1", -50.0)
    assert claims(dead, catch) == []
    assert claims(dead, about("play.live", 1.2), catch) == [("gk.pickup", "home_1")]


def test_outside_his_area_a_goalkeeper_sweeps_up_once_what_an_opponent_played() -> None:
    through, out, on = (
        about("hit", at_s, player, x_m)
        for at_s, player, x_m in ((0.5, "away_9", -20.0), (1.0, "home_1", -30.0), (2.0, "home_1", -28.0))
    )
    assert claims(through, out, on) == [("gk.sweep", "home_1")]
    assert claims(through, about("hit", 1.0, "home_1", -45.0)) == []
    assert claims(through, about("hit", 1.0, "home_4", -30.0)) == []
    assert claims(through, about("hit", 0.8, "home_4", -25.0), out) == [], "a mate's"
    assert claims(through, about("play.dead", 0.95), out) == []
    assert claims(out) == [], "nobody has played before"
