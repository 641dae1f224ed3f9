"""Passes: who to whom, in which directions, where to, and those that brought the ball forward."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app.analysis.figures import network_of
from app.analysis.match import AnalysedMatch, ChartData, turned, with_places
from app.analysis.selection import Selection

_SHOWN = (
    "team", "player", "shirt", "name", "receiver", "receiver_shirt", "receiver_name", "clock", "ts_us", "outcome",
    "length_m", "gain_m", "packing", "lines_broken", "key_pass",
)  # fmt: skip

#: Directions of a sonar: each is 45 degrees wide, the first one points forward.
SECTORS = 8

#: Cells of the flow map along and across.
FLOW = (6, 4)


def pass_network(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Average places of passes and receptions (``node``), and complete passes from player to player (``link``)."""
    complete = match.about("passes", selection).query("outcome == 'complete'")
    parts = []
    for team in match.teams(selection):
        done = complete[complete.team == team]
        nodes, pairs = network_of(done)
        people = match.named(nodes.index)
        mine = [done.row[(done.player == one) | (done.receiver == one)].tolist() for one in nodes.index]
        parts.append(
            people.assign(kind="node", team=team, x_m=nodes.x.to_numpy(), y_m=nodes.y.to_numpy(), n=nodes.n.to_numpy(),
                          rows=mine)
        )  # fmt: skip
        links = pairs[[one in nodes.index and other in nodes.index for one, other in pairs.index]]
        rows = done.groupby(["player", "receiver"]).row.agg(list).reindex(links.index)
        ends = [nodes.loc[[name for name, _ in links.index]], nodes.loc[[name for _, name in links.index]]]
        linked = match.named([name for name, _ in links.index]).assign(
            kind="link", team=team, receiver=[name for _, name in links.index], n=links.to_numpy(),
            x_m=ends[0].x.to_numpy(), y_m=ends[0].y.to_numpy(), end_x_m=ends[1].x.to_numpy(),
            end_y_m=ends[1].y.to_numpy(), rows=list(rows),
        )  # fmt: skip
        parts.append(linked)
    return ChartData(pd.concat(parts, ignore_index=True), {"passes": len(complete)})


def pass_sonar(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each passer and direction: passes, complete ones and their mean length, at his average place."""
    passes = match.about("passes", selection)
    passes = passes[passes.angle_rad.notna()]
    x_m, y_m = turned(passes, "start")
    width = 2 * np.pi / SECTORS
    passes = passes.assign(x_m=x_m, y_m=y_m, sector=np.floor(passes.angle_rad / width + 0.5).astype(int) % SECTORS)
    by = passes.groupby(["team", "player", "sector"])
    table = by.agg(
        n=("row", "size"), complete=("outcome", lambda names: int((names == "complete").sum())),
        length_m=("length_m", "mean"), rows=("row", list),
    ).reset_index()  # fmt: skip
    places = passes.groupby("player")[["x_m", "y_m"]].mean()
    people = match.named(table.player)
    table = table.assign(
        angle_rad=table.sector * width, x_m=places.x_m.reindex(table.player).to_numpy(),
        y_m=places.y_m.reindex(table.player).to_numpy(), shirt=people.shirt, name=people["name"],
    )  # fmt: skip
    return ChartData(table, {"passes": len(passes), "sectors": SECTORS})


def pass_flow(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each cell of the pitch: passes that begin there, and where they lead on average."""
    passes = match.about("passes", selection)
    (x_m, y_m), (end_x_m, end_y_m) = turned(passes, "start"), turned(passes, "end")
    length_m, width_m = match.sheet.length_m, match.sheet.width_m
    frame = pd.DataFrame(
        {
            "team": passes.team, "x_m": x_m, "y_m": y_m, "dx_m": end_x_m - x_m, "dy_m": end_y_m - y_m,
            "rows": passes.row, "column": _cell(x_m, length_m, FLOW[0]), "line": _cell(y_m, width_m, FLOW[1]),
        }
    ).dropna(subset=["dx_m", "x_m"])  # fmt: skip
    table = frame.groupby(["team", "column", "line"]).agg(
        n=("rows", "size"), dx_m=("dx_m", "mean"), dy_m=("dy_m", "mean"), rows=("rows", list)
    )
    table = table.reset_index()
    table["x_m"] = ((table.column + 0.5) / FLOW[0] - 0.5) * length_m
    table["y_m"] = ((table.line + 0.5) / FLOW[1] - 0.5) * width_m
    return ChartData(table, {"passes": len(frame), "cells": list(FLOW)})


def pass_matrix(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Complete passes from each player to each mate; a row for each pair with one or more."""
    done = match.about("passes", selection).query("outcome == 'complete'").dropna(subset=["receiver"])
    table = done.groupby(["team", "player", "receiver"]).agg(n=("row", "size"), rows=("row", list)).reset_index()
    one, other = match.named(table.player), match.named(table.receiver)
    table = table.assign(
        shirt=one.shirt, name=one["name"], receiver_shirt=other.shirt, receiver_name=other["name"]
    )  # fmt: skip
    return ChartData(table, {"passes": len(done)})


def progressive_passes(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Passes that brought the ball much nearer to the goal (8.7)."""
    return _map(match, selection, lambda passes: passes.progressive.astype(bool))


def line_breaking_passes(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Passes that went past a line of the opponents (8.9)."""
    return _map(match, selection, lambda passes: passes.lines_broken > 0)


def all_passes(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Every pass."""
    return _map(match, selection, lambda passes: passes.row >= 0)


def _map(match: AnalysedMatch, selection: Selection, wanted) -> ChartData:
    passes = match.about("passes", selection)
    chosen = passes[wanted(passes)]
    done = chosen.outcome.eq("complete")
    notes = {
        team: {"passes": int((chosen.team == team).sum()), "complete": int((done & (chosen.team == team)).sum())}
        for team in match.teams(selection)
    }
    return ChartData(with_places(chosen, _SHOWN), notes)


def _cell(values: pd.Series, whole_m: float, cells: int) -> pd.Series:
    return np.floor((values / whole_m + 0.5) * cells).clip(0, cells - 1)
