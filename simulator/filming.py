"""Play a seeded match for cameras: its noiseless frames and its truth, which tracking profiles then spoil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from football.match_sheet import Quality
from simulator.play.match import Match
from simulator.play.match_sheet import sheet_of
from simulator.simulate import Simulation, match_of
from simulator.tracking.true_frames import TICK_HZ, FrameSampler, TrueFrames
from simulator.truth.match_truth import Truth

#: No match goes on for longer.
_FOREVER_S = 1e9


@dataclass(frozen=True, eq=False)
class Film:
    """A played match.

    Attributes:
        match: as it stood at the end.
        frames: noiseless, at every tick.
        truth, truth_frames: the tables of :class:`simulator.truth.match_truth.Truth`.
        seconds: its length.
    """

    match: Match
    frames: TrueFrames
    truth: pa.Table
    truth_frames: pa.Table
    seconds: float


def film(settings: Simulation, after: Callable[[float], None] | None = None) -> Film:
    """Play and film a match.

    Args:
        settings: of the match; those of tags do not count, except that ``tags="playing"`` plays without spare balls.
        after: called with the end of every interval, in seconds.
    """
    match = match_of(settings)
    sheet = sheet_of(match.settings, match.squads, Quality(TICK_HZ, TICK_HZ, (), True, 0.0, "optical"))
    truth, sampler = Truth(sheet, match), FrameSampler(sheet)
    end_s = 0.0
    for interval in match.intervals(settings.duration_s or _FOREVER_S):
        truth.take(interval)
        sampler.take(interval, match.on_pitch)
        end_s = interval.end_s
        if after is not None:
            after(end_s)
    table, frames = truth.finish()
    return Film(match, sampler.finish(frames), table, frames, end_s)
