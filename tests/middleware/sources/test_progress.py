"""Source progress: what is waited for, for how long, and what bad clocks and counters cannot do to the rest."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.events import BEGINNING_US, END_US, Arrival, Event
from middleware.sources.final_limit import FinalHold
from middleware.sources.packet_record import EPOCH
from middleware.sources.progress import (
    ProgressSettings,
    SourceProgress,
    Verdict,
)
from middleware.sources.source_state import MAX_OVERTAKERS

S = 1_000_000
DAY_US, HOUR_US = 86_400 * S, 3_600 * S
#: No wait for newcomers: tests of it say so.
PLAIN = ProgressSettings(patience_us=2 * S, discovery_us=0)


def packet(source: str, seq: int, ts_us: int, kind: str = "raw.a", until_us: int | None = None) -> Arrival:
    return Arrival(Event(kind, ts_us, source, seq), ts_us if until_us is None else until_us)


class Receiver:
    """Source progress with the calls of a push in their order."""

    def __init__(self, settings: ProgressSettings = PLAIN, allowed_lateness_us: int = 10 * S) -> None:
        self.progress = SourceProgress(("raw.a", "raw.b"), allowed_lateness_us, settings)

    def push(self, now_us: int, *arrivals: Arrival) -> list[Verdict]:
        verdicts = [self.progress.offer(arrival, now_us) for arrival in arrivals]
        self.progress.update_progress(now_us)
        self.progress.advance_final(now_us)
        return verdicts

    def progress_us(self, kind: str = "raw.a") -> int:
        return self.progress.progress_us[kind]


def test_progress_is_the_least_time_that_sources_have_reported():
    r = Receiver()
    r.push(10, packet("p", 0, 5, until_us=8), packet("q", 0, 6, until_us=7))
    assert r.progress_us() == 7
    r.push(11, packet("q", 1, 9))
    assert r.progress_us() == 8
    r.push(12, packet("z", 0, 1, kind="raw.b"))
    assert (r.progress_us(), r.progress_us("raw.b")) == (8, 1)


def test_a_sampler_of_fixed_rate_has_reported_almost_until_its_next_beat():
    r = Receiver()
    for n in range(50):
        r.push(n * S + 10, packet("p", n, n * S))
    assert 49.9 * S < r.progress_us() < 50 * S


def test_a_gap_holds_progress_for_as_long_as_patience_lasts_and_no_longer():
    r = Receiver()
    r.push(0, packet("p", 0, 0))
    r.push(S, packet("p", 2, 200))
    assert r.progress_us() == 0
    r.push(2 * S, packet("p", 3, 300), packet("q", 0, 500))
    assert r.progress_us() == 0, "the packet after the gap came a second ago"
    assert r.progress.next_change_us() <= 3 * S + 1
    r.push(3 * S)
    assert r.progress_us() == 0
    r.push(3 * S + 1)
    assert r.progress_us() == 300
    assert r.push(3 * S + 2, packet("p", 1, 100)) == [Verdict.NEW], "late, but not lost"
    assert r.push(3 * S + 3, packet("p", 1, 100)) == [Verdict.DUPLICATE]


def test_a_packet_that_many_have_overtaken_is_not_waited_for():
    r = Receiver()
    r.push(0, packet("p", 0, 0))
    for n in range(2, 2 + MAX_OVERTAKERS):
        assert r.progress_us() == 0
        r.push(n, packet("p", n, n * n))
    assert r.progress_us() == (1 + MAX_OVERTAKERS) ** 2


def test_a_source_that_stops_is_left_out_and_counts_again_when_it_returns():
    r = Receiver()
    for n in range(10):
        r.push(n * 100, packet("p", n, n * 100 + n % 3), packet("q", n, n * 100 + n % 2))
    r.push(S, packet("p", 10, 5_000))
    assert r.progress_us() < 1_000
    r.push(4 * S, packet("p", 11, 9_000))
    assert r.progress_us() == 9_000, "q has been silent for longer than patience"
    r.push(4 * S + 1, packet("q", 10, 6_000))
    assert r.progress_us() == 6_000
    r.push(9 * S)
    assert r.progress_us() == 9_000, "nobody is left to wait for"


def lag_s(r: Receiver, kind: str = "raw.b") -> float:
    """Plays twenty minutes of another source; how far behind the newest event final comes to stand at most."""
    begins_us, most_us = r.progress.newest_us, 0
    for n in range(1, 1_200):
        ts_us = begins_us + n * S
        r.push(ts_us, packet("other", n, ts_us, kind))
        most_us = max(most_us, r.progress.newest_us - r.progress.final_us)
    return most_us / S


def test_a_pause_is_no_cadence_and_is_not_waited_for_again():
    """Its beat was doubted, so the next gap is a first guess; it is heard again with its very next number, once."""
    r = Receiver()
    for n in range(30):
        ts_us = n * S + (n == 29) * 7 * S // 10
        r.push(ts_us, packet("p", n, ts_us))
    r.push(30 * S + HOUR_US)
    r.push(31 * S + HOUR_US, packet("p", 30, 31 * S + HOUR_US))
    assert lag_s(r) < 20, "memory is 10 s, patience 2 s"


def test_a_beat_slower_than_memory_holds_final_back_no_longer_than_memory():
    """A beat that has grown slower bit by bit, so that it was never silent for patience beyond what it owed."""
    r = Receiver()
    ts_us, gap_us = 0, 2 * S
    for n in range(60):
        r.push(ts_us, packet("p", n, ts_us))
        gap_us += gap_us // 9
        ts_us += min(gap_us, 400 * S)
    assert lag_s(r) < 35, "memory is 10 s, patience 2 s; both are waited for twice at most"


def test_an_end_mark_is_the_last_packet():
    r = Receiver()
    r.push(0, packet("p", 0, 10), packet("q", 0, 20, until_us=END_US))
    assert r.progress_us() == 10
    r.push(1, packet("p", 1, 1_000))
    assert r.progress_us() == 1_000
    assert r.progress.clk_us == 1_000, "an end is no date"
    r.push(2, packet("p", 2, 1_100, until_us=END_US))
    assert r.progress_us() == END_US


def test_where_one_recording_ended_others_are_not_waited_for_long():
    r = Receiver(ProgressSettings(patience_us=9 * S, discovery_us=0), allowed_lateness_us=60 * S)
    for n in range(100):
        r.push(n * S, packet("p", n, n * S))
        r.push(n * S + S // 2, packet("q", n, n * S + S // 2))
        r.push(n * S + S // 2, packet("r", 2 * n, n * S + S // 2), packet("r", 2 * n + 1, n * S + 3 * S // 4))
    now_us = 100 * S
    while r.progress_us() < 100 * S + 8 * S:
        now_us += S // 10
        r.push(now_us, packet("r", 200 + (now_us - 100 * S) // (S // 10), now_us))
    assert now_us > 108 * S, "the first end cannot be told from a silence"
    assert now_us < 111 * S, "q stood at the same number and was given up with p, not after it"


@pytest.mark.parametrize("bits", [8, 16])
def test_a_counter_that_wraps_is_counted_on(bits: int):
    r, size = Receiver(), 1 << bits
    numbers = []
    for n in range(size - 20, size + 40):
        if n == size + 3:
            continue
        assert r.push(n * 100, packet("p", n % size, n * 100)) == [Verdict.NEW]
        numbers.append(r.progress.event.seq)
    assert numbers == [n % size + EPOCH * (n >= size) for n in range(size - 20, size + 40) if n != size + 3]
    assert r.push((size + 40) * 100, packet("p", 3, (size + 3) * 100)) == [Verdict.NEW]
    assert r.push((size + 40) * 100, packet("p", size - 1, (size - 1) * 100)) == [Verdict.DUPLICATE]
    r.push(size * 100 + 3 * S)
    assert r.progress_us() >= (size + 39) * 100


def test_a_source_that_is_started_again_counts_from_zero_and_is_heard():
    r = Receiver()
    for n in range(50):
        r.push(n * 1000, packet("p", n, n * 1000))
    for n in range(20):
        assert r.push((60 + n) * 1000, packet("p", n, (60 + n) * 1000)) == [Verdict.NEW]
        assert r.push((60 + n) * 1000, packet("p", n, (60 + n) * 1000)) == [Verdict.DUPLICATE]
    assert r.progress_us() >= 79_000


def jumping(jump_us: int) -> tuple[Receiver, list[Verdict], list[Verdict]]:
    """Three sources at 10 Hz; from 20 s to 40 s the clock of q is off. Verdicts of q while it is off, and after."""
    r = Receiver(allowed_lateness_us=3 * S)
    off: list[Verdict] = []
    after: list[Verdict] = []
    for n in range(600):
        ts_us = n * S // 10
        for source in "pqr":
            wrong = source == "q" and 200 <= n < 400
            (verdict,) = r.push(ts_us + 50_000, packet(source, n, ts_us + jump_us * wrong))
            if source == "q" and n >= 200:
                (off if wrong else after).append(verdict)
            else:
                assert verdict is Verdict.NEW, f"{source}:{n} suffers from the clock of q"
        assert r.progress.clk_us <= ts_us
        assert r.progress_us() > ts_us - 2.5 * S, "progress waits for no clock that is wrong"
        assert r.progress.final_us > ts_us - 7 * S or n < 100
    return r, off, after


def test_a_clock_a_day_ahead_is_isolated_until_it_is_right_again():
    r, off, after = jumping(DAY_US)
    assert set(off) == {Verdict.CLOCK_OUTLIER}
    assert set(after) == {Verdict.NEW}
    assert r.progress_us() > 59 * S


def test_a_clock_an_hour_behind_is_isolated_until_it_is_right_again():
    r, off, after = jumping(-HOUR_US)
    assert set(off) == {Verdict.BEYOND_ALLOWED_LATENESS}
    assert set(after) == {Verdict.NEW}
    assert r.progress_us() > 59 * S


def test_a_first_source_with_a_clock_of_tomorrow_does_not_set_the_clock():
    r = Receiver(allowed_lateness_us=3 * S)
    assert r.push(50_000, packet("q", 0, DAY_US)) == [Verdict.NEW], "alone, nobody can tell"
    for n in range(100):
        ts_us = n * S // 10
        for source in "pr":
            assert r.push(ts_us + 60_000, packet(source, n, ts_us)) == [Verdict.NEW]
        if n:
            assert r.push(ts_us + 60_000, packet("q", n, ts_us + DAY_US)) == [Verdict.CLOCK_OUTLIER]
    assert r.progress.clk_us == 99 * S // 10
    assert r.progress_us() > 9.8 * S


def test_clocks_that_are_all_set_anew_are_believed():
    r = Receiver(allowed_lateness_us=3 * S)
    for n in range(300):
        for source in "pqr":
            ts_us = n * S // 10 + (HOUR_US if n >= 100 else 0)
            r.push(n * S // 10 + 50_000, packet(source, n, ts_us))
    assert r.progress.clk_us == 29.9 * S + HOUR_US
    assert r.progress_us() > 29.8 * S + HOUR_US


def test_a_single_source_may_jump_as_it_likes():
    r = Receiver(allowed_lateness_us=3 * S)
    for n, ts_us in enumerate((0, DAY_US, DAY_US + S)):
        assert r.push(n * S, packet("p", n, ts_us)) == [Verdict.NEW]
    assert r.progress_us() == DAY_US + S


def test_negative_and_decreasing_times_are_taken_as_they_are():
    r = Receiver()
    assert r.push(0, packet("p", 0, -500), packet("p", 1, -700), packet("p", 2, -600)) == [Verdict.NEW] * 3
    assert r.progress_us() == -600, "the last word counts"
    assert r.push(1, packet("p", 3, -100, until_us=-400)) == [Verdict.NEW]
    assert r.progress_us() == -100, "a packet tells at least its own date"


def test_a_clock_of_chosen_kinds_is_moved_by_them_unless_they_are_silent():
    r = Receiver(ProgressSettings(patience_us=2 * S, discovery_us=0, clock_kinds=("raw.b",)))
    r.push(0, packet("p", 0, 100), packet("b", 0, 10, kind="raw.b"))
    assert (r.progress.clk_us, r.progress.newest_us) == (10, 100)
    r.push(3 * S, packet("p", 1, 3 * S))
    assert r.progress.clk_us == 3 * S


def test_source_discovery_holds_progress_behind_arrival_time():
    r = Receiver(ProgressSettings(patience_us=7 * S, discovery_us=10 * S))
    for n in range(200):
        ts_us = n * S // 10
        r.push(ts_us + (S if n < 5 else 50_000), packet("p", n, ts_us + n % 2))
    assert r.progress_us() > 19 * S
    assert r.progress.next_change_us() > 20 * S
    r.push(20 * S, packet("q", 0, 19 * S))
    r.push(20 * S + 50_000, packet("p", 200, 20 * S), packet("q", 1, 20 * S))
    assert r.progress_us() == 20 * S + 50_000 - 3 * S // 2, "two took a second at most: one and a half for the next"
    assert r.progress.next_change_us() == 20 * S + 51_000


def streams(rng: Random, sources: int, packets: int) -> list[tuple[int, Arrival]]:
    """Sources with and without cadence, out of order within and between, with doubles, losses, ends and wraps."""
    out = []
    for number in range(sources):
        ts_us, beat_us, regular = rng.randrange(S), rng.choice((50_000, 100_000)), rng.random() < 0.7
        first = rng.choice((0, 250))
        for seq in range(first, first + packets):
            ts_us += beat_us if regular else rng.randrange(1, 2 * beat_us)
            if rng.random() < 0.01:
                continue
            until_us = END_US if rng.random() < 0.001 else ts_us + rng.randrange(beat_us // 2)
            late_us = rng.randrange(200_000) + (rng.random() < 0.01) * rng.randrange(3 * S)
            for _ in range(1 + (rng.random() < 0.02)):
                arrival = packet(f"s{number}", seq % 256, ts_us, "raw.a", until_us)
                out.append((ts_us + late_us, arrival))
    return sorted(out, key=lambda pair: pair[0])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_differential_the_queue_finds_what_looking_at_every_source_finds(seed: int):
    r = Receiver()
    for now_us, arrival in streams(Random(seed), 12, 60):
        r.push(now_us, arrival)
        live = [s for s in r.progress._kinds["raw.a"].sources.values() if s.live]
        assert r.progress_us() == min((s.bound_us for s in live), default=r.progress.newest_us)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_differential_goes_on_from_a_pickle(seed: int):
    rng = Random(seed)
    one, other = Receiver(), Receiver()
    for now_us, arrival in streams(rng, 6, 50):
        if rng.random() < 0.05:
            other.progress = pickle.loads(pickle.dumps(other.progress))
        assert one.push(now_us, arrival) == other.push(now_us, arrival)
        assert vars(one.progress).keys() == vars(other.progress).keys()
        assert (one.progress_us(), one.progress.final_us) == (other.progress_us(), other.progress.final_us)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_nothing_arrives_below_progress_from_sources_without_cadence(seed: int):
    """Sources that are heard at once and lose nothing: what they have told is told, however late it comes."""
    rng = Random(seed)
    sent: list[tuple[int, Arrival]] = [(0, packet(f"s{n}", 0, 0)) for n in range(5)]
    for number in range(5):
        ts_us = 0
        for seq in range(1, 40):
            ts_us += rng.choice((20_000, 100_000))
            sent.append((ts_us + rng.randrange(300_000), packet(f"s{number}", seq, ts_us)))
    sent.sort(key=lambda pair: pair[0])
    r = Receiver()
    for now_us, arrival in sent:
        r.progress.update_progress(now_us)
        source = r.progress.source_state("raw.a", arrival.event.source)
        known = source is not None and source.cadence.bound_us > BEGINNING_US
        before_us = r.progress.progress_us.get("raw.a", BEGINNING_US)
        if source is not None and source.live and not known:
            assert arrival.event.ts_us > before_us
        r.push(now_us, arrival)


def calls_of(sources: int, packets: int) -> int:
    """Calls of functions that ``packets`` pushes take with so many sources known."""
    r = Receiver(allowed_lateness_us=3 * S)
    rng = Random(4)
    seqs = [0] * sources
    for n in range(sources):
        r.push(n, packet(f"s{n}", 0, n))
    arrivals = []
    for n in range(packets):
        number = rng.randrange(sources)
        seqs[number] += 1
        arrivals.append((sources + 10 * n, packet(f"s{number}", seqs[number], sources + 10 * n)))
    calls = 0

    def count(_frame: object, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for now_us, arrival in arrivals:
            r.push(now_us, arrival)
    finally:
        sys.setprofile(None)
    return calls


def test_ten_thousand_sources_cost_no_more_work_per_packet_than_ten():
    few, many = calls_of(10, 20_000), calls_of(10_000, 20_000)
    assert many < 1.5 * few, (few, many)


def test_a_late_or_doubled_packet_does_not_make_others_appear_ahead():
    """Found by the law's property test: the lateness of one source was taken for the clock of all."""
    r = Receiver(allowed_lateness_us=32)
    assert r.push(1, packet("p", 0, 1)) == [Verdict.NEW]
    assert r.push(34, packet("p", 0, 1), packet("q", 10, 34)) == [Verdict.DUPLICATE, Verdict.NEW]
    assert r.push(80, packet("p", 1, 47), packet("z", 0, 80)) == [Verdict.NEW, Verdict.NEW]
    assert r.progress.clk_us == 80


def test_a_refused_packet_that_arrives_again_is_a_duplicate_and_no_restart():
    r = Receiver(allowed_lateness_us=S)
    for n in range(40):
        r.push(n * S // 10, packet("p", n, n * S // 10), packet("q", n, n * S // 10))
    day = packet("q", 40, 4 * S + DAY_US)
    assert r.push(4 * S, day) == [Verdict.CLOCK_OUTLIER]
    assert r.push(4 * S, day) == [Verdict.DUPLICATE]
    assert r.push(4 * S, packet("q", 41, 4 * S)) == [Verdict.NEW]
    assert r.progress.event.seq == 41
    late = packet("z", 7, 0)
    assert r.push(4 * S, late) == [Verdict.BEYOND_ALLOWED_LATENESS]
    assert r.push(4 * S, late) == [Verdict.DUPLICATE]


@pytest.mark.parametrize("zero_us", [0, 10**15, -(10**15)])
def test_a_first_packet_that_is_very_late_does_not_isolate_those_in_time(zero_us: int):
    """This holds with and without a common zero of arrival and event time."""
    r = Receiver(allowed_lateness_us=3 * S)
    assert r.push(4 * S, packet("p", 0, zero_us)) == [Verdict.NEW]
    for n in range(1, 90):
        now_us = 4 * S + n * S // 10
        pushed = r.push(now_us, packet("q", n, zero_us + now_us), packet("p", n, zero_us + now_us))
        assert pushed == [Verdict.NEW, Verdict.NEW]
    assert r.progress_us() > zero_us + 12 * S


def test_packets_of_a_source_that_was_not_believed_are_not_waited_for():
    r = Receiver(allowed_lateness_us=3 * S)
    for n in range(100):
        for source in "pq":
            off_us = DAY_US if source == "q" and 50 <= n < 60 else 0
            r.push(n * S // 10, packet(source, n, n * S // 10 + off_us))
        assert r.progress_us() > (n - 3) * S // 10, n


def test_final_follows_what_named_sources_have_reported() -> None:
    """It trails them, and not the newest event; a silent one holds it for the allowed lateness."""
    settings = ProgressSettings(final_follows_sources=True, discovery_us=0, patience_us=400_000)
    progress = SourceProgress(("raw",), 1_000_000, settings)

    def push(source: str, number: int, now_us: int) -> Verdict:
        ts_us = number * 100_000
        verdict = progress.offer(Arrival(Event("raw", ts_us, source, number), ts_us), now_us)
        progress.update_progress(now_us)
        progress.advance_final(now_us)
        return verdict

    for number in range(20):
        push("a", number, number * 100_000 + 10_000)
        push("b", number, number * 100_000 + 80_000)
    assert progress.final_us == 1_900_000
    for number in range(20, 26):
        push("a", number, number * 100_000 + 10_000)
    assert progress.final_us == 1_900_000, "b is silent and within the allowed lateness"
    assert push("b", 20, 2_520_000) is Verdict.NEW
    for number in range(26, 40):
        push("a", number, number * 100_000 + 10_000)
    assert progress.final_us == 3_900_000 - 1_000_000
    assert push("b", 21, 3_920_000) is Verdict.BEYOND_ALLOWED_LATENESS


def test_final_does_not_follow_numbers_that_contradict_event_times() -> None:
    """A frame that overtook another one is lost once; for a minute final trails by the allowed lateness again."""
    settings = ProgressSettings(final_follows_sources=True, discovery_us=0)
    progress = SourceProgress(("raw",), 1_000_000, settings)
    verdicts = []
    for number in range(60):
        ts_us = {39: 4_000_000, 40: 3_900_000, 49: 5_000_000, 50: 4_900_000}.get(number, number * 100_000)
        verdicts.append(progress.offer(Arrival(Event("raw", ts_us, "a", number), ts_us), number * 100_000 + 90_000))
        progress.update_progress(number * 100_000 + 90_000)
        progress.advance_final(number * 100_000 + 90_000)
    assert [number for number, verdict in enumerate(verdicts) if verdict is not Verdict.NEW] == [40]
    assert verdicts[40] is Verdict.BELOW_REPORTED
    assert progress.final_us == 5_900_000 - 1_000_000


FOLLOWS = replace(PLAIN, final_follows_sources=True)


def test_final_names_the_source_that_holds_it_back_and_for_how_long():
    r = Receiver(FOLLOWS)
    for n in range(110):
        r.push(n * S // 10, packet("p", n, n * S // 10), packet("q", n, n * S // 10))
    assert r.progress.final_hold(109 * S // 10) == FinalHold("none")
    for n in range(110, 120):
        r.push(n * S // 10, packet("p", n, n * S // 10))
    hold = r.progress.final_hold(119 * S // 10)
    assert hold == FinalHold("source", "q", S, 2 * S + S // 10), "a period and its patience after its last packet"
    assert r.progress.final_us == 109 * S // 10, "it stands where q has reported"
    for n in range(120, 140):
        r.push(n * S // 10, packet("p", n, n * S // 10))
    assert r.progress.final_hold(139 * S // 10) == FinalHold("silent", "q", 3 * S, 10 * S), "owed until the lateness"
    r.push(14 * S, packet("p", 140, 14 * S), packet("q", 110, 14 * S))
    assert r.progress.final_hold(14 * S) == FinalHold("none")
    r.push(141 * S // 10, packet("p", 141, 141 * S // 10), packet("q", 112, 141 * S // 10))
    r.push(142 * S // 10, packet("p", 142, 142 * S // 10))
    assert r.progress.final_hold(142 * S // 10) == FinalHold("gap", "q", S // 10, 2 * S)
    r.progress.promise(15 * S)
    assert r.progress.final_hold(142 * S // 10) == FinalHold("none")


def test_without_known_sources_final_trails_by_the_lateness_or_a_live_source():
    r = Receiver()
    for n in range(130):
        r.push(n * S // 10, packet("p", n, n * S // 10), packet("q", n, n * S // 10))
    assert r.progress.final_hold(129 * S // 10) == FinalHold("lateness")


def test_final_says_that_it_waits_for_new_sources_or_distrusts_the_numbers():
    r = Receiver(replace(FOLLOWS, discovery_us=60 * S))
    for n in range(110):
        r.push(n * S // 10 + 50_000, packet("p", n, n * S // 10))
    assert r.progress.final_hold(1095 * S // 100) == FinalHold("new")
    r.push(11 * S + 50_000, packet("p", 110, 105 * S // 10))
    assert r.progress.final_hold(111 * S // 10) == FinalHold("distrust")
