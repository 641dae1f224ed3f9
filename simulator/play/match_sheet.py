"""The match sheet of a simulated match."""

from __future__ import annotations

from football.match_sheet import MatchSheet, Player, Quality
from simulator.play.squads import MatchSettings, Squads
from simulator.records import object_id


def sheet_of(settings: MatchSettings, squads: Squads, quality: Quality | None = None) -> MatchSheet:
    """Return the sheet: teams, all 32 players (substitutes included), pitch, and which team attacks towards +x first.

    Args:
        settings, squads: of the match.
        quality: what its transmitters measure; default as an optical tracking file's.
    """
    script = settings.scenario
    home_first = script is None or script.opening.home_attacks_positive_x
    players = tuple(
        Player(
            object_id(p.row), "home" if p.team == "home" else "away", p.name, p.shirt, p.is_goalkeeper, p.is_starting
        )
        for p in squads.people
        if p.team
    )
    home, away = squads.teams
    return MatchSheet(
        f"sim-{settings.seed}", home.name, away.name, settings.length_m, settings.width_m,
        "home" if home_first else "away", players, quality or Quality(),
    )  # fmt: skip
