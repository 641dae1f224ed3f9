"""A pause of the sources, as between halves: play ended when it began."""

from __future__ import annotations

from detectors.play.phase import PlayPhase
from football.match_sheet import MatchSheet
from football.payloads import BallState, build_frame
from middleware.events import Event
from tests.detectors.scene import cast, fold


def rolling(begin_s: float, count: int) -> list[Event]:
    bodies = tuple(sorted(cast(home_7=(0.0, 5.0), away_6=(20.0, 5.0)), key=lambda body: body.object_id))
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
