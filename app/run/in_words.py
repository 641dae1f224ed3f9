"""A match in words: score, possession, shots and passes, from the committed events of its store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from dashboard.score import ScoreKeeper
from football.update_stream import EventRecord, UpdateRecord
from replay.event_list import consolidated_events, event_records
from replay.match_store import newest_commit, read_commits, read_sheet_of

_GOALS = ("goal.scored", "goal.own", "goal.confirmed", "goal.disallowed")
_POSSESSION = "team.possession"
_COUNTED = ("shot.attempt", "shot.on_target_pred", "pass.attempt", "pass.complete")


class TeamFigures(msgspec.Struct, frozen=True):
    """Figures of a team.

    Attributes:
        name: of the team.
        goals: that count; ``goals_provisional`` of them wait for their confirmation by a kick-off.
        possession: share of the time in which either team had the ball; None if neither had.
        shots, shots_on_target, passes, passes_complete: counts.
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
    sheet, last = read_sheet_of(folder), newest_commit(read_commits(folder))
    events = list(event_records(consolidated_events(folder, (*_GOALS, _POSSESSION, *_COUNTED))))
    keeper = ScoreKeeper()
    keeper.apply(UpdateRecord(seq, 1, 0, event) for seq, event in enumerate(events))
    score = keeper.score()
    now_us = int(str(last.notes.get("now_us", 0))) if last is not None else 0
    held_us = _held_us([event for event in events if event.kind == _POSSESSION], now_us)
    total_us = sum(held_us.values())

    def figures(side: str, name: str, goals: int, provisional: int) -> TeamFigures:
        counts = [sum(event.kind == kind and event.team == side for event in events) for kind in _COUNTED]
        return TeamFigures(name, goals, provisional, held_us[side] / total_us if total_us else None, *counts)

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


def _held_us(changes: list[EventRecord], end_us: int) -> dict[str, int]:
    """Time in which each team had the ball, from the changes of possession in their order."""
    held_us = {"home": 0, "away": 0}
    ends = [change.ts_us for change in changes[1:]] + [end_us]
    for change, until_us in zip(changes, ends, strict=bool(changes)):
        if change.team in held_us:
            held_us[change.team] += max(0, until_us - change.ts_us)
    return held_us
