"""Evidence that contradicts the state of play: what corrects it, what does not, and from when on."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from tests.detectors.scene import cast, concluded, hit, path, rows_of, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")


def struck(at_s, x_m, y_m):
    """A change of the ball's velocity as at a contact."""
    detail = {"delta_v_m_s": 9.0, "bounce": False}
    at_us = round(at_s * 1e6)
    return make_event("ball.accel_peak", at_us, f"ball:{at_us}", EventPayload("hard", x_m=x_m, y_m=y_m, detail=detail))


def quick_throw(rest_s, receiver="home_8", received=True):
    """A ball that goes out, is held at the line for some time, and is thrown to a player."""
    spot, to = (5.0, 34.0), (5.0, 22.0)
    way = [*path((0.0, 28.0), (5.0, 35.5), 0.8), *path((5.0, 35.5), (5.2, 34.6), 0.3), *path((5.2, 34.6), spot, 0.12)]
    way += stay(spot, rest_s)
    thrown_s = len(way) * 0.04
    way += [*path(spot, to, 1.2), *path(to, (-2.0, 18.0), 1.0), *path((-2.0, 18.0), (-8.0, 20.0), 0.8)]
    players = cast(home_3=(5.0, 34.5), away_9=(20.0, 10.0), **{receiver: (to[0], to[1] - 0.3)})
    contacts = [struck(thrown_s + 1.2, *to), struck(thrown_s + 2.2, -2.0, 18.0)] if received else []
    found = concluded([*scene(way, players), *contacts], SHEET, "play.", "restart.")
    return found, thrown_s


@pytest.mark.parametrize("rest_s", [0.6, 1.4], ids=["quick", "slow"])
def test_a_throw_in_is_dated_at_the_throw_however_short_the_rest(rest_s):
    found, thrown_s = quick_throw(rest_s)
    assert rows_of(found)[1:] == [("restart.throw_in", "", "home"), ("play.live", "touch", "home")]
    throw, live = found[1:]
    assert throw.ts_us == pytest.approx(thrown_s * 1e6, abs=150_000)
    assert live.ts_us < (thrown_s + 1.2) * 1e6, "dated back to before the reception, which made it sure"
    assert ("evidence" in live.payload.detail) is (rest_s < 1.0)


def test_a_short_rest_alone_is_no_restart():
    found, _ = quick_throw(0.6, received=False)
    assert [kind for kind, _, _ in rows_of(found)] == ["play.dead"]


def kicked_from_rest(spot, rest_s, taker, opponent):
    """A ball in play that comes to a rest beside its taker, with an opponent somewhere, and is kicked away."""
    way = [*path((0.0, 0.0), spot, 1.5), *stay(spot, rest_s), *path(spot, (spot[0] - 9.0, spot[1] - 12.0), 1.0)]
    players = cast(home_6=taker, away_4=opponent)
    return concluded(scene(way, players), SHEET, "play.", "restart.")


@pytest.mark.parametrize(
    ("spot", "rest_s", "restart"),
    [((52.0, 33.6), 1.5, "restart.corner"), ((10.0, 30.0), 3.8, "restart.free_kick")],
    ids=["corner", "free kick"],
)
def test_a_restart_shows_the_stop_that_nobody_saw(spot, rest_s, restart):
    found = kicked_from_rest(spot, rest_s, (spot[0] + 0.4, spot[1]), (30.0, 0.0))
    assert [kind for kind, _, _ in rows_of(found)] == ["play.dead", restart, "play.live"]
    dead = found[0]
    assert dead.payload.detail["sign"] == "restarted"
    assert dead.payload.detail["since_us"] == pytest.approx(1_500_000, abs=150_000)
    assert dead.ts_us <= found[1].ts_us
    assert dead.payload.confidence <= 0.7
    assert dead.payload.detail["evidence"]


@pytest.mark.parametrize(
    ("spot", "rest_s", "opponent"),
    [((10.0, 30.0), 1.5, (30.0, 0.0)), ((10.0, 30.0), 3.5, (12.0, 30.0))],
    ids=["a short rest", "an opponent near"],
)
def test_a_player_who_rests_the_ball_in_play_goes_on(spot, rest_s, opponent):
    assert kicked_from_rest(spot, rest_s, (spot[0] + 0.4, spot[1]), opponent) == []


def test_a_ball_that_stops_dead_away_from_everybody_is_frozen_not_stopped():
    rolls = [*path((0.0, 0.0), (12.0, 0.0), 1.0), *stay((12.0, 0.0), 2.5), *path((12.0, 0.0), (30.0, 0.0), 1.5)]
    assert concluded(scene(rolls, cast()), SHEET, "play.") == []


def thrown_by(taker, *contacts):
    """Versions of the exit of a ball that a player throws in, after contacts of (second, player)."""
    spot = (7.0, 34.8)
    way = [*path((0.0, 28.0), (5.0, 36.0), 1.0), *path((5.0, 36.0), spot, 4.0), *stay(spot, 3.0)]
    way += path(spot, (12.0, 25.0), 1.0)
    hits = [hit(at_s, player, 1.0, 30.0) for at_s, player in contacts]
    found = concluded([*scene(way, cast(**{taker: (7.0, 35.1)})), *hits], SHEET, "out", "restart.")
    return [e for e in found if e.kind == "out"], next(e for e in found if e.kind != "out")


def test_a_throw_in_shows_who_did_not_touch_the_ball_last():
    versions, throw = thrown_by("home_3", (0.1, "away_5"), (0.5, "home_3"))
    seen, amended = versions
    assert [(v.payload.team, v.payload.player) for v in versions] == [("home", "home_3"), ("away", "away_5")]
    assert (amended.id, amended.dated_us) == (seen.id, seen.ts_us)
    assert amended.ts_us > seen.ts_us
    assert amended.payload.confidence == 0.7
    assert amended.payload.detail["evidence"] == "restart by home_3"
    assert (throw.payload.detail["out_by"], throw.payload.confidence) == ("away", 0.6)


def test_a_throw_in_by_the_other_team_confirms_the_last_touch():
    versions, throw = thrown_by("home_3", (0.1, "home_5"), (0.5, "away_5"))
    assert [v.payload.team for v in versions] == ["away"]
    assert (throw.payload.detail["out_by"], throw.payload.confidence) == ("away", 0.9)
