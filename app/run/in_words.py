"""A match in words: score, possession, shots and passes, from the committed events of its store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.tables.actions import shots
from app.tables.columns import kinds_of
from app.tables.match_events import MatchEvents
from app.tables.possessions import seconds_held
from dashboard.score import ScoreKeeper
from football.update_stream import UpdateRecord
from replay.event_list import consolidated_events, event_records
from replay.match_store import read_sheet_of

_GOALS = ("goal.scored", "goal.own", "goal.confirmed", "goal.disallowed")
_PASSES = ("pass.attempt", "pass.complete")


class TeamFigures(msgspec.Struct, frozen=True):
    """Figures of a team.

    Attributes:
        name: of the team.
        goals: that count; ``goals_provisional`` of them wait for their confirmation by a kick-off.
        possession: share of the time in which either had the ball, as in the table of possessions; None if neither had.
        shots, shots_on_target: counts, as in the table of shots.
        passes, passes_complete: counts.
    """

    name: str
    goals: int = 0
    goals_provisional: int = 0
    possession: float | None = None
    shots: int = 0
    shots_on_target: int = 0
    passes: int = 0
    passes_complete: int = 0


class MatchFigures(msgspec.Struct, frozen=True):
    """Figures of both teams."""

    home: TeamFigures
    away: TeamFigures


def match_figures(folder: Path) -> MatchFigures:
    """The figures of a match as far as its store is committed.

    Raises:
        StoreError: the store is damaged.
    """
    sheet, kinds = read_sheet_of(folder), {*_GOALS, *_PASSES, *kinds_of(("possessions", "shots"))}
    events = list(event_records(consolidated_events(folder, sorted(kinds))))
    keeper = ScoreKeeper()
    keeper.apply(UpdateRecord(seq, 1, 0, event) for seq, event in enumerate(events))
    score = keeper.score()
    match = MatchEvents(sheet, events)
    held_s, attempts = seconds_held(match), shots(match)
    total_s = sum(held_s.values())

    def figures(side: str, name: str, goals: int, provisional: int) -> TeamFigures:
        on_target = [row["on_target"] for row in attempts if row["team"] == side]
        passes = [sum(event.kind == kind and event.team == side for event in events) for kind in _PASSES]
        counts = (len(on_target), sum(map(bool, on_target)), *passes)
        return TeamFigures(name, goals, provisional, held_s[side] / total_s if total_s else None, *counts)

    return MatchFigures(
        figures("home", sheet.home, score.home, score.home_provisional),
        figures("away", sheet.away, score.away, score.away_provisional),
    )


def rows_in_words(figures: MatchFigures) -> Iterator[tuple[str, str]]:
    """The figures as rows of a summary: what they are, and the figures of both teams."""
    home, away = figures.home, figures.away
    provisional = home.goals_provisional + away.goals_provisional
    waiting = f" ({provisional} to be confirmed)" if provisional else ""
    yield "Score", f"{home.name} {home.goals} - {away.goals} {away.name}{waiting}"
    if home.possession is not None and away.possession is not None:
        yield "Possession", f"{home.name} {home.possession:.0%}, {away.name} {away.possession:.0%}"
    yield "Shots", ", ".join(f"{team.name} {team.shots} ({team.shots_on_target} on target)" for team in (home, away))
    yield "Passes", ", ".join(_passes(team) for team in (home, away))


def _passes(team: TeamFigures) -> str:
    share = f" ({team.passes_complete / team.passes:.0%})" if team.passes else ""
    return f"{team.name} {team.passes_complete} of {team.passes} complete{share}"
