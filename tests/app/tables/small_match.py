"""A match store of some events by hand, with positions: a goal, an own goal, passes, a carry, duels, two halves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from football.match_sheet import MatchSheet, Player
from football.tables import POSITIONS
from football.update_stream import EventRecord, UpdateRecord
from replay.match_store import MatchStore, updates_table

S = 1_000_000
#: Kick-off of the halves.
FIRST_US, SECOND_US = 10 * S, 4_000 * S

PLAYERS = tuple(
    Player(f"{team}_{shirt}", team, f"{team.title()} Player {shirt}", shirt, goalkeeper=shirt == 1)
    for team in ("home", "away")
    for shirt in (1, 7, 9)
)
SHEET = MatchSheet(match_id="small", home="Reds", away="Blues", players=PLAYERS)


def event(kind: str, at_s: float, anchor: str, who: str = "", place=(None, None), variant: str = "", **detail):
    """An event of a player, whose team is the first word of the id; ``home:away_1``: of another team than his."""
    side, _, rest = who.partition(":")
    team, player = side.partition("_")[0], rest or (who if "_" in who else "")
    x_m, y_m = place
    given = {"variant": variant, "team": team, "player": player, "x_m": x_m, "y_m": y_m, "z_m": None, "detail": detail}
    return EventRecord(id=f"{kind}#{anchor}", kind=kind, level=6, ts_us=round(at_s * S), confidence=0.9, **given)


def _first_half() -> list[EventRecord]:
    """Home attacks towards +x: kick-off, two passes, a carry with a take-on, a shot, a goal."""
    kick = {"kick_us": 10 * S, "receiver": "home_7", "vx_m_s": 3.0, "vy_m_s": 4.0, "vz_m_s": 0.0}
    cross = {"kick_us": 20 * S, "receiver": "home_9", "vx_m_s": 20.0, "vy_m_s": 0.0, "vz_m_s": 5.0}
    return [
        event("direction", 0, "frame:0", "home", basis="sheet"),
        event("period.start", 10.4, "ball:10", variant="1", since_us=FIRST_US, left="home"),
        event("play.live", 10.4, "ball:10", "home_9", (0.0, 0.0), "start", kick_us=10 * S),
        event("restart.kick_off", 10, "ball:10", "home_9", (0.0, 0.0)),
        event("team.possession", 10.4, "ball:10:10400000", "home_9", (0.0, 0.0), "home"),
        event("bodypart", 10, "ball:10", "home_9", variant="right foot"),
        event("pass.attempt", 10, "ball:10", "home_9", (0.0, 0.0), **kick),
        event("pass.complete", 11, "ball:10", "home_9", (-6.0, 8.0), kick_us=10 * S, receiver="home_7"),
        event("possession.gain", 11, "ball:11/hit", "home_7", (-6.0, 8.0), "hit"),
        event("carry.end", 18, "ball:11", "home_7", (20.0, 30.0), from_x_m=-6.0, from_y_m=8.0, distance_m=35.5,
              seconds_s=7.0),
        event("progress.carry", 18, "ball:11", "home_7", (20.0, 30.0), gain_m=26.0),
        event("packing.carry", 18, "ball:11", "home_7", variant="1-2", opponents=2),
        event("linebreak", 18, "ball:11/carry/midfield", "home_7", variant="midfield around", by="carry"),
        event("takeon.won", 15, "ball:11/hit/away_7:15", "home_7", (10.0, 20.0), other="away_7"),
        event("press.under", 19.5, "home_7:19", "home_7", index_per_s=2.0),
        event("pass.attempt", 20, "ball:20", "home_7", (45.0, 30.0), **cross),
        event("pass.height", 20, "ball:20", "home_7", variant="high", final=True),
        event("cross", 20, "ball:20", "home_7", variant="left", final=True),
        event("packing", 20, "ball:20", "home_7", variant="3-4", opponents=3),
        event("linebreak", 20, "ball:20/defence", "home_7", variant="defence over", by="pass"),
        event("press.released", 20.4, "home_7:19", "home_7", kept=False),
        event("pass.complete", 21, "ball:20", "home_7", (45.0, 2.0), kick_us=20 * S, receiver="home_9"),
        event("keypass", 20, "ball:21", "home_7", to="home_9", kick_us=20 * S),
        event("assist", 20, "goal:1", "home_7", to="home_9", kick_us=20 * S),
        event("shot.attempt", 21, "ball:21", "home_9", (45.0, 2.0), kick_us=21 * S, on_target=True, goal_y_m=1.0,
              vx_m_s=20.0, vy_m_s=0.0, vz_m_s=0.0),
        event("shot.xg", 21, "ball:21", "home_9", xg=0.3, distance_m=7.8, angle_deg=40.0, defenders=1, keeper=True,
              model="foot", pressure_m=1.5),
        event("goal.scored", 22.5, "goal:1", "home_9", (52.6, 1.0), "right", since_us=22 * S, official=False),
        event("play.dead", 22.5, "ball:22", variant="goal", place=(52.6, 1.0), since_us=22 * S),
        event("team.possession", 22.5, "ball:22:22500000", variant="dead", since_us=22 * S),
        event("sprint.start", 12, "home_7:12", "home_7", (0.0, 10.0)),
        event("sprint.end", 15, "home_7:12", "home_7", (10.0, 20.0), since_us=12 * S, seconds=3.0, top_m_s=8.1),
    ]  # fmt: skip


def _second_half() -> list[EventRecord]:
    """Away attacks towards +x: two duels, a saved shot, an own goal in added time."""
    own_s = 4_000 + 46 * 60
    return [
        event("period.end", 2_800, "ball:e", variant="1", since_us=2_790 * S),
        event("direction", 3_990, "frame:1", "away", basis="line-up"),
        event("period.start", 4_000.4, "ball:4000", variant="2", since_us=SECOND_US, left="away"),
        event("duel.start", 4_010, "ball:4010/home_9-away_7", "home_9", (5.0, 5.0), "ground", other="away_7"),
        event("duel.end", 4_010, "ball:4010/home_9-away_7", "away_7", (5.0, 5.0), "ground", other="home_9"),
        event("tackle.won", 4_010, "ball:4010/home_9-away_7", "away_7", (5.0, 5.0), other="home_9"),
        event("team.possession", 4_010, "ball:4010:4010000000", "away_7", (5.0, 5.0), "away"),
        event("pass.attempt", 4_012, "ball:4012", "away_7", (6.0, 5.0), kick_us=4_012 * S),
        event("pass.intercepted", 4_014, "ball:4012", "away_7", (20.0, 5.0), kick_us=4_012 * S, receiver="home_7"),
        event("interception", 4_014, "ball:4014/hit", "home_7", (20.0, 5.0), "won", passer="away_7"),
        event("team.possession", 4_014, "ball:4014:4014000000", "home_7", (20.0, 5.0), "home"),
        event("aerial.start", 4_020, "home_9:4020", "home_9", (-30.0, 0.0), other="away_7"),
        event("aerial.won", 4_021, "home_9:4020", "home_9", (-30.0, 0.0), other="away_7"),
        event("shot.attempt", 4_022, "ball:4022", "home_9", (-40.0, 0.0), kick_us=4_022 * S, on_target=True),
        event("shot.saved", 4_023, "ball:4022", "away_1", (-52.0, 0.0), "parried", shooter="home_9"),
        event("team.possession", 4_023, "ball:4023:4023000000", "away_1", (-52.0, 0.0), "away"),
        event("goal.own", own_s + 0.5, "goal:2", "home:away_1", (-52.6, 0.0), "left", since_us=own_s * S),
    ]  # fmt: skip


def small_store(
    folder: Path,
    extra: list[EventRecord] | None = None,
    *,
    positions: bool = True,
    sheet: MatchSheet = SHEET,
    only: list[EventRecord] | None = None,
    settings: dict[str, object] | None = None,
) -> Path:
    """Write the match into a folder, with further events, or ``only`` some instead of its own."""
    own = [*_first_half(), *_second_half(), *(extra or ())] if only is None else only
    events = sorted(own, key=lambda one: one.ts_us)
    store = MatchStore.create(folder, sheet, {"settings": settings or {}})
    updates = [UpdateRecord(seq, 1, one.ts_us, one) for seq, one in enumerate(events)]
    tables = {"updates": updates_table(updates, 0)}
    if positions:
        tables["positions"] = pa.Table.from_pylist(_positions(), POSITIONS)
    meta = {"frontier_us": 10_000 * S, "end_offset": 1, "ended": True, "next_seq": len(updates), "now_us": 10_000 * S}
    store.commit(0, tables, meta)
    return folder


def _positions() -> list[dict[str, object]]:
    """A minute of each half at 5 a second: everybody walks at 1 m/s along x, and home_9 runs at 6 m/s, to and fro."""
    rows: list[dict[str, object]] = []
    for begin_us, seconds in ((FIRST_US, 60), (2_795 * S, 20), (SECOND_US, 60)):
        for step in range(5 * seconds):
            ts_us, t_s = begin_us + step * S // 5, step / 5
            at = {"ts_us": ts_us, "z_m": 0.1, "vx_m_s": 1.0, "vy_m_s": 0.0, "vz_m_s": 0.0}
            rows.append({**at, "object_id": "ball", "team": "", "x_m": t_s / 2, "y_m": 1.0})
            for index, player in enumerate(PLAYERS):
                fast = player.object_id == "home_9"
                x_m = 6.0 * min(t_s % 10, 10 - t_s % 10) if fast else t_s
                place = {"x_m": x_m - 30, "y_m": 5.0 * index - 12}
                rows.append({**at, "object_id": player.object_id, "team": player.team, **place})
    return rows
