"""Streams and periods that begin with the kick-off itself: the ball was not seen to lie at the centre spot."""

from __future__ import annotations

import msgspec
import pytest

from detectors.play.phase import PlayPhase
from football.match_sheet import MatchSheet, Period
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.scene import cast, fold

#: The kicker beside the centre spot, and his mate.
KICKERS = {"home_9": (0.4, 0.3), "home_10": (-3.0, 2.0)}


def kicked_off(begin_s: float, seconds: float = 1.0, **players: tuple[float, float]) -> list[Event]:
    """Frames of a ball that leaves the centre spot, from the first one on."""
    bodies = tuple(sorted(cast(**{**KICKERS, **players}), key=lambda body: body.object_id))
    bodies = tuple(msgspec.structs.replace(one, vx_m_s=3.0) for one in bodies)
    return [
        Event(
            "frame",
            round((begin_s + 0.04 * i) * 1e6),
            "frame",
            i,
            build_frame(BallState(-0.4 * i, 0.0, 0.0, -10.0 if i else 0.0, 0.0, 0.0, 40_000), bodies),
        )
        for i in range(round(25 * seconds))
    ]


def turns(events: list[Event], *periods: Period) -> list[tuple[str, str, float, bool]]:
    """Kind, cause, event time in seconds and line-up of all that 5.10 finds."""
    return [
        (
            found.kind.removeprefix("phase."),
            found.payload.variant,
            int(found.payload.detail["since_us" if found.kind == "phase.dead" else "kick_us"]) / 1e6,
            bool(found.payload.detail.get("kick_off_shape")),
        )
        for found in fold(PlayPhase(MatchSheet(periods=periods)), events)
    ]


@pytest.mark.parametrize("begin_s", [0.0, 0.52, 300.0])
def test_a_stream_that_begins_with_a_kick_off_has_it(begin_s: float) -> None:
    assert turns(kicked_off(begin_s)) == [("live", "start", begin_s, True)]


@pytest.mark.parametrize(
    "players",
    [{"away_6": (-20.0, 5.0)}, {"away_9": (-1.0, -1.0)}, {f"away_{i}": (0.0, 30.0) for i in range(1, 9)}],
    ids=["an opponent in the other half", "an opponent at the ball", "a team that is not all there"],
)
def test_a_stream_that_begins_in_play_has_none(players: dict[str, tuple[float, float]]) -> None:
    assert turns(kicked_off(0.0, **players)) == []


def test_a_period_that_the_source_begins_with_its_kick_off_ends_the_time_without_frames() -> None:
    events = [*kicked_off(0.0, 1.0), *kicked_off(30.0)]
    assert turns(events, Period(1, 0), Period(2, 30_000_000)) == [
        ("live", "start", 0.0, True),
        ("dead", "stop", 0.960001, False),
        ("live", "stop", 30.0, True),
    ]
    assert turns(events, Period(1, 0)) == [("live", "start", 0.0, True)], "a ball that was out of sight for a while"
