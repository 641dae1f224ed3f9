"""Figures of a match: per kind counts, precision, recall, F1, time error, confusion; per frame agreement with truth.

Kinds and variants that truth does not cover are not judged. A detected event of a covered one that pairs with no truth
is a false positive. A missed truth may have been *mistaken for* something: an unpaired detection of the same family
within the window, of another kind by the same player, or of the same kind by another player or team.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from football.packet_table import Ints
from football.update_stream import EventRecord
from replay.scoring.frames import FrameScore, score_frames
from replay.scoring.matching import Pairs, assign, within
from replay.scoring.payloads import ValueScore, is_right, place_error_m, value_scores, variant_right
from replay.scoring.rates import LeagueRate, league_rates
from replay.scoring.rules import EITHER, family_of
from replay.scoring.truth import Mark, Truth

#: What a missed truth was taken for if no find can stand for it.
NOTHING_FOUND = "nothing"

Bools = npt.NDArray[np.bool_]
Names = npt.NDArray[np.object_]


class TimeError(msgspec.Struct, frozen=True):
    """Time error of pairs in milliseconds: median and 95th percentile of the size, and the signed median."""

    median: float
    p95: float
    bias: float


class KindScore(msgspec.Struct, frozen=True):
    """Figures of one kind.

    ``precision`` is None where nothing was detected, ``recall`` where there is no truth, ``time_error_ms`` without
    a pair. ``confusion`` counts what missed truths were mistaken for. Of the pairs, ``variants`` counts
    ``true > found`` where both have one and they differ, and ``other_player`` those whose players differ.
    ``variant_right`` is the share of pairs with the right variant, ``place_m`` the distance between the places of
    pairs, ``values`` the agreement of their payloads. ``strict_f1`` counts a pair with a wrong variant, place or value
    (:func:`replay.scoring.payloads.is_right`) as missed and invented.
    """

    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float
    time_error_ms: TimeError | None
    confusion: Mapping[str, int]
    variants: Mapping[str, int]
    other_player: int
    window_ms: float
    variant_right: float | None = None
    strict_f1: float = 0.0
    place_m: ValueScore | None = None
    values: Mapping[str, ValueScore] = {}


#: Figures of a match of 90 minutes are not extrapolated from less than this; the intervals of a short one are wide.
RATES_LEAST_US = 60_000_000


class Score(msgspec.Struct, frozen=True):
    """All figures of a match.

    ``kinds``: by kind. ``frames``: by question about frames. ``unjudged``: counts of detections that truth does
    not cover. ``rates``: figures that leagues publish, if the match was long enough, and it is known how long.
    """

    truth: str
    kinds: Mapping[str, KindScore]
    frames: Mapping[str, FrameScore]
    unjudged: Mapping[str, int]
    rates: tuple[LeagueRate, ...] = ()


class Judged(NamedTuple):
    """The marks of one kind on both sides, in order of time, and their pairs (indexes of truths, of detections)."""

    kind: str
    truths: Sequence[Mark]
    finds: Sequence[Mark]
    pairs: Pairs

    @property
    def missed(self) -> list[Mark]:
        """Truths without a detection."""
        return _left_over(self.truths, self.pairs[0])

    @property
    def surplus(self) -> list[Mark]:
        """Detections without a truth."""
        return _left_over(self.finds, self.pairs[1])


def score(truth: Truth, found: Iterable[EventRecord]) -> Score:
    """Score detections against a truth; the order of neither matters."""
    records = list(found)
    judged = judge(truth, records)
    taken = _taken_for(truth, judged)
    kinds = {j.kind: _figures(truth, j, taken[j.kind]) for j in judged if j.truths or j.finds}
    unjudged = Counter(record.kind for record in records if not truth.covers(record))
    frames = {} if truth.flags is None else score_frames(truth.flags, records, truth.marks)
    span_us = truth.span_us
    rates: tuple[LeagueRate, ...] = ()
    if span_us is not None and span_us[1] - span_us[0] >= RATES_LEAST_US:
        rates = league_rates(records, truth.marks, truth.kinds, span_us)
    return Score(truth.name, kinds, frames, dict(sorted(unjudged.items())), rates)


def judge(truth: Truth, found: Iterable[EventRecord]) -> list[Judged]:
    """Pair truths and detections, kind by kind."""
    truths: dict[str, list[Mark]] = {kind: [] for kind in sorted(truth.kinds)}
    finds: dict[str, list[Mark]] = {kind: [] for kind in truths}
    for mark in sorted(truth.marks, key=_order):
        truths[mark.kind].append(mark)
    for mark in sorted(map(truth.find, filter(truth.covers, found)), key=_order):
        finds[mark.kind].append(mark)
    return [_judged(truth, kind, truths[kind], finds[kind]) for kind in truths]


def _judged(truth: Truth, kind: str, truths: Sequence[Mark], finds: Sequence[Mark]) -> Judged:
    """Return pairs of one kind, without unpaired marks whose window was played in part only."""
    rows, cols = _paired(truth, kind, truths, finds)
    of_truths, true_at = _asked(truth, truths, rows)
    of_finds, found_at = _asked(truth, finds, cols)
    return Judged(kind, of_truths, of_finds, (true_at[rows], found_at[cols]))


def _asked(truth: Truth, marks: Sequence[Mark], paired: Ints) -> tuple[list[Mark], Ints]:
    """Return the marks that count, and each mark's index among them."""
    counts = np.array([truth.is_whole(mark) for mark in marks], np.bool_)
    counts[paired] = True
    return [mark for mark, one in zip(marks, counts, strict=True) if one], np.cumsum(counts, dtype=np.int64) - 1


def _paired(truth: Truth, kind: str, truths: Sequence[Mark], finds: Sequence[Mark]) -> Pairs:
    rule = truth.rule(kind)
    true_us, found_us = _times(truths), _times(finds)
    rows, cols = within(true_us, found_us, rule.window_us)
    agree = _agree(truths, finds, (rows, cols), by_player=rule.by_player)
    if kind in EITHER:
        agree |= _names(truths, "player")[rows] == _others(finds)[cols]
    if rule.by_variant:
        agree &= _same_variant(truths, finds, (rows, cols))
    rows, cols = rows[agree], cols[agree]
    return assign((rows, cols), np.abs(true_us[rows] - found_us[cols]), len(truths), len(finds))


def _agree(truths: Sequence[Mark], finds: Sequence[Mark], pairs: Pairs, *, by_player: bool) -> Bools:
    """For each pair return whether the actor may be the same.

    The player decides if truth names one and the kind asks for it, else the team.
    """
    rows, cols = pairs
    team, player = _names(truths, "team")[rows], _names(truths, "player")[rows]
    same_team = (team == "") | (team == _names(finds, "team")[cols])
    if not by_player:
        return same_team
    return np.where(player == "", same_team, player == _names(finds, "player")[cols]).astype(bool)


def _same_variant(truths: Sequence[Mark], finds: Sequence[Mark], pairs: Pairs) -> Bools:
    """For each pair return whether player and variant agree; centroids name no limb."""
    rows, cols = pairs
    true, found = _names(truths, "variant")[rows], _names(finds, "variant")[cols]
    one = _names(truths, "player")[rows] == _names(finds, "player")[cols]
    return one & ((true == found) | (true == "") | (found == ""))


def _taken_for(truth: Truth, judged: Sequence[Judged]) -> dict[str, Counter[str]]:
    """By kind, return what the missed truths were mistaken for. One to one, within families."""
    missed: dict[str, list[Mark]] = defaultdict(list)
    surplus: dict[str, list[Mark]] = defaultdict(list)
    for j in judged:
        missed[family_of(j.kind)] += j.missed
        surplus[family_of(j.kind)] += j.surplus
    taken: dict[str, Counter[str]] = {j.kind: Counter() for j in judged}
    for family, marks in missed.items():
        for mark, label in _labels(truth, marks, surplus[family]):
            taken[mark.kind][label] += 1
    return taken


def _labels(truth: Truth, missed: Sequence[Mark], surplus: Sequence[Mark]) -> Iterable[tuple[Mark, str]]:
    """Return each missed truth with what it was mistaken for."""
    windows_us = np.array([truth.rule(mark.kind).window_us for mark in missed], np.int64)
    true_us, found_us = _times(missed), _times(surplus)
    rows, cols = within(true_us, found_us, int(windows_us.max(initial=0)))
    apart_us = np.abs(true_us[rows] - found_us[cols])
    same_kind = _names(missed, "kind")[rows] == _names(surplus, "kind")[cols]
    agree = _agree(missed, surplus, (rows, cols), by_player=True)
    may = (apart_us <= windows_us[rows]) & (same_kind ^ agree)
    pairs = assign((rows[may], cols[may]), apart_us[may], len(missed), len(surplus))
    taken = dict(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True))
    for i, mark in enumerate(missed):
        yield mark, _label(mark, surplus[taken[i]]) if i in taken else NOTHING_FOUND


def _label(mark: Mark, found: Mark) -> str:
    if found.kind != mark.kind:
        return found.kind
    return f"{found.kind} (other {'team' if found.team != mark.team else 'player'})"


def _figures(truth: Truth, judged: Judged, confusion: Counter[str]) -> KindScore:
    tp = len(judged.pairs[0])
    fp, fn = len(judged.finds) - tp, len(judged.truths) - tp
    pairs = [(judged.truths[i], judged.finds[j]) for i, j in zip(*map(Ints.tolist, judged.pairs), strict=True)]
    variants = Counter(f"{t.variant} > {f.variant}" for t, f in pairs if t.variant and f.variant not in ("", t.variant))
    strict = sum(is_right(judged.kind, true, found) for true, found in pairs)
    return KindScore(
        tp,
        fp,
        fn,
        tp / (tp + fp) if tp + fp else None,
        tp / (tp + fn) if tp + fn else None,
        2 * tp / (2 * tp + fp + fn),
        _time_error(np.array([f.ts_us - t.ts_us for t, f in pairs], np.float64) / 1e3),
        dict(sorted(confusion.items())),
        dict(sorted(variants.items())),
        sum(bool(t.player) and t.player != f.player for t, f in pairs),
        truth.rule(judged.kind).window_us / 1e3,
        variant_right(pairs),
        2 * strict / (2 * tp + fp + fn),
        place_error_m(pairs),
        value_scores(judged.kind, pairs),
    )


def _time_error(errors_ms: npt.NDArray[np.float64]) -> TimeError | None:
    if not len(errors_ms):
        return None
    size = np.abs(errors_ms)
    return TimeError(*(round(float(v), 3) for v in (np.median(size), np.percentile(size, 95), np.median(errors_ms))))


def _left_over(marks: Sequence[Mark], paired: Ints) -> list[Mark]:
    used = set(paired.tolist())
    return [mark for i, mark in enumerate(marks) if i not in used]


def _times(marks: Sequence[Mark]) -> Ints:
    return np.array([mark.ts_us for mark in marks], np.int64)


def _names(marks: Sequence[Mark], field: str) -> Names:
    return np.array([getattr(mark, field) for mark in marks], dtype=object)


def _others(marks: Sequence[Mark]) -> Names:
    return np.array([str(mark.detail.get("other", "")) for mark in marks], object)


def _order(mark: Mark) -> tuple[int, str, str, str]:
    return mark.ts_us, mark.player, mark.team, mark.variant
