"""A match as the analyst's room reads it: the tables with a number for each row, and the tracks of the players.

Each row of a table is an *action* with a number. A chart names the numbers of the actions behind each of its values, so
that every value can be followed to its events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from app.analysis.selection import Selection
from app.tables.stored import stored_ball, stored_further, stored_tables, stored_tracks, tables_key
from football.match_sheet import TEAMS, MatchSheet
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
        tables: the analyst's tables, ``formations``, ``stints``, ``chains``, ``win_chances`` and ``transitions``.
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
        # A goal begins with its shot, when the ball was in play; an own goal lies in no zone.
        goals, shots = self.tables["goals"], self.tables["shots"].drop_duplicates("id").set_index("id")
        goals["begin_us"] = goals.shot.map(shots.ts_us).fillna(goals.ts_us).astype("int64")
        for name in ("start_x_m", "start_y_m"):
            goals[name] = goals.shot.map(shots[name]).astype(float)
        # A duel that wins the ball is fought before its winner has it.
        self.tables["duels"]["begin_us"] = self.tables["duels"].ts_us - 1
        self._read_tracks, self._read_ball = tracks, ball

    def chosen(self, name: str, selection: Selection) -> pd.DataFrame:
        """The rows of a table in the time, score, phase and zone of a selection, of both teams."""
        table = self.tables[name]
        return table[self.kept(table, turned(table, "start") if "start_x_m" in table else None, selection)]

    def kept(self, table: pd.DataFrame, place: tuple[pd.Series, pd.Series] | None, selection: Selection) -> np.ndarray:
        """True for the rows in the time, score, phase and zone of a selection.

        Args:
            table: rows with ``ts_us``, ``period`` and ``team``; ``begin_us`` if its phase is of another instant.
            place: x and y of each row in metres, as its team attacks to the right; None: they lie in every zone.
            selection: what to keep.
        """
        times = table.ts_us.to_numpy()
        keep = self._in_time(times, table.period.to_numpy(float), selection)
        if selection.score or selection.phase:
            mine = table.team.to_numpy(object) if not selection.team else np.full(len(table), selection.team, object)
            if selection.score:
                keep &= self._in_score(times, mine == "home", selection)
            if selection.phase:
                begins = table.begin_us.to_numpy() if "begin_us" in table else times
                keep &= (self.holders(begins) == mine) == (selection.phase == "in")
        if selection.zone is not None and place is not None:
            x_m, y_m = (value.to_numpy(float) for value in place)
            keep &= _in_zone(x_m, y_m, selection.zone)
        return keep

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
        table["has_ball"] = self.holders(table.ts_us.to_numpy()) == table.team.to_numpy(object)
        return table

    def chosen_tracks(self, selection: Selection) -> pd.DataFrame:
        """The rows of :attr:`tracks` in the time, score, phase and zone of a selection, of both teams."""
        table = self.tracks
        return table[self.kept(table, (table.x_m, table.y_m), selection)]

    def selected_tracks(self, selection: Selection) -> pd.DataFrame:
        """The rows of :meth:`chosen_tracks` that are of the team and the players of the selection."""
        return by_selected(self.chosen_tracks(selection), selection)

    @cached_property
    def ball(self) -> pd.DataFrame:
        """Where the ball was, five times a second in play: columns of ``BALL`` as they are stored.

        Columns besides: ``period``, ``team`` and ``player`` who had it, empty for nobody.
        """
        table = self._read_ball().to_pandas()
        table["period"] = self.periods_of(table.ts_us.to_numpy())
        table = table[table.period > 0].reset_index(drop=True)
        times, stints = table.ts_us.to_numpy(), self.tables["stints"]
        table["team"] = self.holders(times)
        table["player"] = np.append(stints.player.to_numpy(object), "")[_within(stints, times)]
        return table

    def selected_ball(self, selection: Selection) -> pd.DataFrame:
        """The rows of :attr:`ball` that a selection takes: with its team and players, while they have the ball.

        Score, phase and zone are those of the team that has it, so they leave out the ball that nobody has.
        """
        table = self.ball
        if selection.score or selection.phase or selection.zone is not None:
            table = table[table.team != ""]
        return by_selected(table[self.kept(table, self.ball_of(table), selection)], selection)

    def ball_of(self, table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
        """Places of rows of the ball as the ``team`` of each row attacks to the right."""
        signs = self._signs(table)
        return table.x_m * signs, table.y_m * signs

    def possessions_at(self, times: np.ndarray) -> np.ndarray:
        """Number of the action (a possession) in which each event time lies, -1 for none."""
        had = self.tables["possessions"]
        return np.append(had.row.to_numpy(), -1)[_within(had, times)]

    def holders(self, times: np.ndarray) -> np.ndarray:
        """The team that has the ball at each event time, empty for none."""
        had = self.tables["possessions"]
        return np.append(had.team.to_numpy(object), "")[_within(had, times)]

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

    def as_seen_by(self, team: str, selection: Selection) -> Selection:
        """A selection whose score and phase are those of a team, unless another one is chosen."""
        return selection if selection.team else msgspec.structs.replace(selection, team=team)

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
        return np.sign(np.where(is_home, ahead, -ahead)) == {"ahead": 1, "level": 0, "behind": -1}[selection.score]


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


def _within(spans: pd.DataFrame, times: np.ndarray) -> np.ndarray:
    """Index of the row, from ``ts_us`` to ``end_us``, in which each event time lies, -1 for none. Rows are in order."""
    index = np.searchsorted(spans.ts_us.to_numpy(), times, side="right") - 1
    ends = np.append(spans.end_us.to_numpy(float), -np.inf)
    return np.where(times < ends[index], index, -1)


def _in_zone(x_m: np.ndarray, y_m: np.ndarray, zone: tuple[float, float, float, float]) -> np.ndarray:
    x0_m, x1_m, y0_m, y1_m = zone
    return (x_m >= x0_m) & (x_m <= x1_m) & (y_m >= y0_m) & (y_m <= y1_m)
