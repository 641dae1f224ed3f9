"""The bound on delays grows and shrinks, so that the chosen share is late; no input waits longer than is allowed."""

from __future__ import annotations

from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middleware.ordering.slack.estimators import SingleTime
from middleware.ordering.slack.protocol import DelaySample
from middleware.sources.delay_bound import FIRST_US, GROWTH, MOST_US, DelayBound, ReleaseTarget, waited_out
from tests.examples import in_two_lengths

MS = 1_000


@given(st.lists(st.integers(0, 900 * MS), max_size=300))
def test_before_sources_are_settled_it_is_bett_where_packets_are_rare(delays_us: list[int]):
    bound, bett = DelayBound(ReleaseTarget(0.001)), SingleTime()
    for n, delay_us in enumerate(delays_us):
        now_us = n * 100 * MS
        bound.take(delay_us, now_us, settled=False)
        bett.measure(DelaySample(now_us - delay_us, 0, now_us, "p", n))
        if n > 64:
            assert bound.wait_us <= bett.k_us + 1, "BETT falls below what it has just wanted; the bound may not"


@in_two_lengths(
    10,
    30,
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.002, 0.01, 0.05]),
    scale_ms=st.sampled_from([1, 30, 400]),
)
def test_the_late_share_tends_to_the_target_whatever_the_delays_are(seed: int, share: float, scale_ms: int):
    rng = Random(seed)
    bound = DelayBound(ReleaseTarget(share))
    packets = 20_000
    for n in range(packets):
        burst = 4 if n // 2_000 % 3 == 2 else 1
        bound.take(round(rng.expovariate(1) * scale_ms * MS * burst), n * 1_000)
    # The logarithm of the offset moves by GROWTH * (late - share * packets); these delays do not take it to its limit.
    assert bound.late <= share * packets + log(MOST_US / FIRST_US) / GROWTH


def test_it_shrinks_when_the_network_calms_down_and_grows_when_it_does_not():
    bound = DelayBound(ReleaseTarget(0.01))
    for n in range(5_000):
        bound.take(20 * MS, n * 10 * MS)
    calm_us = bound.wait_us
    for n in range(5_000, 5_400):
        bound.take(20 * MS + n % 7 * 200 * MS, n * 10 * MS)
    rough_us = bound.wait_us
    for n in range(5_400, 60_000):
        bound.take(20 * MS, n * 10 * MS)
    assert calm_us < 300 * MS < 1_000 * MS < rough_us
    assert bound.wait_us < 300 * MS


@given(st.lists(st.integers(-MS, 9_000 * MS), max_size=50), st.integers(0, 500 * MS))
def test_no_wait_is_longer_than_the_longest_that_is_accepted(delays_us: list[int], longest_us: int):
    bound = DelayBound(ReleaseTarget(0.01, longest_us))
    assert bound.wait_us <= longest_us
    for n, delay_us in enumerate(delays_us):
        bound.take(delay_us, n * MS)
        assert bound.wait_us <= longest_us


@pytest.mark.parametrize(("share", "longest_us"), [(0.0, None), (1.0, None), (-0.1, None), (0.01, -1)])
def test_a_target_that_means_nothing_is_refused(share: float, longest_us: int | None):
    with pytest.raises(ValueError, match="must"):
        ReleaseTarget(share, longest_us)


def test_what_was_waited_for_counts_as_complete_but_of_kinds_without_a_bound():
    assert waited_out({"radio": 100, "ball": 900, "official": 50}, {"radio": 300, "ball": 300}, 1_000) == {
        "radio": 700,
        "ball": 900,
        "official": 50,
    }
