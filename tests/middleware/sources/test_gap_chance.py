"""Gaps are given up by the chance that they still fill, and no sooner than the accepted late share allows."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from middleware.events import Arrival, Event
from middleware.sources.gap_chance import GapChance, GapCounts
from middleware.sources.progress import ProgressSettings, SourceProgress, Verdict

MS = 1_000


def learned(late_share: float, packets: int, missing: int, ages_us: list[int]) -> GapChance:
    gaps = GapChance(late_share, GapCounts())
    gaps.count(packets)
    for _ in range(missing):
        gaps.miss(1)
    for age_us in ages_us:
        gaps.fill(age_us)
    return gaps


def test_what_was_never_lost_is_waited_for_without_end():
    assert learned(0.001, 10_000, 40, [20 * MS] * 40).wait_us() is None


def test_with_few_packets_nothing_is_given_up():
    assert learned(0.001, 100, 10, []).wait_us() is None


def test_what_is_always_lost_is_given_up_at_once():
    assert learned(0.001, 10_000, 40, []).wait_us() == 0


def test_a_gap_is_waited_for_as_long_as_those_before_took_to_fill():
    wait_us = learned(0.001, 10_000, 60, [20 * MS] * 40).wait_us()
    assert wait_us is not None
    assert 20 * MS < wait_us <= 30 * MS


def test_a_late_share_that_is_accepted_shortens_the_wait():
    # Of 10,000 packets three fill after a second, and forty are lost: 3 of them may be late, but not with 0.0002.
    ages_us = [20 * MS] * 40 + [1_000 * MS] * 3
    short_us = learned(0.0005, 10_000, 83, ages_us).wait_us()
    long_us = learned(0.0002, 10_000, 83, ages_us).wait_us()
    assert short_us is not None
    assert long_us is not None
    assert short_us < 100 * MS < 1_000 * MS < long_us


def test_a_source_of_its_own_kind_of_delays_is_believed_above_its_kind():
    kind = GapCounts()
    others, own = GapChance(0.001, kind), GapChance(0.001, kind)
    others.count(50_000)
    for _ in range(30):
        others.miss(1)
    own.count(5_000)
    for _ in range(100):
        own.miss(1)
        own.fill(500 * MS)
    assert others.wait_us() != own.wait_us()
    assert own.wait_us() is None or own.wait_us() > 500 * MS


def test_a_packet_that_arrives_after_it_was_given_up_makes_the_wait_longer():
    gaps = learned(0.0005, 10_000, 60, [])
    assert gaps.wait_us() == 0
    gaps.give_up(range(7, 27), 1_000_000)
    for number in range(7, 27):
        gaps.arrive_after_all(number, 1_080_000)
    wait_us = gaps.wait_us()
    assert wait_us is not None
    assert wait_us > 80 * MS
    gaps.arrive_after_all(7, 9_000_000)
    assert gaps.wait_us() == wait_us, "a packet arrives once"


def play(seed: int, late_share: float) -> tuple[float, int, int]:
    """Mean age of progress, packets given up that arrived after all, and packets: one in fifty lost, one late."""
    rng = Random(seed)
    arrivals = []
    for source in "pqrs":
        for n in range(4_000):
            if rng.random() < 0.02:
                continue
            delay_us = 5 * MS + (rng.randrange(60 * MS) if rng.random() < 0.02 else 0)
            arrivals.append((n * 20 * MS + delay_us, Event("raw", n * 20 * MS, source, n)))
    progress = SourceProgress(("raw",), 10_000_000, ProgressSettings(discovery_us=0, late_share=late_share))
    age_us = late = 0
    for now_us, event in sorted(arrivals, key=lambda arrival: arrival[0]):
        late += event.ts_us <= progress.progress_us.get("raw", -1)
        assert progress.offer(Arrival(event, event.ts_us), now_us) is Verdict.NEW
        progress.update_progress(now_us)
        age_us += now_us - progress.progress_us["raw"]
    return age_us / len(arrivals), late, len(arrivals)


@pytest.mark.parametrize("seed", range(3))
def test_foreign_under_steady_loss_progress_is_sooner_and_the_late_share_is_kept(seed: int):
    all_us, none_late, _ = play(seed, 0.0)
    some_us, late, packets = play(seed, 0.002)
    assert none_late <= 3, "before the cadence of a source is known"
    assert some_us < 0.5 * all_us
    assert late <= 2 * 0.002 * packets, "what is accepted, and what was given up before much was known"


def test_what_was_learned_survives_a_snapshot():
    gaps = learned(0.001, 10_000, 60, [20 * MS] * 40)
    gaps.give_up(range(3, 4), 0)
    again = pickle.loads(pickle.dumps(gaps))
    for one in (gaps, again):
        one.arrive_after_all(3, 400 * MS)
    assert again.wait_us() == gaps.wait_us()
