"""15.4 and 15.5 on hand-made causes: incidents for a review, and signals to the referee."""

from __future__ import annotations

import msgspec
import pytest

from detectors.stories.officials import RefereeSignal, Reviewable
from football.match_sheet import MatchSheet
from middleware.events import Event
from tests.detectors.chains.test_chains import about, standing

SIDES = about("direction", 0.0, "home")


def void(event: Event, at_s: float) -> Event:
    """The withdrawal of an event."""
    return msgspec.structs.replace(event, ts_us=round(at_s * 1e6), seq=1, annuls=event.id, dated_us=event.ts_us)


@pytest.mark.parametrize(
    ("kind", "shows"), [("goal.candidate", "goal"), ("offside.offence", "offside"), ("gk.hold_offence", "8 s")]
)
def test_the_watch_shows_a_signal_at_its_instant_and_takes_it_back(kind: str, shows: str) -> None:
    cause = about(kind, 20.0, "home_9", (50.0, 1.0))
    (signal,) = standing([RefereeSignal()], cause)
    assert (signal.payload.variant, signal.ts_us, signal.payload.player) == (shows, cause.ts_us, "home_9")
    assert standing([RefereeSignal()], cause, void(cause, 25.0)) == []


def reviews(*events: Event) -> list[tuple[str, str, float, float]]:
    """Variant, event, begin and end of the clip of what stands."""
    found = standing([Reviewable(MatchSheet(), falls=True)], SIDES, *events)
    bounds = ((e, [int(e.payload.detail[name]) / 1e6 for name in ("in_us", "out_us")]) for e in found)
    return [(e.payload.variant, str(e.payload.detail["of"]), *bound) for e, bound in bounds]


def test_goals_and_offsides_can_be_reviewed_unless_they_are_withdrawn():
    goal, offside = about("goal.scored", 20.0, "home_9"), about("offside.offence", 40.0, "away_9")
    assert reviews(goal, offside) == [("goal", goal.id, 12.0, 26.0), ("offside", offside.id, 32.0, 46.0)]
    assert reviews(goal, void(goal, 30.0)) == []


def test_a_foul_is_reviewed_in_the_own_penalty_area_only():
    inside = about("foul.candidate", 20.0, "away_4", (45.0, 3.0))
    assert [row[0] for row in reviews(inside)] == ["penalty"]
    assert reviews(about("foul.candidate", 20.0, "away_4", (30.0, 3.0))) == []
    assert reviews(about("foul.candidate", 20.0, "home_4", (45.0, 3.0))) == []
    assert [row[0] for row in reviews(about("restart.penalty", 20.0, "home_9", (41.5, 0.0)))] == ["penalty"]
    assert "foul.candidate" not in Reviewable(MatchSheet()).spec.inputs
