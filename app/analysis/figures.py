"""The numbers of the match report and of the analyst's room, from the analyst's tables.

Every number is computed of a *part* of the match: all of it, a period, or a quarter of an hour. A number that the input
does not show is None, and a ratio without cases, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from app.tables.build import flat_tables
from app.tables.columns import TABLES
from football.errors import UserError
from football.match_sheet import TEAMS, MatchSheet
from replay.match_store import read_sheet_of

#: PPDA counts what happens before this share of the pitch, seen from the team that has the ball.
_PRESSED_SHARE = 0.6

#: How a possession begins that was won from the opponents in play.
REGAINS = ("recovery", "interception", "tackle", "won")

Tables = Mapping[str, pd.DataFrame]


class ReportError(UserError, ValueError):
    """A match that no report can be made of, or a wrong file name; the message says why."""


class Figure(NamedTuple):
    """A number of both teams; ``digits`` after the point, ``unit`` behind it."""

    name: str
    home: float | None
    away: float | None
    digits: int = 0
    unit: str = ""


class Part(NamedTuple):
    """A part of the match: its name and its tables."""

    name: str
    tables: Tables


class Report(NamedTuple):
    """A match as the report shows it.

    Attributes:
        sheet: the match sheet.
        tables: all of the match.
        parts: periods, then quarters of an hour.
        names: shirt and name of each player, by object id.
    """

    sheet: MatchSheet
    tables: Tables
    periods: tuple[Part, ...]
    quarters: tuple[Part, ...]
    names: Mapping[str, str]


def read_report(folder: Path) -> Report:
    """Read a match.

    Raises:
        StoreError: not a match store, or damaged.
        ReportError: nothing has happened in it.
    """
    sheet = read_sheet_of(folder)
    tables = {name: table.to_pandas() for name, table in flat_tables(folder).items()}
    if tables["passes"].empty and tables["shots"].empty:
        raise ReportError(f"{folder}: no pass and no shot to report")
    periods = [Part(_PERIODS[number - 1], part) for number, part in _divided(tables, "period")]
    quarters = [Part(str(name), part) for name, part in _divided(tables, "quarter_hour")]
    return Report(sheet, tables, tuple(periods), tuple(quarters), names_of(sheet))


def names_of(sheet: MatchSheet) -> dict[str, str]:
    """Shirt and name of each player of a sheet, by object id."""
    return {p.object_id: " ".join(filter(None, (str(p.shirt or ""), p.name))) or p.object_id for p in sheet.players}


_PERIODS = ("First half", "Second half", "Extra time 1", "Extra time 2", "Shoot-out")


def _divided(tables: Tables, column: str) -> list[tuple[object, Tables]]:
    """The tables of each value of a column, in order of the match."""
    values = pd.concat([tables[name][[column, "ts_us"]] for name in ("passes", "possessions", "shots")])
    order = values.dropna().groupby(column).ts_us.min().sort_values().index
    return [(value, {name: tables[name][tables[name][column] == value] for name in TABLES}) for value in order]


def team_figures(tables: Tables, sheet: MatchSheet) -> list[Figure]:
    """The numbers of both teams in a part of the match."""
    columns = [_of_team(tables, team, sheet) for team in TEAMS]
    return [Figure(name, home, columns[1][name][0], digits, unit) for name, (home, digits, unit) in columns[0].items()]


_Value = tuple[float | None, int, str]


def _of_team(tables: Tables, team: str, sheet: MatchSheet) -> dict[str, _Value]:
    passes, shots, had, duels, running = (
        tables[name][tables[name].team == team] for name in ("passes", "shots", "possessions", "duels", "running")
    )
    complete = passes[passes.outcome == "complete"]
    seconds = tables["possessions"].groupby("team").seconds.sum()
    contested = tables["duels"][tables["duels"].type.isin(["ground", "loose", "aerial"])]
    won, fought = (contested.winner_team == team).sum(), contested.winner_team.notna().sum()
    take_ons = duels[duels.type == "take-on"]
    fast_m = running.zone_4_m.sum() + running.zone_5_m.sum()
    there = len(running) > 0
    return {
        "Goals": (float((tables["goals"].team == team).sum()), 0, ""),
        "xG": (shots.xg.sum(), 2, ""),
        "Shots": (len(shots), 0, ""),
        "On target": (shots.on_target.fillna(False).astype(bool).sum(), 0, ""),
        "Possession": (_percent(seconds.get(team, 0.0), seconds.sum()), 0, "%"),
        "Passes": (len(passes), 0, ""),
        "Passes complete": (_percent(len(complete), len(passes)), 0, "%"),
        "Progressive passes": (passes.progressive.sum(), 0, ""),
        "Lines broken by passes": (passes.lines_broken.sum(), 0, ""),
        "Crosses": (passes.cross.eq("cross").sum(), 0, ""),
        "Attacks into the last third": (had.final_third.eq(True).sum(), 0, ""),
        "Attacks into the box": (had.box.eq(True).sum(), 0, ""),
        "Corners": (passes.restart.eq("corner").sum(), 0, ""),
        "Balls won in play": (had.begin.isin(REGAINS).sum(), 0, ""),
        "PPDA": (ppda(tables, team, sheet.length_m), 1, ""),
        "Duels won": (_percent(won, fought), 0, "%"),
        "Take-ons won": (take_ons.won.eq(True).sum(), 0, ""),
        "Distance": (running.distance_m.sum() / 1000 if there else None, 1, "km"),
        "Above 20 km/h": (fast_m if there else None, 0, "m"),
        "Sprints": (len(tables["sprints"][tables["sprints"].team == team]), 0, ""),
    }  # fmt: skip


def ppda(tables: Tables, team: str, length_m: float) -> float | None:
    """Passes that a team lets its opponents make, for each tackle and interception of it where it presses."""
    let, stopped, tackled = pressed_rows(tables, team, length_m)
    actions = len(stopped) + len(tackled)
    return len(let) / actions if actions else None


def pressed_rows(tables: Tables, team: str, length_m: float) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Rows that PPDA counts: passes of the opponents where the team presses, its interceptions and tackles there.

    They are those of 14.9. A pass that misses its mate and comes to an opponent is no action of a defender.
    """
    limit_m = (_PRESSED_SHARE - 0.5) * length_m
    passes, duels = (tables[name][tables[name].team != team] for name in ("passes", "duels"))
    let = passes[passes.start_x_m * passes.attacks_x <= limit_m]
    stopped = passes[passes.interception.eq(True) & (passes.end_x_m * passes.attacks_x <= limit_m)]
    tackled = duels.tackle.notna() & duels.type.eq("ground") & (duels.start_x_m * duels.attacks_x <= limit_m)
    return let, stopped, duels[tackled]


def contests(duels: pd.DataFrame, *, take_ons: bool = False) -> pd.DataFrame:
    """The duels that somebody won: ground, loose and aerial ones, and take-ons if asked for."""
    kinds = ["ground", "loose", "aerial", *(["take-on"] if take_ons else [])]
    return duels[duels.type.isin(kinds) & duels.winner.notna()]


def player_table(report: Report, team: str) -> pd.DataFrame:
    """A row for each player of a team who took part, with the numbers that the report shows, by shirt number."""
    mine = {name: table[table.team == team] for name, table in report.tables.items()}
    passes, shots, carries, duels, running = (mine[n] for n in ("passes", "shots", "carries", "duels", "running"))
    contested = contests(report.tables["duels"])
    fights = pd.concat([contested.player, contested.opponent])
    by = running.groupby("player")
    columns = {
        "Min": by.seconds.sum() / 60,
        "Passes": passes.groupby("player").size(),
        "Done": passes[passes.outcome == "complete"].groupby("player").size(),
        "Fwd": passes[passes.progressive].groupby("player").size(),
        "Key": passes[passes.key_pass].groupby("player").size(),
        "Pack": passes.assign(packing=passes.packing.clip(lower=0)).groupby("player").packing.sum(),
        "Recv": report.tables["passes"].query("outcome == 'complete'").groupby("receiver").size(),
        "Shots": shots.groupby("player").size(),
        "xG": shots.groupby("player").xg.sum(),
        "Goals": mine["goals"][~mine["goals"].own.astype(bool)].groupby("player").size(),
        "Carry m": carries.groupby("player").distance_m.sum(),
        "Duels": fights.value_counts(),
        "Won": contested.winner.value_counts(),
        "Take-on": duels[(duels.type == "take-on") & duels.won.eq(True)].groupby("player").size(),
        "Regain": mine["possessions"][mine["possessions"].begin.isin(REGAINS)].groupby("player").size(),
        "km": by.distance_m.sum() / 1000,
        "Fast m": by.zone_4_m.sum() + by.zone_5_m.sum(),
        "Sprints": mine["sprints"].groupby("player").size(),
        "Top km/h": by.top_m_s.max() * 3.6,
    }
    listed = [p.object_id for p in sorted(report.sheet.players, key=lambda p: p.shirt or 999) if p.team == team]
    table = pd.DataFrame(columns).reindex(listed)
    return table[table[["Min", "Passes", "Recv"]].notna().any(axis=1)]


class Keeper(NamedTuple):
    """A goalkeeper's match."""

    name: str
    team: str
    faced: int
    saved: int
    conceded: int
    faced_xg: float
    passes: int
    complete: int
    long: int
    long_complete: int
    saves: str


def keepers(report: Report) -> list[Keeper]:
    """The goalkeepers whom the sheet names and who took part: shots on target of the opponents, and distribution."""
    found = []
    shots, passes = report.tables["shots"], report.tables["passes"]
    active = set(passes.player) | set(shots.stopped_by.dropna()) | set(report.tables["running"].player)
    for player in report.sheet.players:
        if not player.goalkeeper or player.object_id not in active:
            continue
        against = shots[(shots.team != player.team) & shots.outcome.isin(["goal", "saved"])]
        mine = against[(against.outcome == "goal") | (against.stopped_by == player.object_id)]
        own = passes[passes.player == player.object_id]
        long, done = own.length.eq("long"), own.outcome.eq("complete")
        kinds = mine.save.dropna().value_counts()
        found.append(
            Keeper(
                report.names[player.object_id], player.team, len(mine), int((mine.outcome == "saved").sum()),
                int((mine.outcome == "goal").sum()), float(mine.xg.sum()), len(own), int(done.sum()), int(long.sum()),
                int((long & done).sum()), ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
            )
        )  # fmt: skip
    return found


def network_of(done: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """The pass network of the complete passes of a team, which attacks to the right.

    Returns:
        The eleven players with most passes and receptions: their average place ``x``, ``y`` and the count ``n``. And
        the number of passes from player to player.
    """
    sign = done.attacks_x.fillna(1).astype(float)
    ends = [
        pd.DataFrame({"player": done[who], "x": done[f"{end}_x_m"] * sign, "y": done[f"{end}_y_m"] * sign})
        for who, end in (("player", "start"), ("receiver", "end"))
    ]
    nodes = pd.concat(ends).groupby("player").agg(x=("x", "mean"), y=("y", "mean"), n=("x", "size"))
    return nodes.nlargest(11, "n"), done.groupby(["player", "receiver"]).size()


def pass_matrix(report: Report, team: str) -> pd.DataFrame:
    """Complete passes from player (rows) to player (columns) of a team."""
    done = report.tables["passes"].query("outcome == 'complete' and team == @team")
    listed = [player for player in report.names if player in {*done.player, *done.receiver.dropna()}]
    return pd.crosstab(done.player, done.receiver).reindex(index=listed, columns=listed, fill_value=0)


def _percent(part: float, whole: float) -> float | None:
    return 100.0 * part / whole if whole else None
