"""Transitions and presses: what a team does when the ball changes sides, and how it goes for the ball."""

from __future__ import annotations

from app.analysis.match import AnalysedMatch, ChartData
from app.analysis.selection import Selection


def transitions(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each counter-press, attack, team press, press trigger and offside trap, and each ball that was won back.

    ``rows`` are the possession in which it begins. The notes count by team, kind and outcome, with mean seconds.
    """
    found = match.about("transitions", selection)
    people = match.named(found.player)
    table = found[["team", "kind", "outcome", "clock", "ts_us", "end_us"]].reset_index(drop=True)
    table["shirt"], table["name"] = people.shirt, people["name"].where(found.player.notna().to_numpy(), None)
    table["seconds"] = (table.end_us - table.ts_us) * 1e-6
    table["rows"] = [[row] if row >= 0 else [] for row in match.possessions_at(table.ts_us.to_numpy()).tolist()]
    grouped = table.assign(outcome=table.outcome.fillna("")).groupby(["team", "kind", "outcome"])
    counts = [[*keys, len(part), float(part.seconds.mean())] for keys, part in grouped]
    return ChartData(table, {"counts": counts})
