"""The file of a simulated tracking system: a table with a row per object and frame, and its match sheet.

The table is what :mod:`replay.formats.tracking` reads: ``t_ms, object_id, team, x, y, z`` in metres from the centre
spot, ``ball_status`` (``alive``, ``dead``) if the profile has the provider's flag, and ``period`` if it has periods.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from football.match_sheet import MatchSheet
from football.packet_table import Floats, Ints
from simulator.tracking.ball_errors import spoil_ball
from simulator.tracking.body_errors import BroadcastView, spoil_bodies
from simulator.tracking.chance import Chance, covered, each, spans
from simulator.tracking.profile import AliveFlag, Profile, strengths_of
from simulator.tracking.true_frames import TICK_HZ, TrueFrames

#: A stop shorter than this may be missing in a flag.
_SHORT_STOP_S = 10.0


@dataclass(frozen=True, eq=False)
class TrackedFrames:
    """Frames of a tracking system.

    Attributes:
        sheet: of the match, with the players who appear.
        ids: object ids of the columns of ``bodies``.
        ts_us: (n,) times of the frames.
        ball: (n, 3), NaN throughout where it has no row; NaN height if the profile has none.
        bodies: (n, players, 2), NaN where a player has no row.
        alive: (n,) the provider's flag, None if there is none.
        period: (n,) number of the period, None if the file has none.
        strengths: value of each strength in this match.
    """

    sheet: MatchSheet
    ids: tuple[str, ...]
    ts_us: Ints
    ball: Floats
    bodies: Floats
    alive: np.ndarray | None
    period: Ints | None
    strengths: dict[str, float]


def track(true: TrueFrames, profile: Profile, seed: int) -> TrackedFrames:
    """Return the match as the tracking system of a profile sees it; the same arguments give the same frames."""
    chance = Chance(seed)
    rate_hz = profile.frames.rate_hz
    true = _thinned(true, TICK_HZ // rate_hz)
    ball = spoil_ball(true, profile.ball, rate_hz, chance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        bodies = spoil_bodies(true, profile.bodies, rate_hz, chance)
        if profile.view is not None:
            BroadcastView(true, profile.view, rate_hz, chance).apply(ball, bodies)
    kept = ~covered(spans(profile.frames.gaps, np.ones(len(true), bool), rate_hz, chance, "frames.gaps"), len(true))
    dropped_share = chance.value(profile.frames.dropped_share, "frames.dropped_share")
    kept &= chance.stream("frames.dropped").random(len(true)) >= dropped_share
    if profile.frames.dead == "cut":
        kept &= true.in_play
    # A frame without any row is none.
    kept &= np.isfinite(ball[:, 0]) | np.isfinite(bodies[:, :, 0]).any(axis=1)
    alive = None if profile.alive_flag is None else _flagged(true, profile.alive_flag, rate_hz, chance)[kept]
    seen = np.isfinite(bodies[kept][:, :, 0]).any(axis=0)
    ids = tuple(name for name, there in zip(true.ids, seen.tolist(), strict=True) if there)
    players = tuple(player for player in true.sheet.players if player.object_id in ids)
    strengths = {name: chance.value(strength, name) for name, strength in strengths_of(profile).items()}
    return TrackedFrames(
        msgspec.structs.replace(true.sheet, players=players), ids, true.ts_us[kept], ball[kept],
        bodies[kept][:, seen], alive, true.period[kept] if profile.frames.periods else None, strengths,
    )  # fmt: skip


def _thinned(true: TrueFrames, every: int) -> TrueFrames:
    parts = true.ts_us[::every], true.ball[::every], true.bodies[::every], true.in_play[::every], true.period[::every]
    return TrueFrames(true.sheet, true.ids, *parts, true.touches)


def _flagged(true: TrueFrames, flag: AliveFlag, rate_hz: int, chance: Chance) -> np.ndarray:
    """Return the flag of the ball in play: each change late, some short stops left out."""
    rng = chance.stream("alive_flag")
    wrong_share = chance.value(flag.wrong_share, "alive_flag.wrong_share")
    shown = true.in_play.copy()
    edges = np.flatnonzero(np.diff(np.concatenate([[True], true.in_play, [True]]).astype(int)))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - begin < _SHORT_STOP_S * rate_hz and rng.random() < wrong_share:
            shown[begin:end] = True
    changes = np.flatnonzero(np.diff(shown.astype(int))) + 1
    late = shown.copy()
    for change in changes.tolist():
        until = change + round(each(flag.late_s, rng) * rate_hz)
        late[change:until] = ~shown[change]
    return late


def table_of(tracked: TrackedFrames) -> pa.Table:
    """Return the rows of the file: by time, the ball first, then players as on the sheet; in whole centimetres."""
    count = len(tracked.ts_us)
    positions = np.full((count, 1 + len(tracked.ids), 3), 0.0)
    positions[:, 0] = tracked.ball
    positions[:, 1:, :2] = tracked.bodies
    there = np.isfinite(positions[:, :, 0])
    frames, columns = np.nonzero(there)
    names = np.array(["ball", *tracked.ids], dtype=object)
    teams = np.array(["ball", *(name.partition("_")[0] for name in tracked.ids)], dtype=object)
    values = np.round(positions[there], 2).astype(np.float32)
    rows: dict[str, Any] = {
        "t_ms": (tracked.ts_us[frames] // 1000).astype(np.int32),
        "object_id": pa.array(names[columns]).dictionary_encode(),
        "team": pa.array(teams[columns]).dictionary_encode(),
        "x": values[:, 0],
        "y": values[:, 1],
        "z": pa.array(values[:, 2], from_pandas=True),
    }
    if tracked.alive is not None:
        rows["ball_status"] = pa.array(np.where(tracked.alive[frames], "alive", "dead")).dictionary_encode()
    if tracked.period is not None:
        rows["period"] = tracked.period[frames].astype(np.int8)
    return pa.table(rows)


def write_tracked(folder: Path, tracked: TrackedFrames) -> None:
    """Write ``tracking.parquet`` and its sheet ``metadata.json`` into a folder; equal frames make equal bytes."""
    pq.write_table(table_of(tracked), folder / "tracking.parquet", compression="zstd", row_group_size=1 << 20)
    sheet = msgspec.json.format(msgspec.json.encode(_metadata(tracked.sheet)), indent=1)
    (folder / "metadata.json").write_bytes(sheet + b"\n")


def _metadata(sheet: MatchSheet) -> dict[str, object]:
    """Return a match sheet in the form that tracking files have beside them."""
    return {
        "match": {"source_match_id": sheet.match_id},
        "pitch": {"length_m": sheet.length_m, "width_m": sheet.width_m},
        "period": {"attacks_positive_x": sheet.attacks_positive_x},
        "teams": {"home": sheet.home, "away": sheet.away},
        "players": [
            {"object_id": p.object_id, "name": p.name, "goalkeeper": p.goalkeeper, "team": p.team, "shirt": p.shirt}
            for p in sheet.players
        ],
    }
