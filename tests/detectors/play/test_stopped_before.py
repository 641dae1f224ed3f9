"""A ball that runs out after the whistle: the free kick shows where and when play had been stopped (Law 13.2)."""

from __future__ import annotations

import msgspec
import pytest

from detectors.emission import make_event
from detectors.play.phase import PlayPhase
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.play.test_setting_off import STEP_S, filmed
from tests.detectors.scene import Point, cast, concluded, fold, path, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")


def peak(at_s: float, at: Point, delta_m_s: float, before_m_s: float = 5.0) -> Event:
    """A change of the ball's velocity."""
    detail = {"bounce": False, "delta_v_m_s": delta_m_s, "speed_before_m_s": before_m_s}
    payload = EventPayload("hard", x_m=at[0], y_m=at[1], z_m=(*at, 0.0)[2], detail=detail)
    return make_event("ball.accel_peak", round(at_s * 1e6), f"ball:{at_s}", payload)


def ran_out(at: tuple[float, float], rest_s: float = 5.0) -> list[Event]:
    """A pass at (5, 20) two seconds before its ball is out; then it is put down at a place and kicked on."""
    way = [*path((0.0, 20.0), (5.0, 20.0), 1.0), *path((5.0, 20.0), (20.0, 36.0), 2.0), *stay((20.0, 36.0), 2.0)]
    way += [*path((20.0, 36.0), at, 3.0), *stay(at, rest_s)]
    kick_s = len(way) * STEP_S
    way += path(at, (at[0] - 20.0, at[1] - 6.0), 1.5)
    players = cast(home_7=(5.4, 20.0), home_8=(at[0] + 0.3, at[1]))
    return [*filmed(way, len(way) * STEP_S, kick_s, players), peak(1.0, (5.0, 20.0), 9.0)]


def stoppages(events: list[Event]) -> list[tuple[str, str, float]]:
    """The versions of ``play.dead``: variant, sign, and seconds since which play has been dead."""
    dead = concluded(events, SHEET, "play.dead")
    return [(one.payload.variant, one.payload.detail["sign"], one.payload.detail["since_us"] / 1e6) for one in dead]


def test_a_free_kick_where_the_ball_was_played_dates_the_stop_before_the_ball_ran_out():
    touch, stop = stoppages(ran_out((6.0, 19.0)))
    assert (touch[:2], stop[:2]) == (("touch", ""), ("stop", "free kick"))
    assert touch[2] > 2.0
    assert stop[2] == pytest.approx(1.4)


def test_everybody_who_sets_off_shows_that_a_shorter_rest_was_a_free_kick():
    assert [row[0] for row in stoppages(ran_out((6.0, 19.0), rest_s=1.6))] == ["touch", "stop"]


@pytest.mark.parametrize("at", [(-20.0, 0.0), (0.3, 0.2)], ids=["nobody played it there", "it may be a kick-off"])
def test_any_other_kick_leaves_the_stoppage_as_it_was(at):
    assert [row[0] for row in stoppages(ran_out(at))] == ["touch"]


@pytest.mark.parametrize(
    ("delta_m_s", "before_m_s", "z_m", "since_s"),
    [(1.0, 3.0, 0.0, 3.4), (0.5, 3.0, 0.0, 1.4), (1.0, 0.5, 0.0, 1.4), (1.0, 3.0, 1.0, 1.4), (3.0, 0.5, 1.0, 3.4)],
    ids=["a dribbler's touch", "too light", "it lay, and is picked up", "in hands", "a kick"],
)
def test_a_light_touch_of_a_ball_that_rolls_dates_the_stop(delta_m_s, before_m_s, z_m, since_s):
    """A ball that is dribbled from 1 to 3 s, rolls on and is left alone."""
    way = [*path((0.0, 0.0), (5.0, 0.0), 1.0), *path((5.0, 0.0), (11.0, 0.0), 2.0)]
    way += [*path((11.0, 0.0), (16.0, 0.0), 1.5), *((16.0 + 0.01 * (i % 3), 0.0) for i in range(75))]
    touches = [peak(1.0, (5.0, 0.0), 9.0), peak(3.0, (11.0, 0.0, z_m), delta_m_s, before_m_s)]
    run = [msgspec.structs.replace(one, vy_m_s=2.0) for one in cast(home_7=(5.3, 0.0), home_8=(11.3, 0.0))]
    frames = [one for one in scene(way, run) if one.kind == "frame"]
    inputs = sorted([*touches, *frames], key=lambda one: (one.ts_us, one.kind))
    (dead,) = fold(PlayPhase(SHEET), inputs)
    assert (dead.payload.detail["sign"], dead.payload.detail["since_us"]) == ("alone", round(since_s * 1e6))
