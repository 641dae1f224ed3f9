"""Disordered streams of the toys' raw kinds, pushes made of them, and an engine run over them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from hypothesis import strategies as st

from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings
from tests.middleware.toys import arrival, raw

#: (arrival time, arrival), sorted by arrival time.
Stream = list[tuple[int, Arrival]]


@st.composite
def streams(draw: st.DrawFn, delay_us: int = 120, kinds: str = "ABCC", most: int = 25) -> Stream:
    """Three sources of each kind with delays up to ``delay_us``; now and then a packet is duplicated or lost."""
    out: Stream = []
    counts: dict[str, int] = {}
    for name in ("p", "q", "r"):
        steps = draw(st.lists(st.integers(1, 12), min_size=1, max_size=most))
        for ts_us in itertools.accumulate(steps):
            kind = draw(st.sampled_from(list(kinds)))
            source = f"{kind}{name}"
            seq = counts[source] = counts.get(source, -1) + 1
            if draw(st.integers(0, 19)) == 0:
                continue
            one = arrival(raw(kind, ts_us, source, seq))
            for _ in range(1 if draw(st.integers(0, 9)) else 2):
                out.append((ts_us + draw(st.integers(0, delay_us)), one))
    return sorted(out, key=lambda pair: pair[0])


def pushes(stream: Stream) -> list[tuple[int, list[Arrival]]]:
    """One push for each arrival time."""
    return [(now, [a for _, a in group]) for now, group in itertools.groupby(stream, key=lambda pair: pair[0])]


def run(
    hierarchy: Callable[[], Hierarchy],
    stream: Stream,
    settings: EngineSettings,
    *,
    restart_every: int = 0,
    between: Callable[[Engine, int], None] = lambda engine, push: None,
    watch: Iterable[str] = (),
) -> tuple[list[Update], Engine]:
    """Push a stream to its end.

    Args:
        hierarchy: makes the detectors.
        stream: what to push.
        settings: of the engine.
        restart_every: goes on in a fresh engine from a snapshot after so many pushes; 0 never.
        between: called before each push with the engine and the number of the push.
        watch: internal kinds whose updates are returned too.
    """
    engine = Engine(hierarchy(), settings, watch)
    updates: list[Update] = []
    for n, (now_us, arrivals) in enumerate(pushes(stream)):
        between(engine, n)
        outcome = engine.push(arrivals, now_us)
        updates += outcome.updates + outcome.watched
        if restart_every and n % restart_every == restart_every - 1:
            snapshot = engine.snapshot()
            engine = Engine(hierarchy(), settings, watch)
            engine.restore(snapshot)
    outcome = engine.finish()
    return updates + outcome.updates + outcome.watched, engine


def standing(updates: Sequence[Update], hierarchy: Hierarchy) -> list[Event]:
    """Return the events that stand after all updates, in canonical order."""
    return sorted(consolidate(updates).values(), key=lambda event: canonical_key(event, hierarchy.rank))


def expected(hierarchy: Hierarchy, stream: Stream, engine: Engine) -> list[Event]:
    """Return the events that must stand: the sorted replay of the inputs that were not lost."""
    lost = {(loss.event.source, loss.event.seq) for loss in engine.take_lost()}
    return published(hierarchy, [a.event for _, a in stream if (a.event.source, a.event.seq) not in lost])
