"""The page about one player of a match, or goalkeeper: his numbers by part of the match and beside his team's.

It is made of the functions of the match report, and so has its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from app.analysis.figures import Report, ReportError, keepers, pass_matrix, player_table
from app.base.paper import COLOURS
from app.base.program import program_version
from app.report import charts
from app.report.page import cell, environment
from football.match_sheet import Player

#: Columns of the table of players, as this page calls them; minutes and the greatest speed are no sums.
_NAMES: Mapping[str, str] = {
    "Min": "Minutes", "Passes": "Passes", "Done": "Passes complete", "Fwd": "Progressive passes", "Key": "Key passes",
    "Pack": "Opponents passed", "Recv": "Passes received", "Shots": "Shots", "xG": "xG", "Goals": "Goals",
    "Carry m": "Carries, m", "Duels": "Duels", "Won": "Duels won", "Take-on": "Take-ons won",
    "Regain": "Balls won in play", "km": "Distance, km", "Fast m": "Above 20 km/h, m", "Sprints": "Sprints",
    "Top km/h": "Greatest speed, km/h",
}  # fmt: skip
_NO_SUMS = ("Min", "Top km/h")


def find_player(report: Report, asked: str) -> Player:
    """Return the player of an object id, of a shirt number, or of a part of a name that only one has.

    Raises:
        ReportError: none or several; the message lists them.
    """
    players = report.sheet.players
    for matches in (
        [p for p in players if p.object_id == asked],
        [p for p in players if asked and asked.lower() in p.name.lower()],
        [p for p in players if asked.isdecimal() and p.shirt == int(asked)],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(f"{p.object_id} ({p.name})" if p.name else p.object_id for p in matches)
            raise ReportError(f"--player {asked}: several have that: {listed}")
    there = ", ".join(p.object_id for p in players)
    raise ReportError(f"--player {asked}: nobody on the match sheet; there are {there}")


def player_page(report: Report, asked: str) -> str:
    """The page as HTML.

    Raises:
        ReportError: no such player, or he took no part.
    """
    player = find_player(report, asked)
    table = player_table(report, player.team)
    if player.object_id not in table.index:
        raise ReportError(f"--player {asked}: {report.names[player.object_id]} took no part")
    keeper = next((one for one in keepers(report) if one.name == report.names[player.object_id]), None)
    mine = player.team, player.object_id
    return environment().get_template("player.html.j2").render(
        sheet=report.sheet, name=report.names[player.object_id], team=player.team, keeper=keeper,
        faced=_faced(report, player) if keeper else [], parts=[part.name for part in report.periods],
        rows=_rows(report, player, table), mates=_mates(report, player),
        passes=Markup(charts.player_passes(report, *mine)), heat=Markup(charts.heat_map(report, *mine)),
        shots=Markup(charts.shot_map(report, *mine)), version=program_version(), colours=COLOURS,
    )  # fmt: skip


def _rows(report: Report, player: Player, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Each number: of the match, of each period, for 90 minutes, and for 90 minutes of a mate."""
    name = player.object_id
    by_part = [player_table(report._replace(tables=part.tables), player.team) for part in report.periods]
    field = [p.object_id for p in report.sheet.players if p.team == player.team and not p.goalkeeper]
    mates = table.reindex(field).sum()
    rows = []
    for column, label in _NAMES.items():
        cells = [cell(part[column].get(name, float("nan")), column) for part in (table, *by_part)]
        minutes, all_minutes = table.Min.get(name, 0.0), mates.Min
        if column in _NO_SUMS or pd.isna(minutes) or not minutes or not all_minutes:
            cells += ["", ""]
        else:
            rates = table[column][name] / minutes, mates[column] / all_minutes
            cells += [cell(90.0 * rate, column) for rate in rates]
        rows.append({"name": label, "cells": cells})
    return rows


def _mates(report: Report, player: Player) -> list[dict[str, Any]]:
    """How many complete passes each mate gave him and got from him; most of both first."""
    matrix = pass_matrix(report, player.team)
    if player.object_id not in matrix.index:
        return []
    given, got = matrix[player.object_id], matrix.loc[player.object_id]
    order = (given + got).sort_values(ascending=False, kind="stable")
    return [
        {"name": report.names[str(mate)], "given": int(given[mate]), "got": int(got[mate])}
        for mate, count in order.items()
        if count
    ]


def _faced(report: Report, player: Player) -> list[dict[str, Any]]:
    """The shots on target that a goalkeeper faced, in order."""
    shots = report.tables["shots"]
    faced = shots[(shots.team != player.team) & shots.outcome.isin(["goal", "saved"])]
    faced = faced[(faced.outcome == "goal") | (faced.stopped_by == player.object_id)]
    return [
        {
            "clock": shot.clock or "", "shooter": report.names.get(shot.player, "?"),
            "outcome": shot.outcome if pd.isna(shot.save) else shot.save,
            "metres": "" if pd.isna(shot.distance_m) else f"{shot.distance_m:.0f}",
            "xg": "" if pd.isna(shot.xg) else f"{shot.xg:.2f}",
        }
        for shot in faced.itertuples()
    ]  # fmt: skip
