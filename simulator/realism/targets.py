"""Target ranges of a match's figures, and a comparison of several matches.

A figure's range is what top matches show. A published average decides where there is one, and its source is named.
For the rest the real match at hand (Portugal-Switzerland, Nations League 2019, first 20 minutes, TRACAB) gives the
middle, and the range is as wide as matches differ, a quarter to either side or as said. Counts by detectors are
compared with detectors' counts of the real match, because they miss some events and see some twice. Counts by truth
(``true_...``) are compared with published counts, which people have made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich.table import Table

from simulator.records import Row

_REAL = "Portugal-Switzerland, +-25 %"


class Range(NamedTuple):
    """A range from ``low`` to ``high``, and its source."""

    low: float
    high: float
    source: str


def _around(value: float, share: float = 0.25, source: str = _REAL) -> Range:
    low, high = sorted((value * (1.0 - share), value * (1.0 + share)))
    return Range(low, high, source)


#: By name as in ``simulator.realism.estimates.measure``: the same estimator on both.
MEASURED: Mapping[str, Range] = {
    "in_play_share": Range(0.50, 0.75, "CIES Observatory 2021, report 64: mean 61 %, leagues 56-67 %"),
    "passes_min_in_play": _around(20.7),
    "pass_completion": Range(0.65, 0.88, "Portugal-Switzerland 0.75 as detected, leagues 0.78-0.86 as labelled"),
    "pass_length_m_p10": _around(7.4),
    "pass_length_m_p50": _around(15.0),
    "pass_length_m_p90": _around(26.2),
    "pass_over_30_m_share": Range(0.03, 0.14, "Portugal-Switzerland 0.07, halved to doubled"),
    "kick_speed_m_s_p10": _around(5.4),
    "kick_speed_m_s_p50": _around(13.3),
    "kick_speed_m_s_p90": Range(18.0, 30.0, "Portugal-Switzerland 27.4, straight-line track, so rather high"),
    "contacts_min_in_play": Range(46.0, 115.0, "Portugal-Switzerland 92, many of a shaking track: -50 %, +25 %"),
    "team_changes_min_in_play": Range(4.5, 12.0, "Portugal-Switzerland 9.6 with false ones: -50 %, +25 %"),
    "shots_90": Range(10.0, 34.0, "as true_shots_90; detectors miss some"),
    "goals_90": Range(0.0, 7.0, "as true_goals_90"),
    "throw_ins_90": Range(25.0, 50.0, "as true_throw_ins_90"),
    "corners_90": Range(5.0, 18.0, "as true_corners_90"),
    "goal_kicks_90": Range(9.0, 24.0, "as true_goal_kicks_90"),
    "free_kicks_90": Range(15.0, 38.0, "as true_free_kicks_90"),
    "ball_speed_m_s_p10": Range(0.8, 2.5, "Portugal-Switzerland 1.5"),
    "ball_speed_m_s_p50": _around(6.1),
    "ball_speed_m_s_p90": _around(15.9),
    "ball_speed_m_s_p99": _around(25.9),
    "ball_ground_share": Range(0.60, 0.82, "Portugal-Switzerland 0.71"),
    "ball_low_share": Range(0.09, 0.27, "Portugal-Switzerland 0.18, +-50 %"),
    "ball_head_share": Range(0.016, 0.06, "Portugal-Switzerland 0.032, halved to doubled"),
    "ball_high_share": Range(0.04, 0.14, "Portugal-Switzerland 0.076, halved to doubled"),
    "ball_to_nearest_m_p50": Range(0.8, 1.9, "Portugal-Switzerland 1.3"),
    "ball_to_nearest_m_p90": Range(3.5, 6.5, "Portugal-Switzerland 5.1"),
    "ball_across_median": Range(0.35, 0.65, "Portugal-Switzerland 0.50"),
    "ball_in_boxes_share": Range(0.05, 0.21, "Portugal-Switzerland 0.14"),
    "team_length_m_p10": _around(25.3),
    "team_length_m_p50": _around(34.2),
    "team_length_m_p90": _around(44.6),
    "team_width_m_p10": _around(30.3),
    "team_width_m_p50": _around(38.9),
    "team_width_m_p90": _around(57.8, 0.2),
    "nearest_mate_m_p10": _around(5.6),
    "nearest_mate_m_p50": _around(10.5),
    "nearest_mate_m_p90": _around(16.7),
    "nearest_opponent_m_p10": Range(1.2, 2.8, "Portugal-Switzerland 1.8"),
    "nearest_opponent_m_p50": _around(5.4),
    "nearest_opponent_m_p90": _around(12.2),
    "centroids_apart_m_median": Range(4.5, 9.5, "Portugal-Switzerland 6.7"),
    "keeper_off_line_m_median": Range(8.0, 18.0, "Portugal-Switzerland 14.1"),
    "distance_outfield_m_90": Range(9500.0, 12000.0, "Bradley 2009 (Premier League): 9.9-11.5 km by position"),
    "distance_keeper_m_90": Range(4600.0, 6600.0, "Di Salvo 2008 (Premier League): 5.6 +- 0.6 km"),
    "standing_share": Range(0.02, 0.10, "Portugal-Switzerland 0.04"),
    "trot_share": Range(0.62, 0.80, "Portugal-Switzerland 0.72"),
    "low_share": Range(0.08, 0.16, "Portugal-Switzerland 0.11"),
    "medium_share": Range(0.045, 0.095, "Portugal-Switzerland 0.064"),
    "high_share": Range(0.035, 0.075, "Portugal-Switzerland 0.052"),
    "sprint_share": Range(0.004, 0.014, "Portugal-Switzerland 0.009"),
    "distance_above_17_kmh_m_90": _around(1866.0),
    "distance_sprint_m_90": Range(180.0, 450.0, "Portugal-Switzerland 350; Di Salvo 2009: 170-260 m over 25.2 km/h"),
    "sprints_90": Range(8.0, 24.0, "Portugal-Switzerland 16"),
    "speed_m_s_p50": Range(1.4, 2.1, "Portugal-Switzerland 1.7"),
    "speed_m_s_p90": Range(3.6, 4.7, "Portugal-Switzerland 4.2"),
    "speed_m_s_p99": Range(5.9, 7.2, "Portugal-Switzerland 6.5"),
    "speed_m_s_p99.9": Range(7.6, 9.0, "Portugal-Switzerland 8.4"),
    "speed_top_m_s": Range(8.6, 10.3, "Portugal-Switzerland 9.7; leagues' fastest 10.0-10.3"),
    "acceleration_m_s2_p0.5": Range(-6.0, -2.8, "Portugal-Switzerland -5.0 with track repairs"),
    "acceleration_m_s2_p5": _around(-2.06),
    "acceleration_m_s2_p95": _around(2.09),
    "acceleration_m_s2_p99.5": Range(2.8, 5.5, "Portugal-Switzerland 4.7 with track repairs"),
}

#: Ranges that analysts of top leagues would sign; no one source.
_COMMON = "top leagues, as commonly reported"
_CIES = "CIES Observatory 2021, report 64"

#: By name as in :func:`tally`: what people count.
COUNTED: Mapping[str, Range] = {
    "true_in_play_share": Range(0.50, 0.72, f"{_CIES}: mean 61 %"),
    "true_passes_90": Range(700.0, 1150.0, "Opta of the Premier League 2025/26: 858 a match; earlier seasons to 950"),
    "true_pass_completion": Range(0.70, 0.90, f"{_COMMON}: 0.78-0.86, teams 0.70-0.90"),
    "true_pass_length_m_p50": Range(12.0, 19.0, "Portugal-Switzerland 15.0"),
    "true_shots_90": Range(15.0, 36.0, "PA 2016 of the Premier League 2015/16: 25.8 a match"),
    "true_shots_on_target_share": Range(0.22, 0.45, "PA 2016 of the Premier League 2015/16: 8.4 of 25.8"),
    "true_goals_90": Range(0.0, 6.0, "PA 2016 of the Premier League 2015/16: 2.7 a match"),
    "true_fouls_90": Range(14.0, 32.0, "leagues 2022/23: 20-28 a match (Premier League 21.1, Portugal 28.4)"),
    "true_offsides_90": Range(0.0, 9.0, f"{_COMMON}: 3-5 a match"),
    "true_throw_ins_90": Range(28.0, 56.0, f"{_COMMON}: about 40 a match"),
    "true_corners_90": Range(5.0, 16.0, f"{_COMMON}: about 10.5 a match"),
    "true_goal_kicks_90": Range(9.0, 25.0, f"{_COMMON}: about 16 a match"),
    "true_free_kicks_90": Range(16.0, 38.0, f"{_COMMON}: fouls and offsides, 24-30 a match"),
    "true_penaltys_90": Range(0.0, 2.0, f"{_COMMON}: 0.25-0.35 a match"),
    "true_stoppages_90": Range(85.0, 130.0, "Siegle and Lames 2012: 108 +- 13 a match (men's league)"),
    "true_headers_90": Range(60.0, 180.0, f"{_COMMON}: aerial duels 30-60, and clearances"),
    "true_crosses_90": Range(15.0, 55.0, f"{_COMMON}: 25-40 a match"),
    "true_tackles_90": Range(20.0, 60.0, f"{_COMMON}: 30-46 a match, won or not"),
    "true_interceptions_90": Range(8.0, 50.0, f"{_COMMON}: 15-25 a match, to 43 in the Premier League 2015/16"),
}

_RESTARTS = ("throw_in", "corner", "goal_kick", "free_kick", "penalty")


def tally(noted: Sequence[Row], until_s: float, seconds: float, in_play_s: float) -> dict[str, float]:
    """Count a simulated match's rows of truth, by name.

    Args:
        noted: all rows of play; ``until_s``: later rows do not count.
        seconds: length of the halves that were played; ``in_play_s`` the time in play.
    """
    rows = [row for row in noted if row.t_s < until_s]
    kinds = Counter(row.kind for row in rows)
    nineties = max(seconds / 5400.0, 1e-9)
    passes = [row for row in rows if row.kind == "pass.attempt"]
    done = Counter(str(row.detail.get("outcome", "")) for row in passes)
    lengths = [_length_m(noted, row) for row in rows if row.kind == "pass.complete"]
    meant = Counter(str(row.detail.get("what", "")) for row in passes)
    shots = [row for row in rows if row.kind == "shot.attempt"]
    on_target = sum(row.detail.get("outcome") in ("goal", "saved") for row in shots)
    stops = sum(kinds[f"restart.{kind}"] for kind in (*_RESTARTS, "kick_off", "dropped"))
    return {
        "true_in_play_share": in_play_s / max(seconds, 1e-9),
        "true_passes_90": len(passes) / nineties,
        "true_pass_completion": done["complete"] / max(sum(done.values()) - done[""], 1),
        "true_pass_length_m_p50": float(np.nanmedian(lengths)) if lengths else math.nan,
        "true_shots_90": len(shots) / nineties,
        "true_shots_on_target_share": on_target / max(len(shots), 1),
        "true_goals_90": (kinds["goal.scored"] + kinds["goal.own"]) / nineties,
        "true_fouls_90": kinds["foul"] / nineties,
        "true_offsides_90": kinds["offside.offence"] / nineties,
        **{f"true_{kind}s_90": kinds[f"restart.{kind}"] / nineties for kind in _RESTARTS},
        "true_stoppages_90": stops / nineties,
        "true_headers_90": kinds["header"] / nineties,
        "true_crosses_90": (meant["cross"] + meant["cutback"]) / nineties,
        "true_tackles_90": (kinds["tackle.won"] + kinds["tackle.lost"]) / nineties,
        "true_interceptions_90": kinds["interception"] / nineties,
    }


def _length_m(rows: Sequence[Row], ended: Row) -> float:
    """Return the length of a pass from its kick to its end."""
    attempt = next((rows[c] for c in ended.causes if rows[c].kind == "pass.attempt"), None)
    return math.nan if attempt is None else math.dist(attempt.position[:2], ended.position[:2])


def verdict(name: str, value: float) -> str:
    """Return ``ok``, ``low``, ``high``, ``?`` (nothing was measured), or empty if no range is known.

    >>> verdict("true_goals_90", 2.7), verdict("true_goals_90", 9.0)
    ('ok', 'high')
    """
    expected = MEASURED.get(name) or COUNTED.get(name)
    if expected is None:
        return ""
    if math.isnan(value):
        return "?"
    return "low" if value < expected.low else "high" if value > expected.high else "ok"


def as_table(matches: Mapping[str, Mapping[str, float]]) -> Table:
    """Return figures of several matches by their names, a column each, with ranges and verdicts."""
    table = Table(title="Realism", show_lines=False)
    table.add_column("figure", no_wrap=True)
    for name in matches:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("range", justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    names = list(dict.fromkeys(name for figures in matches.values() for name in figures))
    for name in names:
        expected = MEASURED.get(name) or COUNTED.get(name)
        cells = [_cell(name, figures.get(name)) for figures in matches.values()]
        bounds = f"{_short(expected.low)} .. {_short(expected.high)}" if expected else ""
        table.add_row(name, *cells, bounds, expected.source if expected else "")
    return table


def as_json(matches: Mapping[str, Mapping[str, float]]) -> dict[str, object]:
    """Return the same as plain values: of every match value and verdict by figure, and the ranges; NaN becomes None."""
    ranges = {name: expected._asdict() for name, expected in {**MEASURED, **COUNTED}.items()}
    figures = {
        match: {
            name: {"value": None if math.isnan(value) else round(float(value), 4), "verdict": verdict(name, value)}
            for name, value in measured.items()
        }
        for match, measured in matches.items()
    }
    return {"ranges": ranges, "matches": figures}


def outside(figures: Mapping[str, float]) -> list[str]:
    """Names of the figures that are not in their range."""
    return [name for name, value in figures.items() if verdict(name, value) in ("low", "high")]


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    rating = verdict(name, value)
    colour = {"ok": "green", "low": "red", "high": "red"}.get(rating, "dim")
    mark = {"low": " ↓", "high": " ↑", "ok": "  "}.get(rating, "  ")
    return f"[{colour}]{_short(value)}{mark}[/{colour}]"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
