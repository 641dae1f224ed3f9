"""Curves of calibration, and the fit of action values: against plain counting, and on numbers that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.action_value import AHEAD, Period, fit, samples_of
from bench.calibration import Cases, area_under_curve, curve
from detectors.statistics.action_features import NAMES, Action


@given(st.lists(st.tuples(st.sampled_from((0.1, 0.2, 0.5, 0.9)), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_the_share_of_pairs_in_the_right_order(rows: list[tuple[float, bool]]):
    yes, no = ([value for value, happened in rows if happened is which] for which in (True, False))
    values, happened = zip(*rows, strict=True)
    found = area_under_curve(values, happened)
    if not yes or not no:
        assert np.isnan(found)
    else:
        pairs = [(a > b) + 0.5 * (a == b) for a in yes for b in no]
        assert found == pytest.approx(sum(pairs) / len(pairs))


def test_a_curve_has_the_chance_and_what_came_true_by_tenths():
    found = np.repeat(np.arange(10) / 10.0, 100)
    happened = (np.arange(1000) % 100 < found * 100).astype(float)
    one = curve(Cases(found, happened))
    assert [row[2] for row in one.tenths] == [100] * 10
    assert all(chance == pytest.approx(share) for chance, share, _ in one.tenths)
    assert one.brier < one.plain
    assert curve(Cases(1.0 - found, happened)).area < 0.5 < one.area


def test_the_fit_finds_the_coefficients_that_made_the_outcomes():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(20_000, len(NAMES)))
    odds = -1.0 + 2.0 * values[:, 3] - 1.0 * values[:, 7]
    model = fit(values, (rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds))).astype(float))
    assert model["constant"] == pytest.approx(-1.0, abs=0.1)
    assert (model[NAMES[3]], model[NAMES[7]]) == (pytest.approx(2.0, abs=0.1), pytest.approx(-1.0, abs=0.1))
    assert abs(model[NAMES[0]]) < 0.1


def test_a_goal_counts_for_the_actions_before_it_of_both_teams_and_for_no_others():
    def action(number: int, team: str, kind: str = "pass", success: bool = True) -> Action:
        return Action(kind, success, team, "", number * 1_000_000, (0.0, 0.0), (1.0, 0.0))  # type: ignore[arg-type]

    played = [action(number, "home" if number % 2 else "away") for number in range(14)]
    played[12] = action(12, "home", "shot")
    found = samples_of([Period("home", tuple(played), ())])
    before = range(12 - AHEAD + 1, 13)
    assert [bool(value) for value in found.scores] == [n in before and played[n].team == "home" for n in range(14)]
    assert [bool(value) for value in found.concedes] == [n in before and played[n].team == "away" for n in range(14)]
