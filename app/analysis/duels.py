"""Duels: where they were fought and who won them."""

from __future__ import annotations

import pandas as pd

from app.analysis.figures import contests
from app.analysis.match import AnalysedMatch, ChartData, with_places
from app.analysis.selection import Selection
from football.match_sheet import TEAMS

_DUEL = ("team", "player", "shirt", "name", "opponent", "opponent_shirt", "opponent_name", "clock", "ts_us", "type",
         "winner_team", "winner", "tackle", "won")  # fmt: skip


def duel_map(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each duel, aerial duel and take-on, with its winner. It belongs to both players. Of a team: those it won."""
    duels = match.chosen("duels", selection)
    duels = duels[duels.winner_team == selection.team] if selection.team else duels
    if selection.players:
        duels = duels[duels.player.isin(selection.players) | duels.opponent.isin(selection.players)]
    notes = {}
    for team in TEAMS:
        notes[team] = {
            kind: int(((duels.type == kind) & (duels.winner_team == team)).sum())
            for kind in ("ground", "loose", "aerial", "take-on")
        }
    return ChartData(with_places(duels, _DUEL), notes)


def duel_table(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Contests of each player, by kind: those fought and those won. A take-on counts for both."""
    duels = match.chosen("duels", selection)
    sides = pd.concat([duels.assign(who=duels.player), duels.assign(who=duels.opponent)]).dropna(subset=["who"])
    sides = contests(sides, take_ons=True)
    sides = sides.assign(mine=sides.winner == sides.who)
    by = sides.groupby("who")
    table = pd.DataFrame({"n": by.size(), "won": by.mine.sum()})
    for kind in ("ground", "loose", "aerial", "take-on"):
        of_kind = sides[sides.type == kind]
        table[kind] = of_kind.groupby("who").size().reindex(table.index, fill_value=0)
        table[f"{kind} won"] = of_kind.groupby("who").mine.sum().reindex(table.index, fill_value=0)
    table["rows"] = by.row.agg(lambda rows: sorted(set(rows)))
    people = match.named(table.index).set_index("player")
    teams = {player.object_id: player.team for player in match.sheet.players}
    table = table.join(people).assign(team=[teams.get(one, "") for one in table.index])
    table = table.rename_axis("player").reset_index().sort_values(["team", "n"], ascending=[False, False])
    table = table[table.team.isin(match.teams(selection))]
    table = table[table.player.isin(selection.players)] if selection.players else table
    return ChartData(table.reset_index(drop=True))
