"""Scoring of frames: is the ball in play, and which team has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from football.packet_table import Ints
from football.update_stream import EventRecord
from replay.scoring.rules import OCCURRED
from replay.scoring.truth import Flags, Mark

Bools = npt.NDArray[np.bool_]

#: Times from, times to (exclusive).
Spans = tuple[Ints, Ints]

_FOREVER_US = 2**62


class FrameScore(msgspec.Struct, frozen=True):
    """Share of ``frames`` on which truth and detections agree.

    ``live``: the same when a detection counts from when it was known. ``longest_wrong_s``: the longest time without
    agreement, over the frames that are asked about; the time of others does not count.
    """

    frames: int
    agreement: float
    live: float | None = None
    longest_wrong_s: float = 0.0


#: States that events begin: name of the figure, kind, and whether each team has one of its own.
_STATES = (("phase_in", "phase.in", False), ("phase_out", "phase.out", False), ("formation", "formation", True))


def score_frames(flags: Flags, found: Iterable[EventRecord], marks: Iterable[Mark] = ()) -> dict[str, FrameScore]:
    """In play on all frames; team in possession on those that are in play and that truth gives to a team.

    A team keeps the ball, as for data providers, until the other one has it: contests and stops change nothing. If
    ``marks`` of the truth tell phases or formations, these count on the frames in play at which truth knows one.
    """
    records = sorted(found, key=lambda r: (r.ts_us, r.level, r.id))
    dated, live = (in_play(flags.ts_us, dead_spans(records, as_known=known)) for known in (False, True))
    right, lasts_us = dated == flags.in_play, _lasts_us(flags)
    longest_s = longest_wrong_s(lasts_us, right)
    scores = {"in_play": FrameScore(len(dated), _share(right), _share(live == flags.in_play), longest_s)}
    in_possession = flags.in_play & ((flags.team == "home") | (flags.team == "away"))
    agree = teams_at(flags.ts_us[in_possession], records) == flags.team[in_possession]
    longest_s = longest_wrong_s(lasts_us[in_possession], agree)
    scores["team_possession"] = FrameScore(int(in_possession.sum()), _share(agree), None, longest_s)
    begun = list(marks)
    for name, kind, each in _STATES:
        scores |= _state_score(name, kind, flags, begun, records, each=each)
    return {name: figure for name, figure in scores.items() if figure.frames}


def _state_score(
    name: str, kind: str, flags: Flags, truth: Sequence[Mark], found: Sequence[EventRecord], *, each: bool
) -> dict[str, FrameScore]:
    """Score a state that lasts from each event of a kind to the next one; a phase ends when play is dead, too.

    Of a state that each team has, a frame counts once a team.
    """
    lasts_us, asked_us, right = _lasts_us(flags), [np.zeros(0, np.int64)], [np.zeros(0, np.bool_)]
    shown = [(_begun_us(r), r.kind, r.team, r.variant) for r in found if r.kind in (kind, "play.dead")]
    true = [(m.ts_us, m.kind, m.team, m.variant) for m in truth if m.kind in (kind, "play.dead")]
    for team in ("home", "away") if each else ("",):
        expected, got = (_held(flags.ts_us, kind, events, team) for events in (true, shown))
        asked = flags.in_play & (expected != "")
        asked_us.append(lasts_us[asked])
        right.append(expected[asked] == got[asked])
    agree = np.concatenate(right)
    longest_s = max(longest_wrong_s(at_us, one) for at_us, one in zip(asked_us, right, strict=True))
    return {name: FrameScore(len(agree), _share(agree), None, longest_s)}


def _begun_us(record: EventRecord) -> int:
    since_us = record.detail.get("since_us")
    return since_us if isinstance(since_us, int) else record.ts_us


def _held(ts_us: Ints, kind: str, events: Iterable[tuple[int, str, str, str]], team: str) -> npt.NDArray[np.object_]:
    """For each instant return the newest state of a kind, of one team or of either, with its team."""
    lasts = kind == "formation"
    own = sorted(
        (at_us, "" if event == "play.dead" else f"{side}: {state}")
        for at_us, event, side, state in events
        if (event == kind and team in ("", side)) or (event == "play.dead" and not lasts)
    )
    states = np.array(["", *(state for _, state in own)], dtype=object)
    times = np.array([at_us for at_us, _ in own], np.int64)
    return np.asarray(states[np.searchsorted(times, ts_us, "right")], dtype=object)


def _lasts_us(flags: Flags) -> Ints:
    """How long each frame lasts: until the next one; the last one has no length."""
    return np.diff(flags.ts_us, append=flags.ts_us[-1:])


def longest_wrong_s(lasts_us: Ints, right: Bools) -> float:
    """Return the longest time of frames that are wrong one after the other.

    Args:
        lasts_us: how long each frame lasts.
        right: which frames are right.

    >>> longest_wrong_s(np.array([1_000_000, 1_000_000, 1_500_000, 0]), np.array([True, False, False, True]))
    2.5
    """
    wrong_us = np.cumsum(np.where(right, 0, lasts_us))
    since_us = wrong_us - np.maximum.accumulate(np.where(right, wrong_us, 0))
    return float(since_us.max(initial=0)) / 1e6


def dead_spans(records: Sequence[EventRecord], *, as_known: bool) -> Spans:
    """Return when the ball was dead, by ``play.dead`` and ``play.live`` in order of time.

    Args:
        records: detections; other kinds are skipped.
        as_known: spans last from when a stoppage was known up to when live play was known, rather than from the begin
            of the stoppage to the kick.
    """
    begins: list[int] = []
    ends: list[int] = []
    for record in records:
        if record.kind not in ("play.dead", "play.live"):
            continue
        occurred_us = record.detail.get(OCCURRED[record.kind])
        ts_us = occurred_us if isinstance(occurred_us, int) and not as_known else record.ts_us
        if record.kind == "play.dead" and len(begins) == len(ends):
            begins.append(ts_us)
        elif record.kind == "play.live" and len(begins) > len(ends):
            ends.append(max(ts_us, begins[-1]))
    ends += [_FOREVER_US] * (len(begins) - len(ends))
    return np.array(begins, np.int64), np.array(ends, np.int64)


def in_play(ts_us: Ints, dead: Spans) -> Bools:
    """For each instant return whether it lies outside the dead spans; in play if there are none."""
    begins, ends = dead
    if not len(begins):
        return np.ones(len(ts_us), np.bool_)
    # A stoppage may begin before a kick that was known earlier, so a span may begin within the one before.
    ends = np.maximum.accumulate(ends[np.argsort(begins, kind="stable")])
    at = np.searchsorted(np.sort(begins), ts_us, "right") - 1
    return ~((at >= 0) & (ts_us < ends[np.maximum(at, 0)]))


def teams_at(ts_us: Ints, records: Iterable[EventRecord]) -> npt.NDArray[np.object_]:
    """For each instant return the team that ``team.possession`` named last; empty before the first."""
    shown = [(r.ts_us, r.team) for r in records if r.kind == "team.possession" and r.team]
    times = np.array([at_us for at_us, _ in shown], np.int64)
    teams = np.array(["", *(team for _, team in shown)], dtype=object)
    return np.asarray(teams[np.searchsorted(times, ts_us, "right")], dtype=object)


def _share(agree: Bools) -> float:
    return float(np.mean(agree)) if len(agree) else 0.0
