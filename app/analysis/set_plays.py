"""Set plays laid over each other: where the delivery went, and what came of it."""

from __future__ import annotations

import pandas as pd

from app.analysis.match import AnalysedMatch, ChartData, with_places
from app.analysis.selection import Selection

_SHOWN = ("team", "player", "shirt", "name", "clock", "ts_us", "restart", "outcome")

#: A shot or goal of the same team this soon is what a set play led to (14.6).
_LEADS_US = 10_000_000


def set_plays(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each restart: begin and end of its kick or throw, and whether its team shot within ten seconds."""
    parts = []
    for name in ("passes", "shots"):
        taken = match.about(name, selection)
        taken = taken[taken.restart.notna()]
        parts.append(with_places(taken, _SHOWN).assign(shot=name == "shots"))
    table = pd.concat(parts, ignore_index=True)
    shots = match.chosen("shots", selection)
    led = [_led_to(shots, team, ts_us) for team, ts_us in zip(table.team, table.ts_us, strict=True)]
    table["shots"] = [len(rows) for rows in led]
    table["goals"] = [int((rows.outcome == "goal").sum()) for rows in led]
    table["xg"] = [float(rows.xg.fillna(0.0).sum()) for rows in led]
    table["rows"] = [[*own, *rows.row[~rows.row.isin(own)]] for own, rows in zip(table.rows, led, strict=True)]
    counted = table.groupby(["team", "restart"]).agg(
        n=("shots", "size"), shots=("shots", "sum"), goals=("goals", "sum")
    )
    notes = {
        team: {restart: [int(value) for value in row] for (side, restart), row in
               zip(counted.index, counted.to_numpy(), strict=True) if side == team}
        for team in match.teams(selection)
    }  # fmt: skip
    return ChartData(table.sort_values("ts_us").reset_index(drop=True), notes)


def _led_to(shots: pd.DataFrame, team: str, ts_us: int) -> pd.DataFrame:
    return shots[(shots.team == team) & (shots.ts_us >= ts_us) & (shots.ts_us <= ts_us + _LEADS_US)]
