"""The engine withdraws what a detector annuls, and asserts it again if the annulment is withdrawn."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.outcomes.goal_verdicts import GoalConfirmation
from detectors.outcomes.goals import Goal
from detectors.outcomes.interceptions import Interception
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar
from middleware.consolidation import consolidate
from middleware.detector import Detector
from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors.scene import body, frame_event

SHEET = MatchSheet(attacks_positive_x="home")
RESTARTS = ("restart.kick_off", "restart.throw_in", "restart.corner", "restart.goal_kick", "restart.free_kick")


def event_of(kind: str, at_s: float, team: Team, player: str = "", variant: str = "", **detail: Scalar) -> Event:
    payload = EventPayload(variant, team, player, 50.0, 0.0, detail=detail)
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


GOAL = [
    event_of("hit", 1.0, "home", "home_9", speed_before_m_s=1.0),
    event_of("goal.candidate", 2.0, "home", "home_9", "right", since_us=2_000_000),
]
PASS = [
    frame_event(0.9, (50.0, 0.0), [body("home_6", 50.0, 0.0), body("away_4", 40.0, 5.0)]),
    event_of("pass.attempt", 1.0, "home", "home_6"),
    event_of("possession.gain", 2.0, "away", "away_4", "hit", speed_before_m_s=9.0),
    event_of("out", 2.5, "away", "away_4", "left touch"),
]
CASES = {
    "a goal and a free kick": (
        [*GOAL, event_of("restart.free_kick", 30.0, "away")],
        "goal.scored#goal.candidate:2.0",
        "goal.disallowed#goal.candidate:2.0",
    ),
    "an interception that runs out": (PASS, "interception#possession.gain:2.0", "interception#possession.gain:2.0/out"),
}


#: Inputs that say nothing here.
SILENT = (
    "restart.penalty",
    "restart.dropped",
    "ball.crossed",
    "direction",
    "period.end",
    "period.start",
    *(f"official.{kind}" for kind in ("foul", "goal", "no_goal", "offside", "penalty", "var", "void", "correction")),
)


def standing_after(events: list[Event]) -> set[str]:
    """Ids that stand after the engine has had the events one by one; they are those of the sorted replay."""
    detectors: list[Detector[object]] = [Goal(SHEET), GoalConfirmation(SHEET), Interception(SHEET)]  # type: ignore[list-item]
    raw = (
        "frame",
        "not_near",
        "near",
        "hit",
        "touch",
        "deflection",
        "play.dead",
        "play.live",
        "goal.candidate",
        "pass.attempt",
        "possession.gain",
        "out",
        *RESTARTS,
        *SILENT,
    )
    hierarchy = Hierarchy(raw, detectors)
    engine = Engine(hierarchy)
    updates = []
    for number, event in enumerate(events):
        # Each kind is a source of its own, so that none waits for another.
        named = Event(event.kind, event.ts_us, event.source, 0, event.payload, event.id)
        updates += engine.push([Arrival(named, event.ts_us)], now_us=event.ts_us + number).updates
    updates += engine.finish().updates
    standing = {event.id for event in consolidate(updates).values()}
    assert standing == {event.id for event in published(hierarchy, events)}
    return standing


@pytest.mark.parametrize("name", CASES)
def test_the_annulled_one_does_not_stand(name: str):
    events, annulled, instead = CASES[name]
    before, after = standing_after(events[:-1]), standing_after(events)
    assert annulled in before
    assert annulled not in after
    assert instead in after


def test_a_goal_that_a_kick_off_follows_stands():
    after = standing_after([*GOAL, event_of("restart.kick_off", 40.0, "away")])
    assert {i.partition("#")[0] for i in after} == {"goal.scored", "goal.confirmed"}
