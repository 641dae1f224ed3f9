"""A ball that is lost at a player's feet: struck where its ways meet, or stopped and struck again, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from detectors.ball.changes import AccelerationPeak
from detectors.ball.unseen_breaks import GAP_MAX_US
from detectors.contacts.hits import PlayerHitsBall
from detectors.proximity.near import Near
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.ball.test_optical_breaks import SHEET, Waypoint, ball, payload, player
from tests.detectors.scene import chained


def unseen(states: Sequence[Event], begin_s: float, end_s: float) -> list[Event]:
    """The same states without those between two instants; the ball's run begins anew."""
    seen: list[Event] = []
    run = 0
    for event in states:
        at_s, state = event.ts_us / 1e6, event.payload
        if begin_s <= at_s < end_s:
            run = 0
            continue
        run += 1
        assert isinstance(state, BallState)
        if run <= 1:
            state = msgspec.structs.replace(state, vx_m_s=0.0, vy_m_s=0.0, vz_m_s=0.0)
        seen.append(msgspec.structs.replace(event, payload=msgspec.structs.replace(state, run=min(run, state.run))))
    return seen


def contacts(way: Sequence[Waypoint], begin_s: float, end_s: float, seed: int = 0) -> list[tuple[float, str]]:
    """Times and players of the hits of a ball that is not seen for a while, with a player where it is then."""
    everybody = player("away_2", 20.0, 9.0), player("home_6", 10.0, 0.3)
    states = ball(way, seed)
    seen = unseen(states, begin_s, end_s)
    balls = {event.ts_us: event.payload for event in seen}
    frames = [Event("frame", e.ts_us, "frame", e.seq, build_frame(balls.get(e.ts_us), everybody)) for e in states]  # type: ignore[arg-type]
    out = chained([*seen, *frames], AccelerationPeak(SHEET), Near(SHEET), PlayerHitsBall(SHEET))
    return [(event.ts_us / 1e6, payload(event).player) for event in out if event.kind == "hit"]


@pytest.mark.parametrize("seed", range(4))
def test_a_ball_that_is_passed_on_out_of_sight_is_struck_where_its_ways_meet(seed: int) -> None:
    way: list[Waypoint] = [(0, 0, 0, 0.11), (1.0, 10, 0, 0.11), (2.0, 10, 12, 0.11)]
    found = contacts(way, 0.9, 1.12, seed)
    assert [name for _, name in found] == ["home_6"]
    assert found[0][0] == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("held_s", [0.4, 1.2])
def test_a_ball_that_is_held_out_of_sight_is_stopped_and_struck(held_s: float, seed: int) -> None:
    left_s = 1.0 + held_s
    way: list[Waypoint] = [(0, 0, 0, 0.11), (1.0, 10, 0, 0.11), (left_s, 10.2, 0.3, 0.11), (left_s + 1, 10.2, 12, 0.11)]
    found = contacts(way, 0.96, left_s + 0.08, seed)
    assert [name for _, name in found] == ["home_6", "home_6"]
    assert found[0][0] == pytest.approx(1.0, abs=0.08)
    assert found[1][0] == pytest.approx(left_s, abs=0.12)


@pytest.mark.parametrize("seed", range(4))
def test_a_ball_that_goes_on_behind_somebody_was_not_touched(seed: int) -> None:
    assert contacts([(0, 0, 0, 0.11), (2.5, 25, 0, 0.11)], 0.9, 1.5, seed) == []
    slowed: list[Waypoint] = [(0, 0, 0, 0.11), (1.0, 10, 0, 0.11), (2.5, 23.5, 0, 0.11)]
    assert contacts(slowed, 0.9, 1.5, seed) == []


def test_a_ball_that_was_lost_for_long_may_have_been_anywhere() -> None:
    left_s = 1.2 + GAP_MAX_US / 1e6
    way: list[Waypoint] = [(0, 0, 0, 0.11), (1.0, 10, 0, 0.11), (left_s, 10.2, 0.3, 0.11), (left_s + 1, 10.2, 12, 0.11)]
    assert contacts(way, 0.96, left_s + 0.08) == []


def test_a_place_that_jumps_is_no_contact() -> None:
    """The run begins anew, but no frame is missing: something else was taken for the ball."""
    states = ball([(0, 0, 0, 0.11), (2.0, 20, 0, 0.11)])
    jumped: list[Event] = []
    for i, event in enumerate(states):
        assert isinstance(event.payload, BallState)
        moved = msgspec.structs.replace(event.payload, y_m=5.0, run=i - 24) if i >= 25 else event.payload
        jumped.append(msgspec.structs.replace(event, payload=moved))
    assert chained(jumped, AccelerationPeak(SHEET)) == []


def test_a_ball_that_would_have_flown_too_fast_was_not_passed_on() -> None:
    """Seen again 30 m away after half a second: something else was taken for it before or after."""
    way: list[Waypoint] = [(0, 0, 0, 0.11), (1.0, 10, 0, 0.11), (1.44, 40, 10, 0.11), (2.5, 40, 20, 0.11)]
    assert contacts(way, 1.0, 1.46) == []
