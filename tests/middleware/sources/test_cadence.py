"""Forecasts for a source: its next sample, and the delays of new sources."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from middleware.sources.cadence import Cadence
from middleware.sources.source_discovery import SourceDiscovery

PERIOD_US = 500_000


def promises(times_us: list[int]) -> tuple[int, int, float]:
    """(promises made, promises broken, mean time from promise to sample) of a cadence over samples."""
    cadence, made, broken, slack_us = Cadence(), 0, 0, 0
    for ts_us in times_us:
        if cadence.bound_us > 0:
            made += 1
            broken += ts_us < cadence.bound_us
            slack_us += ts_us - cadence.bound_us
        cadence.take(ts_us)
    return made, broken, slack_us / max(made, 1)


def timer(rng: Random, samples: int, drift: float = 0.0) -> list[int]:
    """A timer of fixed rate: each sample late by a little, some by a lot, none of it passed on."""
    late = [rng.expovariate(1 / 3_000) + (rng.random() < 0.01) * rng.uniform(0, 150_000) for _ in range(samples)]
    return [round(n * PERIOD_US * (1 + drift) + late_us) for n, late_us in enumerate(late)]


@pytest.mark.parametrize("drift", [0.0, 1e-4, -1e-4])
def test_a_timer_of_fixed_rate_is_foreseen_to_a_fortieth_of_its_period(drift: float):
    made, broken, slack_us = promises(timer(Random(1), 2_000, drift))
    assert made > 1_900
    assert broken <= 4
    assert slack_us < PERIOD_US / 40, "of which 4 ms are the samples' own lateness"


def test_a_source_without_cadence_is_not_believed():
    rng = Random(2)
    times_us, ts_us = [], 0
    for _ in range(3_000):
        ts_us += round(rng.expovariate(1 / PERIOD_US))
        times_us.append(ts_us)
    made, broken, _ = promises(times_us)
    assert broken < 40, "of 3,000 samples"
    assert made < 300


def test_another_rate_is_learned_after_a_while():
    slow = [n * PERIOD_US for n in range(200)]
    fast = [slow[-1] + n * PERIOD_US // 4 for n in range(1, 400)]
    made, broken, slack_us = promises(slow + fast)
    assert broken <= 1, "the first sample of the new rate comes too soon for the old one"
    assert made > 500
    assert slack_us < PERIOD_US / 50


def test_a_pause_or_a_gap_is_no_reason_for_distrust():
    cadence = Cadence()
    for n in range(100):
        cadence.take(n * PERIOD_US)
    cadence.skip()
    assert cadence.bound_us < 0
    for n in range(3):
        cadence.take((200 + n) * PERIOD_US)
    assert cadence.bound_us > 201 * PERIOD_US


def test_a_cadence_goes_on_from_its_pickle():
    times_us = timer(Random(3), 300)
    one, other = Cadence(), Cadence()
    for ts_us in times_us:
        one.take(ts_us)
        other = pickle.loads(pickle.dumps(other))
        other.take(ts_us)
        assert one.bound_us == other.bound_us


def hold(discovery: SourceDiscovery, now_s: float) -> float:
    return discovery.hold_us(round(now_s * 1e6)) / 1e6


def test_new_sources_are_waited_for_as_long_as_those_before_took():
    discovery = SourceDiscovery(10_000_000, 7_000_000)
    assert hold(discovery, 0.0) == 0.0
    discovery.add_source(0)
    discovery.learn(1_600_000)
    assert hold(discovery, 0.0) == 3.2, "of one delay seen, twice as much"
    discovery.add_source(1_000_000)
    discovery.learn(2_000_000)
    assert hold(discovery, 1.0) == 3.0
    assert hold(discovery, 5.0) == 3.0, "in full for four tenths of the wait"
    assert hold(discovery, 8.0) == 1.5
    assert hold(discovery, 11.0) == 0.0
    discovery.add_source(12_000_000)
    assert hold(discovery, 12.0) == pytest.approx(8 / 3, abs=1e-6), "one more came, so more are to be expected"


def test_of_a_known_number_of_sources_none_is_waited_for_once_all_were_heard():
    discovery = SourceDiscovery(10_000_000, 7_000_000, expected=2)
    discovery.add_source(0)
    discovery.learn(1_000_000)
    assert hold(discovery, 0.5) == 2.0
    discovery.add_source(1_000_000)
    assert hold(discovery, 1.0) == 0.0


@pytest.mark.parametrize("delay_us", [-5_000_000, 8_000_000, 10**15])
def test_clocks_without_a_common_zero_teach_nothing(delay_us: int):
    discovery = SourceDiscovery(10_000_000, 7_000_000)
    discovery.add_source(0)
    discovery.learn(delay_us)
    assert hold(discovery, 0.1) == 0.0
