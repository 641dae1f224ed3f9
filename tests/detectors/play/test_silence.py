"""A pause or the end of the sources: play ended when a pause began, or with the last calm of the players."""

from __future__ import annotations

import msgspec
import pytest

from detectors.play.phase import PlayPhase
from football.match_sheet import MatchSheet
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.scene import cast, fold


def rolling(begin_s: float, count: int) -> list[Event]:
    bodies = tuple(sorted(cast(home_7=(0.0, 5.0), away_6=(-20.0, 5.0)), key=lambda body: body.object_id))
    return [
        Event(
            "frame",
            round((begin_s + 0.04 * i) * 1e6),
            "frame",
            i,
            build_frame(BallState(0.2 * i, 0.0, 0.0, 5.0, 0.0, 0.0, 40_000), bodies),
        )
        for i in range(count)
    ]


def test_a_ball_in_play_that_was_not_seen_for_a_minute_has_been_dead_since():
    (dead,) = fold(PlayPhase(MatchSheet()), [*rolling(0.0, 50), *rolling(60.0, 1)])
    assert (dead.kind, dead.ts_us, dead.payload.variant) == ("phase.dead", 60_000_000, "stop")
    assert (dead.payload.detail["sign"], dead.payload.detail["since_us"]) == ("unseen", 1_960_000)
    assert fold(PlayPhase(MatchSheet()), [*rolling(0.0, 50), *rolling(40.0, 50)]) == []


@pytest.mark.parametrize(("calm_s", "stops"), [(3.0, 1), (1.0, 0)], ids=["they have walked off", "a moment"])
def test_a_recording_that_ends_in_a_calm_ends_with_a_stop(calm_s: float, stops: int) -> None:
    """At the final whistle the players, who jog, stop within a step; the ball rolls on."""
    events = []
    for event in rolling(0.0, round((2.0 + calm_s) * 25)):
        pace_m_s = 3.0 if event.ts_us < 2_000_000 else 0.2
        bodies = tuple(msgspec.structs.replace(one, vx_m_s=pace_m_s) for one in event.payload.players)
        frame = build_frame(event.payload.ball, bodies)
        events.append(msgspec.structs.replace(event, payload=frame))
    end = Event("raw.end", events[-1].ts_us + 1, "stream")
    found = fold(PlayPhase(MatchSheet()), [*events, end])
    assert [(dead.ts_us, dead.payload.detail["sign"], dead.payload.detail["since_us"]) for dead in found] == [
        (end.ts_us, "calm", 2_040_000)
    ] * stops


def picture(begin_s: float, count: int, *, ball: bool = True, seen: int = 16) -> list[Event]:
    """Frames of a picture of television, which shows only some of the players."""
    return [
        msgspec.structs.replace(
            event, payload=build_frame(event.payload.ball if ball else None, event.payload.players[:seen])
        )
        for event in rolling(begin_s, count)
    ]


@pytest.mark.parametrize("ball", [True, False], ids=["with the ball", "without it"])
@pytest.mark.parametrize(
    ("back_s", "seen", "stops"),
    [(12.0, 16, 1), (8.0, 16, 0), (12.0, 22, 0)],
    ids=["a replay", "a close-up", "a stadium"],
)
def test_a_picture_of_television_that_shows_nobody_for_long_is_of_a_dead_ball(
    back_s: float, seen: int, stops: int, ball: bool
) -> None:
    back = picture(back_s, 3, ball=ball, seen=seen)
    found = fold(PlayPhase(MatchSheet()), [*picture(0.0, 50, seen=seen), *back])
    assert [(dead.ts_us, dead.payload.detail["sign"], dead.payload.detail["since_us"]) for dead in found] == [
        (round(back_s * 1e6), "unseen", 1_960_000)
    ] * stops
