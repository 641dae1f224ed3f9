"""The race of the teams follows the log in both directions."""

from __future__ import annotations

import math

import pytest

from dashboard.demo import demo_event
from dashboard.race import RaceKeeper
from detectors.tactics.momentum import MomentumParameters
from football.update_stream import EventRecord, UpdateRecord

MINUTE_US = 60_000_000


def update(seq: int, diff: int, event: EventRecord) -> UpdateRecord:
    return UpdateRecord(seq, diff, event.ts_us, event)


def test_shots_and_progress_give_the_race_and_withdrawn_ones_leave_it():
    keeper, p = RaceKeeper(), MomentumParameters()
    home = demo_event("shot.xg", 30_000_000, "ball:1", team="home", detail={"xg": 0.4})
    away = demo_event("shot.xg", 90_000_000, "ball:2", team="away", detail={"xg": 0.1})
    carry = demo_event("progress.carry", MINUTE_US, "ball:3", team="away")
    keeper.apply([update(0, 1, away), update(1, 1, home), update(2, 1, carry), update(3, 1, demo_event("hit", 1, "x"))])
    race = keeper.race(2 * MINUTE_US + 5)
    assert race.shots == [(30_000_000, "home", 0.4), (90_000_000, "away", 0.1)]

    def faded(passed_us: int) -> float:
        return math.exp(-passed_us / p.fade_us)

    first = 0.4 * faded(30_000_000)
    second = 0.4 * faded(90_000_000) - p.progress_share * faded(MINUTE_US) - 0.1 * faded(30_000_000)
    assert race.momentum == pytest.approx([first, second], abs=0.0006)

    keeper.apply([update(4, -1, home)])
    better = demo_event("shot.xg", 90_000_000, "ball:2", team="away", detail={"xg": 0.2})
    keeper.apply([update(5, -1, away), update(6, 1, better)])
    assert keeper.race(2 * MINUTE_US).shots == [(90_000_000, "away", 0.2)]
    assert keeper.race(2 * MINUTE_US).momentum[0] == 0.0


def test_the_chance_to_win_is_that_of_home_and_away_and_follows_a_goal_that_is_withdrawn():
    keeper = RaceKeeper()

    def chance(ts_us: int, win: float, lose: float) -> list[EventRecord]:
        values = {"home": (win, lose), "away": (lose, win)}
        return [
            demo_event("win.chance", ts_us, f"clock:{ts_us}/{team}", team=team, detail={"win": one, "lose": other})
            for team, (one, other) in values.items()
        ]

    first, after_goal = chance(MINUTE_US, 0.4, 0.3), chance(2 * MINUTE_US, 0.7, 0.1)
    keeper.apply([update(seq, 1, event) for seq, event in enumerate([*first, *after_goal])])
    assert keeper.race(2 * MINUTE_US).win == [(MINUTE_US, 0.4, 0.3), (2 * MINUTE_US, 0.7, 0.1)]
    assert keeper.race(2 * MINUTE_US).momentum == [0.0, 0.0]
    keeper.apply([update(4 + seq, -1, event) for seq, event in enumerate(after_goal)])
    assert keeper.race(2 * MINUTE_US).win == [(MINUTE_US, 0.4, 0.3)]
