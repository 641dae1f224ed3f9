"""The page of the match report: HTML that needs nothing else, and the PDF of the same page.

The template escapes every text; the charts are the only markup that goes in as it is, and they have no text but
outlines. The PDF is made without any access to network or files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from app.analysis.figures import (
    Figure,
    Report,
    ReportError,
    keepers,
    pass_matrix,
    player_table,
    read_report,
    team_figures,
)
from app.base.paper import COLOURS, make_pdf
from app.base.program import program_version
from app.report import charts
from football.match_sheet import TEAMS, MatchSheet

#: Numbers of the team that stand by period and by quarter of an hour.
_BY_PART = (
    "Goals", "xG", "Shots", "Possession", "Passes", "Passes complete", "Attacks into the box", "PPDA",
    "Balls won in play", "Distance", "Above 20 km/h", "Sprints",
)  # fmt: skip

#: Digits of the columns of the players; the others are whole.
_DIGITS = {"xG": 2, "km": 1, "Top km/h": 1}

SUFFIXES = (".html", ".pdf")


def write_report(store: Path, out: Path, make: Callable[[Report], str] | None = None) -> None:
    """Write the report of a match as HTML or PDF, by the end of the file's name.

    Args:
        store: folder of the match store.
        out: the file.
        make: makes the page; that of the match without it.

    Raises:
        ReportError: another end, or nothing has happened in the match.
        StoreError: not a match store, or damaged.
        OSError: the file cannot be written.
    """
    if out.suffix not in SUFFIXES:
        raise ReportError(f"--out {out}: a file that ends in .html or .pdf")
    page = (make or report_page)(read_report(store))
    if out.suffix == ".html":
        out.write_text(page, encoding="utf-8")
    else:
        out.write_bytes(make_pdf(page))


def environment() -> jinja2.Environment:
    """The templates, which escape every text."""
    return jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=jinja2.FileSystemLoader(Path(__file__).parent)
    )


def report_page(report: Report) -> str:
    """The page as HTML."""
    template = environment().get_template("page.html.j2")
    sides = [_side(report, team) for team in TEAMS]
    summary = [_compared(one) for one in team_figures(report.tables, report.sheet)]
    return template.render(
        sheet=report.sheet, goals=_goals(report), summary=summary,
        race=Markup(charts.xg_race(report)), possession=Markup(charts.possession_bars(report)), sides=sides,
        parts=[_parts(report.sheet, report.periods), _parts(report.sheet, report.quarters)], colours=COLOURS,
        keepers=keepers(report), version=program_version(), clip=report.tables["passes"].period.max() == 1,
        limbs=bool(report.sheet.quality.limbs), kind=report.sheet.quality.kind,
    )  # fmt: skip


def _side(report: Report, team: str) -> dict[str, Any]:
    """Content of the page about one team."""
    table = player_table(report, team)
    players = [
        {
            "name": report.names[str(player)], "cells": [cell(row[column], column) for column in table.columns],
            "map": Markup(charts.heat_map(report, team, str(player), small=True)),
        }
        for player, row in table.iterrows()
    ]  # fmt: skip
    matrix = pass_matrix(report, team)
    most = max(int(matrix.to_numpy().max()), 1) if matrix.size else 1
    return {
        "team": team, "name": report.sheet.home if team == "home" else report.sheet.away,
        "columns": list(table.columns), "players": players, "shots": Markup(charts.shot_map(report, team)),
        "network": Markup(charts.pass_network(report, team)), "heat": Markup(charts.heat_map(report, team)),
        "regains": Markup(charts.regain_map(report, team)),
        "heads": [report.names[str(player)].partition(" ")[0] for player in matrix.columns],
        "matrix": [
            {
                "name": report.names[str(player)], "sum": int(row.sum()),
                "cells": [(int(count), round(count / most, 2)) for count in row],
            }
            for player, row in matrix.iterrows()
        ],
    }  # fmt: skip


def _goals(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "clock": goal.clock or "", "team": goal.team, "score": f"{goal.home_goals}:{goal.away_goals}",
            "name": report.names.get(goal.player, "?") + (" (own goal)" if goal.own else ""),
            "assist": report.names.get(goal.assisted_by, "") if isinstance(goal.assisted_by, str) else "",
        }
        for goal in report.tables["goals"].itertuples()
    ]  # fmt: skip


def _compared(figure: Figure) -> dict[str, Any]:
    """A number of both teams, with the width of their bars in percent."""
    home, away = figure.home or 0.0, figure.away or 0.0
    widths = [100 * value / (home + away) if home + away else 0.0 for value in (home, away)]
    return {
        "name": figure.name, "home": _number(figure.home, figure), "away": _number(figure.away, figure),
        "widths": [round(width, 1) for width in widths],
    }  # fmt: skip


def _parts(sheet: MatchSheet, parts: tuple[Any, ...]) -> dict[str, Any]:
    """Numbers of both teams in each part of the match."""
    found = [{one.name: one for one in team_figures(part.tables, sheet)} for part in parts]
    rows = []
    for name in _BY_PART:
        figures = [one[name] for one in found]
        bare = [[_number(value, one._replace(unit="")) for value in (one.home, one.away)] for one in figures]
        unit = figures[0].unit if figures else ""
        rows.append({"name": f"{name}, {unit}" if unit else name, "cells": bare})
    return {"names": [part.name for part in parts], "rows": rows}


def _number(value: float | None, figure: Figure) -> str:
    if value is None or pd.isna(value):
        return "–"
    return f"{value:,.{figure.digits}f}".replace(",", "\u202f") + (f"\u202f{figure.unit}" if figure.unit else "")


def cell(value: float, column: str) -> str:
    """A number of the table of players, empty if there is none."""
    return "" if pd.isna(value) or not value else f"{value:.{_DIGITS.get(column, 0)}f}"
