"""The charts of the match report, as SVG: drawn by mplsoccer, with the conventions of its users.

Both teams attack to the right on their own pitches. Texts are drawn as outlines, so a page needs no font, and none of
them is read as mathematics: names are of anybody.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from mplsoccer import Pitch, VerticalPitch
from scipy.ndimage import gaussian_filter

from app.analysis.figures import REGAINS, Report, Tables, network_of
from app.base.paper import COLOURS, INK, LINE, STYLE, svg_element
from football.match_sheet import TEAMS

#: A line of a network needs as many passes.
_PASSES_MIN = 3


def xg_race(report: Report) -> str:
    """The sum of the chances of each team over the match, with its goals."""
    shots, goals = report.tables["shots"], report.tables["goals"]
    ticks, last_s = _time_axis(report)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.4, 2.5), layout="constrained")
        axes = figure.subplots()
        for team in TEAMS:
            mine = shots[shots.team == team]
            times = [0.0, *(_seconds(report, mine)), last_s]
            sums = [0.0, *mine.xg.fillna(0.0).cumsum()]
            style = {"color": COLOURS[team], "linewidth": 2, "label": _name(report, team)}
            axes.step(times, [*sums, sums[-1]], where="post", **style)
            scored = mine[mine.outcome == "goal"]
            heights = mine.xg.fillna(0.0).cumsum().loc[scored.index]
            axes.scatter(_seconds(report, scored), heights, s=60, color=COLOURS[team], zorder=3, edgecolor="white")
            for second, height, who in zip(_seconds(report, scored), heights, scored.name.fillna(""), strict=True):
                axes.annotate(who, (second, height), (0, 7), textcoords="offset points", ha="right", fontsize=8)
        for second in _seconds(report, goals[goals.own.astype(bool)]):
            axes.axvline(second, color=LINE, linestyle=":")
        axes.set_xticks([second for second, _ in ticks], [name for _, name in ticks])
        axes.set_xlim(0, last_s)
        axes.set_ylim(0, max(axes.get_ylim()[1] * 1.12, 0.2))
        axes.set_ylabel("xG")
        axes.grid(axis="y", color="#e4e7eb")
        axes.legend(loc="upper left", frameon=False)
        return svg_element(figure, "xG race")


def shot_map(report: Report, team: str, player: str = "") -> str:
    """Shots of a team, or of one of its players: size is xG, a filled one is a goal."""
    shots = report.tables["shots"]
    shots = shots[(shots.team == team) & shots.start_x_m.notna() & (shots.player.eq(player) if player else True)]
    with mpl.rc_context(STYLE):
        pitch, figure, axes = _pitch(report, half=True)
        x, y = _turned(shots, "start")
        sizes = 80 + 900 * shots.xg.fillna(0.0)
        goals, style = shots.outcome.eq("goal"), {"edgecolors": COLOURS[team], "linewidths": 1.5, "zorder": 3}
        for chosen, face in ((~goals, "white"), (goals, COLOURS[team])):
            pitch.scatter(x[chosen], y[chosen], s=sizes[chosen], ax=axes, color=face, alpha=0.85, **style)
        for place, shirt, goal in zip(zip(x, y, strict=True), shots.shirt, goals, strict=True):
            if not pd.isna(shirt):
                colour = "white" if goal else INK
                style = {"ha": "center", "va": "center", "fontsize": 7, "color": colour, "zorder": 4}
                pitch.annotate(f"{shirt:.0f}", place, ax=axes, **style)
        return svg_element(figure, f"Shots of {report.names.get(player, player) if player else _name(report, team)}")


def player_passes(report: Report, team: str, player: str) -> str:
    """Passes of a player from kick to end: thick ones arrived, thin ones did not."""
    passes = report.tables["passes"].query("team == @team and player == @player")
    passes = passes[passes.start_x_m.notna() & passes.end_x_m.notna()]
    with mpl.rc_context(STYLE):
        pitch, figure, axes = _pitch(report)
        complete = passes.outcome == "complete"
        for chosen, width, alpha in ((complete, 1.6, 0.8), (~complete, 0.6, 0.6)):
            (x, y), (to_x, to_y) = (_turned(passes[chosen], end) for end in ("start", "end"))
            style = {"color": COLOURS[team], "alpha": alpha, "zorder": 3}
            pitch.lines(x, y, to_x, to_y, ax=axes, linewidth=width, **style)
            pitch.scatter(to_x, to_y, s=10, ax=axes, **style)
        return svg_element(figure, f"Passes of {report.names.get(player, player)}")


def pass_network(report: Report, team: str) -> str:
    """Average places of passes and receptions, and who passed to whom at least three times."""
    done = report.tables["passes"].query("outcome == 'complete' and team == @team")
    nodes, pairs = network_of(done)
    pairs = pairs[(pairs >= _PASSES_MIN)]
    with mpl.rc_context(STYLE):
        pitch, figure, axes = _pitch(report)
        most = max(pairs.max(), 1) if len(pairs) else 1
        for (one, other), count in pairs.items():
            if one in nodes.index and other in nodes.index:
                ends = nodes.loc[[one, other]]
                pitch.lines(*ends.iloc[0][["x", "y"]], *ends.iloc[1][["x", "y"]], ax=axes, color=COLOURS[team],
                            linewidth=0.6 + 4.0 * count / most, alpha=0.25 + 0.5 * count / most, zorder=2)  # fmt: skip
        if len(nodes):
            sizes = 90 + 420 * nodes.n / nodes.n.max()
            style = {"color": "white", "edgecolors": COLOURS[team], "linewidths": 2, "zorder": 3}
            pitch.scatter(nodes.x, nodes.y, s=sizes, ax=axes, **style)
        for player, node in nodes.iterrows():
            label = report.names.get(str(player), str(player)).partition(" ")[0]
            axes.annotate(label, (node.x, node.y), ha="center", va="center", fontsize=8, zorder=4)
        return svg_element(figure, f"Pass network of {_name(report, team)}")


def heat_map(report: Report, team: str, player: str = "", *, small: bool = False) -> str:
    """Where a team, or one of its players, plays the ball: passes, receptions, carries and shots."""
    chosen = []
    for name, ends in (("passes", ("start",)), ("carries", ("start", "end")), ("shots", ("start",))):
        table = report.tables[name]
        table = table[(table.team == team) & (table.player.eq(player) if player else True)]
        chosen += [np.column_stack(_turned(table, end)) for end in ends]
    received = report.tables["passes"].query("outcome == 'complete' and team == @team")
    received = received[received.receiver.eq(player)] if player else received
    places = np.vstack([*chosen, np.column_stack(_turned(received, "end"))]).astype(float)
    places = places[np.isfinite(places).all(axis=1)]
    with mpl.rc_context(STYLE):
        pitch, figure, axes = _pitch(report, small=small)
        if len(places):
            bins = pitch.bin_statistic(places[:, 0], places[:, 1], statistic="count", bins=(18, 12))
            bins["statistic"] = _smooth(bins["statistic"])
            colours = LinearSegmentedColormap.from_list("team", ["#ffffff", COLOURS[team]])
            pitch.heatmap(bins, ax=axes, cmap=colours, alpha=0.85, zorder=0.5)
        if player and len(places):
            axes.plot(*places.mean(axis=0), marker="o", color=INK, markersize=5, markeredgecolor="white")
        title = report.names.get(player, player) if player else _name(report, team)
        return svg_element(figure, f"Heat map of {title}")


def regain_map(report: Report, team: str) -> str:
    """Where a team won the ball in play."""
    had = report.tables["possessions"]
    had = had[(had.team == team) & had.begin.isin(REGAINS) & had.start_x_m.notna()]
    x, y = _turned(had, "start")
    with mpl.rc_context(STYLE):
        pitch, figure, axes = _pitch(report)
        for share in (1 / 3, 2 / 3):
            axes.axvline((share - 0.5) * report.sheet.length_m, color=LINE, linestyle=":", linewidth=1)
        style = {"color": COLOURS[team], "alpha": 0.65, "edgecolors": "white", "linewidths": 0.5, "zorder": 3}
        pitch.scatter(x, y, s=20, ax=axes, **style)
        thirds = np.histogram(x.astype(float), bins=np.array([-0.5, -1 / 6, 1 / 6, 0.51]) * report.sheet.length_m)[0]
        for share, count in zip((-1 / 3, 0.0, 1 / 3), thirds, strict=True):
            axes.annotate(str(count), (share * report.sheet.length_m, -0.44 * report.sheet.width_m), ha="center",
                          va="center", fontsize=10, fontweight="bold", zorder=4,
                          bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5})  # fmt: skip
        return svg_element(figure, f"Balls won by {_name(report, team)}")


def possession_bars(report: Report) -> str:
    """Possession by quarter of an hour."""
    names, shares = [], []
    for part in report.quarters:
        seconds = part.tables["possessions"].groupby("team").seconds.sum()
        if seconds.sum():
            names.append(part.name)
            shares.append(100.0 * seconds.get("home", 0.0) / seconds.sum())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.4, 1.5), layout="constrained")
        axes = figure.subplots()
        axes.bar(names, shares, color=COLOURS["home"], width=0.85)
        axes.bar(names, [100 - share for share in shares], bottom=shares, color=COLOURS["away"], width=0.85)
        for index, share in enumerate(shares):
            for value, height in ((share, share / 2), (100 - share, 50 + share / 2)):
                axes.annotate(f"{value:.0f}", (index, height), ha="center", va="center", color="white", fontsize=9)

        axes.set_ylim(0, 100)
        axes.set_yticks([])
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)
        return svg_element(figure, "Possession by quarter of an hour, in percent")


def _pitch(report: Report, *, half: bool = False, small: bool = False) -> tuple[Pitch, Figure, Axes]:
    """A pitch with the origin in its middle on its own figure; half a pitch stands upright, with the goal on top."""
    pitch = (VerticalPitch if half else Pitch)(
        pitch_type="secondspectrum", pitch_length=report.sheet.length_m, pitch_width=report.sheet.width_m,
        line_color=LINE, linewidth=1.0, half=half, pad_top=1, pad_bottom=1, pad_left=3, pad_right=3, line_zorder=1,
        goal_type="box", goal_alpha=0.6,
    )  # fmt: skip
    size = (1.9, 1.28) if small else (3.6, 2.85) if half else (3.6, 2.4)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    pitch.draw(ax=axes)
    return pitch, figure, axes


def _turned(table: pd.DataFrame, end: str) -> tuple[pd.Series, pd.Series]:
    """Places as the team attacks to the right."""
    sign = table.attacks_x.fillna(1).astype(float)
    return table[f"{end}_x_m"].astype(float) * sign, table[f"{end}_y_m"].astype(float) * sign


def _smooth(counts: np.ndarray) -> np.ndarray:
    return gaussian_filter(np.asarray(counts, float), 1.0)


def _name(report: Report, team: str) -> str:
    return report.sheet.home if team == "home" else report.sheet.away


def _time_axis(report: Report) -> tuple[list[tuple[float, str]], float]:
    """Where each quarter of an hour begins on an axis of playing time, with its name; and the end of the axis."""
    marks, at_s = [], 0.0
    for part in report.quarters:
        marks.append((at_s, part.name.partition("-")[0]))
        at_s += _length_s(part.tables)
    return marks, max(at_s, 60.0)


def _length_s(tables: Tables) -> float:
    """How long a part lasts: to its last action."""
    ends = pd.concat([tables[name][["ts_us", "period_s"]] for name in ("passes", "possessions", "shots")]).period_s
    return float(ends.max() - _begin_s(tables)) if len(ends) else 0.0


def _begin_s(tables: Tables) -> float:
    """Second of the period at which a quarter of an hour begins."""
    return float(np.floor(tables["possessions"].period_s.min() / 900.0) * 900.0) if len(tables["possessions"]) else 0.0


def _seconds(report: Report, table: pd.DataFrame) -> list[float]:
    """Where the rows of a table lie on that axis."""
    marks, _ = _time_axis(report)
    begins = {part.name: (at_s, _begin_s(part.tables)) for part, (at_s, _) in zip(report.quarters, marks, strict=True)}
    return [
        begins[quarter][0] + period_s - begins[quarter][1] if quarter in begins else 0.0
        for quarter, period_s in zip(table.quarter_hour, table.period_s, strict=True)
    ]
