"""A match as the analyst's room reads it: the tables with a number for each row, and the tracks of the players.

Each row of a table is an *action* with a number. A chart names the numbers of the actions behind each of its values, so
that every value can be followed to its events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from app.analysis.figures import TEAMS
from app.analysis.selection import Selection
from app.tables.stored import stored_ball, stored_further, stored_tables, stored_tracks, tables_key
from football.match_sheet import MatchSheet
from replay.match_store import read_sheet_of

#: Tables that have actions, in the order of their numbers. ``running`` is a sum and has none.
ACTIONS = ("passes", "shots", "goals", "carries", "duels", "possessions", "sprints")

#: Share of a minute that a player must be on the pitch for it to count: others are on the bench.
_ON_PITCH_SHARE = 0.5


class ChartData(NamedTuple):
    """The data of a chart: rows, and numbers about all of them. A column ``rows`` lists the actions behind a row."""

    table: pd.DataFrame
    notes: Mapping[str, object] = {}


class Span(NamedTuple):
    """A period: its number, and event times of its begin and its end."""

    period: int
    begin_us: int
    end_us: int


class AnalysedMatch:
    """A match and its actions.

    Args:
        sheet: the match sheet.
        tables: the analyst's tables, ``formations``, ``stints`` and ``chains``.
        spans: its periods.
        tracks: returns where each player was (``app.tables.tracks.TRACKS``); called once, when a chart needs it.
        ball: the same of the ball (``app.tables.ball.BALL``).
        key: names this state of the match.

    Attributes:
        tables: with a column ``row``, the number of the action.
        spans: its periods.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        tables: Mapping[str, pa.Table],
        spans: Iterable[Span],
        tracks: Callable[[], pa.Table],
        ball: Callable[[], pa.Table],
        key: str = "",
    ) -> None:
        self.sheet, self.key, self.spans = sheet, key, tuple(spans)
        self.tables: dict[str, pd.DataFrame] = {name: table.to_pandas() for name, table in tables.items()}
        first = 0
        for name in ACTIONS:
            table = self.tables[name]
            table["row"] = np.arange(first, first + len(table))
            first += len(table)
        self._read_tracks, self._read_ball = tracks, ball

    def chosen(self, name: str, selection: Selection) -> pd.DataFrame:
        """The rows of a table in the time, score and zone of a selection, of both teams."""
        table = self.tables[name]
        keep = self._in_time(table.ts_us.to_numpy(), table.period.to_numpy(float), selection)
        if selection.score:
            keep &= self._in_score(table.ts_us.to_numpy(), (table.team == "home").to_numpy(), selection)
        if selection.zone is not None and "start_x_m" in table:
            x_m, y_m = turned(table, "start")
            keep &= _in_zone(x_m.to_numpy(), y_m.to_numpy(), selection.zone)
        return table[keep]

    def about(self, name: str, selection: Selection) -> pd.DataFrame:
        """The rows of :meth:`chosen` that are by the team and the players of the selection."""
        return by_selected(self.chosen(name, selection), selection)

    def selected_tables(self, selection: Selection) -> dict[str, pd.DataFrame]:
        """All tables as :meth:`chosen`; ``running`` is left out."""
        return {name: self.chosen(name, selection) for name in ACTIONS}

    @cached_property
    def tracks(self) -> pd.DataFrame:
        """Where each player was, five times a second in play: columns of ``TRACKS``, attacking to the right.

        Columns besides: ``period``, ``has_ball`` (of his team). Minutes in which a player is not on the pitch are left
        out, and so is what lies between periods.
        """
        table = self._read_tracks().to_pandas(categories=["team", "player"])
        times = table.ts_us.to_numpy()
        table["period"] = self.periods_of(times)
        table = table[table.period > 0].reset_index(drop=True)
        table = table[self._on_pitch(table)].reset_index(drop=True)
        sign = self._signs(table)
        table["x_m"] *= sign
        table["y_m"] *= sign
        table["has_ball"] = self._has_ball(table)
        return table

    def selected_tracks(self, selection: Selection) -> pd.DataFrame:
        """The rows of :attr:`tracks` that a selection takes, with its team and players."""
        table = self.tracks
        keep = self._in_time(table.ts_us.to_numpy(), table.period.to_numpy(float), selection)
        if selection.score:
            keep &= self._in_score(table.ts_us.to_numpy(), (table.team == "home").to_numpy(), selection)
        if selection.zone is not None:
            keep &= _in_zone(table.x_m.to_numpy(), table.y_m.to_numpy(), selection.zone)
        if selection.phase:
            keep &= table.has_ball.to_numpy() == (selection.phase == "in")
        return by_selected(table[keep], selection)

    @cached_property
    def ball(self) -> pd.DataFrame:
        """Where the ball was, five times a second in play: columns of ``BALL`` as they are stored, and ``period``."""
        table = self._read_ball().to_pandas()
        table["period"] = self.periods_of(table.ts_us.to_numpy())
        return table[table.period > 0].reset_index(drop=True)

    def in_selection(self, table: pd.DataFrame, selection: Selection) -> pd.DataFrame:
        """The rows of positions in the time of a selection."""
        return table[self._in_time(table.ts_us.to_numpy(), table.period.to_numpy(float), selection)]

    def attacks_x(self, team: str, ts_us: int) -> int:
        """1 if a team attacks towards +x at an event time, -1 if towards -x; home to +x if nothing says it."""
        period = next((span.period for span in reversed(self.spans) if span.begin_us <= ts_us), 1)
        return self._directions.get((period, team), 1 if team == "home" else -1)

    def time_of(self, selection: Selection) -> tuple[int, int]:
        """Event times between which a selection lies."""
        spans = [span for span in self.spans if not selection.periods or span.period in selection.periods]
        low, high = min((span.begin_us for span in spans), default=0), max((span.end_us for span in spans), default=0)
        return max(low, selection.begin_us or low), min(high, selection.end_us or high)

    def teams(self, selection: Selection) -> tuple[str, ...]:
        """The teams that a selection is about."""
        return (selection.team,) if selection.team else TEAMS

    @cached_property
    def actions(self) -> pd.DataFrame:
        """All actions in order of their numbers: table, id, time, actor, place as the team attacks, what it was."""
        parts = []
        for name in ACTIONS:
            table = self.tables[name]
            found = table[["ts_us", "period", "clock", "team", "player", "shirt", "name"]].copy()
            found.insert(0, "table", name)
            found.insert(1, "id", table.id if "id" in table else "")
            found["end_us"] = table.end_us if "end_us" in table else table.ts_us
            x_m, y_m = turned(table, "start") if "start_x_m" in table else (np.nan, np.nan)
            found["x_m"], found["y_m"] = x_m, y_m
            found["text"] = [_text(name, row) for row in table.to_dict("records")]
            parts.append(found)
        return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)

    def named(self, players: Iterable[str]) -> pd.DataFrame:
        """Columns ``player``, ``shirt`` and ``name`` of players, in their order."""
        known = {player.object_id: player for player in self.sheet.players}
        ids = list(players)
        shirts = pd.array([known[one].shirt if one in known else None for one in ids], "Int64")
        names = [(known[one].name if one in known else "") or one for one in ids]
        return pd.DataFrame({"player": ids, "shirt": shirts, "name": names}, columns=["player", "shirt", "name"])

    def playing_s(self, table: pd.DataFrame) -> pd.Series:
        """Seconds of play before each row: pauses between periods do not count."""
        before, at_s = {}, 0.0
        for span in self.spans:
            before[span.period] = at_s
            at_s += (span.end_us - span.begin_us) * 1e-6
        return table.period.map(before).fillna(0.0).astype(float) + table.period_s.fillna(0.0).astype(float)

    @cached_property
    def _directions(self) -> dict[tuple[int, str], int]:
        rows = pd.concat([self.tables[name][["period", "team", "attacks_x"]] for name in ("passes", "possessions")])
        known = rows.dropna().groupby(["period", "team"]).attacks_x.agg(lambda signs: 1 if signs.sum() >= 0 else -1)
        return {(int(period), str(team)): int(sign) for (period, team), sign in known.items()}

    def periods_of(self, times: np.ndarray) -> np.ndarray:
        """Period of each event time, 0 between periods."""
        period = np.zeros(len(times), np.int8)
        for span in self.spans:
            period[(times >= span.begin_us) & (times < span.end_us)] = span.period
        return period

    def _signs(self, table: pd.DataFrame) -> np.ndarray:
        signs = np.ones(len(table), np.float32)
        for span in self.spans:
            for team in TEAMS:
                rows = (table.period == span.period) & (table.team == team)
                signs[rows.to_numpy()] = self.attacks_x(team, span.begin_us)
        return signs

    def _on_pitch(self, table: pd.DataFrame) -> np.ndarray:
        inside = (table.x_m.abs() <= self.sheet.length_m / 2) & (table.y_m.abs() <= self.sheet.width_m / 2)
        minute = table.ts_us // 60_000_000
        share = inside.groupby([table.player, minute], observed=True).transform("mean")
        return (share >= _ON_PITCH_SHARE).to_numpy()

    def _has_ball(self, table: pd.DataFrame) -> np.ndarray:
        had = self.tables["possessions"]
        times, mine = table.ts_us.to_numpy(), (table.team == "home").to_numpy()
        if had.empty:
            return np.zeros(len(table), bool)
        index = np.searchsorted(had.ts_us.to_numpy(), times, side="right") - 1
        held = (index >= 0) & (times < had.end_us.to_numpy()[np.maximum(index, 0)])
        return held & ((had.team == "home").to_numpy()[np.maximum(index, 0)] == mine)

    def _in_time(self, times: np.ndarray, periods: np.ndarray, selection: Selection) -> np.ndarray:
        keep = np.ones(len(times), bool)
        if selection.periods:
            keep &= np.isin(periods, selection.periods)
        if selection.begin_us is not None:
            keep &= times >= selection.begin_us
        if selection.end_us is not None:
            keep &= times < selection.end_us
        return keep

    def _in_score(self, times: np.ndarray, is_home: np.ndarray, selection: Selection) -> np.ndarray:
        goals = self.tables["goals"]
        lead = np.concatenate(([0], (goals.home_goals - goals.away_goals).to_numpy(int)))
        ahead = lead[np.searchsorted(goals.ts_us.to_numpy(), times, side="left")]
        mine = is_home if not selection.team else np.full(len(times), selection.team == "home")
        return np.sign(np.where(mine, ahead, -ahead)) == {"ahead": 1, "level": 0, "behind": -1}[selection.score]


def read_analysed(folder: Path) -> AnalysedMatch:
    """Read a match store.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    further = stored_further(folder)
    tables, spans = {**stored_tables(folder), **further}, [Span(**row) for row in further["periods"].to_pylist()]
    positions = partial(stored_tracks, folder), partial(stored_ball, folder)
    return AnalysedMatch(read_sheet_of(folder), tables, spans, *positions, tables_key(folder))


def by_selected(table: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """The rows of a table that are by the team and the players of a selection."""
    if selection.team:
        table = table[table.team == selection.team]
    return table[table.player.isin(selection.players)] if selection.players else table


def turned(table: pd.DataFrame, end: str) -> tuple[pd.Series, pd.Series]:
    """Places of rows as their team attacks to the right. ``end`` is ``start`` or ``end``."""
    sign = table.attacks_x.fillna(1).astype(float)
    return table[f"{end}_x_m"].astype(float) * sign, table[f"{end}_y_m"].astype(float) * sign


def with_places(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of a table, with begin (``x_m``, ``y_m``) and end of each row, attacking to the right, and rows."""
    found = table[list(columns)].copy()
    found["x_m"], found["y_m"] = turned(table, "start")
    if "end_x_m" in table:
        found["end_x_m"], found["end_y_m"] = turned(table, "end")
    found["rows"] = [[row] for row in table.row]
    return found.reset_index(drop=True)


def _text(name: str, row: dict[str, object]) -> str:
    """One line about an action, without time and actor."""
    if name == "duels":
        ended = {True: "won", False: "lost"}.get(row["won"], "open")  # type: ignore[arg-type]
        parts = [row["type"], ended, "against", row["opponent_shirt"] or row["opponent"]]
    elif name == "possessions":
        parts = ["possession:", row["begin"], "to", row["end"] or "the end of the record"]
    elif name == "sprints":
        parts = ["sprint", f"{3.6 * float(row['top_m_s'] or 0):.0f} km/h"]  # type: ignore[arg-type]
    elif name == "goals":
        parts = ["own goal" if row["own"] else "goal", f"{row['home_goals']}:{row['away_goals']}"]
    else:
        whom = row.get("receiver_shirt")
        to = f"to {whom:.0f}" if isinstance(whom, float) and np.isfinite(whom) else ""
        parts = [row.get("restart"), {"passes": "pass", "shots": "shot", "carries": "carry"}[name], to, row["outcome"]]
    known = [f"{part:.0f}" if isinstance(part, float) else str(part) for part in parts if part and part == part]
    return " ".join(known).replace("_", " ")


def _in_zone(x_m: np.ndarray, y_m: np.ndarray, zone: tuple[float, float, float, float]) -> np.ndarray:
    x0_m, x1_m, y0_m, y1_m = zone
    return (x_m >= x0_m) & (x_m <= x1_m) & (y_m >= y0_m) & (y_m <= y1_m)
