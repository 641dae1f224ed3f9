"""Events of a scene through the real engine, out of order and over a restart: what the law is tested with."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import msgspec

from football.match_sheet import MatchSheet
from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.progress import ProgressSettings
from tests.detectors.scene import conclusive


def stands_in_disorder(
    scene: Sequence[Event], sheet: MatchSheet, seed: int
) -> tuple[list[Event], list[Event], list[Update]]:
    """The events that stand after all updates, those that must stand by the law, and the updates.

    Args:
        scene: events for :func:`tests.detectors.scene.conclusive`, up to 0.4 s late.
        sheet: of the match.
        seed: decides the order of arrival, and the push before which the engine's state is restored.
    """
    events = _numbered(scene)
    hierarchy, rng = conclusive(sheet), random.Random(seed)
    arrivals = sorted((e.ts_us + rng.randrange(400_000), n) for n, e in enumerate(events))
    settings = EngineSettings(
        UnitSettings(FixedAlpha(0.0), ("on-demand", "full")[seed % 2]),
        progress=ProgressSettings(unpaced_kinds=frozenset(hierarchy.raw_kinds)),
    )
    engine, restored, updates = Engine(hierarchy, settings), rng.randrange(len(arrivals)), list[Update]()
    for count, (now_us, n) in enumerate(arrivals):
        if count == restored:
            state, engine = engine.snapshot(), Engine(hierarchy, settings)
            engine.restore(state)
        updates += engine.push([Arrival(events[n], events[n].ts_us)], now_us).updates
    updates += engine.finish().updates
    stands = sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, hierarchy.rank))
    return stands, published(hierarchy, events), updates


def _numbered(events: Sequence[Event]) -> list[Event]:
    """The events by time, each kind from a source of its own that counts them."""
    counts: Counter[str] = Counter()
    rows = []
    for event in sorted(events, key=lambda e: e.ts_us):
        rows.append(msgspec.structs.replace(event, source=event.kind, seq=counts[event.kind]))
        counts[event.kind] += 1
    return rows
