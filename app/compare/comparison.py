"""Compares the actions of a match store with the event data of another provider."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from app.compare.alignment import Row, align
from app.compare.third_party import KINDS, OtherAction, read_other
from app.export.actions import Action, read_match
from replay.comparisons import Comparison, Disagreement, KindFigures

#: A pair disagrees about time or place beyond these.
TIME_S, PLACE_M = 2.0, 8.0


def compare(store: Path, provider: str, paths: Sequence[Path]) -> Comparison:
    """Compare a match store with the files of a provider.

    Raises:
        TrackingError: the files cannot be read.
        StoreError, ExportError: the store cannot.
    """
    match = read_match(store)
    sheet = match.events.sheet
    ours = [one for one in match.actions if one.kind in KINDS.values()]
    theirs = read_other(provider, paths, sheet)
    shifts, paired, agreeing, rows = {}, Counter[str](), 0, list[Disagreement]()
    for period in sorted({one.period for one in ours} | {one.period for one in theirs}):
        mine = sorted((one for one in ours if one.period == period), key=lambda one: one.period_s)
        yours = [one for one in theirs if one.period == period]
        aligned = align([_our_row(one) for one in mine], [_their_row(one) for one in yours])
        shifts[period] = round(aligned.shift_s, 2)
        for i, j in aligned.pairs:
            found = _pair(mine[i], yours[j], aligned.shift_s)
            paired[mine[i].kind] += 1
            agreeing += not found.about
            rows += [found] if found.about else []
        left = set(range(len(mine))) - {i for i, _ in aligned.pairs}
        rows += [_ours_only(mine[i]) for i in left]
        right = set(range(len(yours))) - {j for _, j in aligned.pairs}
        begin_us = mine[0].ts_us - round(1e6 * mine[0].period_s) if mine else 0
        rows += [_theirs_only(yours[j], begin_us, aligned.shift_s) for j in right]
    counts = Counter(one.kind for one in ours), Counter(one.kind for one in theirs)
    kinds = {
        k: KindFigures(counts[0][k], counts[1][k], paired[k]) for k in KINDS.values() if counts[0][k] + counts[1][k]
    }
    rows.sort(key=lambda one: (one.period, one.event_us, one.kind, one.ours, one.theirs))
    return Comparison(provider, shifts, kinds, agreeing, rows)


def _our_row(one: Action) -> Row:
    x_m, y_m = (one.attacks_x * value for value in one.start)
    return Row(one.period_s, f"{one.kind} {one.team}", one.player, x_m, y_m)


def _their_row(one: OtherAction) -> Row:
    x_m, y_m = (math.nan if value is None else value for value in (one.x_m, one.y_m))
    return Row(one.period_s, f"{one.kind} {one.team}", one.player, x_m, y_m)


def _pair(ours: Action, theirs: OtherAction, shift_s: float) -> Disagreement:
    seconds = theirs.period_s - ours.period_s - shift_s
    row = _our_row(ours)
    metres = None
    if theirs.x_m is not None and theirs.y_m is not None:
        metres = round(math.hypot(theirs.x_m - row.x_m, theirs.y_m - row.y_m), 2)
    about = []
    if abs(seconds) > TIME_S:
        about.append("time")
    if theirs.player and theirs.player != ours.player:
        about.append("player")
    if metres is not None and metres > PLACE_M:
        about.append("place")
    if theirs.is_good is not None and theirs.is_good != (ours.outcome in _GOOD):
        about.append("outcome")
    return Disagreement(
        tuple(about), ours.kind, ours.period, ours.ts_us, ours.id, theirs.id, ours.player, theirs.name,
        round(seconds, 2), metres,
    )  # fmt: skip


_GOOD: Final = ("complete", "goal")


def _ours_only(one: Action) -> Disagreement:
    return Disagreement(("ours only",), one.kind, one.period, one.ts_us, one.id, "", one.player, "")


def _theirs_only(one: OtherAction, begin_us: int, shift_s: float) -> Disagreement:
    at_us = begin_us + round(1e6 * (one.period_s - shift_s))
    return Disagreement(("theirs only",), one.kind, one.period, at_us, "", one.id, "", one.name)
