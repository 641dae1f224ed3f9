"""Players whom a provider tracks without knowing who they are.

Tracking from television pictures gives each sight of a player a new id until it knows him. His team is known. Such
sights are joined to as few players as were seen at once, so that a team does not get hundreds of them.
"""

from __future__ import annotations

import numpy as np

from football.match_sheet import TEAMS, Player, Team
from football.recording import Track, track_order

#: A player is taken for the next sight after he has been out of sight for so long: he may be anywhere by then.
UNSEEN_US = 5_000_000


def unnamed_players(tracks: tuple[Track, ...], sides: dict[str, Team]) -> tuple[tuple[Track, ...], tuple[Player, ...]]:
    """Join the tracks of players whom no sheet names.

    Args:
        tracks: those of a recording.
        sides: the teams of the players who are not on its sheet.

    Returns:
        The tracks, with one for each unnamed player instead of his sights, and these players (``home_unnamed_1`` ...).
    """
    kept = [track for track in tracks if sides.get(track.transmitter) not in TEAMS]
    players: list[Player] = []
    for team in TEAMS:
        sights = [track for track in tracks if sides.get(track.transmitter) == team]
        for number, joined in enumerate(_joined(sights), 1):
            players.append(Player(f"{team}_unnamed_{number}", team, starts=False))
            columns = zip(*((one.ts_us, one.x_m, one.y_m, one.z_m) for one in joined), strict=True)
            kept.append(Track(players[-1].object_id, *map(np.concatenate, columns)))
    return tuple(sorted(kept, key=lambda track: track_order(track.transmitter))), tuple(players)


def _joined(sights: list[Track]) -> list[list[Track]]:
    """The sights of each player, in order of time; none of them overlap."""
    players: list[list[Track]] = []
    for sight in sorted(sights, key=lambda track: (int(track.ts_us.min()), track.transmitter)):
        begin_us = int(sight.ts_us.min())
        free = (one for one in players if begin_us - int(one[-1].ts_us.max()) >= UNSEEN_US)
        if (player := next(free, None)) is None:
            players.append([sight])
        else:
            player.append(sight)
    return players
