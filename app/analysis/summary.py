"""The numbers of the report for any selection: of both teams, and of each player, with the actions behind each."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from app.analysis.figures import (
    REGAINS,
    Report,
    Tables,
    contests,
    names_of,
    player_table,
    pressed_rows,
    team_figures,
)
from app.analysis.match import AnalysedMatch, ChartData
from app.analysis.running import running_of_all
from app.analysis.selection import Selection
from football.match_sheet import TEAMS

_Chosen = Callable[[Tables, str], pd.DataFrame]


def _mine(name: str, column: str = "", *values: object) -> _Chosen:
    """The rows of a table that are by a team, those with some values in a column."""

    def rows(tables: Tables, team: str) -> pd.DataFrame:
        table = tables[name][tables[name].team == team]
        return table[table[column].isin(values)] if column else table

    return rows


#: The actions behind each number of a team; distances have none.
_BEHIND: dict[str, _Chosen] = {
    "Goals": _mine("goals"), "xG": _mine("shots"), "Shots": _mine("shots"),
    "On target": _mine("shots", "on_target", True), "Possession": _mine("possessions"), "Passes": _mine("passes"),
    "Passes complete": _mine("passes", "outcome", "complete"),
    "Progressive passes": _mine("passes", "progressive", True),
    "Lines broken by passes": lambda tables, team: _mine("passes")(tables, team).query("lines_broken > 0"),
    "Crosses": _mine("passes", "cross", "cross"),
    "Attacks into the last third": _mine("possessions", "final_third", True),
    "Attacks into the box": _mine("possessions", "box", True), "Corners": _mine("passes", "restart", "corner"),
    "Balls won in play": _mine("possessions", "begin", *REGAINS),
    "Duels won": lambda tables, team: contests(tables["duels"]).query("winner_team == @team"),
    "Take-ons won": lambda tables, team: _mine("duels", "type", "take-on")(tables, team).query("won == True"),
    "Sprints": _mine("sprints"),
}  # fmt: skip


def team_table(match: AnalysedMatch, selection: Selection) -> ChartData:
    """The numbers of the report of both teams, with the actions behind each."""
    tables = dict.fromkeys(TEAMS, _tables(match, selection))
    if selection.score or selection.phase:
        tables = {team: _tables(match, match.as_seen_by(team, selection)) for team in TEAMS}
    figures = {team: team_figures(tables[team], match.sheet) for team in TEAMS}
    rows = []
    for one, other in zip(figures["home"], figures["away"], strict=True):
        found = {"figure": one.name, "home": one.home, "away": other.away, "digits": one.digits, "unit": one.unit}
        for team in TEAMS:
            found[f"{team}_rows"] = _behind(match, tables[team], one.name, team)
        rows.append(found)
    return ChartData(pd.DataFrame(rows), {"home": match.sheet.home, "away": match.sheet.away})


def _behind(match: AnalysedMatch, tables: Tables, figure: str, team: str) -> list[int]:
    if figure == "PPDA":
        let, _, tackled = pressed_rows(tables, team, match.sheet.length_m)
        return sorted({*let.row, *tackled.row})
    chosen = _BEHIND.get(figure)
    return [] if chosen is None else chosen(tables, team).row.tolist()


#: The actions behind each number of a player: the table, and the rows of it that are his.
_OF_PLAYER: dict[str, tuple[str, Callable[[pd.DataFrame, str], pd.Series]]] = {
    "Passes": ("passes", lambda t, who: t.player == who),
    "Done": ("passes", lambda t, who: (t.player == who) & (t.outcome == "complete")),
    "Fwd": ("passes", lambda t, who: (t.player == who) & t.progressive),
    "Key": ("passes", lambda t, who: (t.player == who) & t.key_pass),
    "Pack": ("passes", lambda t, who: (t.player == who) & (t.packing > 0)),
    "Recv": ("passes", lambda t, who: (t.receiver == who) & (t.outcome == "complete")),
    "Shots": ("shots", lambda t, who: t.player == who), "xG": ("shots", lambda t, who: t.player == who),
    "Goals": ("goals", lambda t, who: (t.player == who) & ~t.own.astype(bool)),
    "Carry m": ("carries", lambda t, who: t.player == who),
    "Duels": ("contests", lambda t, who: (t.player == who) | (t.opponent == who)),
    "Won": ("contests", lambda t, who: t.winner == who),
    "Take-on": ("duels", lambda t, who: (t.player == who) & (t.type == "take-on") & t.won.eq(True)),
    "Regain": ("possessions", lambda t, who: (t.player == who) & t.begin.isin(REGAINS)),
    "Sprints": ("sprints", lambda t, who: t.player == who),
}  # fmt: skip


def players(match: AnalysedMatch, selection: Selection) -> ChartData:
    """The numbers of the report of each player who took part; ``rows`` lists the actions behind each by its name."""
    tables = _tables(match, selection)
    report = Report(match.sheet, tables, (), (), names_of(match.sheet))
    sources = {**tables, "contests": contests(tables["duels"])}
    parts = []
    for team in match.teams(selection):
        table = player_table(report, team)
        table = table[table.index.isin(selection.players)] if selection.players else table
        people = match.named(table.index)
        numbers = table.reset_index(drop=True).rename(columns={"Min": "Minutes"})
        behind = [
            {name: sources[source].row[rule(sources[source], who)].tolist() for name, (source, rule) in
             _OF_PLAYER.items()}
            for who in table.index
        ]  # fmt: skip
        parts.append(pd.concat([people.assign(team=team), numbers], axis=1).assign(rows=behind))
    return ChartData(pd.concat(parts, ignore_index=True))


def _tables(match: AnalysedMatch, selection: Selection) -> Tables:
    """The tables of a selection; running is summed anew unless all of the match is chosen."""
    tables = match.selected_tables(selection)
    whole = selection.begin_us is None and selection.end_us is None
    if whole and not (selection.periods or selection.score or selection.zone or selection.phase):
        return {**tables, "running": match.tables["running"]}
    return {**tables, "running": running_of_all(match, selection)}
