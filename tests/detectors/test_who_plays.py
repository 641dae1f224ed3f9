"""Law 3: one scene with and without bench, warm-up, ball boys, officials and spare balls says the same."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from football.payloads import EventPayload
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import sorted_replay
from tests.detectors import stage
from tests.detectors.scene import cast

#: Two teams of eleven; each player drifts two metres, as in play.
TEAMS: dict[str, stage.Waypoints] = {
    b.object_id: [(0, b.x_m, b.y_m), (13, b.x_m + 2.0, b.y_m)]
    for b in cast(
        home_8=(15.0, 0.0),
        home_6=(0.0, 0.0),
        home_9=(45.0, -6.0),
        away_4=(8.0, 8.0),
        away_2=(30.0, 8.0),
        away_3=(31.0, -9.0),
    )
}
#: A pass past an opponent to a mate, a mate in an offside position, and a pass that runs out of play.
BALL = [
    (0, 0.3, 0, 0.1),
    (2, 0.6, 0, 0.1),
    (3.2, 15.2, 0, 0.1),
    (4.5, 15.7, 0, 0.1),
    (6.5, 30, 36, 0.1),
    (13, 30, 37, 0.1),
]

BENCH = {
    f"{t}_{n}": [(0, x + n - 12, -39.0), (13, x + n - 12, -38.6)]
    for t, x in (("home", -14), ("away", 8))
    for n in range(12, 19)
}
WARM_UP = {
    "home_12": [(0, 56.0, -10.0), (6, 56.0, 10.0), (13, 56.0, -10.0)],
    "away_12": [(0, 57.5, 10.0), (6, 57.5, -10.0), (13, 57.5, 10.0)],
    "home_13": [(0, 50.0, -37.5), (13, 20.0, -37.5)],
}
PEOPLE = {
    "referee_1": [(0, 10.0, 5.0), (13, 20.0, 3.0)],
    "referee_2": [(0, 20.0, 35.0), (13, 30.0, 35.0)],
    "boy_1": [(0, 54.0, 20.0)],
    "boy_2": [(0, 20.0, -36.0)],
}
SPARE = {"ball_2": [(0, 55.0, 20.3, 0.1)], "ball_3": [(0, 20.0, -36.3, 1.0)]}

CASES: dict[str, tuple[Mapping[str, stage.Waypoints], Mapping[str, stage.Waypoints]]] = {
    "bench and warm-up": ({**BENCH, **WARM_UP}, {}),
    "ball boys, officials and spare balls": (PEOPLE, SPARE),
}


def played(people: Mapping[str, stage.Waypoints], balls: Mapping[str, stage.Waypoints]) -> list[tuple[object, ...]]:
    """Return what is published about ball and players who play, without names of causes."""
    everybody = {**TEAMS, **people}
    sheet: MatchSheet = stage.sheet({k: v for k, v in everybody.items() if not k.startswith(("referee", "boy"))})
    raw = (arrival(p).event for p in stage.packets(BALL, everybody, 13.0, ways=balls))
    return [
        (e.kind, e.ts_us, e.payload.variant, e.payload.team, e.payload.player, e.payload.x_m, e.payload.y_m)
        for e in sorted_replay(Hierarchy(RAW_KINDS, build_detectors(sheet)), raw)
        if isinstance(e.payload, EventPayload) and _plays(e, people, balls)
    ]


def _plays(event: Event, people: Mapping[str, stage.Waypoints], balls: Mapping[str, stage.Waypoints]) -> bool:
    payload = event.payload
    assert isinstance(payload, EventPayload)
    return payload.player not in people and payload.player not in balls


@pytest.fixture(scope="module")
def alone() -> list[tuple[object, ...]]:
    return played({}, {})


def test_the_scene_has_what_others_could_change(alone: list[tuple[object, ...]]) -> None:
    kinds = {row[0] for row in alone}
    assert {"pass.attempt", "pass.complete", "offside.line", "offside.position", "packing", "hull.step", "out"} <= kinds


@pytest.mark.parametrize("case", CASES)
def test_who_does_not_play_moves_no_line_no_shape_and_no_qualifier(case: str, alone: list[tuple[object, ...]]) -> None:
    assert played(*CASES[case]) == alone
