"""Breaks of smoothed positions: as exact as of others if the fit knows the filter."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.signals.kernels.break_solver import Position, Search, bend_s, fit_one_break, fit_two_breaks

PERIOD_US = 40_000


def path(*breaks: tuple[float, float], smoothing_s: float, count: int = 24) -> list[Position]:
    """A ball at 4 m/s along x that gets so fast across at some instants (s, m/s), and was smoothed."""
    at_s = np.arange(count) * PERIOD_US * 1e-6
    y_m = [sum(change * bend_s(t - begin_s, smoothing_s) for begin_s, change in breaks) for t in at_s]
    return [(i * PERIOD_US, 4.0 * t, y, 0.11) for i, (t, y) in enumerate(zip(at_s.tolist(), y_m, strict=True))]


def test_the_bend_of_a_filter_is_a_ramp_far_from_the_break_and_as_much_before_as_after() -> None:
    assert bend_s(0.3, 0.0) == 0.3
    assert bend_s(-0.3, 0.0) == 0.0
    assert bend_s(0.6, 0.1) == 0.6
    assert bend_s(-0.6, 0.1) == 0.0
    assert bend_s(0.0, 0.1) == pytest.approx(0.1 / np.sqrt(2.0 * np.pi))
    assert bend_s(0.05, 0.1) - 0.05 == pytest.approx(bend_s(-0.05, 0.1))
    # It is the ramp, run through the filter.
    fine_s = np.arange(-1.0, 1.0, 1e-4)
    weights = np.exp(-0.5 * ((0.07 - fine_s) / 0.1) ** 2)
    assert bend_s(0.07, 0.1) == pytest.approx(
        float(np.sum(weights * np.maximum(fine_s, 0.0)) / weights.sum()), abs=1e-6
    )


@pytest.mark.parametrize("smoothing_s", [0.0, 0.05, 0.1])
def test_one_break_is_found_where_it_was(smoothing_s: float) -> None:
    fit = fit_one_break(path((0.45, 15.0), smoothing_s=smoothing_s), 1, 4, 1.0, smoothing_s)
    assert fit is not None
    assert fit.at_us == pytest.approx(450_000, abs=1)
    assert fit.change_m_s == pytest.approx((0.0, 15.0, 0.0), abs=1e-6)
    assert fit.noise_m < 1e-4


def test_a_filter_that_the_fit_does_not_know_is_noise() -> None:
    fit = fit_one_break(path((0.45, 15.0), smoothing_s=0.1), 1, 4)
    assert fit is not None
    assert fit.noise_m > 0.05


def test_two_breaks_within_the_filters_width_are_told_apart() -> None:
    positions = path((0.4, 15.0), (0.56, -20.0), smoothing_s=0.1)
    end = len(positions) - 2
    fit = fit_two_breaks(positions, Search(1, end - 1, end, 0, 6, 4, 15_000.0, 0.1))
    assert fit is not None
    assert fit.at_us == pytest.approx((400_000, 560_000), abs=1)
    assert fit.changes_m_s[1] == pytest.approx((0.0, -20.0, 0.0), abs=1e-4)
