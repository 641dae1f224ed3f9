"""14.13: features of actions by hand, and values that follow goals and what becomes of them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.statistics.action_features import NAMES, TYPES, Action, features
from detectors.statistics.action_value import ActionValue, action_of, chances, models
from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.pitch import Pitch
from middleware.events import Event
from tests.detectors.chains.test_chains import about
from tests.detectors.scene import fold

HOME_RIGHT = about("direction", 0.0, "home")


def passed(at_s: float, who: str, start: tuple[float, float], end: tuple[float, float]) -> Event:
    detail = {"start_x_m": start[0], "start_y_m": start[1], "kick_us": round(at_s * 1e6)}
    return about("pass.complete", at_s + 1.0, who, end, **detail)


SHOT = about("shot.attempt", 5.0, "home_9", (44.0, 2.0))
GOAL = about("goal.scored", 5.6, "home_9", since_us=5_500_000)
BEFORE = [HOME_RIGHT, passed(1.0, "home_6", (0.0, 0.0), (20.0, 5.0)), passed(3.0, "home_8", (20.0, 5.0), (44.0, 2.0))]


def values(events: list[Event]) -> list[tuple[str, bool, float, float]]:
    """Of each version: how, success, chance to score after it, value."""
    out = fold(ActionValue(MatchSheet()), events)
    details = [e.payload.detail for e in out]
    return [(d["how"], d["success"], d["scores"], d["value"]) for d in details]


def test_features_of_a_pass_before_a_shot_are_those_that_can_be_counted_by_hand():
    first = Action("pass", True, "home", "home_6", 1_000_000, (0.0, 0.0), (31.5, 0.0))
    shot = Action("shot", False, "home", "home_9", 3_500_000, (42.5, 0.0), (42.5, 0.0))
    found = dict(zip(NAMES, features([first, shot], "home", Pitch()), strict=True))
    assert (found["start_x_a0"], found["start_y_a0"], found["start_dist_to_goal_a0"]) == (95.0, 34.0, 10.0)
    assert (found["end_x_a1"], found["movement_a1"], found["dx_a01"]) == (84.0, 31.5, -11.0)
    assert (found["team_1"], found["time_delta_1"], found["actiontype_shot_a0"]) == (1.0, 2.5, 1.0)
    assert found["time_delta_2"] == found["time_delta_1"], "a missing action is the first one again"
    assert found["start_angle_to_goal_a0"] == 0.0


@given(st.integers(0, 2**32))
def test_features_are_the_same_after_half_a_turn_with_the_teams_changed(seed: int):
    rng = random.Random(seed)

    def place() -> tuple[float, float]:
        return rng.uniform(-52.5, 52.5), rng.uniform(-34.0, 34.0)

    actions = [
        Action(rng.choice(TYPES), rng.random() < 0.5, rng.choice(("home", "away")), "", n * 1_000_000, place(), place())
        for n in range(3)
    ]  # fmt: skip
    turned = [
        msgspec.structs.replace(
            one, team="away" if one.team == "home" else "home", start=(-one.start[0], -one.start[1]),
            end=(-one.end[0], -one.end[1]),
        )
        for one in actions
    ]  # fmt: skip
    assert features(actions, "home", Pitch()) == pytest.approx(features(turned, "home", Pitch()))
    found = chances(features(actions, "home", Pitch()))
    assert all(0.0 < chance < 1.0 for chance in found)


def test_every_feature_has_a_coefficient_and_a_goal_makes_scoring_likely():
    assert all(len(model) == 1 + len(NAMES) and all(map(math.isfinite, model)) for model in models())
    found = values([*BEFORE, SHOT, GOAL])
    assert [row[:2] for row in found] == [("pass", True), ("pass", True), ("shot", False), ("shot", True)]
    assert found[0][3] == 0.0, "the first action of a period changes nothing"
    assert found[3][2] > 0.9 > found[2][2]
    assert found[3][3] > found[2][3]


def test_a_goal_that_does_not_stand_gives_the_shot_its_first_value_again():
    void = msgspec.structs.replace(GOAL, ts_us=9_000_000, seq=1, annuls=GOAL.id, dated_us=GOAL.ts_us)
    verdict = about("goal.disallowed", 9.0, "home_9", goal=GOAL.id)
    back = msgspec.structs.replace(verdict, ts_us=12_000_000, seq=1, annuls=verdict.id, dated_us=verdict.ts_us)
    first, scored = values([*BEFORE, SHOT, GOAL])[-2:]
    assert values([*BEFORE, SHOT, GOAL, void])[-1] == first
    assert values([*BEFORE, SHOT, GOAL, verdict])[-1] == first
    assert values([*BEFORE, SHOT, GOAL, verdict, back])[-1] == scored
    out = fold(ActionValue(MatchSheet()), [*BEFORE, SHOT, GOAL])
    assert out[-1].id == out[-2].id
    assert (out[-1].dated_us, out[-1].ts_us) == (SHOT.ts_us, GOAL.ts_us)


def test_goals_of_others_and_goals_long_after_change_no_shot():
    assert len(values([*BEFORE, SHOT, about("goal.scored", 5.6, "away_9")])) == 3
    assert len(values([*BEFORE, SHOT, about("goal.scored", 9.0, "home_9")])) == 3


def test_chances_change_sides_with_the_ball_and_end_with_a_break_or_a_goal():
    near = passed(3.0, "home_8", (20.0, 0.0), (46.0, 0.0))
    won = passed(6.0, "away_4", (46.0, 0.0), (30.0, 0.0))
    late = passed(30.0, "away_4", (46.0, 0.0), (30.0, 0.0))

    def details(then: Event) -> list[Mapping[str, Scalar]]:
        return [e.payload.detail for e in fold(ActionValue(MatchSheet()), [HOME_RIGHT, near, then])]

    first, soon = details(won)
    assert soon["offensive"] == pytest.approx(soon["scores"] - first["concedes"], abs=2e-4)
    assert soon["defensive"] == pytest.approx(first["scores"] - soon["concedes"], abs=2e-4)
    _, after_break = details(late)
    assert (after_break["offensive"], after_break["defensive"]) == (after_break["scores"], -after_break["concedes"])
    restart = passed(12.0, "away_9", (0.0, 0.0), (5.0, 5.0))
    detail = [e.payload.detail for e in fold(ActionValue(MatchSheet()), [*BEFORE, SHOT, GOAL, restart])][-1]
    assert detail["offensive"] == detail["scores"]
    assert values([*BEFORE, about("period.start", 50.0), restart])[-1][3] == 0.0


def test_what_has_no_place_or_no_direction_or_comes_too_late_has_no_value():
    assert values(BEFORE[1:]) == []
    nowhere = msgspec.structs.replace(SHOT, payload=msgspec.structs.replace(SHOT.payload, x_m=None))
    assert action_of(nowhere) is None
    late = passed(0.5, "home_4", (-20.0, 0.0), (0.0, 0.0))
    assert len(values([*BEFORE, late])) == 2
