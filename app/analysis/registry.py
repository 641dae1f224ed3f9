"""The charts of the analyst's room: each has one function from a match and a selection to its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from app.analysis import (
    duels,
    passes,
    places,
    possession,
    pressing,
    running,
    set_plays,
    shape,
    shots,
    summary,
    transitions,
)
from app.analysis.match import AnalysedMatch, ChartData
from app.analysis.selection import Selection

Function = Callable[[AnalysedMatch, Selection], ChartData]


class Chart(NamedTuple):
    """A chart: its group, its title, its function.

    Attributes:
        options: fields of the selection that change its looks.
        whole: parts of the selection that do not narrow it, since they have no meaning for it.
    """

    group: str
    title: str
    function: Function
    options: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


#: By name, in the order of the page.
CHARTS: Mapping[str, Chart] = {
    "teams": Chart("Overview", "Teams", summary.team_table, (), ("team", "players")),
    "xg_race": Chart("Overview", "xG race", shots.xg_race),
    "win_chance": Chart("Overview", "Chance to win", shots.win_chance, (), ("team", "players", "phase", "zone")),
    "momentum": Chart("Overview", "Momentum", possession.momentum, (), ("team", "players")),
    "shot_map": Chart("Shots", "Shot map", shots.shot_map),
    "pass_network": Chart("Passes", "Pass network", passes.pass_network),
    "pass_sonar": Chart("Passes", "Pass sonars", passes.pass_sonar),
    "pass_flow": Chart("Passes", "Flow of passes", passes.pass_flow),
    "pass_matrix": Chart("Passes", "Passer and receiver", passes.pass_matrix),
    "progressive": Chart("Passes", "Progressive passes", passes.progressive_passes),
    "line_breaking": Chart("Passes", "Line-breaking passes", passes.line_breaking_passes),
    "passes": Chart("Passes", "All passes", passes.all_passes),
    "possession": Chart("Possession", "Possession", possession.possession, ("step",), ("team", "players")),
    "territory": Chart("Possession", "Territory (field tilt)", possession.territory, ("step",), ("team", "players")),
    "sequences": Chart("Possession", "Possessions", possession.sequences),
    "players_with_ball": Chart("Possession", "Players with the ball", possession.players_with_ball),
    "chains": Chart("Possession", "Pass sequences and double passes", possession.chains),
    "pressing": Chart("Pressing", "PPDA", pressing.pressing, ("step",), ("players",)),
    "regains": Chart("Pressing", "Balls won", pressing.regains),
    "shape_time": Chart("Pressing", "Pressing index and area of the team", shape.shape_time, ("step",)),
    "transitions": Chart("Transitions", "Transitions and presses", transitions.transitions, (), ("zone",)),
    "duel_map": Chart("Duels", "Duels", duels.duel_map),
    "duels": Chart("Duels", "Duels by player", duels.duel_table),
    "running": Chart("Running", "Distance by zone of speed", running.running_players, ("zones",)),
    "running_time": Chart("Running", "Distance over time", running.running_time, ("step",)),
    "sprints": Chart("Running", "Sprints", running.sprint_map),
    "heat_map": Chart("Places", "Heat map of positions", places.heat_map, ("grid",)),
    "touch_map": Chart("Places", "Heat map of actions", places.touch_map, ("grid",)),
    "average_positions": Chart("Places", "Average positions", places.average_positions),
    "ball_time": Chart("Places", "Speed and height of the ball", shape.ball_time, ("step",)),
    "set_plays": Chart("Set plays", "Set plays", set_plays.set_plays),
    "players": Chart("Players", "Players", summary.players),
}
