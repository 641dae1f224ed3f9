"""Opta's labels of the clip as a truth, with the provider's flags (see the clip's own README).

The labels say that passes, shots and duels took place, by which player and with what success; their times are
estimates on the tracking's clock, good to about a second. Failed passes have no further distinction, and every outcome
is dated at its kick. The labels do not say whose ball crossed a line, nor who won a duel in the air. Interceptions,
recoveries and the like are Opta's judgement, not complete, and not compared. Restarts are dated by Opta's clock alone
where its player is not at the ball, so their windows are wider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from football.untrusted import UntrustedError, read_parquet
from replay.formats.csv_rows import read_rows
from replay.scoring.truth import Flags, Mark, ScoreError, Truth

#: Of the estimated kicks (the clip's README: compare with a tolerance of about a second).
TOLERANCE_US = 1_000_000
#: Opta's own clock scatters by a second about a shift of three, and dates what it calls the beginning of an event.
CLOCK_US = 3_000_000

#: Opta's clock is so far ahead of the tracking's.
OPTA_AHEAD_S = 3.0

#: Types with a label for either side, milliseconds apart.
TWIN_US = 100_000
_TWO_SIDED = {"out": "out", "aerial": "aerial.start"}
_SET_PIECES = {
    **{name: f"restart.{name}" for name in ("kick_off", "throw_in", "free_kick", "goal_kick", "penalty")},
    "corner_kick": "restart.corner",
}
_OUTCOMES = {"pass.complete": "kick_us", "pass.intercepted": "kick_us", "pass.out": "kick_us"}


#: Beyond it a number is no time of a match, in whatever unit; nor is what is not a number less than it.
_TIME_MAX = 1e12


class Label(msgspec.Struct, frozen=True):
    """A row of the labels, with the columns that are used."""

    type: str
    label: str
    team: str
    object_id: str
    success: str
    set_piece: str
    opta_s: float
    kick_t_ms: float | None


def read_opta(path: Path) -> Truth:
    """Read the labels, with the flags of the ``tracking_*.parquet`` next to them if there is one.

    Raises:
        TrackingError: not such a file; names the line.
        ScoreError: the tracking has no flags.
    """
    labels = read_rows(path, Label)
    for number, label in enumerate(labels, 2):
        if not all(abs(time) < _TIME_MAX for time in (label.opta_s, label.kick_t_ms or 0.0)):
            raise ScoreError(f"{path} line {number}: opta_s or kick_t_ms is not a time")
    marks = tuple(_once(mark for label in labels for mark in _marks(label)))
    kinds = {"pass.attempt", "pass.complete", "pass.failed", "shot.attempt", "shot.off", "out", "aerial.start"}
    kinds |= {*_SET_PIECES.values()}
    loose = {kind for kind in kinds if kind.startswith(("restart.", "shot.off"))}
    tracking_files = sorted(path.parent.glob("tracking*.parquet"))
    return Truth(
        "Opta labels",
        marks,
        frozenset(kinds),
        TOLERANCE_US,
        names={"pass.intercepted": "pass.failed", "pass.out": "pass.failed"},
        occurred=_OUTCOMES,
        windows_us=dict.fromkeys(loose, CLOCK_US),
        flags=_flags(tracking_files[0]) if tracking_files else None,
    )


def _marks(label: Label) -> Iterator[Mark]:
    """Return the marks of one label."""
    if label.kick_t_ms is None:
        return
    ts_us = round(label.kick_t_ms * 1000)
    if label.type in _TWO_SIDED:
        yield Mark(round((label.opta_s - OPTA_AHEAD_S) * 1e6), _TWO_SIDED[label.type])
        return
    kinds: list[str] = []
    if label.label == "pass":
        kinds = ["pass.attempt", "pass.complete" if label.success == "True" else "pass.failed"]
    elif label.label == "shot":
        kinds = ["shot.attempt", *(["shot.off"] if label.type == "miss" else [])]
    if label.set_piece in _SET_PIECES:
        kinds.append(_SET_PIECES[label.set_piece])
    for kind in kinds:
        yield Mark(ts_us, kind, "", label.team, label.object_id)


def _once(marks: Iterable[Mark]) -> Iterator[Mark]:
    """Return the marks; of those labelled for either side, the first."""
    last_us: dict[str, int] = {}
    for mark in marks:
        if mark.kind not in _TWO_SIDED.values():
            yield mark
        elif mark.ts_us - last_us.get(mark.kind, -TWIN_US - 1) > TWIN_US:
            yield mark
            last_us[mark.kind] = mark.ts_us


def _flags(path: Path) -> Flags:
    names = ["t_ms", "object_id", "ball_status", "team_possession"]
    try:
        table = read_parquet(path, names)
        table = table.filter(pc.equal(table["object_id"], "ball")).select(names)
    except (OSError, KeyError, UntrustedError, pa.ArrowException) as error:
        raise ScoreError(f"{path}: has no flags of the ball: {error}") from error
    ts_us = table["t_ms"].to_numpy().astype(np.int64) * 1000
    in_play = np.array(table["ball_status"].to_pylist(), dtype=object) == "alive"
    return Flags(ts_us, in_play, np.array(table["team_possession"].to_pylist(), dtype=object))
