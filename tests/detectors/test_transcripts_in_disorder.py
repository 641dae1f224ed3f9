"""The transcripts through the middleware in process: disordered, doubled and speculated upon, they say the same.

On the way every event's margins are looked at: a comparison that is told to have held must have.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from detectors.margins import UNDECIDED, Evidence, Margin, margins
from football.packets import UNPACED_KINDS
from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event, canonical_key
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.provenance import Conclusion, ConclusionLog
from middleware.sources.progress import ProgressSettings
from tests.detectors.plays import CASES, QUALITIES, Story, arrival_us, rows, story

#: Of radio; the ball's packets come sooner, so that players are late for it.
DELAY_MOST_US, BALL_DELAY_MOST_US, SLOT_US = 120_000, 5_000, 10_000
DOUBLED_SHARE = 0.02
WAYS = ("on-demand", "full", "auto")


def in_disorder(transcript: Story, seed: int) -> Iterator[tuple[int, list[Arrival]]]:
    """Slots of arrival time with the arrivals of each. A framed input and officials are not delayed."""
    rng = random.Random(seed)
    arrived: list[tuple[int, int, Arrival]] = []
    for number, one in enumerate(transcript.arrivals):
        if one.event.kind in ("raw.official", "raw.frame"):
            now_us = one.until_us if one.event.kind == "raw.frame" else arrival_us(one, transcript)
            arrived.append((now_us, number, one))
            continue
        most_us = BALL_DELAY_MOST_US if one.event.kind == "raw.ball" else DELAY_MOST_US
        for _ in range(1 + (rng.random() < DOUBLED_SHARE)):
            arrived.append((one.until_us + rng.randint(0, most_us), number, one))
    arrived.sort(key=lambda row: row[:2])
    for slot, together in groupby(arrived, key=lambda row: row[0] // SLOT_US):
        yield (slot + 1) * SLOT_US, [row[2] for row in together]


def played(transcript: Story, seed: int, log: ConclusionLog) -> list[Event]:
    """Events that stand when the engine has finished."""
    progress = ProgressSettings(unpaced_kinds=UNPACED_KINDS)
    settings = EngineSettings(
        UnitSettings(FixedAlpha(0.0), WAYS[seed % 3]), allowed_lateness_us=1_000_000, progress=progress
    )  # fmt: skip
    engine = Engine(transcript.hierarchy, settings, make_unit=log.unit)
    updates = []
    for now_us, slot in in_disorder(transcript, seed):
        updates += engine.push(slot, now_us).updates
    updates += engine.finish().updates
    assert not engine.take_lost()
    assert engine.health().failed == {}
    return sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, transcript.hierarchy.rank))


#: Slack of values that are computed anew from rounded ones.
ROUNDING = 0.006


#: The margins of each version of each event, under the event's name.
Found = list[tuple[str, tuple[Margin, ...]]]


def wrong_margins(found: Found) -> list[str]:
    """Margins of recorded events that would not have let them through."""
    return [f"{name}: {m}" for name, ms in found for m in ms if m.margin < -ROUNDING]


#: Kinds of which an event may be concluded without a threshold: by officials, by any contact, or as the first one.
THRESHOLD_FREE = frozenset((
    "phase.dead", "phase.live", "play.dead", "play.live", "period.start", "period.end", "sub.in", "sub.out",
    "sendoff.suspected", "goal.scored", "goal.own", "duel.end", "tackle.won", "carry.end", "direction",
    "team.possession", "nearest.changed", "offside.line", "pass.height", "lines.changed", "chain.end",
    "stat.setplay", "hull.step", "stretch.step", "mbr.step", "shootout.kick",
    "press.team.end", "voronoi.share", "das.step", "value.vaep", "win.chance", "clip.open", "clip.close", "phase.in",
    "phase.out",
))  # fmt: skip


def without_margins(log: ConclusionLog, found: Found) -> set[str]:
    """Published kinds of which no event has a margin, though a threshold decides them."""
    kinds = {c.event.kind for versions in log.conclusions.values() for c in versions if c.event.id}
    decided = {name.partition("#")[0] for name, ms in found if ms}
    return {kind for kind in kinds - decided - {*UNDECIDED} - THRESHOLD_FREE if not kind.startswith("official.")}


def found_margins(log: ConclusionLog) -> Found:
    """The margins of each version of each event."""

    def evidence(c: Conclusion) -> Evidence:
        return Evidence(c.event, c.trigger, c.before, c.detector, origin=origin)

    def origin(name: str) -> Evidence | None:
        return evidence(log.conclusions[name][-1]) if name in log.conclusions else None

    return [(name, margins(evidence(c))) for name, versions in log.conclusions.items() for c in versions]


def cases() -> Iterator[Any]:
    """Every twentieth on optical input, one in sixty on radio; the others are slow, to keep the rest short."""
    for number, case in enumerate(CASES):
        for quality in case["inputs"]:
            slow = number % 60 != 30 if QUALITIES[quality].limbs else number % 20
            yield pytest.param(case, quality, id=f"{case['name']} ({quality})", marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(("case", "quality"), list(cases()))
def test_a_transcript_in_disorder_says_what_the_sorted_one_does(case: dict[str, Any], quality: str) -> None:
    transcript = story(case, quality)
    dense = transcript.hierarchy.internal & {*case["look_at"]}
    log = ConclusionLog(lambda event: bool(event.id) or event.kind in dense)
    found = played(transcript, len(case["name"]), log)
    assert found == published(transcript.hierarchy, [one.event for one in transcript.arrivals])
    # Of what has versions the last one is published; the rows of a transcript are all of them.
    whole = {*case["look_at"]} - transcript.hierarchy.amendable
    seen = [*found, *(step.event for steps in log.conclusions.values() for step in steps if step.event.kind in dense)]
    assert rows(seen, *whole) == sorted(tuple(row) for row in case["expect"] if row[0] in whole)
    every_margin = found_margins(log)
    assert wrong_margins(every_margin) == []
    assert without_margins(log, every_margin) == set()
