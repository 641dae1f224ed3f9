"""The gate against the sender's own list: each packet is taken, lost with a reason, or a proven copy.

The sender knows what it sent: restart, counter, event time, content. Nothing of the engine is used to know it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, permutations
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.detector import Spec, Step
from middleware.engine import Engine
from middleware.events import Arrival, Event, Loss
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import Retraction
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.progress import ProgressSettings, SourceProgress, Verdict
from tests.middleware.streams import standing

MS = 1_000
S = 1_000 * MS
#: How an identity shows its epoch.
EPOCH = 10**10

#: A packet of the sender's list: its source, its counter, its event time and its content.
Content = tuple[str, int, int, str]


class Sent(NamedTuple):
    """A packet that a source sent: ``restarts`` and wraps of its counter until then, and what it carries."""

    source: str
    epoch: int
    counter: int
    ts_us: int
    content: str


class Repeater:
    """Emits each raw event as it was taken in: its identity, and its content."""

    def __init__(self) -> None:
        self.spec = Spec("repeated", "1.1", 1, ("raw",), ("repeated",))

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        """One for each, numbered in order."""
        return state + 1, (
            Event("repeated", event.ts_us, event.source, event.seq, event.payload, f"repeated#{event.payload}"),
        )


HIERARCHY = Hierarchy(("raw",), [Repeater()])


def as_arrival(packet: Sent) -> Arrival:
    event = Event("raw", packet.ts_us, packet.source, packet.counter, packet.content)
    return Arrival(event, packet.ts_us)


def content_of(event: Event) -> Content:
    return event.source, (event.seq + EPOCH // 2) % EPOCH - EPOCH // 2, event.ts_us, str(event.payload)


class Outcome(NamedTuple):
    """The result of a stream: what stands, in order, what was lost, and the counts."""

    stands: list[Event]
    lost: list[Loss]
    duplicates: int
    differing: int

    def accounted(self) -> set[Content]:
        """Contents that stand or are lost."""
        return {content_of(event) for event in self.stands} | {content_of(loss.event) for loss in self.lost}


def played(
    arrived: Iterable[tuple[int, Sent]],
    allowed_lateness_us: int = 10 * S,
    alpha: float = 0.0,
    retraction: Retraction = "on-demand",
    stop_every: int = 0,
    complete: bool = False,
) -> Outcome:
    """Push packets in order of arrival; with ``complete`` as a recording, which promises what the lateness allows."""
    progress = ProgressSettings(discovery_us=0)
    unit = UnitSettings(FixedAlpha(alpha), retraction)
    engine_settings = EngineSettings(unit, allowed_lateness_us=allowed_lateness_us, progress=progress)
    engine, updates = Engine(HIERARCHY, engine_settings), []
    for number, (now_us, packet) in enumerate(arrived):
        promised = now_us - allowed_lateness_us if complete else None
        updates += engine.push([as_arrival(packet)], now_us, promised).updates
        if stop_every and number % stop_every == stop_every - 1:
            snapshot = engine.snapshot()
            engine = Engine(HIERARCHY, engine_settings)
            engine.restore(snapshot)
    updates += engine.finish().updates
    health = engine.health()
    assert not health.faults, health.faults
    return Outcome(standing(updates, HIERARCHY), engine.take_lost(), health.duplicates, health.differing)


def check(arrived: Sequence[tuple[int, Sent]], outcome: Outcome) -> None:
    """Hold an outcome against the sender's list."""
    delivered = Counter((p.source, p.counter, p.ts_us, p.content) for _, p in arrived)
    assert outcome.accounted() == set(delivered), "a content that arrived is neither taken nor lost"
    assert delivered.total() == len(outcome.stands) + len(outcome.lost) + outcome.duplicates
    assert outcome.duplicates <= delivered.total() - len(delivered), "what arrived once is no copy"
    taken = Counter(map(content_of, outcome.stands))
    assert set(taken.values()) <= {1}, "a packet was taken twice"
    names = Counter((event.source, event.seq) for event in outcome.stands)
    assert set(names.values()) <= {1}, "an identity was given twice"
    assert {(e.source, e.seq) for e in outcome.stands} == set(expected_identities(map(content_of, outcome.stands)))


def expected_identities(taken: Iterable[Content]) -> list[tuple[str, int]]:
    """The identities of packets: in order of time, an epoch begins where the counter does not rise."""
    out: list[tuple[str, int]] = []
    before: dict[str, tuple[int, int]] = {}
    for source, _, counter in sorted((source, ts_us, counter) for source, counter, ts_us, _ in taken):
        epoch, last = before.get(source, (0, -EPOCH))
        before[source] = epoch + (counter <= last), counter
        out.append((source, before[source][0] * EPOCH + counter))
    return out


def shuffled(rng: Random, packets: Iterable[Sent], jitter_us: int, receivers: int = 1) -> list[tuple[int, Sent]]:
    """Packets through receivers of which each delivers with a delay of its own."""
    return sorted((p.ts_us + rng.randrange(jitter_us), p) for p in packets for _ in range(receivers))


def packets(counters: Sequence[int], first_us: int, period_us: int, epoch: int = 0, source: str = "s") -> list[Sent]:
    return [
        Sent(source, epoch, counter, first_us + n * period_us, f"{epoch}.{counter}")
        for n, counter in enumerate(counters)
    ]


# Cases of the review, on the verdicts alone.


def verdicts(arrived: Iterable[tuple[int, Sent]], allowed_lateness_us: int = 10 * S) -> list[Verdict]:
    progress = SourceProgress(("raw",), allowed_lateness_us, ProgressSettings(discovery_us=0))
    out = []
    for now_us, packet in arrived:
        out.append(progress.offer(as_arrival(packet), now_us))
        progress.update_progress(now_us)
        progress.advance_final(now_us)
    return out


def test_a_packet_sent_before_a_restart_and_received_after_it_is_taken():
    old, new = packets(range(10), 0, 10 * MS), packets(range(3), 120 * MS, 10 * MS, 1)
    arrived = [*((p.ts_us + MS, p) for p in old[:9]), (121 * MS, new[0]), (122 * MS, old[9])]
    assert verdicts(arrived) == [Verdict.NEW] * 11
    check(arrived, played(arrived))


@pytest.mark.parametrize("seed", range(40))
def test_no_packet_is_dropped_when_a_source_restarts_under_jitter(seed: int):
    rng = Random(seed)
    sent = [*packets(range(40), 0, 5 * MS), *packets(range(40), 205 * MS, 5 * MS, 1)]
    arrived = shuffled(rng, sent, 30 * MS)
    assert set(verdicts(arrived)) == {Verdict.NEW}
    outcome = played(arrived)
    check(arrived, outcome)
    assert {(p.epoch * EPOCH + p.counter, p.ts_us) for p in sent} == {(e.seq, e.ts_us) for e in outcome.stands}


@pytest.mark.parametrize("seed", range(40))
def test_no_packet_is_dropped_when_a_counter_wraps_under_jitter(seed: int):
    rng = Random(seed)
    first = rng.randrange(200, 256)
    sent = [Sent("s", (first + n) >> 8, (first + n) % 256, n * 10 * MS, str(n)) for n in range(120)]
    arrived = shuffled(rng, sent, 30 * MS)
    assert set(verdicts(arrived)) == {Verdict.NEW}
    outcome = played(arrived)
    check(arrived, outcome)
    assert {(p.epoch * EPOCH + p.counter, p.ts_us) for p in sent} == {(e.seq, e.ts_us) for e in outcome.stands}


def test_no_packet_of_a_long_gap_is_dropped():
    sent = packets(range(5_021), 0, MS)
    late = [sent[0], *sent[5_001:], *sent[1:5_001]]
    arrived = [(6 * S + n, packet) for n, packet in enumerate(late)]
    assert Counter(verdicts(arrived, 60 * S)) == {Verdict.NEW: 5_021}


@pytest.mark.parametrize("retraction", ["on-demand", "full"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_of_copies_that_differ_the_same_one_counts_in_every_order(alpha: float, retraction: Retraction):
    sent = packets(range(6), 0, 10 * MS)
    copies = [sent[3]._replace(content=name) for name in ("b", "a", "c")]
    outcomes = []
    for order in permutations([*copies, copies[0]]):
        arrived = [(100 * MS + n, p) for n, p in enumerate([*sent[:3], *order, *sent[4:]])]
        outcome = played(arrived, alpha=alpha, retraction=retraction)
        check(arrived, outcome)
        assert (outcome.differing, outcome.duplicates) == (2, 1)
        assert sorted(str(loss.event.payload) for loss in outcome.lost) == ["a", "b"]
        assert {loss.reason for loss in outcome.lost} == {"differs"}
        outcomes.append(outcome.stands)
    assert all(one == other for one, other in pairwise(outcomes))


def test_identities_after_a_restart_do_not_depend_on_the_order_of_arrival():
    """The first packet heard after the restart has a counter that may belong to either epoch."""
    sent = [*packets(range(3), 0, 5 * MS), *packets(range(5), 15 * MS, 5 * MS, 1)]
    stands = []
    for seed in range(60):
        order = Random(seed).sample(sent, len(sent))
        arrived = [(100 * MS + n, p) for n, p in enumerate(order)]
        stands.append(played(arrived).stands)
        check(arrived, played(arrived, alpha=1.0))
    assert all(one == stands[0] for one in stands)
    assert [e.seq for e in stands[0]] == [0, 1, 2, *(EPOCH + n for n in range(5))]


# What must hold, and what cannot be decided.


def test_a_copy_that_arrives_after_its_packet_is_final_is_recorded_as_lost():
    sent = packets(range(100), 0, 100 * MS)
    arrived = [(p.ts_us, p) for p in sent] + [(9_950 * MS, sent[3])]
    outcome = played(arrived, allowed_lateness_us=S)
    check(arrived, outcome)
    assert [(loss.event.seq, loss.reason) for loss in outcome.lost] == [(3, "memory")]


def test_a_restart_that_nothing_shows_is_taken_as_a_gap():
    """Counters 0 to 2, a restart, and of the new epoch nothing below 3: nobody can know. All is taken."""
    arrived = [(p.ts_us, p) for p in (*packets(range(3), 0, 10 * MS), *packets(range(3, 6), 90 * MS, 10 * MS, 1))]
    outcome = played(arrived)
    check(arrived, outcome)
    assert [event.seq for event in outcome.stands] == [0, 1, 2, 3, 4, 5]


def test_a_packet_of_the_epoch_before_with_the_same_number_and_time_is_a_copy_that_differs():
    """The source restarted and its clock was set back, to the very time: one is lost, with a reason."""
    arrived = [(p.ts_us + 90 * MS, p) for p in (*packets(range(3), 0, 10 * MS), *packets(range(3), 0, 10 * MS, 1))]
    outcome = played(sorted(arrived))
    check(arrived, outcome)
    assert (len(outcome.stands), outcome.differing) == (3, 3)


def test_numbers_too_large_are_lost_with_a_reason():
    arrived = [(n, Sent("s", 0, counter, n, "x")) for n, counter in enumerate((0, EPOCH // 2, 2**53, 1))]
    assert verdicts(arrived) == [Verdict.NEW, Verdict.UNNUMBERED, Verdict.UNNUMBERED, Verdict.NEW]


def test_what_is_retained_of_a_source_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("middleware.sources.packet_record.RETAINED_MAX", 100)
    sent = packets(range(1_000), 0, MS)
    arrived = [*((p.ts_us, p) for p in sent), (S, sent[5]), (S, sent[990])]
    outcome = played(arrived)
    check(arrived, outcome)
    assert [(loss.event.seq, loss.reason) for loss in outcome.lost] == [(5, "number")]


def test_a_silent_source_forgets_its_content():
    progress = SourceProgress(("raw",), S, ProgressSettings(discovery_us=0))
    for number in range(200):
        now_us = number * 50 * MS
        for source in "st" if number < 50 else "s":
            progress.offer(as_arrival(Sent(source, 0, number, now_us, str(number))), now_us)
        progress.update_progress(now_us)
        if progress.advance_final(now_us):
            progress.forget(now_us)
    silent, live = progress.source_state("raw", "t"), progress.source_state("raw", "s")
    assert silent is not None
    assert live is not None
    assert len(silent.record) == 0
    assert len(live.record) <= 20 + 7 + 32, "a second, a tenth of it until final advances, and a round of forgetting"


# Sources with everything that happens to them.


def sent_by(rng: Random, source: str) -> list[Sent]:
    """The list of one source: it wraps, restarts, pauses, and now and then its clock steps."""
    size = rng.choice((8, 16, 256, 2**16, 2**32))
    counter, epoch, ts_us = rng.choice((0, size - 5, rng.randrange(size))) % size, 0, rng.randrange(100) * MS
    period_us = rng.choice((1, 5, 5, 10, 30)) * MS
    out = []
    for _ in range(rng.randrange(20, 60)):
        out.append(Sent(source, epoch, counter, ts_us, f"{source}{len(out)}"))
        ts_us += period_us + rng.choice((0, 0, 0, rng.randrange(MS)))
        counter += 1
        if counter == size or rng.random() < 0.04:
            counter, epoch = 0 if counter == size or rng.random() < 0.8 else rng.randrange(counter), epoch + 1
            ts_us += rng.choice((0, 0, 40)) * MS
        if rng.random() < 0.02:
            ts_us += rng.choice((-100, -17, -5, 60)) * MS
    return out


def received(rng: Random, sent: Sequence[Sent]) -> list[tuple[int, Sent]]:
    """Deliver it by receivers: late, in another order, several times, damaged, or not at all."""
    jitter_us, receivers = rng.choice((1, 8, 30, 150)) * MS, rng.choice((1, 1, 2, 3))
    loss, damage = rng.choice((0.0, 0.1, 0.5)), rng.choice((0.0, 0.0, 0.1))
    offset_us, out = 200 * MS, []
    for packet in sent:
        for receiver in range(receivers):
            if rng.random() < loss:
                continue
            damaged = f"{packet.content}!{rng.randrange(2)}" if rng.random() < damage else packet.content
            late_us = rng.randrange(jitter_us) + (rng.random() < 0.02) * rng.randrange(400 * MS) + receiver
            out.append((packet.ts_us + offset_us + late_us, packet._replace(content=damaged)))
    return sorted(out)


def judge(seed: int) -> None:
    """One stream, in two orders of arrival, with and without restarts of the engine."""
    rng = Random(seed)
    sent = [packet for source in "st"[: rng.choice((1, 2))] for packet in sent_by(rng, source)]
    arrived = received(rng, sent)
    ways = {"alpha": rng.choice((0.0, 0.5, 1.0)), "retraction": rng.choice(("on-demand", "full", "auto"))}
    outcome = played(arrived, 10 * S, **ways, stop_every=rng.choice((0, 17)), complete=rng.random() < 0.2)
    check(arrived, outcome)
    assert {loss.reason for loss in outcome.lost} <= {"differs"}, "within the allowed lateness all else is taken"
    order = rng.sample(arrived, len(arrived))
    again = [(now_us, packet) for (now_us, _), (_, packet) in zip(arrived, order, strict=True)]
    other = played(again, 10 * S)
    check(again, other)
    assert other.stands == outcome.stands, "what stands depends on the order of arrival"
    assert (other.differing, other.duplicates) == (outcome.differing, outcome.duplicates)
    arriving = [as_arrival(p).event for _, p in arrived]
    numbered = {(e.source, content_of(e)[1], e.ts_us): e.seq for e in outcome.stands}
    identified = [Event("raw", e.ts_us, e.source, numbered[e.source, e.seq, e.ts_us], e.payload) for e in arriving]
    assert published(HIERARCHY, identified) == outcome.stands, "the law"
    short = played(arrived, rng.choice((30, 100)) * MS, **ways)
    check(arrived, short)


@pytest.mark.parametrize("first", [0, 50, *(pytest.param(first, marks=pytest.mark.slow) for first in (100, 150))])
def test_each_packet_is_taken_lost_with_a_reason_or_a_proven_copy(first: int):
    for seed in range(first, first + 50):
        judge(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10_000, 500))
def test_each_packet_is_taken_lost_with_a_reason_or_a_proven_copy_ten_thousand_times(first: int):
    for seed in range(first, first + 500):
        judge(1_000 + seed)


@settings(max_examples=60, deadline=None)
@given(
    sent=st.lists(
        st.tuples(st.sampled_from("st"), st.integers(-2, 6), st.integers(0, 12), st.sampled_from("ab")), max_size=14
    ),
    data=st.data(),
)
def test_any_packets_in_any_order_lead_to_the_same(sent: list[tuple[str, int, int, str]], data: st.DataObject):
    def arrived(order: Sequence[tuple[str, int, int, str]]) -> list[tuple[int, Sent]]:
        return [
            (100 + n, Sent(source, 0, counter, ts, content)) for n, (source, counter, ts, content) in enumerate(order)
        ]

    one, other = arrived(sent), arrived(data.draw(st.permutations(sent)))
    outcomes = played(one), played(other, stop_every=3)
    check(one, outcomes[0])
    check(other, outcomes[1])
    assert outcomes[0].stands == outcomes[1].stands
