"""Where players were: heat maps, average positions with and without the ball, formations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app.analysis.match import AnalysedMatch, ChartData, turned
from app.analysis.selection import Selection

#: A player needs as many seconds for an average position.
_SECONDS_MIN = 60.0


def heat_map(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Seconds and share of the time of the chosen players in each cell of the pitch that they were in."""
    columns, lines = _cells(selection)
    tracks = match.selected_tracks(selection)
    counts = _grid(match, tracks.x_m.to_numpy(), tracks.y_m.to_numpy(), columns, lines)
    return ChartData(_cell_table(match, counts, scale=0.2), {"cells": [columns, lines], "seconds": 0.2 * counts.sum()})


def touch_map(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Actions with the ball of the chosen players in each cell: passes, receptions, carries and shots."""
    columns, lines = _cells(selection)
    places, rows = [], []
    for name, ends in (("passes", ("start",)), ("carries", ("start", "end")), ("shots", ("start",))):
        table = match.about(name, selection)
        for end in ends:
            places.append(np.column_stack(turned(table, end)))
            rows.append(table.row.to_numpy())
    received = match.chosen("passes", selection).query("outcome == 'complete'")
    received = received[received.team == selection.team] if selection.team else received
    received = received[received.receiver.isin(selection.players)] if selection.players else received
    places.append(np.column_stack(turned(received, "end")))
    rows.append(received.row.to_numpy())
    xy, behind = np.vstack(places).astype(float), np.concatenate(rows)
    known = np.isfinite(xy).all(axis=1)
    xy, behind = xy[known], behind[known]
    table = _cell_table(match, _grid(match, xy[:, 0], xy[:, 1], columns, lines), scale=1.0)
    inside = _indices(match, xy[:, 0], xy[:, 1], columns, lines)
    by_cell: dict[tuple[int, int], list[int]] = {}
    for cell, row in zip(map(tuple, inside.T), behind, strict=True):
        by_cell.setdefault(cell, []).append(int(row))
    table["rows"] = [sorted(set(by_cell.get(cell, []))) for cell in zip(table.column, table.line, strict=True)]
    return ChartData(table, {"cells": [columns, lines], "actions": len(xy)})


def average_positions(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Average place of each player with (``in``) and without (``out``) possession of his team, and its spread."""
    tracks = match.selected_tracks(selection)
    by = tracks.groupby(["team", "player", "has_ball"], observed=True)
    table = by.agg(x_m=("x_m", "mean"), y_m=("y_m", "mean"), spread_x_m=("x_m", "std"), spread_y_m=("y_m", "std"),
                   seconds=("step_s", "sum")).reset_index()  # fmt: skip
    table = table[table.seconds >= _SECONDS_MIN].reset_index(drop=True)
    people = match.named(table.player)
    keepers = {player.object_id for player in match.sheet.players if player.goalkeeper}
    table = table.assign(
        shirt=people.shirt, name=people["name"], phase=np.where(table.has_ball, "in", "out"),
        goalkeeper=table.player.isin(keepers), team=table.team.astype(str), player=table.player.astype(str),
    ).drop(columns="has_ball")  # fmt: skip
    notes: dict[str, object] = {
        f"{team} {phase}": _shape(rows) for (team, phase), rows in table.groupby(["team", "phase"])
    }
    notes["formations"] = {team: _formations(match, selection, team) for team in match.teams(selection)}
    return ChartData(table, {**notes, "measured": bool(len(match.tracks))})


def _formations(match: AnalysedMatch, selection: Selection, team: str) -> str:
    """The formations of a team in the time of a selection, in order, such as ``4-4-2, 4-3-3``."""
    mine = match.tables["formations"]
    mine = mine[mine.team == team].sort_values("since_us")
    until_us = [*mine.since_us, 2**62][1:]
    begin_us, end_us = match.time_of(selection)
    names = [
        name
        for name, since, until in zip(mine.formation, mine.since_us, until_us, strict=True)
        if since < end_us and until > begin_us
    ]
    return ", ".join(name for index, name in enumerate(names) if index == 0 or names[index - 1] != name)


def _shape(rows: pd.DataFrame) -> dict[str, float]:
    """Length and width of a team by the average places of its outfield players, and the height of its last line."""
    field = rows[~rows.goalkeeper].nlargest(10, "seconds")
    if field.empty:
        return {}
    return {
        "length_m": float(field.x_m.max() - field.x_m.min()), "width_m": float(field.y_m.max() - field.y_m.min()),
        "last_line_x_m": float(field.x_m.nsmallest(4).mean()), "players": float(len(field)),
    }  # fmt: skip


def _cells(selection: Selection) -> tuple[int, int]:
    """Cells along and across the pitch; DEBS 2013 names those across first."""
    across, along = selection.grid.split("x")
    return int(along), int(across)


def _indices(match: AnalysedMatch, x_m: np.ndarray, y_m: np.ndarray, columns: int, lines: int) -> np.ndarray:
    column = np.floor((x_m / match.sheet.length_m + 0.5) * columns)
    line = np.floor((y_m / match.sheet.width_m + 0.5) * lines)
    return np.stack([column, line]).astype(int)


def _grid(match: AnalysedMatch, x_m: np.ndarray, y_m: np.ndarray, columns: int, lines: int) -> np.ndarray:
    column, line = _indices(match, x_m, y_m, columns, lines)
    inside = (column >= 0) & (column < columns) & (line >= 0) & (line < lines)
    flat = np.bincount(column[inside] * lines + line[inside], minlength=columns * lines)
    return flat.reshape(columns, lines)


def _cell_table(match: AnalysedMatch, counts: np.ndarray, scale: float) -> pd.DataFrame:
    """A row for each cell that is not empty: its number along and across, its middle, its amount and share."""
    column, line = np.nonzero(counts)
    amount = counts[column, line] * scale
    columns, lines = counts.shape
    return pd.DataFrame(
        {
            "column": column, "line": line, "x_m": ((column + 0.5) / columns - 0.5) * match.sheet.length_m,
            "y_m": ((line + 0.5) / lines - 0.5) * match.sheet.width_m, "amount": amount,
            "share": amount / amount.sum() if len(amount) else amount,
        }
    )  # fmt: skip
