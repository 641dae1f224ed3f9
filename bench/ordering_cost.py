"""What does ordering cost: microseconds per event and unit, events a second, bytes per buffered event?

The same disordered stream goes, in one run, through a plain heap buffer (``heapq``, K-slack, no repair, no
speculation), through one ordering unit, through an engine with one detector, and through engines with a chain of 15.
All feed the same detector: it counts and passes each event on. The ratios are ours over the heap's. The detector's own
share is measured too: the stream, sorted, folded with no buffer at all.

Delays are uniform in 0..``--delay-ms``, an event comes each millisecond, pushes are slots of ``--slot-ms``. K is set to
the greatest delay, so heap and unit wait equally long at alpha 1. At alpha 0 every late event makes the unit redo.

    python -m bench.ordering_cost [--events 50000] [--delay-ms 100] [--slot-ms 10] [--repeats 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import gc
import heapq
import json
import time
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from typing import NamedTuple

from middleware.detector import Spec, Step
from middleware.engine import Engine
from middleware.events import Arrival, Event, Key, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.ordering.unit import OrderingUnit

CHAIN = 15
EVERY_US = 1_000
SOURCES = 8

#: Event time below which nothing can be, so that no unit releases by the sources' word.
_NEVER_US = -(2**62)


class Push(NamedTuple):
    """The arrivals of one slot."""

    now_us: int
    arrivals: list[Arrival]


class PassOn:
    """Counts its inputs and passes them on: the least that a detector with a state does."""

    def __init__(self, level: int, kind: str, gives: str) -> None:
        self.spec = Spec(f"pass_on_{level}", f"{level}.1", level, (kind,), (gives,), source="bench")
        self._gives = gives

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        """Emit one event for each input; the state changes, so a late input changes all states behind it."""
        return state + 1, (Event(self._gives, event.ts_us, event.source, event.seq),)


class Mirror(PassOn):
    """The same without a state: on-demand retraction stops right behind the late event."""

    def step(self, state: int, event: Event) -> Step[int]:
        return state, (Event(self._gives, event.ts_us, event.source, event.seq),)


def stream(events: int, delay_us: int, slot_us: int, seed: int = 1) -> list[Push]:
    """Events of some sources in turn, delayed at random, in slots of arrival time."""
    rng = Random(seed)
    arrived = []
    for number in range(events):
        ts_us = number * EVERY_US
        event = Event("k0", ts_us, f"s{number % SOURCES}", number // SOURCES)
        arrived.append((ts_us + rng.randint(0, delay_us), number, Arrival(event, ts_us)))
    arrived.sort(key=lambda row: row[:2])
    return [
        Push(max(row[0] for row in rows), [row[2] for row in rows])
        for rows in (list(group) for _, group in groupby(arrived, key=lambda row: row[0] // slot_us))
    ]


def late_share(pushes: Sequence[Push]) -> float:
    """Share of events that come after one with a greater time."""
    newest_us, late, count = _NEVER_US, 0, 0
    for push in pushes:
        for arrival in push.arrivals:
            late += arrival.event.ts_us < newest_us
            newest_us = max(newest_us, arrival.event.ts_us)
            count += 1
    return late / count


def by_fold(pushes: Sequence[Push], detector: PassOn) -> int:
    """Run the detector alone, without a buffer, in order."""
    events = sorted((a.event for push in pushes for a in push.arrivals), key=lambda e: e.ts_us)
    begin = time.process_time_ns()
    state = detector.initial()
    for event in events:
        state, _ = detector.step(state, event)
    return time.process_time_ns() - begin


def by_heap(pushes: Sequence[Push], detector: PassOn, k_us: int) -> int:
    """K-slack with a heap: release when ``ts + K <= clk``. What comes too late is processed out of order."""
    rank = {"k0": 0}
    heap: list[tuple[Key, Event]] = []
    clk_us, state = _NEVER_US, detector.initial()
    begin = time.process_time_ns()
    for push in pushes:
        for arrival in push.arrivals:
            event = arrival.event
            heapq.heappush(heap, (canonical_key(event, rank), event))
            if event.ts_us > clk_us:
                clk_us = event.ts_us
        while heap and heap[0][1].ts_us + k_us <= clk_us:
            state, _ = detector.step(state, heapq.heappop(heap)[1])
    while heap:
        state, _ = detector.step(state, heapq.heappop(heap)[1])
    return time.process_time_ns() - begin


def by_unit(pushes: Sequence[Push], detector: PassOn, settings: UnitSettings, keep_us: int) -> int:
    """Run one ordering unit, purged as an engine would; nothing is known of the sources."""
    rank = {"k0": 0}
    unit = OrderingUnit(detector, settings)
    clk_us = _NEVER_US
    begin = time.process_time_ns()
    for number, push in enumerate(pushes):
        for arrival in push.arrivals:
            event = arrival.event
            unit.offer(Update(event, 1), canonical_key(event, rank))
            if event.ts_us > clk_us:
                clk_us = event.ts_us
        unit.process((), clk_us, _NEVER_US, push.now_us)
        if number % 30 == 0:
            unit.purge(clk_us - keep_us)
    unit.process((), clk_us, clk_us, clk_us)
    return time.process_time_ns() - begin


def by_engine(pushes: Sequence[Push], levels: int, make: type[PassOn], settings: EngineSettings) -> int:
    """A chain of detectors in an engine."""
    chain = [make(n, f"k{n - 1}", f"k{n}") for n in range(1, levels + 1)]
    engine = Engine(Hierarchy(("k0",), chain), settings)
    begin = time.process_time_ns()
    for push in pushes:
        engine.push(push.arrivals, push.now_us)
    engine.finish()
    return time.process_time_ns() - begin


def bytes_per_event(pushes: Sequence[Push]) -> dict[str, float]:
    """Memory of buffers that hold all events, the events themselves aside."""
    rank = {"k0": 0}
    arrivals = [arrival for push in pushes for arrival in push.arrivals]

    def heap() -> object:
        held: list[tuple[Key, Event]] = []
        for arrival in arrivals:
            heapq.heappush(held, (canonical_key(arrival.event, rank), arrival.event))
        return held

    def unit(alpha: float) -> object:
        made = OrderingUnit(PassOn(2, "k0", "k1"), UnitSettings(FixedAlpha(alpha), slack=SlackSettings("fixed", 2**60)))
        for arrival in arrivals:
            made.offer(Update(arrival.event, 1), canonical_key(arrival.event, rank))
        made.process((), max(arrival.event.ts_us for arrival in arrivals), _NEVER_US, 0)
        assert (made.waiting, made.held) == ((0, len(arrivals)) if alpha == 0.0 else (len(arrivals), 0))
        return made

    return {
        "heap": _bytes(heap) / len(arrivals),
        "unit, waiting": _bytes(lambda: unit(1.0)) / len(arrivals),
        "unit, held for repair with its output": _bytes(lambda: unit(0.0)) / len(arrivals),
    }


def _bytes(make: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    held = make()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held is not None
    return size


def measure(events: int, delay_us: int, slot_us: int, repeats: int) -> dict[str, object]:
    """All rows over one stream, each the best of ``repeats``, taken in turn so that noise of the machine hits all."""
    pushes = stream(events, delay_us, slot_us)
    keep_us = 3_000_000
    # Whoever comes in the same slot is seen with its clock, so the greatest delay against clk is a slot more.
    k_us = delay_us + slot_us

    def unit(alpha: float) -> UnitSettings:
        return UnitSettings(FixedAlpha(alpha), slack=SlackSettings("fixed", k_us))

    def engine(alpha: float) -> EngineSettings:
        return EngineSettings(unit(alpha), allowed_lateness_us=keep_us)

    rows: dict[str, tuple[int, Callable[[], int]]] = {
        "detector alone": (1, lambda: by_fold(pushes, PassOn(2, "k0", "k1"))),
        "heap": (1, lambda: by_heap(pushes, PassOn(2, "k0", "k1"), k_us)),
        "unit, alpha 1": (1, lambda: by_unit(pushes, PassOn(2, "k0", "k1"), unit(1.0), keep_us)),
        "unit, alpha 0, no state": (1, lambda: by_unit(pushes, Mirror(2, "k0", "k1"), unit(0.0), keep_us)),
        "unit, alpha 0, all differs": (1, lambda: by_unit(pushes, PassOn(2, "k0", "k1"), unit(0.0), keep_us)),
        "engine of 1, alpha 1": (1, lambda: by_engine(pushes, 1, PassOn, engine(1.0))),
        "engine of 1, alpha 0, no state": (1, lambda: by_engine(pushes, 1, Mirror, engine(0.0))),
        "engine of 15, alpha 1": (CHAIN, lambda: by_engine(pushes, CHAIN, PassOn, engine(1.0))),
        "engine of 15, alpha 0, no state": (CHAIN, lambda: by_engine(pushes, CHAIN, Mirror, engine(0.0))),
    }
    best: dict[str, int] = {}
    for _ in range(repeats):
        for name, (_, run) in rows.items():
            best[name] = min(best.get(name, 2**62), run())
    heap_us = best["heap"] / 1000 / events
    figures = {
        name: {
            "us_per_event_and_unit": round(best[name] / 1000 / events / units, 2),
            "events_per_s": round(events / (best[name] / 1e9)),
            "ratio_to_heap": round(best[name] / 1000 / events / units / heap_us, 2),
        }
        for name, (units, _) in rows.items()
    }
    return {
        "events": events,
        "delay_ms": delay_us / 1000,
        "slot_ms": slot_us / 1000,
        "late_share": round(late_share(pushes), 3),
        "cost": figures,
        "bytes_per_buffered_event": {k: round(v) for k, v in bytes_per_event(pushes).items()},
    }


def main() -> None:
    """Prints the table; writes it with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--delay-ms", type=float, default=100.0)
    parser.add_argument("--slot-ms", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    result = measure(chosen.events, round(chosen.delay_ms * 1000), round(chosen.slot_ms * 1000), chosen.repeats)
    print(f"{result['events']} events, {result['late_share']:.1%} late, delays up to {result['delay_ms']} ms")
    print(f"{'':36}{'us/event/unit':>14}{'events/s':>12}{'x heap':>8}")
    for name, row in result["cost"].items():  # type: ignore[attr-defined]
        print(f"{name:36}{row['us_per_event_and_unit']:>14}{row['events_per_s']:>12,}{row['ratio_to_heap']:>8}")
    print("bytes per buffered event:", result["bytes_per_buffered_event"])
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
