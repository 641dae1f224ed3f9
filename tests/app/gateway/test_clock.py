"""Clocks of sources: on simulated clocks, with drift, delays, outliers, steps and wraps."""

from __future__ import annotations

import numpy as np
import pytest

from app.gateway.clock import ArrivalJitter, SourceClock


def packets(seconds: float, drift_ppm: float, offset_us: int, seed: int, rate_hz: float = 50.0):
    """(source time, true time, arrival) of packets with a shortest delay of 1 ms, an exponential tail, and bursts."""
    rng = np.random.default_rng(seed)
    true_us = np.arange(0, seconds * 1e6, 1e6 / rate_hz)
    source_us = np.round(true_us * (1 - drift_ppm * 1e-6)).astype(int) - offset_us
    delay_us = 1_000 + rng.exponential(4_000, len(true_us))
    delay_us[rng.random(len(true_us)) < 0.02] += 150_000
    return source_us.tolist(), true_us.tolist(), np.round(true_us + delay_us).astype(int).tolist()


@pytest.mark.parametrize("drift_ppm", [-80.0, 0.0, 25.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_offset_and_drift_of_a_simulated_clock(drift_ppm: float, seed: int):
    clock = SourceClock(latency_us=1_000)
    error_us = []
    for source_us, true_us, arrival_us in zip(*packets(600, drift_ppm, 7_000_000_000, seed), strict=True):
        event_us = clock.event_us(source_us, arrival_us)
        assert event_us is not None
        assert event_us <= arrival_us
        if true_us > 60e6:
            error_us.append(event_us - true_us)
    assert abs(clock.figures().drift_ppm - drift_ppm) < 1.0, f"seed {seed}: {clock.figures()}"
    assert np.max(np.abs(error_us)) < 2_000, f"seed {seed}: {np.min(error_us)} to {np.max(error_us)} us"


def test_event_times_of_a_source_never_jump_while_the_estimate_settles():
    clock = SourceClock()
    sources, _, arrivals = packets(120, 200.0, 0, 3)
    events = [clock.event_us(source, arrival) for source, arrival in zip(sources, arrivals, strict=True)]
    steps = np.diff(np.array(events[500:], float)) - np.diff(np.array(sources[500:], float))
    assert np.max(np.abs(steps)) < 200


def test_a_step_of_the_clock_is_found_and_event_time_goes_on():
    clock = SourceClock(latency_us=1_000)
    sources, true, arrivals = packets(60, 0.0, 0, 4)
    events = []
    for number, (source_us, arrival_us) in enumerate(zip(sources, arrivals, strict=True)):
        events.append(clock.event_us(source_us - (3_600_000_000 if number >= 1_500 else 0), arrival_us))
    assert clock.figures().steps == 1
    assert clock.figures().refused == events.count(None) == 7
    late = [event - at for event, at in zip(events[1_600:], true[1_600:], strict=True)]
    assert np.max(np.abs(late)) < 10_000


def test_a_single_time_that_fits_nothing_is_refused():
    clock = SourceClock()
    for at_us in range(0, 1_000_000, 20_000):
        assert clock.event_us(at_us, at_us + 3_000) is not None
    assert clock.event_us(10**12, 1_003_000) is None
    assert clock.event_us(1_000_000, 1_003_000) == 1_003_000
    assert clock.figures().refused == 1


def test_a_clock_that_begins_at_zero_again_goes_on():
    clock = SourceClock(wraps_us=10_000_000)
    events = [clock.event_us(at_us % 10_000_000, at_us + 2_000) for at_us in range(5_000_000, 45_000_000, 50_000)]
    assert clock.figures().wraps == 4
    assert set(np.diff(events)) == {50_000}


def test_a_clock_set_by_a_standard_is_taken_as_it_is_and_one_ahead_is_refused():
    clock = SourceClock(fixed_us=-1_000)
    assert clock.event_us(5_000, 9_000) == 4_000
    assert clock.event_us(900_000, 9_000) is None


def test_arrivals_have_an_honest_jitter():
    rng = np.random.default_rng(5)
    jitter = ArrivalJitter()
    for at_us in np.arange(0, 10e6, 20_000) + rng.normal(0, 1_500, 500):
        jitter.observe("ball", round(at_us))
    assert 1_200 < jitter.jitter_us < 1_800
